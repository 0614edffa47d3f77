// Two answers are compared as they should be: neither too strictly nor too kindly.
#include "tests/fidelity/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fidelity/expected_differences.h"

namespace lastout::fidelity {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Json parse(const char* text) { return Json::parse(text); }

std::vector<std::string> pathsOf(const char* recorded, const char* own) {
  std::vector<std::string> paths;
  for (const Difference& difference : differences(comparable(parse(recorded)), comparable(parse(own))))
    paths.push_back(difference.path);
  return paths;
}

TEST(Compare, WhatIsMadeUpAnewIsTheSame) {
  EXPECT_THAT(
      pathsOf(R"({"metadata": {"uid": "7c7da992-66e4-4de8-9157-b935e630faa1", "resourceVersion": "733",
                                       "creationTimestamp": "2026-11-21T02:46:55Z", "managedFields": [{}]}})",
              R"({"metadata": {"uid": "13359fbb-89c2-4fe3-a1b4-7e05fec9739b", "resourceVersion": "1",
                                       "creationTimestamp": "2026-11-21T03:00:00Z"}})"),
      IsEmpty());
  EXPECT_THAT(pathsOf(R"(["the UID in record is c0a1db5a-e306-4085-b7d9-5e82961e05d1."])",
                      R"(["the UID in record is 13359fbb-89c2-4fe3-a1b4-7e05fec9739b."])"),
              IsEmpty());
}

TEST(Compare, WhetherItIsThereIsNot) {
  EXPECT_THAT(pathsOf(R"({"uid": "u", "continue": "", "creationTimestamp": null})",
                      R"({"continue": "eyJ2", "creationTimestamp": "2026-11-21T03:00:00Z"})"),
              ElementsAre("continue", "creationTimestamp", "uid"));
}

TEST(Compare, TheUidThatAClientMadeUpIsItsOwn) {
  EXPECT_THAT(
      pathsOf(R"(["00000000-0000-0000-0000-000000000000"])", R"(["13359fbb-89c2-4fe3-a1b4-7e05fec9739b"])"),
      ElementsAre("[0]"));
}

TEST(Compare, ElementsArePairedByTheirNames) {
  EXPECT_THAT(pathsOf(R"([{"name": "a"}, {"name": "b", "x": 1}, {"name": "c"}])",
                      R"([{"name": "b", "x": 2}, {"name": "a"}])"),
              ElementsAre("[order]", "[b].x", "[c]"));
  EXPECT_THAT(pathsOf(R"([{"metadata": {"name": "a", "x": 1}}])", R"([{"metadata": {"name": "b", "x": 1}}])"),
              ElementsAre("[0].metadata.name"));
}

TEST(Compare, TheDistributorsObjectsAreLeftOut) {
  EXPECT_THAT(pathsOf(R"([{"metadata": {"name": "openshift-service-ca.crt"}}, {"metadata": {"name": "a"}}])",
                      R"([{"metadata": {"name": "a"}}])"),
              IsEmpty());
}

TEST(Identities, RequestsNameWhatIsHere) {
  Identities identities;
  identities.learn(parse(R"({"metadata": {"continue": "eyJ2", "uid": "old"}})"),
                   parse(R"({"metadata": {"continue": "abc", "uid": "new"}})"));
  EXPECT_EQ(identities.translated("/x?limit=3&continue=eyJ2"), "/x?limit=3&continue=abc");
  EXPECT_EQ(identities.translated(R"({"uid":"old","name":"older"})"), R"({"uid":"new","name":"older"})");
}

TEST(Identities, AGeneratedNameStaysTheSame) {
  Identities identities;
  identities.learn(parse(R"({"generateName": "gen-", "name": "gen-abcde"})"),
                   parse(R"({"generateName": "gen-", "name": "gen-12345"})"));
  EXPECT_EQ(identities.asRecorded(parse(R"(["gen-12345", "gen-other"])")),
            parse(R"(["gen-abcde", "gen-other"])"));
}

RestExchange numbered(const std::string& number) {
  RestExchange exchange;
  exchange.recording = kKubernetes126;
  exchange.name = number + "-one";
  return exchange;
}

TEST(ExpectedDifferences, AreFoundByTheirPath) {
  EXPECT_NE(expectationOf(numbered("004"), {"body.resources[pods/log]", "{}", ""}), nullptr);
  EXPECT_EQ(expectationOf(numbered("004"), {"body.kind", "{}", ""}), nullptr);
  EXPECT_EQ(expectationOf(numbered("012"), {"body.resources[pods/log]", "{}", ""}), nullptr);
}

}  // namespace
}  // namespace lastout::fidelity

// What a CriticalService's status remembers of deletions that were put off.
#include "criticalservice/put_off.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lastout::criticalservice {
namespace {

using PlainJson = nlohmann::json;

PutOff deletionNamed(const std::string& name, const std::string& uid) {
  return {{{"apps", "deployments"}, "n", name}, uid, "Background", "agent", 1'795'363'200, {"o1", "o2"}};
}

PutOffs reread(const PutOffs& putOffs) {
  PlainJson manifest = {{"status", PlainJson::object()}};
  manifest.merge_patch({{"status", patchOf(putOffs)}});
  return readPutOffs(kube::fromJson(manifest));
}

TEST(PutOffs, AreReadAsTheyWereWritten) {
  PutOffs putOffs{{deletionNamed("a", "1"), {{{"", "namespaces"}, "", "n"}, "2", "", "gc", 0, {}}}, 3};
  EXPECT_EQ(reread(putOffs), putOffs);
  const PlainJson first = patchOf(putOffs)["putOff"][0];
  EXPECT_EQ(first["requestedAt"], "2026-11-22T16:00:00Z");
  EXPECT_EQ(first["owners"], PlainJson({"o1", "o2"}));
  EXPECT_FALSE(patchOf(putOffs)["putOff"][1].contains("group")) << "what is empty is left out";
  EXPECT_EQ(reread({}), PutOffs{});
}

TEST(PutOffs, OfOneObjectOneIsRemembered) {
  PutOffs putOffs;
  EXPECT_TRUE(add(putOffs, deletionNamed("a", "1")));
  EXPECT_TRUE(add(putOffs, deletionNamed("b", "2")));
  EXPECT_TRUE(add(putOffs, deletionNamed("a", "3"))) << "it was made anew";
  ASSERT_EQ(putOffs.deletions.size(), 2U);
  EXPECT_EQ(putOffs.deletions[0].uid, "3");
}

TEST(PutOffs, AreBoundedAndCounted) {
  PutOffs putOffs;
  for (size_t i = 0; i < kMostPutOff; ++i)
    EXPECT_TRUE(add(putOffs, deletionNamed("d" + std::to_string(i), "u" + std::to_string(i))));
  EXPECT_FALSE(add(putOffs, deletionNamed("more", "more")));
  EXPECT_EQ(putOffs.deletions.size(), kMostPutOff);
  EXPECT_EQ(reread(putOffs).dropped, 1);
  PutOffs few{{deletionNamed("a", "1")}, 0};
  EXPECT_FALSE(add(few, deletionNamed("b", "2"), 1)) << "less room than usual";
  EXPECT_TRUE(add(few, deletionNamed("a", "3"), 0)) << "no new place";
  EXPECT_EQ(few.dropped, 1);
  PutOff owned = deletionNamed("d0", "u0");
  owned.owners.assign(kMostOwners + 5, "o");
  EXPECT_TRUE(add(putOffs, owned));
  EXPECT_EQ(putOffs.deletions[0].owners.size(), kMostOwners);
}

// One that the API server refuses would keep all others of that CriticalService from being written.
TEST(PutOffs, FitInTheirCrd) {
  PutOff deletion = deletionNamed("a", "1");
  deletion.owners = {"o1", std::string(200, 'x'), "o2"};
  EXPECT_TRUE(fitIn(deletion));
  EXPECT_EQ(deletion.owners, (std::vector<std::string>{"o1", "o2"}));
  deletion.object.name = std::string(253, 'n');
  EXPECT_TRUE(fitIn(deletion));
  deletion.object.name += "n";
  EXPECT_FALSE(fitIn(deletion)) << "a Role may be called so";
  deletion = deletionNamed("a", std::string(129, 'u'));
  EXPECT_FALSE(fitIn(deletion));
}

// Anybody who may write a status may have written it.
TEST(PutOffs, OfWhatNamesNoObjectNothingIsRead) {
  const auto read = [](const char* status) {
    return readPutOffs(kube::fromJson(PlainJson{{"status", PlainJson::parse(status)}}));
  };
  EXPECT_EQ(read(R"({"putOff": "x", "putOffDropped": "y"})"), PutOffs{});
  EXPECT_EQ(read(R"({"putOff": [1, null, [], {}], "putOffDropped": -4})"), PutOffs{});
  EXPECT_EQ(read(R"({"putOff": [{"resource": "pods", "name": "p"}]})"), PutOffs{}) << "no uid";
  EXPECT_EQ(read(R"({"putOff": [{"uid": "1", "name": "p"}]})"), PutOffs{}) << "no type";
  const PutOffs odd = read(
      R"({"putOff": [{"resource": "pods", "name": "p", "uid": "1", "owners": [1, "o"], "requestedAt": 4}]})");
  ASSERT_EQ(odd.deletions.size(), 1U);
  EXPECT_THAT(odd.deletions[0].owners, ::testing::ElementsAre("o"));
  EXPECT_EQ(odd.deletions[0].requestedAt, 0);
}

}  // namespace
}  // namespace lastout::criticalservice

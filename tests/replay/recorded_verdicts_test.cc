// Recordings: read within bounds, and every recorded verdict given again.
#include "replay/recorded_verdicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "replay/output.h"
#include "tests/replay/play.h"
#include "tests/support/manifests.h"

namespace lastout::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A file that is gone with the test.
class Recordings : public ::testing::Test {
 protected:
  Recordings() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lastout-recording-XXXXXX").string();
    const int descriptor = mkstemp(pattern.data());
    close(descriptor);
    path_ = pattern;
  }
  ~Recordings() override { std::filesystem::remove(path_); }

  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  ScenarioReport replayed(const std::string& text) {
    write(text);
    auto report = replayRecording(path_, warnings_);
    EXPECT_TRUE(report) << testing::lines(report.error());
    return report ? std::move(*report) : ScenarioReport();
  }
  // Without the file's name.
  std::string refused(const std::string& text) {
    write(text);
    const auto report = replayRecording(path_, warnings_);
    if (report) return "it was read";
    return testing::lines(report.error()).substr(path_.size());
  }

  std::string path_;
  kube::Errors warnings_;
};

const std::string kMap =
    R"({"t":0,"kind":"watch","resource":"configmaps","type":"ADDED","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m","namespace":"d"}}})"
    "\n";
const std::string kService =
    R"({"t":0,"kind":"watch","resource":"criticalservices","type":"ADDED","object":{"apiVersion":"lastout.dev/v1alpha1","kind":"CriticalService","metadata":{"name":"s"},"spec":{"provider":{"group":"apps","resource":"deployments","namespace":"d","name":"p"},"criteria":[{"type":"SpecificResource","specificResource":{"group":"","resource":"configmaps","namespace":"d","name":"m"}}]}}})"
    "\n";

std::string review(const std::string& fields) {
  return R"({"t":1,"kind":"admission","operation":"DELETE","resource":"deployments","namespace":"d","name":"p","user":"admin")" +
         fields + "}\n";
}

std::vector<std::string> whyNot(const ScenarioReport& report) {
  std::vector<std::string> result;
  for (const ExpectationResult& outcome : report.outcomes)
    result.push_back(outcome.held ? "held" : outcome.whyNot);
  return result;
}

TEST_F(Recordings, GiveTheirVerdictsAgain) {
  const ScenarioReport report = replayed(kService + kMap + review(R"(,"allowed":false,"why":["m"])"));
  EXPECT_TRUE(report.held);
  ASSERT_EQ(report.outcomes.size(), 1U);
  EXPECT_EQ(report.outcomes[0].text, "DELETE of deployments.apps/d/p by admin is denied (line 3)");
  EXPECT_EQ(report.time, std::chrono::milliseconds(1000));
}

TEST_F(Recordings, TellWhereTheVerdictIsAnotherNow) {
  const ScenarioReport report = replayed(kService + kMap + review(R"(,"allowed":true)") +
                                         R"({"t":2,"kind":"watch","resource":"configmaps","type":"DELETED",)"
                                         R"("object":{"apiVersion":"v1","kind":"ConfigMap","metadata":)"
                                         R"({"name":"m","namespace":"d"}}})"
                                         "\n" +
                                         review(R"(,"allowed":false,"why":["the map","the other"])"));
  EXPECT_FALSE(report.held);
  const std::vector<std::string> reasons = whyNot(report);
  ASSERT_EQ(reasons.size(), 2U);
  EXPECT_THAT(reasons[0], HasSubstr("lastout denies it: "));
  EXPECT_THAT(reasons[0], HasSubstr("configmaps/d/m"));
  EXPECT_EQ(reasons[1], "lastout allows it; it was denied: the map; the other");
}

// Of others' webhooks lastout is not the judge, nor of what is no DELETE of the object itself.
TEST_F(Recordings, CompareOnlyWhatLastoutDecides) {
  const std::string denied = R"(,"allowed":false)";
  const ScenarioReport report = replayed(
      review(denied + R"(,"webhook":"others.example.com")") + review(denied + R"(,"webhook":"")") +
      review(denied + R"(,"subresource":"scale")") +
      review(R"(,"allowed":true,"webhooks":["others.example.com"])") +
      R"({"t":1,"kind":"admission","operation":"CREATE","resource":"pods","name":"p","allowed":false})"
      "\n" +
      review(denied + R"(,"webhook":"deletions.lastout.dev")") +
      review(R"(,"allowed":true,"webhooks":["others.example.com","deletions.lastout.dev"])"));
  EXPECT_THAT(whyNot(report), ElementsAre("lastout allows it; it was denied", "held"));
}

TEST_F(Recordings, SayWhatLastoutWouldHaveDeniedWhereNobodyReviewed) {
  const ScenarioReport report = replayed(
      kService + kMap +
      R"({"t":3,"kind":"watch","resource":"deployments","type":"DELETED","object":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"p","namespace":"d"}}})"
      "\n");
  EXPECT_FALSE(report.decided);
  ASSERT_EQ(report.timeline.size(), 2U);
  EXPECT_EQ(report.timeline[0].text, "deployments.apps/d/p is gone");
  EXPECT_THAT(report.timeline[1].text, HasSubstr("lastout would have said: "));
}

// A criterion may name a type whose CRD comes later; what it says does not change with that.
TEST_F(Recordings, NeedNoCrdOfWhatACriterionNames) {
  std::string service = kService;
  const std::string criterion = R"({"group":"","resource":"configmaps","namespace":"d","name":"m"})";
  service.replace(service.find(criterion), criterion.size(),
                  R"({"group":"x.dev","resource":"engines","namespace":"d","name":"e"})");
  const std::string engine =
      R"({"t":0,"kind":"watch","resource":"engines","type":"ADDED","object":{"apiVersion":"x.dev/v1","kind":"Engine","metadata":{"name":"e","namespace":"d"}}})"
      "\n";
  const ScenarioReport report =
      replayed(service + review(R"(,"allowed":true)") + engine + review(R"(,"allowed":false)"));
  EXPECT_THAT(whyNot(report), ElementsAre("held", "held"));
}

TEST_F(Recordings, WarnOfWhatTellsLastoutNothing) {
  replayed(kMap +
           R"({"t":0,"kind":"watch","resource":"criticalservices","type":"ADDED","object":)"
           R"({"apiVersion":"lastout.dev/v1alpha1","kind":"CriticalService","metadata":{"name":"s"}}})"
           "\n" +
           R"({"t":1,"kind":"mark)");
  ASSERT_EQ(warnings_.size(), 2U);
  EXPECT_EQ(kube::toString(warnings_[0]).substr(path_.size(), 3), ":2:");
  EXPECT_THAT(warnings_[1].message, HasSubstr("cut off"));
}

TEST_F(Recordings, SayWhereAndWhyTheyCannotBeRead) {
  EXPECT_THAT(refused("{\"t\":0}\nno json\n"), HasSubstr(":1:1: kind is missing"));
  EXPECT_THAT(refused(kMap + "no json\n{}\n"), HasSubstr(":2:"));
  EXPECT_THAT(refused(kMap + "\n"), HasSubstr(":2:"));
  EXPECT_THAT(refused("[]\n"), HasSubstr(":1:"));
  EXPECT_THAT(refused(R"({"t":-1,"kind":"marker"})"), HasSubstr("t must say when it happened"));
  EXPECT_THAT(refused(R"({"t":1e300,"kind":"marker"})"), HasSubstr("t must say when it happened"));
  EXPECT_THAT(refused(R"({"t":0,"kind":"wach"})"), HasSubstr("watch"));
  EXPECT_THAT(refused(R"({"t":0,"kind":"client"})"), HasSubstr("action"));
  EXPECT_THAT(refused(R"({"t":0,"kind":"watch","resource":"pods","type":"ADDED"})"), HasSubstr("object"));
  EXPECT_THAT(refused(R"({"t":0,"kind":"watch","resource":"pods","object":{"metadata":{"name":"p"}}})"),
              HasSubstr("type must be ADDED, MODIFIED or DELETED"));
  EXPECT_THAT(refused(R"({"t":0,"kind":"watch","resource":"pods","type":"ADDED","object":{"metadata":{}}})"),
              HasSubstr("name"));
  EXPECT_THAT(refused(review("")), HasSubstr("allowed must be true or false"));
  EXPECT_THAT(
      refused(
          R"({"t":0,"kind":"admission","operation":"DELETE","resource":"oddities","name":"x","allowed":true})"),
      HasSubstr("no \"watch\" line above shows a type whose resource is \"oddities\""));
}

TEST_F(Recordings, AskForTheGroupWhereTwoHaveTheResource) {
  std::string other = kMap;
  other.replace(other.find("\"v1\""), 4, "\"x.dev/v1\"");
  const std::string review =
      R"({"t":1,"kind":"admission","operation":"DELETE","resource":"configmaps","namespace":"d","name":"m","allowed":true)";
  EXPECT_THAT(refused(kMap + other + review + "}\n"),
              HasSubstr(":3:1: resource \"configmaps\" is of several groups"));
  EXPECT_TRUE(replayed(kMap + other + review + R"(,"group":"x.dev"})" + "\n").held);
}

TEST_F(Recordings, AreBoundedLineByLine) {
  write(kMap + std::string(200, ' ') + "\n");
  auto reader = RecordingReader::open(path_, {.bytes = 180, .depth = 64, .values = 100});
  ASSERT_TRUE(reader);
  EXPECT_TRUE(reader->next());
  const auto second = reader->next();
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().front().message, HasSubstr("longer than 180 bytes"));
}

TEST_F(Recordings, AreFiles) {
  EXPECT_THAT(testing::lines(replayRecording("tests", warnings_).error()), HasSubstr("is a folder"));
  EXPECT_THAT(testing::lines(replayRecording(path_ + "-not", warnings_).error()),
              HasSubstr("cannot be opened"));
}

size_t countOf(std::string_view text, std::string_view what) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string_view::npos; ++at) ++count;
  return count;
}

// What the machine decided on its own state, lastout decides on the live graph that the trace builds up; what
// policies alone deny is not compared.
class Traces : public Recordings, public ::testing::WithParamInterface<std::string> {};

TEST_P(Traces, GiveTheirVerdictsAgain) {
  auto all = loadAll({{GetParam(), true}});
  ASSERT_TRUE(all);
  const Ready& scenario = *all->front();
  std::vector<ReplayOptions> runs = {{}};
  for (uint64_t seed = 1; seed <= 20; ++seed)
    runs.push_back({.order = Order::Random, .seed = seed, .runs = 1});
  for (const ReplayOptions& options : runs) {
    SCOPED_TRACE("seed " + std::to_string(options.seed));
    const std::string trace = toTrace(scenario, replay(scenario, options));
    const ScenarioReport report = replayed(trace);
    EXPECT_EQ(testing::lines(warnings_), "");
    std::vector<std::string> failed;
    for (const ExpectationResult& outcome : report.outcomes) {
      if (!outcome.held) failed.push_back(outcome.text + ": " + outcome.whyNot);
    }
    EXPECT_THAT(failed, IsEmpty());
    const size_t byPolicies = countOf(trace, "\"webhooks\":[\"deletionpolicies.lastout.dev\"]");
    EXPECT_EQ(report.outcomes.size() + byPolicies, countOf(trace, "\"kind\":\"admission\""));
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, Traces, ::testing::ValuesIn(shippedFiles()), [](const auto& info) {
  std::string name = std::filesystem::path(info.param).stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace lastout::replay

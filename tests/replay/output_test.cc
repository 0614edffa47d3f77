// The forms in which results leave: text, JSON, JUnit.
#include "replay/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "tests/replay/play.h"

namespace lastout::replay {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kFails =
    scenario("  description: <A> & \"B\"\n  steps:\n    - delete: widgets/one\n  expect:\n    ends: empty",
             kUnguarded);
const std::string kHolds = scenario(
    "  steps:\n    - delete: deployments.apps/operator/operator\n  story:\n"
    "    - { title: the provider goes, event: deployments.apps/operator/operator gone }\n"
    "    - { title: the CRD goes, event: crd/widgets.example.com gone }\n"
    "  expect: { ends: empty }",
    kUnguarded);

TEST(Text, TellsEverythingWhenAsked) {
  const std::string text = toText(play(kFails), {.color = false, .timeline = true, .width = 100});
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("FAILED  s  ends stuck: nothing changes after 0.000 s  (s.yaml)\n  <A> & \"B\"\n"),
            HasSubstr("     0.000 s  admin deletes widgets/one: accepted, waits for example.com/cleanup\n"),
            HasSubstr("    widgets/one\n        nobody here removes its finalizer example.com/cleanup\n"),
            HasSubstr("    FAILED  ends empty: nothing changed any more after 0.000 s, and widgets/one was "
                      "still there\n")));
}

// API servers call no webhook about what is in kube-system, whatever its CriticalService asks for.
TEST(Text, SaysOfAGuardedObjectThatLastoutIsNotAskedAboutIt) {
  const auto timeline = [](std::string_view where, const std::string& spec = "") {
    std::string documents(kOperator);
    documents =
        std::regex_replace(documents, std::regex("namespace: operator"), "namespace: " + std::string(where));
    return toText(
        play(scenario(spec + "  steps:\n    - delete: deployments.apps/" + std::string(where) + "/operator\n",
                      documents)),
        {.color = false, .timeline = true, .width = 200});
  };
  EXPECT_THAT(
      timeline("kube-system"),
      HasSubstr(
          "admin deletes deployments/kube-system/operator, about which API servers do not ask lastout: "));
  EXPECT_THAT(timeline("kube-system", "  guard: false\n"), Not(HasSubstr("do not ask")))
      << "there is no lastout";
  EXPECT_THAT(timeline("operator"), AllOf(HasSubstr("asks to delete deployments/operator/operator: denied"),
                                          Not(HasSubstr("do not ask"))));
}

TEST(Text, IsOneLineForWhatHolds) {
  const std::string yaml = scenario(
      "  steps:\n    - delete: deployments.apps/operator/operator\n  expect: { ends: empty }", kUnguarded);
  EXPECT_EQ(toText(play(yaml), {}), "held    s  ends empty at 0.520 s  (s.yaml)\n");
  EXPECT_EQ(toText(play(yaml, {.order = Order::Random, .seed = 1, .runs = 10}), {}),
            "held    s  10 runs: 10 empty  (s.yaml)\n");
}

TEST(Text, AlwaysSaysWhyItFailed) {
  EXPECT_THAT(toText(play(kFails), {}),
              AllOf(HasSubstr("nobody here removes"), HasSubstr("FAILED  ends empty: "),
                    Not(HasSubstr("admin deletes"))));
  EXPECT_THAT(toText(play(kFails, {.order = Order::Random, .seed = 4, .runs = 3}), {}),
              HasSubstr("lastout replay --order random --seed 4 --runs 1 --timeline s.yaml"));
}

TEST(Text, HasTheMomentsOfTheStory) {
  EXPECT_THAT(toText(play(kHolds), {}), AllOf(HasSubstr("     0.000 s  1. the provider goes\n"),
                                              HasSubstr("       never  2. the CRD goes\n")));
}

TEST(Text, IsColouredOnlyWhenAsked) {
  EXPECT_THAT(toText(play(kFails), {.color = false, .timeline = true, .width = 80}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(toText(play(kFails), {.color = true, .timeline = true, .width = 80}),
              HasSubstr("\x1b[31mFAILED"));
}

TEST(Text, EndsWithHowManyHeld) {
  const std::vector<ScenarioReport> both = {play(kHolds), play(kFails)};
  EXPECT_EQ(summary(both, {}), "2 scenarios: 1 held, 1 failed\n");
  EXPECT_EQ(summary(std::span(both).first(1), {}), "1 scenario: all expectations held\n");
}

TEST(Text, WrapsTheDescription) {
  const std::string text =
      toText(play(scenario("  description: " + std::string(30, 'a') + " " + std::string(30, 'b'))),
             {.color = false, .timeline = true, .width = 50});
  EXPECT_THAT(text, HasSubstr("\n  " + std::string(30, 'a') + "\n  " + std::string(30, 'b') + "\n"));
}

TEST(Json, HasAStableForm) {
  const std::vector<ScenarioReport> reports = {play(kHolds), play(kFails)};
  const auto json = nlohmann::json::parse(toJson(reports, false));
  EXPECT_EQ(json["kind"], "ReplayReport");
  EXPECT_EQ(json["held"], 1);
  EXPECT_EQ(json["failed"], 1);
  const auto& holds = json["scenarios"][0];
  EXPECT_EQ(holds["file"], "s.yaml");
  EXPECT_EQ(holds["order"], "written");
  EXPECT_EQ(holds["ended"], (nlohmann::json{{"empty", 1}, {"stuck", 0}, {"undecided", 0}}));
  EXPECT_EQ(holds["told"]["end"], "empty");
  EXPECT_EQ(holds["told"]["goalAt"], 0.52);
  EXPECT_EQ(holds["told"]["story"][0], (nlohmann::json{{"title", "the provider goes"},
                                                       {"event", "deployments/operator/operator gone"},
                                                       {"at", 0.0}}));
  EXPECT_TRUE(holds["told"]["story"][1]["at"].is_null());
  const auto& fails = json["scenarios"][1];
  EXPECT_EQ(fails["held"], false);
  EXPECT_EQ(fails["expectations"].back()["text"], "ends empty");
  EXPECT_THAT(std::string(fails["expectations"].back()["whyNot"]), HasSubstr("widgets/one was still there"));
  EXPECT_TRUE(fails["told"]["goalAt"].is_null());
  EXPECT_EQ(fails["told"]["stillThere"][0]["object"], "widgets/one");
}

TEST(Json, HasTheTimelineWhenAsked) {
  const std::vector<ScenarioReport> reports = {play(kFails)};
  EXPECT_FALSE(nlohmann::json::parse(toJson(reports, false))["scenarios"][0]["told"].contains("timeline"));
  EXPECT_EQ(nlohmann::json::parse(toJson(reports, true))["scenarios"][0]["told"]["timeline"][0]["text"],
            "admin deletes widgets/one: accepted, waits for example.com/cleanup");
}

TEST(JUnit, HasOneCaseForEachExpectation) {
  const std::vector<ScenarioReport> reports = {play(kHolds), play(kFails)};
  const std::string xml = toJUnit(reports);
  EXPECT_THAT(
      xml,
      AllOf(
          HasSubstr("<testsuites name=\"lastout replay\" tests=\"4\" failures=\"1\">"),
          HasSubstr("<testsuite name=\"s\" file=\"s.yaml\" tests=\"2\" failures=\"0\">"),
          HasSubstr("<testcase classname=\"s\" name=\"ends empty\"/>"),
          HasSubstr(
              "<testcase classname=\"s\" name=\"ends empty\">\n      <failure message=\"nothing changed any "
              "more"),
          EndsWith("</testsuites>\n")));
}

TEST(JUnit, EscapesWhatXmlWouldRead) {
  const std::vector<ScenarioReport> reports = {play(kFails)};
  EXPECT_THAT(toJUnit(reports), AllOf(HasSubstr("&lt;A&gt; &amp; &quot;B&quot;"), Not(HasSubstr("<A>"))));
}

TEST(JUnit, HasACaseWhereNothingIsExpected) {
  const std::vector<ScenarioReport> reports = {play(scenario("  guard: false\n  steps: []"))};
  EXPECT_THAT(toJUnit(reports), HasSubstr("<testcase classname=\"s\" name=\"replayed\"/>"));
}

}  // namespace
}  // namespace lastout::replay

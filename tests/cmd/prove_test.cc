// lastout prove, by running the program: what it prints, and its exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace lastout {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Ran;
using ::testing::StartsWith;

const std::string kStory = "scenarios/story-three-works.yaml";
const std::string kUnguarded = "scenarios/story-unguarded.yaml";

std::string textOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ProveCommand, TheGuardedStoryIsProven) {
  const Ran ran = testing::lastout({"prove", kStory});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.out, AllOf(StartsWith("PROVEN  story-three-works"), HasSubstr("1 scenario: 1 PROVEN")));
  EXPECT_EQ(ran.err, "");
}

TEST(ProveCommand, TheUnguardedControlIsStuckAndThatFails) {
  const Ran ran = testing::lastout({"prove", kUnguarded});
  EXPECT_EQ(ran.exitCode, 1);
  EXPECT_THAT(ran.out, AllOf(StartsWith("STUCK  story-unguarded"), HasSubstr("As the scenario expects."),
                             HasSubstr("A shortest way to get stuck")));
}

TEST(ProveCommand, GettingStuckAsExpectedCanBeFine) {
  EXPECT_EQ(testing::lastout({"prove", "--as-expected", kUnguarded}).exitCode, 0);
  EXPECT_EQ(testing::lastout({"prove", "--as-expected", kStory}).exitCode, 0);
}

// Manifests alone: the controller that removes the finalizer is found by its role, and by the
// CriticalService.
TEST(ProveCommand, NeedsNoScenarioToBeToldWhatIsDeleted) {
  const std::vector<std::string> both{"prove",    "--delete",         "namespace/operator",
                                      "--delete", "namespace/team-a", "scenarios/manifests/operator.yaml"};
  const Ran unguarded = testing::lastout(both);
  EXPECT_EQ(unguarded.exitCode, 1);
  EXPECT_THAT(unguarded.out,
              AllOf(StartsWith("STUCK  delete namespace/operator and namespace/team-a"),
                    HasSubstr("lets its ServiceAccount update"), HasSubstr("widgets/team-a/one")));
  std::vector<std::string> guarded = both;
  guarded.push_back("scenarios/manifests/guard.yaml");
  EXPECT_EQ(testing::lastout(guarded).exitCode, 0);
  const Ran alone =
      testing::lastout({"prove", "--delete", "namespace/team-a", "scenarios/manifests/operator.yaml"});
  EXPECT_EQ(alone.exitCode, 0) << alone.out << "the controller stays, and removes the finalizer";
  const Ran wrong =
      testing::lastout({"prove", "--delete", "namespace/team-b", "scenarios/manifests/operator.yaml"});
  EXPECT_EQ(wrong.exitCode, 2);
  EXPECT_THAT(wrong.err, HasSubstr("namespace/team-b"));
}

TEST(ProveCommand, ABoundEndsUndecided) {
  const Ran states = testing::lastout({"prove", "--max-states", "100", kStory});
  EXPECT_EQ(states.exitCode, 3);
  EXPECT_THAT(states.out, AllOf(StartsWith("NOT DECIDED  story-three-works  100 states"),
                                HasSubstr("--max-states"), Not(HasSubstr("PROVEN"))));
  const Ran memory = testing::lastout({"prove", "--max-memory", "1MiB", kStory});
  EXPECT_EQ(memory.exitCode, 3);
  EXPECT_THAT(memory.out, HasSubstr("1 MiB of memory"));
}

TEST(ProveCommand, TheWorstOfSeveralIsTheExitCode) {
  const Ran ran = testing::lastout({"prove", "--max-states", "5000", kStory, kUnguarded});
  EXPECT_EQ(ran.exitCode, 1);
  EXPECT_THAT(ran.out, HasSubstr("2 scenarios: 1 STUCK, 1 NOT DECIDED"));
  EXPECT_EQ(testing::lastout({"prove", "--max-states", "5000", kUnguarded, kStory}).exitCode, 1);
  EXPECT_EQ(testing::lastout({"prove", "--as-expected", "--max-states", "5000", kUnguarded, kStory}).exitCode,
            3);
}

TEST(ProveCommand, TheWayOnIsToldWhenAskedFor) {
  const std::string line = "A shortest way on from there";
  EXPECT_THAT(testing::lastout({"prove", kUnguarded}).out, Not(HasSubstr(line)));
  EXPECT_THAT(testing::lastout({"prove", "--onward", kUnguarded}).out, HasSubstr(line));
}

TEST(ProveCommand, JsonIsAllThatStandsOnTheStandardOutput) {
  const Ran ran = testing::lastout({"prove", "-o", "json", kStory, kUnguarded});
  EXPECT_EQ(ran.exitCode, 1);
  const auto json = nlohmann::json::parse(ran.out);
  ASSERT_EQ(json.at("scenarios").size(), 2u);
  EXPECT_EQ(json["scenarios"][0]["verdict"], "PROVEN");
  EXPECT_EQ(json["scenarios"][1]["verdict"], "STUCK");
}

// docs/prove.md, "Assumptions".
TEST(ProveCommand, AnAssumptionIsNamedAndFailsWithStrictAlone) {
  const std::string webhook = "scenarios/provider-webhook.yaml";
  const Ran ran = testing::lastout({"prove", webhook});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.out,
              AllOf(StartsWith("PROVEN"), HasSubstr("\n  assumes: the webhook widget-checks/"
                                                    "checks.example.com allows what it is asked about")));
  const Ran strict = testing::lastout({"prove", "--strict", webhook});
  EXPECT_EQ(strict.exitCode, 1);
  EXPECT_THAT(strict.out,
              AllOf(StartsWith("PROVEN"), HasSubstr("It rests on 1 assumption: a failure by --strict.")));
  EXPECT_EQ(testing::lastout({"prove", "--strict", "--as-expected", webhook}).exitCode, 1);
  EXPECT_EQ(testing::lastout({"prove", "--strict", "--max-states", "10", webhook}).exitCode, 3);
  const Ran none = testing::lastout({"prove", "--strict", kStory});
  EXPECT_EQ(none.exitCode, 0);
  EXPECT_THAT(none.out, Not(HasSubstr("assum")));
  EXPECT_THAT(testing::lastout({"replay", "--order", "all", webhook}).out,
              HasSubstr("\n  assumes: the webhook"));
  EXPECT_THAT(testing::lastout({"replay", webhook}).out, Not(HasSubstr("assumes")));
}

TEST(ProveCommand, AssumptionsAreInTheJson) {
  const Ran ran = testing::lastout({"prove", "-o", "json", "scenarios/provider-webhook.yaml", kStory});
  const auto json = nlohmann::json::parse(ran.out);
  ASSERT_EQ(json["scenarios"][0]["assumptions"].size(), 1u);
  EXPECT_EQ(json["scenarios"][0]["assumptions"][0]["object"],
            "validatingwebhookconfigurations/widget-checks");
  EXPECT_THAT(json["scenarios"][0]["assumptions"][0]["text"].get<std::string>(),
              HasSubstr("widget-checks/checks.example.com allows"));
  EXPECT_TRUE(json["scenarios"][1]["assumptions"].empty());
}

TEST(ProveCommand, BadInputIsSaidBeforeAnythingIsProven) {
  const Ran missing = testing::lastout({"prove", kStory, "scenarios/no-such-file.yaml"});
  EXPECT_EQ(missing.exitCode, 2);
  EXPECT_EQ(missing.out, "");
  EXPECT_THAT(missing.err, HasSubstr("no-such-file.yaml"));
  for (const char* bound : {"0", "-1", "many", "4294967295"}) {
    const Ran ran = testing::lastout({"prove", "--max-states", bound, kStory});
    EXPECT_EQ(ran.exitCode, 2) << bound;
    EXPECT_THAT(ran.err, HasSubstr("--max-states")) << bound;
  }
  EXPECT_EQ(testing::lastout({"prove", "--max-memory", "2 pounds", kStory}).exitCode, 2);
  EXPECT_EQ(testing::lastout({"prove"}).exitCode, 2);
}

TEST(ProveCommand, HelpHasExamplesAndExitCodes) {
  const Ran ran = testing::lastout({"prove", "--help"});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("Examples:"), HasSubstr("Exit codes:"), HasSubstr("--max-memory")));
}

TEST(ProveCommand, TheSameFileGivesTheSameTextButForTheTime) {
  const auto without = [](std::string text) {
    return text.replace(text.find(" transitions, "), text.find(" s  (") - text.find(" transitions, "), "");
  };
  EXPECT_EQ(without(testing::lastout({"prove", kUnguarded}).out),
            without(testing::lastout({"prove", kUnguarded}).out));
}

// For CI: one case a scenario; what does not pass stands beside its file.
TEST(ProveCommand, WritesWhatCiShows) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "prove-in-ci";
  std::filesystem::create_directories(folder);
  const std::string junit = folder / "prove.xml";
  const std::string sarif = folder / "prove.sarif";
  const Ran ran = testing::lastout({"prove", "--junit", junit, "--sarif", sarif, kStory, kUnguarded});
  EXPECT_EQ(ran.exitCode, 1);
  const std::string xml = textOf(junit);
  EXPECT_THAT(xml,
              AllOf(HasSubstr(R"(<testsuites name="lastout prove" tests="2" failures="1">)"),
                    HasSubstr(R"(<testcase classname="story-three-works" name="every order"/>)"),
                    HasSubstr(R"(<failure message="STUCK: )"), HasSubstr("A shortest way to get stuck")));
  const auto json = nlohmann::json::parse(textOf(sarif));
  EXPECT_EQ(json["version"], "2.1.0");
  const auto& results = json["runs"][0]["results"];
  ASSERT_EQ(results.size(), 1U) << json;
  EXPECT_EQ(results[0]["ruleId"], "STUCK");
  EXPECT_EQ(results[0]["level"], "error");
  EXPECT_EQ(results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], kUnguarded);

  EXPECT_EQ(
      testing::lastout({"prove", "--as-expected", "--junit", junit, "--sarif", sarif, kUnguarded}).exitCode,
      0);
  EXPECT_THAT(textOf(junit), HasSubstr(R"(failures="0")"));
  EXPECT_TRUE(nlohmann::json::parse(textOf(sarif))["runs"][0]["results"].empty());

  // What --strict fails on is said.
  EXPECT_EQ(
      testing::lastout({"prove", "--strict", "--junit", junit, "scenarios/provider-webhook.yaml"}).exitCode,
      1);
  EXPECT_THAT(textOf(junit),
              HasSubstr("PROVEN, but it assumes: the webhook widget-checks/checks.example.com allows"));

  const Ran over = testing::lastout({"prove", "--junit", junit, "--sarif", junit, kStory});
  EXPECT_EQ(over.exitCode, 2);
  EXPECT_THAT(over.err, HasSubstr("--junit and --sarif would write over each other"));
}

}  // namespace
}  // namespace lastout

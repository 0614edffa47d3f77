// lastout replay, as it is run: exit codes, what stands where, files that are written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/program.h"

namespace lastout {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::lastout;
using ::testing::Not;
using testing::Ran;
using ::testing::StartsWith;

class ReplayProgram : public ::testing::Test {
 protected:
  ReplayProgram() {
    std::string pattern = (fs::temp_directory_path() / "lastout-replay-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~ReplayProgram() override { fs::remove_all(folder_); }
  ReplayProgram(const ReplayProgram&) = delete;
  ReplayProgram& operator=(const ReplayProgram&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return path(name);
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  fs::path folder_;
};

const std::string kMap = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: c, namespace: d }\n";

std::string scenario(const std::string& spec, const std::string& documents = kMap) {
  return "apiVersion: lastout.dev/v1alpha1\nkind: Scenario\nspec:\n" + spec + "\n" + documents;
}

const std::string kHolds = scenario("  steps: [{ delete: configmaps/d/c }]\n  expect: { ends: empty }");
const std::string kFails = scenario("  steps: [{ delete: configmaps/d/c }]\n  expect: { ends: stuck }");

const std::string kStory = "tests/recordings/kubernetes-1.26/story-deadlock.jsonl";

TEST_F(ReplayProgram, GivesTheVerdictsOfARecordingAgain) {
  const Ran ran = lastout({"replay", "--from-recording", kStory});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.out, HasSubstr("held    story-deadlock  12 of 12 verdicts as recorded"));
  EXPECT_THAT(ran.out, HasSubstr("1 recording: all verdicts as recorded\n"));
  EXPECT_EQ(ran.err, "");
}

TEST_F(ReplayProgram, GivesOneWhenAVerdictIsAnother) {
  std::string text = read(kStory);
  const std::string denied = R"("allowed": false)";
  text.replace(text.find(denied), denied.size(), R"("allowed": true)");
  const std::string junit = path("report.xml");
  const Ran ran =
      lastout({"replay", "--from-recording", kStory, write("other.jsonl", text), "--junit", junit});
  EXPECT_EQ(ran.exitCode, 1);
  EXPECT_THAT(ran.out, HasSubstr("FAILED  other  11 of 12 verdicts as recorded"));
  EXPECT_THAT(ran.out, HasSubstr("lastout denies it: "));
  EXPECT_THAT(ran.out, HasSubstr("2 recordings: 1 held, 1 failed\n"));
  EXPECT_THAT(read(junit), HasSubstr(R"(tests="24" failures="1")"));
}

TEST_F(ReplayProgram, GivesTwoForARecordingThatIsNone) {
  const Ran ran = lastout({"replay", "--from-recording", write("a.jsonl", kHolds), "-o", "json"});
  EXPECT_EQ(ran.exitCode, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("a.jsonl:1:"));
}

TEST_F(ReplayProgram, TakesScenariosOrRecordings) {
  EXPECT_THAT(lastout({"replay"}).err, HasSubstr("or a recording with --from-recording"));
  EXPECT_EQ(lastout({"replay"}).exitCode, 2);
  for (const std::vector<std::string>& both : {std::vector<std::string>{"--order", "all"},
                                               {"--trace", path("t")},
                                               {"--runs", "2"},
                                               {"--seed", "2"}}) {
    std::vector<std::string> arguments = {"replay", "--from-recording", kStory};
    arguments.insert(arguments.end(), both.begin(), both.end());
    const Ran ran = lastout(arguments);
    EXPECT_EQ(ran.exitCode, 2) << both.front();
    EXPECT_THAT(ran.err, HasSubstr(both.front()));
  }
}

TEST_F(ReplayProgram, GivesZeroWhenEverythingHolds) {
  const Ran ran = lastout({"replay", write("a.yaml", kHolds)});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.out, AllOf(StartsWith("held    a  ends empty at 0.000 s"),
                             HasSubstr("1 scenario: all expectations held")));
  EXPECT_EQ(ran.err, "");
}

TEST_F(ReplayProgram, GivesOneWhenAnExpectationFails) {
  write("a.yaml", kHolds);
  write("b.yaml", kFails);
  const Ran ran = lastout({"replay", path("")});
  EXPECT_EQ(ran.exitCode, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("held    a"), HasSubstr("FAILED  b"),
                             HasSubstr("FAILED  ends stuck: it ended empty"),
                             HasSubstr("2 scenarios: 1 held, 1 failed")));
}

TEST_F(ReplayProgram, GivesTwoAndRunsNothingWhenOneFileIsBad) {
  write("a.yaml", kHolds);
  write("b.yaml", scenario("  stepz: []"));
  write("c.yaml", scenario("  steps: [{ delete: configmaps/d/x }]"));
  const Ran ran = lastout({"replay", "--junit", path("j.xml"), path("")});
  EXPECT_EQ(ran.exitCode, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, AllOf(HasSubstr("b.yaml:4:3: "), HasSubstr("did you mean \"steps\"?"),
                             HasSubstr("c.yaml:4:21: ")));
  EXPECT_FALSE(fs::exists(path("j.xml")));
}

TEST_F(ReplayProgram, PassesOverManifestsInAFolder) {
  write("a.yaml", scenario("  files: [parts/map.yaml]\n  steps: [{ delete: configmaps/d/c }]", ""));
  write("parts/map.yaml", kMap);
  const Ran ran = lastout({"replay", path("")});
  EXPECT_EQ(ran.exitCode, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("1 scenario: "));
}

TEST_F(ReplayProgram, RefusesAFileThatIsNamedAndNoScenario) {
  const Ran ran = lastout({"replay", write("map.yaml", kMap)});
  EXPECT_EQ(ran.exitCode, 2);
  EXPECT_THAT(ran.err, HasSubstr("map.yaml: there is no document of kind Scenario in this file"));
}

TEST_F(ReplayProgram, RefusesAFolderWithoutScenarios) {
  write("map.yaml", kMap);
  const Ran ran = lastout({"replay", path("")});
  EXPECT_EQ(ran.exitCode, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("none of these files is a scenario"));
}

TEST_F(ReplayProgram, NamesThePlaceInAFurtherFile) {
  write("a.yaml", scenario("  files: [more.yaml]\n  steps: []", ""));
  write("more.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: c }\n---\napiVersion: v1\nkind: "
        "Nonsense\nmetadata: { name: n }\n");
  const Ran ran = lastout({"replay", path("a.yaml")});
  EXPECT_EQ(ran.exitCode, 2);
  EXPECT_THAT(ran.err, HasSubstr("more.yaml:6:"));
}

TEST_F(ReplayProgram, TheSameSeedPrintsTheSameBytes) {
  const auto run = [](const std::string& seed) {
    return lastout({"replay", "--order", "random", "--runs", "1", "--seed", seed, "--timeline",
                    "scenarios/story-three-works.yaml"})
        .out;
  };
  EXPECT_EQ(run("5"), run("5"));
  EXPECT_NE(run("5"), run("6"));
}

TEST_F(ReplayProgram, WritesJUnitAndATrace) {
  const Ran ran =
      lastout({"replay", "--junit", path("j.xml"), "--trace", path("t.jsonl"), write("a.yaml", kHolds)});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(read(path("j.xml")), HasSubstr("<testcase classname=\"a\" name=\"ends empty\"/>"));
  EXPECT_THAT(read(path("t.jsonl")),
              HasSubstr("\"kind\":\"watch\",\"resource\":\"configmaps\",\"type\":\"DELETED\""));
}

TEST_F(ReplayProgram, GivesTwoWhenAFileCannotBeWritten) {
  const Ran ran = lastout({"replay", "--trace", path("no/such/folder"), write("a.yaml", kHolds)});
  EXPECT_EQ(ran.exitCode, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("cannot be written"));
}

TEST_F(ReplayProgram, PrintsJson) {
  const Ran ran = lastout({"replay", "-o", "json", write("a.yaml", kHolds)});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(
      ran.out,
      AllOf(StartsWith("{\n  \"apiVersion\": \"lastout.dev/v1alpha1\",\n  \"kind\": \"ReplayReport\""),
            Not(HasSubstr("\x1b"))));
}

TEST_F(ReplayProgram, RefusesASeedWhereItWouldDoNothing) {
  for (const char* order : {"written", "all"}) {
    const Ran ran = lastout({"replay", "--order", order, "--seed", "3", "scenarios"});
    EXPECT_EQ(ran.exitCode, 2);
    EXPECT_THAT(ran.err, HasSubstr("--seed and --runs are for --order random"));
  }
}

TEST_F(ReplayProgram, RefusesAnOrderThatIsNone) {
  const Ran ran = lastout({"replay", "--order", "sideways", "scenarios"});
  EXPECT_EQ(ran.exitCode, 2);
  EXPECT_THAT(ran.err, HasSubstr("random"));
}

TEST_F(ReplayProgram, DoesNotPassOverAMisspeltScenario) {
  write("a.yaml", kHolds);
  write("b.yaml", "apiVersion: lastout.dev/v1alpha1\nkind: Scenaro\nmetadata: {name: b}\n");
  const Ran ran = lastout({"replay", path("")});
  EXPECT_EQ(ran.exitCode, 2);
  EXPECT_THAT(ran.err,
              HasSubstr("b.yaml:2:7: no kind \"Scenaro\" is known in \"lastout.dev/v1alpha1\"; did you "
                        "mean \"Scenario\"?"));
}

TEST_F(ReplayProgram, RefusesMoreObjectsThanItCanReplay) {
  std::string many = kHolds;
  for (int i = 0; i < 4100; ++i)
    many += "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c" + std::to_string(i) +
            ", namespace: web}}\n";
  const Ran ran = lastout({"replay", write("a.yaml", many)});
  EXPECT_EQ(ran.exitCode, 2);
  EXPECT_THAT(ran.err, HasSubstr("are more than the 4096 that a scenario can be replayed with"));
}

TEST_F(ReplayProgram, WritesOverNothingThatItReads) {
  const std::string scenario = write("a.yaml", kHolds);
  for (const std::string flag : {"--trace", "--junit"}) {
    const Ran ran = lastout({"replay", flag, path("./a.yaml"), scenario});
    EXPECT_EQ(ran.exitCode, 2);
    EXPECT_THAT(ran.err, HasSubstr(flag + " would write over this file, which is read"));
  }
  EXPECT_EQ(lastout({"replay", scenario}).exitCode, 0) << "the scenario is what it was";
  std::string more = kHolds;
  more.insert(more.find("spec:\n") + 6, "  files: [work.yaml]\n");
  write("work.yaml", "kind: ManifestWork\nmetadata: {name: w}\nspec: {workload: {manifests: []}}\n");
  const Ran named = lastout({"replay", "--trace", path("work.yaml"), write("b.yaml", more)});
  EXPECT_EQ(named.exitCode, 2);
  EXPECT_THAT(named.err, HasSubstr("work.yaml: --trace would write over this file")) << named.err;
  const Ran both = lastout({"replay", "--trace", path("out"), "--junit", path("out"), scenario});
  EXPECT_EQ(both.exitCode, 2);
  EXPECT_THAT(both.err, HasSubstr("would write over each other"));
}

TEST_F(ReplayProgram, LeavesNoHalfOfTwoFiles) {
  const Ran ran = lastout(
      {"replay", "--trace", path("t.jsonl"), "--junit", path("no/such/folder"), write("a.yaml", kHolds)});
  EXPECT_EQ(ran.exitCode, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_FALSE(std::filesystem::exists(path("t.jsonl")));
  EXPECT_FALSE(std::filesystem::exists(path("t.jsonl.part")));
}

TEST_F(ReplayProgram, LeavesAFileThatIsCalledAsItsOwnUnfinishedOne) {
  const std::string theirs = write("t.jsonl.part", "mine");
  EXPECT_EQ(lastout({"replay", "--trace", path("t.jsonl"), write("a.yaml", kHolds)}).exitCode, 0);
  EXPECT_EQ(read(theirs), "mine");
  EXPECT_TRUE(std::filesystem::exists(path("t.jsonl")));
}

TEST_F(ReplayProgram, ASeedIsAWholeNumber) {
  for (const std::string seed : {"-1", "1.5", "99999999999999999999999", "x", ""}) {
    const Ran ran = lastout({"replay", "--order", "random", "--seed", seed, write("a.yaml", kHolds)});
    EXPECT_EQ(ran.exitCode, 2) << seed;
    EXPECT_THAT(ran.err, HasSubstr("--seed")) << seed;
  }
}

}  // namespace
}  // namespace lastout

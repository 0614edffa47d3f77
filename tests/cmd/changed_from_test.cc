// lastout prove --changed-from, by running the program: which files stand for which, what it prints, and its
// exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/prove/small_operator.h"
#include "tests/support/program.h"

namespace lastout {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Ran;
using ::testing::StartsWith;

// Two folders, base and head, that are empty at first.
class ChangedFrom : public ::testing::Test {
 protected:
  ChangedFrom() {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "base");
    fs::create_directories(folder_ / "head");
  }
  ~ChangedFrom() override { fs::remove_all(folder_); }

  // Copies a file of the repository.
  void put(const std::string& from, const std::string& to) const {
    fs::create_directories((folder_ / to).parent_path());
    fs::copy_file(from, folder_ / to, fs::copy_options::overwrite_existing);
  }

  void write(const std::string& to, const std::string& text) const {
    fs::create_directories((folder_ / to).parent_path());
    std::ofstream(folder_ / to) << text;
  }

  std::string read(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // `lastout prove ...`, started in one of the folders.
  Ran prove(const std::string& in, const std::string& arguments) const {
    const std::string errors = (folder_ / "errors").string();
    Ran ran =
        testing::shell("cd " + (folder_ / in).string() + " && lastout prove " + arguments + " 2>" + errors);
    ran.err = read("errors");
    return ran;
  }

  const fs::path folder_ =
      fs::path(::testing::TempDir()) /
      ("changed-from-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

const std::string kOperator = "scenarios/manifests/operator.yaml";
const std::string kGuard = "scenarios/manifests/guard.yaml";
const std::string kDeletes = "--delete namespace/operator --delete namespace/team-a ";

TEST_F(ChangedFrom, AGuardThatIsTakenAwayIsWorse) {
  put(kOperator, "base/manifests/operator.yaml");
  put(kGuard, "base/manifests/guard.yaml");
  put(kOperator, "head/manifests/operator.yaml");
  const Ran ran = prove("head", kDeletes + "manifests --changed-from ../base");
  EXPECT_EQ(ran.exitCode, 1) << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(StartsWith("WORSE  delete namespace/operator and namespace/team-a  PROVEN before, "
                               "STUCK now  (manifests/operator.yaml)"),
                    HasSubstr("no\n    CriticalService guards it any more"),
                    HasSubstr("A shortest way to get stuck"), HasSubstr("Compared with ../base: 1 WORSE")));
  // The folder that stands for the other, and one that holds it by the same name, are both understood.
  EXPECT_EQ(prove("head", kDeletes + "manifests --changed-from ../base/manifests").exitCode, 1);
  EXPECT_EQ(prove(".", kDeletes + "head --changed-from base").exitCode, 1);
  // The other way round.
  const Ran better = prove("base", kDeletes + "manifests --changed-from ../head");
  EXPECT_EQ(better.exitCode, 0);
  EXPECT_THAT(better.out, StartsWith("BETTER"));
}

TEST_F(ChangedFrom, WhatIsAsStuckAsBeforeIsNotWorse) {
  put(kOperator, "base/manifests/operator.yaml");
  put(kOperator, "head/manifests/operator.yaml");
  const Ran ran = prove("head", kDeletes + "manifests --changed-from ../base");
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.out, AllOf(StartsWith("NOT WORSE"), HasSubstr("STUCK before, STUCK now"),
                             HasSubstr("It is still STUCK, in no other way than before")));
  const auto side = nlohmann::json::parse(
      prove("head", kDeletes + "-o json manifests --changed-from ../base").out)["scenarios"][0];
  EXPECT_EQ(side["before"]["file"], "../base/manifests/operator.yaml");
  EXPECT_EQ(side["now"]["file"], "manifests/operator.yaml");
  EXPECT_EQ(prove("head", kDeletes + "manifests").exitCode, 1) << "that is what prove alone is for";
}

TEST_F(ChangedFrom, ScenariosMatchByTheirPathsAndWhatIsWorseComesFirst) {
  for (const std::string side : {"base/", "head/"}) {
    put("scenarios/story-one-work.yaml", side + "scenarios/a/story.yaml");
    put("scenarios/cycle-of-two.yaml", side + "scenarios/z.yaml");
    put("scenarios/README.md", side + "scenarios/README.md");
  }
  put("scenarios/cycle-of-two.yaml", "head/scenarios/new.yaml");
  put("scenarios/cycle-of-two.yaml", "base/scenarios/gone.yaml");
  const Ran same = prove("head", "scenarios --changed-from ../base");
  EXPECT_EQ(same.exitCode, 0);
  EXPECT_THAT(same.out, HasSubstr("Compared with ../base: 2 NOT WORSE, 1 NEW, 1 GONE"));
  EXPECT_THAT(same.out, AllOf(HasSubstr("NEW  cycle-of-two  STUCK now  (scenarios/new.yaml)"),
                              HasSubstr("GONE  cycle-of-two  (../base/scenarios/gone.yaml)")));
  // In the order of the last line.
  EXPECT_LT(same.out.find("NOT WORSE  "), same.out.find("NEW  "));
  EXPECT_LT(same.out.find("NEW  "), same.out.find("GONE  "));

  // The story without its guard.
  std::string text = read("head/scenarios/a/story.yaml");
  text.replace(text.find("\nspec:\n"), 7, "\nspec:\n  guard: false\n");
  write("head/scenarios/a/story.yaml", text);
  const Ran worse = prove("head", "scenarios --changed-from ../base");
  EXPECT_EQ(worse.exitCode, 1);
  EXPECT_THAT(worse.out, AllOf(StartsWith("WORSE  story-one-work"), HasSubstr("`guard: false`"),
                               HasSubstr("1 WORSE, 1 NOT WORSE, 1 NEW, 1 GONE")));
}

// A profile's policies hold objects by finalizers; without the profile nothing does.
TEST_F(ChangedFrom, APolicyThatHoldsNoLongerIsALostGuard) {
  put("scenarios/policy-hold.yaml", "base/hold.yaml");
  put("scenarios/policy-hold.yaml", "head/hold.yaml");
  std::string text = read("head/hold.yaml");
  const std::string profile = "  profiles: [dbops]\n";
  write("head/hold.yaml", text.replace(text.find(profile), profile.size(), ""));
  const Ran ran = prove("head", "-o json hold.yaml --changed-from ../base");
  EXPECT_EQ(ran.exitCode, 1);
  const auto json = nlohmann::json::parse(ran.out);
  std::string lost;
  for (const auto& each : json["scenarios"][0]["worse"])
    if (each["kind"] == "lost-guard") lost += each["text"].get<std::string>() + "\n";
  EXPECT_THAT(lost, AllOf(HasSubstr("databaseinstances.dbops.dbprovision.io/shop/main"),
                          HasSubstr("no longer protected as by DeletionPolicy")));
}

// As in a workflow, which checks the base out inside of the workspace.
TEST_F(ChangedFrom, TheFolderMayStandInsideOfWhatIsNow) {
  put(kOperator, "head/operator.yaml");
  put(kGuard, "head/guard.yaml");
  put(kOperator, "head/base/operator.yaml");
  const Ran ran = prove("head", kDeletes + ". --changed-from base");
  EXPECT_EQ(ran.exitCode, 0) << ran.err << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("STUCK before, PROVEN now"));
}

TEST_F(ChangedFrom, WhatCouldNotBeReadBeforeIsNew) {
  put(kOperator, "base/manifests/operator.yaml");
  write("base/manifests/guard.yaml", "kind: [\n");
  put(kOperator, "head/manifests/operator.yaml");
  put(kGuard, "head/manifests/guard.yaml");
  const Ran ran = prove("head", kDeletes + "manifests --changed-from ../base");
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.out,
              AllOf(StartsWith("NEW"), HasSubstr("could not be read before"), HasSubstr("guard.yaml")));
  // What cannot be read now is bad input.
  EXPECT_EQ(prove("base", kDeletes + "manifests --changed-from ../head").exitCode, 2);
}

TEST_F(ChangedFrom, ABoundLeavesItOpen) {
  put("scenarios/story-one-work.yaml", "base/story.yaml");
  put("scenarios/story-one-work.yaml", "head/story.yaml");
  write("head/story.yaml", "# another file\n" + read("head/story.yaml"));
  const Ran ran = prove("head", "--max-states 50 story.yaml --changed-from ../base");
  EXPECT_EQ(ran.exitCode, 3);
  EXPECT_THAT(ran.out, AllOf(StartsWith("NOT DECIDED"), HasSubstr("--max-states")));
}

// Or else one large scenario would fail the check of every change.
TEST_F(ChangedFrom, ABoundLeavesNothingOpenOfWhatIsNotChanged) {
  put("scenarios/story-one-work.yaml", "base/story.yaml");
  put("scenarios/story-one-work.yaml", "head/story.yaml");
  const Ran ran = prove("head", "--max-states 50 story.yaml --changed-from ../base");
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.out, AllOf(StartsWith("NOT WORSE"), HasSubstr("still NOT DECIDED")));
}

// A scenario of the small operator that expects this.
std::string expecting(const std::string& expectations) {
  return "apiVersion: lastout.dev/v1alpha1\nkind: Scenario\nmetadata: {name: small}\nspec:\n"
         "  controllers:\n    - name: cleanup\n      runsIn: deployments.apps/operator/operator\n"
         "      removes: {finalizer: example.com/cleanup, from: widgets.example.com}\n"
         "  steps:\n    - delete: [deployments.apps/operator/operator, widgets/one]\n"
         "  expect:\n" +
         expectations + lastout::prove::kOperator;
}

// Where a scenario expects to get stuck, nobody looks at `never` and `exists` in every order. What was wrong
// all the time is not worse as soon as somebody looks.
TEST_F(ChangedFrom, BothAreAskedWhatIsExpectedNow) {
  const std::string guard = lastout::prove::kGuard;
  write("base/never.yaml", expecting("    ends: stuck\n    never: [widgets/one gone]\n") + guard);
  write("head/never.yaml", expecting("    ends: empty\n    never: [widgets/one gone]\n") + guard);
  const Ran never = prove("head", "never.yaml --changed-from ../base");
  EXPECT_EQ(never.exitCode, 0) << never.out;
  EXPECT_THAT(never.out, HasSubstr("BROKEN before, BROKEN now"));
  write("base/exists.yaml", expecting("    ends: stuck\n    exists: [deployments.apps/operator/operator]\n"));
  write("head/exists.yaml", expecting("    ends: empty\n    exists: [deployments.apps/operator/operator]\n"));
  const Ran exists = prove("head", "exists.yaml --changed-from ../base");
  EXPECT_EQ(exists.exitCode, 0) << exists.out;
  EXPECT_THAT(exists.out, HasSubstr("STUCK before, STUCK now"));
}

// The folder holds the path, so it is the right one, although no file matches.
TEST_F(ChangedFrom, AFolderWhoseFilesHaveAllOtherNamesIsCompared) {
  put("scenarios/cycle-of-two.yaml", "base/scenarios/old.yaml");
  put("scenarios/cycle-of-two.yaml", "head/scenarios/new.yaml");
  const Ran renamed = prove("head", "scenarios --changed-from ../base");
  EXPECT_EQ(renamed.exitCode, 0) << renamed.err;
  EXPECT_THAT(renamed.out, HasSubstr("1 NEW, 1 GONE"));
  fs::remove(folder_ / "head/scenarios/new.yaml");
  const Ran gone = prove("head", "scenarios --changed-from ../base");
  EXPECT_EQ(gone.exitCode, 0) << gone.err;
  EXPECT_THAT(gone.out, HasSubstr("Compared with ../base: 1 GONE"));
  put(kOperator, "base/manifests/operator.yaml");
  put("scenarios/README.md", "head/manifests/README.md");
  const Ran manifests = prove("head", kDeletes + "manifests --changed-from ../base");
  EXPECT_EQ(manifests.exitCode, 0) << manifests.err;
  EXPECT_THAT(manifests.out, HasSubstr("Compared with ../base: 1 GONE"));
}

TEST_F(ChangedFrom, AFolderThatHoldsNothingAnyMoreHasLostItsGuard) {
  put(kOperator, "base/manifests/operator.yaml");
  put(kGuard, "base/guards/guard.yaml");
  put(kOperator, "head/manifests/operator.yaml");
  fs::create_directories(folder_ / "head/guards");
  const Ran ran = prove("head", kDeletes + "manifests guards --changed-from ../base");
  EXPECT_EQ(ran.exitCode, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("CriticalService guards it any more"));
}

TEST_F(ChangedFrom, CiIsToldAndTheJsonIsStable) {
  put(kOperator, "base/operator.yaml");
  put(kGuard, "base/guard.yaml");
  put(kOperator, "head/operator.yaml");
  const std::string arguments =
      kDeletes + "-o json --junit prove.xml --sarif prove.sarif . --changed-from ../base";
  const Ran ran = prove("head", arguments);
  EXPECT_EQ(ran.exitCode, 1);
  EXPECT_EQ(ran.out, prove("head", arguments).out);
  const auto json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json["changedFrom"], "../base");
  EXPECT_EQ(json["scenarios"][0]["result"], "WORSE");
  EXPECT_EQ(json["scenarios"][0]["worse"][0]["kind"], "new-stuck");
  const auto results = nlohmann::json::parse(read("head/prove.sarif"))["runs"][0]["results"];
  ASSERT_EQ(results.size(), 2U) << results;
  EXPECT_EQ(results[1]["ruleId"], "lost-guard");
  EXPECT_EQ(results[1]["level"], "error");
  EXPECT_THAT(read("head/prove.xml"),
              AllOf(HasSubstr(R"(name="no lost guard">)"), HasSubstr(R"(failures="2")")));
}

TEST_F(ChangedFrom, WhatIsWrongWithTheFolderIsSaid) {
  put(kOperator, "head/manifests/operator.yaml");
  const auto refused = [&](const std::string& arguments) {
    const Ran ran = prove("head", kDeletes + arguments);
    EXPECT_EQ(ran.exitCode, 2) << arguments;
    EXPECT_EQ(ran.out, "") << arguments;
    return ran.err;
  };
  EXPECT_THAT(refused("manifests --changed-from ../no-such"),
              AllOf(HasSubstr("../no-such: --changed-from: there is no such folder"), HasSubstr("checkout")));
  EXPECT_THAT(refused("manifests --changed-from manifests/operator.yaml"), HasSubstr("this is a file"));
  EXPECT_THAT(refused("manifests --changed-from manifests"), HasSubstr("the same as manifests"));
  EXPECT_THAT(refused("manifests --changed-from ."), HasSubstr("the same as manifests"));
  EXPECT_THAT(refused("manifests/operator.yaml --changed-from ./manifests"), HasSubstr("the same as"));
  EXPECT_THAT(refused("manifests --changed-from ../base"),
              HasSubstr("nothing in this folder matches manifests"));
  EXPECT_THAT(refused("--strict manifests --changed-from ../base"), HasSubstr("--strict"));
  EXPECT_THAT(refused("--as-expected manifests --changed-from ../base"), HasSubstr("--as-expected"));
  write("base/other.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n");
  EXPECT_THAT(refused("manifests --changed-from ../base"),
              HasSubstr("nothing in this folder matches manifests"));
  put(kOperator, "head/more/operator.yaml");
  put(kOperator, "base/operator.yaml");
  EXPECT_THAT(refused("manifests more --changed-from ../base"), HasSubstr("can stand for one folder alone"));
  const Ran scenarios = prove("head", "manifests --changed-from ../base");
  EXPECT_EQ(scenarios.exitCode, 2);
  EXPECT_THAT(scenarios.err, HasSubstr("--delete"));
}

}  // namespace
}  // namespace lastout

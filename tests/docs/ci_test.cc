// docs/ci.md is true: its workflow is run step by step over a repository with a base and a change, and its
// hooks by real commits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kube/parse.h"
#include "tests/docs/console_blocks.h"
#include "tests/support/program.h"

namespace lastout::docs {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::Ran;

const std::string kCiPage = "docs/ci.md";
const std::string kPreCommitHooks = ".pre-commit-hooks.yaml";

std::string wholeFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The first block of that kind on the page that holds the text.
std::string blockWith(const std::string& kind, const std::string& text) {
  std::string block;
  bool isInside = false;
  for (const std::string& line : splitLines(wholeFile(kCiPage))) {
    if (isInside && line == "```") {
      if (block.find(text) != std::string::npos) return block;
      block.clear();
      isInside = false;
    } else if (isInside) {
      block += line + "\n";
    } else {
      isInside = line == "```" + kind;
    }
  }
  ADD_FAILURE() << kCiPage << " has no block of " << kind << " with " << text;
  return {};
}

kube::Value yamlOf(const std::string& text) {
  auto documents = kube::parseYaml(text, kCiPage);
  if (documents && documents->size() == 1) return documents->front();
  ADD_FAILURE() << (documents ? "not one document" : kube::toString(documents.error()));
  return {};
}

// The string at a key; empty: there is none.
std::string textAt(const kube::Value& value, std::string_view key) {
  const kube::Value* found = value.find(key);
  return found != nullptr && found->asString() != nullptr ? *found->asString() : std::string();
}

// A repository of somebody's with an operator and its guard in it, committed on the branch main.
class Repository : public ::testing::Test {
 protected:
  Repository() {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "repository/manifests");
    const std::string shown = "scenarios/manifests/";
    for (const std::string name : {"operator.yaml", "guard.yaml"})
      fs::copy_file(shown + name, folder_ / "repository/manifests" / name);
    EXPECT_EQ(git("init -q -b main . && git add . && git commit -q -m base").exitCode, 0);
  }
  ~Repository() override { fs::remove_all(folder_); }

  // Shell in a folder, as a user without settings of git's.
  Ran in(const std::string& folder, const std::string& line) const {
    return testing::shell("export HOME='" + folder_.string() +
                          "' GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a "
                          "GIT_AUTHOR_EMAIL=a@example.com "
                          "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com; unset GIT_DIR "
                          "GIT_INDEX_FILE GIT_WORK_TREE; cd '" +
                          (folder_ / folder).string() + "' && " + line);
  }
  Ran git(const std::string& arguments) const { return in("repository", "git " + arguments); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  void addToOperator(const std::string& text) const {
    const std::string name = "repository/manifests/operator.yaml";
    write(name, wholeFile(folder_ / name) + text);
  }
  size_t commits() const { return std::stoul(git("rev-list --count HEAD").out); }

  const fs::path folder_ =
      fs::path(::testing::TempDir()) /
      ("ci-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

// --- the workflow

// Runs the job as GitHub does: each step in a shell of its own, those after one that failed only if they say
// `always()`. In place of docker stands a program that checks how it is called and runs lastout.
class Workflow : public Repository {
 protected:
  struct Job {
    int exitCode = 0;
    std::string out;
    std::vector<std::string> uploaded;  // files that steps of others were given, and that were there
  };

  // Of a pull request with what is committed on the branch `change`.
  Job run() {
    EXPECT_EQ(git("checkout -q main && git merge -q --no-ff -m merged change").exitCode, 0);
    write("tools/docker", kDocker);
    fs::permissions(folder_ / "tools/docker", fs::perms::owner_all);
    write("path", "");
    const kube::Value workflow = yamlOf(blockWith("yaml", "jobs:"));
    EXPECT_NE(workflow.at({"on"}), nullptr);
    const kube::Value* steps = workflow.at({"jobs", "changed-from", "steps"});
    image_ = textAt(*workflow.at({"jobs", "changed-from", "env"}), "LASTOUT_IMAGE");
    Job job;
    for (const kube::Value& step : *steps->asList()) {
      const std::string condition = textAt(step, "if");
      if (job.exitCode != 0 && condition.find("always()") == std::string::npos) continue;
      if (step.find("run") != nullptr)
        runShell(textAt(step, "run"), job);
      else
        use(step, job);
    }
    return job;
  }

 private:
  static constexpr const char* kDocker =
      "#!/bin/sh\n"
      "[ \"$1 $2\" = 'run --rm' ] || exit 90\n"
      "shift 2\n"
      "while [ \"$1\" != \"$EXPECTED_IMAGE\" ]; do\n"
      "  case \"$1\" in --workdir) cd \"$2\" || exit 91 ;; --volume|--user|--network) ;; *) exit 92 ;; esac\n"
      "  shift 2\n"
      "done\n"
      "shift\n"
      "exec \"$PROGRAM\" \"$@\"\n";

  void runShell(const std::string& text, Job& job) const {
    write("step.sh", text);
    const std::string top = folder_.string();
    const Ran ran =
        in("workspace",
           "export PROGRAM=\"$(command -v lastout)\" RUNNER_TEMP='" + top + "' GITHUB_PATH='" + top +
               "/path' LASTOUT_IMAGE='" + image_ + "' EXPECTED_IMAGE='" + image_ +
               "'; for folder in $(cat ../path) ../tools; do PATH=\"$(realpath $folder):$PATH\"; done; "
               "bash -e -o pipefail ../step.sh");
    job.exitCode = ran.exitCode;
    job.out += ran.out;
  }

  void use(const kube::Value& step, Job& job) {
    const std::string action = textAt(step, "uses");
    const kube::Value* with = step.find("with");
    ASSERT_NE(with, nullptr) << action;
    if (action.starts_with("actions/checkout@")) {
      ASSERT_NE(with->find("fetch-depth"), nullptr);
      const int64_t depth = *with->find("fetch-depth")->asInteger();
      ASSERT_EQ(
          in(".", "git clone -q --depth " + std::to_string(depth) + " \"file://$PWD/repository\" workspace")
              .exitCode,
          0);
      return;
    }
    std::string file;
    if (action.starts_with("github/codeql-action/upload-sarif@")) file = textAt(*with, "sarif_file");
    if (action.starts_with("actions/upload-artifact@")) file = textAt(*with, "path");
    ASSERT_FALSE(file.empty()) << "no such action is known here: " << action;
    EXPECT_THAT(textAt(step, "if"), HasSubstr("hashFiles('" + file + "')"));
    // GitHub grants a pull request from a fork no right to write, and the step would fail.
    if (action.starts_with("github/codeql-action/")) {
      EXPECT_THAT(textAt(step, "if"),
                  HasSubstr(" && github.event.pull_request.head.repo.full_name == github.repository"));
    }
    if (fs::exists(folder_ / "workspace" / file)) job.uploaded.push_back(file);
  }

  std::string image_;
};

TEST_F(Workflow, FailsOnAChangeThatTakesAGuardAwayAndShowsIt) {
  ASSERT_EQ(
      git("checkout -q -b change && git rm -q manifests/guard.yaml && git commit -q -m change").exitCode, 0);
  const Job job = run();
  EXPECT_EQ(job.exitCode, 1) << job.out;
  EXPECT_THAT(
      job.out,
      AllOf(HasSubstr("WORSE  delete namespace/operator and namespace/team-a  PROVEN before, STUCK now"),
            HasSubstr("A shortest way to get stuck")));
  EXPECT_THAT(job.uploaded, ::testing::ElementsAre("teardown.sarif", "teardown.xml"));
  const auto sarif = nlohmann::json::parse(wholeFile(folder_ / "workspace/teardown.sarif"));
  std::vector<std::string> rules;
  for (const auto& result : sarif["runs"][0]["results"]) {
    rules.push_back(result["ruleId"]);
    // As it is called in the repository, so that it is shown beside the change.
    EXPECT_EQ(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
              "manifests/operator.yaml");
  }
  EXPECT_THAT(rules, ::testing::ElementsAre("new-stuck", "lost-guard"));
}

TEST_F(Workflow, PassesAChangeThatMakesNothingWorse) {
  ASSERT_EQ(git("checkout -q -b change").exitCode, 0);
  addToOperator("---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings, namespace: team-a }\n");
  ASSERT_EQ(git("commit -q -a -m change").exitCode, 0);
  const Job job = run();
  EXPECT_EQ(job.exitCode, 0) << job.out;
  EXPECT_THAT(job.out, HasSubstr("PROVEN before, PROVEN now"));
  EXPECT_TRUE(
      nlohmann::json::parse(wholeFile(folder_ / "workspace/teardown.sarif"))["runs"][0]["results"].empty());
  EXPECT_EQ(job.uploaded.size(), 2U);
}

// --- the hooks

class Hook : public Repository {
 protected:
  // As the page says.
  void install() {
    std::string lines = blockWith("sh", ".git/hooks/pre-commit");
    const std::string clone = "path/to/lastout";
    lines.replace(lines.find(clone), clone.size(), fs::current_path().string());
    write("install.sh", "set -e\n" + lines);
    ASSERT_EQ(in("repository", "sh ../install.sh").exitCode, 0);
  }
};

TEST_F(Hook, RefusesACommitThatTakesAGuardAway) {
  install();
  ASSERT_EQ(git("rm -q manifests/guard.yaml").exitCode, 0);
  const Ran refused = git("commit -q -m change");
  EXPECT_NE(refused.exitCode, 0);
  EXPECT_THAT(refused.out, AllOf(HasSubstr("WORSE  delete namespace/operator and namespace/team-a"),
                                 HasSubstr("lastout pre-commit: the commit is refused")));
  EXPECT_EQ(commits(), 1U);
  EXPECT_EQ(git("commit -q --no-verify -m change").exitCode, 0);
  EXPECT_EQ(commits(), 2U);
  // What is as it was in the commit before is not refused.
  addToOperator("---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings, namespace: team-a }\n");
  EXPECT_EQ(git("commit -q -a -m more").exitCode, 0);
}

TEST_F(Hook, PassesWhatMakesNothingWorseAndSaysNothing) {
  install();
  addToOperator("---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings, namespace: team-a }\n");
  const Ran passed = git("commit -q -a -m change");
  EXPECT_EQ(passed.exitCode, 0);
  EXPECT_EQ(passed.out, "");
  EXPECT_EQ(commits(), 2U);
}

// What is committed counts, not what is in the folder.
TEST_F(Hook, LooksAtWhatIsStaged) {
  install();
  addToOperator("---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings, namespace: team-a }\n");
  ASSERT_EQ(git("add manifests").exitCode, 0);
  fs::remove(folder_ / "repository/manifests/guard.yaml");
  EXPECT_EQ(git("commit -q -m change").exitCode, 0);
  ASSERT_EQ(
      git("rm -q --cached manifests/guard.yaml && git show HEAD:manifests/guard.yaml >manifests/guard.yaml")
          .exitCode,
      0);
  EXPECT_NE(git("commit -q -m change").exitCode, 0);
}

TEST_F(Hook, RefusesWhatCannotBeReadAndLeavesOtherFilesAlone) {
  install();
  write("repository/README.md", "hello\n");
  EXPECT_EQ(git("add . && git commit -q -m readme").exitCode, 0);
  addToOperator("---\nkind: [\n");
  const Ran refused = git("commit -q -a -m change");
  EXPECT_NE(refused.exitCode, 0);
  EXPECT_THAT(refused.out, HasSubstr("manifests/operator.yaml"));
}

TEST_F(Hook, SaysWhetherItIsWorseOrCannotBeRead) {
  install();
  addToOperator("---\nkind: [\n");
  const Ran unread = git("commit -q -a -m change");
  EXPECT_THAT(unread.out, HasSubstr("refused, as nothing could be compared (exit code 2)"));
  ASSERT_EQ(git("checkout -q HEAD manifests && git rm -q manifests/guard.yaml").exitCode, 0);
  EXPECT_THAT(git("commit -q -m change").out, HasSubstr("refused, as it makes something worse"));
}

TEST_F(Hook, PassesACommitThatDeletesAll) {
  install();
  ASSERT_EQ(git("rm -q -r manifests").exitCode, 0);
  const Ran passed = git("commit -q -m change");
  EXPECT_EQ(passed.exitCode, 0) << passed.out;
  EXPECT_THAT(passed.out, HasSubstr("nothing is left of manifests"));
}

TEST_F(Hook, ComparesWhatWasInAFolderThatIsGone) {
  ASSERT_EQ(git("mv manifests/guard.yaml guard.yaml && mkdir guards && git mv guard.yaml guards && git "
                "commit -q -m "
                "moved")
                .exitCode,
            0);
  install();
  ASSERT_EQ(git("config --add lastout.path guards && git rm -q -r guards").exitCode, 0);
  const Ran refused = git("commit -q -m change");
  EXPECT_NE(refused.exitCode, 0);
  EXPECT_THAT(refused.out, HasSubstr("CriticalService guards it any more"));
}

// Without --delete, by a program that is named from the top folder.
TEST_F(Hook, PassesAScenarioThatIsRenamed) {
  fs::create_directories(folder_ / "repository/scenarios");
  fs::copy_file("scenarios/cycle-of-two.yaml", folder_ / "repository/scenarios/old.yaml");
  ASSERT_EQ(
      git("add scenarios && git commit -q -m scenario && git config --add lastout.path scenarios").exitCode,
      0);
  fs::copy_file("scripts/pre-commit", folder_ / "repository/.git/hooks/pre-commit");
  ASSERT_EQ(in("repository", "mkdir tools && ln -s \"$(command -v lastout)\" tools/lastout").exitCode, 0);
  const Ran renamed =
      in("repository",
         "git mv scenarios/old.yaml scenarios/new.yaml && LASTOUT=tools/lastout git commit -q -m change");
  EXPECT_EQ(renamed.exitCode, 0) << renamed.out;
  EXPECT_EQ(renamed.out, "");
  const Ran removed = git("rm -q -r scenarios && git commit -q -m change");
  EXPECT_EQ(removed.exitCode, 0) << removed.out;
}

TEST_F(Hook, SaysWhatIsMissing) {
  fs::copy_file("scripts/pre-commit", folder_ / "repository/.git/hooks/pre-commit");
  addToOperator("---\n");
  const Ran unsaid = git("commit -q -a -m change");
  EXPECT_NE(unsaid.exitCode, 0);
  EXPECT_THAT(unsaid.out, HasSubstr("git config --add lastout.path FOLDER"));
  const Ran without = in(
      "repository", "git config --add lastout.path manifests && LASTOUT=no-such git commit -q -a -m change");
  EXPECT_NE(without.exitCode, 0);
  EXPECT_THAT(without.out, HasSubstr("there is no program no-such"));
}

// The hook of a configuration of pre-commit, run as that does: its entry, without names of files, always or
// if a file that is staged, and not deleted, matches.
TEST_F(Hook, OfPreCommitRefusesAndPasses) {
  const kube::Value configuration = yamlOf(blockWith("yaml", "repos:"));
  const kube::Value& hook = configuration.find("repos")->asList()->front().find("hooks")->asList()->front();
  EXPECT_EQ(textAt(hook, "language"), "script");
  ASSERT_NE(hook.find("pass_filenames"), nullptr);
  EXPECT_FALSE(*hook.find("pass_filenames")->asBool());
  fs::create_directories(folder_ / "repository/scripts");
  fs::copy_file("scripts/pre-commit", folder_ / "repository/scripts/pre-commit");
  const kube::Value* always = hook.find("always_run");
  const std::string condition = always != nullptr && *always->asBool()
                                    ? std::string()
                                    : "git diff --cached --name-only --diff-filter=ACMRTUXB | grep -qE '" +
                                          textAt(hook, "files") + "' || exit 0\n";
  write("repository/.git/hooks/pre-commit",
        "#!/bin/sh\n" + condition + "exec " + textAt(hook, "entry") + "\n");
  fs::permissions(folder_ / "repository/.git/hooks/pre-commit", fs::perms::owner_all);
  addToOperator("---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings, namespace: team-a }\n");
  EXPECT_EQ(git("add . && git commit -q -m change").exitCode, 0);
  ASSERT_EQ(git("rm -q manifests/guard.yaml").exitCode, 0);
  EXPECT_NE(git("commit -q -m change").exitCode, 0);
  EXPECT_EQ(commits(), 2U);
}

// What pre-commit reads of this repository.
TEST(PreCommitHooks, NameTheScriptThatIsThere) {
  const kube::Value hooks = yamlOf(wholeFile(kPreCommitHooks));
  ASSERT_EQ(hooks.asList()->size(), 1U);
  const kube::Value& hook = hooks.asList()->front();
  EXPECT_THAT(wholeFile(kCiPage), HasSubstr("`id` is `" + textAt(hook, "id") + "`"));
  const std::string entry = textAt(hook, "entry");
  EXPECT_NE(fs::status(entry).permissions() & fs::perms::owner_exec, fs::perms::none) << entry;
  EXPECT_EQ(textAt(hook, "language"), "script");
  EXPECT_FALSE(*hook.find("pass_filenames")->asBool());
  // Of a commit that only deletes, pre-commit sees no file.
  ASSERT_NE(hook.find("always_run"), nullptr);
  EXPECT_TRUE(*hook.find("always_run")->asBool());
  EXPECT_EQ(hook.find("files"), nullptr);
}

}  // namespace
}  // namespace lastout::docs

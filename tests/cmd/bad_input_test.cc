// Bad input: whatever the file, every command that reads files says what is wrong and where, ends with code
// 2, prints nothing on the standard output, and takes little time and memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/program.h"

namespace lastout {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::Ran;

#ifdef LASTOUT_SANITIZED
constexpr size_t kMostKilobytes = size_t{2} << 20;  // the sanitizers' own shadow of all memory is in it
#else
constexpr size_t kMostKilobytes = size_t{400} << 10;
#endif

// A folder of its own for each test, gone after it.
class BadInput : public ::testing::TestWithParam<std::string> {
 protected:
  BadInput() {
    std::string pattern = (fs::temp_directory_path() / "lastout-bad-input-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    fs::permissions(folder_, fs::perms::all);
  }
  ~BadInput() override {
    std::error_code ignored;
    fs::permissions(folder_ / "closed", fs::perms::owner_all, ignored);
    fs::remove_all(folder_);
  }
  BadInput(const BadInput&) = delete;
  BadInput& operator=(const BadInput&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static Ran run(const std::string& path) { return testing::lastout({GetParam(), path}); }

  // `places`: the end of the path, with line and column where the fault has a place.
  static void expectRefused(const Ran& ran, const std::string& place, const std::string& message) {
    EXPECT_EQ(ran.exitCode, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr(place));
    EXPECT_THAT(ran.err, HasSubstr(message));
    EXPECT_LT(ran.err.size(), 4000u) << ran.err;
    EXPECT_LT(ran.peakKilobytes, kMostKilobytes);
  }

  fs::path folder_;
};

class NoScenario : public BadInput {};

// One good scenario, so that a fault added to it is the only one.
std::string scenarioWith(const std::string& documents) {
  return "apiVersion: lastout.dev/v1alpha1\nkind: Scenario\nmetadata: {name: a}\nspec:\n"
         "  steps:\n  - delete: namespaces/web\n  expect: {ends: empty}\n"
         "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n---\n" +  // line 8 to 12
         documents;
}

TEST_P(BadInput, MalformedYaml) {
  expectRefused(run(write("a.yaml", "kind: [Scenario\nspec: {\n")), "a.yaml:", "this is no valid YAML");
  expectRefused(run(write("b.yaml", "kind: Namespace\n\tname: x\n")), "b.yaml:2:1",
                "a tab may not indent YAML");
}

TEST_P(BadInput, MalformedJson) {
  expectRefused(run(write("a.json", "{\"kind\": \n}")), "a.json:2:1", "this is no valid JSON");
}

TEST_P(BadInput, UnknownFields) {
  expectRefused(run(write("a.yaml", scenarioWith(R"(apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: c}
spec:
  provder: {group: apps, resource: deployments, namespace: web, name: w}
  criteria: []
)"))),
                "a.yaml:17:3", "did you mean \"provider\"?");
}

TEST_P(BadInput, DuplicateKeys) {
  expectRefused(run(write("a.yaml", scenarioWith("kind: Namespace\nkind: Pod\n"))), "a.yaml:14:1", "kind");
}

TEST_P(BadInput, Aliases) {
  expectRefused(run(write("a.yaml", scenarioWith("a: &a [*a]\n"))), "a.yaml:13:8",
                "this alias stands inside the value of its own anchor");
  // a5, in line 6, repeats 597,871 values, and keeps as many for later: with those above these are over
  // 1,000,000.
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int j = 0; j < 8; ++j) bomb += ", " + before;
    bomb += "]\n";
  }
  expectRefused(run(write("bomb.yaml", bomb)), "bomb.yaml:6:", "anchors keep and aliases repeat");
}

// What it would have held is missed elsewhere; that is not said.
TEST_P(BadInput, AHelmTemplateIsToldOnce) {
  write("template.yaml", "kind: Namespace\nmetadata: {name: {{ .Values.space }}}\n");
  const Ran ran = run(write("a.yaml",
                            "apiVersion: lastout.dev/v1alpha1\nkind: Scenario\nmetadata: {name: a}\nspec:\n"
                            "  files: [template.yaml]\n  steps:\n  - delete: namespaces/shop\n"));
  expectRefused(ran, "template.yaml:2:18", "this is a Helm template: render it first (helm template)");
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
}

TEST_P(BadInput, TooDeep) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  expectRefused(run(write("a.yaml", scenarioWith("a: " + nested(70) + "\n"))), "a.yaml:13:", "64");
  expectRefused(run(write("b.yaml", nested(400'000))), "b.yaml:1:", "64");
  expectRefused(run(write("a.json", nested(400'000))), "a.json:1:", "64");
}

TEST_P(BadInput, AReferenceToNothing) {
  expectRefused(
      run(write("a.yaml", scenarioWith("kind: ManifestWork\nmetadata: {name: w}\nspec:\n  ns/wbe\n"))),
      "a.yaml:16:3", "did you mean web?");
}

TEST_P(BadInput, ADuplicateObject) {
  expectRefused(
      run(write("a.yaml",
                scenarioWith("apiVersion: v1\nkind: Namespace\nmetadata: {name: web, labels: {a: b}}\n"))),
      "a.yaml:13:1", "a.yaml:9:1");
}

TEST_P(BadInput, AHugeFileIsNotRead) {
  const std::string huge = write("huge.yaml", "");
  fs::resize_file(huge, 100'000'000);
  const Ran ran = run(huge);
  expectRefused(ran, "huge.yaml: ", "100000000 bytes");
  EXPECT_LT(ran.peakKilobytes, size_t{100'000});
}

TEST_P(BadInput, ABinaryFile) {
  const std::string bytes(
      "\x7f"
      "ELF\x02\x01\x01\0\0\0\xff\xfe",
      12);
  expectRefused(run(write("a.yaml", bytes)), "a.yaml:1:", "");
  expectRefused(run("/bin/sh"), "/bin/sh:1:", "");
}

TEST_P(BadInput, ManyErrorsAreCutShort) {
  std::string documents;
  for (int i = 0; i < 200; ++i) {
    documents += "apiVersion: v1\nkind: Nothing\nmetadata: {name: a" + std::to_string(i) + "}\n---\n";
  }
  expectRefused(run(write("a.yaml", scenarioWith(documents))), "a.yaml:14:", "more\n");
}

TEST_P(BadInput, AFolderWithoutFiles) {
  write("empty/notes.txt", "nothing to see");
  expectRefused(run(path("empty")), "empty", "no ");
}

TEST_P(BadInput, AMissingFile) {
  write("story.yaml", "");
  expectRefused(run(path("stroy.yaml")), "stroy.yaml: ", "did you mean story.yaml?");
  expectRefused(run(path("none/at/all.yaml")), "none/at/all.yaml: ", "there is no such file");
}

// Other commands read these.
TEST_P(NoScenario, IsRefusedByItsName) {
  expectRefused(run("-"), "-: ", "name files or folders");
  expectRefused(run("story.jsonl"), "story.jsonl: ", "--from-recording");
}

TEST_P(BadInput, AFolderOrFileWithoutPermission) {
  write("closed/a.yaml", "");
  fs::permissions(path("closed"), fs::perms::none);
  const std::string file = write("b.yaml", "");
  fs::permissions(file, fs::perms::none);
  for (const std::string& name : {path("closed"), file}) {
    const Ran ran = testing::lastout({{GetParam(), name}, "", true, false});
    if (ran.exitCode == 126 || ran.exitCode == 127) GTEST_SKIP() << "nobody may not start the program here";
    expectRefused(ran, name, "ermission denied");
  }
}

TEST_P(BadInput, ADeviceOrPipeIsNoFile) {
  expectRefused(run("/dev/zero"), "/dev/zero: ", "is no regular file");
}

TEST_P(BadInput, OneBadFileAmongGoodOnes) {
  write("all/a.yaml", scenarioWith(""));
  write("all/b.yaml", "kind: [\n");
  expectRefused(run(path("all")), "b.yaml:", "this is no valid YAML");
}

INSTANTIATE_TEST_SUITE_P(Commands, NoScenario, ::testing::Values("prove", "replay"),
                         [](const auto& command) { return command.param; });

INSTANTIATE_TEST_SUITE_P(Commands, BadInput, ::testing::Values("graph", "prove", "replay"),
                         [](const auto& command) { return command.param; });

}  // namespace
}  // namespace lastout

// The documentation is true: every command it shows does what it shows, and every link leads somewhere. With
// LASTOUT_UPDATE_DOCS=1 in the environment (scripts/update-docs), the pages are written anew instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/docs/console_blocks.h"
#include "tests/support/program.h"

namespace lastout::docs {
namespace {

namespace fs = std::filesystem;

bool updating() { return std::getenv("LASTOUT_UPDATE_DOCS") != nullptr; }

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> pages() {
  std::vector<std::string> paths = {"README.md"};
  for (const auto& entry : fs::recursive_directory_iterator("docs")) {
    if (entry.path().extension() == ".md") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Runs a command of a page after those above it in the same block, whose exit code `echo $?` asks for.
class Console {
 public:
  std::vector<std::string> run(const Shown& shown) {
    if (shown.block != block_) exitCode_ = 0;
    block_ = shown.block;
    const testing::Ran ran = testing::shell("(exit " + std::to_string(exitCode_) + "); " + shown.command);
    exitCode_ = ran.exitCode;
    return splitLines(ran.out);
  }

 private:
  size_t block_ = 0;
  int exitCode_ = 0;
};

class Page : public ::testing::TestWithParam<std::string> {};

TEST_P(Page, ShowsWhatItsCommandsPrint) {
  const std::string markdown = read(GetParam());
  Console console;
  if (updating()) {
    const std::string text = updated(markdown, [&](const Shown& shown) { return console.run(shown); });
    if (text != markdown) std::ofstream(GetParam(), std::ios::binary) << text;
    return;
  }
  for (const Shown& shown : shownIn(markdown)) {
    if (!isRun(shown.command)) continue;
    const std::vector<std::string> actual = console.run(shown);
    EXPECT_TRUE(matches(shown.output, actual))
        << GetParam() << ":" << shown.line << ": $ " << shown.command << "\nprinted\n"
        << ::testing::PrintToString(actual) << "\nbut the page shows\n"
        << ::testing::PrintToString(shown.output) << "\nscripts/update-docs writes it anew";
  }
}

TEST_P(Page, ShowsCommandsOnlyInConsoleBlocks) {
  EXPECT_THAT(commandsElsewhere(read(GetParam())), ::testing::IsEmpty())
      << GetParam()
      << " shows commands that no test runs; use a ```console block, each command behind \"$ \"";
}

TEST_P(Page, LinksLeadSomewhere) {
  const fs::path folder = fs::path(GetParam()).parent_path();
  for (const std::string& link : linksIn(read(GetParam()))) {
    EXPECT_TRUE(fs::exists(folder / link)) << GetParam() << " links to " << link << ", which is not there";
  }
}

TEST_P(Page, NamesFilesThatExist) {
  for (const std::string& path : pathsIn(read(GetParam()))) {
    EXPECT_TRUE(fs::exists(path)) << GetParam() << " names `" << path << "`, which is not there";
  }
}

TEST_P(Page, RunsOnlyScriptsThatExist) {
  for (const Shown& shown : shownIn(read(GetParam()))) {
    if (isRun(shown.command)) continue;
    EXPECT_TRUE(fs::exists(shown.command.substr(0, shown.command.find(' '))))
        << GetParam() << ":" << shown.line << ": $ " << shown.command;
  }
}

// The plan of the house has every room: a new folder belongs on the page.
TEST(Architecture, HasEveryFolderOfSources) {
  const std::string page = read("docs/architecture.md");
  for (const auto& entry : fs::directory_iterator(".")) {
    const std::string folder = entry.path().filename().string();
    if (!entry.is_directory() || folder.starts_with(".") || folder == "build") continue;
    EXPECT_NE(page.find("`" + folder + "/`"), std::string::npos)
        << "docs/architecture.md does not name `" << folder << "/`";
  }
}

std::string nameOf(const ::testing::TestParamInfo<std::string>& page) {
  std::string name = page.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Docs, Page, ::testing::ValuesIn(pages()), nameOf);

}  // namespace
}  // namespace lastout::docs

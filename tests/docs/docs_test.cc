// The documentation is true: every command it shows does what it shows, and every link leads somewhere. With
// LASTOUT_UPDATE_DOCS=1 in the environment (scripts/update-docs), the pages are written anew instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

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
  std::vector<std::string> paths = {"CONTRIBUTING.md", "README.md", "scenarios/README.md"};
  for (const auto& entry : fs::recursive_directory_iterator("docs")) {
    if (entry.path().extension() == ".md") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Runs the commands of a page, those of one block in one shell and in a folder of its own.
class Console {
 public:
  explicit Console(std::vector<Shown> all) : all_(std::move(all)) {}

  std::vector<std::string> run(const Shown& shown) {
    if (outputs_.empty() || shown.block != block_) runBlock(shown.block);
    block_ = shown.block;
    return outputs_[shown.line];
  }

 private:
  void runBlock(size_t block);

  std::vector<Shown> all_;
  size_t block_ = 0;
  std::map<size_t, std::vector<std::string>> outputs_;  // of the block, by the line of the command
};

// What runs in the background is done once it has greeted, and ends with the block.
std::string inScript(const std::string& command) {
  if (!command.ends_with("&")) return command + "\n";
  return command.substr(0, command.size() - 1) +
         " >greeting 2>&1 & until grep -q Ctrl-C greeting; do sleep 0.05; kill -0 $! || break; done; cat "
         "greeting\n"
         "running=\"$! $running\"; trap \"kill $running; wait; rm -r '$PWD'\" EXIT\n";
}

void Console::runBlock(size_t block) {
  constexpr const char* kEnd = "-- end of the output --";
  std::string script =
      "cd \"$(mktemp -d)\" && trap 'rm -r \"$PWD\"' EXIT && ln -s \"$OLDPWD\"/* .\ntouch greeting\n";
  std::vector<size_t> lines;
  for (const Shown& shown : all_) {
    if (shown.block != block || !isRun(shown.command)) continue;
    script += inScript(shown.command) + "code=$?; printf '\\n%s\\n' '" + kEnd + "'; (exit $code)\n";
    lines.push_back(shown.line);
  }
  outputs_.clear();
  auto line = lines.begin();
  for (std::string& printed : splitLines(testing::shell(script).out)) {
    if (line == lines.end()) break;
    std::vector<std::string>& output = outputs_[*line];
    if (printed != kEnd) {
      output.push_back(std::move(printed));
      continue;
    }
    output.pop_back();  // the end of a last line that has none, or an empty line
    ++line;
  }
}

class Page : public ::testing::TestWithParam<std::string> {};

TEST_P(Page, ShowsWhatItsCommandsPrint) {
  const std::string markdown = read(GetParam());
  Console console(shownIn(markdown));
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

// What cannot run where these tests do, and why; whoever changes such a line tries it by hand.
bool cannotRunHere(const std::string& line) {
  constexpr std::pair<const char*, const char*> kElsewhere[] = {
      {"docker ", "builds an image, or asks a registry"},
      {"helm ", "is in no package of Debian's; tests/deploy compares the chart with the base"},
      {"kubectl -n lastout rollout status", "waits for Pods that run, of which an embedded cluster has none"},
      {"kubectl -n lastout create token", "signs a token, which an embedded cluster does not"},
      {"kubectl -n lastout port-forward", "needs Pods that run, as above"},
      {"lastout why --server https://localhost:9090", "asks through that"},
  };
  const std::string command = line.substr(std::min(line.find_first_not_of(' '), line.size()));
  return std::ranges::any_of(kElsewhere, [&](const auto& one) { return command.starts_with(one.first); });
}

TEST_P(Page, ShowsCommandsOnlyInConsoleBlocks) {
  std::vector<std::string> commands = commandsElsewhere(read(GetParam()));
  std::erase_if(commands, cannotRunHere);
  EXPECT_THAT(commands, ::testing::IsEmpty())
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

// Whatever lastout serve takes is on the page for those who operate it.
TEST(Operations, HasEveryOptionOfServe) {
  const std::string page = read("docs/operations.md");
  std::istringstream help(testing::lastout({"serve", "--help"}).out);
  size_t count = 0;
  for (std::string word; help >> word;) {
    const size_t begin = word.find("--");
    if (begin == std::string::npos || word.size() < begin + 3 || (begin != 0 && word[begin - 1] != ','))
      continue;
    const size_t end = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", begin);
    const std::string option = word.substr(begin, end - begin);
    EXPECT_NE(page.find("`" + option), std::string::npos) << "docs/operations.md does not name " << option;
    ++count;
  }
  EXPECT_GT(count, 10U);
}

TEST(Scripts, SayWhatTheyDo) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator("scripts")) {
    const std::string script = entry.path().string();
    if (script == "scripts/quietly") continue;  // the others' own
    ASSERT_NE(read(script).find("--help"), std::string::npos) << script << " would do what it does";
    const testing::Ran ran = testing::shell(script + " --help");
    EXPECT_EQ(ran.exitCode, 0) << script;
    EXPECT_THAT(ran.out, ::testing::StartsWith(script));
    ++count;
  }
  EXPECT_GE(count, 10U);
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

// A reader who looks for a rule finds its scenario there.
TEST(Scenarios, OfAProfileAreNamedBesideItsRules) {
  const std::string pages = read("docs/promises.md") + read("docs/holding.md");
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator("scenarios")) {
    const std::string name = entry.path().stem().string();
    const auto isOf = [&](const char* system) { return name.starts_with("policy-" + std::string(system)); };
    if (std::ranges::none_of(std::array{"appcat", "dbops", "karmada", "kruise", "orkestra", "usage"}, isOf))
      continue;
    ++count;
    EXPECT_THAT(pages, ::testing::HasSubstr("scenarios/" + name + ".yaml"));
  }
  EXPECT_GT(count, 35U);
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

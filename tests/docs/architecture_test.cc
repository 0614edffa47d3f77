// The sources are where the pages say: every file that they name, and the way of one DELETE.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace lastout::docs {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestWay = 7;

std::string contentOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The first file that each number of the section's list names.
std::vector<std::string> wayOfDelete() {
  const std::string page = contentOf("docs/architecture.md");
  const size_t begin = page.find("## The way of one DELETE\n");
  if (begin == std::string::npos) return {};
  std::istringstream lines(page.substr(begin, page.find("\n## ", begin) - begin));
  static const std::regex kNumbered("[0-9]+\\. [^`]*`([a-z_]+/[a-z_./]+)`.*");
  std::vector<std::string> files;
  std::smatch match;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_match(line, match, kNumbered)) files.push_back(match[1]);
  return files;
}

// Returns what others include to use it: a part of a header, as decide_impl.h, comes with that header.
std::string headerOf(const std::string& file) {
  static const std::regex kEnding("(_impl)?\\.(cc|h)$");
  return std::regex_replace(file, kEnding, ".h");
}

// True if the file includes it, itself or by its own header.
bool includes(const std::string& file, const std::string& header) {
  const std::string line = "#include \"" + header + "\"\n";
  return contentOf(file).find(line) != std::string::npos ||
         contentOf(headerOf(file)).find(line) != std::string::npos;
}

TEST(WayOfOneDelete, LeadsFromTheListenersCallbackToTheVerdict) {
  const std::vector<std::string> files = wayOfDelete();
  ASSERT_THAT(files, ::testing::SizeIs(::testing::AllOf(::testing::Gt(1U), ::testing::Le(kLongestWay))));
  for (const std::string& file : files) EXPECT_TRUE(fs::exists(file)) << file;
  EXPECT_THAT(contentOf(files.front()), ::testing::HasSubstr("net::HttpServer::open("))
      << files.front() << " gives the listener no callback";
  EXPECT_THAT(contentOf(files.back()), ::testing::HasSubstr("\nVerdict decide("))
      << files.back() << " makes no verdict";
}

TEST(WayOfOneDelete, EachFileIncludesTheNextAndNoneBeforeIt) {
  const std::vector<std::string> files = wayOfDelete();
  for (size_t i = 0; i + 1 < files.size(); ++i) {
    EXPECT_TRUE(includes(files[i], headerOf(files[i + 1])))
        << files[i] << " does not include " << headerOf(files[i + 1]);
  }
  for (size_t i = 0; i < files.size(); ++i) {
    for (size_t before = 0; before < i; ++before)
      EXPECT_FALSE(includes(files[i], headerOf(files[before])))
          << files[i] << " includes " << headerOf(files[before]) << ", which is before it on the way";
  }
}

// "`cluster/machine.h`", wherever a page names it.
TEST(PagesOfTheProject, NameOnlySourcesThatExist) {
  static const std::regex kSource("`((?:[a-z_]+/)+[a-z_]+\\.(?:h|cc))`");
  std::vector<fs::path> pages{"README.md", "CONTRIBUTING.md"};
  for (const auto& entry : fs::recursive_directory_iterator("docs"))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  size_t named = 0;
  for (const fs::path& page : pages) {
    const std::string text = contentOf(page);
    for (std::sregex_iterator match(text.begin(), text.end(), kSource), end; match != end; ++match, ++named)
      EXPECT_TRUE(fs::exists((*match)[1].str())) << page << " names " << (*match)[1];
  }
  EXPECT_GT(named, 100U);
}

}  // namespace
}  // namespace lastout::docs

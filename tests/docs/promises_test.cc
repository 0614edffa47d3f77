// The tables that have a test for each promise of a document: the tests and dialogues that they name are
// there, each test in the file that its letter stands for.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace lastout::docs {
namespace {

namespace fs = std::filesystem;

std::string textOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// By their names without folders, since no two are alike.
std::map<std::string, std::string> testFiles() {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator("tests")) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with("_test.cc")) files[name] += textOf(entry.path());
  }
  return files;
}

std::vector<std::string> split(const std::string& text, const std::string& separators) {
  std::vector<std::string> parts;
  for (size_t begin = 0; (begin = text.find_first_not_of(separators, begin)) != std::string::npos;) {
    const size_t end = std::min(text.find_first_of(separators, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return parts;
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

std::vector<std::string> cellsOf(const std::string& row) {
  std::vector<std::string> cells;
  for (size_t begin = 1, end = 0; (end = row.find('|', begin)) != std::string::npos; begin = end + 1)
    cells.push_back(trimmed(row.substr(begin, end - begin)));
  return cells;
}

bool isTestName(const std::string& word) {
  static const std::regex kName("[A-Z][a-z]*[A-Z][A-Za-z]+");
  return std::regex_match(word, kName);
}

class PromisesOf {
 public:
  // `files` must outlive it.
  PromisesOf(std::string page, const std::map<std::string, std::string>& files)
      : page_(std::move(page)), files_(files) {}

  // Returns how many tests and dialogues the page names.
  size_t check() {
    std::istringstream lines(textOf(page_));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with('|')) {
        columns_.clear();
        text_ += line + "\n";
      } else if (columns_.empty()) {
        readLegend();
        columns_ = cellsOf(line);
      } else {
        const std::vector<std::string> cells = cellsOf(line);
        for (size_t i = 0; i < std::min(cells.size(), columns_.size()); ++i) {
          if (columns_[i] == "test") checkRow(cells, i);
        }
      }
    }
    return count_;
  }

 private:
  // "`P` is tests/protection/profiles_test.cc", in the text above a table; it counts until another one is
  // given.
  void readLegend() {
    static const std::regex kLetter("`([A-Z]+)`(?: is|:)?\\s+([A-Za-z0-9_/-]+)(_test\\.cc|….txt)");
    for (std::sregex_iterator match(text_.begin(), text_.end(), kLetter), end; match != end; ++match) {
      const std::string path = (*match)[2];
      legend_[(*match)[1]] =
          (*match)[3] == "_test.cc" ? fs::path(path).filename().string() + "_test.cc" : path;
    }
    text_.clear();
  }

  // Headings within a table are in bold, and lines below the titles have dashes alone.
  void checkRow(const std::vector<std::string>& cells, size_t test) {
    const bool isHeading = cells[0].starts_with("**") && cells[0].ends_with("**");
    EXPECT_FALSE(cells[test].empty() && !isHeading) << page_ << " names no test of: " << cells[0];
    checkTests(cells[test]);
  }

  void checkTests(const std::string& cell) {
    static const std::regex kRemark("\\([^)]*\\)");
    for (const std::string& part : split(std::regex_replace(cell, kRemark, ""), ";")) {
      std::string in;  // the file of the tests, or the beginning of the paths of dialogues
      for (const std::string& word : split(part, " ,")) {
        if (const auto letter = legend_.find(word); letter != legend_.end())
          in = letter->second;
        else if (word.ends_with("_test.cc"))
          in = fs::path(word).filename().string();
        else if (isTestName(word))
          checkTest(word, in);
        else if (in.ends_with('-'))
          checkDialogue(in + word + ".txt");
      }
    }
  }

  void checkTest(const std::string& name, const std::string& file) {
    ++count_;
    const auto found = files_.find(file);
    ASSERT_NE(found, files_.end()) << page_ << " names " << name << " of \"" << file
                                   << "\", which is no file of tests";
    EXPECT_TRUE(found->second.find(", " + name + ")") != std::string::npos)
        << page_ << " names " << name << ", which is not in " << file;
  }

  void checkDialogue(const std::string& path) {
    ++count_;
    EXPECT_TRUE(fs::exists(path)) << page_ << " names " << path << ", which is not there";
  }

  std::string page_;
  const std::map<std::string, std::string>& files_;
  std::string text_;  // since the last table
  std::vector<std::string> columns_;
  std::map<std::string, std::string> legend_;
  size_t count_ = 0;
};

TEST(Promises, HaveTestsThatAreThere) {
  const std::map<std::string, std::string> files = testFiles();
  EXPECT_GT(PromisesOf("docs/promises.md", files).check(), 100U);
  EXPECT_GT(PromisesOf("docs/holding.md", files).check(), 25U);
  EXPECT_GT(PromisesOf("docs/labels.md", files).check(), 5U);
}

}  // namespace
}  // namespace lastout::docs

#include "kube/helm_template.h"

#include <algorithm>

namespace lastout::kube {
namespace {

constexpr std::string_view kBlanksInLine = " \t\r";

// Walks line by line, with as much of YAML's rules as tells a "{{" that stands in a text from one that does
// not.
class TemplateSearch {
 public:
  explicit TemplateSearch(std::string_view text) : text_(text) {}

  std::optional<size_t> run() {
    for (size_t begin = 0; begin < text_.size();) {
      const size_t end = std::min(text_.find('\n', begin), text_.size());
      if (const auto found = inLine(begin, end)) return found;
      begin = end + 1;
    }
    return std::nullopt;
  }

 private:
  std::optional<size_t> inLine(size_t begin, size_t end) {
    size_t first = std::min(text_.find_first_not_of(kBlanksInLine, begin), end);
    if (first == end) return std::nullopt;
    if (block_) {
      if (first - begin > *block_) return std::nullopt;
      block_.reset();
    }
    // "- - key: |": the block is deeper than the key, or than the last dash.
    size_t dash = first;
    while (quote_ == 0 && first + 1 < end && text_[first] == '-' && text_[first + 1] == ' ') {
      dash = first;
      first = std::min(text_.find_first_not_of(kBlanksInLine, first + 1), end);
    }
    beginsToken_ = true;
    for (size_t i = first; i < end; ++i) {
      if (quote_ != 0) {
        i = skipQuoted(i);
      } else if (beginsToken_ && text_.substr(i).starts_with("{{")) {
        return i;
      } else if (text_[i] == '#' && (i == first || text_[i - 1] == ' ' || text_[i - 1] == '\t')) {
        return std::nullopt;
      } else if (beginsToken_ && isBlockHeader(text_.substr(i, end - i))) {
        block_ = (i == first ? dash : first) - begin;
        return std::nullopt;
      } else {
        advance(i);
      }
    }
    return std::nullopt;
  }

  // Returns the last character of the quoted text that was walked over.
  size_t skipQuoted(size_t i) {
    if (quote_ == '"' && text_[i] == '\\') return i + 1;
    if (text_[i] != quote_) return i;
    if (quote_ == '\'' && text_.substr(i + 1).starts_with("'")) return i + 1;
    quote_ = 0;
    beginsToken_ = false;
    return i;
  }

  void advance(size_t i) {
    const char c = text_[i];
    if (beginsToken_ && (c == '"' || c == '\'')) {
      quote_ = c;
      return;
    }
    if (kBlanksInLine.find(c) != std::string_view::npos) {
      const char before = i == 0 ? ' ' : text_[i - 1];
      beginsToken_ = beginsToken_ || before == ':' || before == '-' || before == '?';
      return;
    }
    beginsToken_ = c == '[' || c == '{' || c == ',';
  }

  // "|", ">-", "|2+", with a comment behind it or not.
  static bool isBlockHeader(std::string_view rest) {
    if (rest.front() != '|' && rest.front() != '>') return false;
    const size_t end = rest.find_first_not_of("+-0123456789", 1);
    if (end == std::string_view::npos) return true;
    const size_t next = rest.find_first_not_of(kBlanksInLine, end);
    return next == std::string_view::npos || (next > end && rest[next] == '#');
  }

  std::string_view text_;
  char quote_ = 0;               // of the quoted text that goes on here; 0: none
  bool beginsToken_ = true;      // a key or value would begin at the next character
  std::optional<size_t> block_;  // the indentation that lines of the block scalar exceed; nullopt: in none
};

}  // namespace

std::optional<size_t> findTemplateAction(std::string_view text) { return TemplateSearch(text).run(); }

}  // namespace lastout::kube

#include "kube/messages.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "kube/encoding.h"
#include "kube/source_text.h"

namespace lastout::kube {

namespace {

constexpr size_t kLongestQuote = 300;

std::string printableUpTo(std::string_view text, size_t longest) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8Length(text.substr(i));
    if (i + length > longest) {
      result += "...";
      break;
    }
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool latinControl = length == 2 && byte == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (length == 0 || byte < ' ' || byte == 0x7F || latinControl) {
      const auto last = static_cast<unsigned char>(text[i + (latinControl ? 1 : 0)]);
      (result += "\\x") += hexOf(last);
    } else {
      result += text.substr(i, length);
    }
    i += length == 0 ? 1 : length;
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return printableUpTo(text, kLongestQuote); }

std::string printableWhole(std::string_view text) { return printableUpTo(text, text.size()); }

std::string atMost(std::string text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  text.resize(bytes);
  return text;
}

std::string inQuotes(std::string_view text) { return "\"" + printable(text) + "\""; }

std::string listed(const std::vector<std::string>& names, size_t most) {
  if (names.size() <= most || names.size() - most == 1) return listedOf(names, names.size());
  return listedOf({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(most)}, names.size());
}

std::string listedOf(const std::vector<std::string>& names, size_t total) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == total ? " and " : ", ";
    text += names[i];
  }
  if (names.size() < total) text += " and " + std::to_string(total - names.size()) + " more";
  return text;
}

std::string joinedClauses(const std::vector<std::string>& clauses, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(clauses.size(), most); ++i) text += (i == 0 ? "" : "; ") + clauses[i];
  if (clauses.size() > most) text += "; and " + std::to_string(clauses.size() - most) + " more";
  return text;
}

namespace {

constexpr size_t kLongestWord = 100;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Optimal string alignment distance, or more than `most` as soon as it is certain. Row i holds the distances
// between the first i letters of `a` and the first j of `b`; only the last three rows are kept.
size_t editDistance(std::string_view a, std::string_view b, size_t most) {
  std::array<std::array<uint8_t, kLongestWord + 1>, 3> rows;
  for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = static_cast<uint8_t>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    const auto& beforeLast = rows[(i + 1) % 3];
    const auto& last = rows[(i - 1) % 3];
    auto& current = rows[i % 3];
    current[0] = static_cast<uint8_t>(i);
    size_t least = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      int edits = std::min({last[j] + 1, current[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
        edits = std::min(edits, beforeLast[j - 2] + 1);
      }
      current[j] = static_cast<uint8_t>(edits);
      least = std::min(least, static_cast<size_t>(edits));
    }
    if (least > most) return least;
  }
  return rows[a.size() % 3][b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates,
                         size_t mostEdits) {
  std::string_view best;
  if (word.empty() || word.size() > kLongestWord) return best;
  size_t most = std::min(mostEdits, std::max<size_t>(1, word.size() / 3));
  for (const std::string_view candidate : candidates) {
    if (candidate.empty() || candidate.size() > kLongestWord) continue;
    const size_t difference =
        word.size() > candidate.size() ? word.size() - candidate.size() : candidate.size() - word.size();
    if (difference > most) continue;
    const size_t distance = editDistance(word, candidate, most);
    // All of a short word's letters replaced is another word, not a slip.
    if (distance > most || distance >= std::max(word.size(), candidate.size())) continue;
    best = candidate;
    if (distance == 0) return best;
    most = distance - 1;
  }
  return best;
}

std::string didYouMean(std::string_view word, const std::vector<std::string_view>& candidates,
                       size_t mostEdits) {
  const std::string_view near = nearest(word, candidates, mostEdits);
  return near.empty() ? std::string() : "; did you mean \"" + std::string(near) + "\"?";
}

}  // namespace lastout::kube

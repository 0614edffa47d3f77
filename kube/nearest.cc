#include "kube/nearest.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace lastout::kube {
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

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  std::string_view best;
  if (word.empty() || word.size() > kLongestWord) return best;
  size_t most = std::max<size_t>(1, word.size() / 3);
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

std::string didYouMean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::string_view near = nearest(word, candidates);
  return near.empty() ? std::string() : "; did you mean \"" + std::string(near) + "\"?";
}

}  // namespace lastout::kube

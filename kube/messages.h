// Words inside a message: somebody's text made safe, names in a row, and the word that was probably meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lastout::kube {

// The text, made safe to print and to put into JSON: control characters and bytes that are not UTF-8 become
// \x1b, and what is longer than 300 bytes ends in "...".
std::string printable(std::string_view text);

// The same, however long it is: for a text that is bounded elsewhere.
std::string printableWhole(std::string_view text);

// At most so many bytes of it, and no half character. UTF-8.
std::string atMost(std::string text, size_t bytes);

// The text as printable() makes it, in quotes.
std::string inQuotes(std::string_view text);

// Returns "a", "a and b", "a, b and c"; of more than `most` + 1 names the first `most`: "a, b and 5 more"
// (one that is left over takes no more room by its name than as "1 more").
std::string listed(const std::vector<std::string>& names, size_t most = SIZE_MAX);
// Returns what toString() says of each, for listed().
template <class Items>
std::vector<std::string> wordsOf(const Items& items) {
  std::vector<std::string> words;
  words.reserve(items.size());
  for (const auto& item : items) words.push_back(toString(item));
  return words;
}

// Returns the same of `total` names whose first ones are given: "a, b and 5 more".
std::string listedOf(const std::vector<std::string>& names, size_t total);

// Returns whole clauses in a row: "a; b", and of more than `most` of them "a; b; and 5 more".
std::string joinedClauses(const std::vector<std::string>& clauses, size_t most);

// The candidate with the smallest edit distance to `word` (a swap of neighbours counts as one edit; upper and
// lower case are the same), the first of several; empty when none is near enough to be meant: at most one
// edit in three letters, and `mostEdits`. Words of more than 100 bytes have no nearest one, which bounds the
// time.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates,
                         size_t mostEdits = SIZE_MAX);

// Returns `; did you mean "deployments"?`; empty: no candidate is near.
std::string didYouMean(std::string_view word, const std::vector<std::string_view>& candidates,
                       size_t mostEdits = SIZE_MAX);

}  // namespace lastout::kube

// nearest: which word was probably meant, for messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lastout::kube {

// The candidate with the smallest edit distance to `word` (a swap of neighbours counts as one edit; upper and
// lower case are the same), the first of several; empty when none is near enough to be meant: at most one
// edit in three letters. Words of more than 100 bytes have no nearest one, which bounds the time.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

// Returns `; did you mean "deployments"?`; empty: no candidate is near.
std::string didYouMean(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace lastout::kube

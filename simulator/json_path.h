// JSON paths, as far as CRDs use them for columns and scales: .a.b, .a\.b, ['a.b'], [0], [-1], [*], .*,
// [?(@.type=="Ready")] (also != and a path alone).
#pragma once

#include <string_view>
#include <vector>

#include "simulator/json.h"

namespace lastout::simulator {

// Returns the values at `path` within `json`, in order; empty if there is none, or if the path (at most 1,024
// bytes) uses other syntax (slices, "..").
std::vector<const Json*> valuesAt(const Json& json, std::string_view path);

}  // namespace lastout::simulator

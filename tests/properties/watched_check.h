// One WatchedHistory with everything that is checked about it.
#pragma once

#include <string>

#include "tests/properties/coverage.h"
#include "tests/properties/watched_history.h"

namespace lastout::testing {

// Lets it happen, and after each happening compares, of every object that may be guarded, the verdict on what
// lastout was told with the document's; what is remembered of types; and what an UPDATE of a CriticalService
// is refused for and told as weaker. The property that broke, and where; empty when all held.
std::string checkHistory(const WatchedHistory& history, Coverage& coverage);

// What a set of histories has to have drawn (Coverage::missing()).
const std::vector<std::string>& wantedOfHistories();

}  // namespace lastout::testing

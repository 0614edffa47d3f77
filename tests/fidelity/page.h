// Page: docs/fidelity.md, as the replayed recording gives it.
#pragma once

#include <string>
#include <vector>

#include "tests/fidelity/replay.h"

namespace lastout::fidelity {

// One row for each exchange: the same, or what differs and why.
std::string pageOf(const std::vector<Replayed>& exchanges);

}  // namespace lastout::fidelity

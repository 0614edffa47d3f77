// Page: docs/fidelity.md, as the replayed recording gives it: the answers, the reviews, and what is refused.
#pragma once

#include <string>
#include <vector>

#include "tests/fidelity/replay.h"

namespace lastout::fidelity {

// One row for each exchange: the same, or what differs and why.
std::string pageOf(const std::vector<Replayed>& exchanges);

// The file's parts; each has a test that writes it when LASTOUT_UPDATE_DOCS is set.
struct PageParts {
  std::string answers;
  std::string reviews136;  // a table
  std::string reviews126;
  std::string validation;
};
PageParts readPage();
void writePage(const PageParts& parts);

}  // namespace lastout::fidelity

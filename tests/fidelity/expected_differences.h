// ExpectedDifferences: where the embedded cluster answers otherwise than the recorded one, and why.
#pragma once

#include <string>
#include <vector>

#include "tests/fidelity/compare.h"
#include "tests/fidelity/rest_exchanges.h"

namespace lastout::fidelity {

struct ExpectedDifference {
  std::string recording;
  std::string exchange;  // its number
  std::string path;      // where `*` stands for any text
  std::string reason;    // a sentence for docs/fidelity.md
  bool varies = false;   // with the seed: what is here is not worth showing
};

const std::vector<ExpectedDifference>& expectedDifferences();

// The first of the exchange that is meant for it; nullptr: it is not expected.
const ExpectedDifference* expectationOf(const RestExchange& exchange, const Difference& difference);

}  // namespace lastout::fidelity

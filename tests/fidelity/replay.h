// Replay: the recorded requests against the embedded cluster in this process.
#pragma once

#include <string>
#include <vector>

#include "tests/fidelity/compare.h"
#include "tests/fidelity/rest_exchanges.h"

namespace lastout::fidelity {

struct Replayed {
  RestExchange exchange;
  std::vector<Difference> differences;
};

// Makes every request, in their order and with as much time between them as when they were recorded, against
// a new cluster, and compares what it answers.
std::vector<Replayed> replayAll(const std::string& recording);

}  // namespace lastout::fidelity

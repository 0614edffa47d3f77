// One teardown: `lastout up` with the fleet, `lastout serve` beside it, and all works deleted at once.
#pragma once

#include <string>

#include "bench/teardown/history.h"

namespace lastout::bench {

struct TeardownRunOptions {
  double speed = 3;            // of the cluster's controllers
  uint32_t seed = 1;           // of the order, and of the cluster's names
  Milliseconds patience{0};    // in the controllers' time: what has not ended by then is left
  double speedWhenLate = 0;    // of the cluster's controllers after `hurryAfter`; 0: as before
  Milliseconds hurryAfter{0};  // also in the controllers' time, from the first deletion
  std::string keep;            // a file for the recording; empty: it is not kept
};

// Ends the program when anything does not begin as it should.
TeardownHistory tearDown(const Fleet& fleet, const TeardownRunOptions& options);

}  // namespace lastout::bench

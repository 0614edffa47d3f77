// Backoff: how long to wait before something is tried again: longer after each failure, and not the same time
// for everybody who failed at the same moment.
#pragma once

#include <chrono>
#include <functional>

namespace lastout::client {

struct BackoffLimits {
  std::chrono::milliseconds first{200};    // the longest wait after the first failure; doubles with each one
  std::chrono::milliseconds most{30'000};  // and never gets longer than this
};

// Randomness from outside: any number from 0 up to, and without, 1.
using RandomFraction = std::function<double()>;

// Returns one of a generator of its own, which the system's randomness seeds; for one thread.
RandomFraction newRandomFraction();

class Backoff {
 public:
  Backoff(BackoffLimits limits, RandomFraction random);

  // One more failure; the wait after it is between half of the longest wait and all of it.
  std::chrono::milliseconds next();
  // It works again: the next failure is the first one.
  void reset() { longest_ = limits_.first; }

 private:
  BackoffLimits limits_;
  RandomFraction random_;
  std::chrono::milliseconds longest_;
};

}  // namespace lastout::client

// Dice: choices of a generator.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/random.h"

namespace lastout::testing {

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  uint32_t below(uint32_t count) { return random_.below(count); }
  bool oneIn(uint32_t count) { return random_.below(count) == 0; }
  template <class T>
  T pick(const std::vector<T>& from) {
    return from[random_.below(static_cast<uint32_t>(from.size()))];
  }

 private:
  replay::Random random_;
};

}  // namespace lastout::testing

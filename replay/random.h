// Random: a small generator that gives the same numbers on every platform, so that a seed names one run for
// good.
#pragma once

#include <cstdint>

namespace lastout::replay {

// SplitMix64 (Steele, Lea, Flood 2014). Not for secrets.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  // From 0 to count - 1; count at least 1. The bias is below count / 2^32.
  uint32_t below(uint32_t count) { return static_cast<uint32_t>(((next() >> 32) * count) >> 32); }

 private:
  uint64_t state_;
};

}  // namespace lastout::replay

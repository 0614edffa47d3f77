// The seed of a test that leaves something to chance: LASTOUT_SEED of the environment, or a new one each
// time.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace lastout::testing {

inline uint32_t seed() {
  const char* given = std::getenv("LASTOUT_SEED");
  return given == nullptr ? std::random_device()() : static_cast<uint32_t>(std::stoul(given));
}

// For SCOPED_TRACE: how to have the same again.
inline std::string howToRepeat(uint32_t seed) {
  return "LASTOUT_SEED=" + std::to_string(seed) + " repeats it";
}

}  // namespace lastout::testing

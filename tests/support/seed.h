// The seed of a test that draws its inputs. It is the same each time, so that a test that fails after a
// change fails because of it; LASTOUT_SEED gives another one, and LASTOUT_SEED=random a new one each time.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

namespace lastout::testing {

// Returns the number in LASTOUT_SEED; throws where it is neither a number nor "random".
inline uint32_t seed() {
  const char* given = std::getenv("LASTOUT_SEED");
  if (given == nullptr) return 1;
  return given == std::string_view("random") ? std::random_device()()
                                             : static_cast<uint32_t>(std::stoul(given));
}

// Returns the words for SCOPED_TRACE that tell how to draw the same inputs again.
inline std::string howToRepeat(uint32_t seed) {
  return "LASTOUT_SEED=" + std::to_string(seed) + " repeats it";
}

}  // namespace lastout::testing

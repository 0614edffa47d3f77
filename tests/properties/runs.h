// How many runs the properties get, and from which seed on (docs/development.md).
#pragma once

#include <cstdint>
#include <cstdlib>

namespace lastout::testing {

inline uint64_t numberFromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// How many runs of `inAll` to make here.
inline uint32_t runsHere(uint32_t inAll) {
#ifdef LASTOUT_SANITIZED
  constexpr uint32_t kPercent = 5;
#else
  constexpr uint32_t kPercent = 100;
#endif
  return static_cast<uint32_t>(inAll * numberFromEnvironment("LASTOUT_PROPERTY_PERCENT", kPercent) / 100);
}

inline uint64_t firstSeed(uint64_t otherwise) {
  return numberFromEnvironment("LASTOUT_PROPERTY_SEED", otherwise);
}

}  // namespace lastout::testing

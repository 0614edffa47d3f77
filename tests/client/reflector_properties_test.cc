// Properties of every way in which a Reflector and its server may fare. LASTOUT_PROPERTY_SEED and
// LASTOUT_PROPERTY_PERCENT as in tests/properties/.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/client/simulated_client.h"

namespace lastout::testing {
namespace {

#ifdef LASTOUT_SANITIZED
constexpr uint64_t kPercent = 5;
#else
constexpr uint64_t kPercent = 100;
#endif

uint64_t numberOf(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void expectWell(Faults faults, uint64_t inAll) {
  const uint64_t first = numberOf("LASTOUT_PROPERTY_SEED", 1);
  const uint64_t count = inAll * numberOf("LASTOUT_PROPERTY_PERCENT", kPercent) / 100;
  for (uint64_t seed = first; seed < first + count; ++seed)
    ASSERT_EQ(SimulatedClient(seed, faults).run(), "") << "seed " << seed;
}

// Everything is told once, in order, and nothing is left out.
TEST(ReflectorProperties, HoldWhileTheServerKeepsItsHistory) { expectWell(Faults::Mild, 4'000); }

// Nothing is left out whatever happens, and nothing goes back in time unless the server does.
TEST(ReflectorProperties, HoldInTurmoil) { expectWell(Faults::Wild, 6'000); }

}  // namespace
}  // namespace lastout::testing

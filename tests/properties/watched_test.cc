// Properties of every history of types, rights and CriticalServices: what is not understood, not known or
// not to be read keeps a provider; what was there and is gone with its CRD does not.
#include <gtest/gtest.h>

#include <string>

#include "tests/properties/runs.h"
#include "tests/properties/shrink.h"
#include "tests/properties/watched_check.h"

namespace lastout::testing {
namespace {

std::string historyFailure(const WatchedHistory& history) {
  Coverage ignored;
  return checkHistory(history, ignored);
}

TEST(WatchedHistories, AreJudgedByTheDocument) {
  constexpr uint32_t kRuns = 3'000;
  Coverage coverage;
  const uint64_t first = firstSeed(1);
  for (uint64_t seed = first; seed < first + runsHere(kRuns); ++seed) {
    const WatchedHistory history = watchedHistory(seed);
    const std::string failure = checkHistory(history, coverage);
    if (failure.empty()) continue;
    const WatchedHistory small =
        shrink(history, [](const WatchedHistory& candidate) { return !historyFailure(candidate).empty(); });
    FAIL() << "seed " << seed << ": " << failure << "\nsmaller: " << historyFailure(small) << "\n"
           << describe(small);
  }
  if (runsHere(kRuns) >= kRuns) {
    EXPECT_EQ(coverage.missingOf(wantedOfHistories()), "") << coverage.text();
  }
}

}  // namespace
}  // namespace lastout::testing

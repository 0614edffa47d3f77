// Properties of every cluster and every order (docs/development.md says how to run more of them, or one
// again).
#include <gtest/gtest.h>

#include <string>

#include "tests/properties/random_cluster.h"
#include "tests/properties/run_check.h"
#include "tests/properties/runs.h"
#include "tests/properties/shrink.h"

namespace lastout::testing {
namespace {

// Mostly small clusters, in which everything meets everything soon; some of up to 200 objects.
uint32_t sizeOf(uint64_t seed) {
  replay::Random random(seed);
  const uint32_t tenth = random.below(20);
  if (tenth < 13) return 4 + random.below(16);
  if (tenth < 19) return 20 + random.below(40);
  return 60 + random.below(141);
}

// A smaller cluster that fails likewise in one of a few orders, and the first of those orders.
std::string explain(const ClusterSpec& spec, uint64_t seed,
                    const std::function<std::string(const ClusterSpec&, uint64_t)>& failure) {
  constexpr uint64_t kOrders = 20;
  const auto failing = [&](const ClusterSpec& candidate) -> std::optional<uint64_t> {
    for (uint64_t i = 0; i < kOrders; ++i) {
      if (!failure(candidate, seed + i).empty()) return seed + i;
    }
    return std::nullopt;
  };
  const ClusterSpec small =
      shrink(spec, [&](const ClusterSpec& candidate) { return failing(candidate).has_value(); });
  const uint64_t order = failing(small).value_or(seed);
  return "seed " + std::to_string(seed) + ": " + failure(spec, seed) + "\nsmaller, in order " +
         std::to_string(order) + ": " + failure(small, order) + "\n" + describe(small);
}

// In every second one lastout runs what it has deferred; in half of these it is told of deletions,
// too, that nobody was denied.
ClusterSpec anyCluster(uint64_t seed) {
  ClusterSpec spec = randomCluster(seed, sizeOf(seed));
  if (seed % 8 < 4) spec.kubernetes = kube::KubernetesVersion::V1_26;
  spec.runsDeferredDeletions = seed % 2 == 0;
  spec.forges = seed % 4 == 0;
  return spec;
}

ClusterSpec anyRacingCluster(uint64_t seed) {
  ClusterSpec spec = racingCluster(seed);
  if (seed % 3 == 0) spec.kubernetes = kube::KubernetesVersion::V1_26;
  spec.runsDeferredDeletions = seed % 2 == 0;
  spec.forges = seed % 4 == 0;
  return spec;
}

// What went wrong in one run, but for clusters that cannot be built.
std::string failureOf(const ClusterSpec& spec, uint64_t order) {
  Coverage ignored;
  const RunResult result = checkRun(spec, order, ignored);
  return result.built ? result.failure : "";
}

// Checks `count` clusters; what they exercised.
Coverage expectSafe(ClusterSpec (*make)(uint64_t), uint64_t otherwise, uint32_t count) {
  Coverage coverage;
  const uint64_t first = firstSeed(otherwise);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const ClusterSpec spec = make(seed);
    if (checkRun(spec, seed, coverage).failure.empty()) continue;
    ADD_FAILURE() << explain(spec, seed, failureOf);
    break;
  }
  return coverage;
}

class RandomClusters : public ::testing::TestWithParam<uint32_t> {};

TEST_P(RandomClusters, AreDecidedAlikeAndSafe) {
  constexpr uint32_t kRuns = 3'000;
  const Coverage coverage = expectSafe(anyCluster, 1 + uint64_t{GetParam()} * 1'000'000, runsHere(kRuns));
  if (runsHere(kRuns) >= kRuns) {
    EXPECT_EQ(coverage.missing(), "") << coverage.text();
  }
}

INSTANTIATE_TEST_SUITE_P(Part, RandomClusters, ::testing::Range(0u, 3u));

TEST(RacingClusters, AreDecidedAlikeAndSafe) {
  constexpr uint32_t kRuns = 4'000;
  const Coverage coverage = expectSafe(anyRacingCluster, 1, runsHere(kRuns));
  if (runsHere(kRuns) >= kRuns) {
    EXPECT_EQ(coverage.missingReviews(), "") << coverage.text();
  }
}

// Without the confirming read, what changes between verdict and commit goes unnoticed: that the two accounts
// of safety see it, and never see it with the read, shows that they look.
TEST(RacingClusters, AreUnsafeWithoutTheConfirmingRead) {
  uint32_t seenByMachine = 0;
  uint32_t seenByDocument = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    ClusterSpec spec = racingCluster(seed);
    spec.confirms = false;
    Coverage ignored;
    const RunResult result = checkRun(spec, seed, ignored);
    const bool unsafe = result.failure.starts_with("committed although its criteria did not hold");
    if (result.unsafe) ++seenByMachine;
    if (unsafe) ++seenByDocument;
    EXPECT_EQ(result.unsafe, unsafe) << "seed " << seed << ": " << result.failure;
  }
  EXPECT_GT(seenByMachine, 0u);
  EXPECT_GT(seenByDocument, 0u);
}

TEST(Walks, GoTheSameWayTwice) {
  for (uint64_t seed = 0; seed < runsHere(200); ++seed)
    ASSERT_EQ(traceOf(anyCluster(seed), seed), traceOf(anyCluster(seed), seed)) << "seed " << seed;
}

// --- progress

std::string leftovers(const std::vector<std::string>& left) {
  std::string text = left.empty() ? "" : "left:";
  for (const std::string& name : left) text += " " + name;
  return text;
}

std::string failureOrLeftovers(const ClusterSpec& spec, uint64_t order) {
  Coverage ignored;
  const RunResult result = checkRun(spec, order, ignored);
  if (!result.built) return {};
  return result.failure.empty() ? leftovers(result.left) : result.failure;
}

ClusterSpec anyEmptyingCluster(uint64_t seed, Works works) {
  ClusterSpec spec = emptyingCluster(seed, sizeOf(seed), works);
  if (seed % 3 == 0) spec.kubernetes = kube::KubernetesVersion::V1_26;
  return spec;
}

// Runs emptying clusters; how many of them needed somebody to ask again.
uint32_t expectEmpty(Works works, uint32_t count, uint64_t otherwise) {
  uint32_t askedAgain = 0;
  const uint64_t first = firstSeed(otherwise);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const ClusterSpec spec = anyEmptyingCluster(seed, works);
    Coverage ignored;
    const RunResult result = checkRun(spec, seed, ignored);
    if (!result.failure.empty() || !result.left.empty()) {
      ADD_FAILURE() << explain(spec, seed, failureOrLeftovers);
      return askedAgain;
    }
    if (!result.leftBeforeLast.empty()) ++askedAgain;
  }
  return askedAgain;
}

TEST(EmptyingClusters, EndEmptyWhenClientsDeleteEverything) {
  expectEmpty(Works::None, runsHere(3'000), 10'000'001);
}

TEST(EmptyingClusters, EndEmptyWhenWorksDeleteWhatTheyApplied) {
  expectEmpty(Works::Safe, runsHere(3'000), 20'000'001);
}

// The recorded deadlock is among these: some need somebody who asks again, and then end empty, too.
TEST(EmptyingClusters, EndEmptyOnceSomebodyAsksAgainWhereWorksHoldClaims) {
  const uint32_t count = runsHere(2'000);
  const uint32_t askedAgain = expectEmpty(Works::WithClaims, count, 30'000'001);
  if (count >= 2'000) {
    EXPECT_GT(askedAgain, 0u);
  }
}

// The promises of progress and truth: what was deferred is run, nobody has to ask again, and no work
// is gone before what it applied. What an agent forgets because a webhook of somebody else refused it is not
// lastout's to remember, nor what a CriticalService gave up that is not Ordered.
TEST(EmptyingClusters, EndEmptyByThemselvesWhereLastoutRunsWhatItDeferred) {
  const uint64_t first = firstSeed(30'000'001);
  const uint32_t count = runsHere(2'000);
  uint32_t refused = 0;
  uint32_t givenUp = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    ClusterSpec spec = anyEmptyingCluster(seed, Works::WithClaims);
    spec.runsDeferredDeletions = true;
    Coverage ignored;
    const RunResult result = checkRun(spec, seed, ignored);
    ASSERT_EQ(result.failure, "") << "seed " << seed << "\n" << describe(spec);
    if (result.othersRefused || result.givenUp) {
      ++(result.othersRefused ? refused : givenUp);
      continue;
    }
    ASSERT_EQ(leftovers(result.leftBeforeLast), "") << "seed " << seed << "\n" << describe(spec);
    ASSERT_EQ(result.goneEarly, "") << "seed " << seed << "\n" << describe(spec);
  }
  EXPECT_LE(refused * 10, count);
  EXPECT_LE(givenUp * 10, count);
}

// The control: the same clusters without lastout, some of which get stuck.
TEST(EmptyingClusters, GetStuckWithoutLastout) {
  uint32_t stuck = 0;
  for (uint64_t seed = 10'000'001; seed < 10'000'101; ++seed) {
    ClusterSpec spec = anyEmptyingCluster(seed, Works::None);
    spec.guarded = false;
    Coverage ignored;
    if (!checkRun(spec, seed, ignored).left.empty()) ++stuck;
  }
  EXPECT_GT(stuck, 0u);
}

}  // namespace
}  // namespace lastout::testing

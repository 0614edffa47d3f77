// The explorer on systems that are no clusters, and whose answer is known.
#include "prove/explore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "prove/reach.h"

namespace lastout::prove {
namespace {

using ::testing::ElementsAre;

// Dining philosophers who eat once; fork i lies at the left of philosopher i. Word 0: owner of each fork;
// word 1: what each has done.
struct Philosophers {
  using Action = uint32_t;
  uint32_t count = 3;
  bool lastTakesRightFirst = false;

  uint32_t words() const { return 2; }
  std::vector<uint64_t> initial() const { return {0, 0}; }
  uint64_t doing(const uint64_t* state, uint32_t who) const { return state[1] >> (4 * who) & 15; }
  bool goal(const uint64_t* state) const {
    for (uint32_t who = 0; who < count; who++) {
      if (doing(state, who) != 3) {
        return false;
      }
    }
    return true;
  }
  // The fork that `who` takes next (0, 1); 2: eats and lays both down.
  uint32_t fork(uint32_t who, uint64_t turn) const {
    const bool left = (turn == 0) != (lastTakesRightFirst && who == count - 1);
    return left ? who : (who + 1) % count;
  }
  void enabled(const uint64_t* state, std::vector<Action>& actions) const {
    for (uint32_t who = 0; who < count; who++) {
      const uint64_t turn = doing(state, who);
      if (turn == 2 || (turn < 2 && (state[0] >> fork(who, turn) & 1) == 0)) {
        actions.push_back(who);
      }
    }
  }
  uint64_t apply(const uint64_t*, uint64_t* state, Action who) const {
    const uint64_t turn = doing(state, who);
    if (turn == 2) {
      state[0] &= ~(uint64_t{1} << fork(who, 0) | uint64_t{1} << fork(who, 1));
    } else {
      state[0] |= uint64_t{1} << fork(who, turn);
    }
    state[1] += uint64_t{1} << (4 * who);
    return 0;
  }
};

TEST(Explore, PhilosophersStarveWhenEachHoldsOneFork) {
  for (uint32_t count = 2; count <= 7; count++) {
    const Philosophers table{.count = count};
    const Exploration found = Explorer(table, Bounds{}).run();
    const std::optional<uint32_t> doomed = firstDoomed(canReachGoal(found));
    ASSERT_TRUE(doomed);
    EXPECT_EQ(wayTo(found, *doomed).size(), count + 1);  // everyone's first fork, and nothing else
    const Trap trap = trapFrom(found, *doomed);
    EXPECT_THAT(trap.onward, ElementsAre(*doomed));
    EXPECT_THAT(trap.end, ElementsAre(*doomed));
  }
}

TEST(Explore, PhilosophersAllEatWhenOneIsLeftHanded) {
  for (uint32_t count = 2; count <= 7; count++) {
    const Philosophers table{.count = count, .lastTakesRightFirst = true};
    const Exploration found = Explorer(table, Bounds{}).run();
    EXPECT_FALSE(firstDoomed(canReachGoal(found)));
  }
}

// Independent counters to a limit: (limit + 1) ^ count states, every one of them reaching the goal.
struct Counters {
  using Action = uint32_t;
  uint32_t count = 2;
  uint64_t limit = 3;

  uint32_t words() const { return count; }
  std::vector<uint64_t> initial() const { return std::vector<uint64_t>(count); }
  bool goal(const uint64_t* state) const {
    return std::all_of(state, state + count, [&](uint64_t value) { return value == limit; });
  }
  void enabled(const uint64_t* state, std::vector<Action>& actions) const {
    for (uint32_t i = 0; i < count; i++) {
      if (state[i] < limit) {
        actions.push_back(i);
      }
    }
  }
  uint64_t apply(const uint64_t*, uint64_t* state, Action i) const {
    state[i]++;
    return 0;
  }
};

TEST(Explore, CountsEveryInterleaving) {
  const Exploration found = Explorer(Counters{.count = 6, .limit = 5}, Bounds{}).run();
  EXPECT_EQ(found.states.size(), 46656u);
  EXPECT_EQ(found.transitions, 6u * 5 * 7776);
  EXPECT_EQ(found.edges.size(), found.transitions);
  EXPECT_FALSE(firstDoomed(canReachGoal(found)));
}

TEST(Explore, AMemoryBoundEndsItUndecided) {
  const Exploration found = Explorer(Counters{.count = 6, .limit = 9}, Bounds{.bytes = 24 << 20}).run();
  EXPECT_EQ(found.end, Exploration::End::MemoryBound);
  EXPECT_LT(found.states.size(), 1'000'000u);
  EXPECT_GT(found.states.size(), 10'000u);
  EXPECT_LE(found.bytesFor(found.states.size(), found.edges.size()), 24u << 20);
  EXPECT_FALSE(firstDoomed(canReachGoal(found)));
}

TEST(Explore, ProgressCountsUpAndCanEndIt) {
  std::vector<uint64_t> expanded;
  const Exploration found =
      Explorer(Counters{.count = 6, .limit = 5}, Bounds{}).run([&](const Explored& progress) {
        expanded.push_back(progress.expanded);
        EXPECT_LE(progress.expanded, progress.states);
        return expanded.size() < 10;
      });
  EXPECT_EQ(found.end, Exploration::End::Stopped);
  EXPECT_EQ(expanded.size(), 10u);
  EXPECT_TRUE(std::is_sorted(expanded.begin(), expanded.end()));
}

// A message over a line that loses some: send, lose, resend. Only a sender who gives up is stuck; one who
// retries for ever is not, however often the line loses.
struct LossyLine {
  using Action = uint32_t;
  enum : uint64_t { kIdle, kUnderWay, kLost, kArrived, kGivenUp };
  bool mayGiveUp = false;

  uint32_t words() const { return 1; }
  std::vector<uint64_t> initial() const { return {kIdle}; }
  bool goal(const uint64_t* state) const { return *state == kArrived; }
  void enabled(const uint64_t* state, std::vector<Action>& actions) const {
    switch (*state) {
      case kIdle:
        actions = {kUnderWay};
        break;
      case kUnderWay:
        actions = {kLost, kArrived};
        break;
      case kLost:
        actions = mayGiveUp ? std::vector<Action>{kLost, kIdle, kGivenUp} : std::vector<Action>{kLost, kIdle};
        break;
      default:
        break;
    }
  }
  uint64_t apply(const uint64_t*, uint64_t* state, Action next) const {
    *state = next;
    return 0;
  }
};

TEST(Explore, RetryingIsNotStuckButGivingUpIs) {
  EXPECT_FALSE(firstDoomed(canReachGoal(Explorer(LossyLine{.mayGiveUp = false}, Bounds{}).run())));
  const Exploration found = Explorer(LossyLine{.mayGiveUp = true}, Bounds{}).run();
  const std::optional<uint32_t> doomed = firstDoomed(canReachGoal(found));
  ASSERT_TRUE(doomed);
  EXPECT_EQ(*found.states[*doomed], LossyLine::kGivenUp);
  EXPECT_EQ(wayTo(found, *doomed).size(), 4u);
}

TEST(Explore, FindsTheActionBetweenNeighbours) {
  const LossyLine line{.mayGiveUp = true};
  std::vector<LossyLine::Action> actions;
  const uint64_t lost = LossyLine::kLost;
  const uint64_t givenUp = LossyLine::kGivenUp;
  const uint64_t arrived = LossyLine::kArrived;
  EXPECT_EQ(actionBetween(line, &lost, &givenUp, actions), 2u);
  EXPECT_EQ(actionBetween(line, &lost, &arrived, actions), actions.size());
}

TEST(Explore, TheSameSystemGivesTheSameNumbers) {
  const Philosophers table{.count = 6};
  const Exploration one = Explorer(table, Bounds{}).run();
  const Exploration two = Explorer(table, Bounds{}).run();
  ASSERT_EQ(one.states.size(), two.states.size());
  for (uint32_t id = 0; id < one.states.size(); id++) {
    ASSERT_EQ(std::memcmp(one.states[id], two.states[id], 16), 0);
    ASSERT_EQ(*one.parents[id], *two.parents[id]);
  }
}

}  // namespace
}  // namespace lastout::prove

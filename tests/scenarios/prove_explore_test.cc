// The explorer on systems that are no clusters: random graphs against a brute force, and classics whose
// answer is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "scenarios/explore.h"
#include "scenarios/reach.h"

namespace lastout::scenarios {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint32_t kFar = 1'000'000;

// A graph given edge by edge; the state is the node, spread over three words so that all of them count. Bit p
// of `violates[from][i]` is set where edge i of a node violates property p.
struct Graph {
  using Action = uint32_t;
  std::vector<std::vector<uint32_t>> edges;
  std::vector<std::vector<uint64_t>> violates;
  std::vector<bool> goals;

  static void put(uint64_t* state, uint64_t node) {
    state[0] = node & 1;
    state[1] = node >> 1 & 3;
    state[2] = node >> 3;
  }
  static uint32_t node(const uint64_t* state) {
    return static_cast<uint32_t>(state[2] << 3 | state[1] << 1 | state[0]);
  }
  uint32_t words() const { return 3; }
  std::vector<uint64_t> initial() const { return {0, 0, 0}; }
  bool goal(const uint64_t* state) const { return goals[node(state)]; }
  void enabled(const uint64_t* state, std::vector<Action>& actions) const {
    for (uint32_t i = 0; i < edges[node(state)].size(); i++) {
      actions.push_back(i);
    }
  }
  uint64_t apply(const uint64_t*, uint64_t* state, Action action) const {
    const uint32_t from = node(state);
    put(state, edges[from][action]);
    return violates[from][action];
  }
};

Graph randomGraph(std::mt19937& random) {
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  Graph graph;
  const uint32_t nodes = 1 + below(40);
  graph.edges.resize(nodes);
  graph.violates.resize(nodes);
  graph.goals.resize(nodes);
  for (uint32_t edge = below(3 * nodes); edge > 0; edge--) {
    const uint32_t from = below(nodes);
    graph.edges[from].push_back(below(nodes));
    graph.violates[from].push_back(below(12) == 0 ? 1 + below(3) : 0);
  }
  for (uint32_t goal = below(4); goal > 0; goal--) {
    graph.goals[below(nodes)] = true;
  }
  return graph;
}

// What is true of a graph, from the definitions: all distances, by trying every node in between.
struct Truth {
  explicit Truth(const Graph& graph) : distance(graph.edges.size()) {
    const size_t n = graph.edges.size();
    for (size_t from = 0; from < n; from++) {
      distance[from].resize(n, kFar);
      for (const uint32_t to : graph.edges[from]) {
        distance[from][to] = 1;
      }
      distance[from][from] = 0;
    }
    for (size_t between = 0; between < n; between++) {
      for (size_t from = 0; from < n; from++) {
        for (size_t to = 0; to < n; to++) {
          distance[from][to] = std::min(distance[from][to], distance[from][between] + distance[between][to]);
        }
      }
    }
  }
  bool reaches(uint32_t from, uint32_t to) const { return distance[from][to] < kFar; }
  bool reachesGoal(const Graph& graph, uint32_t from) const {
    for (uint32_t to = 0; to < graph.edges.size(); to++) {
      if (graph.goals[to] && reaches(from, to)) {
        return true;
      }
    }
    return false;
  }
  // Whoever can be reached from here can come back.
  bool inClosedSet(uint32_t node) const {
    for (uint32_t to = 0; to < distance.size(); to++) {
      if (reaches(node, to) && !reaches(to, node)) {
        return false;
      }
    }
    return true;
  }

  std::vector<std::vector<uint32_t>> distance;
};

void expectRightTrap(const Graph& graph, const Truth& truth, const Exploration& found,
                     const std::vector<bool>& can) {
  uint32_t nearestDoomed = kFar;
  for (uint32_t node = 0; node < graph.edges.size(); node++) {
    if (truth.reaches(0, node) && !truth.reachesGoal(graph, node)) {
      nearestDoomed = std::min(nearestDoomed, truth.distance[0][node]);
    }
  }
  const std::optional<uint32_t> doomed = firstDoomed(can);
  ASSERT_EQ(doomed.has_value(), nearestDoomed < kFar);
  if (!doomed) {
    return;
  }
  EXPECT_EQ(wayTo(found, *doomed).size(), nearestDoomed + 1);
  const Trap trap = trapFrom(found, *doomed);
  const uint32_t from = Graph::node(found.states[trap.doomed]);
  const uint32_t last = Graph::node(found.states[trap.onward.back()]);
  uint32_t nearestClosed = kFar;
  for (uint32_t node = 0; node < graph.edges.size(); node++) {
    if (truth.inClosedSet(node)) {
      nearestClosed = std::min(nearestClosed, truth.distance[from][node]);
    }
  }
  EXPECT_EQ(trap.onward.front(), trap.doomed);
  EXPECT_EQ(trap.onward.size(), nearestClosed + 1);
  for (uint32_t id = 0; id < found.states.size(); id++) {
    const bool together = truth.reaches(last, Graph::node(found.states[id]));
    EXPECT_EQ(std::binary_search(trap.end.begin(), trap.end.end(), id), together);
  }
}

TEST(Explore, AgreesWithTheDefinitionsOnRandomGraphs) {
  std::mt19937 random(1);
  for (int round = 0; round < 1000; round++) {
    SCOPED_TRACE(round);
    const Graph graph = randomGraph(random);
    const Truth truth(graph);
    const Exploration found = Explorer(graph, Bounds{}).run();
    ASSERT_EQ(found.end, Exploration::End::Complete);
    uint32_t reachable = 0;
    for (uint32_t node = 0; node < graph.edges.size(); node++) {
      reachable += truth.reaches(0, node);
    }
    ASSERT_EQ(found.states.size(), reachable);
    const std::vector<bool> can = canReachGoal(found);
    for (uint32_t id = 0; id < found.states.size(); id++) {
      const uint32_t node = Graph::node(found.states[id]);
      EXPECT_EQ(wayTo(found, id).size(), truth.distance[0][node] + 1) << node;
      EXPECT_EQ(can[id], truth.reachesGoal(graph, node)) << node;
    }
    expectRightTrap(graph, truth, found, can);
  }
}

TEST(Explore, FindsAShortestViolationOfEachProperty) {
  std::mt19937 random(2);
  for (int round = 0; round < 1000; round++) {
    SCOPED_TRACE(round);
    const Graph graph = randomGraph(random);
    const Truth truth(graph);
    const Exploration found = Explorer(graph, Bounds{}).run();
    uint32_t nearest[2] = {kFar, kFar};
    for (uint32_t from = 0; from < graph.edges.size(); from++) {
      for (const uint64_t violated : graph.violates[from]) {
        for (int property = 0; property < 2; property++) {
          if ((violated >> property & 1) != 0) {
            nearest[property] = std::min(nearest[property], truth.distance[0][from]);
          }
        }
      }
    }
    uint32_t expected = 0;
    for (const uint32_t distance : nearest) {
      expected += distance < kFar;
    }
    ASSERT_EQ(found.violations.size(), expected);
    for (const Violation& violation : found.violations) {
      const uint32_t from = Graph::node(found.states[violation.state]);
      EXPECT_EQ(wayTo(found, violation.state).size(), nearest[violation.property] + 1);
      EXPECT_NE(graph.violates[from][violation.action] >> violation.property & 1, 0u);
    }
  }
}

TEST(Explore, WhatABoundLeavesCertainIsTrue) {
  std::mt19937 random(3);
  for (int round = 0; round < 1000; round++) {
    SCOPED_TRACE(round);
    const Graph graph = randomGraph(random);
    const Truth truth(graph);
    const uint32_t all = Explorer(graph, Bounds{}).run().states.size();
    const uint32_t bound = 1 + static_cast<uint32_t>(random() % (all + 2));
    const Exploration found = Explorer(graph, Bounds{.states = bound}).run();
    ASSERT_EQ(found.states.size(), std::min(bound, all));
    ASSERT_EQ(found.end, bound < all ? Exploration::End::StateBound : Exploration::End::Complete);
    const std::vector<bool> can = canReachGoal(found);
    for (uint32_t id = 0; id < found.states.size(); id++) {
      if (!can[id]) {
        EXPECT_FALSE(truth.reachesGoal(graph, Graph::node(found.states[id])));
        trapFrom(found, id);
      }
    }
  }
}

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

// A hash is only a hint: states that share one are still told apart.
TEST(StateSet, ComparesStatesInFull) {
  StateSet set(2);
  for (uint64_t i = 0; i < 500; i++) {
    const uint64_t state[2] = {i, i * i};
    EXPECT_TRUE(set.insert(state, 42, 1000).fresh);
  }
  for (uint64_t i = 0; i < 500; i++) {
    const uint64_t state[2] = {i, i * i};
    const StateSet::Inserted again = set.insert(state, 42, 1000);
    EXPECT_FALSE(again.fresh);
    EXPECT_EQ(again.id, i);
  }
}

TEST(StateSet, KeepsNoMoreThanThereIsRoomFor) {
  StateSet set(1);
  const uint64_t one = 1;
  const uint64_t two = 2;
  EXPECT_TRUE(set.insert(&one, hashWords(&one, 1), 1).fresh);
  EXPECT_EQ(set.insert(&two, hashWords(&two, 1), 1).id, StateSet::kNoState);
  EXPECT_EQ(set.insert(&one, hashWords(&one, 1), 1).id, 0u);
  EXPECT_EQ(set.size(), 1u);
}

TEST(StateSet, TellsWhatItWillNeed) {
  StateSet set(17);
  uint64_t state[17] = {};
  for (uint64_t i = 0; i < 100'000; i++) {
    state[i % 17]++;
    const uint64_t foreseen = set.bytesFor(set.size() + 1);
    set.insert(state, hashWords(state, 17), 1'000'000);
    ASSERT_LE(set.bytesFor(set.size()), foreseen);
    ASSERT_GE(foreseen, set.size() * 17 * sizeof(uint64_t));
  }
  EXPECT_EQ(set.size(), 100'000u);
}

TEST(HashWords, OneBitAnywhereChangesTheUpperHalf) {
  std::vector<uint64_t> words(25);
  std::vector<uint32_t> seen;
  for (uint32_t bit = 0; bit < 25 * 64; bit++) {
    words[bit / 64] ^= uint64_t{1} << bit % 64;
    seen.push_back(static_cast<uint32_t>(hashWords(words.data(), 25) >> 32));
    words[bit / 64] ^= uint64_t{1} << bit % 64;
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
}

}  // namespace
}  // namespace lastout::scenarios

// The explorer on random graphs, against a brute force by the definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "prove/explore.h"
#include "prove/reach.h"

namespace lastout::prove {
namespace {

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

// Each end but once, whole and ascending; none from which the goal can be reached.
void expectRightEnds(const Graph& graph, const Truth& truth, const Exploration& found,
                     const std::vector<bool>& can) {
  std::vector<bool> seen(found.states.size());
  eachEndWithoutGoal(found, can, [&](const std::vector<uint32_t>& states) {
    ASSERT_FALSE(states.empty());
    EXPECT_TRUE(std::ranges::is_sorted(states));
    const uint32_t node = Graph::node(found.states[states.front()]);
    for (uint32_t id = 0; id < found.states.size(); id++) {
      const bool together = truth.reaches(node, Graph::node(found.states[id]));
      EXPECT_EQ(std::ranges::binary_search(states, id), together);
    }
    for (const uint32_t state : states) {
      EXPECT_FALSE(seen[state]);
      seen[state] = true;
    }
  });
  for (uint32_t id = 0; id < found.states.size(); id++) {
    const uint32_t node = Graph::node(found.states[id]);
    EXPECT_EQ(seen[id], truth.inClosedSet(node) && !truth.reachesGoal(graph, node)) << node;
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
    expectRightEnds(graph, truth, found, can);
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

}  // namespace
}  // namespace lastout::prove

// Every algorithm against a transitive closure worked out from the model's edges, on random clusters.
#include "graph/algorithms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "graph/blockers.h"
#include "tests/graph/history.h"

namespace lastout::graph::test {
namespace {

using Name = std::string;

// The model's graph by names, with everything that follows from it.
struct Closure {
  std::set<Name> objects;               // present ones
  std::set<Name> met;                   // conditions that are
  std::map<Name, std::set<Name>> next;  // by vertex: what it goes after directly
  std::map<Name, std::map<Name, int>>
      steps;  // by vertex: what it goes after, in how many steps; itself on a cycle

  explicit Closure(const Model& model, bool unmetOnly) {
    for (const auto& [key, meta] : model.objects) objects.insert(nameOf(key));
    for (const Condition& condition : model.conditions()) {
      const Knowledge known = model.knowledgeOf(condition.type, History::types());
      const bool believed = condition.kind == Condition::Kind::NamespaceContent ||
                            known == Knowledge::Synced || known == Knowledge::Absent;
      if (model.holders(condition).empty() && believed) met.insert(nameOf(condition));
    }
    for (const auto& [source, target, kind] : model.edges()) {
      if (!unmetOnly || !met.contains(target)) next[source].insert(target);
    }
    for (const auto& [source, targets] : next) {
      std::set<Name> level = targets;
      for (int distance = 1; !level.empty(); ++distance) {
        std::set<Name> following;
        for (const Name& name : level) {
          if (!steps[source].emplace(name, distance).second) continue;
          const auto found = next.find(name);
          if (found != next.end()) following.insert(found->second.begin(), found->second.end());
        }
        level = std::move(following);
      }
    }
  }

  bool reaches(const Name& from, const Name& to) const {
    const auto found = steps.find(from);
    return found != steps.end() && found->second.contains(to);
  }
  bool onCycle(const Name& name) const { return reaches(name, name); }
  // One name for all vertices of a cycle.
  Name cycleOf(const Name& name) const {
    Name first = name;
    for (const auto& [other, distance] : steps.at(name)) {
      if (reaches(other, name)) first = std::min(first, other);
    }
    return first;
  }
};

Name vertexName(const Graph& graph, Vertex vertex) {
  return isObject(graph, vertex) ? nameOf(graph.key(objectOf(vertex)))
                                 : nameOf(graph.condition(conditionOf(graph, vertex)));
}

// A shortest one, unless it has to have so many steps.
void expectPath(const Closure& closure, const Graph& graph, const std::vector<Edge>& path, const Name& from,
                const Name& to, std::optional<int> steps = {}) {
  Name at = from;
  for (const Edge& edge : path) {
    EXPECT_EQ(vertexName(graph, edge.source), at);
    EXPECT_TRUE(closure.next.at(at).contains(vertexName(graph, edge.target)));
    at = vertexName(graph, edge.target);
  }
  EXPECT_EQ(at, to);
  const bool empty = from == to && path.empty();
  EXPECT_EQ(path.size(), empty ? 0 : steps.value_or(closure.steps.at(from).at(to)));
}

void checkReachability(const Graph& graph, const Closure& closure) {
  for (Vertex vertex = 0; vertex < vertexCount(graph); ++vertex) {
    if (!isLive(graph, vertex)) continue;
    const Name name = vertexName(graph, vertex);
    std::set<Name> after;
    std::set<Name> before;
    for (const ObjectId object : goesAfter(graph, vertex).objects) after.insert(nameOf(graph.key(object)));
    for (const ObjectId object : waitsFor(graph, vertex).objects) before.insert(nameOf(graph.key(object)));
    std::set<Name> expectedAfter;
    std::set<Name> expectedBefore;
    for (Vertex other = 0; other < graph.objectSlots(); ++other) {
      if (!isLive(graph, other)) continue;
      const Name otherName = vertexName(graph, other);
      if (closure.reaches(name, otherName)) expectedAfter.insert(otherName);
      if (closure.reaches(otherName, name)) expectedBefore.insert(otherName);
    }
    EXPECT_EQ(after, expectedAfter) << name;
    EXPECT_EQ(before, expectedBefore) << name;
  }
}

void checkCycles(const Graph& graph, const Closure& closure) {
  std::set<Name> expected;
  for (const auto& [name, reached] : closure.steps) {
    if (closure.onCycle(name)) expected.insert(closure.cycleOf(name));
  }
  std::set<Name> found;
  for (const Cycle& cycle : cycles(graph).cycles) {
    const Name start = vertexName(graph, cycle.edges.front().source);
    expectPath(closure, graph, cycle.edges, start, start);
    EXPECT_TRUE(found.insert(closure.cycleOf(start)).second);
    EXPECT_EQ(cycle.vertices,
              std::count_if(closure.steps.begin(), closure.steps.end(), [&](const auto& other) {
                return closure.reaches(start, other.first) && closure.reaches(other.first, start);
              }));
  }
  EXPECT_EQ(found, expected);
}

// In how many steps an end is reached from a vertex where nobody needs to act on what a container that is not
// being deleted would take along; nothing: only so. (An object that is not being deleted waits for others
// without a condition only where it contains them.)
std::optional<int> stepsTo(const Graph& graph, const Closure& closure, const Name& from, const Name& end) {
  std::map<Name, ObjectId> objects;
  for (Vertex vertex = 0; vertex < graph.objectSlots(); ++vertex) {
    if (isLive(graph, vertex)) objects.emplace(vertexName(graph, vertex), objectOf(vertex));
  }
  const auto object = objects.find(end);
  const bool mayGoAlong = object != objects.end() && !graph.isTerminating(object->second) &&
                          graph.finalizers(object->second).empty();
  std::optional<int> least;
  for (const auto& [name, next] : closure.next) {
    const auto waits = objects.find(name);
    const bool takesAlong = mayGoAlong && waits != objects.end() && !graph.isTerminating(waits->second);
    if (!next.contains(end) || takesAlong || (name != from && !closure.reaches(from, name))) continue;
    const int steps = (name == from ? 0 : closure.steps.at(from).at(name)) + 1;
    least = least ? std::min(*least, steps) : steps;
  }
  return least;
}

void checkBlockers(const Graph& graph, const Closure& closure) {
  for (Vertex vertex = 0; vertex < vertexCount(graph); ++vertex) {
    if (!isLive(graph, vertex)) continue;
    const Name name = vertexName(graph, vertex);
    std::set<Name> expected;
    bool waits = false;
    std::set<Name> candidates = {name};
    const auto reached = closure.steps.find(name);
    if (reached != closure.steps.end()) {
      for (const auto& [other, distance] : reached->second) candidates.insert(other);
    }
    for (const Name& other : candidates) {
      if (closure.onCycle(other)) {
        expected.insert("cycle " + closure.cycleOf(other));
      } else if (!closure.next.contains(other) && !closure.met.contains(other) &&
                 (other != name || !isObject(graph, vertex))) {
        waits = true;
        if (other == name || stepsTo(graph, closure, name, other)) expected.insert(other);
      }
    }
    waits = waits || !expected.empty();
    const Blockers blocked = blockers(graph, vertex, {.reasons = 1000, .examples = 1000, .roots = 1000});
    std::set<Name> found;
    for (const RootBlocker& root : blocked.roots) {
      const Name end = vertexName(graph, root.vertex);
      const bool isCycle = root.kind == RootBlocker::Kind::Cycle;
      EXPECT_TRUE(found.insert(isCycle ? "cycle " + closure.cycleOf(end) : end).second);
      expectPath(closure, graph, root.path, name, end,
                 isCycle ? std::nullopt : stepsTo(graph, closure, name, end));
      if (isCycle) expectPath(closure, graph, root.cycle, end, end);
      EXPECT_EQ(root.kind == RootBlocker::Kind::Unknown, !isCycle && !isObject(graph, root.vertex));
    }
    EXPECT_EQ(found, expected) << name;
    EXPECT_EQ(blocked.direct.empty(), !waits) << name;
    EXPECT_TRUE(blocked.complete);
  }
}

constexpr uint32_t kSmallHistories = 40;  // for each parameter

class AlgorithmsTest : public testing::TestWithParam<uint32_t> {};

TEST_P(AlgorithmsTest, AgreeWithTheTransitiveClosure) {
  for (uint32_t i = 0; i < kSmallHistories; ++i) {
    const uint32_t seed = 100'000 + GetParam() * kSmallHistories + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    History history(seed);
    for (uint32_t step = 0; step < 10 + seed % 30; ++step) history.step();
    const Closure all(history.model(), false);
    checkReachability(history.graph(), all);
    checkCycles(history.graph(), all);
    checkBlockers(history.graph(), Closure(history.model(), true));
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, AlgorithmsTest, testing::Range<uint32_t>(0, 10));

}  // namespace
}  // namespace lastout::graph::test

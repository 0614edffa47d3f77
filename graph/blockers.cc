#include "graph/blockers.h"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <unordered_map>
#include <unordered_set>

#include "graph/algorithms.h"
#include "graph/names.h"

namespace lastout::graph {

bool isMet(const Graph& graph, ConditionId condition) {
  return graph.holders(condition) == 0 && believable(graph.knowledge(condition));
}

bool blocks(const Graph& graph, Vertex target) {
  return isObject(graph, target) || !isMet(graph, conditionOf(graph, target));
}

namespace {

constexpr uint32_t kMostGoingAlong = 100'000;  // edges that are looked at

void addDirect(const Graph& graph, ConditionId condition, EdgeKind kind, const BlockerLimits& limits,
               Blockers& result) {
  if (isMet(graph, condition)) return;
  if (result.direct.size() == limits.reasons) {
    ++result.directLeftOut;
    return;
  }
  DirectBlocker blocker{kind, condition, graph.holders(condition), {}};
  blocker.examples.resize(std::min<size_t>(limits.examples, blocker.count));
  graph.someHolders(condition, blocker.examples);
  result.direct.push_back(std::move(blocker));
}

void addImplied(const Edge& edge, const BlockerLimits& limits, Blockers& result) {
  if (result.direct.empty() || result.direct.back().kind != edge.kind) {
    if (result.direct.size() == limits.reasons) {
      ++result.directLeftOut;
      return;
    }
    result.direct.push_back({edge.kind, {}, 0, {}});
  }
  DirectBlocker& blocker = result.direct.back();
  ++blocker.count;
  if (blocker.examples.size() < limits.examples) blocker.examples.push_back(objectOf(edge.target));
}

void findDirect(const Graph& graph, Vertex vertex, const BlockerLimits& limits, Blockers& result) {
  if (!isObject(graph, vertex)) {
    addDirect(graph, conditionOf(graph, vertex), EdgeKind::Holder, limits, result);
  } else {
    std::unordered_set<Vertex> conditions;
    for (OutEdges edges(graph, vertex); !edges.atEnd(); edges.next()) {
      if (edges.kind() != EdgeKind::Requires) {
        addImplied(edges.edge(), limits, result);
      } else if (conditions.insert(edges.target()).second) {
        addDirect(graph, conditionOf(graph, edges.target()), EdgeKind::Requires, limits, result);
      }
    }
  }
  for (DirectBlocker& blocker : result.direct) {
    std::sort(blocker.examples.begin(), blocker.examples.end(),
              [&](ObjectId a, ObjectId b) { return namedBefore(graph, vertexOf(a), vertexOf(b)); });
  }
}

// The part of the graph that blocks one vertex, numbered in the order in which a breadth-first search finds
// it.
class Chains {
 public:
  Chains(const Graph& graph, Vertex start, uint32_t limit) : graph_(graph) {
    add(Edge{kNone, start, EdgeKind::Requires});
    uint32_t passedOver = 0;  // edges: one Namespace may have more of them than the limit allows vertices
    uint32_t goAlong = 0;     // edges, too
    for (uint32_t at = 0; at < reached_.size(); ++at) {
      const Vertex vertex = reached_[at].target;
      waits_.push_back(false);
      for (OutEdges edges(graph, vertex); !edges.atEnd(); edges.next()) {
        if (!blocks(graph, edges.target())) continue;
        waits_[at] = true;
        if (goesAlong(edges.edge())) {
          if (++goAlong <= kMostGoingAlong) continue;
          complete_ = false;
          break;
        }
        if (reached_.size() < limit || numbers_.contains(edges.target())) {
          edges_.emplace_back(at, add(edges.edge()));
        } else {
          complete_ = false;
          if (++passedOver >= limit) break;
        }
      }
    }
  }

  void findRoots(const BlockerLimits& limits, Blockers& result) const {
    const std::vector<uint32_t> component = findComponents();
    std::vector<bool> isCycle(reached_.size(), false);  // by component
    std::vector<uint32_t> sizes(reached_.size(), 0);
    for (const uint32_t number : component) ++sizes[number];
    for (const auto& [from, to] : edges_) {
      if (component[from] == component[to]) isCycle[component[from]] = true;
    }
    for (uint32_t at = 0; at < reached_.size(); ++at) {
      const bool cycle = isCycle[component[at]];
      if (cycle) isCycle[component[at]] = false;  // told once, where it is met first
      if (!cycle && (waits_[at] || (at == 0 && isObject(graph_, reached_[0].target)))) continue;
      if (result.roots.size() == limits.roots) {
        ++result.rootsLeftOut;
        continue;
      }
      result.roots.push_back(root(at, cycle, component));
    }
    result.complete = complete_;
  }

 private:
  uint32_t add(const Edge& edge) {
    const auto [place, isNew] = numbers_.emplace(edge.target, static_cast<uint32_t>(reached_.size()));
    if (isNew) reached_.push_back(edge);
    return place->second;
  }

  // What its container takes along when it is deleted, and what waits for nothing itself: as long as that has
  // not begun, nobody needs to act on it.
  bool goesAlong(const Edge& edge) const {
    if (edge.kind != EdgeKind::Content && edge.kind != EdgeKind::Instance) return false;
    const ObjectId content = objectOf(edge.target);
    if (graph_.isTerminating(objectOf(edge.source)) || graph_.isTerminating(content) ||
        !graph_.finalizers(content).empty())
      return false;
    for (OutEdges edges(graph_, edge.target); !edges.atEnd(); edges.next()) {
      if (blocks(graph_, edges.target())) return false;
    }
    return true;
  }

  std::vector<uint32_t> findComponents() const {
    using Local = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                                     boost::no_property, uint32_t, uint32_t>;
    const Local local(boost::edges_are_sorted, edges_.begin(), edges_.end(), reached_.size());
    std::vector<uint32_t> component(reached_.size());
    boost::strong_components(
        local, boost::make_iterator_property_map(component.begin(), get(boost::vertex_index, local)));
    return component;
  }

  std::vector<Edge> pathTo(uint32_t number) const {
    std::vector<Edge> path;
    for (; number != 0; number = numbers_.at(reached_[number].source)) path.push_back(reached_[number]);
    std::reverse(path.begin(), path.end());
    return path;
  }

  RootBlocker root(uint32_t number, bool cycle, const std::vector<uint32_t>& component) const {
    RootBlocker root;
    root.vertex = reached_[number].target;
    root.path = pathTo(number);
    if (cycle) {
      root.kind = RootBlocker::Kind::Cycle;
      root.cycle = shortestCycle(graph_, root.vertex, [&](Vertex vertex) {
        const auto found = numbers_.find(vertex);
        return found != numbers_.end() && component[found->second] == component[number];
      });
    } else if (!isObject(graph_, root.vertex)) {
      root.kind = RootBlocker::Kind::Unknown;
    }
    return root;
  }

  const Graph& graph_;
  std::vector<Edge> reached_;  // by number: the edge that found it first; number 0 is the start
  std::unordered_map<Vertex, uint32_t> numbers_;
  std::vector<std::pair<uint32_t, uint32_t>> edges_;  // by source
  std::vector<bool> waits_;  // by number: for something, whether or not that was reached
  bool complete_ = true;
};

}  // namespace

Blockers blockers(const Graph& graph, Vertex vertex, const BlockerLimits& limits) {
  Blockers result;
  findDirect(graph, vertex, limits, result);
  if (!result.direct.empty() || result.directLeftOut > 0) {
    Chains(graph, vertex, limits.vertices).findRoots(limits, result);
  }
  return result;
}

}  // namespace lastout::graph

#include "graph/cycles.h"

#include <algorithm>
#include <unordered_map>

#include "graph/names.h"

namespace lastout::graph {

std::vector<Edge> shortestCycle(const Graph& graph, Vertex start, const std::function<bool(Vertex)>& inside) {
  std::unordered_map<Vertex, Edge> reachedBy;
  std::vector<Vertex> queue = {start};
  for (size_t at = 0; at < queue.size(); ++at) {
    for (OutEdges edges(graph, queue[at]); !edges.atEnd(); edges.next()) {
      const Edge edge = edges.edge();
      if (edge.target == start) {
        std::vector<Edge> cycle = {edge};
        while (cycle.back().source != start) cycle.push_back(reachedBy.at(cycle.back().source));
        std::reverse(cycle.begin(), cycle.end());
        return cycle;
      }
      if (!inside(edge.target)) continue;
      if (reachedBy.emplace(edge.target, edge).second) queue.push_back(edge.target);
    }
  }
  return {};
}

namespace {

bool hasLoop(const Graph& graph, Vertex vertex) {
  for (OutEdges edges(graph, vertex); !edges.atEnd(); edges.next()) {
    if (edges.target() == vertex) return true;
  }
  return false;
}

}  // namespace

Cycles cycles(const Graph& graph, size_t limit) {
  const Components components = lastout::graph::components(graph);
  struct Summary {
    uint32_t vertices = 0;
    Vertex first = kNone;
  };
  std::vector<Summary> summaries(components.count);
  for (Vertex vertex = 0; vertex < components.of.size(); ++vertex)
    ++summaries[components.of[vertex]].vertices;
  for (Vertex vertex = 0; vertex < components.of.size(); ++vertex) {
    Summary& summary = summaries[components.of[vertex]];
    if (summary.vertices == 1 && !hasLoop(graph, vertex)) continue;
    if (summary.first == kNone || namedBefore(graph, vertex, summary.first)) summary.first = vertex;
  }
  std::erase_if(summaries, [](const Summary& summary) { return summary.first == kNone; });
  std::sort(summaries.begin(), summaries.end(),
            [&](const Summary& a, const Summary& b) { return namedBefore(graph, a.first, b.first); });
  Cycles result;
  result.leftOut = static_cast<uint32_t>(summaries.size() - std::min(limit, summaries.size()));
  summaries.resize(summaries.size() - result.leftOut);
  for (const Summary& summary : summaries) {
    const auto inside = [&](Vertex vertex) { return components.of[vertex] == components.of[summary.first]; };
    result.cycles.push_back({shortestCycle(graph, summary.first, inside), summary.vertices});
  }
  return result;
}

}  // namespace lastout::graph

#include "graph/algorithms.h"

#include <algorithm>
#include <boost/graph/strong_components.hpp>
#include <unordered_map>

#include "graph/boost_traits.h"
#include "graph/names.h"

namespace lastout::graph {

Components components(const Graph& graph) {
  Components result;
  const uint32_t vertices = vertexCount(graph);
  result.of.resize(vertices);
  std::vector<uint32_t> roots(vertices);
  std::vector<uint32_t> discovered(vertices);
  std::vector<boost::default_color_type> colors(vertices);
  const auto index = get(boost::vertex_index, graph);
  const auto property = [&](auto& values) {
    return boost::make_iterator_property_map(values.begin(), index);
  };
  result.count = boost::strong_components(
      graph, property(result.of),
      boost::root_map(property(roots)).discover_time_map(property(discovered)).color_map(property(colors)));
  return result;
}

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

namespace {

// `next(vertex, visit)` calls visit for the vertex's neighbours.
template <class Next>
Reached breadthFirst(const Graph& graph, Vertex start, size_t limit, const Next& next) {
  Reached result;
  std::vector<bool> seen(vertexCount(graph), false);
  std::vector<Vertex> queue = {start};
  for (size_t at = 0; at < queue.size() && result.complete; ++at) {
    next(queue[at], [&](Vertex neighbour) {
      if (seen[neighbour]) return;
      if (isObject(graph, neighbour)) {
        if (result.objects.size() == limit) {
          result.complete = false;
          return;
        }
        result.objects.push_back(objectOf(neighbour));
      }
      seen[neighbour] = true;
      if (neighbour != start) queue.push_back(neighbour);
    });
  }
  return result;
}

}  // namespace

Reached goesAfter(const Graph& graph, Vertex start, size_t limit) {
  return breadthFirst(graph, start, limit, [&](Vertex vertex, const auto& visit) {
    for (OutEdges edges(graph, vertex); !edges.atEnd(); edges.next()) visit(edges.target());
  });
}

Reached waitsFor(const Graph& graph, Vertex start, size_t limit) {
  return breadthFirst(graph, start, limit, [&](Vertex vertex, const auto& visit) {
    forEachInEdge(graph, vertex, [&](Vertex source, EdgeKind) { visit(source); });
  });
}

}  // namespace lastout::graph

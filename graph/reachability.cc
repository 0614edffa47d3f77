#include "graph/reachability.h"

namespace lastout::graph {

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

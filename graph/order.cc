#include "graph/order.h"

#include <algorithm>

#include "graph/components.h"

namespace lastout::graph {

namespace {

// All vertices, those of component 0 first.
std::vector<Vertex> sortedByComponent(const Components& components) {
  std::vector<uint32_t> starts(components.count + 1, 0);
  for (const uint32_t component : components.of) ++starts[component + 1];
  for (uint32_t i = 0; i < components.count; ++i) starts[i + 1] += starts[i];
  std::vector<Vertex> sorted(components.of.size());
  for (Vertex vertex = 0; vertex < sorted.size(); ++vertex) sorted[starts[components.of[vertex]]++] = vertex;
  return sorted;
}

}  // namespace

Waves deletionOrder(const Graph& graph) {
  const Components components = lastout::graph::components(graph);
  const std::vector<Vertex> sorted = sortedByComponent(components);
  // Of each component: the first wave that may hold an object in it, or one that goes after a condition in
  // it.
  std::vector<uint32_t> wave(components.count, 0);
  Waves result;
  result.of.assign(graph.objectSlots(), kNone);
  for (size_t begin = 0; begin < sorted.size();) {
    const uint32_t component = components.of[sorted[begin]];
    bool isCycle = false;
    size_t end = begin;
    for (; end < sorted.size() && components.of[sorted[end]] == component; ++end) {
      for (OutEdges edges(graph, sorted[end]); !edges.atEnd(); edges.next()) {
        const Vertex target = edges.target();
        if (components.of[target] == component) {
          isCycle = true;
          continue;
        }
        const uint32_t after = wave[components.of[target]] + (isObject(graph, target) ? 1 : 0);
        wave[component] = std::max(wave[component], after);
      }
    }
    for (; begin < end; ++begin) {
      if (!isObject(graph, sorted[begin]) || !graph.isPresent(objectOf(sorted[begin]))) continue;
      result.of[sorted[begin]] = wave[component];
      if (result.sizes.size() <= wave[component]) result.sizes.resize(wave[component] + 1, 0);
      ++result.sizes[wave[component]];
      if (isCycle) result.inCycle.push_back(objectOf(sorted[begin]));
    }
  }
  return result;
}

}  // namespace lastout::graph

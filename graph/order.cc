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
  // Of each component: the first wave that what goes after it may be in.
  std::vector<uint32_t> after(components.count, 0);
  Waves result;
  result.of.assign(graph.objectSlots(), kNone);
  for (size_t begin = 0; begin < sorted.size();) {
    const uint32_t component = components.of[sorted[begin]];
    uint32_t wave = 0;
    bool isCycle = false;
    bool hasObject = false;
    size_t end = begin;
    for (; end < sorted.size() && components.of[sorted[end]] == component; ++end) {
      for (OutEdges edges(graph, sorted[end]); !edges.atEnd(); edges.next()) {
        const Vertex target = edges.target();
        isCycle = isCycle || components.of[target] == component;
        wave = std::max(wave, after[components.of[target]]);  // 0 of its own component
      }
    }
    for (; begin < end; ++begin) {
      if (!isObject(graph, sorted[begin]) || !graph.isPresent(objectOf(sorted[begin]))) continue;
      hasObject = true;
      result.of[sorted[begin]] = wave;
      if (result.sizes.size() <= wave) result.sizes.resize(wave + 1, 0);
      ++result.sizes[wave];
      if (isCycle) result.inCycle.push_back(objectOf(sorted[begin]));
    }
    after[component] = wave + (hasObject ? 1 : 0);
  }
  return result;
}

}  // namespace lastout::graph

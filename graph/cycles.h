// Cycles: where *goes after* contradicts itself, so that no order exists in which everything can go.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "graph/components.h"

namespace lastout::graph {

struct Cycle {
  // A shortest way round from the first vertex by name: each edge's target is the next one's source, and the
  // last one's target is the first one's source.
  std::vector<Edge> edges;
  uint32_t vertices = 0;  // of the component that it stands for; more than edges when cycles hang together
};

struct Cycles {
  std::vector<Cycle> cycles;  // by the name of their first vertex
  uint32_t leftOut = 0;       // beyond the limit
};

Cycles cycles(const Graph& graph, size_t limit = 100);

// A shortest way from `start` back to it through vertices that are `inside`; empty when there is none.
std::vector<Edge> shortestCycle(const Graph& graph, Vertex start, const std::function<bool(Vertex)>& inside);

}  // namespace lastout::graph

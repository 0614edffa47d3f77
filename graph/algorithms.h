// Algorithms over a whole graph, for snapshots: strongly connected components (by Boost.Graph),
// cycles, and what is reached from an object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "graph/edges.h"

namespace lastout::graph {

struct Components {
  // Of each vertex. An edge leads to a component with the same number or a smaller one, so counting up visits
  // everything after what it goes after.
  std::vector<uint32_t> of;
  uint32_t count = 0;
};

// Takes about a third of a second for a million objects: for snapshots.
Components components(const Graph& graph);

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

// Returns where *goes after* contradicts itself, so that no order exists in which everything can go: one
// shortest cycle of each component, at most `limit`.
Cycles cycles(const Graph& graph, size_t limit = 100);

// A shortest way from `start` back to it through vertices that are `inside`; empty when there is none.
std::vector<Edge> shortestCycle(const Graph& graph, Vertex start, const std::function<bool(Vertex)>& inside);

struct Reached {
  std::vector<ObjectId> objects;  // nearest first; the start is among them only when it is on a cycle
  bool complete = true;           // false: there are more than the limit
};

// What `start` goes after, directly or through others.
Reached goesAfter(const Graph& graph, Vertex start, size_t limit = SIZE_MAX);
// What goes after `start`, directly or through others. Absent objects of which that is required count too.
Reached waitsFor(const Graph& graph, Vertex start, size_t limit = SIZE_MAX);

}  // namespace lastout::graph

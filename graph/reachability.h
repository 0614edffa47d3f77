// Reachability: everything that has to be gone before an object may go, and everything that waits for it.
#pragma once

#include <cstddef>
#include <vector>

#include "graph/edges.h"

namespace lastout::graph {

struct Reached {
  std::vector<ObjectId> objects;  // nearest first; the start is among them only when it is on a cycle
  bool complete = true;           // false: there are more than the limit
};

// What `start` goes after, directly or through others.
Reached goesAfter(const Graph& graph, Vertex start, size_t limit = SIZE_MAX);
// What goes after `start`, directly or through others. Absent objects of which that is required count too.
Reached waitsFor(const Graph& graph, Vertex start, size_t limit = SIZE_MAX);

}  // namespace lastout::graph

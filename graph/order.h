// Order: in which waves everything can be deleted without anybody having to wait.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/edges.h"

namespace lastout::graph {

// Wave 0 goes after nothing; a wave may go when the ones before it are gone: instances, then their provider,
// then its namespace. Objects of one cycle share a wave, as if they could go together; they cannot, so they
// are listed.
struct Waves {
  std::vector<uint32_t> of;       // by ObjectId; kNone: not present
  std::vector<uint32_t> sizes;    // by wave: how many objects
  std::vector<ObjectId> inCycle;  // objects that go after themselves
};

// A topological sort of the graph's condensation.
Waves deletionOrder(const Graph& graph);

}  // namespace lastout::graph

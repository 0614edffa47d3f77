// specChains: shortest paths from an object to what SpecBlockers keep.
#pragma once

#include <cstdint>
#include <vector>

#include "admission/spec_blockers.h"
#include "graph/edges.h"

namespace lastout::admission {

struct SpecChain {
  std::vector<graph::Vertex> path;       // from the object to the one that the blocker keeps
  const SpecBlocker* blocker = nullptr;  // with a cause; borrowed
};

struct SpecChains {
  std::vector<SpecChain> chains;  // nearest first, each cause of each object once
  bool complete = true;           // false: the search stopped, and there may be others
};

// Searches at most `most` vertices, and edges in proportion.
SpecChains specChains(const graph::Graph& graph, graph::Vertex start, const SpecBlockers& blockers,
                      uint32_t most);

// Returns true if the blocker is the end of a chain that leads to its object by an edge of that kind. The
// clean-up of a CRD asks no webhook about a DELETE.
bool endsChain(const SpecBlocker& blocker, graph::EdgeKind kind);

}  // namespace lastout::admission

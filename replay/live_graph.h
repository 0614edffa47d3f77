// LiveGraph: the live graph of a cluster in this state of the machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "admission/guard_index.h"
#include "cluster/state.h"
#include "graph/graph.h"

namespace lastout::replay {

// Returns the names in metadata.finalizers: a Namespace keeps its own one in its spec.
std::vector<std::string> metadataFinalizers(const cluster::SlotInfo& slot, uint16_t finalizers);

// Every type is known. An object's uid is the number of its slot.
struct LiveGraph {
  LiveGraph(const cluster::Model& model, cluster::StateRef state);

  graph::Graph graph;
  admission::GuardIndex index;
};

}  // namespace lastout::replay

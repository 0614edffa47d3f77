// LiveGraph: what lastout would know of a cluster that is in this state of the machine.
#pragma once

#include "admission/guard_index.h"
#include "cluster/state.h"
#include "graph/graph.h"

namespace lastout::replay {

// Every type is known. An object's uid is the number of its slot.
struct LiveGraph {
  LiveGraph(const cluster::Model& model, cluster::StateRef state);

  graph::Graph graph;
  admission::GuardIndex index;
};

}  // namespace lastout::replay

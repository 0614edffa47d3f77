// The three answers to one DELETE: from the graph, from the machine's state, and from the document's text.
#pragma once

#include <string>

#include "cluster/machine.h"
#include "tests/properties/coverage.h"
#include "tests/properties/graph_mirror.h"
#include "tests/support/by_the_document.h"

namespace lastout::testing {

// Where the three differ about a DELETE of this object, as a sentence; nothing when they agree, down to every
// blocker and to whether the object counts as guarded.
std::string disagreement(const cluster::Machine& machine, const cluster::StateRef& state, GraphMirror& mirror,
                         const PlainCluster& plain, cluster::Slot slot);

// The same of a graph alone, and a verdict of the document's on a DELETE in that manner.
std::string disagreementOnGraph(const graph::Graph& graph, const admission::GuardIndex& index,
                                const kube::ObjectKey& key, const PlainVerdict& verdict,
                                admission::DeletionEffect deletionEffect);

// The same of graph and text alone, while little is known of some types: what a cluster's own state cannot
// show. Counts the reasons that come up.
std::string disagreementWhenUnsure(const cluster::Model& model, GraphMirror& mirror,
                                   const PlainCluster& plain, cluster::Slot slot, Coverage& coverage);

}  // namespace lastout::testing

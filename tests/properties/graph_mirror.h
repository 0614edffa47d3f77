// GraphMirror: a live graph and a guard index that follow the machine's state, change by change, as watches
// would.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "admission/guard_index.h"
#include "cluster/machine.h"
#include "graph/graph.h"
#include "replay/random.h"

namespace lastout::testing {

class GraphMirror {
 public:
  // Keeps a reference to the model. Everything of `state` is applied, object by object, in an order drawn
  // from the seed.
  GraphMirror(const cluster::Model& model, const cluster::StateRef& state, uint64_t seed);

  // Applies what became of these slots, in an order of its own.
  void follow(const cluster::StateRef& state, std::vector<cluster::Slot> changed);

  graph::Graph& graph() { return graph_; }
  const admission::GuardIndex& index() const { return index_; }
  admission::GraphFacts facts() const { return {graph_, index_}; }

  // A graph built from the present state alone, with the same uids.
  GraphMirror rebuilt(const cluster::StateRef& state, uint64_t seed) const;

  // All that the graph holds, a line each, sorted: equal for graphs that know the same, however they came to.
  std::string text() const;

 private:
  GraphMirror(const GraphMirror& like, const cluster::StateRef& state, uint64_t seed);
  void applyAll(const cluster::StateRef& state);
  void applyObject(const cluster::StateRef& state, cluster::Slot slot);
  kube::ObjectMeta metaOf(const cluster::StateRef& state, cluster::Slot slot) const;
  std::string uidOf(cluster::Slot slot) const;
  void setTypesKnown();

  const cluster::Model& model_;
  replay::Random random_;
  std::vector<uint32_t> incarnations_;  // by slot: how often the object was created
  std::vector<bool> present_;           // by slot: as the graph has it
  graph::Graph graph_;
  admission::GuardIndex index_;
};

}  // namespace lastout::testing

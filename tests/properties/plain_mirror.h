// PlainMirror: a state of the machine as plain lists, for the verdict by the document's text.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cluster/machine.h"
#include "tests/support/by_the_document.h"

namespace lastout::testing {

// What stands in metadata.finalizers.
std::vector<std::string> finalizersOf(const cluster::SlotInfo& info, const cluster::ObjectState& object);
// CriticalServices, their providers, and what their criteria are about: types that a verdict depends on.
std::set<kube::GroupResource> typesNamedBy(const std::vector<criticalservice::CriticalService>& services);
// These, and all others of the model.
std::set<kube::GroupResource> typesOf(const cluster::Model& model);

class PlainMirror {
 public:
  PlainMirror(const cluster::Model& model, const cluster::StateRef& state);  // keeps a reference to the model

  void follow(const cluster::StateRef& state, const std::vector<cluster::Slot>& changed);
  const PlainCluster& cluster() const { return cluster_; }

 private:
  void remove(cluster::Slot slot);
  void add(const cluster::StateRef& state, cluster::Slot slot);

  const cluster::Model& model_;
  PlainCluster cluster_;
  std::vector<cluster::Slot> slots_;  // of cluster_.objects
  std::vector<uint32_t> places_;      // by slot: where in cluster_.objects; kNone: not there
};

}  // namespace lastout::testing

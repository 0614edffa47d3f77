// WorksView: what the watches of a lastout beside a cluster in a state of the machine would have told it, and
// what its reads tell.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "admission/cluster_view.h"
#include "cluster/machine.h"
#include "server/controllers/owned_object.h"
#include "server/controllers/work_finalizer_plan.h"

namespace lastout::testing {

// Follows the machine's states. What the API server holds beside the objects themselves follows from earlier
// states: the status that an agent writes after each of its passes. Of the owners that an object had as its
// deletion was deferred those are told that it still has (docs/semantics.md, "kept works").
class WorksHistory {
 public:
  // Keeps a reference to the model.
  WorksHistory(const cluster::Model& model, const cluster::StateRef& state);

  void follow(const cluster::StateRef& state);

 private:
  friend class WorksView;

  const cluster::Model& model_;
  std::vector<std::set<cluster::Slot>> recorded_;  // by work
  std::map<cluster::Slot, std::vector<std::string>> deferredOwners_;
};

// An object's uid is the number of its slot. Of types that no CriticalService has lastout follow nothing is
// told.
class WorksView {
 public:
  static constexpr const char* kPerson = "jane";  // who asked for what a person was denied

  WorksView(const WorksHistory& history, const cluster::StateRef& state);

  server::ViewOfWorks works() const { return {view_, types_, home_, recorded_}; }
  // What the API server says past all watches. Borrows all of it.
  server::ObjectReads reads() const;

 private:
  void tell(const cluster::StateRef& state, cluster::Slot slot);
  void guard(const WorksHistory& history, const cluster::StateRef& state, cluster::Slot slot);

  const cluster::Model& model_;
  const cluster::StateRef state_;
  const kube::ResourceMap& types_;
  const std::string home_;
  admission::ClusterView view_;
  server::RecordedObjects recorded_;
};

}  // namespace lastout::testing

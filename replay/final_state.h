// FinalState: reads a state from which nothing changes any more, for stuck.cc: what is there of what an
// object has to do with, what is missing, and who asked for its deletion.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cluster/machine.h"
#include "cluster/transition.h"
#include "replay/dead_calls.h"
#include "replay/names.h"
#include "replay/replay.h"

namespace lastout::replay {

class FinalState {
 public:
  // `words`: the state; `log` tells who requested which deletion. All but the words must outlive it.
  FinalState(const cluster::Machine& machine, const Names& names, std::vector<uint64_t> words,
             std::span<const Happening> log);
  FinalState(const FinalState&) = delete;
  FinalState& operator=(const FinalState&) = delete;

  const cluster::StateRef& state() const { return state_; }
  const cluster::Transition& cluster() const { return cluster_; }

  // --- objects

  // Those of them that are there.
  std::vector<cluster::Slot> presentOf(const std::vector<cluster::Slot>& slots) const;
  // Owners that are there, and are not being deleted.
  std::vector<cluster::Slot> liveOwnersOf(cluster::Slot slot) const;
  // Those that a deletion of the object in the foreground waits for.
  std::vector<cluster::Slot> blockingDependents(cluster::Slot slot) const;
  // What the work of that number has applied, as its status says.
  std::vector<cluster::Slot> recorded(uint32_t number) const;
  // The first that is not there; kNone: all are.
  cluster::Slot firstAbsent(const std::vector<cluster::Slot>& slots) const;

  // --- what is missing, in words

  // Returns why a workload, or a Pod, does not start, with the webhooks that refuse it; empty: it may start.
  DeadCalls whyNotStarted(cluster::Slot slot) const;
  // Returns the first right that the controllers in a workload lack; empty: they lack none.
  std::string missingRight(cluster::Slot workload) const;
  // "rolebindings/tenant/cleanup, which is gone".
  std::string missing(const cluster::RemovalNeeds::Need& need) const;

  // --- who asked

  // Somebody asks again and again, in vain, or lastout will.
  bool isAskedFor(cluster::Slot slot) const;
  // Returns true if an action of this kind, about the object, can happen now.
  bool isEnabled(cluster::Action::Kind kind, cluster::Slot slot) const;
  // The last time that somebody was denied its deletion; null: nobody was.
  const Happening* lastDenial(cluster::Slot slot) const;

 private:
  DeadCalls whyNotCreated(cluster::Slot child) const;
  DeadCalls refused(cluster::Slot slot, bool cluster::Interception::*request, const std::string& what) const;
  // Returns, for each way, its first object that is not there.
  std::vector<cluster::Slot> lostOf(const cluster::Ways& ways) const;

  const cluster::Model& model_;
  const Names& names_;
  std::vector<uint64_t> words_;
  cluster::StateRef state_;
  cluster::Transition cluster_;  // for reading alone
  std::span<const Happening> log_;
  std::vector<cluster::Action> enabled_;
};

}  // namespace lastout::replay

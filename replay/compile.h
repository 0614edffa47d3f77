// compile: a scenario into a model that the machine runs, and its expectations into slots and monitor bits.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/model.h"
#include "replay/scenario.h"

namespace lastout::replay {

struct WatchedEvent {
  cluster::Slot slot = cluster::kNone;
  cluster::EventKind kind = cluster::EventKind::Gone;
  uint32_t bit = 0;      // of StateRef::monitors(): set once it has happened
  uint32_t written = 0;  // index in Expectations::before or ::never
};

// Violated in a state that has second's bit and not first's; monitor bits are never taken back.
struct BeforePair {
  WatchedEvent first;
  WatchedEvent second;
};

struct Compiled {
  cluster::Model model;  // a Machine keeps a reference to it: build one only where this struct stays
  std::vector<cluster::Slot> goal;  // reached when none of them is left (replay/goal.h)
  // Their Gone, of each Pod of the goal that a workload outside of the goal replaces: the replacement, which
  // has the same slot, is not to go.
  std::vector<WatchedEvent> replaced;
  // Where the scenario ends stuck, these are said of the way in which it does, not of every way.
  std::vector<BeforePair> before;
  std::vector<WatchedEvent> never;
  uint64_t neverBits = 0;  // a state with one of these violates `never`
  // By model step: the event that has to happen before it is sent; slot is kNone where there is none.
  std::vector<WatchedEvent> sendAfter;
  // In the order written. Of each, one was denied at least once; of each, one is still there at a stuck end.
  std::vector<std::vector<cluster::Slot>> denied;
  std::vector<std::vector<cluster::Slot>> stuck;
  std::vector<std::vector<cluster::Slot>> exists;  // of each, one is live at the end
  bool mustExist = false;  // `exists` is a part of what has to stay within reach; false: said of a stuck end
  std::vector<WatchedEvent> story;  // milestones; without bits, so that they cost no states
  kube::Errors warnings;            // accepted, but probably not meant: about what controllers need
};

// Fails on references to nothing (naming the nearest object), and on what the machine cannot hold.
tl::expected<Compiled, kube::Errors> compile(const Scenario& scenario);

}  // namespace lastout::replay

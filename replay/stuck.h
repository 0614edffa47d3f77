// stuck: explains why objects of the goal still exist when nothing can change any more. admission/why.h
// answers that of a live graph. Here the reasons are the machine's: an action that no controller or step
// takes any more, a webhook that denies each time, a work that its agent has forgotten. No graph holds these,
// and so the shortest ring is one of StillThere, not graph::shortestCycle().
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cluster/machine.h"
#include "criticalservice/finalizer_removers.h"
#include "replay/compile.h"
#include "replay/names.h"
#include "replay/replay.h"

namespace lastout::replay {

struct StillThere {
  cluster::Slot object = cluster::kNone;
  std::vector<std::string> reasons;     // sentences; at least one
  std::vector<cluster::Slot> waitsFor;  // objects that have to go (or come back) first
  bool isUnasked = false;               // the only reason is that nobody has asked for its deletion
};

struct Stuckness {
  std::vector<StillThere> objects;  // of the goal in the order of their slots, then what else these wait for
  std::vector<cluster::Slot>
      ring;  // objects each of which waits for the next, the last for the first; empty: no such
};

// What should be gone and is not, in words.
struct Leftover {
  std::string object;
  std::vector<std::string> reasons;
};

// The steps that were not sent in a last state, which is its `state` as words.
std::vector<Leftover> unsent(const Compiled& compiled, const Names& names, std::vector<uint64_t> state);

// When something happened: "at 4.300 s", "in step 7".
using MomentOf = std::function<std::string(const Happening&)>;
std::string atTime(const Happening& happening);

// Explains a state from which nothing changes. `log` tells who requested which deletion; if it is empty, the
// explanation names nobody. `unremoved`: as of the scenario.
Stuckness explainStuck(const cluster::Machine& machine, const Names& names,
                       std::span<const cluster::Slot> goal, std::vector<uint64_t> state,
                       std::span<const Happening> log,
                       std::span<const criticalservice::UnremovedFinalizer> unremoved,
                       const MomentOf& when = atTime);

}  // namespace lastout::replay

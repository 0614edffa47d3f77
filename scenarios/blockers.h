// Blockers: who keeps lastout from allowing a DELETE in a state of the machine, by name.
#pragma once

#include <string>
#include <vector>

#include "cluster/machine.h"
#include "scenarios/names.h"

namespace lastout::scenarios {

struct Blocker {
  std::string text;                    // "customresourcedefinitions/x exists"
  std::vector<cluster::Slot> objects;  // those that hold the criterion
};

// Of the object in this slot; empty when its DELETE would be allowed.
std::vector<Blocker> blockersOf(const cluster::Machine& machine, cluster::StateRef state, cluster::Slot slot,
                                const Names& names);

// Their texts in one sentence.
std::string joined(const std::vector<Blocker>& blockers);

}  // namespace lastout::scenarios

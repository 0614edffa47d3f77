// Blockers: who keeps lastout from allowing a DELETE in a state of the machine.
#pragma once

#include <string>
#include <vector>

#include "cluster/machine.h"

namespace lastout::scenarios {

struct Blockers {
  std::vector<std::string>
      causes;  // in admission::explain's words, each once; empty: the DELETE would be allowed
  std::vector<cluster::Slot> objects;  // those that hold the criteria
  bool none() const { return causes.empty(); }
  std::string sentence() const;  // "a exists, b exists and c exists"
};

Blockers blockersOf(const cluster::Machine& machine, cluster::StateRef state, cluster::Slot slot);

}  // namespace lastout::scenarios

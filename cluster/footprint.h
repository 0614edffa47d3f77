// Footprint: which parts of a state an action reads and writes, whatever the state is. The order of two
// independent actions does not matter, so that a proof need not explore both.
//
// A declaration may claim too much, never too little. It is written by hand; footprints_test
// (tests/properties/) notes what the machine really reads and writes, and compares.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/machine.h"
#include "cluster/state_parts.h"

namespace lastout::cluster {

// Parts of a state with their fields, in the order of the parts.
class PartSet {
 public:
  void add(const StatePart& part, Fields fields);
  // Returns the fields of the part that are in the set.
  Fields fieldsOf(const StatePart& part) const;
  // Returns true if one field is in both sets.
  bool overlaps(const PartSet& other) const;
  std::span<const PartFields> all() const { return parts_; }

 private:
  std::vector<PartFields> parts_;
};

struct Footprint {
  PartSet guard;        // decides whether the action may happen
  PartSet reads;        // decides what it does then
  PartSet writes;       // may be changed by it
  uint64_t events = 0;  // the bits that it may set in StateRef::monitors(): no action of the machine reads or
                        // clears one, but a scenario's step may wait for one (`after`)
};

// Returns the footprint of the action, which need not be possible in any state.
Footprint footprintOf(const Machine& machine, const Action& action);

// Returns true if neither of two actions writes what the other reads or writes. In a state where both may
// happen each may still happen after the other, and both orders lead to the same state. The order of watched
// events differs; where that matters, compare `events`, too.
bool areIndependent(const Footprint& one, const Footprint& other);

}  // namespace lastout::cluster

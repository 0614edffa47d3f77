// StateChanges: in what two states of a machine differ, and states that differ from one in a single part.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/footprint.h"

namespace lastout::testing {

class StateChanges {
 public:
  using Words = std::vector<uint64_t>;  // a state

  // Keeps a reference.
  explicit StateChanges(const cluster::Machine& machine) : machine_(machine), model_(machine.model()) {}

  // Which events have happened is no part of a state.
  cluster::PartSet between(Words& one, Words& other) const;
  // Of an object those that differ in one field, or in whether it is there.
  std::vector<Words> of(Words& words, const cluster::StatePart& part) const;

 private:
  std::vector<Words> ofObject(Words& words, cluster::Slot slot) const;
  cluster::StateRef view(Words& words) const { return {words.data(), machine_.layout()}; }

  const cluster::Machine& machine_;
  const cluster::Model& model_;
};

}  // namespace lastout::testing

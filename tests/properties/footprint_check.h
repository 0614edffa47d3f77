// FootprintCheck: what the actions of a machine declare (cluster/footprint.h), against what they do.
//
// Every read is noted (cluster/state_parts.h), by part; where an object was read whole, its undeclared fields
// are changed, and nothing may come of it. What is written is what differs afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cluster/footprint.h"
#include "tests/properties/dice.h"
#include "tests/properties/state_changes.h"

namespace lastout::testing {

class FootprintCheck {
 public:
  using Words = StateChanges::Words;
  // Takes something out of a footprint, to see that it is missed.
  using Omission = std::function<void(const cluster::Action&, cluster::Footprint&)>;

  // Keeps a reference. `omission`: nullptr where the footprints are checked as they are.
  FootprintCheck(const cluster::Machine& machine, uint64_t seed, Omission omission = nullptr);

  // Checks in so many states: all of them if there are no more, else some that random actions lead to.
  // Returns the first thing that is wrong; empty: nothing is.
  std::string run(uint32_t states);

  // How often each was looked at.
  const std::map<std::string, uint64_t>& counts() const { return counts_; }

 private:
  using Actions = std::vector<cluster::Action>;

  // A state, with what may happen in it.
  struct Visited {
    Words words;
    Actions enabled;
  };

  const cluster::Footprint& footprintOf(const cluster::Action& action);
  const cluster::PartSet& guardOf(cluster::ActionSubject subject);
  std::vector<cluster::ActionSubject> subjects() const;
  cluster::StateRef view(Words& words) const { return {words.data(), machine_.layout()}; }
  Visited visit(Words words) const;
  Visited after(const Visited& state, const cluster::Action& action) const;

  std::string checkState(const Visited& state);
  std::string checkGuards(Visited state, cluster::ActionSubject subject);
  std::string checkEffect(Visited state, const cluster::Action& action);
  std::string checkUnread(Visited& state, const cluster::Action& action, Visited& then,
                          const std::vector<cluster::PartFields>& read);
  std::string checkSuccessor(Visited state, const cluster::Action& action, Visited then);
  std::string checkOrder(const Visited& state, const cluster::Action& one, const cluster::Action& other);

  std::string name(const cluster::StatePart& part) const;
  std::string name(cluster::ActionSubject subject) const;
  std::string name(const cluster::Action& action) const;

  const cluster::Machine& machine_;
  const cluster::Model& model_;
  StateChanges changes_;
  Dice dice_;
  Omission omission_;
  std::map<std::vector<uint32_t>, cluster::Footprint> footprints_;  // by action
  std::map<cluster::ActionSubject, cluster::PartSet> guards_;       // of all actions of a subject
  std::map<std::string, uint64_t> counts_;
};

}  // namespace lastout::testing

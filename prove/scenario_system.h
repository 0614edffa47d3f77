// ScenarioSystem: the machine of one scenario as a System for the explorer. Internal to prove/.
#pragma once

#include <array>
#include <vector>

#include "cluster/machine.h"
#include "replay/compile.h"

namespace lastout::prove {

// The machine's monitor bits record which events happened. A state keeps only the bits that another event, a
// client's step or the goal has to come after; the others are checked when they are set, and then cleared, so
// that they cost no states. A property has the number of its event's bit; an unsafe commit has bit 63
// (cluster::kUnsafeBit).
class ScenarioSystem {
 public:
  using Action = cluster::Action;

  // Keeps references. Without `orders` the scenario's `before` and `never` are not looked at.
  ScenarioSystem(const cluster::Machine& machine, const replay::Compiled& compiled, bool orders = true);

  uint32_t words() const { return machine_.layout().words; }
  std::vector<uint64_t> initial() const { return machine_.initial(); }
  // Clients send their steps in any order, except those that wait for an event.
  void enabled(uint64_t* state, std::vector<Action>& actions) const {
    machine_.enabled(cluster::StateRef(state, machine_.layout()), actions);
    if (stepsWait_) dropWaitingSteps(state[0], actions);
  }
  uint64_t apply(const uint64_t* before, uint64_t* state, const Action& action) const {
    machine_.apply(cluster::StateRef(state, machine_.layout()), action, nullptr);
    const uint64_t happened = state[0] & ~before[0] & watched_;
    state[0] &= kept_;
    return happened == 0 ? 0 : violations(before, action, happened);
  }
  // The goal of the scenario is reached, and there is what it expects to exist.
  bool goal(const uint64_t* state) const;

  // The events (bits) that must have happened before this one, and had not in `before`.
  uint64_t missing(const uint64_t* before, uint32_t bit) const { return after_[bit] & ~before[0]; }

  // Returns the object that the action commits unsafely in this state; kNone: it commits none so.
  cluster::Slot unsafelyDeleted(const uint64_t* before, const Action& action) const;

 private:
  void dropWaitingSteps(uint64_t happened, std::vector<Action>& actions) const;
  uint64_t violations(const uint64_t* before, const Action& action, uint64_t happened) const;
  uint64_t tooEarly(const uint64_t* before, const Action& action) const;

  const cluster::Machine& machine_;
  const replay::Compiled& compiled_;
  bool stepsWait_ = false;
  uint64_t never_ = 0;
  uint64_t kept_ = 0;
  uint64_t watched_ = cluster::kUnsafeBit;
  std::array<uint64_t, 64> after_{};  // by event: those that it has to come after
};

}  // namespace lastout::prove

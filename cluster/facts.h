// StateFacts: decide()'s facts, read from a state of the machine.
#pragma once

#include <bit>

#include "admission/decide.h"
#include "cluster/state.h"

namespace lastout::cluster {

// Borrows both; cheap to make. Inside the machine everything is known that is understood: lastout's watches
// are not a part of it.
class StateFacts {
 public:
  StateFacts(const Model& model, StateRef state) : model_(&model), state_(state) {}

  bool servicesKnown() const { return true; }
  bool exists(uint32_t service) const {
    return state_.presence(model_->services[service]) != Presence::Absent;
  }
  criticalservice::DeletionIntent intent(uint32_t service) const {
    return static_cast<criticalservice::DeletionIntent>(state_.object(model_->services[service]).value);
  }
  criticalservice::EnforcementMode enforcement(uint32_t service) const {
    return model_->serviceSpecs[service].enforcement;
  }
  uint32_t holders(uint32_t condition) const {
    uint32_t count = 0;
    for (const ConditionHolder& holder : model_->conditions[condition]) {
      if (state_.presence(holder.slot) == Presence::Absent) continue;
      if (holder.mask == 0 || (state_.finalizers(holder.slot) & holder.mask) != 0) ++count;
    }
    return count;
  }
  bool awaitsOwned(uint32_t condition) const {
    const std::vector<ConditionHolder>& holders = model_->conditions[condition];
    if (holders.empty() || state_.presence(holders.front().slot) != Presence::Terminating) return false;
    return state_.finalizers(holders.front().slot) == kForegroundBit;
  }
  graph::Knowledge knowledge(uint32_t condition) const {
    return model_->isUnderstood[condition] ? graph::Knowledge::Synced : graph::Knowledge::NotUnderstood;
  }

 private:
  const Model* model_;
  StateRef state_;
};

}  // namespace lastout::cluster

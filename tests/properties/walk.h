// Walk: one random run of the machine, action by action, until nothing changes any more.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/machine.h"
#include "replay/random.h"

namespace lastout::testing {

class Walk {
 public:
  // Any enabled action is next, each as likely as the others; with half of the seeds, requests take their
  // time between verdict, confirming read and commit, so that more happens in between. Of the steps, those
  // with Step::after wait for that one to be sent, and those with Step::document 1 until nothing else changes
  // anything.
  Walk(const cluster::Machine& machine, uint64_t seed);

  // Performs one action; false when every enabled action has been tried since the last change, in vain.
  bool next();

  // Somebody writes into a status that a controller was denied the deletion of this object.
  void forge(cluster::Slot slot, cluster::PropagationPolicy policy);

  // Of the last action:
  const cluster::Action& action() const { return action_; }
  const cluster::Events& events() const { return events_; }
  cluster::StateRef before() const { return {before_.data(), machine_->layout()}; }
  cluster::StateRef after() const { return {words_.data(), machine_->layout()}; }
  bool changed() const { return changed_; }
  uint32_t count() const { return count_; }  // of actions so far

  const cluster::Machine& machine() const { return *machine_; }
  const std::vector<uint64_t>& words() const { return words_; }
  // What was enabled in the state that the last change led to.
  const std::vector<cluster::Action>& enabled() const { return enabled_; }
  // Slots whose objects the last action changed.
  const std::vector<cluster::Slot>& changedSlots() const { return changedSlots_; }

 private:
  void look();
  bool mayHappen(const cluster::Action& action) const;
  uint32_t choose();

  const cluster::Machine* machine_;
  replay::Random random_;
  bool slowRequests_;
  mutable std::vector<uint64_t> words_;
  mutable std::vector<uint64_t> before_;
  std::vector<cluster::Action> enabled_;
  std::vector<cluster::Action> untried_;  // of enabled_, since the last change
  std::vector<cluster::Slot> changedSlots_;
  cluster::Action action_;
  cluster::Events events_;
  bool changed_ = false;
  bool lastSteps_ = false;
  uint32_t count_ = 0;
};

}  // namespace lastout::testing

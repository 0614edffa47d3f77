#include "tests/properties/walk.h"

#include <algorithm>

namespace lastout::testing {

using cluster::Action;

Walk::Walk(const cluster::Machine& machine, uint64_t seed)
    : machine_(&machine),
      random_(seed),
      slowRequests_(seed % 2 == 1),
      words_(machine.initial()),
      before_(words_) {
  look();
}

bool Walk::mayHappen(const Action& action) const {
  if (action.kind != Action::Kind::Send) return true;
  const cluster::ClientStep& step = machine_->model().steps[action.a];
  if (step.document == 1 && !lastSteps_) return false;
  return step.after == cluster::kNone || after().step(step.after).sent;
}

void Walk::look() {
  enabled_.clear();
  machine_->enabled(after(), enabled_);
  untried_.clear();
  std::copy_if(enabled_.begin(), enabled_.end(), std::back_inserter(untried_),
               [&](const Action& action) { return mayHappen(action); });
}

uint32_t Walk::choose() {
  const auto count = static_cast<uint32_t>(untried_.size());
  uint32_t chosen = random_.below(count);
  for (int tries = slowRequests_ ? 8 : 0; tries > 0; --tries) {
    const Action::Kind kind = untried_[chosen].kind;
    if (kind != Action::Kind::Confirm && kind != Action::Kind::Commit) break;
    chosen = random_.below(count);
  }
  return chosen;
}

void Walk::forge(cluster::Slot slot, cluster::PropagationPolicy policy) {
  cluster::ObjectState object = after().object(slot);
  object.deferredDeletion = {policy, false};
  after().setObject(slot, object);
  look();
}

bool Walk::next() {
  if (untried_.empty() && !lastSteps_) {
    lastSteps_ = true;
    look();
  }
  if (untried_.empty()) return false;
  const uint32_t chosen = choose();
  action_ = untried_[chosen];
  untried_[chosen] = untried_.back();
  untried_.pop_back();
  before_ = words_;
  events_.clear();
  machine_->apply(after(), action_, &events_);
  ++count_;
  changed_ = before_ != words_;
  changedSlots_.clear();
  if (!changed_) return true;
  for (cluster::Slot slot = 0; slot < machine_->model().slots.size(); ++slot) {
    const size_t word = machine_->layout().objects + slot;
    if (before_[word] != words_[word]) changedSlots_.push_back(slot);
  }
  look();
  return true;
}

}  // namespace lastout::testing

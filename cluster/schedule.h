// Schedule: when an action that is possible happens. One rule for the runs of replay and for a live cluster,
// which differ in how they learn what is possible: all of it after each action, or of what changed alone.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "cluster/machine.h"

namespace lastout::cluster {

struct ScheduledAction {
  Action action;
  std::chrono::milliseconds due{0};  // in virtual time
  uint32_t attempt = 0;              // how often it was refused

  // For a change that isWokenBy() names: the action is due after its delay at the latest.
  void wake(std::chrono::milliseconds now, std::chrono::milliseconds delay) {
    due = std::min(due, now + delay);
  }
  // The action was tried and refused; `delay` is Machine::retryDelay() of the next attempt.
  void postpone(std::chrono::milliseconds now, std::chrono::milliseconds delay) {
    ++attempt;
    due = now + delay;
  }
};

// The order of what is due at the same time is that of the subjects, and then of Action::Kind, so that equal
// schedules are worked off equally.
inline bool isDueBefore(const ScheduledAction& one, const ScheduledAction& other) {
  if (one.due != other.due) return one.due < other.due;
  const ActionSubject subject = subjectOf(one.action);
  const ActionSubject otherSubject = subjectOf(other.action);
  if (subject != otherSubject) return subject < otherSubject;
  if (one.action.kind != other.action.kind) return one.action.kind < other.action.kind;
  return one.action.b < other.action.b;
}

}  // namespace lastout::cluster

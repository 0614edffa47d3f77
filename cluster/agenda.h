// Agenda: what may happen now and when each of it is due. Internal to cluster/.
//
// The rule, and the order, are those of cluster/schedule.h.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "cluster/schedule.h"

namespace lastout::cluster {

class Agenda {
 public:
  using Milliseconds = std::chrono::milliseconds;
  using Delay = std::function<Milliseconds(const Action&)>;

  struct Entry : ScheduledAction {
    uint64_t serial = 0;  // tells it from a later entry for an equal action
  };

  // What the subject may do now is `enabled`, nothing else. What was there keeps its time; what is new is due
  // after its delay. Call it only after a change of what the subject follows, which wakes it.
  void update(ActionSubject subject, const std::vector<Action>& enabled, Milliseconds now,
              const Delay& delay);
  // As ScheduledAction::postpone().
  void postpone(const Action& action, Milliseconds now, Milliseconds delay);
  // It was done; should it be possible still, it is new.
  void done(const Action& action);

  const Entry* first() const;                     // what is due first; nullptr: nothing ever is
  const Entry* find(const Action& action) const;  // nullptr: not possible now
  std::vector<Action> actions() const;            // sorted by subject

 private:
  using Entries = std::vector<Entry>;
  struct Earlier {
    bool operator()(const ScheduledAction& one, const ScheduledAction& other) const {
      return isDueBefore(one, other);
    }
  };
  static uint64_t numberOf(ActionSubject subject);
  Entry* findEntry(const Action& action);
  // Calls `change`, which changes when the entry is due.
  template <class Change>
  void reorder(const Entry& entry, const Change& change);

  std::unordered_map<uint64_t, Entries> entries_;  // by subject; none is empty
  std::set<ScheduledAction, Earlier> order_;
  uint64_t serials_ = 0;
};

}  // namespace lastout::cluster

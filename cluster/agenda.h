// Agenda: what may happen now and when each of it is due. Internal to cluster/.
//
// The times are virtual; the order is (due time, then subject, then kind of action), so that equal agendas
// are worked off equally.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "cluster/machine.h"

namespace lastout::cluster {

class Agenda {
 public:
  using Milliseconds = std::chrono::milliseconds;
  using Delay = std::function<Milliseconds(const Action&)>;

  struct Entry {
    Action action;
    Milliseconds due{0};
    uint32_t attempt = 0;  // how often it was refused
    uint64_t serial = 0;   // tells it from a later entry for an equal action
  };

  // What the subject may do now is `enabled`, nothing else. What was there keeps its time; what is new is due
  // after its delay. What isWokenByChange() is due after its delay at the latest.
  void update(ActionSubject subject, const std::vector<Action>& enabled, Milliseconds now,
              const Delay& delay);
  // It was tried and refused: counts, and is due again then.
  void refused(const Action& action, Milliseconds due);
  // It was done; should it be possible still, it is new.
  void done(const Action& action);

  const Entry* first() const;                     // what is due first; nullptr: nothing ever is
  const Entry* find(const Action& action) const;  // nullptr: not possible now
  std::vector<Action> actions() const;            // sorted by subject

 private:
  using Entries = std::vector<Entry>;
  using Place = std::tuple<Milliseconds, ActionSubject, Action::Kind, uint32_t>;
  static Place placeOf(const Entry& entry);
  static uint64_t numberOf(ActionSubject subject);
  Entry* findEntry(const Action& action);
  void setDue(Entry& entry, Milliseconds due);

  std::unordered_map<uint64_t, Entries> entries_;  // by subject; none is empty
  std::set<Place> order_;
  uint64_t serials_ = 0;
};

}  // namespace lastout::cluster

#include "cluster/agenda.h"

#include <algorithm>

namespace lastout::cluster {

namespace {

bool lists(const std::vector<Action>& actions, const Action& wanted) {
  return std::find(actions.begin(), actions.end(), wanted) != actions.end();
}

}  // namespace

uint64_t Agenda::numberOf(ActionSubject subject) {
  return (static_cast<uint64_t>(subject.kind) << 32) | subject.number;
}

Agenda::Entry* Agenda::findEntry(const Action& action) {
  const auto found = entries_.find(numberOf(subjectOf(action)));
  if (found == entries_.end()) return nullptr;
  const auto entry = std::find_if(found->second.begin(), found->second.end(),
                                  [&](const Entry& one) { return one.action == action; });
  return entry == found->second.end() ? nullptr : &*entry;
}

const Agenda::Entry* Agenda::find(const Action& action) const {
  return const_cast<Agenda*>(this)->findEntry(action);  // which changes nothing
}

template <class Change>
void Agenda::reorder(const Entry& entry, const Change& change) {
  order_.erase(entry);
  change();
  order_.insert(entry);
}

void Agenda::update(ActionSubject subject, const std::vector<Action>& enabled, Milliseconds now,
                    const Delay& delay) {
  const auto known = entries_.find(numberOf(subject));
  if (known == entries_.end() && enabled.empty()) return;
  Entries& entries = known == entries_.end() ? entries_[numberOf(subject)] : known->second;
  std::erase_if(entries, [&](const Entry& entry) {
    const bool isOver = !lists(enabled, entry.action);
    if (isOver) order_.erase(entry);
    return isOver;
  });
  for (const Action& action : enabled) {
    if (Entry* entry = findEntry(action); entry == nullptr) {
      entries.push_back({{.action = action, .due = now + delay(action)}, ++serials_});
      order_.insert(entries.back());
    } else if (isWokenByChange(action)) {
      reorder(*entry, [&] { entry->wake(now, delay(action)); });
    }
  }
  if (entries.empty()) entries_.erase(numberOf(subject));
}

void Agenda::postpone(const Action& action, Milliseconds now, Milliseconds delay) {
  Entry* entry = findEntry(action);
  if (entry == nullptr) return;
  reorder(*entry, [&] { entry->postpone(now, delay); });
}

void Agenda::done(const Action& action) {
  const auto found = entries_.find(numberOf(subjectOf(action)));
  if (found == entries_.end()) return;
  std::erase_if(found->second, [&](const Entry& entry) {
    const bool isIt = entry.action == action;
    if (isIt) order_.erase(entry);
    return isIt;
  });
  if (found->second.empty()) entries_.erase(found);
}

const Agenda::Entry* Agenda::first() const { return order_.empty() ? nullptr : find(order_.begin()->action); }

std::vector<Action> Agenda::actions() const {
  std::vector<Action> result;
  result.reserve(order_.size());
  for (const ScheduledAction& scheduled : order_) result.push_back(scheduled.action);
  std::sort(result.begin(), result.end(), [](const Action& a, const Action& b) {
    return std::tuple(subjectOf(a), a.kind, a.b) < std::tuple(subjectOf(b), b.kind, b.b);
  });
  return result;
}

}  // namespace lastout::cluster

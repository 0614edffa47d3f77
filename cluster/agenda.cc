#include "cluster/agenda.h"

#include <algorithm>

namespace lastout::cluster {

namespace {

bool lists(const std::vector<Action>& actions, const Action& wanted) {
  return std::find(actions.begin(), actions.end(), wanted) != actions.end();
}

}  // namespace

Agenda::Place Agenda::placeOf(const Entry& entry) {
  return {entry.due, subjectOf(entry.action), entry.action.kind, entry.action.b};
}

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

void Agenda::setDue(Entry& entry, Milliseconds due) {
  order_.erase(placeOf(entry));
  entry.due = due;
  order_.insert(placeOf(entry));
}

void Agenda::update(ActionSubject subject, const std::vector<Action>& enabled, Milliseconds now,
                    const Delay& delay) {
  const auto known = entries_.find(numberOf(subject));
  if (known == entries_.end() && enabled.empty()) return;
  Entries& entries = known == entries_.end() ? entries_[numberOf(subject)] : known->second;
  std::erase_if(entries, [&](const Entry& entry) {
    const bool isOver = !lists(enabled, entry.action);
    if (isOver) order_.erase(placeOf(entry));
    return isOver;
  });
  for (const Action& action : enabled) {
    if (Entry* entry = findEntry(action); entry == nullptr) {
      entries.push_back({.action = action, .due = now + delay(action), .attempt = 0, .serial = ++serials_});
      order_.insert(placeOf(entries.back()));
    } else if (isWokenByChange(action)) {
      setDue(*entry, std::min(entry->due, now + delay(action)));
    }
  }
  if (entries.empty()) entries_.erase(numberOf(subject));
}

void Agenda::refused(const Action& action, Milliseconds due) {
  Entry* entry = findEntry(action);
  if (entry == nullptr) return;
  ++entry->attempt;
  setDue(*entry, due);
}

void Agenda::done(const Action& action) {
  const auto found = entries_.find(numberOf(subjectOf(action)));
  if (found == entries_.end()) return;
  std::erase_if(found->second, [&](const Entry& entry) {
    const bool isIt = entry.action == action;
    if (isIt) order_.erase(placeOf(entry));
    return isIt;
  });
  if (found->second.empty()) entries_.erase(found);
}

const Agenda::Entry* Agenda::first() const {
  if (order_.empty()) return nullptr;
  const auto& [due, subject, kind, b] = *order_.begin();
  const Entries& entries = entries_.find(numberOf(subject))->second;
  return &*std::find_if(entries.begin(), entries.end(), [k = kind, n = b](const Entry& entry) {
    return entry.action.kind == k && entry.action.b == n;
  });
}

std::vector<Action> Agenda::actions() const {
  std::vector<Action> result;
  for (const Place& place : order_) {
    const Entries& entries = entries_.find(numberOf(std::get<ActionSubject>(place)))->second;
    for (const Entry& entry : entries) {
      if (placeOf(entry) == place) result.push_back(entry.action);
    }
  }
  std::sort(result.begin(), result.end(), [](const Action& a, const Action& b) {
    return std::tuple(subjectOf(a), a.kind, a.b) < std::tuple(subjectOf(b), b.kind, b.b);
  });
  return result;
}

}  // namespace lastout::cluster

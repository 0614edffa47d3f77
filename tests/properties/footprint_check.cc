#include "tests/properties/footprint_check.h"

#include <algorithm>
#include <set>
#include <utility>

#include "tests/properties/coverage.h"

namespace lastout::testing {

using cluster::Action;
using cluster::ActionSubject;
using cluster::Actor;
using cluster::Fields;
using cluster::Footprint;
using cluster::PartFields;
using cluster::PartSet;
using cluster::Slot;
using cluster::StatePart;

namespace {

using Kind = Action::Kind;
using PartKind = StatePart::Kind;

// Notes what is read while it lives.
class Reads {
 public:
  Reads() { cluster::notedReads = &read_; }
  ~Reads() { cluster::notedReads = nullptr; }
  Reads(const Reads&) = delete;
  Reads& operator=(const Reads&) = delete;

  // Ends the notes: each part once, with the fields that were asked for by name.
  std::vector<PartFields> take() {
    cluster::notedReads = nullptr;
    std::map<StatePart, Fields> parts;
    for (const PartFields& one : read_) parts[one.part] |= one.fields;
    std::vector<PartFields> all;
    all.reserve(parts.size());
    for (const auto& [part, fields] : parts) all.push_back({part, fields});
    return all;
  }

 private:
  std::vector<PartFields> read_;
};

// Every action that can be of the subject.
std::vector<Action> actionsOf(const cluster::Model& model, ActionSubject subject) {
  const uint32_t number = subject.number;
  std::vector<Action> actions;
  const auto add = [&](Kind kind, Actor actor, uint32_t b = 0) {
    actions.push_back({kind, actor, number, b});
  };
  const auto addFlight = [&](Actor actor) {
    add(Kind::Confirm, actor);
    add(Kind::Commit, actor);
  };
  if (subject.kind == ActionSubject::Kind::Step) {
    add(Kind::Send, Actor::Client);
    addFlight(Actor::Client);
    return actions;
  }
  if (subject.kind == ActionSubject::Kind::Work) {
    add(Kind::AgentStep, Actor::Agent);
    addFlight(Actor::Agent);
    return actions;
  }
  for (const Actor actor : {Actor::Collector, Actor::Lifecycle, Actor::Lastout}) addFlight(actor);
  for (auto kind = Kind::CollectorDelete; kind < Kind::Finalize;
       kind = static_cast<Kind>(static_cast<uint8_t>(kind) + 1))
    add(kind, Actor::Lastout);  // by whom matters to a DELETE alone, and not to whether it may be sent
  for (const cluster::Removal& removal : model.slots[number].removals)
    add(Kind::Finalize, Actor::Finalizers, removal.controller);
  return actions;
}

bool lists(const std::vector<Action>& actions, const Action& action) {
  return std::ranges::find(actions, action) != actions.end();
}

// What one lists and the other does not.
std::vector<Action> comingsAndGoings(const std::vector<Action>& one, const std::vector<Action>& other) {
  std::vector<Action> actions;
  std::ranges::copy_if(one, std::back_inserter(actions), [&](const Action& a) { return !lists(other, a); });
  std::ranges::copy_if(other, std::back_inserter(actions), [&](const Action& a) { return !lists(one, a); });
  return actions;
}

}  // namespace

FootprintCheck::FootprintCheck(const cluster::Machine& machine, uint64_t seed, Omission omission)
    : machine_(machine),
      model_(machine.model()),
      changes_(machine),
      dice_(seed),
      omission_(std::move(omission)) {}

// --- what is declared

const Footprint& FootprintCheck::footprintOf(const Action& action) {
  const std::vector<uint32_t> key{static_cast<uint32_t>(action.kind), static_cast<uint32_t>(action.actor),
                                  action.a, action.b};
  const auto found = footprints_.find(key);
  if (found != footprints_.end()) return found->second;
  Footprint footprint = cluster::footprintOf(machine_, action);
  if (omission_) omission_(action, footprint);
  return footprints_.emplace(key, std::move(footprint)).first->second;
}

const PartSet& FootprintCheck::guardOf(ActionSubject subject) {
  const auto [found, isNew] = guards_.try_emplace(subject);
  if (!isNew) return found->second;
  for (const Action& action : actionsOf(model_, subject))
    for (const PartFields& one : footprintOf(action).guard.all()) found->second.add(one.part, one.fields);
  return found->second;
}

std::vector<ActionSubject> FootprintCheck::subjects() const {
  std::vector<ActionSubject> subjects;
  const auto add = [&](ActionSubject::Kind kind, size_t count) {
    for (uint32_t number = 0; number < count; ++number) subjects.push_back({kind, number});
  };
  add(ActionSubject::Kind::Step, model_.steps.size());
  add(ActionSubject::Kind::Work, model_.works.size());
  add(ActionSubject::Kind::Object, model_.slots.size());
  return subjects;
}

// --- states

FootprintCheck::Visited FootprintCheck::visit(Words words) const {
  Visited visited{.words = std::move(words), .enabled = {}};
  machine_.enabled(view(visited.words), visited.enabled);
  return visited;
}

FootprintCheck::Visited FootprintCheck::after(const Visited& state, const Action& action) const {
  Words words = state.words;
  machine_.apply(view(words), action, nullptr);
  return visit(std::move(words));
}

// --- the checks

std::string FootprintCheck::run(uint32_t states) {
  std::set<Words> known;
  std::vector<Words> open{machine_.initial()};
  known.insert(open.front());
  for (uint32_t count = 0; count < states && !open.empty(); ++count) {
    std::swap(open[dice_.below(static_cast<uint32_t>(open.size()))], open.back());
    Words words = std::move(open.back());
    open.pop_back();
    const Visited state = visit(std::move(words));
    ++counts_["states"];
    if (std::string failure = checkState(state); !failure.empty()) return failure;
    for (const Action& action : state.enabled) {
      Words next = state.words;
      machine_.apply(view(next), action, nullptr);
      next[0] = 0;  // which events have happened: no action asks for that
      if (known.insert(next).second) open.push_back(std::move(next));
    }
  }
  return {};
}

std::string FootprintCheck::checkState(const Visited& state) {
  for (const ActionSubject subject : subjects())
    if (std::string failure = checkGuards(state, subject); !failure.empty()) return failure;
  for (const Action& action : state.enabled)
    if (std::string failure = checkEffect(state, action); !failure.empty()) return failure;
  constexpr uint32_t kPairs = 60;
  for (uint32_t i = 0; i < kPairs && state.enabled.size() > 1; ++i) {
    const Action& one = state.enabled[dice_.below(static_cast<uint32_t>(state.enabled.size()))];
    const Action& other = state.enabled[dice_.below(static_cast<uint32_t>(state.enabled.size()))];
    if (one == other) continue;
    if (std::string failure = checkOrder(state, one, other); !failure.empty()) return failure;
  }
  return {};
}

// What the machine reads to list the actions of a subject is declared as their guards; and what is changed of
// that makes no other action possible, or impossible, than those whose guards have it.
std::string FootprintCheck::checkGuards(Visited state, ActionSubject subject) {
  const PartSet& declared = guardOf(subject);
  Actions enabled;
  Reads reads;
  machine_.enabledFor(view(state.words), subject, enabled);
  const std::vector<PartFields> read = reads.take();
  for (const PartFields& one : read) {
    const Fields fields = declared.fieldsOf(one.part);
    if (fields == 0 || (one.fields & ~fields) != 0)
      return "listing the actions of " + name(subject) + " reads " + name(one.part) + ", fields " +
             std::to_string(one.fields) + ", which no guard of them declares";
  }
  constexpr uint32_t kOneIn = 8;  // changing everything takes long
  if (!dice_.oneIn(kOneIn)) return {};
  for (const PartFields& one : read) {
    for (Words& other : changes_.of(state.words, one.part)) {
      ++counts_["guards, changed"];
      Actions then;
      machine_.enabledFor(view(other), subject, then);
      const std::vector<Action> affected = comingsAndGoings(enabled, then);
      if (affected.empty()) continue;
      const PartSet difference = changes_.between(state.words, other);
      for (const Action& action : affected)
        if (!difference.overlaps(footprintOf(action).guard))
          return name(action) + ": its guard does not declare fields " +
                 std::to_string(difference.fieldsOf(one.part)) + " of " + name(one.part) +
                 ", and goes by them";
    }
  }
  return {};
}

std::string FootprintCheck::checkEffect(Visited state, const Action& action) {
  const Footprint& declared = footprintOf(action);
  ++counts_[kindOf(action)];
  Visited then{.words = state.words, .enabled = {}};
  Reads reads;
  machine_.apply(view(then.words), action, nullptr);
  const std::vector<PartFields> read = reads.take();
  for (const PartFields& one : read) {
    const Fields fields = declared.guard.fieldsOf(one.part) | declared.reads.fieldsOf(one.part);
    if (fields == 0 || (one.fields & ~fields) != 0)
      return name(action) + " reads " + name(one.part) + ", fields " + std::to_string(one.fields) +
             ", which it does not declare";
  }
  const PartSet written = changes_.between(state.words, then.words);
  for (const PartFields& one : written.all())
    if ((one.fields & ~declared.writes.fieldsOf(one.part)) != 0)
      return name(action) + " writes " + name(one.part) + ", fields " + std::to_string(one.fields) +
             ", which it does not declare";
  if ((then.words[0] & ~state.words[0] & ~declared.events) != 0)
    return name(action) + " has an event that it does not declare";
  if (std::string failure = checkUnread(state, action, then, read); !failure.empty()) return failure;
  machine_.enabled(view(then.words), then.enabled);
  return checkSuccessor(std::move(state), action, std::move(then));
}

// Of an object that was read as a whole, the fields that the action does not declare are changed: it does the
// same, and leaves them as they are.
std::string FootprintCheck::checkUnread(Visited& state, const Action& action, Visited& then,
                                        const std::vector<PartFields>& read) {
  const Footprint& declared = footprintOf(action);
  constexpr uint32_t kOneIn = 4;  // as above
  if (!dice_.oneIn(kOneIn)) return {};
  for (const PartFields& one : read) {
    if (one.part.kind != PartKind::Object) continue;
    for (Words& other : changes_.of(state.words, one.part)) {
      const PartSet difference = changes_.between(state.words, other);
      if (difference.overlaps(declared.guard) || difference.overlaps(declared.reads)) continue;
      ++counts_["fields, changed"];
      Words result = other;
      machine_.apply(view(result), action, nullptr);
      const PartSet changedResult = changes_.between(then.words, result);
      if (!std::ranges::equal(changedResult.all(), difference.all()))
        return name(action) + " goes by fields " + std::to_string(difference.fieldsOf(one.part)) + " of " +
               name(one.part) + ", which it does not declare";
    }
  }
  return {};
}

// An action that is possible after this one and was not, or the other way round, has a guard that declares
// something which has changed.
std::string FootprintCheck::checkSuccessor(Visited state, const Action& action, Visited then) {
  const std::vector<Action> affected = comingsAndGoings(state.enabled, then.enabled);
  const PartSet difference = changes_.between(state.words, then.words);
  for (const Action& one : affected)
    if (!difference.overlaps(footprintOf(one).guard))
      return name(action) + " makes possible or impossible: " + name(one) +
             ", whose guard declares nothing of what it changed";
  return {};
}

// Two independent actions: none makes the other impossible, and their order does not matter.
std::string FootprintCheck::checkOrder(const Visited& state, const Action& one, const Action& other) {
  if (!cluster::areIndependent(footprintOf(one), footprintOf(other))) {
    ++counts_["pairs, dependent"];
    return {};
  }
  ++counts_["pairs, independent"];
  const Visited afterOne = after(state, one);
  const Visited afterOther = after(state, other);
  const std::string both = name(one) + " and " + name(other) + " declare that they are independent, and ";
  if (!lists(afterOne.enabled, other) || !lists(afterOther.enabled, one))
    return both + "one makes the other impossible";
  if (after(afterOne, other).words != after(afterOther, one).words) return both + "their order matters";
  return {};
}

// --- words

std::string FootprintCheck::name(const StatePart& part) const {
  const std::string number = std::to_string(part.number);
  switch (part.kind) {
    case PartKind::Object:
      return model_.name(part.number);
    case PartKind::Work:
      return "work " + number;
    case PartKind::Step:
      return "step " + number + " (" + model_.name(model_.steps[part.number].object) + ")";
    case PartKind::Link:
      return "link " + number + " (" + model_.name(model_.links[part.number].object) + ")";
  }
  return number;
}

std::string FootprintCheck::name(ActionSubject subject) const {
  const PartKind kind = subject.kind == ActionSubject::Kind::Step   ? PartKind::Step
                        : subject.kind == ActionSubject::Kind::Work ? PartKind::Work
                                                                    : PartKind::Object;
  return name(StatePart{kind, subject.number});
}

std::string FootprintCheck::name(const Action& action) const {
  return kindOf(action) + " of " + name(cluster::subjectOf(action));
}

}  // namespace lastout::testing

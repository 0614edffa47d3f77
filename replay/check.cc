#include "replay/check.h"

#include <algorithm>

#include "replay/goal.h"
#include "replay/stuck.h"

namespace lastout::replay {

namespace {

using cluster::Slot;
using Kind = Expectation::Kind;

// Whether both happened in the wanted order, or the second did not happen.
bool keepsOrder(const BeforePair& pair, const Run& run) {
  const First& second = run.first(pair.second.slot, pair.second.kind);
  if (!second.happened()) return true;
  const First& first = run.first(pair.first.slot, pair.first.kind);
  return first.happened() && first.sequence < second.sequence;
}

bool isPresent(const Run& run, const Compiled& compiled, Slot slot) {
  const cluster::Layout layout(compiled.model);
  auto words = run.state;
  return cluster::StateRef(words.data(), layout).presence(slot) != cluster::Presence::Absent;
}

}  // namespace

Checker::Checker(const Scenario& scenario, const Compiled& compiled, const Names& names)
    : scenario_(scenario), compiled_(compiled), names_(names) {
  const Expectations& expect = scenario.expect;
  const auto eventText = [&](const WatchedEvent& event) {
    return names_.of(event.slot) + " " + std::string(word(event.kind));
  };
  if (scenario.guard) add(Kind::Safe, 0, "nothing guarded is deleted before its criteria hold");
  if (expect.ends == Ending::Empty) add(Kind::Ends, 0, "ends empty");
  if (expect.ends == Ending::Stuck) add(Kind::Ends, 0, "ends stuck");
  for (size_t i = 0; i < expect.stuck.size(); ++i)
    add(Kind::Stuck, i, expect.stuck[i].text + " is still there at the end");
  for (size_t i = 0; i < compiled.before.size(); ++i)
    add(Kind::Before, i,
        eventText(compiled.before[i].first) + " before " + eventText(compiled.before[i].second));
  for (size_t i = 0; i < expect.denied.size(); ++i)
    add(Kind::Denied, i, expect.denied[i].text + " is denied");
  for (size_t i = 0; i < expect.never.size(); ++i) add(Kind::Never, i, "never " + expect.never[i].text);
  for (size_t i = 0; i < expect.exists.size(); ++i)
    add(Kind::Exists, i, expect.exists[i].text + " exists at the end");
  if (expect.within) add(Kind::Within, 0, "done within " + seconds(*expect.within));
}

void Checker::add(Kind kind, size_t index, std::string text) {
  Expectation::Scope scope = Expectation::Scope::Every;
  if (kind == Kind::Denied) scope = Expectation::Scope::Some;
  if (kind != Kind::Safe && scenario_.expect.ends == Ending::Stuck) scope = Expectation::Scope::Together;
  expectations_.push_back({kind, scope, static_cast<uint32_t>(index), std::move(text)});
}

bool Checker::holds(const Expectation& expectation, const Run& run) const {
  switch (expectation.kind) {
    case Kind::Safe:
      return !run.unsafe;
    case Kind::Ends:
      return run.end == (scenario_.expect.ends == Ending::Stuck ? End::Stuck : End::Empty);
    case Kind::Stuck: {
      const std::vector<Slot>& slots = compiled_.stuck[expectation.index];
      return run.end == End::Stuck && std::any_of(slots.begin(), slots.end(),
                                                  [&](Slot slot) { return isPresent(run, compiled_, slot); });
    }
    case Kind::Before:
      return keepsOrder(compiled_.before[expectation.index], run);
    case Kind::Never:
      return std::none_of(compiled_.never.begin(), compiled_.never.end(), [&](const WatchedEvent& event) {
        return event.written == expectation.index && run.first(event.slot, event.kind).happened();
      });
    case Kind::Denied: {
      const std::vector<Slot>& slots = compiled_.denied[expectation.index];
      return std::any_of(slots.begin(), slots.end(),
                         [&](Slot slot) { return run.first(slot, cluster::EventKind::Denied).happened(); });
    }
    case Kind::Exists: {
      const cluster::Layout layout(compiled_.model);
      auto words = run.state;
      return run.end != End::Undecided &&
             exists(compiled_, cluster::StateRef(words.data(), layout), expectation.index);
    }
    case Kind::Within:
      return run.options.order == Order::Random || (run.goalAt && *run.goalAt <= *scenario_.expect.within);
  }
  return false;
}

std::string Checker::ending(const Run& run) const {
  switch (run.end) {
    case End::Empty:
      return "it ended empty at " + seconds(run.goalAt.value_or(run.time));
    case End::Stuck: {
      const std::vector<Slot> left = leftOfGoal(compiled_, run.state);
      const std::string then = "nothing changed any more after " + seconds(run.time) + ", and ";
      if (left.empty()) return then + unsent(compiled_, names_, run.state).front().object + " was never sent";
      return then + names_.list(left) + (left.size() == 1 ? " was" : " were") + " still there";
    }
    case End::Undecided:
      return "it was still changing after " + seconds(run.time) + " and " + std::to_string(run.actions) +
             " actions, and was given up";
  }
  return {};
}

// Of what is expected to exist, and does not.
std::string Checker::whyGone(const std::vector<Slot>& slots, const Run& run) const {
  for (const Slot slot : slots) {
    if (isPresent(run, compiled_, slot)) return names_.of(slot) + " is being deleted";
    if (const First& gone = run.first(slot, cluster::EventKind::Gone); gone.happened())
      return names_.of(slot) + " was gone at " + seconds(std::chrono::milliseconds(gone.at)) +
             ", and nothing has created it again";
  }
  return "nothing has created it";
}

std::string Checker::whyNot(const Expectation& expectation, const Run& run) const {
  switch (expectation.kind) {
    case Kind::Safe:
      return "a deletion was committed although the criteria did not hold when it was confirmed";
    case Kind::Ends:
      return ending(run);
    case Kind::Stuck:
      return run.end == End::Stuck ? "it is gone" : ending(run);
    case Kind::Before: {
      const BeforePair& pair = compiled_.before[expectation.index];
      const First& first = run.first(pair.first.slot, pair.first.kind);
      const First& second = run.first(pair.second.slot, pair.second.kind);
      return names_.of(pair.second.slot) + " was " + std::string(word(pair.second.kind)) + " at " +
             seconds(std::chrono::milliseconds(second.at)) + ", " + names_.of(pair.first.slot) +
             (first.happened() ? " only at " + seconds(std::chrono::milliseconds(first.at)) : " never was");
    }
    case Kind::Never:
      for (const WatchedEvent& event : compiled_.never) {
        const First& first = run.first(event.slot, event.kind);
        if (event.written == expectation.index && first.happened())
          return names_.of(event.slot) + " was " + std::string(word(event.kind)) + " at " +
                 seconds(std::chrono::milliseconds(first.at));
      }
      return {};
    case Kind::Denied:
      return "nothing denied it";
    case Kind::Exists:
      return run.end == End::Undecided ? ending(run) : whyGone(compiled_.exists[expectation.index], run);
    case Kind::Within:
      return run.goalAt ? "it was done at " + seconds(*run.goalAt) : ending(run);
  }
  return {};
}

std::string_view word(cluster::EventKind kind) {
  switch (kind) {
    case cluster::EventKind::Requested:
      return "requested";
    case cluster::EventKind::Denied:
      return "denied";
    case cluster::EventKind::Accepted:
      return "accepted";
    case cluster::EventKind::Gone:
      return "gone";
    case cluster::EventKind::Created:
      return "created";
    case cluster::EventKind::Changed:
      return "changed";
  }
  return {};
}

}  // namespace lastout::replay

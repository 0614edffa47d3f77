#include "prove/scenario_system.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "replay/goal.h"

namespace lastout::prove {

ScenarioSystem::ScenarioSystem(const cluster::Machine& machine, const replay::Compiled& compiled, bool orders)
    : machine_(machine), compiled_(compiled) {
  for (const replay::WatchedEvent& event : compiled.sendAfter) {
    if (event.slot == cluster::kNone) continue;
    stepsWait_ = true;
    kept_ |= uint64_t{1} << event.bit;
  }
  for (const replay::WatchedEvent& event : compiled.replaced) kept_ |= uint64_t{1} << event.bit;
  if (!orders) return;
  for (const replay::BeforePair& pair : compiled.before) {
    kept_ |= uint64_t{1} << pair.first.bit;
    watched_ |= uint64_t{1} << pair.second.bit;
    after_[pair.second.bit] |= uint64_t{1} << pair.first.bit;
  }
  never_ = compiled.neverBits;
  watched_ |= never_;
}

void ScenarioSystem::dropWaitingSteps(uint64_t happened, std::vector<Action>& actions) const {
  std::erase_if(actions, [&](const Action& action) {
    if (action.kind != Action::Kind::Send) return false;
    const replay::WatchedEvent& event = compiled_.sendAfter[action.a];
    return event.slot != cluster::kNone && (happened >> event.bit & 1) == 0;
  });
}

bool ScenarioSystem::goal(const uint64_t* state) const {
  // A StateRef can write too; this one only reads.
  const cluster::StateRef view(const_cast<uint64_t*>(state), machine_.layout());
  return replay::goalHolds(compiled_, view) && (!compiled_.mustExist || replay::allExist(compiled_, view));
}

cluster::Slot ScenarioSystem::unsafelyDeleted(const uint64_t* before, const Action& action) const {
  std::vector<uint64_t> words(before, before + machine_.layout().words);
  cluster::Events events;
  machine_.apply(cluster::StateRef(words.data(), machine_.layout()), action, &events);
  if ((words[0] & ~before[0] & cluster::kUnsafeBit) == 0) return cluster::kNone;
  const auto isCommit = [this](const cluster::ClusterEvent& event) {
    return event.kind != cluster::EventKind::Requested && machine_.isNamed(event.slot);
  };
  const auto commit = std::ranges::find_if(events, isCommit);
  return commit == events.end() ? cluster::kNone : commit->slot;
}

uint64_t ScenarioSystem::violations(const uint64_t* before, const Action& action, uint64_t happened) const {
  uint64_t violated = happened & (never_ | cluster::kUnsafeBit);
  uint64_t early = 0;
  for (uint64_t rest = happened & ~cluster::kUnsafeBit; rest != 0; rest &= rest - 1) {
    if (missing(before, static_cast<uint32_t>(std::countr_zero(rest))) != 0) {
      early |= rest & -rest;
    }
  }
  // What was missing may have happened in the same action, just before.
  return early == 0 ? violated : violated | (early & tooEarly(before, action));
}

uint64_t ScenarioSystem::tooEarly(const uint64_t* before, const Action& action) const {
  std::vector<uint64_t> words(before, before + machine_.layout().words);
  cluster::Events events;
  machine_.apply(cluster::StateRef(words.data(), machine_.layout()), action, &events);
  uint64_t happened = before[0];
  uint64_t early = 0;
  for (const cluster::ClusterEvent& event : events) {
    const uint8_t monitor = compiled_.model.slots[event.slot].monitors[static_cast<size_t>(event.kind)];
    const uint64_t bit = monitor == 0 ? 0 : uint64_t{1} << (monitor - 1);
    if ((bit & words[0] & ~happened) == 0) {
      continue;  // not watched, not counted by the machine, or not for the first time
    }
    if ((after_[monitor - 1] & ~happened) != 0) {
      early |= bit;
    }
    happened |= bit;
  }
  return early;
}

}  // namespace lastout::prove

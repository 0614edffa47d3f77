#include "replay/final_state.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace lastout::replay {

using cluster::Action;
using cluster::Slot;

FinalState::FinalState(const cluster::Machine& machine, const Names& names, std::vector<uint64_t> words,
                       std::span<const Happening> log)
    : model_(machine.model()),
      names_(names),
      words_(std::move(words)),
      state_(words_.data(), machine.layout()),
      cluster_(machine, state_, nullptr),
      log_(log) {
  machine.enabled(state_, enabled_);
}

std::vector<Slot> FinalState::presentOf(const std::vector<Slot>& slots) const {
  std::vector<Slot> result;
  std::copy_if(slots.begin(), slots.end(), std::back_inserter(result),
               [&](Slot slot) { return cluster_.isPresent(slot); });
  return result;
}

std::vector<Slot> FinalState::liveOwnersOf(Slot slot) const {
  std::vector<Slot> owners;
  const cluster::ObjectState object = state_.object(slot);
  for (size_t i = 0; i < model_.slots[slot].owners.size(); ++i) {
    const Slot owner = model_.slots[slot].owners[i].owner;
    if (object.owner(i) == cluster::OwnerState::Current && cluster_.isLive(owner)) owners.push_back(owner);
  }
  return owners;
}

std::vector<Slot> FinalState::blockingDependents(Slot slot) const {
  std::vector<Slot> result;
  for (const Slot dependent : model_.slots[slot].dependents) {
    const std::vector<cluster::OwnerLink>& owners = model_.slots[dependent].owners;
    for (size_t i = 0; i < owners.size(); ++i) {
      const cluster::ObjectState object = state_.object(dependent);
      const bool means = object.owner(i) == cluster::OwnerState::Current && !object.isUnblocked(i);
      if (owners[i].owner == slot && owners[i].blockOwnerDeletion && means) result.push_back(dependent);
    }
  }
  return result;
}

std::vector<Slot> FinalState::recorded(uint32_t number) const {
  std::vector<Slot> result;
  const cluster::Work& work = model_.works[number];
  for (uint32_t link = work.firstLink; link < work.firstLink + work.linkCount; ++link) {
    if (state_.link(link).recorded) result.push_back(model_.links[link].object);
  }
  return result;
}

Slot FinalState::firstAbsent(const std::vector<Slot>& slots) const {
  const auto found = std::ranges::find_if(slots, [this](Slot slot) { return !cluster_.isPresent(slot); });
  return found == slots.end() ? cluster::kNone : *found;
}

DeadCalls FinalState::whyNotStarted(Slot slot) const {
  if (!cluster_.isPresent(slot)) return {};
  const cluster::SlotInfo& info = model_.slots[slot];
  const Slot missing = firstAbsent(info.startsWith);
  if (missing != cluster::kNone)
    return {.sentence = ", which cannot start without " + names_.of(missing), .configurations = {}};
  if (info.kind == cluster::SlotKind::Pod)
    return refused(slot, &cluster::Interception::onStart,
                   ", because the API server refuses to let " + names_.of(slot) + " start: ");
  if (info.kind == cluster::SlotKind::CronJob && state_.object(slot).value == 0)
    return {.sentence = ", because it is suspended", .configurations = {}};
  const size_t wanted = info.kind == cluster::SlotKind::Deployment ? 1 : state_.object(slot).value;
  for (size_t i = 0; i < info.children.size(); ++i) {
    const Slot child = info.children[i];
    DeadCalls why = whyNotStarted(child);
    if (!cluster_.isPresent(child) && i < wanted) why = whyNotCreated(child);
    if (!why.sentence.empty()) return why;
  }
  return {};
}

DeadCalls FinalState::whyNotCreated(Slot child) const {
  for (const Slot claim : model_.slots[child].claims) {
    if (cluster_.isTerminating(claim))
      return {.sentence = ", whose Pods get no Node while " + names_.of(claim) + " terminates",
              .configurations = {}};
  }
  return refused(child, &cluster::Interception::onCreate,
                 ", because the API server refuses to create " + names_.of(child) + ": ");
}

// The webhooks that are called for the request and do not answer; empty: none.
DeadCalls FinalState::refused(Slot slot, bool cluster::Interception::*request,
                              const std::string& what) const {
  DeadCalls dead = deadCalls(cluster_, names_, slot, request);
  if (!dead.sentence.empty()) dead.sentence.insert(0, what);
  return dead;
}

std::string FinalState::missingRight(Slot workload) const {
  for (const cluster::Ways& ways : model_.slots[workload].rights) {
    if (cluster_.isMet(ways)) continue;
    const std::vector<Slot> lost = lostOf(ways);
    return (lost.size() > 1 ? "one of " : "") + names_.list(lost);
  }
  return {};
}

std::vector<Slot> FinalState::lostOf(const cluster::Ways& ways) const {
  std::vector<Slot> lost;
  for (const std::vector<Slot>& way : ways) {
    const Slot absent = firstAbsent(way);
    if (std::ranges::find(lost, absent) == lost.end()) lost.push_back(absent);
  }
  return lost;
}

std::string FinalState::missing(const cluster::RemovalNeeds::Need& need) const {
  if (need.ways.empty()) return need.what + ", and there is none";
  const std::vector<Slot> lost = lostOf(need.ways);
  if (lost.size() > 1) return "one of " + names_.list(lost) + ", and none of them is there";
  const bool wasThere = model_.slots[lost.front()].presentAtStart;
  return names_.of(lost.front()) + (wasThere ? ", which is gone" : ", which is not there");
}

bool FinalState::isAskedFor(Slot slot) const {
  if (state_.object(slot).deferredDeletion) return true;
  return std::any_of(enabled_.begin(), enabled_.end(), [&](const Action& action) {
    if (action.kind == Action::Kind::Send)
      return model_.steps[action.a].object == slot &&
             model_.steps[action.a].verb == cluster::ClientStep::Verb::Delete;
    return (action.kind == Action::Kind::CollectorDelete || action.kind == Action::Kind::NamespaceDelete ||
            action.kind == Action::Kind::DeleteFinished || action.kind == Action::Kind::ReplicaSetWork ||
            action.kind == Action::Kind::DeleteHeld) &&
           action.a == slot;
  });
}

bool FinalState::isEnabled(Action::Kind kind, Slot slot) const {
  return std::ranges::any_of(enabled_,
                             [&](const Action& action) { return action.kind == kind && action.a == slot; });
}

const Happening* FinalState::lastDenial(Slot slot) const {
  const auto found = std::find_if(log_.rbegin(), log_.rend(), [&](const Happening& happening) {
    const cluster::ClusterEvent& event = happening.event;
    // "NotFound" is an answer to somebody who came too late, or too early: nobody denied anything.
    const bool notFound = event.refused != nullptr && std::string_view(event.refused) == "NotFound";
    const bool isLabels = happening.action.kind == Action::Kind::WriteLabels;
    return event.slot == slot && event.kind == cluster::EventKind::Denied && !notFound && !isLabels;
  });
  return found == log_.rend() ? nullptr : &*found;
}

}  // namespace lastout::replay

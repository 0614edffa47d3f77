// The ManifestWork agent, hub and spoke in one, as recorded: it applies, records what it applied in an
// AppliedManifestWork, deletes that in order, and forgets what it fails to delete.
#include <algorithm>

#include "cluster/transition.h"

namespace lastout::cluster {

namespace {

uint32_t linkEnd(const Work& work) { return work.firstLink + work.linkCount; }

template <class Predicate>
bool anyLink(const Transition& transition, const Work& work, Predicate predicate) {
  for (uint32_t link = work.firstLink; link < linkEnd(work); ++link) {
    if (predicate(transition.model().links[link], transition.state().link(link))) return true;
  }
  return false;
}

bool owns(const Transition& transition, const WorkLink& link) {
  const ObjectState object = transition.state().object(link.object);
  return object.owner(link.ownerIndex) == OwnerState::Current;
}

// The object should exist, be owned by this work or, where the work orphans it, not, is otherwise, and can be
// made so.
bool needsApplying(const Transition& transition, const WorkLink& link, const LinkState& state) {
  if (!transition.isPresent(link.object)) return !link.onlyReads && transition.mayCreate(link.object);
  if (!transition.isLive(link.object) || transition.webhookFails(link.object, &Interception::onUpdate))
    return false;
  if (!link.orphans) return !owns(transition, link);
  return owns(transition, link) || !state.recorded || state.stale;
}

// The recorded object is gone, or another one has its name.
bool isForgettable(const Transition& transition, const WorkLink& link, const LinkState& state) {
  return state.recorded && (state.stale || !transition.isPresent(link.object));
}

// The recorded object is there and nobody has deleted it yet.
bool isToDelete(const Transition& transition, const WorkLink& link, const LinkState& state) {
  return state.recorded && !state.stale && transition.isLive(link.object);
}

// The object carries the agent's finalizer, and nobody refuses the UPDATE that takes it off.
bool mayTakeOff(const Transition& transition, Slot slot) {
  return (transition.state().finalizers(slot) & transition.info(slot).cleanupBit) != 0 &&
         !transition.webhookFails(slot, &Interception::onCleanup);
}

AgentTask deletionTask(const Transition& transition, const Work& work) {
  const auto toDelete = [&](const WorkLink& link, const LinkState& state) {
    return isToDelete(transition, link, state);
  };
  const auto forgettable = [&](const WorkLink& link, const LinkState& state) {
    return isForgettable(transition, link, state);
  };
  if (anyLink(transition, work, toDelete)) return AgentTask::Pass;
  if (anyLink(transition, work, forgettable)) return AgentTask::Forget;
  const auto recorded = [](const WorkLink&, const LinkState& state) { return state.recorded; };
  if (anyLink(transition, work, recorded)) return AgentTask::None;  // what is left terminates by itself
  return mayTakeOff(transition, work.applied) ? AgentTask::ReleaseApplied : AgentTask::None;
}

// Takes the first thing to delete at or after `next` in this pass; the pass's end when there is none.
uint32_t nextInPass(const Transition& transition, const Work& work, uint32_t next) {
  uint32_t link = work.firstLink + next;
  while (link < linkEnd(work) &&
         !isToDelete(transition, transition.model().links[link], transition.state().link(link)))
    ++link;
  return link - work.firstLink;
}

// The pass goes on behind the link it has just dealt with, or ends.
void advance(Transition& transition, uint32_t index, uint32_t link) {
  const Work& work = transition.model().works[index];
  const uint32_t next = nextInPass(transition, work, link + 1);
  WorkState state;
  if (next < work.linkCount) state = {.deleting = true, .next = static_cast<uint8_t>(next), .flight = {}};
  transition.state().setWork(index, state);
}

// An object that another work applies too, or that this work orphans, is not deleted; only this work's owner
// reference goes, where it is there.
bool hasOtherWork(const Transition& transition, const WorkLink& link) {
  const ObjectState object = transition.state().object(link.object);
  const std::vector<OwnerLink>& owners = transition.info(link.object).owners;
  for (size_t i = 0; i < owners.size(); ++i) {
    if (i == link.ownerIndex || object.owner(i) != OwnerState::Current) continue;
    if (transition.isPresent(owners[i].owner) &&
        transition.info(owners[i].owner).kind == SlotKind::AppliedManifestWork)
      return true;
  }
  return false;
}

void pass(Transition& transition, uint32_t index) {
  const Work& work = transition.model().works[index];
  WorkState state = transition.state().work(index);
  state.next = static_cast<uint8_t>(nextInPass(transition, work, state.deleting ? state.next : 0));
  state.deleting = true;
  if (state.next >= work.linkCount) {
    transition.state().setWork(index, {});
    return;
  }
  const WorkLink& link = transition.model().links[work.firstLink + state.next];
  transition.state().setWork(index, state);
  if (link.orphans || hasOtherWork(transition, link)) {
    ObjectState object = transition.state().object(link.object);
    object.setOwner(link.ownerIndex, OwnerState::None);
    transition.update(link.object, object, Actor::Agent, index);
    finishAgentDelete(transition, index, state, DeleteResult::NotFound);
    return;
  }
  const DeleteResult answer = transition.send(agentRequest(transition, index), state.flight);
  finishAgentDelete(transition, index, state, answer);
}

void apply(Transition& transition, uint32_t index) {
  const Work& work = transition.model().works[index];
  for (uint32_t link = work.firstLink; link < linkEnd(work); ++link) {
    const WorkLink& spec = transition.model().links[link];
    if (!needsApplying(transition, spec, transition.state().link(link))) continue;
    if (!transition.isPresent(spec.object)) transition.create(spec.object, Actor::Agent, index);
    ObjectState object = transition.state().object(spec.object);
    object.setOwner(spec.ownerIndex, spec.orphans ? OwnerState::None : OwnerState::Current);
    object.takeBackDeferredDeletion();
    transition.update(spec.object, object, Actor::Agent, index);
    transition.state().setLink(link, {.recorded = true, .stale = false});
    return;
  }
}

void forget(Transition& transition, const Work& work) {
  for (uint32_t link = work.firstLink; link < linkEnd(work); ++link) {
    if (isForgettable(transition, transition.model().links[link], transition.state().link(link)))
      transition.state().setLink(link, {});
  }
}

void adopt(Transition& transition, uint32_t index) {
  const Work& work = transition.model().works[index];
  transition.create(work.applied, Actor::Agent, index);
  for (uint32_t link = work.firstLink; link < linkEnd(work); ++link) transition.state().setLink(link, {});
}

}  // namespace

AgentTask agentTask(const Transition& transition, uint32_t index) {
  const Work& work = transition.model().works[index];
  if (transition.state().work(index).deleting) return AgentTask::Pass;
  if (transition.isTerminating(work.applied)) return deletionTask(transition, work);
  if (transition.isTerminating(work.manifestWork)) {
    if (transition.isLive(work.applied)) return AgentTask::Withdraw;
    return mayTakeOff(transition, work.manifestWork) ? AgentTask::ReleaseWork : AgentTask::None;
  }
  if (!transition.isLive(work.manifestWork)) return AgentTask::None;
  if (!transition.isPresent(work.applied))
    return transition.webhookFails(work.applied, &Interception::onCreate) ? AgentTask::None
                                                                          : AgentTask::Adopt;
  const auto missing = [&](const WorkLink& link, const LinkState& state) {
    return needsApplying(transition, link, state);
  };
  return anyLink(transition, work, missing) ? AgentTask::Apply : AgentTask::None;
}

bool agentAppliesNewObjects(const Transition& transition, uint32_t index) {
  return anyLink(transition, transition.model().works[index],
                 [&](const WorkLink& link, const LinkState& state) {
                   return (!state.recorded || link.orphans) && needsApplying(transition, link, state);
                 });
}

void agentStep(Transition& transition, uint32_t index) {
  const Work& work = transition.model().works[index];
  switch (agentTask(transition, index)) {
    case AgentTask::None:
      break;
    case AgentTask::Adopt:
      adopt(transition, index);
      break;
    case AgentTask::Apply:
      apply(transition, index);
      break;
    case AgentTask::Withdraw:
      transition.sendAtOnce({.actor = Actor::Agent,
                             .by = index,
                             .slot = work.applied,
                             .policy = {},
                             .precondition = Precondition::Uid});
      break;
    case AgentTask::Pass:
      pass(transition, index);
      break;
    case AgentTask::Forget:
      forget(transition, work);
      break;
    case AgentTask::ReleaseApplied:
      transition.dropFinalizers(work.applied, transition.info(work.applied).cleanupBit, Actor::Agent, index);
      break;
    case AgentTask::ReleaseWork:
      transition.dropFinalizers(work.manifestWork, transition.info(work.manifestWork).cleanupBit,
                                Actor::Agent, index);
      break;
  }
}

DeleteRequest agentRequest(const Transition& transition, uint32_t index) {
  const Work& work = transition.model().works[index];
  const uint32_t link = work.firstLink + transition.state().work(index).next;
  return {.actor = Actor::Agent,
          .by = index,
          .slot = transition.model().links[link].object,
          .policy = PropagationPolicy::Background,
          .precondition = Precondition::Uid};
}

void finishAgentDelete(Transition& transition, uint32_t index, WorkState state, DeleteResult answer) {
  if (answer == DeleteResult::InFlight) {
    transition.state().setWork(index, state);
    return;
  }
  const uint32_t link = transition.model().works[index].firstLink + state.next;
  // What it failed to delete, for whatever reason, does not stand in the status it writes after the pass: it
  // is forgotten (docs/semantics.md, ManifestWork agent).
  if (answer != DeleteResult::Done) transition.state().setLink(link, {});
  advance(transition, index, state.next);
}

}  // namespace lastout::cluster

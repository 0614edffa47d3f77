#include "cluster/machine.h"

#include <algorithm>
#include <optional>

#include "cluster/facts.h"
#include "cluster/transition.h"

namespace lastout::cluster {

namespace {

using Kind = Action::Kind;

void addFlight(const Flight& flight, Actor actor, uint32_t who, std::vector<Action>& out) {
  if (flight.phase == Flight::Phase::None) return;
  out.push_back({flight.phase == Flight::Phase::Decided ? Kind::Confirm : Kind::Commit, actor, who, 0});
}

void addStep(const Transition& transition, uint32_t step, std::vector<Action>& out) {
  const StepState state = transition.state().step(step);
  if (state.flight.phase != Flight::Phase::None)
    addFlight(state.flight, Actor::Client, step, out);
  else if (!state.done)
    out.push_back({Kind::Send, Actor::Client, step, 0});
}

void addWork(const Transition& transition, uint32_t work, std::vector<Action>& out) {
  const WorkState state = transition.state().work(work);
  if (state.flight.phase != Flight::Phase::None)
    addFlight(state.flight, Actor::Agent, work, out);
  else if (agentTask(transition, work) != AgentTask::None)
    out.push_back({Kind::AgentStep, Actor::Agent, work, 0});
}

// A workload that terminates is not in here: its children are neither replaced nor taken away
// (docs/semantics.md, "The rules", Deployment).
void addLive(const Transition& transition, Slot slot, const ObjectState& object, std::vector<Action>& out) {
  switch (transition.info(slot).kind) {
    case SlotKind::Deployment:
    case SlotKind::ReplicaSet:
    case SlotKind::StatefulSet:
    case SlotKind::DaemonSet:
    case SlotKind::Job:
    case SlotKind::CronJob:
      if (workloadNeedsSync(transition, slot)) out.push_back({Kind::WorkloadSync, Actor::Workloads, slot, 0});
      break;
    case SlotKind::Pod:
      if ((object.value & (kReady | kStopped)) == 0 &&
          transition.areAllPresent(transition.info(slot).startsWith) &&
          !transition.webhookFails(slot, &Interception::onStart))
        out.push_back({Kind::PodReady, Actor::Kubelet, slot, 0});
      break;
    default:
      break;
  }
}

// The namespace controller deletes the content of a terminating namespace that it has not finished.
bool deletesContent(const Transition& transition, Slot namespaceSlot) {
  const uint16_t cleanup = transition.info(namespaceSlot).cleanupBit;
  return transition.isTerminating(namespaceSlot) &&
         (transition.state().finalizers(namespaceSlot) & cleanup) != 0;
}

// `awaits`: what awaitsPods() says of its namespace; nullopt: nobody has asked yet. That looks at every Pod.
void addNamespaceDelete(const Transition& transition, Slot slot, std::optional<bool>& awaits,
                        std::vector<Action>& out) {
  if (!transition.isLive(slot) || transition.state().object(slot).lifecycle.phase != Flight::Phase::None)
    return;
  const SlotInfo& info = transition.info(slot);
  if (info.kind != SlotKind::Pod) {
    if (!awaits) awaits = awaitsPods(transition, info.namespaceSlot);
    if (*awaits) return;
  }
  out.push_back({Kind::NamespaceDelete, Actor::Lifecycle, slot, 0});
}

void addFinalizers(const Transition& transition, Slot slot, const ObjectState& object,
                   std::vector<Action>& out) {
  for (const Removal& removal : transition.info(slot).removals) {
    if ((object.finalizers & removal.bit) == 0) continue;
    if (!transition.mayRemove(slot, removal)) continue;
    if (transition.webhookFails(slot, removal.request)) continue;
    out.push_back({Kind::Finalize, Actor::Finalizers, slot, removal.controller});
  }
}

// Whose actions are listed: a Namespace may bring along the deletions of what is in it.
enum class Listed : uint8_t { Own, WithContent };

// What its own controller does about an object that terminates.
void addCleanup(const Transition& transition, Slot slot, Listed listed, std::vector<Action>& out) {
  const SlotInfo& info = transition.info(slot);
  if (info.kind == SlotKind::Namespace && listed == Listed::WithContent) {
    std::optional<bool> awaits;
    for (Slot content : info.content) addNamespaceDelete(transition, content, awaits, out);
  }
  if (info.kind == SlotKind::Crd && crdDeletesInstances(transition, slot))
    out.push_back({Kind::CrdInstances, Actor::CrdCleanup, slot, 0});
  if (transition.webhookFails(slot, &Interception::onCleanup)) return;
  // docs/semantics.md, "The rules", APIServices.
  if (info.kind == SlotKind::Namespace && namespaceIsEmpty(transition, slot) &&
      !transition.webhookFails(slot, &Interception::onContent) && !transition.namespaceCallFails())
    out.push_back({Kind::NamespaceFinish, Actor::Lifecycle, slot, 0});
  if (info.kind == SlotKind::Crd && crdIsEmpty(transition, slot))
    out.push_back({Kind::CrdFinish, Actor::CrdCleanup, slot, 0});
  if (info.kind == SlotKind::PersistentVolumeClaim && isUnused(transition, slot))
    out.push_back({Kind::ClaimRelease, Actor::Claims, slot, 0});
  if (info.kind == SlotKind::PersistentVolume && isUnused(transition, slot))
    out.push_back({Kind::VolumeRelease, Actor::Claims, slot, 0});
  if (info.kind == SlotKind::ManifestWorkReplicaSet && isDoneWithWorks(transition, slot))
    out.push_back({Kind::ReplicaSetFinish, Actor::ReplicaSets, slot, 0});
}

void addTerminating(const Transition& transition, Slot slot, const ObjectState& object, Listed listed,
                    std::vector<Action>& out) {
  const SlotInfo& info = transition.info(slot);
  addFinalizers(transition, slot, object, out);
  if ((object.finalizers & info.policyBits) != 0 && transition.bitsToLetGo(slot) != 0)
    out.push_back({Kind::LetGo, Actor::Lastout, slot, 0});
  // The node reports it by an UPDATE of the status and a DELETE.
  if (info.kind == SlotKind::Pod && (object.value & kStopped) == 0 &&
      !transition.webhookFails(slot, &Interception::onStop))
    out.push_back({Kind::PodStop, Actor::Kubelet, slot, 0});
  if ((object.finalizers & info.cleanupBit) != 0) addCleanup(transition, slot, listed, out);
}

// What lastout does for deletion policies by itself, but for letting go.
void addForPolicies(const Transition& transition, Slot slot, const ObjectState& object,
                    std::vector<Action>& out) {
  if (transition.model().policies.none()) return;
  if (transition.labelWrite(slot)) out.push_back({Kind::WriteLabels, Actor::Lastout, slot, 0});
  if (transition.newConfirmation(slot)) out.push_back({Kind::Confirmation, Actor::Lastout, slot, 0});
  const bool isUnderWay = object.lastout.phase != Flight::Phase::None;
  if (!isUnderWay && isDeletedByPolicy(transition.model(), transition.state(), slot))
    out.push_back({Kind::DeleteHeld, Actor::Lastout, slot, 0});
}

void addObject(const Transition& transition, Slot slot, Listed listed, std::vector<Action>& out) {
  if (transition.info(slot).replicaSet != kNone && replicaSetTask(transition, slot) != ReplicaSetTask::None)
    out.push_back({Kind::ReplicaSetWork, Actor::ReplicaSets, slot, 0});
  if (!transition.isPresent(slot)) return;
  const ObjectState object = transition.state().object(slot);
  addFlight(object.collector, Actor::Collector, slot, out);
  addFlight(object.lifecycle, Actor::Lifecycle, slot, out);
  addFlight(object.lastout, Actor::Lastout, slot, out);
  if (collectorReleases(transition, slot, object))
    out.push_back({Kind::CollectorRelease, Actor::Collector, slot, 0});
  if (keepingChanges(transition, slot)) out.push_back({Kind::KeepWork, Actor::Lastout, slot, 0});
  if (holdingChanges(transition, slot)) out.push_back({Kind::HoldProvider, Actor::Lastout, slot, 0});
  addForPolicies(transition, slot, object, out);
  if (object.terminating()) {
    addTerminating(transition, slot, object, listed, out);
    return;
  }
  if (object.collector.phase == Flight::Phase::None && collectorDeletes(transition, slot, object))
    out.push_back({Kind::CollectorDelete, Actor::Collector, slot, 0});
  if (hasOutlivedItself(transition, slot)) out.push_back({Kind::DeleteFinished, Actor::TimeToLive, slot, 0});
  if (lastoutDeletes(transition, slot, object))
    out.push_back({Kind::DeleteDeferred, Actor::Lastout, slot, 0});
  addLive(transition, slot, object, out);
}

// --- flights: where each actor keeps its DELETE, and what it does with the answer

Flight ObjectState::*flightOf(Actor actor) {
  if (actor == Actor::Collector) return &ObjectState::collector;
  return actor == Actor::Lastout ? &ObjectState::lastout : &ObjectState::lifecycle;
}

DeleteRequest requestOf(const Transition& transition, Actor actor, Slot slot) {
  if (actor == Actor::Collector) return collectorRequest(transition, slot);
  if (actor == Actor::Lastout) return lastoutRequest(slot, transition.state().object(slot));
  return namespaceRequest(slot);
}

// Sends, confirms or commits a controller's DELETE of a slot; none of them remembers answers.
template <class Operation>
void controllerDelete(Transition& transition, Actor actor, Slot slot, Operation operation) {
  Flight ObjectState::*member = flightOf(actor);
  ObjectState object = transition.state().object(slot);
  const DeleteRequest request = requestOf(transition, actor, slot);
  Flight flight = object.*member;
  object.*member = {};
  transition.state().setObject(slot, object);
  operation(request, flight);
  if (flight.phase == Flight::Phase::None) return;
  object = transition.state().object(slot);
  object.*member = flight;
  transition.state().setObject(slot, object);
}

template <class Operation>
void fly(Transition& transition, const Action& action, Operation operation) {
  if (action.actor == Actor::Client) {
    StepState state = transition.state().step(action.a);
    const DeleteResult answer = operation(stepRequest(transition.model(), action.a), state.flight);
    finishStep(transition, action.a, state, answer);
  } else if (action.actor == Actor::Agent) {
    WorkState state = transition.state().work(action.a);
    const DeleteResult answer = operation(agentRequest(transition, action.a), state.flight);
    finishAgentDelete(transition, action.a, state, answer);
  } else if (action.actor == Actor::Lastout && isBeingLetGo(transition, action.a)) {
    goOnLettingGo(transition, action.a);
  } else {
    controllerDelete(transition, action.actor, action.a, operation);
  }
}

void setForm(Transition& transition, Slot slot, uint8_t form) {
  ObjectState object = transition.state().object(slot);
  object.form = form;
  transition.update(slot, object, Actor::Lastout);
}

void writeLabels(Transition& transition, Slot slot) {
  const LabelWrite write = *transition.labelWrite(slot);
  if (!write.isDenied) return setForm(transition, slot, write.form);
  transition.emit({.kind = EventKind::Denied,
                   .actor = Actor::Lastout,
                   .slot = slot,
                   .verdict = {.allowed = false, .reason = admission::Reason::Protected}});
}

void podReady(Transition& transition, Slot pod) {
  ObjectState object = transition.state().object(pod);
  object.value |= kReady;
  transition.update(pod, object, Actor::Kubelet);
}

void podStop(Transition& transition, Slot pod) {
  ObjectState object = transition.state().object(pod);
  object.value = kStopped;
  transition.update(pod, object, Actor::Kubelet);
}

}  // namespace

const char* reasonOf(CreationRefusal refusal, kube::KubernetesVersion version) {
  switch (refusal) {
    case CreationRefusal::Exists:
      return "AlreadyExists";
    case CreationRefusal::NoNamespace:
    case CreationRefusal::NoCrd:
      return "NotFound";
    case CreationRefusal::NamespaceTerminates:
      return "Forbidden";
    case CreationRefusal::CrdTerminates:
      break;
  }
  return kube::forbidsInstancesOfTerminatingCrds(version) ? "Forbidden" : "MethodNotAllowed";
}

ActionSubject subjectOf(const Action& action) {
  const bool flies = action.kind == Kind::Confirm || action.kind == Kind::Commit;
  if (action.kind == Kind::Send || (flies && action.actor == Actor::Client))
    return {ActionSubject::Kind::Step, action.a};
  if (action.kind == Kind::AgentStep || (flies && action.actor == Actor::Agent))
    return {ActionSubject::Kind::Work, action.a};
  return {ActionSubject::Kind::Object, action.a};
}

std::vector<uint64_t> Machine::initial() const {
  std::vector<uint64_t> words(layout_.words, 0);
  StateRef state(words.data(), layout_);
  for (Slot slot = 0; slot < model_->slots.size(); ++slot) {
    const SlotInfo& info = model_->slots[slot];
    if (!info.presentAtStart) continue;
    ObjectState object;
    object.presence = info.terminatingAtStart ? Presence::Terminating : Presence::Live;
    object.finalizers = info.finalizersAtCreation;
    if (info.terminatingAtStart && info.kind == SlotKind::Crd) object.finalizers |= info.cleanupBit;
    object.value = info.valueAtCreation;
    if (info.kind == SlotKind::Pod) object.value = info.hasStoppedAtStart ? kStopped : kReady;
    for (size_t i = 0; i < info.owners.size(); ++i) {
      if ((info.ownersAtCreation >> i & 1) == 0) continue;
      const Slot owner = info.owners[i].owner;
      const bool there = owner != kNone && model_->slots[owner].presentAtStart;
      object.setOwner(i, there ? OwnerState::Current : OwnerState::Dangling);
    }
    state.setObject(slot, object);
  }
  for (uint32_t link = 0; link < model_->links.size(); ++link) {
    const WorkLink& spec = model_->links[link];
    ObjectState object = state.object(spec.object);
    if (!object.present()) continue;
    object.setOwner(spec.ownerIndex, spec.orphans ? OwnerState::None : OwnerState::Current);
    state.setObject(spec.object, object);
    state.setLink(link, {.recorded = true, .stale = false});
  }
  Transition settled(*this, state, nullptr);
  for (const Work& work : model_->works) {
    if (keepingChanges(settled, work.applied)) changeKeeping(settled, work.applied);
  }
  for (Slot slot = 0; slot < model_->slots.size(); ++slot) {
    if (settled.isLive(slot) && holdingChanges(settled, slot)) changeHolding(settled, slot);
  }
  return words;
}

void Machine::enabled(StateRef state, std::vector<Action>& out) const {
  const Transition transition(*this, state, nullptr);
  for (uint32_t step = 0; step < model_->steps.size(); ++step) addStep(transition, step, out);
  for (uint32_t work = 0; work < model_->works.size(); ++work) addWork(transition, work, out);
  for (Slot slot = 0; slot < model_->slots.size(); ++slot)
    addObject(transition, slot, Listed::WithContent, out);
}

void Machine::enabledFor(StateRef state, ActionSubject subject, std::vector<Action>& out) const {
  const Transition transition(*this, state, nullptr);
  if (subject.kind == ActionSubject::Kind::Step) {
    addStep(transition, subject.number, out);
  } else if (subject.kind == ActionSubject::Kind::Work) {
    addWork(transition, subject.number, out);
  } else {
    const Slot space = model_->slots[subject.number].namespaceSlot;
    std::optional<bool> awaits;
    if (space != kNone && deletesContent(transition, space))
      addNamespaceDelete(transition, subject.number, awaits, out);
    addObject(transition, subject.number, Listed::Own, out);
  }
}

void Machine::apply(StateRef state, const Action& action, Events* events,
                    const admission::Verdict* verdict) const {
  Transition transition(*this, state, events, verdict);
  const auto send = [&](const DeleteRequest& what, Flight& flight) { return transition.send(what, flight); };
  switch (action.kind) {
    case Kind::Send:
      sendStep(transition, action.a);
      break;
    case Kind::Confirm:
      fly(transition, action,
          [&](const DeleteRequest& what, Flight& flight) { return transition.confirm(what, flight); });
      break;
    case Kind::Commit:
      fly(transition, action,
          [&](const DeleteRequest& what, Flight& flight) { return transition.commit(what, flight); });
      break;
    case Kind::AgentStep:
      agentStep(transition, action.a);
      break;
    case Kind::CollectorDelete:
    case Kind::NamespaceDelete:
    case Kind::DeleteDeferred:
    case Kind::DeleteHeld:
      controllerDelete(transition, action.actor, action.a, send);
      break;
    case Kind::CollectorRelease:
      collectorRelease(transition, action.a);
      break;
    case Kind::CrdInstances:
      deleteInstances(transition, action.a);
      break;
    case Kind::CrdFinish:
    case Kind::NamespaceFinish:
    case Kind::ClaimRelease:
    case Kind::VolumeRelease:
    case Kind::ReplicaSetFinish:
      transition.dropFinalizers(action.a, model_->slots[action.a].cleanupBit, action.actor);
      break;
    case Kind::WorkloadSync:
      workloadSync(transition, action.a);
      break;
    case Kind::DeleteFinished:
      deleteFinished(transition, action.a);
      break;
    case Kind::ReplicaSetWork:
      replicaSetStep(transition, action.a);
      break;
    case Kind::PodReady:
      podReady(transition, action.a);
      break;
    case Kind::PodStop:
      podStop(transition, action.a);
      break;
    case Kind::KeepWork:
      changeKeeping(transition, action.a);
      break;
    case Kind::HoldProvider:
      changeHolding(transition, action.a);
      break;
    case Kind::WriteLabels:
      writeLabels(transition, action.a);
      break;
    case Kind::Confirmation:
      setForm(transition, action.a, *transition.newConfirmation(action.a));
      break;
    case Kind::LetGo:
      transition.dropFinalizers(action.a, transition.bitsToLetGo(action.a), Actor::Lastout);
      break;
    case Kind::Finalize:
      for (const Removal& removal : model_->slots[action.a].removals) {
        if (removal.controller == action.b)
          transition.dropFinalizers(action.a, removal.bit, Actor::Finalizers, action.b);
      }
      break;
  }
}

admission::Verdict Machine::decide(StateRef state, Slot slot,
                                   admission::DeletionEffect deletionEffect) const {
  return admission::decide(StateFacts(*model_, state), model_->rules, model_->slots[slot].guardEntries,
                           deletionEffect);
}

}  // namespace lastout::cluster

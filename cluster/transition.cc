#include "cluster/transition.h"

#include <algorithm>
#include <string_view>

namespace lastout::cluster {

namespace {

// Nothing keeps a terminating object any longer; a Pod also has to be reported stopped by its node.
bool mayVanish(SlotKind kind, const ObjectState& object) {
  return object.finalizers == 0 && (kind != SlotKind::Pod || (object.value & kStopped) != 0);
}

// A change of the object matters to this step: its request is in flight, or it insists on what it first saw.
bool notices(const ClientStep& step, const StepState& state) {
  const bool insists = step.precondition != Precondition::None && state.sent && !state.done;
  return insists || state.flight.phase != Flight::Phase::None;
}

}  // namespace

uint16_t withPolicy(uint16_t finalizers, const std::optional<PropagationPolicy>& policy) {
  if (!policy) return finalizers;
  finalizers &= static_cast<uint16_t>(~(kForegroundBit | kOrphanBit));
  if (*policy == PropagationPolicy::Foreground) finalizers |= kForegroundBit;
  if (*policy == PropagationPolicy::Orphan) finalizers |= kOrphanBit;
  return finalizers;
}

bool isDenial(const Model& model, const ClusterEvent& event) {
  if (event.kind != EventKind::Denied) return false;
  if (event.refused == nullptr || std::string_view(event.refused) != "NotFound") return true;
  return event.actor == Actor::Client && event.by != kNone &&
         model.steps[event.by].verb != ClientStep::Verb::Delete;
}

bool Transition::hasReadyPod(Slot workload) const {
  if (workload == kNone) return true;
  const SlotInfo& slot = info(workload);
  if (slot.kind == SlotKind::Pod) return isLive(workload) && (state_.object(workload).value & kReady) != 0;
  if (slot.kind == SlotKind::PersistentVolumeClaim) return false;
  return std::any_of(slot.children.begin(), slot.children.end(),
                     [&](Slot child) { return hasReadyPod(child); });
}

bool Transition::areAllPresent(const std::vector<Slot>& slots) const {
  return std::ranges::all_of(slots, [this](Slot slot) { return isPresent(slot); });
}

bool Transition::isMet(const Ways& ways) const {
  return std::ranges::any_of(ways, [this](const std::vector<Slot>& way) { return areAllPresent(way); });
}

bool Transition::mayRemove(Slot slot, const Removal& removal) const {
  return removal.isCandidate() && canRemove(removal) &&
         std::ranges::all_of(removal.needs.candidates, [&](uint32_t controller) {
           return std::ranges::all_of(info(slot).removals, [&](const Removal& other) {
             return other.controller != controller || canRemove(other);
           });
         });
}

// Without regard to other candidates.
bool Transition::canRemove(const Removal& removal) const {
  if (!works(model_.controllers[removal.controller])) return false;
  const auto isThere = [this](Slot slot) { return isPresent(slot); };
  const Slot job = removal.needs.reportsTo;
  const bool isReported = job == kNone || !isLive(job) || !webhookFails(job, &Interception::onCleanup);
  return isReported && std::ranges::none_of(removal.needs.waitsFor, isThere) &&
         std::ranges::all_of(removal.needs.needs,
                             [this](const RemovalNeeds::Need& need) { return isMet(need.ways); });
}

bool Transition::works(const FinalizerController& controller) const {
  return controller.runsIn == kNone ||
         (hasReadyPod(controller.runsIn) &&
          std::ranges::all_of(info(controller.runsIn).rights,
                              [this](const Ways& ways) { return isMet(ways); }));
}

bool Transition::fails(const Interception& called) const {
  if (!isPresent(called.configuration)) return false;
  if (!isPresent(called.service) || !called.unreachable.empty()) return true;
  const auto answers = [&](Slot workload) {
    return hasReadyPod(workload) || (info(workload).kind == SlotKind::Plain && isPresent(workload));
  };
  return !called.hasOtherEndpoints && std::ranges::none_of(called.workloads, answers);
}

bool Transition::webhookFails(Slot slot, bool Interception::*operation) const {
  return std::ranges::any_of(info(slot).interceptions, [&](const Interception& webhook) {
    return webhook.*operation && fails(webhook);
  });
}

bool Transition::conversionFails(Slot slot) const {
  return std::ranges::any_of(info(slot).interceptions, [&](const Interception& webhook) {
    return webhook.onCrdCleanup && fails(webhook);
  });
}

bool Transition::namespaceCallFails() const {
  return std::ranges::any_of(model_.namespaceCalls, [&](const Interception& call) { return fails(call); });
}

std::optional<CreationRefusal> Transition::refusesCreation(Slot slot, bool serverSide) const {
  const SlotInfo& object = info(slot);
  if (isPresent(slot)) return CreationRefusal::Exists;
  if (object.namespaceSlot != kNone) {
    if (!isPresent(object.namespaceSlot)) return CreationRefusal::NoNamespace;
    if (isTerminating(object.namespaceSlot)) return CreationRefusal::NamespaceTerminates;
  }
  if (object.crd != kNone) {
    if (!isPresent(object.crd)) return CreationRefusal::NoCrd;
    // docs/semantics.md, terminating CRD: create is refused, server-side apply is not. What is applied
    // after the clean-up, while another finalizer keeps the CRD, would be left in storage without a type once
    // the CRD is gone, seen by nobody; here it is not made.
    const bool cleans = (state_.finalizers(object.crd) & info(object.crd).cleanupBit) != 0;
    if (isTerminating(object.crd) && !(serverSide && cleans)) return CreationRefusal::CrdTerminates;
  }
  return std::nullopt;
}

void Transition::create(Slot slot, Actor actor, uint32_t by) {
  const SlotInfo& spec = info(slot);
  markStale(slot);
  ObjectState object;
  object.presence = Presence::Live;
  object.finalizers = spec.finalizersAtCreation;
  object.value = spec.valueAtCreation;
  for (size_t i = 0; i < spec.owners.size(); ++i) {
    if ((spec.ownersAtCreation >> i & 1) == 0) continue;
    object.setOwner(i, isPresent(spec.owners[i].owner) ? OwnerState::Current : OwnerState::Dangling);
  }
  state_.setObject(slot, object);
  emit({.kind = EventKind::Created, .actor = actor, .slot = slot, .by = by});
}

void Transition::commitDelete(const DeleteRequest& request) {
  const Slot slot = request.slot;
  const SlotInfo& spec = info(slot);
  ObjectState object = state_.object(slot);
  const ObjectState before = object;
  object.finalizers = withPolicy(object.finalizers, policyOf(request));
  if (spec.kind == SlotKind::Crd && object.live()) object.finalizers |= spec.cleanupBit;
  object.presence = Presence::Terminating;
  object.deferredDeletion.reset();
  emit({.kind = EventKind::Accepted, .actor = request.actor, .slot = slot, .by = request.by});
  if (mayVanish(spec.kind, object)) {
    erase(slot, request.actor, request.by);
    return;
  }
  if (pack(object) == pack(before)) return;
  touch(slot);
  object.collector = state_.object(slot).collector;
  object.lifecycle = state_.object(slot).lifecycle;
  object.lastout = state_.object(slot).lastout;
  state_.setObject(slot, object);
  emit({.kind = EventKind::Changed, .actor = request.actor, .slot = slot, .by = request.by});
}

void Transition::dropFinalizers(Slot slot, uint16_t bits, Actor actor, uint32_t by) {
  ObjectState object = state_.object(slot);
  object.finalizers &= static_cast<uint16_t>(~bits);
  update(slot, object, actor, by);
}

void Transition::update(Slot slot, const ObjectState& object, Actor actor, uint32_t by) {
  if (object.terminating() && mayVanish(info(slot).kind, object)) {
    erase(slot, actor, by);
    return;
  }
  state_.setObject(slot, object);
  touch(slot);
  emit({.kind = EventKind::Changed, .actor = actor, .slot = slot, .by = by});
}

void Transition::erase(Slot slot, Actor actor, uint32_t by) {
  state_.setObject(slot, ObjectState{});
  forgetDeferredDeletionsOf(*this, slot);
  emit({.kind = EventKind::Gone, .actor = actor, .slot = slot, .by = by});
}

// The object changed: requests in flight for it conflict in storage, and are reviewed again.
void Transition::touch(Slot slot) {
  ObjectState object = state_.object(slot);
  object.collector.touched = object.collector.phase != Flight::Phase::None;
  object.lifecycle.touched = object.lifecycle.phase != Flight::Phase::None;
  object.lastout.touched = object.lastout.phase != Flight::Phase::None;
  state_.setObject(slot, object);
  for (uint32_t step : info(slot).steps) {
    StepState state = state_.step(step);
    if (!notices(model_.steps[step], state)) continue;
    state.flight.touched = true;
    state_.setStep(step, state);
  }
  for (uint32_t link : info(slot).links) {
    const uint32_t work = model_.links[link].work;
    WorkState state = state_.work(work);
    if (state.flight.phase == Flight::Phase::None || model_.works[work].firstLink + state.next != link)
      continue;
    state.flight.touched = true;
    state_.setWork(work, state);
  }
}

// A new object takes the slot: what means the old one is marked, once and for all.
void Transition::markStale(Slot slot) {
  for (Slot dependent : info(slot).dependents) {
    ObjectState object = state_.object(dependent);
    const std::vector<OwnerLink>& owners = info(dependent).owners;
    for (size_t i = 0; i < owners.size(); ++i) {
      if (owners[i].owner == slot && object.owner(i) == OwnerState::Current)
        object.setOwner(i, OwnerState::Dangling);
    }
    state_.setObject(dependent, object);
  }
  for (uint32_t link : info(slot).links) {
    LinkState state = state_.link(link);
    state.stale = state.recorded;
    state_.setLink(link, state);
    const uint32_t work = model_.links[link].work;
    WorkState workState = state_.work(work);
    if (workState.flight.phase == Flight::Phase::None ||
        model_.works[work].firstLink + workState.next != link)
      continue;
    workState.flight.stale = true;
    state_.setWork(work, workState);
  }
  for (uint32_t step : info(slot).steps) {
    StepState state = state_.step(step);
    if (!notices(model_.steps[step], state)) continue;
    state.flight.stale = true;
    state_.setStep(step, state);
  }
}

void Transition::emit(ClusterEvent event) {
  const uint8_t monitor = info(event.slot).monitors[static_cast<size_t>(event.kind)];
  const bool counts = event.kind != EventKind::Denied || isDenial(model_, event);
  if (monitor != 0 && counts) state_.setMonitors(state_.monitors() | (uint64_t{1} << (monitor - 1)));
  if (events_ != nullptr) events_->push_back(event);
}

}  // namespace lastout::cluster

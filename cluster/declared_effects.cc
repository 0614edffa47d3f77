#include "cluster/declared_effects.h"

namespace lastout::cluster {

namespace {

// The fields of the object that ever change.
Fields changingFields(const Model& model, Slot slot) {
  const SlotInfo& info = model.slots[slot];
  Fields fields = kEveryField;
  if (info.owners.empty()) fields &= static_cast<Fields>(~kOwnersField);
  if (info.forms.size() <= 1) fields &= static_cast<Fields>(~kFormField);
  if (!canBeInFlight(model, slot)) fields &= static_cast<Fields>(~kFlightsField);
  if (!canBeDeferred(model, slot)) fields &= static_cast<Fields>(~kDeferredDeletionField);
  return fields;
}

}  // namespace

void DeclaredEffects::writeObject(Slot slot, Fields fields) {
  fields &= changingFields(model_, slot);
  reads_.object(slot, fields);
  footprint_.writes.add({StatePart::Kind::Object, slot}, fields);
}

void DeclaredEffects::writeWork(uint32_t work) {
  reads_.work(work);
  footprint_.writes.add({StatePart::Kind::Work, work}, kEveryField);
}

void DeclaredEffects::writeStep(uint32_t step) {
  reads_.step(step);
  footprint_.writes.add({StatePart::Kind::Step, step}, kEveryField);
}

void DeclaredEffects::writeLink(uint32_t link) {
  reads_.link(link);
  footprint_.writes.add({StatePart::Kind::Link, link}, kEveryField);
}

void DeclaredEffects::event(Slot slot, EventKind kind) {
  const uint8_t monitor = model_.slots[slot].monitors[static_cast<size_t>(kind)];
  if (monitor != 0) footprint_.events |= uint64_t{1} << (monitor - 1);
}

// --- storage

// Requests for the object that wait between verdict and commit, or insist on what they first saw.
void DeclaredEffects::touch(Slot slot) {
  writeObject(slot, kFlightsField);
  for (const uint32_t step : model_.slots[slot].steps) writeStep(step);
  for (const uint32_t link : model_.slots[slot].links) {
    reads_.work(model_.links[link].work);
    if (canBeInFlight(model_, slot)) writeWork(model_.links[link].work);
  }
}

void DeclaredEffects::markStale(Slot slot) {
  for (const Slot dependent : model_.slots[slot].dependents) writeObject(dependent, kOwnersField);
  for (const uint32_t link : model_.slots[slot].links) writeLink(link);
  touch(slot);
}

void DeclaredEffects::create(Slot slot) {
  markStale(slot);
  for (const OwnerLink& link : model_.slots[slot].owners) reads_.object(link.owner, kPresenceField);
  writeObject(slot, kEveryField);
  event(slot, EventKind::Created);
}

void DeclaredEffects::change(Slot slot, Fields fields) {
  reads_.object(slot, kPresenceField);
  writeObject(slot, fields);
  touch(slot);
  event(slot, EventKind::Changed);
}

void DeclaredEffects::erase(Slot slot) {
  writeObject(slot, kEveryField);
  event(slot, EventKind::Gone);
  const uint32_t service = model_.slots[slot].service;
  if (!model_.runsDeferredDeletions || service == kNone) return;
  for (const Slot deferred : model_.deferredByService[service]) {
    writeObject(deferred, kDeferredDeletionField);
    reads_.isRecorded(deferred);
  }
}

void DeclaredEffects::dropFinalizers(Slot slot) {
  change(slot, kFinalizersField);
  erase(slot);
}

void DeclaredEffects::commitDelete(Slot slot) {
  change(slot, kPresenceField | kFinalizersField | kDeferredDeletionField);
  erase(slot);
  event(slot, EventKind::Accepted);
}

// --- review

void DeclaredEffects::review(Slot slot) {
  reads_.isRefused(slot);
  event(slot, EventKind::Denied);
  if (!canBeDeferred(model_, slot)) return;
  reads_.isRecorded(slot);
  writeObject(slot, kDeferredDeletionField);
}

void DeclaredEffects::send(Slot slot) {
  event(slot, EventKind::Requested);
  review(slot);
  if (model_.guarded && machine_.isNamed(slot)) {
    reads_.criteriaAreMet(slot);
    mayBeUnsafe();
  }
  commitDelete(slot);
}

void DeclaredEffects::confirm(Slot slot) {
  review(slot);
  reads_.criteriaAreMet(slot);
}

void DeclaredEffects::commit(Slot slot) {
  review(slot);
  mayBeUnsafe();
  commitDelete(slot);
}

void DeclaredEffects::confirmLettingGo(Slot provider) {
  writeObject(provider, kFlightsField);
  reads_.heldProviderPlan(provider);
  reads_.criteriaAreMet(provider);
}

void DeclaredEffects::commitLettingGo(Slot provider) {
  writeObject(provider, kFlightsField);
  reads_.webhookFails(provider, &Interception::onUpdate);
  mayBeUnsafe();
  dropFinalizers(provider);
}

}  // namespace lastout::cluster

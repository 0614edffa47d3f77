#include "tests/properties/state_changes.h"

#include <algorithm>
#include <utility>

#include "cluster/declared_reads.h"

namespace lastout::testing {

using cluster::Fields;
using cluster::Flight;
using cluster::ObjectState;
using cluster::OwnerState;
using cluster::PartSet;
using cluster::Presence;
using cluster::Slot;
using cluster::StatePart;

namespace {

using PartKind = StatePart::Kind;

bool operator==(const Flight& one, const Flight& other) {
  return cluster::detail::packFlight(one) == cluster::detail::packFlight(other);
}

Fields differingFields(const ObjectState& one, const ObjectState& other) {
  Fields fields = 0;
  const auto compare = [&](bool isSame, Fields field) {
    if (!isSame) fields |= field;
  };
  compare(one.presence == other.presence, cluster::kPresenceField);
  compare(one.finalizers == other.finalizers, cluster::kFinalizersField);
  compare(one.owners == other.owners, cluster::kOwnersField);
  compare(one.value == other.value, cluster::kValueField);
  compare(one.form == other.form, cluster::kFormField);
  compare(
      one.collector == other.collector && one.lifecycle == other.lifecycle && one.lastout == other.lastout,
      cluster::kFlightsField);
  compare(one.deferredDeletion == other.deferredDeletion, cluster::kDeferredDeletionField);
  return fields;
}

}  // namespace

PartSet StateChanges::between(Words& one, Words& other) const {
  PartSet parts;
  const cluster::StateRef left = view(one);
  const cluster::StateRef right = view(other);
  for (Slot slot = 0; slot < model_.slots.size(); ++slot)
    parts.add({PartKind::Object, slot}, differingFields(left.object(slot), right.object(slot)));
  // The others are one field each: written into the same words, they are the same or not.
  Words merged = other;
  const auto compare = [&](PartKind kind, uint32_t number, const auto& copyFromOne) {
    copyFromOne(view(merged));
    if (merged != other) parts.add({kind, number}, cluster::kEveryField);
    merged = other;
  };
  for (uint32_t i = 0; i < model_.works.size(); ++i)
    compare(PartKind::Work, i, [&](cluster::StateRef into) { into.setWork(i, left.work(i)); });
  for (uint32_t i = 0; i < model_.steps.size(); ++i)
    compare(PartKind::Step, i, [&](cluster::StateRef into) { into.setStep(i, left.step(i)); });
  for (uint32_t i = 0; i < model_.links.size(); ++i)
    compare(PartKind::Link, i, [&](cluster::StateRef into) { into.setLink(i, left.link(i)); });
  return parts;
}

// States that differ from this one in one field of the object, or in whether it is there.
std::vector<StateChanges::Words> StateChanges::ofObject(Words& words, Slot slot) const {
  const cluster::SlotInfo& info = model_.slots[slot];
  const ObjectState now = view(words).object(slot);
  std::vector<Words> others;
  const auto add = [&](const ObjectState& object) {
    // An object that is being deleted and has no finalizer is gone; a Pod may have to be stopped first.
    if (object.terminating() && object.finalizers == 0 && info.kind != cluster::SlotKind::Pod) return;
    if (object.terminating() && object.finalizers == 0 && (object.value & cluster::kStopped) != 0) return;
    Words other = words;
    view(other).setObject(slot, object);
    if (other != words) others.push_back(std::move(other));
  };
  const auto with = [&](const auto& change) {
    ObjectState object = now;
    change(object);
    add(object);
  };
  if (!now.present()) {
    ObjectState created;
    created.presence = Presence::Live;
    created.finalizers = info.finalizersAtCreation;
    created.value = info.valueAtCreation;
    add(created);
    return others;
  }
  add({});
  with([](ObjectState& object) { object.presence = object.live() ? Presence::Terminating : Presence::Live; });
  for (unsigned bit = 0; bit < 16; ++bit) {
    if (bit < info.finalizers.size() || (cluster::kForegroundBit | cluster::kOrphanBit) >> bit & 1)
      with([&](ObjectState& object) { object.finalizers ^= static_cast<uint16_t>(1u << bit); });
  }
  for (size_t i = 0; i < info.owners.size(); ++i) {
    for (const OwnerState state : {OwnerState::None, OwnerState::Current, OwnerState::Dangling})
      with([&](ObjectState& object) { object.setOwner(i, state); });
    with([&](ObjectState& object) { object.unblock(i); });
  }
  for (uint8_t value = 0; value <= std::max<uint8_t>(info.valueAtCreation, 2); ++value)
    with([&](ObjectState& object) { object.value = value; });
  for (uint8_t form = 0; form < info.forms.size(); ++form)
    with([&](ObjectState& object) { object.form = form; });
  if (cluster::canBeInFlight(model_, slot)) {
    for (Flight ObjectState::*flight :
         {&ObjectState::collector, &ObjectState::lifecycle, &ObjectState::lastout})
      for (const Flight::Phase phase :
           {Flight::Phase::None, Flight::Phase::Decided, Flight::Phase::Confirmed})
        with([&](ObjectState& object) { (object.*flight) = {.phase = phase}; });
  }
  if (cluster::canBeDeferred(model_, slot)) {
    with([](ObjectState& object) { object.deferredDeletion.reset(); });
    with([](ObjectState& object) {
      object.deferredDeletion = {cluster::PropagationPolicy::Background, false};
    });
    with([](ObjectState& object) {
      object.deferredDeletion = {cluster::PropagationPolicy::Background, true};
    });
  }
  return others;
}

// States that differ from this one in that part.
std::vector<StateChanges::Words> StateChanges::of(Words& words, const StatePart& part) const {
  if (part.kind == PartKind::Object) return ofObject(words, part.number);
  std::vector<Words> others;
  const auto add = [&](const auto& change) {
    Words other = words;
    change(view(other));
    if (other != words) others.push_back(std::move(other));
  };
  for (const bool flag : {false, true}) {
    if (part.kind == PartKind::Link)
      add([&](cluster::StateRef state) { state.setLink(part.number, {.recorded = flag, .stale = false}); });
    if (part.kind == PartKind::Step)
      add([&](cluster::StateRef state) {
        state.setStep(part.number, {.sent = true, .done = flag, .flight = {}});
      });
    if (part.kind == PartKind::Work)
      add([&](cluster::StateRef state) {
        state.setWork(part.number, {.deleting = flag, .next = 0, .flight = {}});
      });
  }
  return others;
}

}  // namespace lastout::testing

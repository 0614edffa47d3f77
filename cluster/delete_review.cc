// The review of a DELETE: decided at first sight, confirmed by a second read, committed. Three moments, and
// the rest of the cluster goes on between them.
#include "admission/deletion_effect.h"
#include "cluster/transition.h"
#include "kube/well_known.h"

namespace lastout::cluster {

namespace {

constexpr admission::Verdict kProtected{.allowed = false, .reason = admission::Reason::Protected};

// The API server finds another object, or another version of it, than the request insists on.
bool inConflict(const DeleteRequest& request, const Flight& flight) {
  switch (request.precondition) {
    case Precondition::None:
      return false;
    case Precondition::Uid:
      return flight.stale;
    case Precondition::ResourceVersion:
      return flight.stale || flight.touched;
  }
  return false;
}

admission::RequestedPropagation requestedPropagationOf(const std::optional<PropagationPolicy>& policy) {
  return admission::requestedPropagationOf(policy ? toString(*policy) : std::string_view());
}

}  // namespace

admission::Verdict Transition::decide(Slot slot) const {
  return model_.guarded ? machine_.decide(state_, slot) : admission::Verdict{};
}

admission::Verdict Transition::decide(const DeleteRequest& request) const {
  if (!model_.guarded) return {};
  const uint16_t finalizers = state_.finalizers(request.slot);
  const admission::DeletionEffect deletionEffect =
      admission::deletionEffectOf((finalizers & info(request.slot).heldBit) != 0,
                                  (finalizers & kForegroundBit) != 0, requestedPropagationOf(request.policy));
  return machine_.decide(state_, request.slot, deletionEffect);
}

bool Transition::isProtected(const DeleteRequest& request) const {
  if (model_.policies.none()) return false;
  return isDeniedByPolicy(model_, state_,
                          {.slot = request.slot,
                           .actor = request.actor,
                           .by = request.by,
                           .orphans = policyOf(request) == PropagationPolicy::Orphan});
}

bool Transition::isRefused(const DeleteRequest& request) const {
  return kube::isImmortal(info(request.slot).key) || webhookFails(request.slot, &Interception::onDelete) ||
         !decide(request).allowed || isProtected(request);
}

std::optional<PropagationPolicy> Transition::policyOf(const DeleteRequest& request) const {
  const bool isSaid = (state_.finalizers(request.slot) & (kForegroundBit | kOrphanBit)) != 0;
  if (request.policy || isSaid) return request.policy;
  return defaultPolicy(info(request.slot).key.type);
}

DeleteResult Transition::send(const DeleteRequest& request, Flight& flight) {
  emit({.kind = EventKind::Requested, .actor = request.actor, .slot = request.slot, .by = request.by});
  if (!isPresent(request.slot)) return DeleteResult::NotFound;
  if (inConflict(request, flight)) return DeleteResult::Conflict;
  // A Namespace that already terminates is answered without any review.
  if (info(request.slot).kind == SlotKind::Namespace && isTerminating(request.slot))
    return DeleteResult::Done;
  if (kube::isImmortal(info(request.slot).key)) return deny(request, flight, {}, "Forbidden");
  if (webhookFails(request.slot, &Interception::onDelete)) return deny(request, flight, {}, "InternalError");
  const admission::Verdict verdict = verdict_ != nullptr ? *verdict_ : decide(request);
  if (!verdict.allowed) return deny(request, flight, verdict);
  if (isProtected(request)) return deny(request, flight, kProtected);
  if (verdict.guarded) {
    flight = {.phase = Flight::Phase::Decided};
    return DeleteResult::InFlight;
  }
  checkUnconfirmed(request);
  commitDelete(request);
  return DeleteResult::Done;
}

DeleteResult Transition::sendAtOnce(const DeleteRequest& request) {
  Flight flight;
  const DeleteResult answer = send(request, flight);
  if (answer != DeleteResult::InFlight) return answer;
  checkUnconfirmed(request);
  commitDelete(request);
  return DeleteResult::Done;
}

// No confirming read says that the criteria held: they have to hold now.
void Transition::checkUnconfirmed(const DeleteRequest& request) {
  const Slot slot = request.slot;
  if (!model_.guarded || !machine_.isNamed(slot) || keepsHeld(request)) return;
  if (!machine_.criteriaAreMet(state_, slot)) markUnsafe();
}

// After this DELETE the provider and what it runs are there, until lastout takes its finalizer off.
bool Transition::keepsHeld(const DeleteRequest& request) const {
  return machine_.isHeldBack(request.slot, withPolicy(state_.finalizers(request.slot), policyOf(request)));
}

bool Transition::criteriaAreMet(Slot slot) const { return machine_.criteriaAreMet(state_, slot); }

void Transition::release(Slot provider, bool criteriaWereMet) {
  if (!criteriaWereMet) markUnsafe();
  dropFinalizers(provider, info(provider).heldBit, Actor::Lastout);
}

void Transition::markUnsafe() { state_.setMonitors(state_.monitors() | kUnsafeBit); }

DeleteResult Transition::confirm(const DeleteRequest& request, Flight& flight) {
  if (model_.confirms && isPresent(request.slot)) {
    const admission::Verdict verdict = decide(request);
    if (!verdict.allowed) return deny(request, flight, verdict);
  }
  // Policies are asked last.
  if (isPresent(request.slot) && isProtected(request)) return deny(request, flight, kProtected);
  flight.phase = Flight::Phase::Confirmed;
  flight.criteriaWereMet = machine_.criteriaAreMet(state_, request.slot);
  return DeleteResult::InFlight;
}

DeleteResult Transition::commit(const DeleteRequest& request, Flight& flight) {
  const Flight before = flight;
  flight = {};
  if (!isPresent(request.slot)) return DeleteResult::NotFound;
  if (inConflict(request, before)) return DeleteResult::Conflict;
  if (before.touched || before.stale) {
    // The object is not the one that was reviewed: the API server reviews its DELETE again.
    if (webhookFails(request.slot, &Interception::onDelete))
      return deny(request, flight, {}, "InternalError");
    const admission::Verdict verdict = decide(request);
    if (!verdict.allowed) return deny(request, flight, verdict);
    if (isProtected(request)) return deny(request, flight, kProtected);
    flight = {.phase = Flight::Phase::Decided};
    return DeleteResult::InFlight;
  }
  if (!before.criteriaWereMet && !keepsHeld(request)) markUnsafe();
  commitDelete(request);
  return DeleteResult::Done;
}

DeleteResult Transition::deny(const DeleteRequest& request, Flight& flight, const admission::Verdict& verdict,
                              const char* refused) {
  flight = {};
  emit({.kind = EventKind::Denied,
        .actor = request.actor,
        .slot = request.slot,
        .by = request.by,
        .verdict = verdict,
        .refused = refused});
  // What a policy alone denies is not deferred: nobody knows whether it is ever to go.
  if (refused == nullptr && verdict.reason != admission::Reason::Protected) deferDeletion(*this, request);
  return DeleteResult::Denied;
}

}  // namespace lastout::cluster

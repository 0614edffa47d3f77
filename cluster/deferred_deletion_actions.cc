// The deletions that lastout denied, and runs later (docs/concepts.md, "Deferred deletions").
#include <algorithm>

#include "admission/deferral.h"
#include "cluster/transition.h"
#include "control/deferred_deletion_rule.h"
#include "control/owner_now.h"

namespace lastout::cluster {

namespace {

// Returns true if an existing CriticalService records the deletion of the object; `wants`: which modes count.
template <class Wants>
bool hasRecorder(const Transition& transition, Slot slot, Wants wants) {
  const Model& model = transition.model();
  return std::ranges::any_of(
      transition.info(slot).guardEntries, [&](const admission::GuardEntry& guardEntry) {
        const Slot service = model.services[guardEntry.service];
        return admission::recordsDeferral(guardEntry.guardedAs, service == slot) &&
               transition.isPresent(service) && wants(model.serviceSpecs[guardEntry.service].deferral);
      });
}

// Returns whether lastout may rely on what it sees of the owner: by its watches only if one follows it.
bool isBelieved(const Transition& transition, Slot owner, Sight sight) {
  return sight == Sight::ByReads || owner == kNone || isFollowed(transition, owner) ||
         transition.info(owner).kind == SlotKind::AppliedManifestWork;
}

control::OwnerNow ownerNow(const Transition& transition, OwnerState state, Slot owner, bool believed) {
  const bool isThere = believed && state == OwnerState::Current && transition.isPresent(owner);
  return control::ownerNow({.isThere = isThere,
                            .isTypeBelieved = believed,
                            .terminates = isThere && transition.isTerminating(owner),
                            .orphans = isThere && (transition.state().finalizers(owner) & kOrphanBit) != 0});
}

// It is there although its work's agent, which has asked for its deletion once, is done, or has forgotten it:
// somebody refused that, and lastout's memory of it may be gone with a CriticalService.
bool isDeferredByWork(const Transition& transition, Slot slot) {
  if (!transition.isLive(slot)) return false;
  const ObjectState object = transition.state().object(slot);
  const std::vector<OwnerLink>& owners = transition.info(slot).owners;
  for (size_t i = 0; i < owners.size(); ++i) {
    if (object.owner(i) == OwnerState::Current && isLeftBehind(transition, owners[i].owner, slot))
      return true;
  }
  return false;
}

// The status of a CriticalService holds the deferred deletion of an object that it guards: it wants that.
bool isRecordedBy(const Transition& transition, uint32_t service, Slot slot) {
  const auto& deferred = transition.state().object(slot).deferredDeletion;
  return deferred &&
         admission::isDeferred(transition.model().serviceSpecs[service].deferral, !deferred->byPerson);
}

// A state, for the plan. Who adopts or orphans an object takes its deletion back there and then.
class StateDeferral {
 public:
  explicit StateDeferral(const Transition& transition) : transition_(transition) {}

  bool isRecorded(Slot slot) const {
    return object(slot).deferredDeletion || isDeferredByWork(transition_, slot);
  }
  static bool isWanted(Slot /*slot*/) { return true; }
  bool isLive(Slot slot) const { return transition_.isLive(slot); }
  bool isAllowed(Slot slot) const { return transition_.decide(slot).allowed; }
  control::DeferralState deferralState(Slot slot) const {
    return deferralStateOf(transition_, slot, Sight::ByReads);
  }
  template <class Holds>
  bool anyBefore(Slot slot, Holds holds) const {
    const SlotInfo& info = transition_.info(slot);
    if (std::ranges::any_of(info.content, holds)) return true;
    return info.kind == SlotKind::CriticalService && info.service != kNone &&
           std::ranges::any_of(transition_.model().deferredByService[info.service], [&](Slot other) {
             return isRecordedBy(transition_, info.service, other) && holds(other);
           });
  }

 private:
  ObjectState object(Slot slot) const { return transition_.state().object(slot); }

  const Transition& transition_;
};

}  // namespace

void deferDeletion(Transition& transition, const DeleteRequest& request) {
  if (!transition.model().runsDeferredDeletions || request.actor == Actor::Lastout) return;
  const bool byController = request.actor != Actor::Client;
  if (!byController && request.precondition == Precondition::ResourceVersion) return;
  const auto wants = [&](criticalservice::DeferralMode deferral) {
    return admission::isDeferred(deferral, byController);
  };
  if (!transition.isLive(request.slot) || !hasRecorder(transition, request.slot, wants)) return;
  ObjectState object = transition.state().object(request.slot);
  if (object.deferredDeletion && object.deferredDeletion->byPerson && byController) return;
  object.deferredDeletion = {request.policy.value_or(PropagationPolicy::Background), !byController};
  transition.state().setObject(request.slot, object);
}

void forgetDeferredDeletionsOf(Transition& transition, Slot service) {
  const uint32_t number = transition.info(service).service;
  if (!transition.model().runsDeferredDeletions || number == kNone) return;
  for (const Slot slot : transition.model().deferredByService[number]) {
    ObjectState object = transition.state().object(slot);
    if (!object.deferredDeletion) continue;
    const bool byController = !object.deferredDeletion->byPerson;
    const auto wants = [&](criticalservice::DeferralMode deferral) {
      return admission::isDeferred(deferral, byController);
    };
    if (hasRecorder(transition, slot, wants)) continue;
    object.deferredDeletion.reset();
    transition.state().setObject(slot, object);
  }
}

bool isDeferredForControllers(const Transition& transition, Slot slot) {
  return hasRecorder(transition, slot, [](criticalservice::DeferralMode deferral) {
    return admission::isDeferred(deferral, true);
  });
}

bool isAnyPresent(const Transition& transition, const std::vector<uint32_t>& services) {
  return std::ranges::any_of(
      services, [&](uint32_t service) { return transition.isPresent(transition.model().services[service]); });
}

// Namespaces, CRDs and CriticalServices always are.
bool isFollowed(const Transition& transition, Slot slot) {
  const SlotInfo& info = transition.info(slot);
  return info.kind == SlotKind::Namespace || info.kind == SlotKind::Crd ||
         info.kind == SlotKind::CriticalService || isAnyPresent(transition, info.followers);
}

bool hasRecorder(const Transition& transition, Slot slot) {
  return hasRecorder(transition, slot, [](criticalservice::DeferralMode) { return true; });
}

control::DeferralState deferralStateOf(const Transition& transition, Slot slot, Sight sight) {
  const SlotInfo& info = transition.info(slot);
  const ObjectState object = transition.state().object(slot);
  control::DeferralFacts facts;
  if (object.deferredDeletion && object.deferredDeletion->byPerson)
    facts.proof = control::RequestProof::OfPerson;
  facts.spaceTerminates = transition.isTerminating(info.namespaceSlot);
  for (size_t i = 0; i < info.owners.size(); ++i) {
    if (object.owner(i) == OwnerState::None) continue;
    const Slot owner = info.owners[i].owner;
    facts.owners.add(ownerNow(transition, object.owner(i), owner, isBelieved(transition, owner, sight)));
  }
  return control::deferralStateOf(facts);
}

control::Fate deferredDeletionFate(const Transition& transition, Slot slot) {
  return control::fateOf(StateDeferral(transition), slot);
}

bool lastoutDeletes(const Transition& transition, Slot slot, const ObjectState& object) {
  return object.lastout.phase == Flight::Phase::None &&
         deferredDeletionFate(transition, slot) == control::Fate::Delete;
}

// It insists on the object as it was looked at: who adopts it meanwhile takes its deletion back.
DeleteRequest lastoutRequest(Slot slot, const ObjectState& object) {
  DeleteRequest request{.actor = Actor::Lastout,
                        .by = kNone,
                        .slot = slot,
                        .policy = {},
                        .precondition = Precondition::ResourceVersion};
  if (object.deferredDeletion) request.policy = object.deferredDeletion->policy;
  return request;
}

}  // namespace lastout::cluster

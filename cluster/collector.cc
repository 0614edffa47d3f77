// The garbage collector: deletes what no owner is left for, by the rules of kube-controller-manager's own
// graph.
#include "cluster/transition.h"

namespace lastout::cluster {

namespace {

// How one owner reference stands (the collector's classification).
enum class ReferenceClass : uint8_t {
  None,
  Solid,     // the owner is there, and does not wait for its dependents
  Dangling,  // it is gone, or another object has its name now
  Waiting,   // it terminates in the foreground, waiting for this object
};

ReferenceClass classOf(const Transition& transition, const ObjectState& object, Slot slot, size_t link) {
  const OwnerState state = object.owner(link);
  if (state == OwnerState::None) return ReferenceClass::None;
  const Slot owner = transition.info(slot).owners[link].owner;
  if (state == OwnerState::Dangling || !transition.isPresent(owner)) return ReferenceClass::Dangling;
  const bool foreground = (transition.state().finalizers(owner) & kForegroundBit) != 0;
  return transition.isTerminating(owner) && foreground ? ReferenceClass::Waiting : ReferenceClass::Solid;
}

struct Owners {
  bool solid = false;
  bool dangling = false;
  bool waiting = false;
  bool unresolved = false;  // one cannot be looked for: the collector fails there, and tries again
};

Owners classify(const Transition& transition, Slot slot, const ObjectState& object) {
  Owners result;
  for (size_t i = 0; i < transition.info(slot).owners.size(); ++i) {
    const ReferenceClass one = classOf(transition, object, slot, i);
    result.unresolved =
        result.unresolved || (one != ReferenceClass::None && transition.info(slot).owners[i].unresolved);
    result.solid = result.solid || one == ReferenceClass::Solid;
    result.dangling = result.dangling || one == ReferenceClass::Dangling;
    result.waiting = result.waiting || one == ReferenceClass::Waiting;
  }
  return result;
}

// Calls visit(dependent, index of its link) for each present dependent that means this very object, until it
// returns true; then that is the answer.
template <class Visit>
bool anyDependent(const Transition& transition, Slot slot, Visit visit) {
  for (Slot dependent : transition.info(slot).dependents) {
    if (!transition.isPresent(dependent)) continue;
    const ObjectState object = transition.state().object(dependent);
    const std::vector<OwnerLink>& links = transition.info(dependent).owners;
    for (size_t i = 0; i < links.size(); ++i) {
      if (links[i].owner == slot && object.owner(i) == OwnerState::Current && visit(dependent, i))
        return true;
    }
  }
  return false;
}

bool hasDependents(const Transition& transition, Slot slot, bool blockingOnly) {
  return anyDependent(transition, slot, [&](Slot dependent, size_t i) {
    return !blockingOnly || (transition.info(dependent).owners[i].blockOwnerDeletion &&
                             !transition.state().object(dependent).isUnblocked(i));
  });
}

// Returns true if one of the object's dependents waits for its own dependents already, being deleted in the
// foreground: if the object waited for its dependents in the foreground, too, both might wait for each other.
bool closesRing(const Transition& transition, Slot slot) {
  return anyDependent(transition, slot, [&](Slot dependent, size_t) {
    return transition.isTerminating(dependent) &&
           (transition.state().finalizers(dependent) & kForegroundBit) != 0;
  });
}

bool blocksAnyOwner(const Transition& transition, Slot slot, const ObjectState& object) {
  const std::vector<OwnerLink>& links = transition.info(slot).owners;
  for (size_t i = 0; i < links.size(); ++i) {
    if (links[i].blockOwnerDeletion && object.owner(i) == OwnerState::Current && !object.isUnblocked(i))
      return true;
  }
  return false;
}

// Returns true if the collector sets blockOwnerDeletion of the object's references to false before it deletes
// it in the foreground: all its owners that are left wait for it, it blocks one of them, and it closes a ring
// (attemptToDeleteItem() of kube-controller-manager).
bool unblocksOwners(const Transition& transition, Slot slot, const ObjectState& object,
                    const Owners& owners) {
  return !owners.solid && owners.waiting && !owners.unresolved && blocksAnyOwner(transition, slot, object) &&
         closesRing(transition, slot);
}

void unblockOwners(Transition& transition, Slot slot) {
  ObjectState object = transition.state().object(slot);
  for (size_t i = 0; i < transition.info(slot).owners.size(); ++i) {
    if (object.owner(i) == OwnerState::Current) object.unblock(i);
  }
  transition.update(slot, object, Actor::Collector);
}

// Some owners are solid and others are not: the references to the others are dropped.
bool hasLooseReferences(const Owners& owners) {
  return owners.solid && (owners.dangling || owners.waiting) && !owners.unresolved;
}

void dropLooseReferences(Transition& transition, Slot slot) {
  ObjectState object = transition.state().object(slot);
  for (size_t i = 0; i < transition.info(slot).owners.size(); ++i) {
    if (classOf(transition, object, slot, i) != ReferenceClass::Solid) object.setOwner(i, OwnerState::None);
  }
  transition.update(slot, object, Actor::Collector);
}

// What orphans its dependents is released once each of them was written.
bool wantsRelease(const Transition& transition, Slot slot, const ObjectState& object) {
  if (object.live()) {
    if (object.owners == 0) return false;
    const Owners owners = classify(transition, slot, object);
    return hasLooseReferences(owners) || unblocksOwners(transition, slot, object, owners);
  }
  if ((object.finalizers & kOrphanBit) != 0) return true;
  return (object.finalizers & kForegroundBit) != 0 && !hasDependents(transition, slot, true);
}

}  // namespace

std::vector<Slot> solidOwners(const Transition& transition, Slot slot) {
  std::vector<Slot> result;
  const ObjectState object = transition.state().object(slot);
  const std::vector<OwnerLink>& links = transition.info(slot).owners;
  for (size_t i = 0; i < links.size(); ++i) {
    if (classOf(transition, object, slot, i) == ReferenceClass::Solid) result.push_back(links[i].owner);
  }
  return result;
}

std::vector<Slot> refusedReleases(const Transition& transition, Slot slot) {
  std::vector<Slot> refused;
  const ObjectState object = transition.state().object(slot);
  if (!object.present() || !wantsRelease(transition, slot, object)) return refused;
  if (transition.webhookFails(slot, &Interception::onRelease)) refused.push_back(slot);
  if (object.live() || (object.finalizers & kOrphanBit) == 0) return refused;
  anyDependent(transition, slot, [&](Slot dependent, size_t) {
    if (transition.webhookFails(dependent, &Interception::onRelease)) refused.push_back(dependent);
    return false;
  });
  return refused;
}

bool collectorDeletes(const Transition& transition, Slot slot, const ObjectState& object) {
  // What already terminates is left alone, unless it waits for its own dependents in the foreground.
  if (!object.live() || object.owners == 0) return false;
  const Owners owners = classify(transition, slot, object);
  return !owners.solid && (owners.dangling || owners.waiting) && !owners.unresolved &&
         !unblocksOwners(transition, slot, object, owners);
}

DeleteRequest collectorRequest(const Transition& transition, Slot slot) {
  const ObjectState object = transition.state().object(slot);
  DeleteRequest request{.actor = Actor::Collector,
                        .by = kNone,
                        .slot = slot,
                        .policy = PropagationPolicy::Background,
                        .precondition = Precondition::Uid};
  if (classify(transition, slot, object).waiting && hasDependents(transition, slot, false))
    request.policy = PropagationPolicy::Foreground;
  else if ((object.finalizers & kOrphanBit) != 0)
    request.policy = PropagationPolicy::Orphan;
  else if ((object.finalizers & kForegroundBit) != 0)
    request.policy = PropagationPolicy::Foreground;
  return request;
}

bool collectorReleases(const Transition& transition, Slot slot, const ObjectState& object) {
  return wantsRelease(transition, slot, object) && refusedReleases(transition, slot).empty();
}

void collectorRelease(Transition& transition, Slot slot) {
  const ObjectState object = transition.state().object(slot);
  if (object.live() && hasLooseReferences(classify(transition, slot, object))) {
    dropLooseReferences(transition, slot);
  } else if (object.live()) {
    unblockOwners(transition, slot);
  } else if ((object.finalizers & kOrphanBit) != 0) {
    anyDependent(transition, slot, [&](Slot dependent, size_t i) {
      ObjectState orphan = transition.state().object(dependent);
      orphan.setOwner(i, OwnerState::None);
      orphan.takeBackDeferredDeletion();
      transition.update(dependent, orphan, Actor::Collector);
      return false;
    });
    transition.dropFinalizers(slot, kOrphanBit, Actor::Collector);
  } else {
    transition.dropFinalizers(slot, kForegroundBit, Actor::Collector);
  }
}

}  // namespace lastout::cluster

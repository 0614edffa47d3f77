// An AppliedManifestWork is kept while what it has applied is there (docs/concepts.md, "Kept works").
#include "admission/kept_work.h"

#include "cluster/transition.h"

namespace lastout::cluster {

namespace {

bool owns(const Transition& transition, Slot applied, Slot slot) {
  const ObjectState object = transition.state().object(slot);
  const std::vector<OwnerLink>& owners = transition.info(slot).owners;
  for (size_t i = 0; i < owners.size(); ++i) {
    if (owners[i].owner == applied && object.owner(i) == OwnerState::Current) return true;
  }
  return false;
}

// The status of the AppliedManifestWork lists it, and means the object that is there.
bool isRecorded(const Transition& transition, Slot applied, Slot slot) {
  const std::vector<uint32_t>& links = transition.info(slot).links;
  return std::any_of(links.begin(), links.end(), [&](uint32_t link) {
    const LinkState state = transition.state().link(link);
    return transition.model().links[link].work == transition.info(applied).work && state.recorded &&
           !state.stale;
  });
}

bool isLastoutsOwn(const Transition& transition, Slot slot) {
  const kube::ObjectKey& key = transition.info(slot).key;
  if (key == kube::crdKey(criticalservice::criticalServiceType())) return true;
  const std::optional<kube::ObjectKey>& home = transition.model().lastoutNamespace;
  return home && (key == *home || (key.namespaceName == home->name && isFollowed(transition, slot)));
}

admission::Keeping keepingOf(const Transition& transition, Slot applied) {
  const uint16_t kept = transition.info(applied).keptBit;
  const uint16_t finalizers = transition.state().finalizers(applied);
  admission::KeptFacts facts{.terminates = transition.isTerminating(applied),
                             .isKept = (finalizers & kept) != 0,
                             .isHeldByOthers = (finalizers & ~kept) != 0};
  for (const Slot slot : transition.info(applied).dependents) {
    if (!transition.isPresent(slot) || !owns(transition, applied, slot)) continue;
    const bool isSeen = isFollowed(transition, slot);
    // Of what nobody follows the work's record says that it is there, and then that its deletion is
    // remembered.
    const bool isListed = (facts.isHeldByOthers || !facts.terminates) &&
                          isRecorded(transition, applied, slot) && isDeferredForControllers(transition, slot);
    if (!isSeen && !isListed && !transition.state().object(slot).deferredDeletion) continue;
    facts.ownsLastout = facts.ownsLastout || isLastoutsOwn(transition, slot);
    facts.ownsAwaited = facts.ownsAwaited || isAwaited(transition, slot);
    facts.ownsGuarded =
        facts.ownsGuarded || isListed || (isSeen && isDeferredForControllers(transition, slot));
    facts.ownsForsaken =
        facts.ownsForsaken || (transition.isLive(slot) && isSeen && !isStillDeferred(transition, slot));
  }
  return admission::keepingOf(facts);
}

}  // namespace

bool isKeptByLastoutAlone(const Transition& transition, Slot owner) {
  if (owner == kNone || !transition.isTerminating(owner)) return false;
  const uint16_t kept = transition.info(owner).keptBit;
  return kept != 0 && transition.state().finalizers(owner) == kept;
}

// Its agent writes the work's status after each pass.
bool isForgotten(const Transition& transition, Slot owner, Slot slot) {
  if (owner == kNone || !transition.isTerminating(owner)) return false;
  const SlotInfo& work = transition.info(owner);
  return work.work != kNone && work.keptBit != 0 &&
         (transition.state().finalizers(owner) & work.keptBit) != 0 &&
         !transition.state().work(work.work).deleting && !isRecorded(transition, owner, slot);
}

bool keepingChanges(const Transition& transition, Slot applied) {
  return transition.info(applied).keptBit != 0 && transition.isPresent(applied) &&
         keepingOf(transition, applied) != admission::Keeping::AsItIs;
}

void changeKeeping(Transition& transition, Slot applied) {
  ObjectState object = transition.state().object(applied);
  const uint16_t kept = transition.info(applied).keptBit;
  if (keepingOf(transition, applied) == admission::Keeping::Begins)
    object.finalizers |= kept;
  else
    object.finalizers &= static_cast<uint16_t>(~kept);
  transition.update(applied, object, Actor::Lastout);
}

}  // namespace lastout::cluster

// What lastout denied to controllers, it carries out later (docs/concepts.md, "Put-off deletions").
#include <algorithm>

#include "cluster/transition.h"

namespace lastout::cluster {

namespace {

// Whoever asks for nobody in particular. A person was told no, and may have changed their mind.
bool isPutOff(Actor actor) {
  return actor == Actor::Agent || actor == Actor::Collector || actor == Actor::Lifecycle;
}

// An owner is being deleted so that what it owns stays.
bool isOrphaned(const Transition& transition, Slot slot, const ObjectState& object) {
  const std::vector<OwnerLink>& owners = transition.info(slot).owners;
  for (size_t i = 0; i < owners.size(); ++i) {
    if (object.owner(i) == OwnerState::Current && transition.isTerminating(owners[i].owner) &&
        (transition.state().finalizers(owners[i].owner) & kOrphanBit) != 0)
      return true;
  }
  return false;
}

// lastout would delete it now, or is about to.
bool isDue(const Transition& transition, Slot slot, const ObjectState& object) {
  return object.putOff && object.live() && !isOrphaned(transition, slot, object) &&
         transition.decide(slot).allowed;
}

}  // namespace

void putOff(Transition& transition, const DeleteRequest& request) {
  if (!transition.model().carriesOut || !isPutOff(request.actor) || !transition.isLive(request.slot)) return;
  ObjectState object = transition.state().object(request.slot);
  object.putOff = request.policy.value_or(PropagationPolicy::Background);
  transition.state().setObject(request.slot, object);
}

// A container goes after what is in it: who takes it first takes that along.
bool lastoutDeletes(const Transition& transition, Slot slot, const ObjectState& object) {
  if (object.lastout.phase != Flight::Phase::None || !isDue(transition, slot, object)) return false;
  const std::vector<Slot>& content = transition.info(slot).content;
  return std::none_of(content.begin(), content.end(), [&](Slot inside) {
    return isDue(transition, inside, transition.state().object(inside));
  });
}

// It insists on the object as it was looked at: who adopts it meanwhile takes its deletion back.
DeleteRequest lastoutRequest(Slot slot, const ObjectState& object) {
  return {.actor = Actor::Lastout,
          .by = kNone,
          .slot = slot,
          .policy = object.putOff,
          .precondition = Precondition::ResourceVersion};
}

}  // namespace lastout::cluster

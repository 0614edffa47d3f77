// What lastout denied to controllers, it carries out later (docs/semantics.md, "Deletions that are put off").
#include "admission/put_off.h"

#include <algorithm>

#include "cluster/transition.h"

namespace lastout::cluster {

namespace {

admission::Asker askerOf(Actor actor) {
  return actor == Actor::Client ? admission::Asker::Person : admission::Asker::Controller;
}

admission::Wish wishFor(const Transition& transition, Slot slot, const ObjectState& object) {
  const SlotInfo& info = transition.info(slot);
  admission::Wish wish{.inTerminatingNamespace = transition.isTerminating(info.namespaceSlot)};
  for (size_t i = 0; i < info.owners.size(); ++i) {
    const OwnerState owner = object.owner(i);
    wish.hasOwners = wish.hasOwners || owner != OwnerState::None;
    wish.hasLiveOwner =
        wish.hasLiveOwner || (owner == OwnerState::Current && transition.isLive(info.owners[i].owner));
  }
  return wish;
}

// lastout would delete it now, or is about to.
bool isDue(const Transition& transition, Slot slot, const ObjectState& object) {
  return object.putOff && object.live() && isStillWanted(wishFor(transition, slot, object)) &&
         transition.decide(slot).allowed;
}

}  // namespace

void putOff(Transition& transition, const DeleteRequest& request) {
  if (!transition.model().carriesOut || request.actor == Actor::Lastout || !transition.isLive(request.slot) ||
      !isPutOff(askerOf(request.actor)))
    return;
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

DeleteRequest lastoutRequest(Slot slot, const ObjectState& object) {
  return {.actor = Actor::Lastout,
          .by = kNone,
          .slot = slot,
          .policy = object.putOff,
          .precondition = Precondition::Uid};
}

}  // namespace lastout::cluster

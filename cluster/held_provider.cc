// A provider whose CriticalServices all say Hold carries lastout's finalizer, until its criteria hold
// (docs/concepts.md, "Held providers").
#include "admission/held_provider.h"

#include "cluster/facts.h"
#include "cluster/transition.h"

namespace lastout::cluster {

namespace {

admission::Holding holdingNow(const Transition& transition, Slot provider) {
  const SlotInfo& info = transition.info(provider);
  const uint16_t finalizers = transition.state().finalizers(provider);
  const admission::ProviderGuards guards =
      admission::providerGuards(StateFacts(transition.model(), transition.state()), info.stakes);
  admission::HoldingFacts facts{.terminates = transition.isTerminating(provider),
                                .isHeld = (finalizers & info.heldBit) != 0,
                                .endsAnyway = (finalizers & kForegroundBit) != 0,
                                .isToBeHeld = guards.isToBeHeld()};
  if (facts.terminates && facts.isHeld) facts.mayEnd = transition.decide(provider).allowed;
  return admission::holdingOf(facts);
}

void setFlight(Transition& transition, Slot provider, const Flight& flight) {
  ObjectState object = transition.state().object(provider);
  object.lastout = flight;
  transition.state().setObject(provider, object);
}

}  // namespace

bool holdingChanges(const Transition& transition, Slot provider) {
  if (transition.info(provider).heldBit == 0 || !transition.isPresent(provider)) return false;
  if (transition.webhookFails(provider, &Interception::onUpdate)) return false;
  const admission::Holding holding = holdingNow(transition, provider);
  if (holding != admission::Holding::LetsItGo) return holding != admission::Holding::AsItIs;
  return transition.state().object(provider).lastout.phase == Flight::Phase::None;
}

void changeHolding(Transition& transition, Slot provider) {
  ObjectState object = transition.state().object(provider);
  const uint16_t held = transition.info(provider).heldBit;
  switch (holdingNow(transition, provider)) {
    case admission::Holding::AsItIs:
      break;
    case admission::Holding::Begins:
      object.finalizers |= held;
      transition.update(provider, object, Actor::Lastout);
      break;
    case admission::Holding::Ends:
      object.finalizers &= static_cast<uint16_t>(~held);
      transition.update(provider, object, Actor::Lastout);
      break;
    case admission::Holding::LetsItGo:
      setFlight(transition, provider, {.phase = Flight::Phase::Decided});
      break;
  }
}

// A DELETE of lastout's that was under way when the provider began to terminate ends in a conflict here, too.
bool isBeingLetGo(const Transition& transition, Slot provider) {
  return transition.isTerminating(provider) && transition.info(provider).heldBit != 0;
}

// What lets it go is read once more, and then the finalizer is taken off the object as it was looked at.
void goOnLettingGo(Transition& transition, Slot provider) {
  Flight flight = transition.state().object(provider).lastout;
  setFlight(transition, provider, {});
  if (flight.touched) return;
  if (flight.phase == Flight::Phase::Confirmed) {
    if (!transition.webhookFails(provider, &Interception::onUpdate))
      transition.release(provider, flight.criteriaHeld);
    return;
  }
  const bool mayGo = holdingNow(transition, provider) == admission::Holding::LetsItGo;
  if (transition.model().confirms && !mayGo) return;
  flight.phase = Flight::Phase::Confirmed;
  flight.criteriaHeld = transition.criteriaHold(provider);
  setFlight(transition, provider, flight);
}

}  // namespace lastout::cluster

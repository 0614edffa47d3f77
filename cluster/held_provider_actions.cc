// A provider whose CriticalServices all say Hold carries lastout's finalizer, until its criteria hold
// (docs/concepts.md, "Held providers").
#include "cluster/facts.h"
#include "cluster/transition.h"
#include "control/held_provider_rule.h"

namespace lastout::cluster {

namespace {

// A state, for the plan: there it is known which CriticalServices there are, and lastout holds what it may.
class StateOfProviders {
 public:
  explicit StateOfProviders(const Transition& transition) : transition_(transition) {}

  static bool mayHold() { return true; }
  static bool isUnsure() { return false; }
  bool terminates(Slot provider) const { return transition_.isTerminating(provider); }
  bool isHeld(Slot provider) const { return (finalizers(provider) & info(provider).heldBit) != 0; }
  bool endsAnyway(Slot provider) const { return (finalizers(provider) & kForegroundBit) != 0; }
  bool isToBeHeld(Slot provider) const {
    const StateFacts facts(transition_.model(), transition_.state());
    return admission::providerGuards(facts, info(provider).guardEntries).isToBeHeld();
  }
  bool mayEnd(Slot provider) const { return transition_.decide(provider).allowed; }

 private:
  const SlotInfo& info(Slot slot) const { return transition_.info(slot); }
  uint16_t finalizers(Slot slot) const { return transition_.state().finalizers(slot); }

  const Transition& transition_;
};

void setFlight(Transition& transition, Slot provider, const Flight& flight) {
  ObjectState object = transition.state().object(provider);
  object.lastout = flight;
  transition.state().setObject(provider, object);
}

}  // namespace

control::HeldProviderAction heldProviderPlan(const Transition& transition, Slot provider) {
  return control::planHeldProvider(StateOfProviders(transition), provider);
}

bool holdingChanges(const Transition& transition, Slot provider) {
  if (transition.info(provider).heldBit == 0 || !transition.isPresent(provider)) return false;
  if (transition.webhookFails(provider, &Interception::onUpdate)) return false;
  const control::HeldProviderAction holding = heldProviderPlan(transition, provider);
  if (holding != control::HeldProviderAction::LetsItGo) return holding != control::HeldProviderAction::AsItIs;
  return transition.state().object(provider).lastout.phase == Flight::Phase::None;
}

void changeHolding(Transition& transition, Slot provider) {
  ObjectState object = transition.state().object(provider);
  const uint16_t held = transition.info(provider).heldBit;
  switch (heldProviderPlan(transition, provider)) {
    case control::HeldProviderAction::AsItIs:
      break;
    case control::HeldProviderAction::Begins:
      object.finalizers |= held;
      transition.update(provider, object, Actor::Lastout);
      break;
    case control::HeldProviderAction::Ends:
      object.finalizers &= static_cast<uint16_t>(~held);
      transition.update(provider, object, Actor::Lastout);
      break;
    case control::HeldProviderAction::LetsItGo:
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
      transition.release(provider, flight.criteriaWereMet);
    return;
  }
  const bool mayGo = heldProviderPlan(transition, provider) == control::HeldProviderAction::LetsItGo;
  if (transition.model().confirms && !mayGo) return;
  flight.phase = Flight::Phase::Confirmed;
  flight.criteriaWereMet = transition.criteriaAreMet(provider);
  setFlight(transition, provider, flight);
}

}  // namespace lastout::cluster

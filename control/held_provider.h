// Held providers: a finalizer of lastout's on a provider lets a DELETE that leaves what it runs succeed, and
// keeps it until its criteria hold. One plan, over any source of facts: the server's, and a state of the
// machine (docs/concepts.md, "Held providers"). What a DELETE ends is in admission/held_provider.h.
#pragma once

#include <concepts>
#include <cstdint>

namespace lastout::control {

enum class HoldFinalizerAction : uint8_t {
  AsItIs,
  Begins,
  Ends,      // take the finalizer off: it is not wanted, or holds nothing any more
  LetsItGo,  // take it off, which deletes the provider: confirm the criteria first
};

// `Provider` is whatever numbers providers there. `mayHold`: false where all that is held is to be let go.
// `isUnsure`: more CriticalServices may be there than are known by now. `isHeld`: it carries the finalizer.
// `endsAnyway`: it is deleted in the foreground, which ends what it runs. `isToBeHeld`: somebody guards it,
// and each of them says Hold. `mayEnd`: a DELETE that ends it would be allowed; asked only of what is held
// and terminates.
template <class F, class Provider>
concept HeldProviderFacts = requires(const F& facts, Provider provider) {
  { facts.mayHold() } -> std::convertible_to<bool>;
  { facts.isUnsure() } -> std::convertible_to<bool>;
  { facts.terminates(provider) } -> std::convertible_to<bool>;
  { facts.isHeld(provider) } -> std::convertible_to<bool>;
  { facts.endsAnyway(provider) } -> std::convertible_to<bool>;
  { facts.isToBeHeld(provider) } -> std::convertible_to<bool>;
  { facts.mayEnd(provider) } -> std::convertible_to<bool>;
};

// Returns what lastout does next about the finalizer. A terminating object takes no new one, and keeps the
// one that it has while its DELETE would be denied: a change of `enforcement` to Deny does not release it.
// One that was allowed to end in the foreground is kept no longer: its name would be taken by an object that
// runs nothing.
template <class Provider, HeldProviderFacts<Provider> F>
HoldFinalizerAction planHeldProvider(const F& facts, const Provider& provider) {
  const bool isHeld = facts.isHeld(provider);
  if (!facts.mayHold()) return isHeld ? HoldFinalizerAction::Ends : HoldFinalizerAction::AsItIs;
  if (facts.isUnsure()) return HoldFinalizerAction::AsItIs;
  const bool terminates = facts.terminates(provider);
  if (!isHeld)
    return !terminates && facts.isToBeHeld(provider) ? HoldFinalizerAction::Begins
                                                     : HoldFinalizerAction::AsItIs;
  if (!terminates)
    return facts.isToBeHeld(provider) ? HoldFinalizerAction::AsItIs : HoldFinalizerAction::Ends;
  if (facts.endsAnyway(provider)) return HoldFinalizerAction::Ends;
  return facts.mayEnd(provider) ? HoldFinalizerAction::LetsItGo : HoldFinalizerAction::AsItIs;
}

}  // namespace lastout::control

// Held providers: lastout's finalizer on a provider lets a DELETE succeed that leaves the provider's Pods
// running, and keeps the provider until its criteria hold. One rule for any source of facts: the server's
// view, and a state of the machine (docs/concepts.md, "Held providers"). admission/deletion_effect.h says
// which DELETEs stop the Pods.
#pragma once

#include <concepts>
#include <cstdint>

namespace lastout::control {

enum class HeldProviderAction : uint8_t {
  AsItIs,
  Begins,
  Ends,      // take the finalizer off: it is not wanted, or holds nothing any more
  LetsItGo,  // take it off, which deletes the provider: confirm the criteria first
};

// `Provider` identifies a provider in that source of facts. `mayHold`: false if lastout must release every
// held provider. `isUnsure`: CriticalServices may exist that are not known yet. `isHeld`: the provider
// carries the finalizer. `endsAnyway`: the provider is deleted in the foreground, which deletes its Pods.
// `isToBeHeld`: a CriticalService guards the provider, and every one that does says Hold. `mayEnd`: lastout
// would allow a DELETE that stops its Pods; called only for a held provider that is being deleted.
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
// lastout does not keep a provider whose foreground deletion it allowed: an object that runs nothing would
// occupy the name.
template <class Provider, HeldProviderFacts<Provider> F>
HeldProviderAction planHeldProvider(const F& facts, const Provider& provider) {
  const bool isHeld = facts.isHeld(provider);
  if (!facts.mayHold()) return isHeld ? HeldProviderAction::Ends : HeldProviderAction::AsItIs;
  if (facts.isUnsure()) return HeldProviderAction::AsItIs;
  const bool terminates = facts.terminates(provider);
  if (!isHeld)
    return !terminates && facts.isToBeHeld(provider) ? HeldProviderAction::Begins
                                                     : HeldProviderAction::AsItIs;
  if (!terminates) return facts.isToBeHeld(provider) ? HeldProviderAction::AsItIs : HeldProviderAction::Ends;
  if (facts.endsAnyway(provider)) return HeldProviderAction::Ends;
  return facts.mayEnd(provider) ? HeldProviderAction::LetsItGo : HeldProviderAction::AsItIs;
}

}  // namespace lastout::control

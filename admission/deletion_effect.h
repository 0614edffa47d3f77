// DeletionEffect: whether a DELETE stops the Pods of a provider, or leaves it running with lastout's
// finalizer on it (docs/concepts.md, "Held providers"). control/held_provider_rule.h decides when lastout
// takes the finalizer off.
#pragma once

#include <cstdint>
#include <string_view>

#include "admission/decide.h"

namespace lastout::admission {

// The propagationPolicy of a DELETE, as far as it changes the effect.
enum class RequestedPropagation : uint8_t { Nothing, Foreground, BackgroundOrOrphan };

constexpr RequestedPropagation requestedPropagationOf(std::string_view propagationPolicy) {
  if (propagationPolicy.empty()) return RequestedPropagation::Nothing;
  return propagationPolicy == "Foreground" ? RequestedPropagation::Foreground
                                           : RequestedPropagation::BackgroundOrOrphan;
}

// Returns the effect of a DELETE. The default of the types that can be held is Background. The policy of an
// earlier DELETE stays in force unless this DELETE names one (docs/semantics.md, "propagation").
constexpr DeletionEffect deletionEffectOf(bool isHeld, bool waitsForDependents, RequestedPropagation asked) {
  const bool inForeground = asked == RequestedPropagation::Foreground ||
                            (asked == RequestedPropagation::Nothing && waitsForDependents);
  return isHeld && !inForeground ? DeletionEffect::Held : DeletionEffect::Ending;
}

}  // namespace lastout::admission

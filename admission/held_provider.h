// Held providers: whether a DELETE ends a provider, or leaves it there with lastout's finalizer on it
// (docs/concepts.md, "Held providers"). What becomes of the finalizer is in control/held_provider.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "admission/decide.h"
#include "graph/condition.h"
#include "kube/well_known.h"

namespace lastout::admission {

// What a DELETE says of dependents, as far as it matters here.
enum class RequestedPropagation : uint8_t { Nothing, Foreground, BackgroundOrOrphan };

constexpr RequestedPropagation requestedPropagationOf(std::string_view propagationPolicy) {
  if (propagationPolicy.empty()) return RequestedPropagation::Nothing;
  return propagationPolicy == "Foreground" ? RequestedPropagation::Foreground
                                           : RequestedPropagation::BackgroundOrOrphan;
}

// The default of the types that can be held is Background. What an earlier DELETE has asked for stays, unless
// this one says otherwise (docs/semantics.md, "propagation").
constexpr DeletionEffect deletionEffectOf(bool isHeld, bool waitsForDependents, RequestedPropagation asked) {
  const bool inForeground = asked == RequestedPropagation::Foreground ||
                            (asked == RequestedPropagation::Nothing && waitsForDependents);
  return isHeld && !inForeground ? DeletionEffect::Held : DeletionEffect::Ending;
}

}  // namespace lastout::admission

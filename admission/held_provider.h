// Held providers: a finalizer of lastout's on a provider lets a DELETE that leaves what it runs succeed, and
// keeps it until its criteria hold. One rule, over any source of facts: the server's, and a state of the
// machine (docs/concepts.md, "Held providers").
#pragma once

#include <cstdint>
#include <string_view>

#include "admission/decide.h"
#include "graph/condition.h"
#include "kube/well_known.h"

namespace lastout::admission {

inline constexpr std::string_view kHeldFinalizer = graph::kCriteriaFinalizer;

// A provider, and what the CriticalServices say that guard it.
struct HoldingFacts {
  bool terminates = false;
  bool isHeld = false;      // it carries the finalizer
  bool endsAnyway = false;  // it is deleted in the foreground, which ends what it runs
  bool isToBeHeld = false;  // somebody guards it, and each of them says Hold
  bool mayEnd = false;      // a DELETE that ends it would be allowed, at first sight
  bool isUnsure = false;    // more CriticalServices may be there than are known by now
};

enum class Holding : uint8_t {
  AsItIs,
  Begins,
  Ends,      // nobody wants it held, or nothing is left to hold: nothing ends with the finalizer
  LetsItGo,  // the finalizer's removal is its deletion: what that rests on has to be confirmed before
};

// A terminating object takes no new finalizer, and keeps the one that it has while its DELETE would be
// denied: who says Deny now wants it to stay no less. One that was allowed to end in the foreground is kept
// no longer: its name would be taken by an object that runs nothing.
constexpr Holding holdingOf(const HoldingFacts& facts) {
  if (facts.isUnsure) return Holding::AsItIs;
  if (!facts.isHeld) return facts.isToBeHeld && !facts.terminates ? Holding::Begins : Holding::AsItIs;
  if (!facts.terminates) return facts.isToBeHeld ? Holding::AsItIs : Holding::Ends;
  if (facts.endsAnyway) return Holding::Ends;
  return facts.mayEnd ? Holding::LetsItGo : Holding::AsItIs;
}

// What a DELETE says of dependents, as far as it matters here.
enum class Asked : uint8_t { Nothing, Foreground, BackgroundOrOrphan };

constexpr Asked askedBy(std::string_view propagationPolicy) {
  if (propagationPolicy.empty()) return Asked::Nothing;
  return propagationPolicy == "Foreground" ? Asked::Foreground : Asked::BackgroundOrOrphan;
}

// The default of the types that can be held is Background. What an earlier DELETE has asked for stays, unless
// this one says otherwise (docs/semantics.md, "propagation").
constexpr Manner mannerOf(bool isHeld, bool waitsForDependents, Asked asked) {
  const bool inForeground = asked == Asked::Foreground || (asked == Asked::Nothing && waitsForDependents);
  return isHeld && !inForeground ? Manner::Held : Manner::Ending;
}

}  // namespace lastout::admission

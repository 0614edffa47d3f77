// Kept works: while what a work has applied is there, its AppliedManifestWork carries a finalizer of
// lastout's, so that neither it nor the ManifestWork on the hub is reported gone too early. One rule, over
// any source of facts: the server's, and a state of the machine (docs/concepts.md, "Kept works").
#pragma once

#include <cstdint>
#include <string_view>

#include "graph/condition.h"

namespace lastout::admission {

inline constexpr std::string_view kKeptFinalizer = graph::kAppliedObjectsFinalizer;

// An AppliedManifestWork, and of what it owns those objects that lastout follows and that are there.
struct KeptFacts {
  bool terminates = false;
  bool isKept = false;          // it carries the finalizer
  bool isHeldByOthers = false;  // it carries another one
  bool ownsGuarded = false;     // something whose deletion lastout would carry out after it has denied it
  bool ownsAny = false;
  bool ownsLastout = false;   // lastout's namespace, or the CRD of CriticalServices
  bool ownsForsaken = false;  // something that nobody has deleted, and whose deletion is not put off either
};

enum class Keeping : uint8_t { AsItIs, Begins, Ends };

// A terminating object takes no new finalizer. The agent removes its own when it has asked for every deletion
// once; what it failed to delete, and lastout does not carry out, is left to the garbage collector, which
// does nothing before the owner is gone: better the work is gone too early than never. A work that brings
// lastout itself is not kept: who would let it go?
constexpr Keeping keepingOf(const KeptFacts& facts) {
  const bool isToBeKept = facts.ownsGuarded && !facts.ownsLastout;
  if (!facts.terminates && isToBeKept != facts.isKept) return isToBeKept ? Keeping::Begins : Keeping::Ends;
  if (!facts.terminates || !facts.isKept) return Keeping::AsItIs;
  const bool isInVain = !facts.ownsAny || facts.ownsLastout || (facts.ownsForsaken && !facts.isHeldByOthers);
  return isInVain ? Keeping::Ends : Keeping::AsItIs;
}

}  // namespace lastout::admission

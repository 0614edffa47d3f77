// Kept works: while what a work has applied is there, its AppliedManifestWork carries a finalizer of
// lastout's, so that neither it nor the ManifestWork on the hub is reported gone too early. One rule, over
// any source of facts: the server's, and a state of the machine (docs/concepts.md, "Kept works").
#pragma once

#include <cstdint>
#include <string_view>

#include "graph/condition.h"

namespace lastout::admission {

inline constexpr std::string_view kKeptFinalizer = graph::kAppliedObjectsFinalizer;

// An AppliedManifestWork, and what it owns and is there. Awaited is what some CriticalService guards and
// would remember the deletion of, and every Namespace and CriticalService.
struct KeptFacts {
  bool terminates = false;
  bool isKept = false;          // it carries the finalizer
  bool isHeldByOthers = false;  // it carries another one
  bool ownsGuarded = false;     // something whose deletion lastout would carry out after it has denied it
  bool ownsAwaited = false;
  bool ownsForsaken = false;  // something that nobody has deleted, and that lastout will not delete either
  bool ownsLastout = false;   // lastout's namespace, something in it, or the CRD of CriticalServices
  bool isUnsure = false;      // more may be there than is known by now
};

enum class Keeping : uint8_t { AsItIs, Begins, Ends };

// A terminating object takes no new finalizer. The agent removes its own when it has asked for every deletion
// once; what it failed to delete, and lastout does not carry out, is left to the garbage collector, which
// does nothing before the owner is gone: better the work is gone too early than never. A work that brings
// lastout itself is not kept: who would let it go?
constexpr Keeping keepingOf(const KeptFacts& facts) {
  const Keeping ends = facts.isUnsure ? Keeping::AsItIs : Keeping::Ends;
  const bool isToBeKept = facts.ownsGuarded && !facts.ownsLastout;
  if (!facts.terminates && isToBeKept && !facts.isKept) return Keeping::Begins;
  if (!facts.isKept) return Keeping::AsItIs;
  if (facts.ownsLastout) return Keeping::Ends;
  if (!facts.terminates) return isToBeKept ? Keeping::AsItIs : ends;
  if (!facts.ownsAwaited) return ends;
  return facts.ownsForsaken && !facts.isHeldByOthers ? Keeping::Ends : Keeping::AsItIs;
}

// Whether a deletion in which the agent of such a work failed is a deferred deletion: of what no
// CriticalService guards any more, and of what one guards that wants deferred deletions carried out.
constexpr bool isLeftToLastout(bool isGuarded, bool isWanted) { return !isGuarded || isWanted; }

}  // namespace lastout::admission

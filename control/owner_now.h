// The state of an object's owner, from what is known about it: one rule for the server's watches, for reads
// of the API server, and for a state of the machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <string_view>

#include "kube/well_known.h"

namespace lastout::control {

// What became of an owner of the object, since the deletion of the object was asked for.
enum class OwnerNow : uint8_t {
  Gone,       // or another object has its name
  Leaving,    // it is being deleted
  Orphaning,  // it is being deleted so that what it owns stays
  Staying,
};

// Returns true if the owner stays, or is deleted so that its dependents stay (orphaned).
constexpr bool keepsDependents(OwnerNow owner) {
  return owner != OwnerNow::Gone && owner != OwnerNow::Leaving;
}

// The owners that the object has now.
struct OwnersNow {
  bool any = false;
  bool anyKeepsDependents = false;  // one of them does

  constexpr void add(OwnerNow owner) {
    any = true;
    anyKeepsDependents = anyKeepsDependents || keepsDependents(owner);
  }
};

struct OwnerFacts {
  bool isThere = false;        // with the uid that the reference names
  bool isTypeBelieved = true;  // what is not there of its type is known to be gone
  bool terminates = false;
  bool orphans = false;  // it carries the finalizer `orphan`
};

// Returns the owner's state. An owner that is not seen and whose type is not followed may exist: Staying.
constexpr OwnerNow ownerNow(const OwnerFacts& facts) {
  if (!facts.isThere) return facts.isTypeBelieved ? OwnerNow::Gone : OwnerNow::Staying;
  if (!facts.terminates) return OwnerNow::Staying;
  return facts.orphans ? OwnerNow::Orphaning : OwnerNow::Leaving;
}

// True if an owner with these finalizers goes so that what it owns stays.
template <std::ranges::input_range Finalizers>
bool orphansDependents(const Finalizers& finalizers) {
  return std::ranges::any_of(finalizers, [](std::string_view one) { return one == kube::kOrphanFinalizer; });
}

}  // namespace lastout::control

// What has become of an owner of an object, by what is known of it: one rule for the server's watches, the
// reads past them, and a state of the machine.
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

// The owner stays, or goes so that the object stays.
constexpr bool holdsBack(OwnerNow owner) { return owner != OwnerNow::Gone && owner != OwnerNow::Leaving; }

// The owners that the object has now.
struct OwnersNow {
  bool any = false;
  bool holdBack = false;  // one of them does

  constexpr void add(OwnerNow owner) {
    any = true;
    holdBack = holdBack || holdsBack(owner);
  }
};

struct OwnerFacts {
  bool isThere = false;        // with the uid that the reference names
  bool isTypeBelieved = true;  // what is not there of its type is known to be gone
  bool terminates = false;
  bool orphans = false;  // it carries the finalizer `orphan`
};

// Returns Staying for an owner that nobody sees and whose type is not followed: it may be there.
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

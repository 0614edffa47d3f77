// What has become of an owner of an object, by what is known of it: one rule for the server's watches, the
// reads past them, and a state of the machine.
#pragma once

#include <algorithm>
#include <ranges>
#include <string_view>

#include "admission/deferred_deletion.h"
#include "kube/well_known.h"

namespace lastout::control {

struct OwnerFacts {
  bool isThere = false;        // with the uid that the reference names
  bool isTypeBelieved = true;  // what is not there of its type is known to be gone
  bool terminates = false;
  bool orphans = false;  // it carries the finalizer `orphan`
};

// Returns Staying for an owner that nobody sees and whose type is not followed: it may be there.
admission::OwnerNow ownerNow(const OwnerFacts& facts);

// True if an owner with these finalizers goes so that what it owns stays.
template <std::ranges::input_range Finalizers>
bool orphansDependents(const Finalizers& finalizers) {
  return std::ranges::any_of(finalizers, [](std::string_view one) { return one == kube::kOrphanFinalizer; });
}

}  // namespace lastout::control

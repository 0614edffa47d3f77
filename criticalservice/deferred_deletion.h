// DeferredDeletion: a denied deletion that lastout will run later, as a CriticalService's
// status.deferredDeletions records it for every replica.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object_key.h"
#include "kube/value.h"

namespace lastout::criticalservice {

// As in the CRD. A status records one deletion of an object, and a CriticalService guards its provider, the
// provider's ancestors, and the dependencies (criticalservice/dependencies.h bounds their number).
inline constexpr size_t kMostDeferredDeletions = 256;
inline constexpr size_t kMostOwners = 64;

// The lists in the status that hold deletions: entries under the former name are read until they are written
// again under the present one.
inline constexpr std::array<std::string_view, 2> kDeferredDeletionFields{"deferredDeletions", "putOff"};

// spec.deferredDeletions: whose denied deletions lastout defers, and runs once it allows them.
enum class DeferralMode : uint8_t {
  Controllers,  // those of users who do not ask again (the default): docs/operations.md says who
  Always,       // everybody's
  Never,
};

struct DeferredDeletion {
  kube::ObjectKey object;
  std::string uid;                  // of the very object that was meant
  std::string propagationPolicy;    // empty: none was asked for
  std::string requestedBy;          // the name of the user whose DELETE was denied
  int64_t requestedAt = 0;          // seconds since the epoch; 0: not known
  std::vector<std::string> owners;  // uids: those of its owners then
  friend bool operator==(const DeferredDeletion&, const DeferredDeletion&) = default;
};

struct DeferredDeletions {
  std::vector<DeferredDeletion> deletions;
  int64_t dropped = 0;  // how often there was no room for one more
  friend bool operator==(const DeferredDeletions&, const DeferredDeletions&) = default;
};

std::string_view toString(DeferralMode deferral);  // the word in spec.deferredDeletions
// Reads the mode of a CriticalService from its whole manifest; a value that cannot be understood counts as
// the default.
DeferralMode readDeferralMode(const kube::Value& manifest);
// Reads the recorded deletions from the status of a CriticalService (its whole manifest). Never fails: skips
// entries without an object or a uid.
DeferredDeletions readDeferredDeletions(const kube::Value& manifest);

// Adds the deletion, in place of an earlier one of the same object. Returns false if the list has `most`
// entries already; then counts it as dropped.
bool add(DeferredDeletions& deferredDeletions, DeferredDeletion deletion,
         size_t most = kMostDeferredDeletions);

// Drops the owners whose uids do not fit into the CRD. Returns false if the object itself does not fit.
bool fitIn(DeferredDeletion& deletion);

// Returns a merge patch that writes this into the status.
nlohmann::json patchOf(const DeferredDeletions& deferredDeletions);

}  // namespace lastout::criticalservice

// DeferredDeletion: a deletion that lastout denied, and is to carry out later, as a CriticalService's
// status.deferredDeletions remembers it: for whichever lastout may carry it out.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object_key.h"
#include "kube/value.h"

namespace lastout::criticalservice {

// As the CRD has it. Of one object one deletion is remembered, and a CriticalService guards its provider,
// what holds it, and what it needs (criticalservice/dependencies.h has how much of that at most).
inline constexpr size_t kMostDeferredDeletions = 256;
inline constexpr size_t kMostOwners = 64;

// spec.deferredDeletions: whose denied deletions are deferred, and carried out once they may be.
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
// Of a CriticalService, by its whole manifest; what cannot be understood is the default.
DeferralMode readDeferralMode(const kube::Value& manifest);
// What the status of a CriticalService (its whole manifest) remembers. Never fails: what has no object or
// no uid remembers nothing.
DeferredDeletions readDeferredDeletions(const kube::Value& manifest);

// Remembers it, in place of a former deletion of that object. False: there is no room beside so many, and it
// is counted.
bool add(DeferredDeletions& deferredDeletions, DeferredDeletion deletion,
         size_t most = kMostDeferredDeletions);

// Takes off it the owners whose uids the CRD does not hold. False: it does not hold this object.
bool fitIn(DeferredDeletion& deletion);

// A merge patch of the status that makes it remember this.
nlohmann::json patchOf(const DeferredDeletions& deferredDeletions);

}  // namespace lastout::criticalservice

// Checks a CriticalService that somebody is about to write, by what is known of the cluster.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/cluster_view.h"
#include "kube/object.h"
#include "kube/resource_map.h"
#include "kube/result.h"

namespace lastout::admission {

// Whether a criterion may be given up: as ClusterView::isMet() says, or something stricter.
using IsMet = std::function<bool(const criticalservice::Criterion&)>;

// True if both objects have a spec, and it is the same.
bool hasSameSpec(const kube::Object& before, const kube::Object& after);

// Returns why `after` must not be written; empty: it may be. `before`: the CriticalService as it stands
// there; nullptr: there is none. `ownNamespace`: as GuardIndex's. A change that leaves the spec alone is
// always accepted: an invalid CriticalService may lose its finalizers. A change of one that was never
// understood can only make it better.
kube::Errors serviceProblems(const ClusterView& view, const kube::ResourceMap& types,
                             std::string_view ownNamespace, const kube::Object* before,
                             const kube::Object& after, const IsMet& isMet);

using WarningIfAbsent = std::pair<kube::ObjectKey, std::string>;

// Returns warnings for the writer of a CriticalService that may be written. Looks through the objects of the
// view. `personsCount`: deletions that persons were denied are deferred where a CriticalService wants that.
// `ifAbsent` receives the warnings that hold only while an object is not there: the view may lag behind, so
// the caller asks the API server first.
kube::Errors serviceWarnings(const ClusterView& view, const kube::ResourceMap& types,
                             const kube::Object* before, const kube::Object& after, bool personsCount,
                             std::vector<WarningIfAbsent>& ifAbsent);

// The most bytes of a CriticalService in the form that a Review keeps, its deletionIntent not counted.
inline constexpr size_t kMostServiceBytes = size_t{64} << 10;
// Returns why a CriticalService is too large to be read; nullopt: it may be read. One that stands there and
// is larger may change as long as it does not grow.
std::optional<kube::Error> tooLarge(std::string_view before, std::string_view after);

// A right of a user or an account.
struct NeededRight {
  std::string verb;        // "delete"
  kube::ObjectKey object;  // without a name: all of its type, in its namespace if it has one
  auto operator<=>(const NeededRight&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};
std::string toString(const NeededRight& right);  // "delete deployments.apps/default/provider"

// Returns the rights that the writer of `after` must have, since the CriticalService makes lastout use them,
// or keep others from doing so: to delete the provider, its listed dependencies, and the namespace or CRD
// that holds one of these; with enforcement Hold, to patch the provider. They are needed for a new
// CriticalService, one whose intent was OrphanResources, and a change of the provider, enforcement,
// spec.guard or deferredDeletions; where only the list of dependencies changes, for those that were not
// listed before. Empty: any other change needs none, and giving the provider up does not, either. `before`:
// nullptr where there is none.
std::vector<NeededRight> rightsToWrite(const kube::Object* before, const kube::Object& after);

// Returns the messages of the errors as one text: "a; b".
std::string joinedMessages(const kube::Errors& errors);

}  // namespace lastout::admission

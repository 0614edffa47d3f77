// What is wrong with a CriticalService that somebody is about to write, beside what is known of the cluster.
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

// Why `after` must not be written; empty: it may. `before`: what stands there now, nullptr where nothing
// does. `ownNamespace`: as GuardIndex's. Nothing is wrong with a change that leaves the spec alone: what
// stands there already may lose its finalizers. What stood there and was never understood can only become
// better.
kube::Errors serviceProblems(const ClusterView& view, const kube::ResourceMap& types,
                             std::string_view ownNamespace, const kube::Object* before,
                             const kube::Object& after, const IsMet& isMet);

// What a person should know although it may be written. Looks through the objects of the view.
// `personsCount`: deletions that persons were denied are deferred where a CriticalService wants that. A
// provider that nobody has looked for yet is put in `unknown`: whether it is there was not looked at.
kube::Errors serviceWarnings(const ClusterView& view, const kube::ResourceMap& types,
                             const kube::Object* before, const kube::Object& after, bool personsCount,
                             std::optional<kube::ObjectKey>& unknown);

// The most bytes that a CriticalService takes as a Review has it, its deletionIntent not counted.
inline constexpr size_t kMostServiceBytes = size_t{64} << 10;
// Why one is too large to be read; nullopt: it may be read. What stands there and is larger may change as
// long as it does not grow.
std::optional<kube::Error> tooLarge(std::string_view before, std::string_view after);

// A right that whoever writes a CriticalService must have.
struct NeededRight {
  std::string_view verb;  // "delete" or "patch"
  kube::ObjectKey object;
  auto operator<=>(const NeededRight&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};
std::string toString(const NeededRight& right);  // "delete deployments.apps/default/provider"

// What the writer of `after` must be allowed to do by themselves, since lastout does it, or keeps others from
// it, on the word of the CriticalService: delete the provider, what is listed as its dependencies, and what
// holds either (its namespace, the CRD of a custom resource); with enforcement Hold, patch the provider.
// Asked for where that begins: of a new one, after OrphanResources, and where the provider, enforcement,
// spec.guard or deferredDeletions change. Where nothing but the list of dependencies changes, not for those
// listed before. Empty: any other change needs nothing, nor does giving the provider up. `before`: nullptr
// where nothing stands.
std::vector<NeededRight> rightsToWrite(const kube::Object* before, const kube::Object& after);

// Their messages as one text: "a; b".
std::string joinedMessages(const kube::Errors& errors);

}  // namespace lastout::admission

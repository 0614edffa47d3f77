// What is wrong with a CriticalService that somebody is about to write, beside what is known of the cluster.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

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

// Their messages as one text: "a; b".
std::string joinedMessages(const kube::Errors& errors);

}  // namespace lastout::admission

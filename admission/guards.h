// Which objects a CriticalService guards, each with the reason (GuardedAs). The guard index and the machine's
// model are both built from guardsOf().
#pragma once

#include <string_view>
#include <vector>

#include "admission/decide.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/dependencies.h"
#include "kube/resource_map.h"

namespace lastout::admission {

struct Guard {
  kube::ObjectKey object;
  GuardedAs guardedAs = GuardedAs::Provider;
};

using Dependencies = std::vector<criticalservice::Dependency>;

// Returns whether lastout reviews the object if its type is reviewed. lastout reviews neither kube-system nor
// anything in it, so that a control plane never waits for its own workloads, and nothing in lastout's own
// namespace, so that lastout can start. `ownNamespace` is empty if lastout runs outside the cluster.
bool isReviewed(const kube::ObjectKey& object, std::string_view ownNamespace);

// Returns the objects whose DELETE concerns the service (docs/verdicts.md), once for each thing it is guarded
// as, whether they exist or not: the CriticalService, the CRD of CriticalServices, the provider, the
// provider's namespace, the CRD of a provider whose type is not built in, the provider's dependencies and the
// rights with which lastout reads the types of the criteria (DependencyFinder::needs()), and lastout's own
// namespace (empty: lastout runs outside the cluster). Leaves out objects that lastout does not review.
std::vector<Guard> guardsOf(const criticalservice::CriticalService& service, const kube::ResourceMap& types,
                            std::string_view ownNamespace, const Dependencies& dependencies);

// Returns the provider, and what deletes it when it is deleted itself: its namespace, and its CRD unless its
// type is built in.
std::vector<kube::ObjectKey> providerWithNamespaceAndCrd(const criticalservice::CriticalService& service,
                                                         const kube::ResourceMap& types);

// Returns the types that lastout has to watch for the service: CriticalServices, CRDs, Namespaces, the types
// of its provider and its criteria, and the types from which lastout finds the provider's dependencies. A
// type may be listed twice.
std::vector<kube::GroupResource> followedTypes(const criticalservice::CriticalService& service);

}  // namespace lastout::admission

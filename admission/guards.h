// What one CriticalService guards, and in which role: the one list behind the index and the machine's model.
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
  GuardRole role = GuardRole::Provider;
};

using Dependencies = std::vector<criticalservice::Dependency>;

// Whether the API server asks lastout about the object, if it asks about its type: not about what is in
// kube-system, nor about that namespace, so that a control plane never waits for what it runs; nor about what
// is in lastout's own namespace, so that lastout can start. `ownNamespace` is empty when it runs outside.
bool isReviewed(const kube::ObjectKey& object, std::string_view ownNamespace);

// The objects whose DELETE concerns the service (docs/verdicts.md), each once for
// each role, whether they exist or not: itself, the CRD of CriticalServices, its provider, the provider's
// namespace, the CRD of a provider whose type is not built in, what its provider needs and the rights by
// which lastout reads what its criteria name (DependencyFinder::needs()), and lastout's own namespace (empty:
// lastout runs outside the cluster); of these all that is reviewed.
std::vector<Guard> guardsOf(const criticalservice::CriticalService& service, const kube::ResourceMap& types,
                            std::string_view ownNamespace, const Dependencies& dependencies);

// The provider, and what holds it: its namespace, and its CRD unless its type is built in.
std::vector<kube::ObjectKey> providerAndHolders(const criticalservice::CriticalService& service,
                                                const kube::ResourceMap& types);

// The types whose objects lastout has to follow for the service's sake: CriticalServices, CRDs, Namespaces,
// those of its provider and of its criteria, and what its provider's dependencies follow from. Some may be
// named twice.
std::vector<kube::GroupResource> followedTypes(const criticalservice::CriticalService& service);

}  // namespace lastout::admission

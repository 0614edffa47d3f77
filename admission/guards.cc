#include "admission/guards.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "criticalservice/validation.h"
#include "kube/well_known.h"

namespace lastout::admission {

bool isReviewed(const kube::ObjectKey& object, std::string_view ownNamespace) {
  const std::string_view space = object.namespaceName;
  if (space.empty()) return object != kube::namespaceKey(criticalservice::kExcludedNamespace);
  return space != criticalservice::kExcludedNamespace && space != ownNamespace;
}

std::vector<Guard> guardsOf(const criticalservice::CriticalService& service, const kube::ResourceMap& types,
                            std::string_view ownNamespace, const Dependencies& dependencies) {
  std::vector<Guard> guards;
  guards.push_back({criticalservice::keyOf(service), GuardedAs::Service});
  guards.push_back({kube::crdKey(criticalservice::criticalServiceType()), GuardedAs::Service});
  for (kube::ObjectKey& object : providerWithNamespaceAndCrd(service, types)) {
    const GuardedAs guardedAs =
        object == service.provider ? GuardedAs::Provider : GuardedAs::ProviderAncestor;
    guards.push_back({std::move(object), guardedAs});
  }
  for (const criticalservice::Dependency& dependency : dependencies)
    guards.push_back(
        {dependency.object, dependency.ownsProvider ? GuardedAs::ProviderAncestor : GuardedAs::Dependency});
  if (!ownNamespace.empty())
    guards.push_back({kube::namespaceKey(ownNamespace), GuardedAs::LastoutNamespace});
  std::erase_if(guards, [&](const Guard& guard) { return !isReviewed(guard.object, ownNamespace); });
  return guards;
}

std::vector<kube::ObjectKey> providerWithNamespaceAndCrd(const criticalservice::CriticalService& service,
                                                         const kube::ResourceMap& types) {
  const kube::ObjectKey& provider = service.provider;
  std::vector<kube::ObjectKey> objects{provider};
  if (!provider.namespaceName.empty()) objects.push_back(kube::namespaceKey(provider.namespaceName));
  const kube::ResourceType* type = types.find(provider.type);
  if (type == nullptr || !type->builtIn) objects.push_back(kube::crdKey(provider.type));
  return objects;
}

std::vector<kube::GroupResource> followedTypes(const criticalservice::CriticalService& service) {
  std::vector<kube::GroupResource> types{criticalservice::criticalServiceType(),
                                         kube::kCustomResourceDefinitions, kube::kNamespaces,
                                         service.provider.type};
  for (const criticalservice::Criterion& criterion : service.criteria)
    types.push_back(criticalservice::typeOf(criterion));
  if (criticalservice::findsDependencies(service))
    std::ranges::copy(criticalservice::DependencyFinder::neededTypes(), std::back_inserter(types));
  std::ranges::copy(criticalservice::typesToRead(service), std::back_inserter(types));
  return types;
}

}  // namespace lastout::admission

#include "criticalservice/provider_types.h"

#include <algorithm>
#include <string_view>

#include "criticalservice/critical_service.h"
#include "kube/builtin_types.h"
#include "kube/messages.h"
#include "kube/object_references.h"
#include "kube/well_known.h"

namespace lastout::criticalservice {
namespace {

// Beside those that run Pods.
constexpr const kube::GroupResource* kDependencyTypes[] = {
    &kube::kServiceAccounts,
    &kube::kSecrets,
    &kube::kConfigMaps,
    &kube::kPersistentVolumeClaims,
    &kube::kServices,
    &kube::kRoles,
    &kube::kRoleBindings,
    &kube::kClusterRoles,
    &kube::kClusterRoleBindings,
    &kube::kApiServices,
    &kube::kCustomResourceDefinitions,
};

constexpr std::string_view kNoWebhookIsAsked =
    "are exempt from admission webhooks: no DELETE of one could be refused; name the workload that serves "
    "the webhook";

struct UnsuitableType {
  const kube::GroupResource* type;
  std::string_view why;
};

constexpr UnsuitableType kUnsuitableTypes[] = {
    {&kube::kPods,
     "are evicted and replaced without a DELETE that could be refused; name the workload that owns the Pod"},
    {&kube::kNamespaces,
     "run nothing; name the workload in the namespace, and the namespace is guarded because it holds a "
     "provider"},
    {&kube::kCustomResourceDefinitions,
     "run nothing; a CRD whose instance is a provider is guarded because of that"},
    {&kube::kValidatingWebhookConfigurations, kNoWebhookIsAsked},
    {&kube::kMutatingWebhookConfigurations, kNoWebhookIsAsked},
};

bool isWorkload(const kube::GroupResource& type) { return kube::findWorkloadType(type) != nullptr; }

bool mayBeNeeded(const kube::GroupResource& type) {
  return std::ranges::any_of(kDependencyTypes,
                             [&](const kube::GroupResource* needed) { return *needed == type; });
}

// Newer API servers have more types in these groups. A CRD's group has a dot.
bool isOfKubernetes(const kube::GroupResource& type, const kube::ResourceMap& types) {
  if (type.group.find('.') == std::string::npos) return true;
  return type.group == "resource.k8s.io" ||
         std::ranges::any_of(types.types(), [&](const kube::ResourceType& known) {
           return known.builtIn && known.type.group == type.group;
         });
}

}  // namespace

std::optional<std::string> whyNoProvider(const kube::GroupResource& type, const kube::ResourceMap& types) {
  if (type == criticalServiceType()) return "run nothing, and stay until their own provider is gone anyway";
  for (const UnsuitableType& unsuitable : kUnsuitableTypes) {
    if (*unsuitable.type == type) return std::string(unsuitable.why);
  }
  const kube::ResourceType* known = types.find(type);
  if (known == nullptr || !known->builtIn || isWorkload(type)) return std::nullopt;
  return "run nothing; a provider is what keeps a finalizer controller or a webhook running, most often a "
         "Deployment";
}

bool isNamedByKind(std::string_view resource, std::string_view written, std::string_view known) {
  return written.empty() ? kube::isRegularPlural(resource, known) : written == known;
}

bool hasObjects(const kube::GroupResource& type) {
  const bool isOfReviews = type.group == "authentication.k8s.io" || type.group == "authorization.k8s.io";
  const bool isView =
      type.group.empty() && (type.resource == "bindings" || type.resource == "componentstatuses");
  return !isOfReviews && !isView;
}

std::optional<std::string> whyNotNamed(const kube::GroupResource& type) {
  if (type == criticalServiceType()) return "stay until their own provider is gone anyway";
  if (type == kube::kPods) return "are evicted and replaced without a DELETE that could be refused";
  if (type.group == kube::kAdmissionRegistrationGroup)
    return "are exempt from admission webhooks: no DELETE of one could be refused";
  if (!hasObjects(type)) return "cannot be listed or deleted: they are not stored";
  if (type.resource == "events" || type.resource == "leases" || type.resource == "nodes")
    return "come and go by themselves, and to keep one would break their controllers";
  return std::nullopt;
}

std::optional<std::string> whyNoDependency(const kube::GroupResource& type, const kube::ResourceMap& types) {
  if (type.group == kube::kAdmissionRegistrationGroup)
    return "cannot be guarded: the API server asks no webhook about the configuration of admission";
  if (isWorkload(type) || mayBeNeeded(type) || !isOfKubernetes(type, types)) return std::nullopt;
  return "cannot be listed: of built-in types only workloads (not their Pods), ServiceAccounts, Secrets, "
         "ConfigMaps, PersistentVolumeClaims, Services, roles, their bindings, APIServices and CRDs can";
}

bool canBeHeld(const kube::GroupResource& type) {
  const kube::WorkloadType* workload = kube::findWorkloadType(type);
  return workload != nullptr && workload->outlivesTermination;
}

std::vector<kube::GroupResource> typesThatCanBeHeld() {
  std::vector<kube::GroupResource> types;
  for (const kube::WorkloadType& workload : kube::workloadTypes())
    if (workload.outlivesTermination) types.push_back(*workload.type);
  return types;
}

std::string heldTypesInWords() { return kube::listed(kube::wordsOf(typesThatCanBeHeld())); }

}  // namespace lastout::criticalservice

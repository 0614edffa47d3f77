#include "criticalservice/provider_types.h"

#include <algorithm>
#include <string_view>

namespace lastout::criticalservice {
namespace {

struct Named {
  std::string_view group;
  std::string_view resource;
  bool is(const kube::GroupResource& type) const { return type.group == group && type.resource == resource; }
};

constexpr Named kRunsPods[] = {
    {"apps", "deployments"}, {"apps", "statefulsets"},       {"apps", "daemonsets"}, {"apps", "replicasets"},
    {"batch", "jobs"},       {"", "replicationcontrollers"}, {"batch", "cronjobs"},
};

// Beside those that run Pods.
constexpr Named kAreNeeded[] = {
    {"", "serviceaccounts"},
    {"", "secrets"},
    {"", "configmaps"},
    {"", "persistentvolumeclaims"},
    {"", "services"},
    {"rbac.authorization.k8s.io", "roles"},
    {"rbac.authorization.k8s.io", "rolebindings"},
    {"rbac.authorization.k8s.io", "clusterroles"},
    {"rbac.authorization.k8s.io", "clusterrolebindings"},
    {"apiregistration.k8s.io", "apiservices"},
    {"apiextensions.k8s.io", "customresourcedefinitions"},
};

constexpr Named kOutliveTermination[] = {
    {"apps", "deployments"}, {"apps", "statefulsets"}, {"apps", "daemonsets"}};

struct Refusal {
  Named type;
  std::string_view why;
};

constexpr Refusal kRefusals[] = {
    {{"", "pods"},
     "are evicted and replaced without a DELETE that could be refused; name the workload that owns the Pod"},
    {{"", "namespaces"},
     "run nothing; name the workload in the namespace, and the namespace is guarded because it holds a "
     "provider"},
    {{"lastout.dev", "criticalservices"}, "run nothing, and stay until their own provider is gone anyway"},
    {{"apiextensions.k8s.io", "customresourcedefinitions"},
     "run nothing; a CRD whose instance is a provider is guarded because of that"},
    {{"admissionregistration.k8s.io", "validatingwebhookconfigurations"},
     "are exempt from admission webhooks: no DELETE of one could be refused; name the workload that serves "
     "the webhook"},
    {{"admissionregistration.k8s.io", "mutatingwebhookconfigurations"},
     "are exempt from admission webhooks: no DELETE of one could be refused; name the workload that serves "
     "the webhook"},
};

template <size_t kSize>
bool isOneOf(const Named (&some)[kSize], const kube::GroupResource& type) {
  return std::ranges::any_of(some, [&](const Named& named) { return named.is(type); });
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
  for (const Refusal& refusal : kRefusals) {
    if (refusal.type.is(type)) return std::string(refusal.why);
  }
  const kube::ResourceType* known = types.find(type);
  if (known == nullptr || !known->builtIn || isOneOf(kRunsPods, type)) return std::nullopt;
  return "run nothing; a provider is what keeps a finalizer controller or a webhook running, most often a "
         "Deployment";
}

std::optional<std::string> whyNoDependency(const kube::GroupResource& type, const kube::ResourceMap& types) {
  if (type.group == "admissionregistration.k8s.io")
    return "cannot be guarded: the API server asks no webhook about the configuration of admission";
  if (isOneOf(kRunsPods, type) || isOneOf(kAreNeeded, type) || !isOfKubernetes(type, types))
    return std::nullopt;
  return "cannot be listed: of built-in types only workloads (not their Pods), ServiceAccounts, Secrets, "
         "ConfigMaps, PersistentVolumeClaims, Services, roles, their bindings, APIServices and CRDs can";
}

bool canBeHeld(const kube::GroupResource& type) { return isOneOf(kOutliveTermination, type); }

std::vector<kube::GroupResource> typesThatCanBeHeld() {
  std::vector<kube::GroupResource> types;
  for (const Named& named : kOutliveTermination)
    types.push_back({std::string(named.group), std::string(named.resource)});
  return types;
}

}  // namespace lastout::criticalservice

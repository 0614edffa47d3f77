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

}  // namespace

std::optional<std::string> whyNoProvider(const kube::GroupResource& type, const kube::ResourceMap& types) {
  for (const Refusal& refusal : kRefusals) {
    if (refusal.type.is(type)) return std::string(refusal.why);
  }
  const kube::ResourceType* known = types.find(type);
  const bool runsPods = std::any_of(std::begin(kRunsPods), std::end(kRunsPods),
                                    [&](const Named& named) { return named.is(type); });
  if (known == nullptr || !known->builtIn || runsPods) return std::nullopt;
  return "run nothing; a provider is what keeps a finalizer controller or a webhook running, most often a "
         "Deployment";
}

bool canBeHeld(const kube::GroupResource& type) {
  return std::any_of(std::begin(kOutliveTermination), std::end(kOutliveTermination),
                     [&](const Named& named) { return named.is(type); });
}

std::vector<kube::GroupResource> typesThatCanBeHeld() {
  std::vector<kube::GroupResource> types;
  for (const Named& named : kOutliveTermination)
    types.push_back({std::string(named.group), std::string(named.resource)});
  return types;
}

}  // namespace lastout::criticalservice

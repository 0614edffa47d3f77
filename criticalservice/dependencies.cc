#include "criticalservice/dependencies.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "criticalservice/pod_needs.h"
#include "criticalservice/provider_types.h"
#include "criticalservice/validation.h"
#include "kube/names.h"
#include "kube/resource_map.h"
#include "kube/text_at.h"

namespace lastout::criticalservice {
namespace {

const kube::GroupResource kServices{"", "services"};
const kube::GroupResource kServiceAccounts{"", "serviceaccounts"};
const kube::GroupResource kSecrets{"", "secrets"};
const kube::GroupResource kConfigMaps{"", "configmaps"};
const kube::GroupResource kClaims{"", "persistentvolumeclaims"};
const kube::GroupResource kRoles{"rbac.authorization.k8s.io", "roles"};
const kube::GroupResource kClusterRoles{"rbac.authorization.k8s.io", "clusterroles"};
const kube::GroupResource kRoleBindings{"rbac.authorization.k8s.io", "rolebindings"};
const kube::GroupResource kClusterRoleBindings{"rbac.authorization.k8s.io", "clusterrolebindings"};
const kube::GroupResource kApiServices{"apiregistration.k8s.io", "apiservices"};

const kube::ResourceMap& builtIn() {
  static const kube::ResourceMap kTypes = kube::ResourceMap::builtIn();
  return kTypes;
}

bool selects(const kube::Labels& selector, const kube::Labels& labels) {
  return !selector.empty() && std::ranges::includes(labels, selector);
}

// It goes before the provider, which waits for it.
bool isAwaited(const CriticalService& service, const kube::ObjectKey& object) {
  return std::ranges::any_of(service.criteria, [&](const Criterion& criterion) {
    if (const auto* specific = std::get_if<SpecificResourceCriterion>(&criterion))
      return specific->object == object;
    return typeOf(criterion) == object.type;
  });
}

// A criterion for all of its instances would make no difference: a CRD is gone only after them.
bool awaitsCrdOf(const CriticalService& service, const kube::GroupResource& type) {
  const Criterion wanted = SpecificResourceCriterion{kube::crdKey(type)};
  return std::ranges::find(service.criteria, wanted) != service.criteria.end();
}

bool runsPods(const kube::GroupResource& type) {
  return builtIn().find(type) != nullptr && !whyNoProvider(type, builtIn());
}

// What is listed; and what takes that along unasked: of a workload its namespace, with whose Pods it is as
// good as gone, of a custom resource its CRD. The namespace of a provider that runs no Pods itself goes after
// it, too, if what runs them for it is there; any other's is guarded anyway.
std::vector<Dependency> listed(const CriticalService& service) {
  const std::string& space = service.provider.namespaceName;
  std::vector<Dependency> found;
  for (size_t i = 0; i < service.dependencies.listed.size(); ++i) {
    const kube::ObjectKey& object = service.dependencies.listed[i];
    const std::string field = "spec.guard.dependencies[" + std::to_string(i) + "]";
    found.push_back({object, field, false});
    if (runsPods(object.type) && (object.namespaceName != space || !runsPods(service.provider.type)))
      found.push_back({{{"", "namespaces"}, "", object.namespaceName}, "namespace of " + field, false});
    if (builtIn().find(object.type) == nullptr)
      found.push_back({kube::crdKey(object.type), "CRD of " + field, false});
  }
  return found;
}

bool isNeeded(const CriticalService& service, const kube::ObjectKey& object) {
  return object != service.provider && object.namespaceName != kExcludedNamespace &&
         !isAwaited(service, object);
}

}  // namespace

bool means(const OwnerName& owner, const kube::ObjectKey& object) {
  if (owner.name != object.name || owner.group != object.type.group) return false;
  if (const kube::ResourceType* type = builtIn().findKind(owner.group, owner.kind))
    return type->type == object.type;
  const std::string kind = kube::lowerCase(owner.kind);
  return !kind.empty() && builtIn().find(object.type) == nullptr &&
         object.type.resource.starts_with(kind.substr(0, kind.size() - 1));  // policy, policies
}

const std::vector<kube::GroupResource>& DependencyFinder::types() {
  static const std::vector<kube::GroupResource> kTypes{kServices, kRoleBindings, kClusterRoleBindings,
                                                       kApiServices};
  return kTypes;
}

const std::vector<kube::GroupResource>& DependencyFinder::neededTypes() {
  static const std::vector<kube::GroupResource> kTypes{kServiceAccounts, kClaims, kRoles, kClusterRoles};
  return kTypes;
}

DependencyFinder::Workload DependencyFinder::readWorkload(const kube::Object& object,
                                                          const kube::Value& podTemplate) {
  Workload workload;
  workload.needs = podNeeds(object, podTemplate);
  workload.account = {object.key.namespaceName, serviceAccountOf(podTemplate)};
  workload.podLabels = labelsAt(podTemplate, {"metadata", "labels"});
  for (const kube::OwnerReference& owner : object.meta.ownerReferences)
    workload.owners.push_back({std::string(kube::groupOf(owner.apiVersion)), owner.kind, owner.name});
  return workload;
}

// Of a RoleBinding only what it gives to ServiceAccounts of its own namespace: others come and go without the
// provider, and must not wait for it.
DependencyFinder::Binding DependencyFinder::readBinding(const kube::Object& object) {
  Binding binding;
  const bool isClusterRole = kube::textAt(object.content, {"roleRef", "kind"}) == "ClusterRole";
  binding.role = {isClusterRole ? kClusterRoles : kRoles, isClusterRole ? "" : object.key.namespaceName,
                  kube::textAt(object.content, {"roleRef", "name"})};
  forEachItem(object.content.find("subjects"), [&](const kube::Value& subject) {
    const std::string& space = kube::textAt(subject, {"namespace"});
    const bool isNear = object.key.namespaceName.empty() || object.key.namespaceName == space;
    if (kube::textAt(subject, {"kind"}) == "ServiceAccount" && isNear)
      binding.accounts.emplace(space, kube::textAt(subject, {"name"}));
  });
  return binding;
}

std::set<std::string> DependencyFinder::put(const kube::Object& object) {
  const kube::ObjectKey& key = object.key;
  if (key.type == kServices) return putService(key, labelsAt(object.content, {"spec", "selector"}));
  if (key.type == kRoleBindings || key.type == kClusterRoleBindings)
    return putBinding(key, readBinding(object));
  if (key.type == kApiServices || key.type == kube::crdType()) return putCaller(key, readCaller(object));
  const kube::Value* podTemplate = podTemplateOf(object);
  if (podTemplate == nullptr) return remove(key);
  Workload workload = readWorkload(object, *podTemplate);
  Workload& known = workloads_[key];
  if (known == workload) return {};
  known = std::move(workload);
  return {key.namespaceName};
}

std::set<std::string> DependencyFinder::putService(const kube::ObjectKey& key, kube::Labels selector) {
  kube::Labels& known = selectors_[{key.namespaceName, key.name}];
  if (known == selector) return {};
  known = std::move(selector);
  return {key.namespaceName};
}

std::set<std::string> DependencyFinder::putBinding(const kube::ObjectKey& key, Binding binding) {
  if (const auto known = bindings_.find(key); known != bindings_.end() && known->second == binding) return {};
  std::set<std::string> concerned = remove(key);
  if (binding.accounts.empty()) return concerned;
  for (const Name& account : binding.accounts) {
    bindingsOf_[account].insert(key);
    concerned.insert(account.first);
  }
  bindings_.emplace(key, std::move(binding));
  return concerned;
}

// Of a CRD that has nobody called, or calls a URL, none.
DependencyFinder::Caller DependencyFinder::readCaller(const kube::Object& object) {
  const kube::Value* service = object.content.at({"spec", "service"});
  Caller caller;
  if (object.key.type == kube::crdType()) {
    if (kube::textAt(object.content, {"spec", "conversion", "strategy"}) != "Webhook") return caller;
    service = object.content.at({"spec", "conversion", "webhook", "clientConfig", "service"});
    caller.converted = {kube::definedBy(object.key.name).group,
                        kube::textAt(object.content, {"spec", "names", "kind"})};
  }
  if (service != nullptr)
    caller.service = {kube::textAt(*service, {"namespace"}), kube::textAt(*service, {"name"})};
  return caller;
}

std::set<std::string> DependencyFinder::putCaller(const kube::ObjectKey& key, Caller caller) {
  if (const auto known = callers_.find(key); known != callers_.end() && known->second == caller) return {};
  std::set<std::string> concerned = remove(key);
  if (caller.service.second.empty()) return concerned;
  callersOf_[caller.service].insert(key);
  concerned.insert(caller.service.first);
  callers_[key] = std::move(caller);
  return concerned;
}

std::set<std::string> DependencyFinder::remove(const kube::ObjectKey& key) {
  std::set<std::string> concerned;
  if (key.type == kServices) {
    if (selectors_.erase({key.namespaceName, key.name}) > 0) concerned.insert(key.namespaceName);
  } else if (const auto binding = bindings_.find(key); binding != bindings_.end()) {
    for (const Name& account : binding->second.accounts) {
      concerned.insert(account.first);
      const auto known = bindingsOf_.find(account);
      known->second.erase(key);
      if (known->second.empty()) bindingsOf_.erase(known);
    }
    bindings_.erase(binding);
  } else if (const auto caller = callers_.find(key); caller != callers_.end()) {
    const Name& service = caller->second.service;
    concerned.insert(service.first);
    const auto others = callersOf_.find(service);
    others->second.erase(key);
    if (others->second.empty()) callersOf_.erase(others);
    callers_.erase(caller);
  } else if (workloads_.erase(key) > 0) {
    concerned.insert(key.namespaceName);
  }
  return concerned;
}

void DependencyFinder::findRights(const Workload& workload, std::vector<Dependency>& found) const {
  if (workload.account.second != kDefaultAccount)
    found.push_back(
        {{kServiceAccounts, workload.account.first, workload.account.second}, "its ServiceAccount", false});
  const auto bound = bindingsOf_.find(workload.account);
  if (bound == bindingsOf_.end()) return;
  for (const kube::ObjectKey& binding : bound->second) {
    found.push_back({binding, "binding of its ServiceAccount", false});
    found.push_back({bindings_.at(binding).role, "role of its ServiceAccount", false});
  }
}

std::vector<Dependency> DependencyFinder::rightsOf(const kube::ObjectKey& workload) const {
  std::vector<Dependency> found;
  if (const auto known = workloads_.find(workload); known != workloads_.end())
    findRights(known->second, found);
  return found;
}

void DependencyFinder::findAround(const Workload& workload, const kube::ObjectKey& provider,
                                  std::vector<Dependency>& found) const {
  const std::string& space = provider.namespaceName;
  for (auto service = selectors_.lower_bound({space, ""});
       service != selectors_.end() && service->first.first == space; ++service) {
    if (!selects(service->second, workload.podLabels)) continue;
    found.push_back({{kServices, space, service->first.second}, "Service of its Pods", false});
    const auto callers = callersOf_.find(service->first);
    if (callers == callersOf_.end()) continue;
    for (const kube::ObjectKey& caller : callers->second) {
      if (caller.type == kApiServices)
        found.push_back({caller, "API behind its Service " + service->first.second, false});
    }
  }
}

// Without a workload: its Pods may be those of any Service.
bool DependencyFinder::mayStandBehind(const Name& service, const Workload* workload, bool isCertain) const {
  const auto selector = selectors_.find(service);
  if (selector == selectors_.end()) return !isCertain;
  return workload == nullptr || selects(selector->second, workload->podLabels);
}

CriticalService DependencyFinder::withConverted(CriticalService service, bool isCertain) const {
  std::erase_if(service.criteria, [](const Criterion& criterion) {
    return std::holds_alternative<InstancesCriterion>(criterion);
  });
  const auto known = workloads_.find(service.provider);
  const Workload* workload = known == workloads_.end() ? nullptr : &known->second;
  if (!findsDependencies(service) || (isCertain && workload == nullptr)) return service;
  std::set<kube::GroupResource> types;
  const auto ownsIt = [&](const Kind& kind) {
    return workload != nullptr && std::ranges::any_of(workload->owners, [&](const OwnerName& owner) {
             return Kind(owner.group, owner.kind) == kind;
           });
  };
  const auto addConverted = [&](const std::set<kube::ObjectKey>& callers) {
    for (const kube::ObjectKey& caller : callers) {
      if (caller.type != kube::crdType()) continue;
      const kube::GroupResource type = kube::definedBy(caller.name);
      const bool waitsForItself = type == service.provider.type ||
                                  type.group == criticalServiceType().group ||
                                  ownsIt(callers_.at(caller).converted);
      if (!waitsForItself && !awaitsCrdOf(service, type)) types.insert(type);
    }
  };
  const std::string& space = service.provider.namespaceName;
  for (auto called = callersOf_.lower_bound({space, ""});
       called != callersOf_.end() && called->first.first == space; ++called) {
    if (mayStandBehind(called->first, workload, isCertain)) addConverted(called->second);
  }
  size_t room = kMostConverted;
  for (const kube::GroupResource& type : types) {
    if (room-- == 0) break;
    service.criteria.emplace_back(InstancesCriterion{type});
  }
  return service;
}

std::vector<Dependency> DependencyFinder::find(const CriticalService& service) const {
  std::vector<Dependency> found;
  const auto known = workloads_.find(service.provider);
  const Workload* workload = known == workloads_.end() ? nullptr : &known->second;
  if (service.dependencies.mode == DependencyMode::Listed) {
    found = listed(service);
  } else if (service.dependencies.mode == DependencyMode::Auto && workload != nullptr) {
    found = workload->needs;
    findAround(*workload, service.provider, found);
    findRights(*workload, found);
  }
  std::set<kube::ObjectKey> seen;
  std::erase_if(found, [&](const Dependency& dependency) {
    return !isNeeded(service, dependency.object) || !seen.insert(dependency.object).second;
  });
  if (found.size() > kMostDependencies) found.resize(kMostDependencies);
  std::ranges::sort(found, {}, &Dependency::object);
  for (Dependency& dependency : found) {
    const std::string& space = dependency.object.namespaceName;
    const bool mayOwn = workload != nullptr && (space.empty() || space == service.provider.namespaceName);
    dependency.ownsProvider = mayOwn && std::ranges::any_of(workload->owners, [&](const OwnerName& owner) {
                                return means(owner, dependency.object);
                              });
  }
  return found;
}

std::vector<kube::GroupResource> typesToRead(const CriticalService& service) {
  if (!findsDependencies(service)) return {};
  std::vector<kube::GroupResource> types = DependencyFinder::types();
  types.insert(types.end(), {kube::crdType(), service.provider.type});
  return types;
}

// Bindings of a ServiceAccount may be in any namespace.
bool couldNeed(const CriticalService& service, const kube::ObjectKey& object) {
  if (!findsDependencies(service) || !isNeeded(service, object)) return false;
  if (object.type == kRoleBindings || object.type == kRoles) return true;
  const auto isOneOf = [&](const std::vector<kube::GroupResource>& types) {
    return std::ranges::find(types, object.type) != types.end();
  };
  const std::string& space = object.namespaceName;
  return (space.empty() || space == service.provider.namespaceName) &&
         (object.type == kSecrets || object.type == kConfigMaps || isOneOf(DependencyFinder::types()) ||
          isOneOf(DependencyFinder::neededTypes()));
}

}  // namespace lastout::criticalservice

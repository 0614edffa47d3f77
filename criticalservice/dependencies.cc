#include "criticalservice/dependencies.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "criticalservice/pod_needs.h"
#include "criticalservice/provider_types.h"
#include "criticalservice/validation.h"
#include "kube/names.h"
#include "kube/resource_map.h"
#include "kube/text_at.h"

namespace lastout::criticalservice {
namespace {

const kube::GroupResource kNamespaces{"", "namespaces"};
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

bool isNeeded(const CriticalService& service, const kube::ObjectKey& object) {
  return object != service.provider && object.namespaceName != kExcludedNamespace &&
         !isAwaited(service, object);
}

// The types that criteria name and lastout reads by a right that somebody adds: not those that it always
// reads.
std::set<kube::GroupResource> typesByGrant(const CriticalService& service) {
  std::set<kube::GroupResource> types;
  if (service.intent == DeletionIntent::OrphanResources) return types;
  for (const Criterion& criterion : service.criteria) types.insert(typeOf(criterion));
  for (const kube::GroupResource& type : {criticalServiceType(), kube::crdType(), kNamespaces})
    types.erase(type);
  return types;
}

// What is found by itself, by how much of it is guarded.
struct DependencyKind {
  std::string_view what;
  size_t most = 0;
  size_t found = 0;
};

size_t kindOf(const kube::GroupResource& type) {
  enum Kind : uint8_t { NamedByPods, ClusterRights, NearRights, OfServices };
  if (type == kClusterRoles || type == kClusterRoleBindings) return ClusterRights;
  if (type == kRoles || type == kRoleBindings) return NearRights;
  return type == kServices ? OfServices : NamedByPods;
}

// Leaves as many of each kind as are guarded, the first ones; adds the kinds that had more.
void cutByKind(std::vector<Dependency>& found, std::vector<TooMany>& tooMany) {
  std::array<DependencyKind, 4> kinds{
      {{"objects that its Pods name", kMostNamedByPods},
       {"ClusterRoles and ClusterRoleBindings of its ServiceAccount", kMostClusterRights},
       {"Roles and RoleBindings of its ServiceAccount", kMostNearRights},
       {"Services of its Pods", kMostServices}}};
  std::erase_if(found, [&](const Dependency& dependency) {
    DependencyKind& kind = kinds.at(kindOf(dependency.object.type));
    return ++kind.found > kind.most;
  });
  for (const DependencyKind& kind : kinds) {
    if (kind.found > kind.most) tooMany.push_back({kind.what, kind.found, kind.most});
  }
}

void cutForReading(std::vector<Dependency>& found, std::vector<TooMany>& tooMany) {
  if (found.size() <= kMostForReading) return;
  tooMany.push_back({"ClusterRoles and ClusterRoleBindings by which lastout reads what criteria name",
                     found.size(), kMostForReading});
  found.resize(kMostForReading);
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
  static const std::vector<kube::GroupResource> kTypes{
      kServices, kServiceAccounts, kRoleBindings, kClusterRoleBindings, kClusterRoles, kApiServices};
  return kTypes;
}

const std::vector<kube::GroupResource>& DependencyFinder::neededTypes() {
  static const std::vector<kube::GroupResource> kTypes{kClaims, kRoles};
  return kTypes;
}

DependencyFinder::Workload DependencyFinder::readWorkload(const kube::Object& object,
                                                          const kube::Value& podTemplate) {
  Workload workload;
  workload.needs = podNeeds(object, podTemplate);
  workload.account = {object.key.namespaceName, serviceAccountOf(podTemplate)};
  const kube::Value* secrets = podTemplate.at({"spec", "imagePullSecrets"});
  workload.pullsByItself = secrets != nullptr && secrets->asList() != nullptr && !secrets->asList()->empty();
  workload.podLabels = labelsAt(podTemplate, {"metadata", "labels"});
  for (const kube::OwnerReference& owner : object.meta.ownerReferences)
    workload.owners.push_back({std::string(kube::groupOf(owner.apiVersion)), owner.kind, owner.name});
  return workload;
}

std::set<std::string> DependencyFinder::put(const kube::Object& object) {
  const kube::ObjectKey& key = object.key;
  if (key.type == kServices) return putService(key, labelsAt(object.content, {"spec", "selector"}));
  if (key.type == kServiceAccounts) return putAccount(object);
  if (GrantedRights::isAbout(key.type)) return rights_.put(object);
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

std::set<std::string> DependencyFinder::putAccount(const kube::Object& object) {
  const Name name{object.key.namespaceName, object.key.name};
  std::vector<std::string> secrets;
  forEachItem(object.content.find("imagePullSecrets"), [&](const kube::Value& secret) {
    if (secrets.size() < kMostNamedByPods) secrets.push_back(kube::textAt(secret, {"name"}));
  });
  std::erase(secrets, "");
  if (secrets.empty()) return remove(object.key);
  std::vector<std::string>& known = pullSecrets_[name];
  if (known == secrets) return {};
  known = std::move(secrets);
  return {object.key.namespaceName};
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
  } else if (key.type == kServiceAccounts) {
    if (pullSecrets_.erase({key.namespaceName, key.name}) > 0) concerned.insert(key.namespaceName);
  } else if (GrantedRights::isAbout(key.type)) {
    return rights_.remove(key);
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

const DependencyFinder::Workload* DependencyFinder::workload(const kube::ObjectKey& key) const {
  const auto known = workloads_.find(key);
  return known == workloads_.end() ? nullptr : &known->second;
}

void DependencyFinder::findStarting(const Workload& workload, std::vector<Dependency>& found) const {
  found.insert(found.end(), workload.needs.begin(), workload.needs.end());
  const auto secrets = pullSecrets_.find(workload.account);
  if (workload.pullsByItself || secrets == pullSecrets_.end()) return;
  for (const std::string& secret : secrets->second)
    found.push_back(
        {{kSecrets, workload.account.first, secret}, "image pull secret of its ServiceAccount", false});
}

void DependencyFinder::findRights(const Workload& workload, std::vector<Dependency>& found) const {
  if (workload.account.second != kDefaultAccount)
    found.push_back(
        {{kServiceAccounts, workload.account.first, workload.account.second}, "its ServiceAccount", false});
  for (Granted& granted : rights_.of(workload.account))
    found.push_back({std::move(granted.object), std::move(granted.why), false});
}

std::vector<Dependency> DependencyFinder::rightsOf(const kube::ObjectKey& key) const {
  std::vector<Dependency> found;
  if (const Workload* known = workload(key)) findRights(*known, found);
  return found;
}

std::vector<Dependency> DependencyFinder::startingNeedsOf(const kube::ObjectKey& key) const {
  std::vector<Dependency> found;
  if (const Workload* known = workload(key)) findStarting(*known, found);
  return found;
}

template <class Visit>
void DependencyFinder::forEachServiceOf(const Workload& workload, const std::string& space,
                                        Visit visit) const {
  for (auto service = selectors_.lower_bound({space, ""});
       service != selectors_.end() && service->first.first == space; ++service) {
    if (selects(service->second, workload.podLabels)) visit(service->first);
  }
}

std::vector<std::string> DependencyFinder::apisOf(const CriticalService& service) const {
  std::vector<std::string> apis;
  const Workload* provider = workload(service.provider);
  if (!findsDependencies(service) || provider == nullptr) return apis;
  forEachServiceOf(*provider, service.provider.namespaceName, [&](const Name& front) {
    const auto callers = callersOf_.find(front);
    if (callers == callersOf_.end()) return;
    for (const kube::ObjectKey& caller : callers->second) {
      if (caller.type == kApiServices) apis.push_back(caller.name);
    }
  });
  return apis;
}

// Without them the criteria would count as unmet for good: whether their objects are gone nobody could tell.
void DependencyFinder::findReading(const CriticalService& service, std::vector<Dependency>& found) const {
  for (const kube::GroupResource& type : typesByGrant(service)) {
    for (Granted& granted : rights_.forReading(type))
      found.push_back({std::move(granted.object), std::move(granted.why), false});
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

Needed DependencyFinder::needs(const CriticalService& service) const {
  std::vector<Dependency> found;
  Needed needed;
  std::set<kube::ObjectKey> seen;
  const auto take = [&](const auto& cut) {
    std::erase_if(found, [&](const Dependency& dependency) {
      return !isNeeded(service, dependency.object) || !seen.insert(dependency.object).second;
    });
    cut(found, needed.tooMany);
    std::ranges::move(found, std::back_inserter(needed.guarded));
    found.clear();
  };
  const Workload* provider = workload(service.provider);
  if (service.dependencies.mode == DependencyMode::Listed) {
    found = listedDependencies(service);
    take([](const auto&, const auto&) {});  // the CRD bounds it
  } else if (service.dependencies.mode == DependencyMode::Auto && provider != nullptr) {
    findStarting(*provider, found);
    findRights(*provider, found);
    forEachServiceOf(*provider, service.provider.namespaceName, [&](const Name& front) {
      found.push_back({{kServices, front.first, front.second}, "Service of its Pods", false});
    });
    take(cutByKind);
  }
  findReading(service, found);
  take(cutForReading);
  std::ranges::sort(needed.guarded, {}, &Dependency::object);
  for (Dependency& dependency : needed.guarded) {
    const std::string& space = dependency.object.namespaceName;
    const bool mayOwn = provider != nullptr && (space.empty() || space == service.provider.namespaceName);
    dependency.ownsProvider = mayOwn && std::ranges::any_of(provider->owners, [&](const OwnerName& owner) {
                                return means(owner, dependency.object);
                              });
  }
  return needed;
}

// The namespace of a provider that runs no Pods itself goes after it, too, if what runs them for it is there;
// any other's is guarded anyway.
std::vector<Dependency> listedDependencies(const CriticalService& service) {
  const std::string& space = service.provider.namespaceName;
  std::vector<Dependency> found;
  for (size_t i = 0; i < service.dependencies.listed.size(); ++i) {
    const kube::ObjectKey& object = service.dependencies.listed[i];
    const std::string field = std::string(kDependenciesField) + "[" + std::to_string(i) + "]";
    found.push_back({object, field, false});
    if (runsPods(object.type) && (object.namespaceName != space || !runsPods(service.provider.type)))
      found.push_back({{kNamespaces, "", object.namespaceName}, "namespace of " + field, false});
    if (builtIn().find(object.type) == nullptr)
      found.push_back({kube::crdKey(object.type), "CRD of " + field, false});
  }
  return found;
}

std::vector<kube::GroupResource> typesToRead(const CriticalService& service) {
  if (!findsDependencies(service)) {
    if (typesByGrant(service).empty()) return {};
    return {kClusterRoles, kClusterRoleBindings};
  }
  std::vector<kube::GroupResource> types = DependencyFinder::types();
  types.insert(types.end(), {kube::crdType(), service.provider.type});
  return types;
}

// Bindings of a ServiceAccount may be in any namespace.
bool couldNeed(const CriticalService& service, const kube::ObjectKey& object) {
  if (!findsDependencies(service) || !isNeeded(service, object) || object.type == kApiServices) return false;
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

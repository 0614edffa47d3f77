#include "criticalservice/dependencies.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "criticalservice/pod_needs.h"
#include "criticalservice/provider_types.h"
#include "criticalservice/validation.h"
#include "kube/api_calls.h"
#include "kube/names.h"
#include "kube/patterns.h"
#include "kube/resource_map.h"
#include "kube/value.h"
#include "kube/well_known.h"

namespace lastout::criticalservice {
namespace {

bool selectsAny(const kube::Labels& selector, const std::vector<const PodTemplate*>& running) {
  return std::ranges::any_of(
      running, [&](const PodTemplate* podTemplate) { return selects(selector, podTemplate->podLabels); });
}

// It goes before the provider, whatever it carries.
bool isNamed(const CriticalService& service, const kube::ObjectKey& object) {
  return std::ranges::any_of(service.criteria, [&](const Criterion& criterion) {
    if (const auto* specific = std::get_if<SpecificResourceCriterion>(&criterion))
      return specific->object == object;
    return std::holds_alternative<InstancesCriterion>(criterion) && typeOf(criterion) == object.type;
  });
}

// A criterion for all of its instances would make no difference: a CRD is gone only after them.
bool awaitsCrdOf(const CriticalService& service, const kube::GroupResource& type) {
  const Criterion wanted = SpecificResourceCriterion{kube::crdKey(type)};
  return std::ranges::find(service.criteria, wanted) != service.criteria.end();
}

bool runsPods(const kube::GroupResource& type) {
  const kube::ResourceMap& builtIn = kube::ResourceMap::builtIn();
  return builtIn.find(type) != nullptr && !whyNoProvider(type, builtIn);
}

bool mayBeGuarded(const CriticalService& service, const kube::ObjectKey& object) {
  return object != service.provider && object.namespaceName != kExcludedNamespace &&
         !isNamed(service, object);
}

// The types that criteria name and lastout reads by a right that somebody adds: not those that it always
// reads.
std::set<kube::GroupResource> typesByGrant(const CriticalService& service) {
  std::set<kube::GroupResource> types;
  if (service.intent == DeletionIntent::OrphanResources) return types;
  for (const Criterion& criterion : service.criteria) types.insert(typeOf(criterion));
  for (const kube::GroupResource& type :
       {criticalServiceType(), kube::kCustomResourceDefinitions, kube::kNamespaces})
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
  if (type == kube::kClusterRoles || type == kube::kClusterRoleBindings) return ClusterRights;
  if (type == kube::kRoles || type == kube::kRoleBindings) return NearRights;
  return type == kube::kServices ? OfServices : NamedByPods;
}

// Leaves as many of each kind as are guarded, the first ones; adds the kinds that had more.
void cutByKind(std::vector<Dependency>& found, Needed& needed) {
  std::array<DependencyKind, 4> kinds{
      {{"objects that its Pods name", kMostNamedByPods},
       {"ClusterRoles and ClusterRoleBindings of its ServiceAccount", kMostClusterRights},
       {"Roles and RoleBindings of its ServiceAccount", kMostNearRights},
       {"Services of its Pods", kMostServices}}};
  std::erase_if(found, [&](const Dependency& dependency) {
    DependencyKind& kind = kinds.at(kindOf(dependency.object.type));
    if (++kind.found <= kind.most) return false;
    needed.leftOut.push_back(dependency.object);
    return true;
  });
  for (const DependencyKind& kind : kinds) {
    if (kind.found > kind.most) needed.tooMany.push_back({kind.what, kind.found, kind.most});
  }
}

void cutForReading(std::vector<Dependency>& found, Needed& needed) {
  if (found.size() <= kMostForReading) return;
  needed.tooMany.push_back({"ClusterRoles and ClusterRoleBindings by which lastout reads what criteria name",
                            found.size(), kMostForReading});
  for (size_t i = kMostForReading; i < found.size(); ++i) needed.leftOut.push_back(found[i].object);
  found.resize(kMostForReading);
}

}  // namespace

const std::vector<kube::GroupResource>& DependencyFinder::types() {
  static const std::vector<kube::GroupResource> kTypes{
      kube::kServices, kube::kServiceAccounts, kube::kRoleBindings, kube::kClusterRoleBindings,
      kube::kRoles,    kube::kClusterRoles,    kube::kApiServices};
  return kTypes;
}

const std::vector<kube::GroupResource>& DependencyFinder::neededTypes() {
  static const std::vector<kube::GroupResource> kTypes{kube::kPersistentVolumeClaims};
  return kTypes;
}

std::set<std::string> DependencyFinder::put(const kube::Object& object) {
  const kube::ObjectKey& key = object.key;
  if (key.type == kube::kServices) return putService(key, labelsAt(object.content, {"spec", "selector"}));
  if (key.type == kube::kServiceAccounts) return putAccount(object);
  if (GrantedRights::isAbout(key.type)) return rights_.put(object);
  if (key.type == kube::kApiServices || key.type == kube::kCustomResourceDefinitions)
    return putCaller(key, readCaller(object));
  if (!templates_.put(object)) return {};
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
  const bool isCrd = object.key.type == kube::kCustomResourceDefinitions;
  const auto address = isCrd ? kube::conversionOf(object.content) : kube::aggregatedServerOf(object.content);
  Caller caller;
  if (!address || address->isUrl()) return caller;
  caller.service = {address->service.namespaceName, address->service.name};
  if (isCrd)
    caller.converted = {kube::definedBy(object.key.name).group,
                        kube::textAt(object.content, {"spec", "names", "kind"})};
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
  if (key.type == kube::kServices) {
    if (selectors_.erase({key.namespaceName, key.name}) > 0) concerned.insert(key.namespaceName);
  } else if (key.type == kube::kServiceAccounts) {
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
  } else if (templates_.remove(key)) {
    concerned.insert(key.namespaceName);
  }
  return concerned;
}

void DependencyFinder::findStarting(const PodTemplate& podTemplate, std::vector<Dependency>& found) const {
  found.insert(found.end(), podTemplate.needs.begin(), podTemplate.needs.end());
  const auto secrets = pullSecrets_.find(podTemplate.account);
  if (podTemplate.pullsByItself || secrets == pullSecrets_.end()) return;
  for (const std::string& secret : secrets->second)
    found.push_back({{kube::kSecrets, podTemplate.account.first, secret},
                     "image pull secret of its ServiceAccount",
                     false});
}

void DependencyFinder::findRights(const PodTemplate& podTemplate, std::vector<Dependency>& found) const {
  if (podTemplate.account.second != kDefaultAccount)
    found.push_back({{kube::kServiceAccounts, podTemplate.account.first, podTemplate.account.second},
                     "its ServiceAccount",
                     false});
  for (Granted& granted : rights_.of(podTemplate.account))
    found.push_back({std::move(granted.object), std::move(granted.why), false});
}

std::vector<Dependency> DependencyFinder::rightsOf(const kube::ObjectKey& key) const {
  std::vector<Dependency> found;
  if (const PodTemplate* known = templates_.find(key)) findRights(*known, found);
  return found;
}

std::vector<Dependency> DependencyFinder::startingNeedsOf(const kube::ObjectKey& key) const {
  std::vector<Dependency> found;
  if (const PodTemplate* known = templates_.find(key)) findStarting(*known, found);
  return found;
}

template <class Visit>
void DependencyFinder::forEachServiceOf(const std::vector<const PodTemplate*>& running,
                                        const std::string& space, Visit visit) const {
  for (auto service = selectors_.lower_bound({space, ""});
       service != selectors_.end() && service->first.first == space; ++service) {
    if (selectsAny(service->second, running)) visit(service->first);
  }
}

std::vector<std::string> DependencyFinder::apisOf(const CriticalService& service) const {
  std::vector<std::string> apis;
  if (!findsDependencies(service)) return apis;
  forEachServiceOf(templates_.running(service.provider).templates, service.provider.namespaceName,
                   [&](const Name& front) {
                     const auto callers = callersOf_.find(front);
                     if (callers == callersOf_.end()) return;
                     for (const kube::ObjectKey& caller : callers->second) {
                       if (caller.type == kube::kApiServices) apis.push_back(caller.name);
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

// Of none: its Pods may be those of any Service.
bool DependencyFinder::mayStandBehind(const Name& service, const std::vector<const PodTemplate*>& running,
                                      bool isCertain) const {
  const auto selector = selectors_.find(service);
  if (selector == selectors_.end()) return !isCertain;
  return running.empty() || selectsAny(selector->second, running);
}

CriticalService DependencyFinder::withConverted(CriticalService service, bool isCertain) const {
  std::erase_if(service.criteria, [](const Criterion& criterion) {
    return std::holds_alternative<InstancesCriterion>(criterion);
  });
  const std::vector<const PodTemplate*> running = templates_.running(service.provider).templates;
  const PodTemplate* podTemplate = running.empty() ? nullptr : running.front();
  if (!findsDependencies(service) || (isCertain && podTemplate == nullptr)) return service;
  std::set<kube::GroupResource> types;
  const auto ownsIt = [&](const Kind& kind) {
    return podTemplate != nullptr && std::ranges::any_of(podTemplate->owners, [&](const OwnerName& owner) {
             return Kind(owner.group, owner.kind) == kind;
           });
  };
  const auto addConverted = [&](const std::set<kube::ObjectKey>& callers) {
    for (const kube::ObjectKey& caller : callers) {
      if (caller.type != kube::kCustomResourceDefinitions) continue;
      const kube::GroupResource type = kube::definedBy(caller.name);
      const bool waitsForItself = type == service.provider.type || type.group == kube::kLastoutGroup ||
                                  ownsIt(callers_.at(caller).converted);
      if (!waitsForItself && !awaitsCrdOf(service, type)) types.insert(type);
    }
  };
  const std::string& space = service.provider.namespaceName;
  for (auto called = callersOf_.lower_bound({space, ""});
       called != callersOf_.end() && called->first.first == space; ++called) {
    if (mayStandBehind(called->first, running, isCertain)) addConverted(called->second);
  }
  size_t room = kMostConverted;
  for (const kube::GroupResource& type : types) {
    if (room-- == 0) break;
    service.criteria.emplace_back(InstancesCriterion{type});
  }
  return service;
}

Carries carriesIn(const graph::Graph& graph) {
  return [&graph](const kube::ObjectKey& object, const std::string& finalizer) {
    const auto found = graph.find(object);
    return found && std::ranges::any_of(graph.finalizers(*found), [&](std::string_view carried) {
             return kube::meansFinalizer(finalizer, carried);
           });
  };
}

bool isAboutIn(const graph::Graph& graph, const FinalizerCriterion& criterion,
               const kube::ObjectKey& object) {
  const auto condition = graph.findCondition(conditionOf(criterion));
  return isAbout(criterion, object) &&
         (!condition || criterion.scope.selector.empty() || isAbout(graph.condition(*condition), object));
}

bool isAwaited(const CriticalService& service, const kube::ObjectKey& object, const Carries& carries) {
  return std::ranges::any_of(service.criteria, [&](const Criterion& criterion) {
    const auto* finalizer = std::get_if<FinalizerCriterion>(&criterion);
    return finalizer != nullptr && isAbout(*finalizer, object) && carries(object, finalizer->finalizerName);
  });
}

Needed DependencyFinder::needs(const CriticalService& service, const Carries& carries) const {
  std::vector<Dependency> found;
  Needed needed;
  std::set<kube::ObjectKey> seen;
  const auto take = [&](const auto& cut) {
    std::erase_if(found, [&](const Dependency& dependency) {
      if (!mayBeGuarded(service, dependency.object) || !seen.insert(dependency.object).second) return true;
      if (!isAwaited(service, dependency.object, carries)) return false;
      needed.awaited.push_back(dependency.object);
      return true;
    });
    cut(found, needed);
    std::ranges::move(found, std::back_inserter(needed.guarded));
    found.clear();
  };
  const auto [running, earlier] = templates_.running(service.provider);
  const PodTemplate* provider = running.empty() ? nullptr : running.front();
  if (service.dependencies.mode == DependencyMode::Listed) {
    found = listedDependencies(service);
    take([](const auto&, const auto&) {});  // the CRD bounds it
  } else if (service.dependencies.mode == DependencyMode::Auto) {
    for (const PodTemplate* podTemplate : running) findStarting(*podTemplate, found);
    for (const PodTemplate* podTemplate : running) findRights(*podTemplate, found);
    forEachServiceOf(running, service.provider.namespaceName, [&](const Name& front) {
      found.push_back({{kube::kServices, front.first, front.second}, "Service of its Pods", false});
    });
    take(cutByKind);
    if (earlier > kMostEarlierTemplates)
      needed.tooMany.push_back(
          {"earlier Pod templates, with what they name,", earlier, kMostEarlierTemplates});
  }
  findReading(service, found);
  take(cutForReading);
  std::ranges::sort(needed.guarded, {}, &Dependency::object);
  std::ranges::sort(needed.awaited);
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
    const std::string field = fieldOfDependency(i);
    found.push_back({object, field, false});
    if (runsPods(object.type) && (object.namespaceName != space || !runsPods(service.provider.type)))
      found.push_back({kube::namespaceKey(object.namespaceName), "namespace of " + field, false});
    if (kube::ResourceMap::builtIn().find(object.type) == nullptr)
      found.push_back({kube::crdKey(object.type), "CRD of " + field, false});
  }
  return found;
}

std::vector<kube::GroupResource> typesToRead(const CriticalService& service) {
  if (!findsDependencies(service)) {
    if (typesByGrant(service).empty()) return {};
    return {kube::kClusterRoles, kube::kClusterRoleBindings};
  }
  std::vector<kube::GroupResource> types = DependencyFinder::types();
  types.insert(types.end(), {kube::kCustomResourceDefinitions, service.provider.type});
  if (const auto earlier = typeOfEarlierTemplates(service.provider.type)) types.push_back(*earlier);
  return types;
}

// Bindings of a ServiceAccount may be in any namespace.
bool couldNeed(const CriticalService& service, const kube::ObjectKey& object) {
  if (!findsDependencies(service) || !mayBeGuarded(service, object) || object.type == kube::kApiServices)
    return false;
  if (object.type == kube::kRoleBindings || object.type == kube::kRoles) return true;
  const auto isOneOf = [&](const std::vector<kube::GroupResource>& types) {
    return std::ranges::find(types, object.type) != types.end();
  };
  const std::string& space = object.namespaceName;
  return (space.empty() || space == service.provider.namespaceName) &&
         (object.type == kube::kSecrets || object.type == kube::kConfigMaps ||
          isOneOf(DependencyFinder::types()) || isOneOf(DependencyFinder::neededTypes()));
}

}  // namespace lastout::criticalservice

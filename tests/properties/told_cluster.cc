#include "tests/properties/told_cluster.h"

#include <algorithm>
#include <chrono>

#include "tests/properties/cluster_spec.h"
#include "tests/properties/watched_history.h"

namespace lastout::testing {

namespace {

using criticalservice::CriticalService;
using criticalservice::DependencyMode;
using criticalservice::SpecificResourceCriterion;
using State = client::SyncStatus::State;

constexpr std::chrono::seconds kBelievedFor{30};  // of a broken watch (LiveViewOptions::allowedAge)

bool isCustom(const kube::GroupResource& type) {
  const kube::ResourceType* known = specTypes().find(type);
  return known == nullptr || !known->builtIn;
}

bool isGroupMeant(const std::string& named, const std::string& group) {
  return named.front() == '*' ? group.ends_with(named.substr(1)) : group == named;
}

// "All types of its group".
bool isMeantBy(const kube::GroupResource& named, const kube::GroupResource& type) {
  return type == named || (named.resource == "*" && isGroupMeant(named.group, type.group));
}

// The types of its criteria, and those whose CRDs these name.
std::set<kube::GroupResource> typesMeantBy(const CriticalService& service) {
  std::set<kube::GroupResource> meant;
  for (const criticalservice::Criterion& criterion : service.criteria) {
    const auto* specific = std::get_if<SpecificResourceCriterion>(&criterion);
    const bool isCrd = specific != nullptr && specific->object.type == types::kCrds;
    meant.insert(isCrd ? kube::definedBy(specific->object.name) : criticalservice::typeOf(criterion));
  }
  return meant;
}

bool isNamedBy(const CriticalService& service, const kube::GroupResource& type) {
  return std::ranges::any_of(service.criteria, [&](const criticalservice::Criterion& criterion) {
    return criticalservice::typeOf(criterion) == type;
  });
}

bool isNamed(const ToldCluster& told, const kube::GroupResource& type) {
  return std::ranges::any_of(told.services, [&](const auto& one) { return isNamedBy(one.second, type); });
}

// A criterion is about it, by its name or by its group.
bool isMeantBy(const CriticalService& service, const kube::GroupResource& type) {
  return std::ranges::any_of(service.criteria, [&](const criticalservice::Criterion& criterion) {
    return isMeantBy(criticalservice::typeOf(criterion), type);
  });
}

// True if lastout has seen a CRD of it, or if the status of every CriticalService that names it says so.
bool wasDefined(const ToldCluster& told, const kube::GroupResource& type) {
  if (told.wereDefined.contains(type)) return true;
  const auto isMeant = [&](const auto& one) { return isMeantBy(one.second, type); };
  return std::ranges::any_of(told.services, isMeant) &&
         std::ranges::all_of(told.services, [&](const auto& one) {
           return told.seenBy.at(one.first).contains(type) || !isMeant(one);
         });
}

State stateOf(const ToldCluster& told, const kube::GroupResource& type) {
  const auto reading = told.readings.find(type);
  return reading == told.readings.end() ? State::NotServed : reading->second.state;
}

PlainTypes typesOf(const ToldCluster& told) {
  PlainTypes result;
  for (const kube::ResourceType& type : specTypes().types()) {
    if (type.builtIn) result.namespaced[type.type] = type.namespaced;
  }
  result.namespaced[types::kCriticalServices] = false;
  for (const auto* there : {&told.definitions, &told.served}) {
    for (const kube::GroupResource& type : *there) result.namespaced[type] = watched::isNamespaced(type);
  }
  if (!told.gap.empty()) result.unknownGroups.insert(told.gap);
  for (const auto& [name, service] : told.services) {
    std::set<kube::GroupResource>& seen = result.seenBy[name];
    seen = told.seenBy.at(name);
    seen.insert(told.wereDefined.begin(), told.wereDefined.end());
    seen.insert(told.wereServed.begin(), told.wereServed.end());
  }
  return result;
}

// "An object that keeps a criterion unmet, by its name or by a finalizer that it carries".
bool isWaitedFor(const ToldCluster& told, const CriticalService& service, const kube::ObjectKey& object) {
  const auto carries = [&](const std::string& finalizer) {
    return std::ranges::any_of(told.objects, [&](const PlainObject& one) {
      return one.key == object && std::ranges::count(one.finalizers, finalizer) > 0;
    });
  };
  return std::ranges::any_of(service.criteria, [&](const criticalservice::Criterion& criterion) {
    if (const auto* specific = std::get_if<SpecificResourceCriterion>(&criterion))
      return specific->object == object;
    const auto* finalizer = std::get_if<criticalservice::FinalizerCriterion>(&criterion);
    using Kind = kube::NamespaceScope::Kind;
    const bool isNamed = finalizer != nullptr && finalizer->scope.names.contains(object.namespaceName);
    const bool isExcepted = finalizer != nullptr && !object.namespaceName.empty() &&
                            finalizer->scope.kind != Kind::All &&
                            isNamed == (finalizer->scope.kind == Kind::Outside);
    if (finalizer != nullptr && !carries(finalizer->finalizerName)) return false;
    return criticalservice::typeOf(criterion) == object.type && !isExcepted;
  });
}

}  // namespace

// "That a CRD has defined a type is remembered in status.seenTypes": while a criterion names it.
void remember(ToldCluster& told) {
  told.wereDefined.insert(told.definitions.begin(), told.definitions.end());
  for (const auto& [name, service] : told.services) {
    std::set<kube::GroupResource>& seen = told.seenBy[name];
    const std::set<kube::GroupResource> meant = typesMeantBy(service);
    std::erase_if(seen, [&](const kube::GroupResource& type) {
      return std::ranges::none_of(meant, [&](const auto& one) { return isMeantBy(one, type); });
    });
    for (const kube::GroupResource& type : meant) {
      for (const kube::GroupResource& one : told.wereDefined) {
        if (!isMeantBy(type, one)) continue;
        seen.insert(type);
        if (told.definitions.contains(one) || told.served.contains(one)) seen.insert(one);
      }
    }
  }
  std::erase_if(told.seenBy, [&](const auto& one) { return !told.services.contains(one.first); });
  for (const kube::GroupResource& type : told.definitions) told.wereServed.erase(type);
}

void forgetTypes(ToldCluster& told) {
  if (!told.knowsDefinitions) return;
  for (const kube::GroupResource& type : told.served) {
    if (!told.wereDefined.contains(type)) told.wereServed.insert(type);
  }
  std::erase_if(told.wereDefined, [&](const kube::GroupResource& type) {
    return !told.definitions.contains(type) && !told.served.contains(type) && type.group != told.gap &&
           !isNamed(told, type) && std::ranges::none_of(told.services, [&](const auto& one) {
             return one.second.provider.type == type;
           });
  });
}

// A path that answers 404 serves nothing, whatever discovery still says.
bool isGoneWithItsCrd(const ToldCluster& told, const kube::GroupResource& type) {
  const bool isServed = told.served.contains(type) && stateOf(told, type) != State::NotServed;
  return wasDefined(told, type) && !told.definitions.contains(type) && type.group != told.gap && !isServed;
}

// Of a group "until it has listed a type's objects, the criterion is not met", nor "while the API server
// cannot say what it serves of the group, and for each type that lastout may not read".
bool isGroupBelieved(const ToldCluster& told, const std::string& group) {
  std::set<kube::GroupResource> there;
  for (const auto* types : {&told.definitions, &told.served, &told.wereServed})
    there.insert(types->begin(), types->end());
  for (const auto& [type, reading] : told.readings) there.insert(type);
  const bool hasGap = !told.gap.empty() && isGroupMeant(group, told.gap);
  return told.knowsDefinitions && !hasGap && std::ranges::all_of(there, [&](const auto& type) {
           return !isGroupMeant(group, type.group) || isBelieved(told, type);
         });
}

bool isBelieved(const ToldCluster& told, const kube::GroupResource& type) {
  if (type.resource == "*") return isGroupBelieved(told, type.group);
  if (!isCustom(type)) return true;  // always read, here
  const State state = stateOf(told, type);
  if (state == State::Synced) return true;
  if (isGoneWithItsCrd(told, type)) return true;
  if (state == State::Stale) return told.now - told.readings.at(type).asOf <= kBelievedFor;
  if (state != State::NotServed) return false;
  const bool mayBeThere = told.definitions.contains(type) || told.served.contains(type) ||
                          (told.wereServed.contains(type) && !wasDefined(told, type)) ||
                          type.group == told.gap;
  return !mayBeThere;
}

// Listed: those, and the CRDs of custom resources. Auto: what the present template names, and each earlier
// one by which Pods may still run. The rights by which lastout reads what criteria name are not drawn.
std::vector<criticalservice::Dependency> needsByTheDocument(const ToldCluster& told,
                                                            const CriticalService& service) {
  std::set<kube::ObjectKey> needed;
  if (service.dependencies.mode == DependencyMode::Listed) {
    for (const kube::ObjectKey& listed : service.dependencies.listed) {
      if (isWaitedFor(told, service, listed)) continue;
      needed.insert(listed);
      if (isCustom(listed.type)) needed.insert(kube::crdKey(listed.type));
    }
  }
  const auto templates = told.templates.find(service.provider);
  if (service.dependencies.mode == DependencyMode::Auto && templates != told.templates.end()) {
    for (size_t i = 0; i < templates->second.size(); ++i) {
      const ToldTemplate& one = templates->second[i];
      if (one.hasPods || i + 1 == templates->second.size())
        needed.insert({types::kConfigMaps, service.provider.namespaceName, one.config});
    }
  }
  std::erase_if(needed, [&](const kube::ObjectKey& object) { return isWaitedFor(told, service, object); });
  std::vector<criticalservice::Dependency> result;
  result.reserve(needed.size());
  for (const kube::ObjectKey& object : needed) result.push_back({object, {}, false});
  return result;
}

PlainCluster plainOf(const ToldCluster& told) {
  PlainCluster plain;
  for (const PlainObject& object : told.objects) {
    const bool mayBeThere = told.served.contains(object.key.type) || !isCustom(object.key.type);
    if (mayBeThere || !isGoneWithItsCrd(told, object.key.type)) plain.objects.push_back(object);
  }
  for (const kube::GroupResource& type : told.definitions)
    plain.objects.push_back({.key = kube::crdKey(type), .finalizers = {}});
  for (const auto& [name, service] : told.services) {
    plain.services.push_back(service);
    plain.needs[name] = needsByTheDocument(told, service);
    for (const criticalservice::Criterion& criterion : service.criteria) {
      const kube::GroupResource& type = criticalservice::typeOf(criterion);
      plain.knowledge[type] = isBelieved(told, type) ? graph::Knowledge::Synced : graph::Knowledge::Unknown;
    }
    const kube::GroupResource& type = service.provider.type;
    plain.knowledge[type] = isBelieved(told, type) ? graph::Knowledge::Synced : graph::Knowledge::Unknown;
  }
  for (const kube::GroupResource& type : {types::kCriticalServices, types::kDeployments})
    plain.knowledge[type] = graph::Knowledge::Synced;
  plain.types = typesOf(told);
  return plain;
}

}  // namespace lastout::testing

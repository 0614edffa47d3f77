#include "tests/support/by_the_document.h"

#include <algorithm>

#include "kube/well_known.h"

namespace lastout::testing {
namespace {

using admission::Reason;
using criticalservice::Criterion;
using criticalservice::CriticalService;
using criticalservice::DeletionIntent;
using criticalservice::FinalizerCriterion;
using criticalservice::InstancesCriterion;
using criticalservice::ReferenceCriterion;
using criticalservice::SpecificResourceCriterion;
using graph::Knowledge;

const kube::GroupResource kServices{"lastout.dev", "criticalservices"};
const kube::GroupResource kNamespaces{"", "namespaces"};
const kube::GroupResource kCrds{"apiextensions.k8s.io", "customresourcedefinitions"};

// "All types of its group"; with "*." "all groups below that domain (not of the domain itself)".
bool isMeant(const kube::GroupResource& named, const kube::GroupResource& type) {
  if (named.resource != "*") return named == type;
  return named.group.starts_with("*.") ? type.group.ends_with(named.group.substr(1))
                                       : type.group == named.group;
}

// "A finalizerName that ends in * means all" that begin so.
bool carries(const PlainObject& object, const std::string& named) {
  return std::ranges::any_of(object.finalizers, [&](const std::string& one) {
    return named.ends_with('*') ? one.rfind(named.substr(0, named.size() - 1), 0) == 0 : one == named;
  });
}

// "No instances" is believed of a type only when its CRD is gone or a list says so.
bool wellKnown(const PlainCluster& cluster, const kube::GroupResource& type) {
  // "For each type that lastout may not read: a group of which one type is not readable is unknown".
  const auto isUnknown = [&](const auto& one) {
    return type.resource == "*" && isMeant(type, one.first) && one.first != type &&
           one.second != Knowledge::Synced && one.second != Knowledge::Absent;
  };
  if (std::ranges::any_of(cluster.knowledge, isUnknown)) return false;
  const auto found = cluster.knowledge.find(type);
  return found != cluster.knowledge.end() &&
         (found->second == Knowledge::Synced || found->second == Knowledge::Absent);
}

bool isThere(const PlainCluster& cluster, const kube::ObjectKey& key) {
  return std::ranges::any_of(cluster.objects, [&](const PlainObject& object) { return object.key == key; });
}

// "A namespace counts from the moment in which its labels match, and as long as nobody knows its labels." The
// selectors here ask for one value of one label.
bool isSelected(const PlainCluster& cluster, const std::string& selector, const std::string& space) {
  const auto found = std::ranges::find_if(cluster.objects, [&](const PlainObject& object) {
    return object.key == kube::ObjectKey{kNamespaces, "", space};
  });
  if (found == cluster.objects.end()) return true;
  std::map<std::string, std::string> labels = found->labels;
  labels["kubernetes.io/metadata.name"] = space;
  return std::ranges::any_of(
      labels, [&](const auto& label) { return selector == label.first + " in (" + label.second + ")"; });
}

// "Objects in the provider's own namespace do not count, nor does that Namespace itself"; "only objects in
// these namespaces count, and these Namespaces themselves; of a type without namespaces all do".
bool isExcepted(const PlainCluster& cluster, const FinalizerCriterion& criterion,
                const kube::ObjectKey& object) {
  if (object.namespaceName.empty() && object.type != kNamespaces) return false;
  const std::string& space = object.namespaceName.empty() ? object.name : object.namespaceName;
  if (const std::string& selector = criterion.scope.selector; !selector.empty())
    return !isSelected(cluster, selector, space);
  switch (criterion.scope.kind) {
    case kube::NamespaceScope::Kind::Outside:
      return criterion.scope.names.contains(space);
    case kube::NamespaceScope::Kind::Within:
      return !criterion.scope.names.contains(space);
    default:
      return false;
  }
}

bool isCarried(const PlainCluster& cluster, const FinalizerCriterion& criterion) {
  return std::ranges::any_of(cluster.objects, [&](const PlainObject& object) {
    return isMeant(criterion.type, object.key.type) && !isExcepted(cluster, criterion, object.key) &&
           carries(object, criterion.finalizerName);
  });
}

// "While any object of that type names the provider"; docs/criticalservice.md, "References".
bool isNamed(const PlainCluster& cluster, const ReferenceCriterion& criterion) {
  const kube::ReferenceFields& fields = criterion.reference.fields;
  const kube::ObjectKey& target = criterion.reference.target;
  const auto textOf = [](const std::optional<kube::FieldPath>& path) { return path ? path->text : ""; };
  return std::ranges::any_of(cluster.objects, [&](const PlainObject& object) {
    if (object.key.type != criterion.type) return false;
    return std::ranges::any_of(object.names, [&](const PlainReference& one) {
      if (one.field != fields.name.text || one.namespaceField != textOf(fields.namespaceName) ||
          one.kindField != textOf(fields.kind) || one.name != target.name)
        return false;
      if (!one.kind.empty() && one.kind != criterion.reference.kind) return false;
      if (target.namespaceName.empty()) return one.namespaceName.empty();
      const std::string& space = one.namespaceName.empty() ? object.key.namespaceName : one.namespaceName;
      return space.empty() || space == target.namespaceName;
    });
  });
}

// Something holds the criterion.
bool isHeld(const PlainCluster& cluster, const Criterion& criterion) {
  if (const auto* specific = std::get_if<SpecificResourceCriterion>(&criterion))
    return isThere(cluster, specific->object);
  if (const auto* instances = std::get_if<InstancesCriterion>(&criterion))
    return std::ranges::any_of(cluster.objects,
                               [&](const PlainObject& object) { return object.key.type == instances->type; });
  if (const auto* reference = std::get_if<ReferenceCriterion>(&criterion))
    return isNamed(cluster, *reference);
  return isCarried(cluster, std::get<FinalizerCriterion>(criterion));
}

// docs/verdicts.md, "When a criterion is understood".
class TypesByTheDocument {
 public:
  TypesByTheDocument(const PlainTypes& types, const std::string& service)
      : types_(types), service_(service) {}

  bool isUnderstood(const Criterion& criterion) const {
    if (std::holds_alternative<InstancesCriterion>(criterion)) return true;
    const auto* specific = std::get_if<SpecificResourceCriterion>(&criterion);
    const kube::GroupResource& type = criticalservice::typeOf(criterion);
    const bool metIfNotInstalled = criticalservice::isMetIfNotInstalled(criterion);
    if (type.resource == "*") return isAnyThere(type) || wasSeen(type) || metIfNotInstalled;
    const auto there = types_.namespaced.find(type);
    if (there == types_.namespaced.end() && !wasSeen(type))
      return !hasOthersOf(type.group) && metIfNotInstalled;
    if (specific == nullptr) return true;
    if (there != types_.namespaced.end() && there->second != !specific->object.namespaceName.empty())
      return false;
    if (type != kCrds) return true;
    const size_t dot = specific->object.name.find('.');
    if (dot == std::string::npos) return false;
    const kube::GroupResource defined{specific->object.name.substr(dot + 1),
                                      specific->object.name.substr(0, dot)};
    const bool mayBeMissing = metIfNotInstalled && !hasOthersOf(defined.group);
    return types_.namespaced.contains(defined) || wasSeen(defined) || mayBeMissing;
  }

 private:
  // "A group of which nothing was ever installed counts as a type that was never installed".
  bool isAnyThere(const kube::GroupResource& named) const {
    return std::ranges::any_of(types_.namespaced, [&](const auto& one) { return isMeant(named, one.first); });
  }
  bool wasSeen(const kube::GroupResource& type) const {
    const auto seen = types_.seenBy.find(service_);
    return seen != types_.seenBy.end() && std::ranges::any_of(seen->second, [&](const auto& one) {
             return one == type || isMeant(type, one);
           });
  }
  bool hasOthersOf(const std::string& group) const {
    return types_.unknownGroups.contains(group) ||
           std::ranges::any_of(types_.namespaced, [&](const auto& one) { return one.first.group == group; });
  }

  const PlainTypes& types_;
  const std::string& service_;
};

class Decider {
 public:
  Decider(const PlainCluster& cluster, const kube::ObjectKey& deleted,
          admission::DeletionEffect deletionEffect)
      : cluster_(cluster), deleted_(deleted) {
    verdict_.held = deletionEffect == admission::DeletionEffect::Held && isAskedAbout() && everyGuardHolds();
  }

  PlainVerdict decide() {
    if (!wellKnown(cluster_, kServices))
      return {.allowed = false,
              .servicesKnown = false,
              .guarded = false,
              .held = false,
              .unconfirmable = false,
              .blockers = {}};
    if (isAskedAbout()) {
      for (const CriticalService& service : cluster_.services) look(service);
    }
    std::ranges::sort(verdict_.blockers);
    verdict_.allowed = verdict_.blockers.empty();
    verdict_.unconfirmable = verdict_.unconfirmable && verdict_.allowed;
    return verdict_;
  }

 private:
  void look(const CriticalService& service) {
    const kube::ObjectKey& provider = service.provider;
    // The document's special case: a CriticalService stays until its provider is no longer present. Deleting
    // the CRD of CriticalServices deletes this one.
    const bool deletesService = deleted_ == kube::ObjectKey{kServices, "", service.meta.name} ||
                                deleted_ == kube::ObjectKey{kCrds, "", "criticalservices.lastout.dev"};
    if (deletesService && service.intent == DeletionIntent::Ordered) wantProviderGone(service);
    // "Check all CriticalServices to see if this particular instance is protected ... check the criteria."
    const bool deletesNamespace = !provider.namespaceName.empty() &&
                                  deleted_ == kube::ObjectKey{kNamespaces, "", provider.namespaceName};
    const bool deletesCrd =
        deleted_ == kube::ObjectKey{kCrds, "", provider.type.resource + "." + provider.type.group};
    // What the provider needs goes after it; what owns it may go as soon as the provider may.
    const bool deletesNeeded = isNeeded(service, false);
    const bool awaitsOwned = isWaitingForOwned(provider);
    if (deletesNeeded && !awaitsOwned && service.intent != DeletionIntent::OrphanResources)
      wantProviderGone(service);
    const bool deletesHolder =
        deletesNamespace || deletesCrd || isNeeded(service, true) || (deletesNeeded && awaitsOwned);
    if ((deleted_ == provider || deletesHolder) && service.intent != DeletionIntent::OrphanResources) {
      verdict_.guarded = true;
      const bool providerGone = !isThere(cluster_, provider) && wellKnown(cluster_, provider.type);
      const bool isKept = deleted_ == provider && verdict_.held;
      if (deleted_ != provider && providerGone) restOnTheEndOf(provider);
      if (!isKept && (deleted_ == provider || !providerGone)) wantCriteria(service);
    }
    if (!cluster_.ownNamespace.empty() &&
        deleted_ == kube::ObjectKey{kNamespaces, "", cluster_.ownNamespace}) {
      verdict_.guarded = true;
      verdict_.blockers.push_back({service.meta.name, -1, Reason::ServicesLeft});
    }
  }

  // docs/verdicts.md: what is in lastout's own namespace is not reviewed. (Nothing is in kube-system here.)
  bool isAskedAbout() const {
    return deleted_.namespaceName.empty() || deleted_.namespaceName != cluster_.ownNamespace;
  }

  // docs/verdicts.md: "waits for nothing but what it owns".
  bool isWaitingForOwned(const kube::ObjectKey& key) const {
    return std::ranges::any_of(cluster_.objects, [&](const PlainObject& object) {
      return object.key == key && object.terminating &&
             object.finalizers == std::vector{std::string(kube::kForegroundFinalizer)};
    });
  }

  // docs/verdicts.md: "each CriticalService that guards it says enforcement: Hold".
  bool everyGuardHolds() const {
    size_t guards = 0;
    size_t holding = 0;
    for (const CriticalService& service : cluster_.services) {
      if (service.provider != deleted_ || service.intent == DeletionIntent::OrphanResources) continue;
      ++guards;
      if (service.enforcement == criticalservice::EnforcementMode::Hold) ++holding;
    }
    return guards > 0 && guards == holding;
  }

  bool isNeeded(const CriticalService& service, bool ownsProvider) const {
    const auto needs = cluster_.needs.find(service.meta.name);
    return needs != cluster_.needs.end() && std::ranges::any_of(needs->second, [&](const auto& need) {
             return need.object == deleted_ && need.ownsProvider == ownsProvider;
           });
  }

  void wantProviderGone(const CriticalService& service) {
    verdict_.guarded = true;
    if (isThere(cluster_, service.provider))
      verdict_.blockers.push_back({service.meta.name, -1, Reason::ProviderPresent});
    else if (!wellKnown(cluster_, service.provider.type))
      verdict_.blockers.push_back({service.meta.name, -1, Reason::ProviderUnknown});
    else
      restOnTheEndOf(service.provider);
  }

  // docs/verdicts.md: "denied, as no API server can confirm that an object of that name is gone".
  void restOnTheEndOf(const kube::ObjectKey& provider) {
    if (!fitsItsScopeByTheDocument(cluster_, provider)) verdict_.unconfirmable = true;
  }

  void wantCriteria(const CriticalService& service) {
    for (size_t i = 0; i < service.criteria.size(); ++i) {
      const int number = static_cast<int>(i);
      const bool isMeant = isUnderstoodByTheDocument(cluster_, service, service.criteria[i]);
      if (isMeant && isHeld(cluster_, service.criteria[i]))
        verdict_.blockers.push_back({service.meta.name, number, Reason::CriterionUnmet});
      else if (!isMeant || !wellKnown(cluster_, criticalservice::typeOf(service.criteria[i])))
        verdict_.blockers.push_back({service.meta.name, number, Reason::CriterionUnknown});
    }
  }

  const PlainCluster& cluster_;
  const kube::ObjectKey& deleted_;
  PlainVerdict verdict_;
};

}  // namespace

bool isUnderstoodByTheDocument(const PlainCluster& cluster, const CriticalService& service,
                               const Criterion& criterion) {
  return !cluster.types || TypesByTheDocument(*cluster.types, service.meta.name).isUnderstood(criterion);
}

bool fitsItsScopeByTheDocument(const PlainCluster& cluster, const kube::ObjectKey& object) {
  if (!cluster.types) return true;
  const auto there = cluster.types->namespaced.find(object.type);
  return there == cluster.types->namespaced.end() || there->second != object.namespaceName.empty();
}

PlainVerdict verdictByTheDocument(const PlainCluster& cluster, const kube::ObjectKey& deleted,
                                  admission::DeletionEffect deletionEffect) {
  return Decider(cluster, deleted, deletionEffect).decide();
}

}  // namespace lastout::testing

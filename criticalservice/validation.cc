#include "criticalservice/validation.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "criticalservice/dependencies.h"
#include "kube/messages.h"
#include "kube/patterns.h"
#include "kube/well_known.h"

namespace lastout::criticalservice {
namespace {

void report(kube::Errors& errors, std::string message) { errors.push_back({std::move(message), "", {}}); }

constexpr size_t kMostAwaitedNamed = 3;

std::string criterionPath(size_t index) { return "spec.criteria[" + std::to_string(index) + "]"; }

bool isNamespace(const Criterion& criterion, std::string_view name) {
  const auto* specific = std::get_if<SpecificResourceCriterion>(&criterion);
  return specific != nullptr && specific->object.type == kube::kNamespaces && specific->object.name == name;
}

// Returns the index of the criterion that waits for the CRD of `type` to be gone.
std::optional<size_t> criterionOnCrd(const CriticalService& service, const kube::GroupResource& type) {
  for (size_t i = 0; i < service.criteria.size(); ++i) {
    const auto* specific = std::get_if<SpecificResourceCriterion>(&service.criteria[i]);
    if (specific != nullptr && specific->object == kube::crdKey(type)) return i;
  }
  return std::nullopt;
}

// True when criteria of the service wait for each of these Namespaces to be gone.
bool waitsForAllOf(const CriticalService& service, const std::set<std::string>& namespaces) {
  return std::ranges::all_of(namespaces, [&](const std::string& name) {
    return std::ranges::any_of(service.criteria,
                               [&](const Criterion& criterion) { return isNamespace(criterion, name); });
  });
}

// The type whose CRD that criterion names, unless another criterion is about the type itself.
std::optional<kube::GroupResource> definedByOneOf(const CriticalService& service, size_t index) {
  const auto defined = definedBy(service.criteria[index]);
  const bool isNamed = defined && std::ranges::any_of(service.criteria, [&](const Criterion& criterion) {
                         return typeOf(criterion) == *defined;
                       });
  return isNamed ? std::nullopt : defined;
}

void reportIfAbsent(kube::Errors& found, const ValidationContext& context, const kube::ObjectKey& object,
                    std::string warning) {
  if (context.ifAbsent)
    context.ifAbsent(object, std::move(warning));
  else
    report(found, std::move(warning));
}

void warnNotInstalled(kube::Errors& found, std::string_view path, const kube::GroupResource& type,
                      const kube::ResourceMap& types, const ValidationContext& context) {
  const auto isMeant = [&](const kube::ResourceType& one) { return kube::meansType(type, one.type); };
  if (types.find(type) != nullptr || std::ranges::any_of(types.types(), isMeant)) return;
  const bool isGroup = kube::isTypePattern(type);
  std::set<std::string> names;
  for (const kube::ResourceType& known : types.types())
    names.insert(isGroup ? known.type.group : kube::toString(known.type));
  const std::string name = isGroup ? type.group : kube::toString(type);
  reportIfAbsent(found, context, kube::crdKey(type),
                 std::string(path) + ": " + (isGroup ? "no type of " + name + " is" : name + " is not") +
                     " installed" + kube::didYouMean(name, {names.begin(), names.end()}));
}

void warnOpenWindow(kube::Errors& found, const CriticalService& service, size_t index,
                    const kube::ResourceMap& types) {
  const auto* finalizer = std::get_if<FinalizerCriterion>(&service.criteria[index]);
  if (finalizer == nullptr) return;
  const bool isSelected = !finalizer->scope.selector.empty();
  const bool isWithin = finalizer->scope.kind == kube::NamespaceScope::Kind::Within;
  if (const auto onCrd = criterionOnCrd(service, finalizer->type)) {
    if (finalizer->scope.kind != kube::NamespaceScope::Kind::All)
      report(found, criterionPath(*onCrd) +
                        ": leave it out: the CRD waits for the objects of all namespaces, and " +
                        criterionPath(index) + " only for those" +
                        kube::inWords(finalizer->scope, kube::kMostNamedNamespaces));
    return;
  }
  const std::string window =
      "another of " + kube::toString(finalizer->type) +
      kube::inWords(finalizer->scope, kube::kMostNamedNamespaces) +
      " may be created between the last look and the provider's deletion, and would get stuck";
  // The CRD stays for the objects of other namespaces.
  if (isSelected) return report(found, criterionPath(index) + ": " + window + "; no criterion excludes that");
  if (isWithin) {
    const std::set<std::string>& names = finalizer->scope.names;
    const char* way = names.contains(service.provider.namespaceName)
                          ? "; no criterion can exclude that in the provider's own namespace"
                      : names.size() == 1
                          ? "; only a SpecificResource criterion for that Namespace excludes that"
                          : "; only SpecificResource criteria for these Namespaces exclude that";
    if (!waitsForAllOf(service, names)) report(found, criterionPath(index) + ": " + window + way);
    return;
  }
  const kube::ResourceType* known = types.find(finalizer->type);
  // What to do comes first: API servers cut off what is long.
  report(found, criterionPath(index) + ": " +
                    (kube::isTypePattern(finalizer->type)
                         ? window + "; only SpecificResource criteria for the CRDs of its types exclude that"
                     : known != nullptr && known->builtIn
                         ? window + "; no criterion can exclude that for a built-in type"
                         : "if their CRD goes in the same teardown, add a SpecificResource criterion for "
                           "customresourcedefinitions.apiextensions.k8s.io/" +
                               kube::crdName(finalizer->type) + ": " + window));
}

void warnSameNamespace(kube::Errors& found, const CriticalService& service, size_t index,
                       const ValidationContext& context) {
  const std::string& home = service.provider.namespaceName;
  if (home.empty()) return;
  const Criterion& criterion = service.criteria[index];
  const auto* specific = std::get_if<SpecificResourceCriterion>(&criterion);
  const auto* finalizer = std::get_if<FinalizerCriterion>(&criterion);
  if (specific == nullptr && finalizer == nullptr) return;
  // Somebody who lists namespaces has chosen the provider's own on purpose.
  const bool inHome = specific != nullptr ? specific->object.namespaceName == home
                                          : finalizer->scope.kind == kube::NamespaceScope::Kind::All &&
                                                context.carriedIn && context.carriedIn(*finalizer, home);
  if (!inHome) return;
  report(found,
         criterionPath(index) + ": " +
             (specific != nullptr ? kube::toString(specific->object) + " is"
                                  : "some " + kube::toString(finalizer->type) + " with that finalizer are") +
             " in the provider's own namespace " + home + ", which cannot be deleted as a whole before " +
             (specific != nullptr ? "it is" : "they are") + " gone: keep provider and instances apart" +
             (specific != nullptr ? ""
                                  : ", or leave these out if somebody else takes that finalizer off them (" +
                                        std::string(kExceptField) + ": true)"));
}

void warnExcludedNamespace(kube::Errors& found, const CriticalService& service) {
  if (service.provider.namespaceName != kExcludedNamespace) return;
  report(found,
         "spec.provider.namespace: the API server does not ask lastout about what is in kube-system: "
         "its deletion will not be held up, with Hold neither; run the provider in another namespace, or "
         "protect "
         "what it finalizes by a DeletionPolicy");
}

void warnMissingProvider(kube::Errors& found, const CriticalService& service,
                         const ValidationContext& context) {
  if (!context.exists || context.exists(service.provider)) return;
  reportIfAbsent(found, context, service.provider,
                 "spec.provider: " + kube::toString(service.provider) +
                     " does not exist: nothing is guarded until it does");
}

void warnStrangeFinalizer(kube::Errors& found, const CriticalService& service, size_t index,
                          const ValidationContext& context) {
  const auto* criterion = std::get_if<FinalizerCriterion>(&service.criteria[index]);
  if (criterion == nullptr || !context.finalizers) return;
  const std::vector<std::string> carried = context.finalizers(criterion->type);
  const auto isMeant = [&](const std::string& one) {
    return kube::meansFinalizer(criterion->finalizerName, one);
  };
  if (carried.empty() || std::ranges::any_of(carried, isMeant)) return;
  report(found, criterionPath(index) + ": no " + kube::toString(criterion->type) + " carries " +
                    kube::inQuotes(criterion->finalizerName) + ", although some carry others" +
                    kube::didYouMean(criterion->finalizerName, {carried.begin(), carried.end()}));
}

}  // namespace

ValidationContext contextIn(const graph::Graph& graph) {
  return {.exists = [&graph](const kube::ObjectKey& key) { return !graph::isKnownToBeGone(graph, key); },
          .carriedIn =
              [&graph](const FinalizerCriterion& criterion, std::string_view namespaceName) {
                return std::ranges::any_of(objectsOf(graph, criterion.type), [&](graph::ObjectId object) {
                  return graph.namespaceName(object) == namespaceName &&
                         carriesIn(graph)(graph.key(object), criterion.finalizerName);
                });
              },
          .finalizers =
              [&graph](const kube::GroupResource& type) {
                std::set<std::string> found;
                for (const graph::TypeId one : graph::typesMeantBy(graph, type)) {
                  for (const std::string_view finalizer : graph.finalizersOf(one, SIZE_MAX))
                    found.emplace(finalizer);
                }
                return std::vector<std::string>(found.begin(), found.end());
              }};
}

std::string awaitedInWords(const std::vector<kube::ObjectKey>& awaited) {
  const bool isOne = awaited.size() == 1;
  return "the provider needs " + kube::listed(kube::wordsOf(awaited), kMostAwaitedNamed) +
         (isOne ? ", which carries" : ", which carry") +
         " a finalizer that a criterion waits for: " + (isOne ? "it goes" : "they go") +
         " before the provider, and nothing guards " + (isOne ? "it" : "them");
}

kube::Errors validateNew(const CriticalService& service, std::string_view ownNamespace) {
  kube::Errors errors;
  if (ownNamespace.empty()) return errors;
  if (service.provider.namespaceName == ownNamespace) {
    report(errors, "spec.provider.namespace: lastout itself runs in " + std::string(ownNamespace) +
                       ", and nothing can guard what goes together with it");
  }
  for (size_t i = 0; i < service.criteria.size(); ++i) {
    if (!isNamespace(service.criteria[i], ownNamespace)) continue;
    report(errors,
           criterionPath(i) + ": lastout itself runs in " + std::string(ownNamespace) +
               ", which stays while any CriticalService is left, so this criterion could never be met");
  }
  return errors;
}

kube::Errors validateChange(const CriticalService& before, const CriticalService& after,
                            const std::function<bool(const Criterion&)>& isMet) {
  kube::Errors errors;
  if (before.provider != after.provider) {
    report(errors, "spec.provider cannot be changed from " + kube::toString(before.provider) + " to " +
                       kube::toString(after.provider) + ": create another CriticalService for it");
  }
  for (size_t i = 0; i < before.criteria.size(); ++i) {
    const Criterion& criterion = before.criteria[i];
    if (isStillIn(after.criteria, criterion) || isMet(criterion)) continue;
    report(errors, criterionPath(i) + " cannot be removed while it is not known to be met (" +
                       toString(criterion) +
                       "); to give the guarding up, set spec.deletionIntent to OrphanResources");
  }
  return errors;
}

kube::Errors warnings(const CriticalService& service, const kube::ResourceMap& types,
                      const ValidationContext& context) {
  kube::Errors found;
  if (service.intent == DeletionIntent::OrphanResources) return found;  // it guards nothing any longer
  if (service.hasFormerReplay)
    report(found,
           "spec.replay is the former name of spec.deferredDeletions: write that; the next version does not "
           "read it");
  if (service.deferral == DeferralMode::Always && !context.personsCount)
    report(found,
           "spec.deferredDeletions: Always defers no person's deletion here: lastout serve runs without "
           "--client-ca, and cannot prove who asks. Whoever is denied asks again");
  warnExcludedNamespace(found, service);
  warnNotInstalled(found, "spec.provider", service.provider.type, types, context);
  warnMissingProvider(found, service, context);
  if (!context.awaited.empty()) report(found, "spec.criteria: " + awaitedInWords(context.awaited));
  for (size_t i = 0; i < service.criteria.size(); ++i) {
    warnNotInstalled(found, criterionPath(i), typeOf(service.criteria[i]), types, context);
    if (const auto defined = definedByOneOf(service, i))
      warnNotInstalled(found, criterionPath(i), *defined, types, context);
    warnOpenWindow(found, service, i, types);
    warnStrangeFinalizer(found, service, i, context);
    warnSameNamespace(found, service, i, context);
  }
  return found;
}

}  // namespace lastout::criticalservice

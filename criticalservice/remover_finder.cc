#include "criticalservice/remover_finder.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "criticalservice/pod_needs.h"
#include "kube/builtin_types.h"
#include "kube/messages.h"
#include "kube/patterns.h"
#include "kube/well_known.h"

namespace lastout::criticalservice {
namespace {

using Objects = RemoverFinder::Objects;
using OfType = RemoverFinder::OfType;

// Managers of Kubernetes itself: kube-controller-manager, kubectl-edit and the like.
constexpr std::array<std::string_view, 3> kOfKubernetes = {"kube-", "kubectl", "kubelet"};
constexpr size_t kMostNear = 3;     // by name, in one clause
constexpr size_t kMostClauses = 4;  // in one sentence

// What programs and containers of many controllers are called.
constexpr std::array<std::string_view, 7> kCommonNames = {"manager", "controller", "operator", "main",
                                                          "server",  "agent",      "webhook"};

// Returns true if the machine runs the Pods of that type.
bool hasPodsInMachine(const kube::GroupResource& type) {
  return type == kube::kPods || kube::findWorkloadType(type) != nullptr;
}

// The Pods, ReplicaSets and Jobs of a workload stand for that. A custom resource that controls a workload
// runs no Pods itself.
bool isTopWorkload(const kube::Object& object, const kube::ResourceMap& types) {
  return hasPodsInMachine(object.key.type) && podTemplateOf(object) != nullptr &&
         std::ranges::none_of(object.meta.ownerReferences, [&](const kube::OwnerReference& owner) {
           const kube::ResourceType* type = types.findKind(kube::groupOf(owner.apiVersion), owner.kind);
           return owner.controller && type != nullptr && hasPodsInMachine(type->type);
         });
}

// Returns the scopes in which its criteria name the finalizer. A provider may also remove it from objects
// that its criterion leaves out (exceptProviderNamespace).
std::vector<kube::NamespaceScope> scopesOf(const CriticalService& service, const OfType& what) {
  std::vector<kube::NamespaceScope> scopes;
  for (const Criterion& criterion : writtenCriteria(service)) {
    const auto* one = std::get_if<FinalizerCriterion>(&criterion);
    if (one == nullptr || !kube::meansType(one->type, what.first) ||
        !kube::meansFinalizer(one->finalizerName, what.second))
      continue;
    const bool isOfSome = one->scope.kind == kube::NamespaceScope::Kind::Within;
    // Here all Namespaces are known, and so is what a selector means.
    const bool leavesOut = !one->scope.selector.empty() && !one->scope.names.empty();
    if (leavesOut)
      scopes.push_back({one->scope.kind, one->scope.names});
    else
      scopes.push_back(isOfSome ? one->scope : kube::NamespaceScope());
  }
  return scopes;
}

bool runsIn(const std::map<kube::ObjectKey, const kube::Object*>& objects, const kube::ObjectKey& provider) {
  return hasPodsInMachine(provider.type) && objects.contains(provider);
}

bool isIn(const FinalizerRemover& remover, const kube::Object& object) {
  return remover.scope.includes(remover.from, object.key.namespaceName, object.key.name);
}

// The names of a workload, and of the containers of its Pods.
std::set<std::string> namesOf(const kube::Object& workload) {
  std::set<std::string> names{workload.key.name};
  forEachItem(podTemplateOf(workload)->at({"spec", "containers"}),
              [&](const kube::Value& container) { names.insert(kube::textAt(container, {"name"})); });
  return names;
}

WritingRights::Account accountOf(const kube::Object& workload) {
  return {workload.key.namespaceName, serviceAccountOf(*podTemplateOf(workload))};
}

// The object that a controller updates to remove the finalizer. A workload's template names it for its Pods.
kube::ObjectKey carrierOf(const OfType& what, const kube::Object& object) {
  if (object.key.type == what.first) return updatedToRemove(object, what.second);
  return {what.first, object.key.namespaceName, object.key.name};
}

kube::GroupResource updatedTypeOf(const OfType& what, const Objects& about) {
  return about.empty() ? what.first : carrierOf(what, *about.front()).type;
}

std::string listOf(const Objects& workloads) {
  std::vector<std::string> names;
  names.reserve(workloads.size());
  for (const kube::Object* workload : workloads) names.push_back(kube::toString(workload->key));
  return kube::listed(names, kMostNear);
}

// Many may write objects of Kubernetes' own types.
bool areWrittenByMany(const kube::GroupResource& type) { return kube::findBuiltInType(type) != nullptr; }

}  // namespace

RemoverFinder::RemoverFinder(const Objects& objects, const kube::ResourceMap& types, bool knowsAllRoles) {
  if (knowsAllRoles) rights_.noteAllRolesAreKnown();
  std::map<std::string, kube::Labels> namespaces;
  for (const kube::Object* object : objects) {
    objects_.emplace(object->key, object);
    if (object->key.type == kube::kNamespaces) namespaces.emplace(object->key.name, object->meta.labels);
    rights_.put(*object);
    if (isTopWorkload(*object, types)) workloads_.push_back(object);
    if (object->key.type == criticalServiceType()) {
      if (auto service = parse(*object, types)) services_.push_back(std::move(*service));
    }
    addCarrier(object->key.type, *object, object->meta.finalizers);
    addCarrier(kube::kPods, *object,
               textsAt(object->content, {"spec", "template", "metadata", "finalizers"}));
    if (object->key.type == kube::kNamespaces)
      addCarrier(kube::kNamespaces, *object, textsAt(object->content, {"spec", "finalizers"}));
  }
  for (CriticalService& service : services_) selectNamespaces(service, namespaces);
  for (const kube::Object* workload : workloads_) {
    for (const std::string& name : namesOf(*workload)) called_[name].push_back(workload);
  }
  for (const auto& [what, carriers] : carriers_) {
    for (const kube::Object* carrier : carriers) addManagers(what, *carrier);
  }
}

// Those that set the finalizer, as the API server wrote them down.
void RemoverFinder::addManagers(const OfType& what, const kube::Object& carrier) {
  forEachItem(carrier.content.at({"metadata", "managedFields"}), [&](const kube::Value& entry) {
    const kube::Value* set = entry.at({"fieldsV1", "f:metadata", "f:finalizers"});
    if (set == nullptr || set->find("v:\"" + what.second + "\"") == nullptr) return;
    const bool isApplied = kube::textAt(entry, {"operation"}) == "Apply";
    (isApplied ? applied_ : updated_)[what][kube::textAt(entry, {"manager"})].push_back(&carrier);
  });
}

void RemoverFinder::addCarrier(const kube::GroupResource& type, const kube::Object& object,
                               const std::vector<std::string>& finalizers) {
  for (size_t i = 0; i < std::min(finalizers.size(), kMostFinalizers); ++i)
    if (builtInRemoverOf(finalizers[i]).empty()) carriers_[{type, finalizers[i]}].push_back(&object);
}

std::vector<FinalizerRemover> RemoverFinder::removersIn(const OfType& what, const Found& found) {
  std::vector<FinalizerRemover> removers;
  for (const auto& [workload, evidence] : found)
    removers.push_back(
        {workload, what.second, what.first, evidence.text, evidence.isWeak, false, evidence.setOn});
  return removers;
}

std::vector<FinalizerRemover> RemoverFinder::all() const {
  std::vector<FinalizerRemover> all;
  for (const auto& [what, carriers] : carriers_) {
    std::vector<FinalizerRemover> declared = byServices(what);
    const Undeclared rest = undeclared(what, carriers, declared);
    std::ranges::move(declared, std::back_inserter(all));
    if (rest.objects.empty()) continue;
    for (FinalizerRemover& remover : removersIn(what, find(what, rest))) {
      remover.scope = rest.scope;
      all.push_back(std::move(remover));
    }
  }
  return all;
}

RemoverFinder::Undeclared RemoverFinder::undeclared(const OfType& what, const Objects& carriers,
                                                    const std::vector<FinalizerRemover>& declared) const {
  Undeclared rest{representativesOf(what, carriers), {}};
  for (const FinalizerRemover& one : declared) {
    std::erase_if(rest.objects, [&](const kube::Object* object) { return isIn(one, *object); });
    rest.scope = minus(rest.scope, one.scope);
  }
  return rest;
}

std::vector<UnremovedFinalizer> RemoverFinder::unremoved(std::string_view where) const {
  std::vector<UnremovedFinalizer> all;
  for (const auto& [what, carriers] : carriers_) {
    const Undeclared rest = undeclared(what, carriers, byServices(what));
    if (!rest.objects.empty() && find(what, rest).empty())
      all.push_back({what.second, what.first, lookedFor(what, rest.objects, where)});
  }
  return all;
}

std::vector<FinalizerRemover> RemoverFinder::of(const kube::Object& object,
                                                const std::string& finalizer) const {
  const OfType what{object.key.type, finalizer};
  std::vector<FinalizerRemover> declared = byServices(what);
  std::erase_if(declared, [&](const FinalizerRemover& one) { return !isIn(one, object); });
  return declared.empty() ? removersIn(what, find(what, {{&object}, {}})) : declared;
}

std::vector<FinalizerRemover> RemoverFinder::settersOf(const kube::Object& object) const {
  if (areWrittenByMany(object.key.type)) return {};
  const OfType what{object.key.type, ""};
  return removersIn(what, byRoles(what, {&object}, true));
}

std::string RemoverFinder::lookedFor(const kube::Object& object, const std::string& finalizer,
                                     std::string_view where) const {
  return lookedFor({object.key.type, finalizer}, {&object}, where);
}

bool RemoverFinder::isOfService(const OfType& what) const {
  return std::ranges::any_of(services_,
                             [&](const auto& service) { return !scopesOf(service, what).empty(); });
}

std::string RemoverFinder::accountWithoutRight(const kube::Object& workload,
                                               const kube::ObjectKey& object) const {
  if (podTemplateOf(workload) == nullptr) return {};
  const WritingRights::Account account = accountOf(workload);
  if (!rights_.isBound(account) || rights_.mayUpdate(account, object)) return {};
  return account.first + "/" + account.second;
}

// --- evidence, the strongest first

RemoverFinder::Objects RemoverFinder::representativesOf(const OfType& what, const Objects& carriers) const {
  if (dependsOnNames(what.first) || what.first == kube::kNamespaces) return carriers;
  std::map<std::string, const kube::Object*> one;
  for (const kube::Object* carrier : carriers) one.emplace(carrier->key.namespaceName, carrier);
  Objects some;
  for (const auto& [space, carrier] : one) some.push_back(carrier);
  return some;
}

RemoverFinder::Found RemoverFinder::find(const OfType& what, const Undeclared& about) const {
  Found found = byManagers(what, By::Update, about.scope);
  if (found.empty()) found = byRoles(what, about.objects, true);
  if (found.empty()) found = byUpdates(what, about.objects);
  if (found.empty()) found = byRoles(what, about.objects, false);
  return found.empty() ? byManagers(what, By::Apply, about.scope) : found;
}

// In the order of their workloads, each scope of a workload once.
std::vector<FinalizerRemover> RemoverFinder::byServices(const OfType& what) const {
  std::vector<FinalizerRemover> declared;
  for (const CriticalService& service : services_) {
    if (!runsIn(objects_, service.provider)) continue;
    for (kube::NamespaceScope& scope : scopesOf(service, what)) {
      const bool isKnown = std::ranges::any_of(declared, [&](const FinalizerRemover& one) {
        return one.workload == service.provider && covers(one.scope, scope);
      });
      if (!isKnown)
        declared.push_back({service.provider,
                            what.second,
                            what.first,
                            nameInWords(service.meta.name) + " says so",
                            false,
                            true,
                            {},
                            std::move(scope)});
    }
  }
  std::ranges::stable_sort(declared, {}, &FinalizerRemover::workload);
  return declared;
}

// Those of that name or, if there is none, those whose whole name is a part of it, between hyphens, and that
// may update the object: "gotk-kustomize-controller" is what kustomize-controller calls itself.
Objects RemoverFinder::workloadsCalled(const std::string& manager, const kube::ObjectKey& object) const {
  const auto found = called_.find(manager);
  if (found != called_.end()) return found->second;
  Objects called;
  if (std::ranges::any_of(kOfKubernetes, [&](auto prefix) { return manager.starts_with(prefix); }))
    return called;
  std::ranges::copy_if(workloads_, std::back_inserter(called), [&](const kube::Object* workload) {
    const std::string& name = workload->key.name;
    return std::ranges::find(kCommonNames, name) == kCommonNames.end() &&
           ("-" + manager + "-").find("-" + name + "-") != std::string::npos && rights_.isAnyKnown() &&
           rights_.mayUpdate(accountOf(*workload), object);
  });
  return called;
}

RemoverFinder::Found RemoverFinder::byManagers(const OfType& what, By by,
                                               const kube::NamespaceScope& scope) const {
  Found found;
  const std::map<OfType, Managers>& all = by == By::Apply ? applied_ : updated_;
  const auto managers = all.find(what);
  if (managers == all.end()) return found;
  for (const auto& [manager, everywhere] : managers->second) {
    Objects carriers = everywhere;
    std::erase_if(carriers, [&](const kube::Object* carrier) {
      return !scope.includes(what.first, carrier->key.namespaceName, carrier->key.name);
    });
    if (carriers.empty()) continue;
    const kube::ObjectKey updated = carrierOf(what, *carriers.front());
    const Objects called = workloadsCalled(manager, updated);
    // If two workloads have that name, nothing tells which of them set it.
    if (called.size() != 1) continue;
    const bool isCommon = std::ranges::find(kCommonNames, manager) != kCommonNames.end();
    if (isCommon && !accountWithoutRight(*called.front(), updated).empty()) continue;
    const std::string text = "metadata.managedFields of " + kube::toString(carriers.front()->key) + " has " +
                             kube::inQuotes(manager) + " set it";
    Evidence& evidence = found.try_emplace(called.front()->key, Evidence{text, isCommon}).first->second;
    for (const kube::Object* carrier : carriers) evidence.setOn.push_back(carrier->key);
  }
  return found;
}

// Returns the workloads that a role lets update what `right` says of one of the objects. `roleFor(account,
// object)`: that role.
template <class RoleFor>
RemoverFinder::Found RemoverFinder::byRight(const OfType& what, const Objects& about,
                                            const std::string& right, RoleFor roleFor) const {
  Found found;
  for (const kube::Object* workload : workloads_) {
    for (const kube::Object* one : about) {
      const auto role = roleFor(accountOf(*workload), carrierOf(what, *one));
      if (!role) continue;
      found.emplace(workload->key,
                    Evidence{kube::toString(*role) + " lets its ServiceAccount update " + right,
                             areWrittenByMany(updatedTypeOf(what, about))});
      break;
    }
  }
  return found;
}

// `mayUpdate`: of those that may also update the object, by which alone a finalizer is taken off, or of all.
RemoverFinder::Found RemoverFinder::byRoles(const OfType& what, const Objects& about, bool mayUpdate) const {
  Found found = byRight(what, about, what.first.resource + "/finalizers",
                        [this](const WritingRights::Account& account, const kube::ObjectKey& object) {
                          return rights_.roleForFinalizersOf(account, object);
                        });
  if (mayUpdate)
    std::erase_if(found,
                  [&](const auto& one) { return !this->mayUpdate(*objects_.at(one.first), what, about); });
  return found;
}

// Not all controllers have the right to "<type>/finalizers", which only owners that block deletions need.
RemoverFinder::Found RemoverFinder::byUpdates(const OfType& what, const Objects& about) const {
  const kube::GroupResource type = updatedTypeOf(what, about);
  Found found = byRight(what, about, type.resource,
                        [this](const WritingRights::Account& account, const kube::ObjectKey& object) {
                          return rights_.roleForUpdatesOf(account, object);
                        });
  return found.size() == 1 || !areWrittenByMany(type) ? found : Found();
}

bool RemoverFinder::mayUpdate(const kube::Object& workload, const OfType& what, const Objects& about) const {
  return std::ranges::any_of(about, [&](const kube::Object* one) {
    return rights_.mayUpdate(accountOf(workload), carrierOf(what, *one));
  });
}

// --- which came close

std::string RemoverFinder::lookedFor(const OfType& what, const Objects& about, std::string_view where) const {
  const kube::GroupResource type = updatedTypeOf(what, about);
  const std::string right = type.resource + (type == what.first ? "/finalizers" : "");
  std::vector<std::string> clauses{"no CriticalService, no metadata.managedFields and no role for " + right +
                                   " names a workload " + std::string(where)};
  addNearServices(what, clauses);
  addNearManagers(what, clauses);
  addNearRoles(what, about, clauses);
  return kube::joinedClauses(clauses, kMostClauses);
}

void RemoverFinder::addNearServices(const OfType& what, std::vector<std::string>& clauses) const {
  for (const CriticalService& service : services_) {
    const std::vector<kube::NamespaceScope> scopes = scopesOf(service, what);
    if (scopes.empty()) continue;
    // The provider removes the finalizer, but not from these objects.
    std::vector<std::string> elsewhere;
    std::set<std::string> names;
    for (const kube::NamespaceScope& scope : scopes) {
      if (scope.kind == kube::NamespaceScope::Kind::Within)
        names.insert(scope.names.begin(), scope.names.end());
      else
        elsewhere.push_back("only" + kube::inWords(scope, kube::kMostNamedNamespaces));
    }
    if (!names.empty())
      elsewhere.push_back("only" +
                          kube::inWords(kube::NamespaceScope::within(names), kube::kMostNamedNamespaces));
    clauses.push_back(
        nameInWords(service.meta.name) + " names it" +
        (runsIn(objects_, service.provider)
             ? " " + kube::listed(elsewhere)
             : ", but its provider " + kube::toString(service.provider) + " is not there, or runs no Pods"));
  }
}

void RemoverFinder::addNearManagers(const OfType& what, std::vector<std::string>& clauses) const {
  std::set<std::string> managers;
  for (const auto* all : {&updated_, &applied_}) {
    const auto found = all->find(what);
    if (found == all->end()) continue;
    for (const auto& [manager, carriers] : found->second) managers.insert(manager);
  }
  for (const std::string& manager : managers) {
    const auto namesakes = called_.find(manager);
    const Objects called = namesakes == called_.end() ? Objects() : namesakes->second;
    std::string why = "no workload or container has that name";
    if (called.size() == 1) why = "no role lets " + listOf(called) + ", which is called so, update it";
    if (called.size() > 1) why = "that is what " + listOf(called) + " are called";
    clauses.push_back(kube::inQuotes(manager) + " set it, and " + why);
  }
}

void RemoverFinder::addNearRoles(const OfType& what, const Objects& about,
                                 std::vector<std::string>& clauses) const {
  if (!rights_.isAnyKnown()) return;
  Objects near;
  std::ranges::copy_if(workloads_, std::back_inserter(near),
                       [&](const kube::Object* workload) { return mayUpdate(*workload, what, about); });
  if (!near.empty())
    clauses.push_back(listOf(near) + " may update " + what.first.resource +
                      (near.size() > 1 && areWrittenByMany(what.first)
                           ? ", and nothing tells which of them removes it"
                           : ", but by a role for many types"));
}

}  // namespace lastout::criticalservice

#include "admission/finalizer_removal.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "criticalservice/granted_rights.h"
#include "criticalservice/readiness.h"
#include "criticalservice/remover_finder.h"
#include "criticalservice/role_rules.h"
#include "kube/messages.h"
#include "kube/well_known.h"

namespace lastout::admission {
namespace {

using criticalservice::FinalizerRemover;
using criticalservice::OutsideRemover;

constexpr size_t kMostRemovers = 5;  // by name, in one clause

class RemovalFinder {
 public:
  explicit RemovalFinder(const SpecObjects& objects)
      : objects_(objects),
        finder_(objects.all, objects.types, objects.source.isCluster && objects.source.knowsControllers) {
    for (OutsideRemover& one : criticalservice::findOutsideRemovers(objects.all, objects.types))
      outside_.emplace(std::pair(one.from, one.finalizer), std::move(one.name));
  }

  FinalizerRemovals run() {
    FinalizerRemovals all;
    for (const kube::Object* object : objects_.all) {
      for (size_t i = 0; i < std::min(object->meta.finalizers.size(), criticalservice::kMostFinalizers);
           ++i) {
        const std::string& finalizer = object->meta.finalizers[i];
        if (!criticalservice::builtInRemoverOf(finalizer).empty()) continue;
        if (auto removal = removalOf(*object, finalizer)) all[object->key].push_back(std::move(*removal));
      }
    }
    return all;
  }

 private:
  // nullopt: too little is known.
  std::optional<FinalizerRemoval> removalOf(const kube::Object& object, const std::string& finalizer) {
    if (auto removal = removalAsWritten(object, finalizer)) return removal;
    const Known& known = knownOf(object, finalizer);
    const std::vector<FinalizerRemover>& removers = known.removers;
    const auto outside = outside_.find({object.key.type, finalizer});
    if (outside != outside_.end() && std::ranges::all_of(removers, &FinalizerRemover::isWeak))
      return FinalizerRemoval{finalizer, "which " + outside->second + " removes"};
    if (!removers.empty()) return removalBy(object, finalizer, removers);
    if (!objects_.source.knowsControllers) return std::nullopt;
    const std::string unbound = unboundRoleFor(object);
    return FinalizerRemoval{.finalizer = finalizer,
                            .clause = "and nobody is known to remove it: " + known.lookedFor + unbound,
                            .isUnknown = true,
                            .isUnbound = !unbound.empty()};
  }

  // "; clusterroles.../op lets update things, and no binding gives it to anybody in namespace team"; empty:
  // there is no such role.
  const std::string& unboundRoleFor(const kube::Object& object) const {
    const auto [found, isNew] = unbound_.try_emplace({object.key.type, object.key.namespaceName});
    if (isNew) found->second = unboundRoleIn(object.key.namespaceName, object.key.type);
    return found->second;
  }

  std::string unboundRoleIn(const std::string& space, const kube::GroupResource& type) const {
    const kube::Object* role = roleThatNames(type);
    if (role == nullptr || role->key.type != kube::kClusterRoles) return {};
    const bool isBound = std::ranges::any_of(objects_.all, [&](const kube::Object* one) {
      const bool counts = one->key.type == kube::kClusterRoleBindings ||
                          (one->key.type == kube::kRoleBindings && one->key.namespaceName == space);
      return counts && criticalservice::roleOfBinding(*one) == role->key;
    });
    if (isBound) return {};
    return "; " + kube::toString(role->key) + " lets update " + type.resource +
           ", and no binding gives it to anybody" + (space.empty() ? "" : " in namespace " + space);
  }

  struct Known {
    std::vector<FinalizerRemover> removers;
    std::string lookedFor;  // where there are none
  };

  // It is the same for all objects of the type in one namespace, unless roles name objects.
  const Known& knownOf(const kube::Object& object, const std::string& finalizer) {
    const auto [type, isNewType] = byName_.try_emplace(object.key.type);
    if (isNewType)
      type->second = object.key.type == kube::kNamespaces || finder_.dependsOnNames(object.key.type);
    const auto [found, isNew] = known_.try_emplace({object.key.type, finalizer, object.key.namespaceName,
                                                    type->second ? object.key.name : std::string()});
    if (!isNew) return found->second;
    found->second.removers = finder_.of(object, finalizer);
    const char* where = objects_.source.isCluster
                            ? "among the Deployments, StatefulSets and DaemonSets of the cluster"
                            : "in the files";
    if (found->second.removers.empty()) found->second.lookedFor = finder_.lookedFor(object, finalizer, where);
    return found->second;
  }

  FinalizerRemoval removalBy(const kube::Object& object, const std::string& finalizer,
                             const std::vector<FinalizerRemover>& removers) const {
    FinalizerRemoval removal{finalizer, {}};
    std::vector<std::string> names;
    std::vector<std::string> idle;
    bool isWeak = false;
    for (const FinalizerRemover& one : removers) {
      removal.removers.push_back(kube::toString(one.workload));
      names.push_back(removal.removers.back() + " (" + one.evidence + ")");
      // If not all workloads and roles could be read, another workload may fit as well.
      isWeak = isWeak || one.isWeak || (!objects_.source.knowsControllers && !one.isDeclared);
      std::optional<RemovalProblem> problem = problemOf(one, object);
      if (problem) idle.push_back("of " + removal.removers.back() + ": " + problem->why);
      if (problem) removal.problems.push_back(std::move(*problem));
    }
    // With weak evidence it may be another workload, so that this one is no reason.
    if (isWeak || removal.problems.size() < removers.size()) removal.problems.clear();
    const bool isOne = names.size() == 1 && !isWeak;
    removal.clause =
        "which " + (isOne ? removal.removers.front() + " removes (" + removers.front().evidence + ")"
                          : kube::listed(names, kMostRemovers) + " may remove");
    if (!idle.empty()) removal.clause += "; " + kube::joinedClauses(idle, kMostRemovers);
    return removal;
  }

  // By the controllers of which somebody wrote that they remove it; nullopt: by none.
  std::optional<FinalizerRemoval> removalAsWritten(const kube::Object& object,
                                                   const std::string& finalizer) const {
    FinalizerRemoval removal{finalizer, {}};
    std::vector<std::string> names;
    std::vector<std::string> idle;
    for (const WrittenController& one : objects_.source.written) {
      if (one.from != object.key.type || one.finalizer != finalizer) continue;
      const std::string name = "controller " + one.name + " of the scenario";
      removal.removers.push_back(name);
      names.push_back(name + (one.runsIn ? " (in " + kube::toString(*one.runsIn) + ")" : ""));
      std::vector<std::string> lacks = one.lacks(object);
      if (one.runsIn && objects_.find(*one.runsIn) == nullptr) {
        lacks.push_back("runs in " + kube::toString(*one.runsIn) + ", which is not there");
      } else if (one.runsIn) {
        const FinalizerRemover remover{*one.runsIn, finalizer, one.from, name};
        if (auto problem = problemOf(remover, object)) removal.problems.push_back(std::move(*problem));
      }
      for (const std::string& clause : lacks) idle.push_back(one.name + " " + clause);
    }
    if (names.empty()) return std::nullopt;
    if (removal.problems.size() < names.size()) removal.problems.clear();
    removal.clause =
        "which " + kube::listed(names, kMostRemovers) + (names.size() == 1 ? " removes" : " may remove");
    if (!idle.empty()) removal.clause += "; " + kube::joinedClauses(idle, kMostRemovers);
    return removal;
  }

  // Why the workload cannot remove finalizers of the object now; nullopt: it can.
  std::optional<RemovalProblem> problemOf(const FinalizerRemover& remover, const kube::Object& object) const {
    const kube::Object& workload = *objects_.find(remover.workload);
    const criticalservice::Readiness readiness =
        criticalservice::readinessOf(workload.key.type, workload.content);
    const kube::Value* status = workload.content.find("status");
    const bool wasApplied = objects_.source.isCluster ||
                            (status != nullptr && status->asMap() != nullptr && !status->asMap()->empty());
    if (readiness.ready == false && (wasApplied || readiness.reason != criticalservice::kNoPodReady))
      return RemovalProblem{
          remover.workload, remover.evidence,
          readiness.message + (isGoing(workload) ? ", and is being deleted with all in its Namespace" : ""),
          isGoing(workload) ? "if nothing is left to clean up, take the finalizer off by hand"
                            : "make it work again"};
    return rightsProblemOf(remover, workload, object);
  }

  // Files may lack roles and bindings: there it takes a role that would give the right, and that no binding
  // gives to the account where the object is.
  std::optional<RemovalProblem> rightsProblemOf(const FinalizerRemover& remover, const kube::Object& workload,
                                                const kube::Object& object) const {
    if (!objects_.source.knowsControllers) return std::nullopt;
    const kube::ObjectKey updated = criticalservice::updatedToRemove(object, remover.finalizer);
    const kube::Object* role = roleThatNames(updated.type);
    if (!objects_.source.isCluster && role == nullptr) return std::nullopt;
    const std::string account = finder_.accountWithoutRight(workload, updated);
    if (account.empty()) return std::nullopt;
    const std::string& space = object.key.namespaceName;
    return RemovalProblem{remover.workload, remover.evidence,
                          "no role lets its ServiceAccount " + account + " update " +
                              kube::toString(object.key.type) +
                              (space.empty() ? "" : " in namespace " + space),
                          rightsAdvice(role, space)};
  }

  // A Role or ClusterRole by whose rules objects of the type may be updated, whoever it is bound to; a
  // ClusterRole, which can be bound in each namespace, if there is one. nullptr: there is none.
  const kube::Object* roleThatNames(const kube::GroupResource& type) const {
    const auto [found, isNew] = roles_.try_emplace(type, nullptr);
    if (!isNew) return found->second;
    for (const kube::Object* one : objects_.all) {
      const bool isOfCluster = one->key.type == kube::kClusterRoles;
      if ((!isOfCluster && one->key.type != kube::kRoles) ||
          !criticalservice::nameUpdatesOf(criticalservice::rulesOf(*one), type) || isCollected(*one))
        continue;
      if (found->second == nullptr || isOfCluster) found->second = one;
      if (isOfCluster) break;
    }
    return found->second;
  }

  // Another ClusterRole has its rules, too, as "edit" those for people: what that is bound to counts.
  bool isCollected(const kube::Object& role) const {
    return role.key.type == kube::kClusterRoles &&
           std::ranges::any_of(objects_.all, [&](const kube::Object* other) {
             return other->key.type == kube::kClusterRoles &&
                    criticalservice::collects(criticalservice::contentOf(*other), role.meta.labels);
           });
  }

  // No API server creates a RoleBinding in a Namespace that is being deleted.
  std::string rightsAdvice(const kube::Object* role, const std::string& space) const {
    const bool canBeBound = role != nullptr && role->key.type == kube::kClusterRoles;
    if (!space.empty() && isBeingDeleted(space))
      return (canBeBound ? "bind it to " + kube::toString(role->key) + " by a ClusterRoleBinding"
                         : std::string("give it that right by a ClusterRoleBinding")) +
             ", because nobody can create a RoleBinding in a Namespace that is being deleted; or, if nothing "
             "is left to clean up, take the finalizer off by hand";
    if (!canBeBound) return "give it that right";
    return "give it that right, by a " +
           std::string(space.empty() ? "ClusterRoleBinding" : "RoleBinding there") + " to " +
           kube::toString(role->key) + " for instance";
  }

  // Its Namespace is being deleted, so that it will not work again.
  bool isGoing(const kube::Object& workload) const { return isBeingDeleted(workload.key.namespaceName); }

  bool isBeingDeleted(const std::string& namespaceName) const {
    const kube::Object* space = objects_.find(kube::namespaceKey(namespaceName));
    return space != nullptr && space->meta.deletionTimestamp.has_value();
  }

  const SpecObjects& objects_;
  criticalservice::RemoverFinder finder_;
  std::map<std::tuple<kube::GroupResource, std::string, std::string, std::string>, Known> known_;
  mutable std::map<kube::GroupResource, const kube::Object*> roles_;  // as of roleThatNames()
  mutable std::map<std::pair<kube::GroupResource, std::string>, std::string> unbound_;  // unboundRoleFor()
  std::map<kube::GroupResource, bool> byName_;  // types whose objects differ by their names
  std::map<std::pair<kube::GroupResource, std::string>, std::string> outside_;
};

}  // namespace

FinalizerRemovals findFinalizerRemovals(const SpecObjects& objects) {
  const bool hasAny = std::ranges::any_of(
      objects.all, [](const kube::Object* one) { return criticalservice::hasForeignFinalizer(one->meta); });
  return hasAny ? RemovalFinder(objects).run() : FinalizerRemovals();
}

const FinalizerRemoval* findRemoval(const FinalizerRemovals& removals, const kube::ObjectKey& object,
                                    std::string_view finalizer) {
  const auto found = removals.find(object);
  if (found == removals.end()) return nullptr;
  const auto one = std::ranges::find(found->second, finalizer, &FinalizerRemoval::finalizer);
  return one == found->second.end() ? nullptr : &*one;
}

}  // namespace lastout::admission

#include "criticalservice/finalizer_removers.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "criticalservice/critical_service.h"
#include "criticalservice/pod_needs.h"
#include "criticalservice/writing_rights.h"
#include "kube/builtin_types.h"
#include "kube/messages.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"

namespace lastout::criticalservice {
namespace {

// A finalizer on the objects of one type.
using OfType = std::pair<kube::GroupResource, std::string>;

struct BuiltInRemover {
  std::string_view finalizer;
  std::string_view name;
};

constexpr std::string_view kCollector = "the garbage collector";
constexpr std::string_view kControllerManager = "kube-controller-manager";
constexpr std::string_view kAgent = "its agent";

// By their whole names: other controllers use names below kubernetes.io, too, such as
// "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection".
constexpr BuiltInRemover kBuiltInRemovers[] = {
    {kube::kForegroundFinalizer, kCollector},
    {kube::kOrphanFinalizer, kCollector},
    {kube::kCrdCleanupFinalizer, "kube-apiserver"},
    {kube::kNamespaceSpecFinalizer, kControllerManager},
    {kube::kJobTrackingFinalizer, kControllerManager},
    {kube::kPvcProtectionFinalizer, kControllerManager},
    {kube::kPvProtectionFinalizer, kControllerManager},
    {kube::kPvControllerFinalizer, kControllerManager},
    {kube::kResourceClaimFinalizer, kControllerManager},
    {kube::kVacProtectionFinalizer, kControllerManager},
    {kube::kServiceCidrFinalizer, kControllerManager},
    {manifestwork::kWorkFinalizer, kAgent},
    {manifestwork::kAppliedFinalizer, kAgent},
};

class Finder {
 public:
  Finder(const std::vector<const kube::Object*>& objects, const kube::ResourceMap& types) {
    for (const kube::Object* object : objects) {
      objects_.emplace(object->key, object);
      rights_.put(*object);
      if (podTemplateOf(*object) != nullptr && isTopWorkload(*object, types)) workloads_.push_back(object);
      if (object->key.type == criticalServiceType()) readService(*object, types);
      addCarrier(object->key.type, *object, object->meta.finalizers);
      addCarrier(kube::kPods, *object,
                 textsAt(object->content, {"spec", "template", "metadata", "finalizers"}));
      if (object->key.type == kube::kNamespaces)
        addCarrier(kube::kNamespaces, *object, textsAt(object->content, {"spec", "finalizers"}));
    }
    std::erase_if(workloads_, [this](const kube::Object* workload) { return runsNothing(*workload); });
  }

  // A CriticalService says who removes it, whether that is among the objects or not.
  bool isOfService(const OfType& what) const {
    return std::ranges::any_of(services_, [&](const auto& service) { return names(service, what); });
  }

  std::vector<FinalizerRemover> run() const {
    std::vector<FinalizerRemover> all;
    for (const auto& [what, carriers] : carriers_)
      for (auto& [workload, evidence] : find(what, carriers))
        all.push_back({workload, what.second, what.first, std::move(evidence)});
    return all;
  }

  std::vector<UnremovedFinalizer> unremoved() const {
    std::vector<UnremovedFinalizer> all;
    for (const auto& [what, carriers] : carriers_) {
      if (!find(what, carriers).empty()) continue;
      std::vector<std::string> clauses{"no CriticalService, no metadata.managedFields and no role for " +
                                       what.first.resource + "/finalizers names a workload in the files"};
      addNearServices(what, clauses);
      addNearManagers(what, carriers, clauses);
      addNearRoles(what, carriers, clauses);
      clauses.emplace_back("a scenario can name the controller");
      all.push_back({what.second, what.first, kube::joinedClauses(clauses, clauses.size())});
    }
    return all;
  }

 private:
  using Found = std::map<kube::ObjectKey, std::string>;

  Found find(const OfType& what, const std::vector<const kube::Object*>& carriers) const {
    Found found = byServices(what);
    if (found.empty()) found = byManagers(what, carriers);
    return found.empty() ? byRoles(what) : found;
  }

  void addCarrier(const kube::GroupResource& type, const kube::Object& object,
                  const std::vector<std::string>& finalizers) {
    for (const std::string& finalizer : finalizers)
      if (builtInRemoverOf(finalizer).empty()) carriers_[{type, finalizer}].push_back(&object);
  }

  // Returns true if the machine runs the Pods of that type.
  static bool runsPods(const kube::GroupResource& type) {
    return type == kube::kPods ||
           (kube::findWorkloadType(type) != nullptr && type != kube::kReplicationControllers);
  }

  // A CronJob that has made no Job runs nothing.
  bool runsNothing(const kube::Object& workload) const {
    return workload.key.type == kube::kCronJobs && std::ranges::none_of(objects_, [&](const auto& one) {
             return one.first.type == kube::kJobs && one.first.namespaceName == workload.key.namespaceName &&
                    std::ranges::any_of(one.second->meta.ownerReferences,
                                        [&](const kube::OwnerReference& owner) {
                                          return owner.controller && owner.kind == "CronJob" &&
                                                 owner.name == workload.key.name;
                                        });
           });
  }

  // The Pods, ReplicaSets and Jobs of a workload stand for that. A custom resource that controls a workload
  // runs no Pods itself.
  static bool isTopWorkload(const kube::Object& object, const kube::ResourceMap& types) {
    return runsPods(object.key.type) &&
           std::ranges::none_of(object.meta.ownerReferences, [&](const kube::OwnerReference& owner) {
             const kube::ResourceType* type = types.findKind(kube::groupOf(owner.apiVersion), owner.kind);
             return owner.controller && type != nullptr && runsPods(type->type);
           });
  }

  void readService(const kube::Object& object, const kube::ResourceMap& types) {
    if (auto service = parse(object, types)) services_.push_back(std::move(*service));
  }

  Found byServices(const OfType& what) const {
    Found found;
    for (const CriticalService& service : services_) {
      const auto provider = objects_.find(service.provider);
      if (provider == objects_.end() || !runsPods(provider->first.type) || runsNothing(*provider->second))
        continue;
      if (names(service, what)) found.emplace(service.provider, nameInWords(service.meta.name) + " says so");
    }
    return found;
  }

  static bool names(const CriticalService& service, const OfType& what) {
    const std::vector<Criterion> criteria = writtenCriteria(service);
    return std::ranges::any_of(criteria, [&](const Criterion& criterion) {
      const auto* one = std::get_if<FinalizerCriterion>(&criterion);
      return one != nullptr && one->type == what.first && one->finalizerName == what.second;
    });
  }

  // Returns the names of those that set the finalizer, as the API server wrote them down.
  static std::set<std::string> managersOf(const kube::Object& object, const std::string& finalizer) {
    std::set<std::string> managers;
    forEachItem(object.content.at({"metadata", "managedFields"}), [&](const kube::Value& entry) {
      const kube::Value* set = entry.at({"fieldsV1", "f:metadata", "f:finalizers"});
      if (set != nullptr && set->find("v:\"" + finalizer + "\"") != nullptr)
        managers.insert(kube::textAt(entry, {"manager"}));
    });
    return managers;
  }

  static bool isCalled(const kube::Object& workload, const std::string& name) {
    bool isIt = workload.key.name == name;
    forEachItem(podTemplateOf(workload)->at({"spec", "containers"}),
                [&](const kube::Value& container) { isIt |= kube::textAt(container, {"name"}) == name; });
    return isIt;
  }

  std::vector<const kube::Object*> workloadsCalled(const std::string& manager) const {
    std::vector<const kube::Object*> called;
    std::ranges::copy_if(workloads_, std::back_inserter(called),
                         [&](const kube::Object* workload) { return isCalled(*workload, manager); });
    return called;
  }

  Found byManagers(const OfType& what, const std::vector<const kube::Object*>& carriers) const {
    Found found;
    for (const kube::Object* carrier : carriers) {
      for (const std::string& manager : managersOf(*carrier, what.second)) {
        const std::vector<const kube::Object*> called = workloadsCalled(manager);
        // Of two that are called alike nobody knows which it was.
        if (called.size() == 1)
          found.emplace(called.front()->key, "metadata.managedFields of " + kube::toString(carrier->key) +
                                                 " has " + kube::inQuotes(manager) + " set it");
      }
    }
    return found;
  }

  static WritingRights::Account accountOf(const kube::Object& workload) {
    return {workload.key.namespaceName, serviceAccountOf(*podTemplateOf(workload))};
  }

  Found byRoles(const OfType& what) const {
    Found found;
    for (const kube::Object* workload : workloads_) {
      if (const auto role = rights_.roleForFinalizersOf(accountOf(*workload), what.first))
        found.emplace(workload->key, kube::toString(*role) + " lets its ServiceAccount update " +
                                         what.first.resource + "/finalizers");
    }
    return found;
  }

  // --- which came close

  static std::string namesOf(const std::vector<const kube::Object*>& workloads) {
    std::vector<std::string> names;
    names.reserve(workloads.size());
    for (const kube::Object* workload : workloads) names.push_back(kube::toString(workload->key));
    return kube::listed(names, kMostNear);
  }

  void addNearServices(const OfType& what, std::vector<std::string>& clauses) const {
    for (const CriticalService& service : services_)
      if (names(service, what))
        clauses.push_back(nameInWords(service.meta.name) + " names it, and no manifest of its provider " +
                          kube::toString(service.provider) + " that runs Pods is there");
  }

  void addNearManagers(const OfType& what, const std::vector<const kube::Object*>& carriers,
                       std::vector<std::string>& clauses) const {
    std::set<std::string> managers;
    for (const kube::Object* carrier : carriers) managers.merge(managersOf(*carrier, what.second));
    for (const std::string& manager : managers) {
      const std::vector<const kube::Object*> called = workloadsCalled(manager);
      clauses.push_back(kube::inQuotes(manager) + " set it, and " +
                        (called.empty() ? "no workload or container has that name"
                                        : "that is what " + namesOf(called) + " are called"));
    }
  }

  void addNearRoles(const OfType& what, const std::vector<const kube::Object*>& carriers,
                    std::vector<std::string>& clauses) const {
    if (!rights_.isAnyKnown()) return;
    std::vector<const kube::Object*> near;
    std::ranges::copy_if(workloads_, std::back_inserter(near), [&](const kube::Object* workload) {
      return std::ranges::any_of(carriers, [&](const kube::Object* carrier) {
        return carrier->key.type == what.first && rights_.mayUpdate(accountOf(*workload), carrier->key);
      });
    });
    if (!near.empty())
      clauses.push_back(namesOf(near) + " may update " + what.first.resource +
                        ", but by no role that names " + what.first.resource + "/finalizers");
  }

  static constexpr size_t kMostNear = 3;  // by name, in one clause

  std::map<kube::ObjectKey, const kube::Object*> objects_;
  std::vector<const kube::Object*> workloads_;
  std::vector<CriticalService> services_;
  WritingRights rights_;
  std::map<OfType, std::vector<const kube::Object*>> carriers_;
};

}  // namespace

std::string_view builtInRemoverOf(std::string_view finalizer) {
  const auto* const found = std::ranges::find(kBuiltInRemovers, finalizer, &BuiltInRemover::finalizer);
  if (found != std::end(kBuiltInRemovers)) return found->name;
  return finalizer.starts_with(kube::kFinalizerDomain) ? "lastout" : "";
}

std::vector<FinalizerRemover> findFinalizerRemovers(const std::vector<const kube::Object*>& objects,
                                                    const kube::ResourceMap& types) {
  return Finder(objects, types).run();
}

std::vector<UnremovedFinalizer> findUnremovedFinalizers(const std::vector<const kube::Object*>& objects,
                                                        const kube::ResourceMap& types) {
  return Finder(objects, types).unremoved();
}

std::vector<OutsideRemover> findOutsideRemovers(const std::vector<const kube::Object*>& objects,
                                                const kube::ResourceMap& types) {
  std::vector<OutsideRemover> all;
  const auto look = [&](const char* name, std::string_view finalizer, const kube::GroupResource& from) {
    const auto carries = [&](const kube::Object* object) {
      return object->key.type == from && kube::hasFinalizer(object->meta, finalizer);
    };
    if (std::ranges::any_of(objects, carries)) all.push_back({name, std::string(finalizer), from});
  };
  look("cloud-controller-manager", kube::kLoadBalancerFinalizer, kube::kServices);
  look("external-provisioner", kube::kProvisionerFinalizer, kube::kPersistentVolumes);
  for (const kube::UsageFinalizer& usage : kube::kUsageFinalizers)
    look("kube-controller-manager", usage.finalizer, usage.type);
  if (all.empty()) return all;
  const Finder finder(objects, types);
  std::erase_if(all, [&](const OutsideRemover& one) {
    return finder.isOfService({one.from, one.finalizer});
  });
  return all;
}

}  // namespace lastout::criticalservice

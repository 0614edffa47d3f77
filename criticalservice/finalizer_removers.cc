#include "criticalservice/finalizer_removers.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "criticalservice/critical_service.h"
#include "criticalservice/pod_needs.h"
#include "criticalservice/writing_rights.h"
#include "kube/messages.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"

namespace lastout::criticalservice {
namespace {

// A finalizer on the objects of one type.
using OfType = std::pair<kube::GroupResource, std::string>;

// "kubernetes.io/pvc-protection", "service.kubernetes.io/load-balancer-cleanup", "foregroundDeletion".
bool isOfControlPlane(std::string_view finalizer) {
  const size_t slash = finalizer.find('/');
  const std::string_view domain = finalizer.substr(0, slash);
  if (slash == std::string_view::npos)
    return finalizer == kube::kForegroundFinalizer || finalizer == kube::kOrphanFinalizer ||
           finalizer == kube::kCrdCleanupFinalizer || finalizer == kube::kNamespaceSpecFinalizer;
  return domain == "kubernetes.io" || domain.ends_with(".kubernetes.io");
}

bool isOfKnownController(std::string_view finalizer) {
  return isOfControlPlane(finalizer) || finalizer == manifestwork::kWorkFinalizer ||
         finalizer == manifestwork::kAppliedFinalizer || finalizer == kube::kAppliedObjectsFinalizer ||
         finalizer == kube::kCriteriaFinalizer;
}

class Finder {
 public:
  Finder(const std::vector<const kube::Object*>& objects, const kube::ResourceMap& types) {
    for (const kube::Object* object : objects) {
      objects_.emplace(object->key, object);
      rights_.put(*object);
      if (podTemplateOf(*object) != nullptr && isTopWorkload(*object)) workloads_.push_back(object);
      if (object->key.type == criticalServiceType()) readService(*object, types);
      addCarrier(object->key.type, *object, object->meta.finalizers);
      addCarrier(kube::kPods, *object,
                 textsAt(object->content, {"spec", "template", "metadata", "finalizers"}));
      if (object->key.type == kube::kNamespaces)
        addCarrier(kube::kNamespaces, *object, textsAt(object->content, {"spec", "finalizers"}));
    }
  }

  std::vector<FinalizerRemover> run() const {
    std::vector<FinalizerRemover> all;
    for (const auto& [what, carriers] : carriers_) {
      std::map<kube::ObjectKey, std::string> found = byServices(what);
      if (found.empty()) found = byManagers(what, carriers);
      if (found.empty()) found = byRoles(what);
      for (auto& [workload, evidence] : found)
        all.push_back({workload, what.second, what.first, std::move(evidence)});
    }
    return all;
  }

 private:
  using Found = std::map<kube::ObjectKey, std::string>;

  void addCarrier(const kube::GroupResource& type, const kube::Object& object,
                  const std::vector<std::string>& finalizers) {
    for (const std::string& finalizer : finalizers)
      if (!isOfKnownController(finalizer)) carriers_[{type, finalizer}].push_back(&object);
  }

  // Pods and ReplicaSets that somebody controls stand for their owner.
  static bool isTopWorkload(const kube::Object& object) {
    return std::ranges::none_of(object.meta.ownerReferences, &kube::OwnerReference::controller);
  }

  void readService(const kube::Object& object, const kube::ResourceMap& types) {
    if (auto service = parse(object, types)) services_.push_back(std::move(*service));
  }

  Found byServices(const OfType& what) const {
    Found found;
    for (const CriticalService& service : services_) {
      const auto provider = objects_.find(service.provider);
      if (provider == objects_.end() || podTemplateOf(*provider->second) == nullptr) continue;
      for (const Criterion& criterion : writtenCriteria(service)) {
        const auto* one = std::get_if<FinalizerCriterion>(&criterion);
        if (one != nullptr && one->type == what.first && one->finalizerName == what.second)
          found.emplace(service.provider, nameInWords(service.meta.name) + " says so");
      }
    }
    return found;
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

  Found byManagers(const OfType& what, const std::vector<const kube::Object*>& carriers) const {
    Found found;
    for (const kube::Object* carrier : carriers) {
      for (const std::string& manager : managersOf(*carrier, what.second)) {
        std::vector<const kube::Object*> called;
        for (const kube::Object* workload : workloads_)
          if (isCalled(*workload, manager)) called.push_back(workload);
        // Of two that are called alike nobody knows which it was.
        if (called.size() == 1)
          found.emplace(called.front()->key, "metadata.managedFields of " + kube::toString(carrier->key) +
                                                 " has " + kube::inQuotes(manager) + " set it");
      }
    }
    return found;
  }

  Found byRoles(const OfType& what) const {
    Found found;
    for (const kube::Object* workload : workloads_) {
      const WritingRights::Account account{workload->key.namespaceName,
                                           serviceAccountOf(*podTemplateOf(*workload))};
      if (const auto role = rights_.roleForFinalizersOf(account, what.first))
        found.emplace(workload->key, kube::toString(*role) + " lets its ServiceAccount update " +
                                         what.first.resource + "/finalizers");
    }
    return found;
  }

  std::map<kube::ObjectKey, const kube::Object*> objects_;
  std::vector<const kube::Object*> workloads_;
  std::vector<CriticalService> services_;
  WritingRights rights_;
  std::map<OfType, std::vector<const kube::Object*>> carriers_;
};

}  // namespace

std::vector<FinalizerRemover> findFinalizerRemovers(const std::vector<const kube::Object*>& objects,
                                                    const kube::ResourceMap& types) {
  return Finder(objects, types).run();
}

}  // namespace lastout::criticalservice

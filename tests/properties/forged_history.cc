#include "tests/properties/forged_history.h"

#include <algorithm>

#include "tests/properties/cluster_spec.h"
#include "tests/properties/dice.h"

namespace lastout::testing {

namespace {

using criticalservice::CriticalService;
using criticalservice::DeferredDeletion;
using criticalservice::DependencyMode;

class ForgedGenerator {
 public:
  explicit ForgedGenerator(uint64_t seed) : dice_(seed) {}

  ForgedCluster make() {
    for (const char* space : {"home", "elsewhere"}) add(namespaceKey(space));
    for (uint32_t count = 1 + dice_.below(3); count > 0; --count)
      add({types::kClusterRoles, "", "role" + std::to_string(count)});
    add({types::kDeployments, "home", "provider"});
    for (uint32_t count = 1 + dice_.below(4); count > 0; --count)
      add({types::kConfigMaps, dice_.oneIn(4) ? "elsewhere" : "home", "config" + std::to_string(count)});
    for (ForgedObject& object : cluster_.objects) own(object);
    for (uint32_t i = 1 + dice_.below(2); i > 0; --i) addService("service" + std::to_string(i));
    cluster_.personsCount = dice_.oneIn(3);
    cluster_.seesAllTerminate = dice_.oneIn(3);
    return std::move(cluster_);
  }

 private:
  void add(const kube::ObjectKey& key) {
    const bool isTerminating = dice_.oneIn(key.type == types::kNamespaces ? 5 : 3);
    cluster_.objects.push_back({.key = key,
                                .uid = "uid-" + std::to_string(cluster_.objects.size()),
                                .isTerminating = isTerminating,
                                .isOrphaning = dice_.oneIn(4)});
  }

  const ForgedObject& any() {
    return cluster_.objects[dice_.below(static_cast<uint32_t>(cluster_.objects.size()))];
  }

  // Some are gone, and another object may have the name.
  void own(ForgedObject& object) {
    if (object.key.type == types::kNamespaces) return;
    for (uint32_t count = dice_.below(3); count > 0; --count) {
      const ForgedObject owner = any();
      const bool reachable =
          owner.key.namespaceName.empty() || owner.key.namespaceName == object.key.namespaceName;
      if (!reachable || owner.key == object.key) continue;
      object.owners.push_back({owner.key, dice_.oneIn(3) ? owner.uid + "-before" : owner.uid});
      if (dice_.oneIn(8)) object.owners.back().object.name = "gone";
    }
  }

  void addService(const std::string& name) {
    CriticalService service;
    service.meta.name = name;
    service.meta.uid = "uid-of-" + name;
    service.provider = {types::kDeployments, "home", "provider"};
    service.criteria.emplace_back(
        criticalservice::SpecificResourceCriterion{{types::kConfigMaps, "elsewhere", "awaited"}});
    service.deferral = static_cast<criticalservice::DeferralMode>(dice_.below(3));
    service.dependencies.mode = static_cast<DependencyMode>(dice_.below(3));
    if (service.dependencies.mode == DependencyMode::Listed) {
      for (const ForgedObject& object : cluster_.objects) {
        const bool canBe = object.key.type == types::kConfigMaps || object.key.type == types::kClusterRoles;
        if (canBe && dice_.oneIn(2)) service.dependencies.listed.push_back(object.key);
      }
      if (service.dependencies.listed.empty()) service.dependencies.mode = DependencyMode::None;
    }
    for (uint32_t count = 1 + dice_.below(4); count > 0; --count) forge(service);
    cluster_.services.push_back(std::move(service));
  }

  // Whatever somebody may write there.
  void forge(CriticalService& service) {
    const ForgedObject object = any();
    const std::vector<std::string> users{
        "system:serviceaccount:kube-system:generic-garbage-collector",
        "system:serviceaccount:kube-system:namespace-controller",
        "system:serviceaccount:open-cluster-management-agent:klusterlet-work-sa",
        kOtherController,
        "mallory",
        "",
        "system:admin"};
    DeferredDeletion entry;
    entry.object = object.key;
    entry.uid = object.uid;
    entry.requestedBy = dice_.pick(users);
    entry.requestedAt = dice_.below(1'000);
    if (dice_.oneIn(6)) entry.uid += "-before";
    for (const ForgedObject::Owner& owner : object.owners) {
      if (!dice_.oneIn(5)) entry.owners.push_back(owner.uid);
    }
    if (dice_.oneIn(4)) entry.owners.push_back(any().uid);
    if (dice_.oneIn(5)) entry.owners.clear();
    criticalservice::add(service.deferredDeletions, std::move(entry));
  }

  Dice dice_;
  ForgedCluster cluster_;
};

const ForgedObject* find(const ForgedCluster& cluster, const kube::ObjectKey& key) {
  const auto found = std::ranges::find(cluster.objects, key, &ForgedObject::key);
  return found == cluster.objects.end() ? nullptr : &*found;
}

}  // namespace

ForgedCluster forgedCluster(uint64_t seed) { return ForgedGenerator(seed).make(); }

bool goesByTheDocument(const ForgedCluster& cluster, const ForgedObject& object) {
  const ForgedObject* space =
      object.key.namespaceName.empty() ? nullptr : find(cluster, namespaceKey(object.key.namespaceName));
  if (space != nullptr && space->isTerminating) return true;
  if (object.owners.empty()) return false;
  return std::ranges::all_of(object.owners, [&](const ForgedObject::Owner& owner) {
    const ForgedObject* there = find(cluster, owner.object);
    const bool isGone = there == nullptr || there->uid != owner.uid;
    return isGone || (there->isTerminating && !there->isOrphaning);
  });
}

const ForgedObject* objectOf(const ForgedCluster& cluster, const DeferredDeletion& deletion) {
  const ForgedObject* object = find(cluster, deletion.object);
  return object == nullptr || object->uid != deletion.uid || object->isTerminating ? nullptr : object;
}

bool isLawful(const ForgedCluster& cluster, const DeferredDeletion& deletion) {
  const ForgedObject* object = objectOf(cluster, deletion);
  if (object == nullptr) return false;
  if (goesByTheDocument(cluster, *object)) return true;
  const bool isUsual =
      deletion.requestedBy.starts_with("system:serviceaccount:kube-system:") ||
      deletion.requestedBy.starts_with("system:serviceaccount:open-cluster-management-agent:");
  if (!cluster.personsCount || isUsual) return false;
  return deletion.requestedBy != kOtherController || object->owners.empty();
}

std::string describe(const ForgedCluster& cluster) {
  std::string text = cluster.personsCount ? "persons count\n" : "";
  if (cluster.seesAllTerminate) text += "every namespace was told to terminate\n";
  for (const ForgedObject& object : cluster.objects) {
    text += "object " + kube::toString(object.key) + " " + object.uid;
    if (object.isTerminating) text += " terminating";
    if (object.isOrphaning) text += " +orphan";
    for (const ForgedObject::Owner& owner : object.owners)
      text += ", owner " + kube::toString(owner.object) + " " + owner.uid;
    text += "\n";
  }
  for (const CriticalService& service : cluster.services) {
    text += "service " + service.meta.name + " deferredDeletions " +
            std::string(criticalservice::toString(service.deferral));
    if (service.dependencies.mode == DependencyMode::None) text += ", alone";
    for (const kube::ObjectKey& needed : service.dependencies.listed) text += ", needs " + toString(needed);
    text += "\n";
    for (const DeferredDeletion& entry : service.deferredDeletions.deletions) {
      text += "  entry " + kube::toString(entry.object) + " " + entry.uid + " by \"" + entry.requestedBy +
              "\" at " + std::to_string(entry.requestedAt) + ", owners then:";
      for (const std::string& owner : entry.owners) text += " " + owner;
      text += "\n";
    }
  }
  return text;
}

}  // namespace lastout::testing

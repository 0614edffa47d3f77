// Assumptions about what manifests do not show because somebody writes it into the cluster later: finalizers
// that controllers set, webhooks by which other projects enforce their policies, certificates, and hooks of
// Helm.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "criticalservice/dependencies.h"
#include "criticalservice/remover_finder.h"
#include "kube/builtin_types.h"
#include "kube/encoding.h"
#include "kube/well_known.h"
#include "replay/assumption_notes.h"

namespace lastout::replay {

namespace {

using cluster::kNone;
using cluster::Slot;
using cluster::SlotInfo;

// Types of other projects whose objects make a webhook of theirs refuse requests.
struct PolicyType {
  std::string_view group;
  std::string_view resource;  // empty: all of the group
};
constexpr PolicyType kPolicyTypes[] = {
    {"kyverno.io", "clusterpolicies"}, {"kyverno.io", "policies"},
    {"policies.kyverno.io", ""},       {"constraints.gatekeeper.sh", ""},
    {"policies.kubewarden.io", ""},    {"apiextensions.crossplane.io", "usages"},
    {"protection.crossplane.io", ""},
};

bool isPolicyType(const kube::GroupResource& type) {
  return std::ranges::any_of(kPolicyTypes, [&](const PolicyType& one) {
    return one.group == type.group && (one.resource.empty() || one.resource == type.resource);
  });
}

// Returns true if the manifest was read from a cluster, where controllers have written what they write.
bool isFromCluster(const kube::Object& object) { return !object.meta.uid.empty(); }

// Returns true for a caBundle that API servers cannot use, such as those that wait for an injector.
bool lacksCertificate(const kube::Value& holder) {
  const std::string& bundle = kube::textAt(holder, {"caBundle"});
  const auto text = kube::fromBase64(bundle);
  return !bundle.empty() && (!text || text->find(kube::kPemCertificate) == std::string::npos);
}

class AtRunTime {
 public:
  explicit AtRunTime(AssumptionNotes& notes) : notes_(notes), model_(notes.model) {}

  void find() {
    addFinalizers();
    for (const auto& [key, object] : notes_.manifests) addPolicy(*object);
    for (const Slot slot : notes_.needed()) addHook(slot);
    std::set<std::pair<Slot, std::string>> called;  // what names whom API servers call, and its webhook
    for (const cluster::Interception* call : notes_.calls())
      if (called.emplace(call->configuration, call->webhook).second) addCertificate(*call);
  }

 private:
  // Adds the controllers that may set a finalizer on objects of the goal, and may not be there to remove it.
  void addFinalizers() {
    std::vector<Slot> bare = notes_.compiled.goal;  // custom resources that no controller has seen yet
    std::erase_if(bare, [this](Slot slot) {
      const kube::Object* object = notes_.object(model_.slots[slot].key);
      return object == nullptr || isFromCluster(*object) ||
             kube::findBuiltInType(object->key.type) != nullptr;
    });
    if (bare.empty()) return;
    criticalservice::RemoverFinder::Objects all;
    criticalservice::DependencyFinder rights;
    for (const auto& [key, object] : notes_.manifests) {
      all.push_back(object);
      rights.put(*object);
    }
    const criticalservice::RemoverFinder finder(all, notes_.scenario.types);
    std::map<std::pair<Slot, std::string>, std::vector<Slot>> set;  // by workload and evidence
    for (const Slot slot : bare) {
      const kube::Object* object = notes_.object(model_.slots[slot].key);
      for (const criticalservice::FinalizerRemover& one : settersOf(finder, *object)) {
        const auto workload = model_.find(one.workload);
        if (workload && !removesFrom(*workload, slot) && (mayGo(*workload, rights) || isUpdateReviewed(slot)))
          set[{*workload, one.evidence}].push_back(slot);
      }
    }
    for (const auto& [by, objects] : set)
      notes_.add(model_.slots[by.first].key,
                 notes_.names.of(by.first) + " sets no finalizer on " + notes_.names.list(objects) +
                     " that it cannot remove later: " + by.second + ", and the files show none there");
  }

  // The same for all objects of the type in one namespace, unless roles name objects.
  const std::vector<criticalservice::FinalizerRemover>& settersOf(
      const criticalservice::RemoverFinder& finder, const kube::Object& object) {
    kube::ObjectKey key = object.key;
    if (!finder.dependsOnNames(key.type)) key.name.clear();
    const auto [found, isNew] = setters_.try_emplace(key);
    if (isNew) found->second = finder.settersOf(object);
    return found->second;
  }

  // Returns true if the object carries a finalizer that the workload removes.
  bool removesFrom(Slot workload, Slot slot) const {
    return std::ranges::any_of(model_.slots[slot].removals, [&](const cluster::Removal& removal) {
      return model_.controllers[removal.controller].runsIn == workload;
    });
  }

  // Returns true if the workload may be deleted, or what it needs for its work.
  bool mayGo(Slot workload, const criticalservice::DependencyFinder& finder) const {
    return notes_.isGoal(workload) || std::ranges::any_of(finder.rightsOf(model_.slots[workload].key),
                                                          [this](const criticalservice::Dependency& right) {
                                                            return notes_.isGoal(right.object);
                                                          });
  }

  bool isUpdateReviewed(Slot slot) const {
    return std::ranges::any_of(model_.slots[slot].interceptions, &cluster::Interception::onUpdate);
  }

  void addPolicy(const kube::Object& object) {
    if (isPolicyType(object.key.type))
      notes_.add(object.key, notes_.nameOf(object.key) +
                                 " allows what the goal needs: the webhook by which its controller "
                                 "enforces it is not followed");
  }

  // Adds what Helm creates when it installs, upgrades or deletes a release, and deletes again.
  void addHook(Slot slot) {
    const kube::Object* object = notes_.object(model_.slots[slot].key);
    if (object == nullptr || isFromCluster(*object)) return;
    const auto hook = object->meta.annotations.find("helm.sh/hook");
    if (hook != object->meta.annotations.end())
      notes_.add(object->key, notes_.nameOf(object->key) + " is there: Helm creates it only as its hook " +
                                  hook->second + ", and may delete it afterwards");
  }

  void addCertificate(const cluster::Interception& call) {
    const kube::ObjectKey& key = model_.slots[call.configuration].key;
    const kube::Object* object = notes_.object(key);
    if (object == nullptr || !lacksItsCertificate(*object, call.webhook)) return;
    notes_.add(key, notes_.names.of(call.configuration) +
                        " gets a caBundle: the one in the files holds no certificate, without which API "
                        "servers cannot call " +
                        (call.webhook.empty() ? "its Service" : call.webhook));
  }

  static bool lacksItsCertificate(const kube::Object& object, const std::string& webhook) {
    if (object.key.type == kube::kApiServices) {
      const kube::Value* spec = object.content.find("spec");
      return spec != nullptr && lacksCertificate(*spec);
    }
    const kube::Value* conversion = object.content.at({"spec", "conversion", "webhook", "clientConfig"});
    if (conversion != nullptr) return lacksCertificate(*conversion);
    return std::ranges::any_of(kube::listAt(object.content, {"webhooks"}), [&](const kube::Value& one) {
      const kube::Value* client = one.find("clientConfig");
      return client != nullptr && kube::textAt(one, {"name"}) == webhook && lacksCertificate(*client);
    });
  }

  AssumptionNotes& notes_;
  const cluster::Model& model_;
  std::map<kube::ObjectKey, std::vector<criticalservice::FinalizerRemover>> setters_;  // as of settersOf()
};

}  // namespace

void assumeOfRunTime(AssumptionNotes& notes) { AtRunTime(notes).find(); }

}  // namespace lastout::replay

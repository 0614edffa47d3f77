#include "replay/needed_workloads.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "criticalservice/pod_needs.h"
#include "criticalservice/readiness.h"
#include "kube/pods.h"
#include "kube/well_known.h"
#include "replay/names.h"

namespace lastout::replay {

namespace {

using cluster::kNone;
using cluster::Slot;
using cluster::SlotInfo;
using cluster::SlotKind;

class NeededWorkloads {
 public:
  NeededWorkloads(const Compiled& compiled, const ManifestsByKey& manifests)
      : compiled_(compiled), model_(compiled.model), manifests_(manifests), names_(compiled.model) {
    for (const Slot slot : compiled.goal) {
      const SlotInfo& info = model_.slots[slot];
      for (const cluster::Removal& removal : info.removals)
        if (const Slot runsIn = model_.controllers[removal.controller].runsIn; runsIn != kNone)
          needed_.insert(runsIn);
      for (const cluster::Interception& call : info.interceptions)
        needed_.insert(call.workloads.begin(), call.workloads.end());
    }
  }

  std::vector<Assumption> find() {
    for (const Slot slot : needed_) {
      addStatus(slot);
      addClassesOfPods(slot);
      addLimitsOfPods(slot);
    }
    for (const auto& [key, manifest] : manifests_)
      if (key.type == kube::kNodes) addNode(*manifest);
    return std::move(found_);
  }

 private:
  const kube::Object* manifest(const kube::ObjectKey& key) const {
    const auto found = manifests_.find(key);
    return found == manifests_.end() ? nullptr : found->second;
  }

  std::string nameOf(const kube::ObjectKey& key) const {
    const auto slot = model_.find(key);
    return slot ? names_.of(*slot) : kube::toString(key);
  }

  void add(const kube::ObjectKey& key, const std::string& text) {
    found_.push_back({nameOf(key), text, text});
  }

  bool isGoal(Slot slot) const { return std::ranges::binary_search(compiled_.goal, slot); }
  bool isGoal(const kube::ObjectKey& key) const {
    const auto slot = model_.find(key);
    return slot && isGoal(*slot);
  }

  // The machine takes what is there for Ready; a Pod that has ended, and a scale of 0, it follows.
  void addStatus(Slot slot) {
    const SlotInfo& info = model_.slots[slot];
    const kube::Object* source = manifest(info.key);
    const kube::Value* status = source == nullptr ? nullptr : source->content.at({"status"});
    const bool isTold = status != nullptr && status->asMap() != nullptr && !status->asMap()->empty();
    const bool isFollowed = info.kind == SlotKind::Pod ? info.hasStoppedAtStart : info.valueAtCreation == 0;
    if (!isTold || isFollowed) return;
    const criticalservice::Readiness readiness = criticalservice::readinessOf(info.key.type, source->content);
    if (readiness.ready.value_or(false)) return;
    add(info.key, names_.of(slot) + " becomes Ready: by its status " + readiness.message);
  }

  // What its Pod template names, and the API server refuses its Pods without.
  void addClassesOfPods(Slot slot) {
    const kube::Object* source = manifest(model_.slots[slot].key);
    const kube::Value* pods = source == nullptr ? nullptr : criticalservice::podTemplateOf(*source);
    if (pods == nullptr) return;
    const auto addClass = [&](const kube::GroupResource& type, std::string_view field) {
      const kube::ObjectKey key{type, "", kube::textAt(*pods, {"spec", field})};
      if (!key.name.empty() && isGoal(key))
        add(key, names_.of(slot) + " needs no new Pod without " + nameOf(key) + ", which its Pods name");
    };
    addClass(kube::kPriorityClasses, "priorityClassName");
    addClass(kube::kRuntimeClasses, "runtimeClassName");
  }

  // A Pod that replaces one of the goal has to be admitted; what there is room for is not followed.
  void addLimitsOfPods(Slot slot) {
    std::vector<Slot> replaced;
    for (const WatchedEvent& gone : compiled_.replaced)
      if (isBelow(slot, gone.slot)) replaced.push_back(gone.slot);
    if (replaced.empty()) return;
    for (const auto& [key, manifest] : manifests_)
      if (key.namespaceName == model_.slots[slot].key.namespaceName &&
          (key.type == kube::kResourceQuotas || key.type == kube::kLimitRanges))
        add(key, nameOf(key) + " admits the Pods by which " + names_.of(slot) + " replaces " +
                     names_.list(replaced));
  }

  // Its kubelet has to say that a Pod has stopped, and has to run those that somebody needs.
  void addNode(const kube::Object& node) {
    std::vector<Slot> going;
    std::vector<Slot> needed;
    std::vector<Slot> bare;
    for (const auto& [slot, pod] : podsOn(node.key.name)) {
      const bool isNeeded = runsNeeded(slot);
      if (isGoal(slot) && !kube::nodeThatEnds(*pod).empty()) going.push_back(slot);
      if (isNeeded) needed.push_back(slot);
      if (isNeeded && model_.slots[slot].owners.empty()) bare.push_back(slot);
    }
    const kube::Value* ready = kube::statusCondition(node.content, "Ready");
    const bool isNotReady = ready != nullptr && kube::textAt(*ready, {"status"}) != "True";
    const std::string name = "node " + node.key.name;
    if (!kube::whyPodsStay(node.content).empty() && !going.empty())
      add(node.key, name + " stops " + names_.list(going) + ": its condition Ready is not True");
    if (isNotReady && !needed.empty())
      add(node.key, name + " runs " + names_.list(needed) + ": its condition Ready is not True");
    if (!bare.empty() && isGoal(node.key))
      add(node.key, names_.list(bare) + (bare.size() == 1 ? " stays" : " stay") + " without " + name +
                        ": Kubernetes deletes the Pods of a Node that is gone, and no "
                        "workload makes them again");
  }

  std::vector<std::pair<Slot, const kube::Object*>> podsOn(const std::string& node) const {
    std::vector<std::pair<Slot, const kube::Object*>> pods;
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      if (model_.slots[slot].kind != SlotKind::Pod) continue;
      const kube::Object* pod = manifest(model_.slots[slot].key);
      if (pod != nullptr && kube::textAt(pod->content, {"spec", "nodeName"}) == node)
        pods.emplace_back(slot, pod);
    }
    return pods;
  }

  // It is needed, or a needed workload has it.
  bool runsNeeded(Slot pod) const {
    return needed_.contains(pod) ||
           std::ranges::any_of(needed_, [&](Slot slot) { return isBelow(slot, pod); });
  }
  bool isBelow(Slot workload, Slot pod) const {
    return std::ranges::any_of(model_.slots[workload].children,
                               [&](Slot child) { return child == pod || isBelow(child, pod); });
  }

  const Compiled& compiled_;
  const cluster::Model& model_;
  const ManifestsByKey& manifests_;
  const Names names_;
  std::set<Slot> needed_;
  std::vector<Assumption> found_;
};

}  // namespace

std::vector<Assumption> assumedOfNeededWorkloads(const Compiled& compiled, const ManifestsByKey& manifests) {
  return NeededWorkloads(compiled, manifests).find();
}

}  // namespace lastout::replay

// What is taken for granted about the workloads that somebody needs.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "criticalservice/pod_needs.h"
#include "criticalservice/readiness.h"
#include "kube/pods.h"
#include "kube/well_known.h"
#include "replay/assumption_notes.h"

namespace lastout::replay {

namespace {

using cluster::kNone;
using cluster::Slot;
using cluster::SlotInfo;
using cluster::SlotKind;

class NeededWorkloads {
 public:
  explicit NeededWorkloads(AssumptionNotes& notes) : notes_(notes), model_(notes.model) {
    for (const Slot slot : notes.compiled.goal) {
      const SlotInfo& info = model_.slots[slot];
      for (const cluster::Removal& removal : info.removals)
        if (const Slot runsIn = model_.controllers[removal.controller].runsIn; runsIn != kNone)
          needed_.insert(runsIn);
      for (const cluster::Interception& call : info.interceptions)
        needed_.insert(call.workloads.begin(), call.workloads.end());
    }
  }

  void find() {
    for (const Slot slot : needed_) {
      addStatus(slot);
      addClassesOfPods(slot);
      addLimitsOfPods(slot);
    }
    for (const auto& [key, manifest] : notes_.manifests)
      if (key.type == kube::kNodes) addNode(*manifest);
  }

 private:
  // The machine takes what is there for Ready; a Pod that has ended, and a scale of 0, it follows.
  void addStatus(Slot slot) {
    const SlotInfo& info = model_.slots[slot];
    const kube::Object* source = notes_.object(info.key);
    const kube::Value* status = source == nullptr ? nullptr : source->content.at({"status"});
    const bool isTold = status != nullptr && status->asMap() != nullptr && !status->asMap()->empty();
    const bool isFollowed = info.kind == SlotKind::Pod ? info.hasStoppedAtStart : info.valueAtCreation == 0;
    if (!isTold || isFollowed) return;
    const criticalservice::Readiness readiness = criticalservice::readinessOf(info.key.type, source->content);
    if (readiness.ready.value_or(false)) return;
    notes_.add(info.key, notes_.names.of(slot) + " becomes Ready: by its status " + readiness.message);
  }

  // What its Pod template names, and the API server refuses its Pods without.
  void addClassesOfPods(Slot slot) {
    const kube::Object* source = notes_.object(model_.slots[slot].key);
    const kube::Value* pods = source == nullptr ? nullptr : criticalservice::podTemplateOf(*source);
    if (pods == nullptr) return;
    const auto addClass = [&](const kube::GroupResource& type, std::string_view field) {
      const kube::ObjectKey key{type, "", kube::textAt(*pods, {"spec", field})};
      if (!key.name.empty() && notes_.isGoal(key))
        notes_.add(key, notes_.names.of(slot) + " needs no new Pod without " + notes_.nameOf(key) +
                            ", which its Pods name");
    };
    addClass(kube::kPriorityClasses, "priorityClassName");
    addClass(kube::kRuntimeClasses, "runtimeClassName");
  }

  // A Pod that replaces one of the goal has to be admitted; what there is room for is not followed.
  void addLimitsOfPods(Slot slot) {
    std::vector<Slot> replaced;
    for (const WatchedEvent& gone : notes_.compiled.replaced)
      if (isBelow(slot, gone.slot)) replaced.push_back(gone.slot);
    if (replaced.empty()) return;
    for (const auto& [key, manifest] : notes_.manifests)
      if (key.namespaceName == model_.slots[slot].key.namespaceName &&
          (key.type == kube::kResourceQuotas || key.type == kube::kLimitRanges))
        notes_.add(key, notes_.nameOf(key) + " admits the Pods by which " + notes_.names.of(slot) +
                            " replaces " + notes_.names.list(replaced));
  }

  // Its kubelet has to say that a Pod has stopped, and has to run those that somebody needs.
  void addNode(const kube::Object& node) {
    std::vector<Slot> going;
    std::vector<Slot> needed;
    std::vector<Slot> bare;
    for (const auto& [slot, pod] : podsOn(node.key.name)) {
      const bool isNeeded = runsNeeded(slot);
      if (notes_.isGoal(slot) && !kube::nodeThatEnds(*pod).empty()) going.push_back(slot);
      if (isNeeded) needed.push_back(slot);
      if (isNeeded && model_.slots[slot].owners.empty()) bare.push_back(slot);
    }
    const bool isNotReady = !kube::notReadyStatus(node.content).empty();
    const std::string name = "node " + node.key.name;
    if (isNotReady && !kube::isOutOfService(node.content) && !going.empty())
      notes_.add(node.key, name + " stops " + notes_.names.list(going) + ": its condition Ready is not True");
    if (isNotReady && !needed.empty())
      notes_.add(node.key, name + " runs " + notes_.names.list(needed) + ": its condition Ready is not True");
    if (!bare.empty() && notes_.isGoal(node.key))
      notes_.add(node.key, notes_.names.list(bare) + (bare.size() == 1 ? " stays" : " stay") + " without " +
                               name +
                               ": Kubernetes deletes the Pods of a Node that is gone, and no "
                               "workload makes them again");
  }

  std::vector<std::pair<Slot, const kube::Object*>> podsOn(const std::string& node) const {
    std::vector<std::pair<Slot, const kube::Object*>> pods;
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      if (model_.slots[slot].kind != SlotKind::Pod) continue;
      const kube::Object* pod = notes_.object(model_.slots[slot].key);
      if (pod != nullptr && kube::nodeOf(*pod) == node) pods.emplace_back(slot, pod);
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

  AssumptionNotes& notes_;
  const cluster::Model& model_;
  std::set<Slot> needed_;
};

}  // namespace

void assumeOfNeededWorkloads(AssumptionNotes& notes) { NeededWorkloads(notes).find(); }

}  // namespace lastout::replay

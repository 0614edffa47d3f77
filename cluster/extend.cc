// What scenarios add to a built model: controllers, client steps, and events to watch for.
#include <algorithm>

#include "cluster/builder.h"
#include "cluster/forms.h"
#include "kube/api_calls.h"

namespace lastout::cluster {

namespace {

kube::Error problem(std::string message) {
  return {.message = std::move(message), .file = {}, .position = {}};
}

// The workload whose children are Pods: a Deployment's ReplicaSet, or the workload itself.
Slot podParent(const Model& model, Slot workload) {
  const SlotInfo& info = model.slots[workload];
  return info.kind == SlotKind::Deployment && !info.children.empty() ? info.children.front() : workload;
}

// A change to a finalizer that a criterion names must count among that criterion's holders.
void refreshConditions(Model& model, Slot slot) {
  const SlotInfo& info = model.slots[slot];
  for (size_t i = 0; i < model.conditions.size(); ++i) {
    const graph::Condition& condition = model.conditionSpecs[i];
    if (condition.kind != graph::Condition::Kind::Finalizer || !graph::isAbout(condition, info.key)) continue;
    std::vector<ConditionHolder>& holders = model.conditions[i];
    const uint16_t mask = finalizersMeantBy(info, condition.finalizer);
    const auto known = std::ranges::find(holders, slot, &ConditionHolder::slot);
    if (known != holders.end())
      known->mask = mask;
    else if (mask != 0)
      holders.push_back({.slot = slot, .mask = mask});
  }
}

// Returns true if a criterion's selector matches the Namespace in one of its forms and not in another.
bool isSelectedInSome(const Model& model, const SlotInfo& info) {
  const auto isSelected = [&](const std::string& selector, const ObjectForm& form) {
    return kube::isSelected(selector, info.key.name, form.labels);
  };
  return std::ranges::any_of(model.conditionSpecs, [&](const graph::Condition& condition) {
    const std::string& selector = condition.scope.selector;
    return !selector.empty() && std::ranges::any_of(info.forms, [&](const ObjectForm& form) {
      return isSelected(selector, form) != isSelected(selector, info.forms.front());
    });
  });
}

// A claim that a StatefulSet makes for one Pod alone: TEMPLATE-POD.
bool isOwnClaim(const Model& model, const SlotInfo& claim, Slot workload, Slot pod) {
  return model.slots[workload].kind == SlotKind::StatefulSet &&
         claim.key.name.ends_with("-" + model.slots[pod].key.name);
}

// The claim of `pod` that is to it as `claim` is to its sibling, if the model has one.
std::optional<Slot> ownClaim(const Model& model, const SlotInfo& claim, Slot sibling, Slot pod) {
  kube::ObjectKey key = claim.key;
  key.name.resize(key.name.size() - model.slots[sibling].key.name.size());
  key.name += model.slots[pod].key.name;
  return model.find(key);
}

// A Pod that only a step's replicas bring: criteria may name it, and it mounts, and is intercepted, as its
// sibling.
void wirePod(Model& model, Slot pod, Slot workload) {
  const Slot sibling = model.slots[workload].children.front();
  wireContainer(model, pod);
  for (size_t i = 0; i < model.conditions.size(); ++i) {
    const graph::Condition& condition = model.conditionSpecs[i];
    if (condition.kind == graph::Condition::Kind::Object &&
        model.slots[pod].key == kube::ObjectKey{condition.type, condition.namespaceName, condition.name})
      model.conditions[i].push_back({.slot = pod, .mask = 0});
  }
  for (const Slot claim : std::vector<Slot>(model.slots[sibling].claims)) {
    const SlotInfo& info = model.slots[claim];
    const std::optional<Slot> own =
        isOwnClaim(model, info, workload, sibling) ? ownClaim(model, info, sibling, pod) : claim;
    if (own) mountClaim(model, *own, pod);
  }
  for (const std::string& name : model.slots[workload].podFinalizers)
    model.slots[pod].finalizersAtCreation |= finalizerBit(model.slots[pod], name).value_or(0);
  refreshConditions(model, pod);
  findRemovals(model, pod);
  model.slots[pod].interceptions = model.slots[sibling].interceptions;
  model.slots[pod].startsWith = model.slots[sibling].startsWith;
  model.slots[pod].rights = model.slots[sibling].rights;
}

}  // namespace

void findRemovals(Model& model, Slot slot) {
  SlotInfo& info = model.slots[slot];
  info.removals.clear();
  for (uint32_t i = 0; i < model.controllers.size(); ++i) {
    const FinalizerController& controller = model.controllers[i];
    if (controller.from != info.key.type) continue;
    if (!controller.scope.includes(info.key.type, info.key.namespaceName, info.key.name)) continue;
    const uint16_t bit = knownFinalizerBit(info, controller.finalizer);
    if (bit == 0) continue;
    const auto needs = controller.needs.find(slot);
    const bool isCleanup =
        (info.namespaceBits & bit) != 0 || kube::isRemovedByStatus(info.key.type, controller.finalizer);
    info.removals.push_back({.controller = i,
                             .bit = bit,
                             .needs = needs == controller.needs.end() ? RemovalNeeds{} : needs->second,
                             .request = isCleanup ? &Interception::onCleanup : &Interception::onUpdate});
  }
}

kube::Result<uint32_t> addController(Model& model, FinalizerController controller) {
  if (controller.runsIn != kNone) {
    const SlotKind kind = model.slots[controller.runsIn].kind;
    if (!isWorkload(kind) && kind != SlotKind::Pod)
      return tl::unexpected(
          problem(model.name(controller.runsIn) + " runs no Pods that a controller could be in"));
  }
  model.controllers.push_back(std::move(controller));
  for (Slot slot = 0; slot < model.slots.size(); ++slot) findRemovals(model, slot);
  return static_cast<uint32_t>(model.controllers.size() - 1);
}

kube::Result<uint32_t> addStep(Model& model, ClientStep step) {
  const SlotKind kind = model.slots[step.object].kind;
  if (step.verb == ClientStep::Verb::SetReplicas) {
    if (!hasReplicas(kind))
      return tl::unexpected(problem(model.name(step.object) + " has no replicas to scale"));
    if (step.value > kMaxReplicas)
      return tl::unexpected(
          problem("at most " + std::to_string(kMaxReplicas) + " replicas can be simulated"));
    const size_t before = model.slots.size();
    const Slot parent = podParent(model, step.object);
    addPods(model, parent, step.value, 0);
    for (size_t slot = before; slot < model.slots.size(); ++slot)
      wirePod(model, static_cast<Slot>(slot), parent);
  }
  if (step.verb == ClientStep::Verb::SetIntent && kind != SlotKind::CriticalService)
    return tl::unexpected(
        problem(model.name(step.object) + " is no CriticalService; only those have a deletionIntent"));
  const auto number = static_cast<uint32_t>(model.steps.size());
  const Slot slot = step.object;
  model.slots[slot].steps.push_back(number);
  model.steps.push_back(std::move(step));
  if (auto grown = growForms(model, slot); !grown) return tl::unexpected(grown.error());
  if (kind == SlotKind::Namespace && isSelectedInSome(model, model.slots[slot]))
    return tl::unexpected(
        problem("a criterion's selector matches " + model.name(slot) +
                " before this step and not after it, or the other way round, which cannot be simulated"));
  return number;
}

kube::Result<uint16_t> finalizerMask(Model& model, Slot slot, const std::vector<std::string>& names) {
  uint16_t mask = 0;
  for (const std::string& name : names) {
    const std::optional<uint16_t> bit = finalizerBit(model.slots[slot], name);
    if (!bit)
      return tl::unexpected(
          problem(model.name(slot) + " has over its life " + tooManyFinalizers(model.slots[slot])));
    mask |= *bit;
  }
  refreshConditions(model, slot);
  findRemovals(model, slot);
  return mask;
}

kube::Result<uint32_t> watch(Model& model, Slot slot, EventKind kind) {
  uint8_t& monitor = model.slots[slot].monitors[static_cast<size_t>(kind)];
  if (monitor == 0) {
    if (model.monitorCount == kMaxMonitors)
      return tl::unexpected(
          problem("at most " + std::to_string(kMaxMonitors) + " events can be expected in one scenario"));
    monitor = static_cast<uint8_t>(++model.monitorCount);
  }
  return static_cast<uint32_t>(monitor - 1);
}

}  // namespace lastout::cluster

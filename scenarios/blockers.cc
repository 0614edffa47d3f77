#include "scenarios/blockers.h"

#include "cluster/facts.h"

namespace lastout::scenarios {

namespace {

using cluster::Slot;

std::vector<Slot> holdersOf(const cluster::Model& model, cluster::StateRef state, uint32_t condition) {
  std::vector<Slot> result;
  for (const cluster::ConditionHolder& holder : model.conditions[condition]) {
    if (state.presence(holder.slot) == cluster::Presence::Absent) continue;
    if (holder.mask != 0 && (state.finalizers(holder.slot) & holder.mask) == 0) continue;
    result.push_back(holder.slot);
  }
  return result;
}

Blocker criterionBlocker(const cluster::Model& model, cluster::StateRef state, uint32_t condition,
                         const Names& names) {
  Blocker blocker{.text = {}, .objects = holdersOf(model, state, condition)};
  const graph::Condition& spec = model.conditionSpecs[condition];
  const bool many = blocker.objects.size() > 1;
  blocker.text = names.list(blocker.objects);
  if (spec.kind == graph::Condition::Kind::Finalizer)
    blocker.text += (many ? " have finalizer " : " has finalizer ") + spec.finalizer;
  else
    blocker.text += many ? " exist" : " exists";
  return blocker;
}

Blocker blockerOf(const cluster::Model& model, cluster::StateRef state, const admission::Stake& stake,
                  uint32_t criterion, admission::Reason reason, const Names& names) {
  const admission::ServiceRule& rule = model.rules.services[stake.service];
  if (reason == admission::Reason::ServicesLeft) {
    const Slot service = model.services[stake.service];
    return {names.of(service) + " exists", {service}};
  }
  if (reason == admission::Reason::ProviderPresent) {
    Blocker blocker{.text = {}, .objects = holdersOf(model, state, rule.provider)};
    blocker.text = "its provider " + names.list(blocker.objects) + " exists";
    return blocker;
  }
  return criterionBlocker(model, state, model.rules.criteria[rule.firstCriterion + criterion], names);
}

}  // namespace

std::vector<Blocker> blockersOf(const cluster::Machine& machine, cluster::StateRef state, Slot slot,
                                const Names& names) {
  const cluster::Model& model = machine.model();
  const std::vector<admission::Stake>& stakes = model.slots[slot].stakes;
  std::vector<Blocker> result;
  if (!model.guarded || stakes.empty()) return result;
  const auto add = [&](uint32_t stake, uint32_t criterion, admission::Reason reason) {
    Blocker blocker = blockerOf(model, state, stakes[stake], criterion, reason, names);
    const auto same = [&](const Blocker& other) { return other.text == blocker.text; };
    if (std::none_of(result.begin(), result.end(), same)) result.push_back(std::move(blocker));
    return true;
  };
  admission::forEachBlocker(cluster::StateFacts(model, state), model.rules, stakes, add);
  return result;
}

std::string joined(const std::vector<Blocker>& blockers) {
  std::string text;
  for (size_t i = 0; i < blockers.size(); ++i) {
    if (i > 0) text += i + 1 == blockers.size() ? " and " : ", ";
    text += blockers[i].text;
  }
  return text;
}

}  // namespace lastout::scenarios

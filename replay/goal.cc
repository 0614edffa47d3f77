#include "replay/goal.h"

#include <algorithm>

#include "replay/resolve.h"

namespace lastout::replay {

namespace {

using cluster::kNone;
using cluster::Slot;

// Collects the goal: what clients want gone, and what follows from it.
class GoalBuilder {
 public:
  explicit GoalBuilder(const cluster::Model& model)
      : model_(model),
        wanted_(model.slots.size()),
        orphans_(model.slots.size()),
        putBack_(model.slots.size()) {
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      const cluster::SlotInfo& info = model_.slots[slot];
      orphans_[slot] = info.terminatingAtStart && (info.finalizersAtCreation & cluster::kOrphanBit) != 0;
    }
  }

  void readStep(const ScenarioStep& step) {
    if (step.kind == ScenarioStep::Kind::Delete && !step.dryRun) {
      for (const ScenarioReference& reference : step.objects) {
        for (const Slot slot : matches(model_, reference)) {
          wanted_[slot] = true;
          putBack_[slot] = false;
          const auto policy = step.policy ? step.policy : cluster::defaultPolicy(model_.slots[slot].key.type);
          if (policy == cluster::PropagationPolicy::Orphan) orphans_[slot] = true;
        }
      }
    } else if (step.kind == ScenarioStep::Kind::Apply) {
      for (const ScenarioReference& reference : step.objects) {
        for (const Slot slot : matches(model_, reference)) applied(slot);
      }
      for (const kube::Object& object : step.manifests) {
        if (const auto slot = model_.find(object.key)) applied(*slot);
      }
    }
  }

  // What follows from the rest: until nothing is added any more. Each round adds at least one slot.
  std::vector<Slot> finish() {
    for (bool grew = true; grew;) {
      grew = false;
      for (Slot slot = 0; slot < wanted_.size(); ++slot) {
        if (wanted_[slot] || !follows(slot)) continue;
        wanted_[slot] = true;
        grew = true;
      }
    }
    std::vector<Slot> result;
    for (Slot slot = 0; slot < wanted_.size(); ++slot) {
      if (wanted_[slot]) result.push_back(slot);
    }
    return result;
  }

 private:
  void applied(Slot slot) {
    wanted_[slot] = false;
    putBack_[slot] = true;
  }

  bool follows(Slot slot) const {
    const cluster::SlotInfo& info = model_.slots[slot];
    if (info.namespaceSlot != kNone && wanted_[info.namespaceSlot]) return true;
    if (info.crd != kNone && wanted_[info.crd]) return true;
    if (putBack_[slot]) return false;
    if (info.replicaSet != kNone && wanted_[info.replicaSet]) return true;
    if (info.kind == cluster::SlotKind::AppliedManifestWork && info.work != kNone)
      return wanted_[model_.works[info.work].manifestWork];
    return info.links.empty() ? followsOwners(info) : followsWorks(info);
  }

  bool followsWorks(const cluster::SlotInfo& info) const {
    return std::all_of(info.links.begin(), info.links.end(), [&](uint32_t link) {
      return !model_.links[link].orphans && wanted_[model_.works[model_.links[link].work].manifestWork];
    });
  }

  bool followsOwners(const cluster::SlotInfo& info) const {
    bool owned = false;
    for (size_t i = 0; i < info.owners.size(); ++i) {
      if ((info.ownersAtCreation >> i & 1) == 0) continue;
      const Slot owner = info.owners[i].owner;
      if (owner == kNone || !wanted_[owner] || orphans_[owner]) return false;
      owned = true;
    }
    return owned;
  }

  const cluster::Model& model_;
  std::vector<bool> wanted_;   // by slot: shall be gone
  std::vector<bool> orphans_;  // a client's delete leaves its dependents behind, or has done so
  std::vector<bool> putBack_;  // a later step applies it again
};

}  // namespace

std::vector<Slot> goalSlots(const cluster::Model& model, const Scenario& scenario) {
  GoalBuilder builder(model);
  for (const ScenarioStep& step : scenario.steps) builder.readStep(step);
  return builder.finish();
}

std::vector<Slot> replacedPods(const cluster::Model& model, const std::vector<Slot>& goal) {
  const auto isIn = [&](Slot slot) { return std::ranges::binary_search(goal, slot); };
  std::vector<Slot> result;
  for (Slot workload = 0; workload < model.slots.size(); ++workload) {
    if (isIn(workload)) continue;
    for (const Slot child : model.slots[workload].children) {
      const bool isOwned = std::ranges::any_of(
          model.slots[child].owners,
          [&](const cluster::OwnerLink& link) { return link.owner == workload && link.controller; });
      if (model.slots[child].kind == cluster::SlotKind::Pod && isOwned && isIn(child))
        result.push_back(child);
    }
  }
  return result;
}

bool isLeft(const Compiled& compiled, cluster::StateRef state, Slot slot) {
  if (state.presence(slot) != cluster::Presence::Live)
    return state.presence(slot) == cluster::Presence::Terminating;
  return std::ranges::none_of(compiled.replaced, [&](const WatchedEvent& gone) {
    return gone.slot == slot && (state.monitors() >> gone.bit & 1) != 0;
  });
}

std::vector<Slot> leftOfGoal(const Compiled& compiled, std::vector<uint64_t> state) {
  const cluster::Layout layout(compiled.model);
  const cluster::StateRef view(state.data(), layout);
  std::vector<Slot> left = compiled.goal;
  std::erase_if(left, [&](Slot slot) { return !isLeft(compiled, view, slot); });
  return left;
}

bool goalHolds(const Compiled& compiled, cluster::StateRef state) {
  for (const Slot slot : compiled.goal) {
    if (isLeft(compiled, state, slot)) return false;
  }
  for (uint32_t step = 0; step < compiled.model.steps.size(); ++step) {
    if (!state.step(step).sent) return false;
  }
  return true;
}

bool exists(const Compiled& compiled, cluster::StateRef state, size_t index) {
  return std::ranges::any_of(compiled.exists[index],
                             [&](Slot slot) { return state.presence(slot) == cluster::Presence::Live; });
}

bool allExist(const Compiled& compiled, cluster::StateRef state) {
  for (size_t i = 0; i < compiled.exists.size(); ++i) {
    if (!exists(compiled, state, i)) return false;
  }
  return true;
}

std::vector<uint32_t> unsentSteps(const Compiled& compiled, cluster::StateRef state) {
  std::vector<uint32_t> result;
  for (uint32_t step = 0; step < compiled.model.steps.size(); ++step) {
    if (!state.step(step).sent) result.push_back(step);
  }
  return result;
}

std::vector<Slot> awaitedBySteps(const Compiled& compiled, std::vector<uint64_t> state) {
  const cluster::Layout layout(compiled.model);
  const cluster::StateRef view(state.data(), layout);
  std::vector<Slot> awaited;
  for (const uint32_t step : unsentSteps(compiled, view)) {
    const WatchedEvent& after = compiled.sendAfter[step];
    if (after.slot != kNone && after.kind == cluster::EventKind::Gone &&
        view.presence(after.slot) != cluster::Presence::Absent)
      awaited.push_back(after.slot);
  }
  return awaited;
}

}  // namespace lastout::replay

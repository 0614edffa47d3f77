#include "replay/assumptions.h"

#include <algorithm>
#include <utility>

#include "kube/api_calls.h"
#include "kube/messages.h"
#include "kube/well_known.h"
#include "replay/assumption_notes.h"

namespace lastout::replay {

AssumptionNotes::AssumptionNotes(const Scenario& ofScenario, const Compiled& ofCompiled)
    : scenario(ofScenario), compiled(ofCompiled), model(ofCompiled.model), names(ofCompiled.model) {
  for (const kube::Object& one : scenario.objects) manifests.emplace(one.key, &one);
  for (const cluster::WorkSpec& work : scenario.works)
    for (const kube::Object& one : work.manifests) manifests.emplace(one.key, &one);
  for (const kube::Object& one : scenario.later) manifests.emplace(one.key, &one);
}

const kube::Object* AssumptionNotes::object(const kube::ObjectKey& key) const {
  const auto found = manifests.find(key);
  return found == manifests.end() ? nullptr : found->second;
}

std::string AssumptionNotes::nameOf(const kube::ObjectKey& key) const {
  const auto slot = model.find(key);
  return slot ? names.of(*slot) : kube::toString(key);
}

bool AssumptionNotes::isGoal(cluster::Slot slot) const {
  return std::ranges::binary_search(compiled.goal, slot);
}

bool AssumptionNotes::isGoal(const kube::ObjectKey& key) const {
  const auto slot = model.find(key);
  return slot && isGoal(*slot);
}

void AssumptionNotes::add(const kube::ObjectKey& about, std::string text, std::string claim) {
  found.push_back({nameOf(about), std::move(text), std::move(claim)});
}

namespace {

using cluster::kNone;
using cluster::Slot;
using cluster::SlotInfo;

// Assumptions about the objects of the goal themselves.
class GoalObjects {
 public:
  explicit GoalObjects(AssumptionNotes& notes) : notes_(notes), model_(notes.model) {}

  void find() {
    for (const Slot slot : notes_.compiled.goal) addUnknownOwners(slot);
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) addFinished(slot);
    addReplicaSets();
  }

 private:
  // Adds an object with an owner of an unknown type: the garbage collector leaves such an object alone.
  void addUnknownOwners(Slot slot) {
    const kube::Object* source = notes_.object(model_.slots[slot].key);
    if (source == nullptr) return;
    for (const kube::OwnerReference& owner : source->meta.ownerReferences) {
      const std::string group(kube::groupOf(owner.apiVersion));
      const kube::ResourceType* type = notes_.scenario.types.findKind(group, owner.kind);
      const std::string named = owner.kind + (group.empty() ? "" : "." + group);
      if (type == nullptr)
        notes_.add(source->key, "no API server serves " + named + ", the type of its owner " + owner.name +
                                    ": no file defines it");
      else
        addUnservedVersion(*source, owner, *type, named);
    }
  }

  void addUnservedVersion(const kube::Object& dependent, const kube::OwnerReference& owner,
                          const kube::ResourceType& type, const std::string& named) {
    const kube::Object* crd = notes_.object(kube::crdKey(type.type));
    const std::vector<std::string> served =
        kube::servedVersions(type.type, crd == nullptr ? nullptr : &crd->content, model_.kubernetes);
    const std::string_view version = kube::versionOf(owner.apiVersion);
    if (served.empty() || std::ranges::find(served, version) != served.end()) return;
    notes_.add(dependent.key,
               "no API server serves " + named + " in " + std::string(version) +
                   ", by which it names its owner " + owner.name + ": " +
                   (crd == nullptr ? "Kubernetes " + std::string(toString(model_.kubernetes)) +
                                         " has it in " + kube::listed(served)
                                   : notes_.nameOf(crd->key) + " serves " + kube::listed(served)));
  }

  // Adds a Job whose end something waits for: the machine lets it finish, and no file says that it does.
  void addFinished(Slot slot) {
    const SlotInfo& info = model_.slots[slot];
    if (!info.timeToLive || info.timeToLive->finishesAnyway || isAsked(slot) || !isAwaited(slot)) return;
    notes_.add(info.key,
               notes_.nameOf(info.key) + " finishes some time: it is deleted by its ttlSecondsAfterFinished");
  }

  // Returns true if a client deletes the object, or what it is in.
  bool isAsked(Slot slot) const {
    const SlotInfo& info = model_.slots[slot];
    const auto deletes = [&](Slot wanted) {
      return wanted != kNone && std::ranges::any_of(model_.slots[wanted].steps, [&](uint32_t step) {
               return model_.steps[step].verb == cluster::ClientStep::Verb::Delete &&
                      !model_.steps[step].dryRun;
             });
    };
    return deletes(slot) || deletes(info.namespaceSlot) || deletes(info.crd) || deletes(info.replicaSet);
  }

  // Returns true if something waits until the object is gone, or what goes with it.
  bool isAwaited(Slot slot) const {
    std::vector<Slot> going{slot};
    for (size_t i = 0; i < going.size(); ++i) {
      const SlotInfo& info = model_.slots[going[i]];
      const auto add = [&](Slot more) {
        if (more != kNone && std::ranges::find(going, more) == going.end()) going.push_back(more);
      };
      for (const Slot dependent : info.dependents) add(dependent);
      if (info.kind != cluster::SlotKind::ManifestWork) continue;
      const cluster::Work& work = model_.works[info.work];
      add(work.applied);
      for (uint32_t link = work.firstLink; link < work.firstLink + work.linkCount; ++link)
        add(model_.links[link].object);
    }
    return std::ranges::any_of(going, [this](Slot one) { return isWaitedFor(one); });
  }

  bool isWaitedFor(Slot slot) const {
    const auto holds = [slot](const std::vector<cluster::ConditionHolder>& holders) {
      return std::ranges::any_of(
          holders, [slot](const cluster::ConditionHolder& holder) { return holder.slot == slot; });
    };
    const auto waits = [&](Slot goal) {
      const SlotInfo& info = model_.slots[goal];
      const auto has = [slot](const std::vector<Slot>& slots) {
        return std::ranges::find(slots, slot) != slots.end();
      };
      const bool isStorage = info.kind == cluster::SlotKind::PersistentVolumeClaim ||
                             info.kind == cluster::SlotKind::PersistentVolume;
      return goal == slot || (isStorage && has(info.children)) ||
             std::ranges::any_of(info.removals,
                                 [&](const cluster::Removal& one) { return has(one.needs.waitsFor); });
    };
    return std::ranges::any_of(model_.conditions, holds) || std::ranges::any_of(notes_.compiled.goal, waits);
  }

  // Adds each ManifestWorkReplicaSet: other controllers decide which clusters its placements select.
  void addReplicaSets() {
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      const SlotInfo& info = model_.slots[slot];
      if (info.kind != cluster::SlotKind::ManifestWorkReplicaSet) continue;
      const bool concerns = std::ranges::any_of(notes_.compiled.goal, [&](Slot goal) {
        return goal == slot || model_.slots[goal].replicaSet == slot;
      });
      if (concerns)
        notes_.add(info.key, notes_.nameOf(info.key) +
                                 " has the ManifestWorks that are in the files, and no others: its "
                                 "placements are not followed");
    }
  }

  AssumptionNotes& notes_;
  const cluster::Model& model_;
};

}  // namespace

std::vector<Assumption> assumptionsOf(const Scenario& scenario, const Compiled& compiled) {
  AssumptionNotes notes(scenario, compiled);
  GoalObjects(notes).find();
  assumeOfCalls(notes);
  assumeOfControllers(notes);
  assumeOfNeededWorkloads(notes);
  std::vector<Assumption>& found = notes.found;
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return std::move(found);
}

}  // namespace lastout::replay

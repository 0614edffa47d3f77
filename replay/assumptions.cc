#include "replay/assumptions.h"

#include <algorithm>
#include <set>
#include <utility>

#include "kube/api_calls.h"
#include "kube/messages.h"
#include "kube/pods.h"
#include "kube/well_known.h"
#include "protection/policy.h"
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

std::vector<std::string> AssumptionNotes::servedVersionsOf(const kube::GroupResource& type) const {
  const kube::Object* crd = object(kube::crdKey(type));
  return kube::servedVersions(type, crd == nullptr ? nullptr : &crd->content, model.kubernetes);
}

cluster::Slot AssumptionNotes::spaceOf(cluster::Slot slot) const {
  const cluster::SlotInfo& info = model.slots[slot];
  return info.key.type == kube::kNamespaces ? slot : info.namespaceSlot;
}

bool AssumptionNotes::isGoal(cluster::Slot slot) const {
  return std::ranges::binary_search(compiled.goal, slot);
}

bool AssumptionNotes::isGoal(const kube::ObjectKey& key) const {
  const auto slot = model.find(key);
  return slot && isGoal(*slot);
}

bool AssumptionNotes::hasGoal(cluster::SlotKind kind) const {
  return std::ranges::any_of(compiled.goal,
                             [&](cluster::Slot slot) { return model.slots[slot].kind == kind; });
}

std::vector<const cluster::Interception*> AssumptionNotes::calls() const {
  std::vector<const cluster::Interception*> calls;
  for (const cluster::Slot slot : compiled.goal)
    for (const cluster::Interception& call : model.slots[slot].interceptions) calls.push_back(&call);
  if (hasGoal(cluster::SlotKind::Namespace))
    for (const cluster::Interception& call : model.namespaceCalls) calls.push_back(&call);
  return calls;
}

std::set<cluster::Slot> AssumptionNotes::behind(const cluster::Interception& call) const {
  std::set<cluster::Slot> found;
  std::vector<cluster::Slot> open = call.workloads;
  while (!open.empty()) {
    const cluster::Slot slot = open.back();
    open.pop_back();
    if (!found.insert(slot).second) continue;
    for (const cluster::OwnerLink& owner : model.slots[slot].owners)
      if (owner.controller && owner.owner != cluster::kNone) open.push_back(owner.owner);
  }
  return found;
}

std::set<cluster::Slot> AssumptionNotes::needed() const {
  std::set<cluster::Slot> needed;
  for (const cluster::Slot slot : compiled.goal)
    for (const cluster::Removal& removal : model.slots[slot].removals)
      if (const cluster::Slot runsIn = model.controllers[removal.controller].runsIn;
          runsIn != cluster::kNone && removal.isCandidate())
        needed.insert(runsIn);
  for (const cluster::Interception* call : calls()) needed.merge(behind(*call));
  return needed;
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
  explicit GoalObjects(AssumptionNotes& notes) : notes_(notes), model_(notes.model), acting_(notes.needed()) {
    for (const cluster::Interception* call : notes.calls()) acting_.insert(call->configuration);
    for (const std::vector<Slot>& slots : notes.compiled.exists) acting_.insert(slots.begin(), slots.end());
  }

  void find() {
    findUsed();
    for (const Slot slot : notes_.compiled.goal) addUnknownOwners(slot);
    for (const auto& [key, object] : notes_.manifests) addWithoutNode(*object);
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      addAbsentOwners(slot);
      addFinished(slot);
    }
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
    const std::vector<std::string> served = notes_.servedVersionsOf(type.type);
    const std::string_view version = kube::versionOf(owner.apiVersion);
    if (served.empty() || std::ranges::find(served, version) != served.end()) return;
    notes_.add(dependent.key,
               "no API server serves " + named + " in " + std::string(version) +
                   ", by which it names its owner " + owner.name + ": " +
                   (crd == nullptr ? "Kubernetes " + std::string(toString(model_.kubernetes)) +
                                         " has it in " + kube::listed(served)
                                   : notes_.nameOf(crd->key) + " serves " + kube::listed(served)));
  }

  // Adds a Pod that uses no claim of the goal as long as no Node runs it, which a scheduler might change.
  void addWithoutNode(const kube::Object& pod) {
    if (pod.key.type != kube::kPods || !kube::isWithoutNode(pod)) return;
    for (const kube::MountedClaim& mounted : kube::claimsOf(pod.content.find("spec"), pod.key.name)) {
      const kube::ObjectKey claim{kube::kPersistentVolumeClaims, pod.key.namespaceName, mounted.name};
      if (notes_.isGoal(claim))
        notes_.add(pod.key, notes_.nameOf(pod.key) + " gets no Node before " + notes_.nameOf(claim) +
                                " is gone: without one it does not use that claim");
    }
  }

  // Adds each owner of a known type that is in no file: the garbage collector takes it as gone.
  void addAbsentOwners(Slot slot) {
    const kube::Object* source = notes_.object(model_.slots[slot].key);
    if (source == nullptr) return;
    const std::vector<kube::ObjectKey> absent = absentOwnersOf(*source);
    if (absent.empty() || !hasToGoByItsOwners(slot)) return;
    for (const kube::ObjectKey& key : absent)
      notes_.add(source->key, notes_.nameOf(key) + ", an owner of " + notes_.nameOf(source->key) +
                                  ", is gone: no file has it, and the garbage collector deletes what it "
                                  "owned");
  }

  std::vector<kube::ObjectKey> absentOwnersOf(const kube::Object& source) const {
    std::vector<kube::ObjectKey> absent;
    for (const kube::OwnerReference& owner : source.meta.ownerReferences) {
      const kube::ResourceType* type =
          notes_.scenario.types.findKind(kube::groupOf(owner.apiVersion), owner.kind);
      const std::string& space = source.key.namespaceName;
      if (type == nullptr || (type->namespaced && space.empty())) continue;
      kube::ObjectKey key{type->type, type->namespaced ? space : std::string(), owner.name};
      if (!model_.find(key)) absent.push_back(std::move(key));
    }
    return absent;
  }

  // Returns true if the goal depends on whether the garbage collector deletes the object. Its controller
  // would replace a Pod that clients delete, and not what goes with its namespace or CRD.
  bool hasToGoByItsOwners(Slot slot) const {
    const SlotInfo& info = model_.slots[slot];
    const auto goes = [this](Slot one) { return one != kNone && notes_.isGoal(one); };
    if (goes(info.namespaceSlot) || goes(info.crd)) return false;
    if (isAsked(slot)) return info.kind == cluster::SlotKind::Pod && isUsed(slot);
    return isAwaited(slot) || acting_.contains(slot) || info.kind == cluster::SlotKind::CriticalService ||
           info.key.type == protection::deletionPolicyType();
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
    std::set<Slot> seen{slot};
    for (size_t i = 0; i < going.size(); ++i) {
      const SlotInfo& info = model_.slots[going[i]];
      const auto add = [&](Slot more) {
        if (more != kNone && seen.insert(more).second) going.push_back(more);
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

  bool isWaitedFor(Slot slot) const { return notes_.isGoal(slot) || isUsed(slot); }

  // Returns true if something else than the object itself waits until the object is gone.
  bool isUsed(Slot slot) const { return used_.contains(slot); }

  void findUsed() {
    for (const std::vector<cluster::ConditionHolder>& holders : model_.conditions)
      for (const cluster::ConditionHolder& holder : holders) used_.insert(holder.slot);
    for (const Slot goal : notes_.compiled.goal) {
      const SlotInfo& info = model_.slots[goal];
      const bool isStorage = info.kind == cluster::SlotKind::PersistentVolumeClaim ||
                             info.kind == cluster::SlotKind::PersistentVolume;
      if (isStorage) used_.insert(info.children.begin(), info.children.end());
      for (const cluster::Removal& one : info.removals)
        used_.insert(one.needs.waitsFor.begin(), one.needs.waitsFor.end());
    }
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
  std::set<Slot> acting_;  // of those, the goal depends on that they are there, or not
  std::set<Slot> used_;    // of findUsed()
};

}  // namespace

std::vector<Assumption> assumptionsOf(const Scenario& scenario, const Compiled& compiled) {
  AssumptionNotes notes(scenario, compiled);
  GoalObjects(notes).find();
  assumeOfRunTime(notes);
  assumeOfCalls(notes);
  assumeOfControllers(notes);
  assumeOfNeededWorkloads(notes);
  assumeOfRights(notes);
  assumeOfStatuses(notes);
  assumeOfSteps(notes);
  std::vector<Assumption>& found = notes.found;
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return std::move(found);
}

}  // namespace lastout::replay

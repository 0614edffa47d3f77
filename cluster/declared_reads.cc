#include "cluster/declared_reads.h"

#include <algorithm>

#include "admission/deferral.h"
#include "cluster/policy_facts.h"
#include "cluster/transition.h"

namespace lastout::cluster {

bool canBeInFlight(const Model& model, Slot slot) {
  return model.guarded && !model.slots[slot].guardEntries.empty();
}

bool canBeDeferred(const Model& model, Slot slot) {
  const SlotInfo& info = model.slots[slot];
  return model.runsDeferredDeletions &&
         (!info.guardEntries.empty() || std::ranges::any_of(info.owners, [&](const OwnerLink& link) {
           return link.owner != kNone && model.slots[link.owner].keptBit != 0;
         }));
}

void DeclaredReads::object(Slot slot, Fields fields) {
  if (slot != kNone) reads_.add({StatePart::Kind::Object, slot}, fields);
}

void DeclaredReads::objects(const std::vector<Slot>& slots, Fields fields) {
  for (const Slot slot : slots) object(slot, fields);
}

void DeclaredReads::anyOf(const Ways& ways) {
  for (const std::vector<Slot>& way : ways) objects(way, kPresenceField);
}

// --- storage, and whom the API server calls

void DeclaredReads::hasReadyPod(Slot workload) {
  if (workload == kNone) return;
  const SlotInfo& info = model_.slots[workload];
  if (info.kind == SlotKind::Pod) object(workload, kPresenceField | kValueField);
  if (info.kind == SlotKind::Pod || info.kind == SlotKind::PersistentVolumeClaim) return;
  for (const Slot child : info.children) hasReadyPod(child);
}

void DeclaredReads::works(const FinalizerController& controller) {
  hasReadyPod(controller.runsIn);
  if (controller.runsIn == kNone) return;
  for (const Ways& ways : model_.slots[controller.runsIn].rights) anyOf(ways);
}

void DeclaredReads::mayRemove(Slot slot, const Removal& removal) {
  canRemove(removal);
  for (const uint32_t controller : removal.needs.candidates)
    for (const Removal& other : model_.slots[slot].removals)
      if (other.controller == controller) canRemove(other);
}

void DeclaredReads::canRemove(const Removal& removal) {
  works(model_.controllers[removal.controller]);
  objects(removal.needs.waitsFor, kPresenceField);
  for (const RemovalNeeds::Need& need : removal.needs.needs) anyOf(need.ways);
  if (removal.needs.reportsTo == kNone) return;
  object(removal.needs.reportsTo, kPresenceField);
  webhookFails(removal.needs.reportsTo, &Interception::onCleanup);
}

void DeclaredReads::fails(const Interception& called) {
  object(called.configuration, kPresenceField);
  object(called.service, kPresenceField);
  for (const Slot workload : called.workloads) {
    hasReadyPod(workload);
    if (model_.slots[workload].kind == SlotKind::Plain) object(workload, kPresenceField);
  }
}

void DeclaredReads::webhookFails(Slot slot, bool Interception::*operation) {
  for (const Interception& webhook : model_.slots[slot].interceptions)
    if (webhook.*operation) fails(webhook);
}

void DeclaredReads::conversionFails(Slot slot) {
  for (const Interception& webhook : model_.slots[slot].interceptions)
    if (webhook.onCrdCleanup) fails(webhook);
}

void DeclaredReads::namespaceCallFails() {
  for (const Interception& call : model_.namespaceCalls) fails(call);
}

void DeclaredReads::refusesCreation(Slot slot) {
  object(slot, kPresenceField);
  object(model_.slots[slot].namespaceSlot, kPresenceField);
  object(model_.slots[slot].crd, kPresenceField | kFinalizersField);
}

void DeclaredReads::mayCreate(Slot slot) {
  refusesCreation(slot);
  webhookFails(slot, &Interception::onCreate);
}

// --- the review of a DELETE

void DeclaredReads::condition(uint32_t condition) {
  for (const ConditionHolder& holder : model_.conditions[condition])
    object(holder.slot, kPresenceField | (holder.mask != 0 ? kFinalizersField : Fields{0}));
}

void DeclaredReads::decide(Slot slot) {
  if (!model_.guarded) return;
  object(slot, kFinalizersField);  // which tell whether its DELETE ends it
  for (const admission::GuardEntry& guardEntry : model_.slots[slot].guardEntries) {
    object(model_.services[guardEntry.service], kPresenceField | kValueField);
    const admission::ServiceRule& rule = model_.rules.services[guardEntry.service];
    if (guardEntry.guardedAs == admission::GuardedAs::LastoutNamespace) continue;
    if (guardEntry.guardedAs != admission::GuardedAs::Provider) condition(rule.provider);
    if (guardEntry.guardedAs == admission::GuardedAs::Service) continue;
    if (guardEntry.guardedAs == admission::GuardedAs::Dependency && !model_.conditions[rule.provider].empty())
      object(model_.conditions[rule.provider].front().slot, kPresenceField | kFinalizersField);
    for (uint32_t i = 0; i < rule.criterionCount; ++i)
      condition(model_.rules.criteria[rule.firstCriterion + i]);
  }
}

// It asks for every CriticalService and its provider, and then for the criteria of those that the object
// matters to.
void DeclaredReads::criteriaAreMet(Slot slot) {
  for (size_t i = 0; i < model_.services.size(); ++i) {
    object(model_.services[i], kPresenceField | kValueField);
    if (const auto provider = model_.find(model_.serviceSpecs[i].provider))
      object(*provider, kPresenceField | kFinalizersField);
  }
  for (const admission::GuardEntry& guardEntry : model_.slots[slot].guardEntries) {
    const admission::ServiceRule& rule = model_.rules.services[guardEntry.service];
    for (uint32_t i = 0; i < rule.criterionCount; ++i)
      condition(model_.rules.criteria[rule.firstCriterion + i]);
  }
}

void DeclaredReads::isRefused(Slot slot) {
  webhookFails(slot, &Interception::onDelete);
  object(slot, kPresenceField | kFinalizersField);
  decide(slot);
  isProtected(slot);
}

// --- deletion policies

void DeclaredReads::question(const PolicyQuestion& question) {
  const auto test = [&](const SlotTest& one) {
    object(one.slot, kPresenceField | kFormField | (one.owner != kAnyOwner ? kOwnersField : Fields{0}));
  };
  for (const SlotTests& tests : question) {
    test(tests.first);
    test(tests.second);
  }
}

void DeclaredReads::policy(uint32_t policy) { object(model_.policies.all[policy].slot, kPresenceField); }

// Every question that can be asked, in whatever way the object is there.
template <class One>
void DeclaredReads::end(const One& one, Slot slot) {
  const ModelPolicies& policies = model_.policies;
  policy(one.policy);
  object(slot, kPresenceField | kFinalizersField | kValueField | kFormField);
  std::vector<uint32_t> open;
  std::vector<bool> isKnown(policies.choices.size(), false);
  const auto goOn = [&](uint32_t at) {
    if (at >= Choice::kEnds || isKnown[at]) return;
    isKnown[at] = true;
    open.push_back(at);
  };
  for (size_t root = 0; root < model_.slots[slot].forms.size() * kWays; ++root)
    goOn(policies.roots[one.firstRoot + root]);
  while (!open.empty()) {
    const Choice& choice = policies.choices[open.back()];
    open.pop_back();
    question(policies.questions[choice.question]);
    goOn(choice.ifYes);
    goOn(choice.ifNo);
  }
}

void DeclaredReads::isProtected(Slot slot) {
  const ModelPolicies& policies = model_.policies;
  if (policies.none()) return;
  for (const Protection& one : policies.ofDelete[slot]) end(one, slot);
  const SlotKind kind = model_.slots[slot].kind;
  if (kind != SlotKind::Namespace && kind != SlotKind::Crd) return;
  for (const Slot content : model_.slots[slot].content) {
    for (const Protection& one : policies.ofDelete[content]) {
      const ModelPolicy& policy = policies.all[one.policy];
      object(content, kPresenceField);
      if (policy.impliesNamespaces || policy.impliesCrds) end(one, content);
    }
  }
}

void DeclaredReads::isUpdateProtected(uint32_t step) {
  if (model_.policies.none()) return;
  for (const Protection& one : model_.policies.ofUpdate[step]) end(one, model_.steps[step].object);
}

void DeclaredReads::labelWrite(Slot slot) {
  if (model_.policies.none()) return;
  webhookFails(slot, &Interception::onUpdate);
  object(slot, kPresenceField | kFormField);
  const Labelling& labelling = model_.policies.ofLabels[slot];
  if (labelling.writes.empty()) return;
  for (const uint32_t one : labelling.policies) policy(one);
  for (const Labelling::Write& write : labelling.writes)
    for (const Protection& one : write.deniedBy) end(one, slot);
  // A client that asks for its deletion again comes first.
  for (const uint32_t one : model_.slots[slot].steps) step(one);
  isProtected(slot);
}

void DeclaredReads::isHeld(Slot slot) {
  if (model_.policies.none()) return;
  webhookFails(slot, &Interception::onUpdate);
  object(slot, kPresenceField);
  for (const Holding& one : model_.policies.ofHold[slot]) end(one, slot);
}

void DeclaredReads::isDeletedByPolicy(Slot slot) {
  const ModelPolicies& policies = model_.policies;
  if (policies.none()) return;
  object(slot, kPresenceField | kFlightsField);
  for (const Holding& one : policies.ofHold[slot]) end(one, slot);
  for (const CascadeChild& one : policies.ofCascade[slot]) {
    end(policies.ofHold[one.parent][one.holding], one.parent);
    question(policies.questions[one.question]);
  }
}

// --- the garbage collector, the namespace controller, workloads

void DeclaredReads::owners(Slot slot) {
  object(slot, kOwnersField);
  for (const OwnerLink& link : model_.slots[slot].owners)
    object(link.owner, kPresenceField | kFinalizersField);
}

void DeclaredReads::dependents(Slot slot) {
  objects(model_.slots[slot].dependents, kPresenceField | kOwnersField);
}

void DeclaredReads::unblocksOwners(Slot slot) {
  if (std::ranges::any_of(model_.slots[slot].owners, &OwnerLink::blockOwnerDeletion))
    objects(model_.slots[slot].dependents, kPresenceField | kFinalizersField | kOwnersField);
}

void DeclaredReads::deletesContent(Slot content) {
  const SlotInfo& info = model_.slots[content];
  object(content, kPresenceField | kFlightsField);
  object(info.namespaceSlot, kPresenceField | kFinalizersField);
  if (info.namespaceSlot == kNone || info.kind == SlotKind::Pod) return;
  if (!kube::deletesPodsFirst(model_.kubernetes)) return;
  for (const Slot pod : model_.slots[info.namespaceSlot].children) {
    object(pod, kPresenceField | kValueField);
    isRefused(pod);
  }
}

void DeclaredReads::nextTask(Slot workload) {
  const SlotInfo& info = model_.slots[workload];
  object(workload, kPresenceField | kValueField);
  for (const Slot child : info.children) {
    object(child, kPresenceField | kOwnersField);
    objects(model_.slots[child].claims, kPresenceField);
    mayCreate(child);
    webhookFails(child, &Interception::onUpdate);
    if (info.kind == SlotKind::Deployment)
      object(child, kValueField);
    else
      isRefused(child);
  }
}

void DeclaredReads::agentTask(uint32_t index) {
  const Work& spec = model_.works[index];
  work(index);
  object(spec.applied, kPresenceField | kFinalizersField);
  object(spec.manifestWork, kPresenceField | kFinalizersField);
  webhookFails(spec.applied, &Interception::onCreate);
  webhookFails(spec.applied, &Interception::onCleanup);
  webhookFails(spec.manifestWork, &Interception::onCleanup);
  for (uint32_t i = spec.firstLink; i < spec.firstLink + spec.linkCount; ++i) {
    link(i);
    object(model_.links[i].object, kPresenceField | kOwnersField);
    mayCreate(model_.links[i].object);
    webhookFails(model_.links[i].object, &Interception::onUpdate);
  }
}

void DeclaredReads::hasOutlivedItself(Slot slot) {
  const SlotInfo& info = model_.slots[slot];
  if (!info.timeToLive) return;
  object(slot, kPresenceField);
  if (info.timeToLive->finishesAnyway) return;
  if (info.kind == SlotKind::ManifestWork) {
    const Work& spec = model_.works[info.work];
    object(spec.applied, kPresenceField);
    for (uint32_t i = spec.firstLink; i < spec.firstLink + spec.linkCount; ++i) {
      link(i);
      object(model_.links[i].object, kPresenceField);
    }
    return;
  }
  hasReadyPod(slot);
  for (Slot other = 0; other < model_.slots.size(); ++other)
    for (const Removal& removal : model_.slots[other].removals)
      if (runsIn(model_, model_.controllers[removal.controller], slot)) object(other, kFinalizersField);
}

void DeclaredReads::replicaSetTask(Slot work) {
  const Slot replicaSet = model_.slots[work].replicaSet;
  if (replicaSet == kNone) return;
  object(replicaSet, kPresenceField | kFinalizersField);
  mayCreate(work);
}

// --- lastout

void DeclaredReads::isRecorded(Slot slot) {
  for (const admission::GuardEntry& guardEntry : model_.slots[slot].guardEntries) {
    const Slot service = model_.services[guardEntry.service];
    if (admission::recordsDeferral(guardEntry.guardedAs, service == slot)) object(service, kPresenceField);
  }
}

void DeclaredReads::isFollowed(Slot slot) {
  for (const uint32_t service : model_.slots[slot].followers)
    object(model_.services[service], kPresenceField);
}

void DeclaredReads::deferralState(Slot slot) {
  object(slot, kDeferredDeletionField);
  object(model_.slots[slot].namespaceSlot, kPresenceField);
  owners(slot);
  for (const OwnerLink& link : model_.slots[slot].owners)
    if (link.owner != kNone) isFollowed(link.owner);
}

// What one dependent has to do with whether its work is kept.
void DeclaredReads::keepingOf(Slot applied, Slot dependent) {
  object(dependent, kPresenceField | kOwnersField | kDeferredDeletionField);
  isFollowed(dependent);
  isRecorded(dependent);
  for (const uint32_t service : model_.slots[dependent].peers)
    object(model_.services[service], kPresenceField);
  for (const uint32_t one : model_.slots[dependent].links)
    if (model_.links[one].work == model_.slots[applied].work) link(one);
}

void DeclaredReads::isLeftBehind(Slot applied, Slot slot) {
  if (applied == kNone || model_.slots[applied].keptBit == 0) return;
  object(applied, kPresenceField | kFinalizersField);
  work(model_.slots[applied].work);
  keepingOf(applied, slot);
  for (const Slot dependent : model_.slots[applied].dependents) {
    object(dependent, kPresenceField | kOwnersField);
    isFollowed(dependent);
  }
}

void DeclaredReads::fateAlone(Slot slot) {
  object(slot, kPresenceField | kOwnersField | kDeferredDeletionField);
  if (!canBeDeferred(model_, slot)) return;
  for (const OwnerLink& link : model_.slots[slot].owners) isLeftBehind(link.owner, slot);
  deferralState(slot);
  decide(slot);
}

void DeclaredReads::deferredDeletionFate(Slot slot) {
  fateAlone(slot);
  if (!canBeDeferred(model_, slot)) return;
  const SlotInfo& info = model_.slots[slot];
  for (const Slot content : info.content) fateAlone(content);
  if (info.kind != SlotKind::CriticalService || info.service == kNone) return;
  for (const Slot other : model_.deferredByService[info.service]) fateAlone(other);
}

void DeclaredReads::keptWorkPlan(Slot applied) {
  if (model_.slots[applied].keptBit == 0) return;
  object(applied, kPresenceField | kFinalizersField);
  webhookFails(applied, &Interception::onUpdate);
  work(model_.slots[applied].work);
  for (const Slot dependent : model_.slots[applied].dependents) {
    keepingOf(applied, dependent);
    deferralState(dependent);
  }
}

void DeclaredReads::heldProviderPlan(Slot provider) {
  if (model_.slots[provider].heldBit == 0) return;
  object(provider, kPresenceField | kFinalizersField | kFlightsField);
  webhookFails(provider, &Interception::onUpdate);
  decide(provider);
}

}  // namespace lastout::cluster

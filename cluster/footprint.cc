#include "cluster/footprint.h"

#include <algorithm>

#include "cluster/declared_effects.h"
#include "cluster/declared_reads.h"

namespace lastout::cluster {

namespace {

using Kind = Action::Kind;

// The declarations, in the order of the functions in machine.cc.
class Declaration {
 public:
  Declaration(const Machine& machine, Footprint& footprint)
      : model_(machine.model()), guard_(machine, footprint.guard), effects_(machine, footprint) {}

  void send(uint32_t step) {
    const ClientStep& spec = model_.steps[step];
    guard_.step(step);
    effects_.writeStep(step);
    effects_.event(spec.object, EventKind::Denied);
    switch (spec.verb) {
      case ClientStep::Verb::Delete:
        if (spec.dryRun)
          effects_.reads().isRefused(spec.object);
        else
          effects_.send(spec.object);
        break;
      case ClientStep::Verb::Create:
        effects_.reads().refusesCreation(spec.object);
        effects_.reads().webhookFails(spec.object, &Interception::onCreate);
        effects_.create(spec.object);
        break;
      case ClientStep::Verb::SetFinalizers:
        reviewChange(step);
        effects_.dropFinalizers(spec.object);
        break;
      case ClientStep::Verb::SetForm:
        reviewChange(step);
        effects_.change(spec.object, kFormField);
        break;
      case ClientStep::Verb::SetReplicas:
      case ClientStep::Verb::SetIntent:
        reviewChange(step);
        effects_.change(spec.object, kValueField);
        break;
    }
  }

  // A DELETE, between verdict and commit.
  void confirm(const Action& action) {
    goOn(action, &DeclaredEffects::confirm);
    if (letsProviderGo(action)) effects_.confirmLettingGo(action.a);
  }

  void commit(const Action& action) {
    goOn(action, &DeclaredEffects::commit);
    if (letsProviderGo(action)) effects_.commitLettingGo(action.a);
  }

  void agentStep(uint32_t work) {
    const Work& spec = model_.works[work];
    guard_.agentTask(work);
    effects_.reads().agentTask(work);
    effects_.create(spec.applied);
    effects_.send(spec.applied);
    effects_.dropFinalizers(spec.manifestWork);
    finishAgentDelete(work);
    for (uint32_t link = firstLink(work); link < endOfLinks(work); ++link) {
      const Slot object = model_.links[link].object;
      effects_.reads().owners(object);
      effects_.event(object, EventKind::Denied);
      effects_.create(object);
      effects_.change(object, kOwnersField | kDeferredDeletionField);
      effects_.send(object);
    }
  }

  void collectorDelete(const Action& action) {
    guard_.object(action.a, kPresenceField | kFlightsField);
    guard_.owners(action.a);
    guard_.unblocksOwners(action.a);
    controllerDelete(action, &DeclaredEffects::send);
  }

  void collectorRelease(Slot slot) {
    guard_.object(slot, kPresenceField | kFinalizersField);
    guard_.owners(slot);
    guard_.dependents(slot);
    guard_.unblocksOwners(slot);
    guard_.webhookFails(slot, &Interception::onRelease);
    for (const Slot dependent : model_.slots[slot].dependents)
      guard_.webhookFails(dependent, &Interception::onRelease);
    effects_.reads().owners(slot);
    effects_.reads().dependents(slot);
    effects_.change(slot, kOwnersField);
    effects_.dropFinalizers(slot);
    for (const Slot dependent : model_.slots[slot].dependents)
      effects_.change(dependent, kOwnersField | kDeferredDeletionField);
  }

  void crdInstances(Slot crd) {
    guardOfCleanup(crd);
    for (const Slot instance : model_.slots[crd].content) {
      guard_.object(instance, kPresenceField);
      guard_.conversionFails(instance);
      effects_.reads().conversionFails(instance);
      effects_.commitDelete(instance);
    }
  }

  void namespaceDelete(const Action& action) {
    guard_.deletesContent(action.a);
    controllerDelete(action, &DeclaredEffects::send);
  }

  // What ends with its own finalizer: once none of `inTheWay` is there.
  void finish(Slot slot, const std::vector<Slot>& inTheWay) {
    guardOfCleanup(slot);
    guard_.objects(inTheWay, kPresenceField);
    guard_.webhookFails(slot, &Interception::onCleanup);
    guard_.webhookFails(slot, &Interception::onContent);
    if (model_.slots[slot].kind == SlotKind::Namespace) guard_.namespaceCallFails();
    effects_.dropFinalizers(slot);
  }

  void workloadSync(Slot workload) {
    guard_.nextTask(workload);
    effects_.reads().nextTask(workload);
    for (const Slot child : model_.slots[workload].children) {
      effects_.create(child);
      effects_.change(child, kOwnersField | kValueField);
      if (model_.slots[workload].kind != SlotKind::Deployment) effects_.send(child);
    }
  }

  void replicaSetWork(Slot work) {
    guard_.object(work, kPresenceField);
    guard_.replicaSetTask(work);
    effects_.reads().replicaSetTask(work);
    effects_.create(work);
    effects_.send(work);
  }

  void deleteFinished(Slot slot) {
    guard_.object(slot, kPresenceField);
    guard_.hasOutlivedItself(slot);
    effects_.send(slot);
  }

  void podReady(Slot pod) {
    guard_.object(pod, kPresenceField | kValueField);
    guard_.objects(model_.slots[pod].startsWith, kPresenceField);
    guard_.webhookFails(pod, &Interception::onStart);
    effects_.change(pod, kValueField);
  }

  void podStop(Slot pod) {
    guard_.object(pod, kPresenceField | kValueField);
    guard_.webhookFails(pod, &Interception::onStop);
    effects_.writeObject(pod, kValueField);
    effects_.dropFinalizers(pod);  // it goes when it has none
  }

  void deleteDeferred(const Action& action) {
    guard_.object(action.a, kPresenceField | kFlightsField);
    guard_.deferredDeletionFate(action.a);
    controllerDelete(action, &DeclaredEffects::send);
  }

  void deleteHeld(const Action& action) {
    guard_.isDeletedByPolicy(action.a);
    controllerDelete(action, &DeclaredEffects::send);
  }

  void keepWork(Slot applied) {
    guard_.object(applied, kPresenceField);
    guard_.keptWorkPlan(applied);
    effects_.reads().keptWorkPlan(applied);
    effects_.dropFinalizers(applied);
  }

  void holdProvider(Slot provider) {
    guard_.object(provider, kPresenceField);
    guard_.heldProviderPlan(provider);
    effects_.reads().heldProviderPlan(provider);
    effects_.writeObject(provider, kFlightsField);
    effects_.dropFinalizers(provider);
  }

  void writeLabels(Slot slot) {
    guard_.object(slot, kPresenceField);
    guard_.labelWrite(slot);
    effects_.reads().labelWrite(slot);
    effects_.event(slot, EventKind::Denied);
    effects_.change(slot, kFormField);
  }

  void confirmation(Slot slot) {
    guard_.object(slot, kPresenceField);
    guard_.isHeld(slot);
    effects_.reads().isHeld(slot);
    effects_.change(slot, kFormField);
  }

  void letGo(Slot slot) {
    guard_.object(slot, kPresenceField | kFinalizersField);
    guard_.isHeld(slot);
    effects_.reads().isHeld(slot);
    effects_.dropFinalizers(slot);
  }

  void finalize(Slot slot, uint32_t controller) {
    guard_.object(slot, kPresenceField | kFinalizersField);
    for (const Removal& removal : model_.slots[slot].removals) {
      if (removal.controller != controller) continue;
      guard_.webhookFails(slot, removal.request);
      guard_.mayRemove(slot, removal);
    }
    effects_.dropFinalizers(slot);
  }

 private:
  uint32_t firstLink(uint32_t work) const { return model_.works[work].firstLink; }
  uint32_t endOfLinks(uint32_t work) const { return firstLink(work) + model_.works[work].linkCount; }

  // `phase`: of DeclaredEffects, of the review.
  void goOn(const Action& action, void (DeclaredEffects::*phase)(Slot)) {
    if (action.actor == Actor::Client) {
      guard_.step(action.a);
      effects_.writeStep(action.a);
      effects_.event(model_.steps[action.a].object, EventKind::Denied);
      (effects_.*phase)(model_.steps[action.a].object);
    } else if (action.actor == Actor::Agent) {
      guard_.work(action.a);
      finishAgentDelete(action.a);
      for (uint32_t link = firstLink(action.a); link < endOfLinks(action.a); ++link)
        (effects_.*phase)(model_.links[link].object);
    } else {
      guard_.object(action.a, kPresenceField | kFlightsField);
      controllerDelete(action, phase);
    }
  }

  bool letsProviderGo(const Action& action) const {
    return action.actor == Actor::Lastout && model_.slots[action.a].heldBit != 0;
  }

  // A DELETE of the collector, the namespace controller or lastout, which keep no answers.
  void controllerDelete(const Action& action, void (DeclaredEffects::*phase)(Slot)) {
    const Slot slot = action.a;
    effects_.writeObject(slot, kFlightsField);
    (effects_.*phase)(slot);
    if (action.actor == Actor::Collector) {
      effects_.reads().owners(slot);
      effects_.reads().dependents(slot);
    }
    if (action.actor == Actor::Lastout) effects_.reads().object(slot, kDeferredDeletionField);
  }

  void reviewChange(uint32_t step) {
    effects_.reads().object(model_.steps[step].object, kPresenceField);
    effects_.reads().webhookFails(model_.steps[step].object, &Interception::onUpdate);
    effects_.reads().isUpdateProtected(step);
  }

  // The work's pass goes on to the next object that is there.
  void finishAgentDelete(uint32_t work) {
    effects_.writeWork(work);
    for (uint32_t link = firstLink(work); link < endOfLinks(work); ++link) {
      effects_.writeLink(link);
      effects_.reads().object(model_.links[link].object, kPresenceField);
    }
  }

  void guardOfCleanup(Slot slot) { guard_.object(slot, kPresenceField | kFinalizersField); }

  const Model& model_;
  DeclaredReads guard_;
  DeclaredEffects effects_;
};

}  // namespace

void PartSet::add(const StatePart& part, Fields fields) {
  if (fields == 0) return;
  const auto found = std::ranges::lower_bound(parts_, part, {}, &PartFields::part);
  if (found != parts_.end() && found->part == part)
    found->fields |= fields;
  else
    parts_.insert(found, {part, fields});
}

Fields PartSet::fieldsOf(const StatePart& part) const {
  const auto found = std::ranges::lower_bound(parts_, part, {}, &PartFields::part);
  return found != parts_.end() && found->part == part ? found->fields : Fields{0};
}

bool PartSet::overlaps(const PartSet& other) const {
  auto mine = parts_.begin();
  auto theirs = other.parts_.begin();
  while (mine != parts_.end() && theirs != other.parts_.end()) {
    if (mine->part < theirs->part) {
      ++mine;
    } else if (theirs->part < mine->part) {
      ++theirs;
    } else {
      if ((mine->fields & theirs->fields) != 0) return true;
      ++mine;
      ++theirs;
    }
  }
  return false;
}

// No default: an action that declares nothing does not compile.
Footprint footprintOf(const Machine& machine, const Action& action) {
  Footprint footprint;
  Declaration declaration(machine, footprint);
  const Slot slot = action.a;
  const std::vector<SlotInfo>& slots = machine.model().slots;
  switch (action.kind) {
    case Kind::Send:
      declaration.send(action.a);
      break;
    case Kind::Confirm:
      declaration.confirm(action);
      break;
    case Kind::Commit:
      declaration.commit(action);
      break;
    case Kind::AgentStep:
      declaration.agentStep(action.a);
      break;
    case Kind::CollectorDelete:
      declaration.collectorDelete(action);
      break;
    case Kind::CollectorRelease:
      declaration.collectorRelease(slot);
      break;
    case Kind::CrdInstances:
      declaration.crdInstances(slot);
      break;
    case Kind::CrdFinish:
    case Kind::NamespaceFinish:
      declaration.finish(slot, slots[slot].content);
      break;
    case Kind::ClaimRelease:
    case Kind::VolumeRelease:
    case Kind::ReplicaSetFinish:
      declaration.finish(slot, slots[slot].children);
      break;
    case Kind::ReplicaSetWork:
      declaration.replicaSetWork(slot);
      break;
    case Kind::DeleteFinished:
      declaration.deleteFinished(slot);
      break;
    case Kind::NamespaceDelete:
      declaration.namespaceDelete(action);
      break;
    case Kind::WorkloadSync:
      declaration.workloadSync(slot);
      break;
    case Kind::PodReady:
      declaration.podReady(slot);
      break;
    case Kind::PodStop:
      declaration.podStop(slot);
      break;
    case Kind::DeleteDeferred:
      declaration.deleteDeferred(action);
      break;
    case Kind::DeleteHeld:
      declaration.deleteHeld(action);
      break;
    case Kind::KeepWork:
      declaration.keepWork(slot);
      break;
    case Kind::HoldProvider:
      declaration.holdProvider(slot);
      break;
    case Kind::WriteLabels:
      declaration.writeLabels(slot);
      break;
    case Kind::Confirmation:
      declaration.confirmation(slot);
      break;
    case Kind::LetGo:
      declaration.letGo(slot);
      break;
    case Kind::Finalize:
      declaration.finalize(slot, action.b);
      break;
  }
  return footprint;
}

bool areIndependent(const Footprint& one, const Footprint& other) {
  const auto disturbs = [](const Footprint& writer, const Footprint& reader) {
    return writer.writes.overlaps(reader.guard) || writer.writes.overlaps(reader.reads) ||
           writer.writes.overlaps(reader.writes);
  };
  return !disturbs(one, other) && !disturbs(other, one);
}

}  // namespace lastout::cluster

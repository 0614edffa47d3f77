#include "tests/properties/machine_rules.h"

#include <algorithm>

#include "cluster/transition.h"
#include "graph/condition.h"
#include "kube/well_known.h"

namespace lastout::testing {

namespace {

using cluster::Action;
using cluster::Actor;
using cluster::ClusterEvent;
using cluster::EventKind;
using cluster::kNone;
using cluster::ObjectState;
using cluster::Slot;
using cluster::SlotInfo;

constexpr uint16_t kCollectorBits = cluster::kForegroundBit | cluster::kOrphanBit;

// One changed object.
struct Change {
  const Walk& walk;
  Slot slot;
  const SlotInfo& info;
  ObjectState before;
  ObjectState after;

  bool has(EventKind kind) const {
    const cluster::Events& events = walk.events();
    return std::any_of(events.begin(), events.end(),
                       [&](const ClusterEvent& event) { return event.slot == slot && event.kind == kind; });
  }
  ObjectState objectBefore(Slot other) const { return walk.before().object(other); }
  ObjectState objectAfter(Slot other) const { return walk.after().object(other); }
};

bool isServerSideCreation(const Walk& walk) {
  return walk.action().kind == Action::Kind::Send && walk.machine().model().steps[walk.action().a].serverSide;
}

// Where an object can appear: in a namespace that is there and not going away, and of a type that is served.
std::string brokenByCreation(const Change& change) {
  if (!change.has(EventKind::Created)) return "an object appears without having been created";
  if (!change.after.live()) return "a new object is terminating";
  const Slot space = change.info.namespaceSlot;
  if (space != kNone && !change.objectBefore(space).live())
    return "something is created in a namespace that terminates or is not there";
  const Slot crd = change.info.crd;
  if (crd == kNone) return {};
  if (!change.objectBefore(crd).present()) return "an instance is created although its CRD is not there";
  if (change.objectBefore(crd).terminating() && !isServerSideCreation(change.walk))
    return "an instance is created by other means than server-side apply while its CRD terminates";
  return {};
}

// What must be empty before it goes, and that nothing goes that nobody asked to go.
std::string brokenByRemoval(const Change& change) {
  if (!change.has(EventKind::Gone)) return "an object disappears without being reported gone";
  if (change.before.live() && !change.has(EventKind::Accepted))
    return "an object is gone whose deletion was never accepted";
  for (Slot inside : change.info.content) {
    if (!change.objectAfter(inside).present()) continue;
    if (change.info.kind == cluster::SlotKind::Namespace)
      return "a namespace is gone before its content: " + change.walk.machine().model().name(inside);
    return "an instance outlives its CRD: " + change.walk.machine().model().name(inside);
  }
  return {};
}

// Deletion is final, is asked for, and after it finalizers only go away, but for the garbage collector's two.
std::string brokenByChange(const Change& change) {
  const auto gained = static_cast<uint16_t>(change.after.finalizers & ~change.before.finalizers);
  if (change.before.terminating() && !change.after.terminating()) return "a terminating object is live again";
  if (change.before.live() && change.after.terminating()) {
    if (!change.has(EventKind::Accepted)) return "an object terminates whose deletion was never accepted";
    const uint16_t cleanup =
        change.info.kind == cluster::SlotKind::Crd ? change.info.cleanupBit : uint16_t{0};
    if ((gained & ~(kCollectorBits | cleanup)) != 0)
      return "a DELETE adds a finalizer that it has no business with";
  }
  if (change.before.terminating() && gained != 0) {
    if ((gained & ~kCollectorBits) != 0) return "a terminating object gains a finalizer";
    if (!change.has(EventKind::Accepted))
      return "a terminating object gains a finalizer by other means than a DELETE";
  }
  return {};
}

std::string brokenBy(const Change& change) {
  if (cluster::pack(cluster::unpack(cluster::pack(change.after))) != cluster::pack(change.after))
    return "an object's state does not survive packing";
  if (!change.before.present() && change.after.present()) return brokenByCreation(change);
  if (change.before.present() && !change.after.present()) return brokenByRemoval(change);
  if (change.before.present()) return brokenByChange(change);
  return "an absent object changes";
}

// --- what controllers may do

bool runs(const Walk& walk, Slot workload) {
  const SlotInfo& info = walk.machine().model().slots[workload];
  const ObjectState object = walk.before().object(workload);
  if (info.kind == cluster::SlotKind::Pod) return object.live() && object.value == 1;
  return std::any_of(info.children.begin(), info.children.end(),
                     [&](Slot child) { return runs(walk, child); });
}

// An owner keeps its dependents unless it is gone, another object has its name, or it waits for them.
bool keeps(const Walk& walk, Slot slot, size_t link) {
  const cluster::OwnerLink& owner = walk.machine().model().slots[slot].owners[link];
  const cluster::OwnerState state = walk.before().object(slot).owner(link);
  if (state != cluster::OwnerState::Current) return false;
  const ObjectState object = walk.before().object(owner.owner);
  const bool waits = object.terminating() && (object.finalizers & cluster::kForegroundBit) != 0;
  return object.present() && !waits;
}

// docs/scenarios.md, "controllers": "needs" and "waitsFor".
std::string brokenByNeeds(const Walk& walk) {
  const auto& all = walk.machine().model().controllers[walk.action().b].needs;
  const auto found = all.find(walk.action().a);
  if (found == all.end()) return {};
  const auto isThere = [&](Slot slot) { return walk.before().object(slot).present(); };
  for (const Slot slot : found->second.waitsFor) {
    if (isThere(slot)) return "a finalizer controller does not wait";
  }
  for (const cluster::RemovalNeeds::Need& need : found->second.needs) {
    bool isMet = false;
    for (const std::vector<Slot>& way : need.ways) {
      bool isWhole = true;
      for (const Slot slot : way) isWhole = isWhole && isThere(slot);
      isMet = isMet || isWhole;
    }
    if (!isMet) return "a finalizer controller works without what it needs";
  }
  return {};
}

// docs/semantics.md, "The rules", Namespace.
std::string brokenByOrder(const Walk& walk) {
  const cluster::Model& model = walk.machine().model();
  const SlotInfo& deleted = model.slots[walk.action().a];
  if (!kube::deletesPodsFirst(model.kubernetes) || deleted.kind == cluster::SlotKind::Pod) return {};
  const cluster::Transition reading(walk.machine(), walk.before(), nullptr);
  bool isAnyLeft = false;
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    const SlotInfo& info = model.slots[slot];
    const ObjectState pod = walk.before().object(slot);
    if (info.kind != cluster::SlotKind::Pod || info.key.namespaceName != deleted.key.namespaceName ||
        !pod.present())
      continue;
    isAnyLeft = true;
    const bool isAskedFor = pod.live() || pod.value == cluster::kStopped;
    if (isAskedFor && (reading.webhookFails(slot, &cluster::Interception::onDelete) ||
                       (model.guarded && !walk.machine().decide(walk.before(), slot).allowed)))
      return {};
  }
  return isAnyLeft ? "the namespace controller deletes something else while Pods are left" : "";
}

// Nobody answers, as docs/semantics.md, "The rules", other people's webhooks, has it.
bool isUnanswered(const Walk& walk, const cluster::Interception& called) {
  const auto isThere = [&](Slot slot) { return slot != kNone && walk.before().object(slot).present(); };
  if (!isThere(called.configuration)) return false;
  if (!isThere(called.service)) return true;
  bool answers = called.hasOtherEndpoints;
  for (const Slot slot : called.workloads) {
    const bool isUnfollowed = walk.machine().model().slots[slot].kind == cluster::SlotKind::Plain;
    answers = answers || runs(walk, slot) || (isUnfollowed && isThere(slot));
  }
  return !answers;
}

// docs/semantics.md, "Who is refused": nullptr, where the action is none of these requests.
bool cluster::Interception::*requestOf(Action::Kind kind) {
  switch (kind) {
    case Action::Kind::CollectorRelease:
      return &cluster::Interception::onRelease;
    case Action::Kind::Finalize:
    case Action::Kind::KeepWork:
      return &cluster::Interception::onUpdate;
    case Action::Kind::NamespaceFinish:
    case Action::Kind::CrdFinish:
    case Action::Kind::ClaimRelease:
    case Action::Kind::VolumeRelease:
      return &cluster::Interception::onCleanup;
    case Action::Kind::PodReady:
      return &cluster::Interception::onStart;
    case Action::Kind::PodStop:
      return &cluster::Interception::onStop;
    default:
      return nullptr;
  }
}

std::string brokenByWebhook(const Walk& walk) {
  const auto request = requestOf(walk.action().kind);
  if (request == nullptr) return {};
  const bool endsNamespace = walk.action().kind == Action::Kind::NamespaceFinish;
  for (const cluster::Interception& called : walk.machine().model().slots[walk.action().a].interceptions) {
    const bool isCalled = called.*request || (endsNamespace && called.onContent);
    if (isCalled && isUnanswered(walk, called)) return "a request is made that a webhook refuses";
  }
  return {};
}

std::string brokenByController(const Walk& walk) {
  const Action& action = walk.action();
  const cluster::Model& model = walk.machine().model();
  if (std::string rule = brokenByWebhook(walk); !rule.empty()) return rule;
  if (action.kind == Action::Kind::Finalize) {
    const Slot runsIn = model.controllers[action.b].runsIn;
    if (runsIn != kNone && !runs(walk, runsIn)) return "a finalizer controller works without a Ready Pod";
    if (std::string rule = brokenByNeeds(walk); !rule.empty()) return rule;
  }
  if (action.kind == Action::Kind::CollectorDelete) {
    const size_t links = model.slots[action.a].owners.size();
    for (size_t i = 0; i < links; ++i) {
      if (keeps(walk, action.a, i)) return "the garbage collector deletes what an owner keeps";
    }
  }
  if (action.kind != Action::Kind::NamespaceDelete) return {};
  if (!walk.before().object(model.slots[action.a].namespaceSlot).terminating())
    return "the namespace controller deletes in a namespace that stays";
  return brokenByOrder(walk);
}

// A dry run leaves no trace but that it was made.
std::string brokenByDryRun(const Walk& walk) {
  if (walk.action().kind != Action::Kind::Send) return {};
  const bool isDryRun = walk.machine().model().steps[walk.action().a].dryRun;
  return isDryRun && !walk.changedSlots().empty() ? "a dry run changes an object" : "";
}

std::string place(const Walk& walk, Slot slot) {
  return ": " + walk.machine().model().name(slot) + " in action " + std::to_string(walk.count()) + " (kind " +
         std::to_string(static_cast<int>(walk.action().kind)) + ")";
}

}  // namespace

std::string brokenRule(const Walk& walk) {
  if (std::string rule = brokenByController(walk); !rule.empty()) return rule + place(walk, walk.action().a);
  if (std::string rule = brokenByDryRun(walk); !rule.empty())
    return rule + place(walk, walk.machine().model().steps[walk.action().a].object);
  for (Slot slot : walk.changedSlots()) {
    const Change change{walk, slot, walk.machine().model().slots[slot], walk.before().object(slot),
                        walk.after().object(slot)};
    if (std::string rule = brokenBy(change); !rule.empty()) return rule + place(walk, slot);
  }
  return {};
}

// --- safety

namespace {

cluster::Flight flightOf(const Walk& walk, const cluster::StateRef& state) {
  const Action& action = walk.action();
  switch (action.actor) {
    case Actor::Client:
      return state.step(action.a).flight;
    case Actor::Agent:
      return state.work(action.a).flight;
    case Actor::Collector:
      return state.object(action.a).collector;
    case Actor::Lastout:
      return state.object(action.a).lastout;
    default:
      return state.object(action.a).lifecycle;
  }
}

Slot deletedBy(const Walk& walk) {
  const Action& action = walk.action();
  const cluster::Model& model = walk.machine().model();
  if (action.actor == Actor::Client) return model.steps[action.a].object;
  if (action.actor != Actor::Agent) return action.a;
  return model.links[model.works[action.a].firstLink + walk.before().work(action.a).next].object;
}

bool carriesHeld(const SlotInfo& info, const ObjectState& object) {
  for (size_t i = 0; i < info.finalizers.size(); ++i) {
    if (info.finalizers[i] == kube::kCriteriaFinalizer && (object.finalizers >> i & 1) != 0)
      return object.present();
  }
  return false;
}

// What the DELETE of the walk's action asks for; nothing: it does not say.
std::optional<cluster::PropagationPolicy> policyOf(const Walk& walk) {
  const Action& action = walk.action();
  const cluster::Model& model = walk.machine().model();
  switch (action.actor) {
    case Actor::Client: {
      const cluster::ClientStep& step = model.steps[action.a];
      return step.hasPolicy ? std::optional(step.policy) : std::nullopt;
    }
    case Actor::Collector: {
      std::vector<uint64_t> words(walk.before().words().begin(), walk.before().words().end());
      const cluster::StateRef state(words.data(), walk.machine().layout());
      return cluster::collectorRequest(cluster::Transition(walk.machine(), state, nullptr), action.a).policy;
    }
    case Actor::Lastout: {
      const ObjectState object = walk.before().object(action.a);
      return object.deferredDeletion ? std::optional(object.deferredDeletion->policy) : std::nullopt;
    }
    default:
      return cluster::PropagationPolicy::Background;
  }
}

// docs/verdicts.md: "a held provider by a DELETE in the Background, one that orphans, or one that says
// neither while nobody has asked for Foreground".
admission::DeletionEffect deletionEffectOfDelete(const Walk& walk, Slot slot) {
  const ObjectState object = walk.before().object(slot);
  const auto policy = policyOf(walk);
  const bool inForeground = policy ? *policy == cluster::PropagationPolicy::Foreground
                                   : (object.finalizers & cluster::kForegroundBit) != 0;
  const bool isHeld = carriesHeld(walk.machine().model().slots[slot], object);
  return isHeld && !inForeground ? admission::DeletionEffect::Held : admission::DeletionEffect::Ending;
}

// The object is there, with all that it runs.
bool isKept(const Walk& walk, Slot slot) {
  const ObjectState object = walk.after().object(slot);
  return carriesHeld(walk.machine().model().slots[slot], object) &&
         (object.finalizers & cluster::kForegroundBit) == 0;
}

}  // namespace

std::string SafetyWatch::broken(const Walk& walk, const PlainCluster& before) {
  const cluster::Model& model = walk.machine().model();
  if (!model.guarded) return {};
  const Action& action = walk.action();
  const uint64_t key = uint64_t{action.a} << 8 | static_cast<uint64_t>(action.actor);
  const auto verdict = [&](Slot slot) {
    return verdictByTheDocument(before, model.slots[slot].key, deletionEffectOfDelete(walk, slot));
  };
  if (action.kind == Action::Kind::Confirm &&
      flightOf(walk, walk.after()).phase == cluster::Flight::Phase::Confirmed)
    held_[key] = verdictByTheDocument(before, model.slots[deletedBy(walk)].key).allowed;
  for (const ClusterEvent& event : walk.events()) {
    if (event.kind == EventKind::Denied && event.refused == nullptr &&
        event.verdict.unmet != verdict(event.slot).blockers.size())
      return "denied for other reasons than the document's" + place(walk, event.slot);
    if (event.kind != EventKind::Accepted) continue;
    if (action.kind == Action::Kind::Commit) {
      if (!held_[key] && !isKept(walk, event.slot))
        return "committed although its criteria did not hold" + place(walk, event.slot);
    } else if (action.kind == Action::Kind::WorkloadSync) {
      if (!verdict(event.slot).allowed) return "a workload deletes what is guarded" + place(walk, event.slot);
    } else if (action.kind != Action::Kind::CrdInstances && verdict(event.slot).guarded) {
      // (What a CRD takes along is not reviewed; the CRD is guarded instead.)
      return "a guarded object is deleted without a confirming read" + place(walk, event.slot);
    }
  }
  return brokenByHolding(walk, before, key);
}

// How lastout's finalizer for providers comes and goes.
std::string SafetyWatch::brokenByHolding(const Walk& walk, const PlainCluster& before, uint64_t key) {
  const cluster::Model& model = walk.machine().model();
  const Action& action = walk.action();
  for (const Slot slot : walk.changedSlots()) {
    const ObjectState then = walk.before().object(slot);
    const bool had = carriesHeld(model.slots[slot], then);
    const bool has = carriesHeld(model.slots[slot], walk.after().object(slot));
    if (had == has || !then.present()) continue;
    const bool endsAnyway = (then.finalizers & cluster::kForegroundBit) != 0;
    if (had && then.terminating() && endsAnyway && action.kind == Action::Kind::HoldProvider) continue;
    if (had && then.terminating()) {
      if (action.kind != Action::Kind::Commit || action.actor != Actor::Lastout)
        return "a held provider is let go by somebody else" + place(walk, slot);
      if (!held_[key]) return "committed although its criteria did not hold" + place(walk, slot);
      continue;
    }
    const bool isWanted =
        verdictByTheDocument(before, model.slots[slot].key, admission::DeletionEffect::Held).held;
    if (action.kind != Action::Kind::HoldProvider || isWanted != has)
      return "a provider is held, or is no longer, without a reason" + place(walk, slot);
  }
  return {};
}

// --- what lastout deletes itself

std::string RequestWatch::broken(const Walk& walk) {
  for (const ClusterEvent& event : walk.events()) {
    const bool byController =
        event.actor == Actor::Agent || event.actor == Actor::Collector || event.actor == Actor::Lifecycle;
    if (event.kind == EventKind::Created || event.kind == EventKind::Gone) {
      asked_.erase(event.slot);
      forged_.erase(event.slot);
      granted_.erase(event.slot);
    }
    const bool isDenied = event.kind == EventKind::Denied && event.refused == nullptr;
    if (byController && (isDenied || event.kind == EventKind::Requested)) {
      Asked& asked = asked_[event.slot];
      asked = {ownersOf(walk, event.slot), asked.wasDenied || isDenied};
    }
    const bool asks = event.kind == EventKind::Requested || event.kind == EventKind::Accepted;
    if (event.actor != Actor::Lastout || !asks) continue;
    const std::string rule = brokenByRequest(walk, event);
    if (rule.empty()) continue;
    const bool isForged = forged_.contains(event.slot);
    if (isForged && event.kind == EventKind::Requested && goesAnyway(walk, event.slot))
      granted_.insert(event.slot);
    if (!isForged || !granted_.contains(event.slot)) return rule + place(walk, event.slot);
    if (event.kind == EventKind::Accepted) ++ranForged_;
  }
  return {};
}

std::string RequestWatch::brokenByRequest(const Walk& walk, const ClusterEvent& event) const {
  if (!walk.machine().model().runsDeferredDeletions) return "lastout deletes by itself";
  const auto asked = asked_.find(event.slot);
  if (asked == asked_.end()) return "lastout deletes what nobody asked for";
  if (!asked->second.wasDenied && !isOfKeptWork(walk, event.slot))
    return "lastout deletes what was never denied";
  if (isTakenBack(walk, event.slot, asked->second.owners)) return "lastout deletes what has an owner again";
  return {};
}

bool RequestWatch::goesAnyway(const Walk& walk, Slot slot) {
  const cluster::Model& model = walk.machine().model();
  const Slot space = model.slots[slot].namespaceSlot;
  if (space != kNone && walk.before().object(space).terminating()) return true;
  const ObjectState object = walk.before().object(slot);
  const std::vector<cluster::OwnerLink>& links = model.slots[slot].owners;
  bool isOwned = false;
  for (size_t i = 0; i < links.size(); ++i) {
    if (object.owner(i) == cluster::OwnerState::None) continue;
    isOwned = true;
    if (object.owner(i) != cluster::OwnerState::Current || links[i].owner == kNone) continue;  // gone
    const ObjectState owner = walk.before().object(links[i].owner);
    if (owner.live() || (owner.terminating() && (owner.finalizers & cluster::kOrphanBit) != 0)) return false;
  }
  return isOwned;
}

std::set<cluster::Slot> RequestWatch::ownersOf(const Walk& walk, Slot slot) {
  std::set<Slot> owners;
  const cluster::ObjectState object = walk.before().object(slot);
  const std::vector<cluster::OwnerLink>& links = walk.machine().model().slots[slot].owners;
  for (size_t i = 0; i < links.size(); ++i) {
    if (object.owner(i) == cluster::OwnerState::Current) owners.insert(links[i].owner);
  }
  return owners;
}

// Its agent may have forgotten it, whoever refused: nobody but lastout asks again.
bool RequestWatch::isOfKeptWork(const Walk& walk, Slot slot) {
  const std::set<Slot> owners = ownersOf(walk, slot);
  return std::any_of(owners.begin(), owners.end(), [&](Slot owner) {
    const cluster::ObjectState state = walk.before().object(owner);
    const uint16_t kept = walk.machine().model().slots[owner].keptBit;
    return state.terminating() && (state.finalizers & kept) != 0;
  });
}

// One owner came after the denial, or is being deleted so that what it owns stays.
bool RequestWatch::isTakenBack(const Walk& walk, Slot slot, const std::set<Slot>& formerOwners) {
  const std::set<Slot> owners = ownersOf(walk, slot);
  return std::any_of(owners.begin(), owners.end(), [&](Slot owner) {
    const cluster::ObjectState state = walk.before().object(owner);
    if (state.terminating() && (state.finalizers & cluster::kOrphanBit) != 0) return true;
    return state.live() && !formerOwners.contains(owner);
  });
}

}  // namespace lastout::testing

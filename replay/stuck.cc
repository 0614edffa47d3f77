#include "replay/stuck.h"

#include <algorithm>
#include <set>

#include "admission/why.h"
#include "kube/messages.h"
#include "kube/well_known.h"
#include "replay/blockers.h"
#include "replay/check.h"
#include "replay/dead_calls.h"
#include "replay/final_state.h"
#include "replay/goal.h"
#include "replay/narrate.h"
#include "replay/stuck_reasons.h"

namespace lastout::replay {

namespace {

using cluster::Action;
using cluster::Interception;
using cluster::kNone;
using cluster::Slot;
using cluster::SlotKind;

class Explainer {
 public:
  Explainer(const cluster::Machine& machine, const Names& names, std::vector<uint64_t> state,
            std::span<const Happening> log, std::span<const criticalservice::UnremovedFinalizer> unremoved,
            const MomentOf& when)
      : final_(machine, names, std::move(state), log),
        machine_(machine),
        model_(machine.model()),
        names_(names),
        state_(final_.state()),
        cluster_(final_.cluster()),
        finalizers_(final_, machine.model(), names, unremoved),
        when_(when) {}

  Stuckness run(std::span<const Slot> goal) {
    Stuckness result;
    std::vector<Slot> queue;
    for (const Slot slot : goal) push(queue, slot);
    for (size_t i = 0; i < queue.size(); ++i) {
      result.objects.push_back(explain(queue[i]));
      for (const Slot next : result.objects.back().waitsFor) push(queue, next);
    }
    result.ring = findRing(result.objects);
    leaveOutFollowers(result);
    return result;
  }

 private:
  void push(std::vector<Slot>& queue, Slot slot) const {
    if (cluster_.isPresent(slot) && std::find(queue.begin(), queue.end(), slot) == queue.end())
      queue.push_back(slot);
  }

  StillThere explain(Slot slot) const {
    Reasons reasons(final_, names_, slot);
    if (cluster_.isTerminating(slot))
      explainTerminating(slot, reasons);
    else
      explainLive(slot, reasons);
    if (reasons.none()) reasons.say(kUnasked);
    return std::move(reasons).take();
  }

  // --- what terminates and does not end

  void explainTerminating(Slot slot, Reasons& reasons) const {
    const cluster::SlotInfo& info = model_.slots[slot];
    const uint16_t finalizers = state_.finalizers(slot);
    if ((finalizers & cluster::kForegroundBit) != 0) {
      reasons.wait("it waits in the foreground for its dependents ",
                   final_.presentOf(final_.blockingDependents(slot)));
    }
    explainRelease(slot, reasons);
    if (info.kind == SlotKind::Pod && (state_.object(slot).value & cluster::kStopped) == 0)
      reasons.refused(slot, &Interception::onStop,
                      "its node may not end it: the UPDATE of its status or the DELETE is refused: ");
    for (size_t bit = 0; bit < info.finalizers.size(); ++bit) {
      const auto mask = static_cast<uint16_t>(1u << bit);
      if ((finalizers & mask) == 0) continue;
      if ((info.cleanupBit & mask) != 0)
        explainCleanup(slot, reasons);
      else if ((info.heldBit & mask) != 0)
        explainHolding(slot, reasons);
      else if ((info.policyBits & mask) != 0)
        explainPolicies(slot, reasons);
      else
        finalizers_.explain(slot, bit, reasons);
    }
  }

  // The garbage collector may not write what it would write: of an object that terminates its own finalizers,
  // else a list of owners.
  void explainRelease(Slot slot, Reasons& reasons) const {
    const std::string writes = cluster_.isLive(slot)
                                   ? "the garbage collector cannot write its ownerReferences: "
                                   : "the garbage collector cannot take its finalizer off: ";
    for (const Slot written : cluster::refusedReleases(cluster_, slot))
      reasons.refused(
          written, &Interception::onRelease,
          writes + (written == slot ? "" : "its dependent " + names_.of(written) + " cannot be let go: "));
  }

  // The finalizer of the object's own controller.
  void explainCleanup(Slot slot, Reasons& reasons) const {
    const cluster::SlotInfo& info = model_.slots[slot];
    const size_t before = reasons.count();
    explainWhatItWaitsFor(slot, reasons);
    if (reasons.count() == before)
      reasons.refused(slot, &Interception::onCleanup,
                      nameOfCleaner(info.kind) + " cannot take finalizer " +
                          cluster::finalizerNames(info, info.cleanupBit).front() +
                          " off: its UPDATE is refused: ");
  }

  static std::string nameOfCleaner(SlotKind kind) {
    switch (kind) {
      case SlotKind::Namespace:
        return "the namespace controller";
      case SlotKind::Crd:
        return "CRD clean-up";
      case SlotKind::PersistentVolumeClaim:
        return "the controller that protects claims";
      case SlotKind::PersistentVolume:
        return "the controller that protects volumes";
      case SlotKind::ManifestWorkReplicaSet:
        return "its controller";
      default:
        return "its agent";
    }
  }

  void explainWhatItWaitsFor(Slot slot, Reasons& reasons) const {
    const cluster::SlotInfo& info = model_.slots[slot];
    switch (info.kind) {
      case SlotKind::Namespace:
        explainPods(slot, reasons);
        explainUnwritten(slot, reasons);
        reasons.wait("it waits for its content: ", final_.presentOf(info.content));
        explainCalls(reasons);
        break;
      case SlotKind::Crd:
        reasons.wait("it waits for its instances: ", final_.presentOf(info.content));
        break;
      case SlotKind::PersistentVolumeClaim:
        reasons.wait("it waits until it is mounted no more by ", final_.presentOf(info.children));
        break;
      case SlotKind::PersistentVolume:
        reasons.wait("it waits for the claims that are bound to it: ", final_.presentOf(info.children));
        break;
      case SlotKind::ManifestWorkReplicaSet:
        reasons.wait("its controller waits for its ManifestWorks: ", worksOf(slot));
        break;
      case SlotKind::ManifestWork:
        reasons.wait("its agent waits for ", final_.presentOf({model_.works[info.work].applied}));
        break;
      case SlotKind::AppliedManifestWork:
        reasons.wait("its agent waits for what it applied: ", final_.presentOf(final_.recorded(info.work)));
        break;
      default:
        break;
    }
  }

  // Those that a ManifestWorkReplicaSet waits for.
  std::vector<Slot> worksOf(Slot slot) const {
    const cluster::SlotInfo& info = model_.slots[slot];
    std::vector<Slot> works = final_.presentOf(info.children);
    if (!info.waitsForWorks) std::erase_if(works, [this](Slot work) { return !cluster_.isLive(work); });
    return works;
  }

  // A terminating Namespace looks for Pods first, and has not looked further.
  void explainPods(Slot slot, Reasons& reasons) const {
    if (!cluster::awaitsPods(cluster_, slot)) return;
    reasons.wait(
        "its Pods have to be gone before anything else in it is deleted (until then, its conditions may say "
        "that all of it was): ",
        final_.presentOf(model_.slots[slot].children));
  }

  // What Kubernetes makes in a Namespace by itself is deleted after the Pods, too.
  void explainUnwritten(Slot slot, Reasons& reasons) const {
    if (cluster::awaitsPods(cluster_, slot)) return;
    std::set<std::string> kept;
    for (const Interception& call : model_.slots[slot].interceptions) {
      if (!call.onContent || !cluster_.fails(call)) continue;
      for (const kube::ObjectKey& key : call.unwritten) kept.insert(kube::toString(key));
    }
    if (kept.empty()) return;
    reasons.refused(slot, &Interception::onContent,
                    "the namespace controller cannot delete " + kube::listed({kept.begin(), kept.end()}) +
                        ", which Kubernetes makes in it: ");
  }

  // A Namespace ends when every API has told what is left in it, and while kube-controller-manager works.
  void explainCalls(Reasons& reasons) const {
    for (const cluster::Interception& call : model_.namespaceCalls) {
      if (!cluster_.fails(call)) continue;
      reasons.blame({call.configuration});
      const bool isWebhook = !call.webhook.empty();
      reasons.say("no Namespace ends while " + (isWebhook ? "the webhook " + call.webhook + " of " : "") +
                  names_.of(call.configuration) + " does not answer" +
                  (isWebhook ? " (kube-controller-manager cannot renew its Lease then, and stops)" : "") +
                  ": " + whyNoAnswer(cluster_, names_, call) + "; it has to be deleted, or to answer again");
    }
  }

  // lastout's finalizer on a provider.
  void explainHolding(Slot slot, Reasons& reasons) const {
    const VerdictBlockers blockers = unmetCriteria(machine_, state_, slot);
    if (!blockers.none()) {
      reasons.say("lastout holds it: " + blockers.sentence());
      reasons.blame(blockers.objects);
    } else {
      reasons.refused(slot, &Interception::onUpdate, "lastout cannot let it go: ");
    }
  }

  // The finalizers of deletion policies.
  void explainPolicies(Slot slot, Reasons& reasons) const {
    for (const cluster::PolicyDenial& one : cluster::policyHolds(model_, state_, slot)) {
      reasons.sayOnce(one.denial.message);
      reasons.blame(one.because);
    }
    reasons.refused(slot, &Interception::onUpdate, "lastout cannot let it go: ");
  }

  // --- what nobody deletes

  void explainLive(Slot slot, Reasons& reasons) const {
    const bool asked = final_.isAskedFor(slot);
    const Happening* denial = final_.lastDenial(slot);
    const std::string denied =
        asked || denial != nullptr ? "its deletion is denied: " : "its deletion would be denied: ";
    const VerdictBlockers blockers = blockersOf(
        machine_, state_, slot, denial == nullptr ? Asker{} : askerOf(model_, denial->action, denial->event));
    if (!blockers.none()) {
      reasons.say(denied + blockers.sentence());
      reasons.blame(blockers.objects);
    }
    if (kube::isImmortal(model_.slots[slot].key))
      reasons.say(denied + admission::neverDeletedText(model_.slots[slot].key.type));
    reasons.refused(slot, &Interception::onDelete, askedBy(slot, denied));
    explainRelease(slot, reasons);
    if (asked && reasons.none())
      explainOwners(final_.liveOwnersOf(slot), "lastout waits with its deletion", reasons);
    if (asked || explainTurn(slot, reasons)) return;
    if (denial != nullptr) explainDenied(*denial, reasons);
    explainOwners(cluster::solidOwners(cluster_, slot), "the garbage collector leaves it alone", reasons);
    if (std::ranges::any_of(model_.slots[slot].owners, &cluster::OwnerLink::unresolved))
      reasons.say(
          "the garbage collector leaves it alone because it cannot look for one of its owners: no API server "
          "serves that type in that version, or the owner is in a namespace and the object is not");
    if (denial != nullptr || !reasons.blamesNothing()) return;
    reasons.sayUnasked();
  }

  // The client whose DELETE was denied does not ask again.
  void explainDenied(const Happening& denial, Reasons& reasons) const {
    const bool isAgent = denial.event.actor == cluster::Actor::Agent;
    reasons.say((reasons.none() ? "nothing would deny its deletion now, but nobody asks: "
                                : "nobody asks for it any more: ") +
                actorName(model_, names_, denial.event.actor, denial.event.by) + " was denied " +
                when_(denial) + (isAgent ? ", and has forgotten it" : ", and does not ask again"));
  }

  // "its deletion is denied to the garbage collector: ", where a controller asks for it.
  std::string askedBy(Slot slot, const std::string& denied) const {
    const auto asks = [&](Action::Kind kind) { return final_.isEnabled(kind, slot); };
    const std::string whose = denied.substr(0, denied.size() - 2);
    if (asks(Action::Kind::NamespaceDelete)) return whose + " to the namespace controller: ";
    if (asks(Action::Kind::DeleteFinished)) return whose + " to the TTL controller: ";
    if (asks(Action::Kind::ReplicaSetWork))
      return whose + " to the controller of its ManifestWorkReplicaSet: ";
    return asks(Action::Kind::CollectorDelete) ? whose + " to the garbage collector: " : denied;
  }

  // Its Namespace terminates, and deletes it once no Pod is left there. False: not so.
  bool explainTurn(Slot slot, Reasons& reasons) const {
    const Slot space = model_.slots[slot].namespaceSlot;
    if (!cluster_.isTerminating(space) || model_.slots[slot].kind == SlotKind::Pod ||
        !cluster::awaitsPods(cluster_, space))
      return false;
    reasons.wait("its namespace deletes it after its Pods, and waits for ",
                 final_.presentOf(model_.slots[space].children));
    return true;
  }

  void explainOwners(const std::vector<Slot>& owners, const std::string& who, Reasons& reasons) const {
    if (owners.empty()) return;
    const bool one = owners.size() == 1;
    reasons.say(who + " because its " + (one ? "owner " : "owners ") + names_.list(owners) +
                (one ? " is" : " are") + " still there");
    reasons.blame(owners);
  }

  // What merely goes with its owner says nothing new, unless something else waits for it.
  void leaveOutFollowers(Stuckness& result) const {
    const auto isWaitedFor = [&](Slot slot) {
      return std::any_of(result.objects.begin(), result.objects.end(), [&](const StillThere& each) {
        return std::find(each.waitsFor.begin(), each.waitsFor.end(), slot) != each.waitsFor.end();
      });
    };
    const auto follows = [&](const StillThere& each) {
      const SlotKind kind = model_.slots[each.object].kind;
      return (kind == SlotKind::Pod || kind == SlotKind::ReplicaSet) && cluster_.isLive(each.object) &&
             !isWaitedFor(each.object) && !cluster::solidOwners(cluster_, each.object).empty();
    };
    while (true) {
      const auto found = std::find_if(result.objects.begin(), result.objects.end(), follows);
      if (found == result.objects.end()) return;
      result.objects.erase(found);
    }
  }

  // A shortest ring, by breadth from each object in turn: there are a few dozen at most.
  static std::vector<Slot> findRing(const std::vector<StillThere>& objects) {
    std::vector<Slot> best;
    const auto find = [&](Slot slot) {
      return std::find_if(objects.begin(), objects.end(),
                          [&](const StillThere& each) { return each.object == slot; });
    };
    for (const StillThere& start : objects) {
      std::vector<std::vector<Slot>> paths = {{start.object}};
      std::vector<Slot> seen;
      for (size_t i = 0; i < paths.size() && (best.empty() || paths[i].size() < best.size()); ++i) {
        const auto last = find(paths[i].back());
        if (last == objects.end()) continue;
        for (const Slot next : last->waitsFor) {
          if (next == start.object) {
            best = paths[i];
            break;
          }
          if (std::find(seen.begin(), seen.end(), next) != seen.end()) continue;
          seen.push_back(next);
          paths.push_back(paths[i]);
          paths.back().push_back(next);
        }
      }
    }
    return best;
  }

  const FinalState final_;
  const cluster::Machine& machine_;
  const cluster::Model& model_;
  const Names& names_;
  const cluster::StateRef& state_;
  const cluster::Transition& cluster_;  // for reading alone
  const FinalizerReasons finalizers_;
  const MomentOf& when_;
};

}  // namespace

Stuckness explainStuck(const cluster::Machine& machine, const Names& names, std::span<const Slot> goal,
                       std::vector<uint64_t> state, std::span<const Happening> log,
                       std::span<const criticalservice::UnremovedFinalizer> unremoved, const MomentOf& when) {
  return Explainer(machine, names, std::move(state), log, unremoved, when).run(goal);
}

std::vector<Leftover> unsent(const Compiled& compiled, const Names& names, std::vector<uint64_t> state) {
  const cluster::Layout layout(compiled.model);
  std::vector<Leftover> result;
  for (const uint32_t step : unsentSteps(compiled, cluster::StateRef(state.data(), layout))) {
    const WatchedEvent& after = compiled.sendAfter[step];
    result.push_back(
        {"step " + std::to_string(compiled.model.steps[step].document + 1) + " of the scenario, on " +
             names.of(compiled.model.steps[step].object),
         {after.slot == cluster::kNone ? "it was not sent, because a step before it was not"
                                       : "it is sent after " + names.of(after.slot) + " " +
                                             std::string(word(after.kind)) + ", which did not happen"}});
  }
  return result;
}

std::string atTime(const Happening& happening) { return "at " + seconds(happening.at); }

}  // namespace lastout::replay

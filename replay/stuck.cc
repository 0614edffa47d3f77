#include "replay/stuck.h"

#include <algorithm>

#include "kube/messages.h"
#include "kube/well_known.h"
#include "replay/blockers.h"
#include "replay/check.h"
#include "replay/dead_calls.h"
#include "replay/final_state.h"
#include "replay/goal.h"
#include "replay/narrate.h"

namespace lastout::replay {

namespace {

using cluster::Action;
using cluster::Interception;
using cluster::kNone;
using cluster::Slot;
using cluster::SlotKind;
using criticalservice::UnremovedFinalizer;

constexpr const char* kUnasked = "nobody has asked for its deletion";
constexpr std::string_view kAnd = ", and ";  // between the requests that one webhook refuses

class Explainer {
 public:
  Explainer(const cluster::Machine& machine, const Names& names, std::vector<uint64_t> state,
            std::span<const Happening> log, std::span<const UnremovedFinalizer> unremoved,
            const MomentOf& when)
      : final_(machine, names, std::move(state), log),
        machine_(machine),
        model_(machine.model()),
        names_(names),
        state_(final_.state()),
        cluster_(final_.cluster()),
        unremoved_(unremoved),
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
    StillThere result{.object = slot, .reasons = {}, .waitsFor = {}, .isUnasked = false};
    if (cluster_.isTerminating(slot))
      explainTerminating(slot, result);
    else
      explainLive(slot, result);
    if (result.reasons.empty()) result.reasons.emplace_back(kUnasked);
    return result;
  }

  // --- what terminates and does not end

  void explainTerminating(Slot slot, StillThere& result) const {
    const cluster::SlotInfo& info = model_.slots[slot];
    const uint16_t finalizers = state_.finalizers(slot);
    if ((finalizers & cluster::kForegroundBit) != 0) {
      wait(result, "it waits in the foreground for its dependents ",
           final_.presentOf(final_.blockingDependents(slot)));
    }
    explainRelease(slot, result);
    if (info.kind == SlotKind::Pod && (state_.object(slot).value & cluster::kStopped) == 0)
      refused(slot, &Interception::onDelete, "its node may not end it: the DELETE is refused: ", result);
    for (size_t bit = 0; bit < info.finalizers.size(); ++bit) {
      const auto mask = static_cast<uint16_t>(1u << bit);
      if ((finalizers & mask) == 0) continue;
      if ((info.cleanupBit & mask) != 0)
        explainCleanup(slot, result);
      else if ((info.heldBit & mask) != 0)
        explainHolding(slot, result);
      else if ((info.policyBits & mask) != 0)
        explainPolicies(slot, result);
      else
        explainFinalizer(slot, mask, info.finalizers[bit], result);
    }
  }

  // The garbage collector may not write what it would write: of an object that terminates its own finalizers,
  // else a list of owners.
  void explainRelease(Slot slot, StillThere& result) const {
    const std::string writes = cluster_.isLive(slot)
                                   ? "the garbage collector cannot strike owners from its list: "
                                   : "the garbage collector cannot take its finalizer off: ";
    for (const Slot written : cluster::refusedReleases(cluster_, slot))
      refused(written, &Interception::onUpdate,
              writes + (written == slot ? "" : "its dependent " + names_.of(written) + " cannot be let go: "),
              result);
  }

  // The finalizer of the object's own controller.
  void explainCleanup(Slot slot, StillThere& result) const {
    const cluster::SlotInfo& info = model_.slots[slot];
    const size_t before = result.reasons.size();
    explainWhatItWaitsFor(slot, result);
    if (result.reasons.size() == before)
      refused(slot, &Interception::onCleanup,
              nameOfCleaner(info.kind) + " cannot take finalizer " +
                  cluster::finalizerNames(info, info.cleanupBit).front() + " off: its UPDATE is refused: ",
              result);
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

  void explainWhatItWaitsFor(Slot slot, StillThere& result) const {
    const cluster::SlotInfo& info = model_.slots[slot];
    switch (info.kind) {
      case SlotKind::Namespace:
        explainPods(slot, result);
        wait(result, "it waits for its content: ", final_.presentOf(info.content));
        explainDiscovery(result);
        break;
      case SlotKind::Crd:
        wait(result, "it waits for its instances: ", final_.presentOf(info.content));
        break;
      case SlotKind::PersistentVolumeClaim:
        wait(result, "it waits until it is mounted no more by ", final_.presentOf(info.children));
        break;
      case SlotKind::PersistentVolume:
        wait(result, "it waits for the claims that are bound to it: ", final_.presentOf(info.children));
        break;
      case SlotKind::ManifestWorkReplicaSet:
        wait(result, "its controller waits for its ManifestWorks: ", worksOf(slot));
        break;
      case SlotKind::ManifestWork:
        wait(result, "its agent waits for ", final_.presentOf({model_.works[info.work].applied}));
        break;
      case SlotKind::AppliedManifestWork:
        wait(result, "its agent waits for what it applied: ", final_.presentOf(final_.recorded(info.work)));
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
  void explainPods(Slot slot, StillThere& result) const {
    if (!cluster::awaitsPods(cluster_, slot)) return;
    wait(result,
         "its Pods have to be gone before anything else in it is deleted, while its conditions say that all "
         "of it was: ",
         final_.presentOf(model_.slots[slot].children));
  }

  // A Namespace ends when every API has told what is left in it.
  void explainDiscovery(StillThere& result) const {
    for (const cluster::Interception& apiService : model_.apiServices) {
      if (!cluster_.fails(apiService)) continue;
      add(result, {apiService.configuration});
      result.reasons.push_back("no Namespace ends while " + names_.of(apiService.configuration) +
                               " does not answer: " + whyNoAnswer(cluster_, names_, apiService) +
                               "; it has to be deleted, or to answer again");
    }
  }

  // lastout's finalizer on a provider.
  void explainHolding(Slot slot, StillThere& result) const {
    const VerdictBlockers blockers = unmetCriteria(machine_, state_, slot);
    if (!blockers.none()) {
      result.reasons.push_back("lastout holds it: " + blockers.sentence());
      add(result, blockers.objects);
    } else {
      refused(slot, &Interception::onUpdate, "lastout cannot let it go: ", result);
    }
  }

  // The finalizers of deletion policies.
  void explainPolicies(Slot slot, StillThere& result) const {
    for (const cluster::PolicyDenial& one : cluster::policyHolds(model_, state_, slot)) {
      if (std::ranges::find(result.reasons, one.denial.message) != result.reasons.end()) continue;
      result.reasons.push_back(one.denial.message);
      add(result, one.because);
    }
    refused(slot, &Interception::onUpdate, "lastout cannot let it go: ", result);
  }

  void explainFinalizer(Slot slot, uint16_t mask, const std::string& finalizer, StillThere& result) const {
    bool anybody = false;
    for (const cluster::Removal& removal : model_.slots[slot].removals) {
      if (removal.bit != mask) continue;
      anybody = true;
      const cluster::FinalizerController& controller = model_.controllers[removal.controller];
      const std::string who =
          "finalizer " + finalizer + " is for controller " + controller.name + " to remove";
      if (cluster_.hasReadyPod(controller.runsIn) && !cluster_.works(controller)) {
        result.reasons.push_back(who + ", which may do nothing without " +
                                 final_.missingRight(controller.runsIn));
      } else if (!cluster_.hasReadyPod(controller.runsIn)) {
        const bool there = cluster_.isPresent(controller.runsIn);
        const DeadCalls why = final_.whyNotStarted(controller.runsIn);
        result.reasons.push_back(who + ", and " + names_.of(controller.runsIn) +
                                 (there ? ", where it runs, has no Ready Pod" : ", where it ran, is gone") +
                                 why.sentence);
        add(result, why.configurations);
      }
      refused(slot, cluster::requestOfRemoval(model_.slots[slot], removal),
              who + ", whose UPDATE is refused: ", result);
      explainNeeds(removal, who + "; " + controller.name, result);
    }
    if (!anybody) explainNobody(slot, finalizer, result);
  }

  void explainNobody(Slot slot, const std::string& finalizer, StillThere& result) const {
    const std::string nobody = "nobody here removes its finalizer " + finalizer;
    const std::string lookedFor = whatWasLookedFor(model_.slots[slot].key.type, finalizer);
    if (!refused(slot, &Interception::onUpdate, nobody + ", and a removal by hand is refused: ", result) ||
        !lookedFor.empty())
      result.reasons.push_back(nobody + lookedFor);
  }

  // ": no CriticalService, ..."; empty: a scenario says who removes what.
  std::string whatWasLookedFor(const kube::GroupResource& type, const std::string& finalizer) const {
    const auto found = std::ranges::find_if(unremoved_, [&](const UnremovedFinalizer& one) {
      return one.from == type && one.finalizer == finalizer;
    });
    return found == unremoved_.end() ? std::string() : ": " + found->lookedFor;
  }

  // What the controller lacks for this object, and what it waits for.
  void explainNeeds(const cluster::Removal& removal, const std::string& who, StillThere& result) const {
    for (const cluster::RemovalNeeds::Need& need : removal.needs.needs) {
      if (!cluster_.isMet(need.ways)) result.reasons.push_back(who + " needs " + final_.missing(need));
    }
    wait(result, who + " waits for ", final_.presentOf(removal.needs.waitsFor));
  }

  // --- what nobody deletes

  void explainLive(Slot slot, StillThere& result) const {
    const bool asked = final_.isAskedFor(slot);
    const Happening* denial = final_.lastDenial(slot);
    const std::string denied =
        asked || denial != nullptr ? "its deletion is denied: " : "its deletion would be denied: ";
    const VerdictBlockers blockers = blockersOf(
        machine_, state_, slot, denial == nullptr ? Asker{} : askerOf(model_, denial->action, denial->event));
    if (!blockers.none()) {
      result.reasons.push_back(denied + blockers.sentence());
      add(result, blockers.objects);
    }
    if (kube::isImmortal(model_.slots[slot].key))
      result.reasons.push_back(
          denied + "no API server deletes the Namespaces " +
          kube::listed({kube::kImmortalNamespaces.begin(), kube::kImmortalNamespaces.end()}));
    refused(slot, &Interception::onDelete, askedBy(slot, denied), result);
    explainRelease(slot, result);
    if (asked && result.reasons.empty())
      explainOwners(slot, result, "lastout waits with its deletion", false);
    if (asked || explainTurn(slot, result)) return;
    if (denial != nullptr) {
      const bool isAgent = denial->event.actor == cluster::Actor::Agent;
      result.reasons.push_back(
          (result.reasons.empty() ? "nothing would deny its deletion now, but nobody asks: "
                                  : "nobody asks for it any more: ") +
          actorName(model_, names_, denial->event.actor, denial->event.by) + " was denied " + when_(*denial) +
          (isAgent ? ", and has forgotten it" : ", and does not ask again"));
    }
    explainOwners(slot, result, "the garbage collector leaves it alone", true);
    if (std::ranges::any_of(model_.slots[slot].owners, &cluster::OwnerLink::unresolved))
      result.reasons.push_back(
          "the garbage collector leaves it alone because it cannot look for one of its owners: no API server "
          "serves that type in that version, or the owner is in a namespace and the object is not");
    if (denial != nullptr || !result.waitsFor.empty()) return;
    result.isUnasked = result.reasons.empty();
    result.reasons.emplace_back(kUnasked);
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
  bool explainTurn(Slot slot, StillThere& result) const {
    const Slot space = model_.slots[slot].namespaceSlot;
    if (!cluster_.isTerminating(space) || model_.slots[slot].kind == SlotKind::Pod ||
        !cluster::awaitsPods(cluster_, space))
      return false;
    wait(result, "its namespace deletes it after its Pods, and waits for ",
         final_.presentOf(model_.slots[space].children));
    return true;
  }

  void explainOwners(Slot slot, StillThere& result, const std::string& who, bool terminating) const {
    const std::vector<Slot> owners = final_.ownersOf(slot, terminating);
    if (owners.empty()) return;
    const bool one = owners.size() == 1;
    result.reasons.push_back(who + " because its " + (one ? "owner " : "owners ") + names_.list(owners) +
                             (one ? " is" : " are") + " still there");
    add(result, owners);
  }

  // --- parts

  // Adds a reason for the request that webhooks refuse; false: none does. `who`: ends before the webhooks.
  bool refused(Slot slot, bool Interception::*request, const std::string& who, StillThere& result) const {
    const DeadCalls dead = deadCalls(cluster_, names_, slot, request);
    if (dead.sentence.empty()) return false;
    add(result, dead.configurations);
    for (std::string& reason : result.reasons) {
      if (joinRefusal(reason, who, dead.sentence)) return true;
    }
    result.reasons.push_back(who + dead.sentence);
    return true;
  }

  // Joins two requests that the same webhooks refuse into one reason. Returns false if the reason is another.
  static bool joinRefusal(std::string& reason, const std::string& who, const std::string& webhooks) {
    if (!reason.ends_with(": " + webhooks)) return false;
    const std::string told = reason.substr(0, reason.size() - webhooks.size());
    const std::string joined = std::string(kAnd) + who;
    if (told != who && !told.ends_with(joined))
      reason = told.substr(0, told.size() - std::string_view(": ").size()) + joined + webhooks;
    return true;
  }

  void wait(StillThere& result, const std::string& text, const std::vector<Slot>& slots) const {
    if (slots.empty()) return;
    result.reasons.push_back(text + names_.list(slots));
    add(result, slots);
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
             !isWaitedFor(each.object) && !final_.ownersOf(each.object, true).empty();
    };
    while (true) {
      const auto found = std::find_if(result.objects.begin(), result.objects.end(), follows);
      if (found == result.objects.end()) return;
      result.objects.erase(found);
    }
  }

  static void add(StillThere& result, const std::vector<Slot>& slots) {
    for (const Slot slot : slots) {
      if (std::find(result.waitsFor.begin(), result.waitsFor.end(), slot) == result.waitsFor.end())
        result.waitsFor.push_back(slot);
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
  const std::span<const UnremovedFinalizer> unremoved_;
  const MomentOf& when_;
};

}  // namespace

Stuckness explainStuck(const cluster::Machine& machine, const Names& names, std::span<const Slot> goal,
                       std::vector<uint64_t> state, std::span<const Happening> log,
                       std::span<const UnremovedFinalizer> unremoved, const MomentOf& when) {
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

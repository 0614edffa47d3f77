#include "tests/properties/run_check.h"

#include <algorithm>

#include "tests/properties/machine_rules.h"
#include "tests/properties/plain_mirror.h"
#include "tests/properties/verdicts.h"

namespace lastout::testing {

namespace {

using cluster::Action;
using cluster::Machine;
using cluster::Model;
using cluster::Slot;

class RunCheck {
 public:
  RunCheck(const Machine& machine, uint64_t seed, bool forges, Coverage& coverage)
      : machine_(machine),
        forges_(forges),
        coverage_(coverage),
        walk_(machine, seed),
        random_(seed ^ 0x5bd1e995),
        mirror_(machine.model(), walk_.after(), seed),
        plain_(machine.model(), walk_.after()) {
    const Model& model = machine.model();
    for (Slot slot = 0; slot < model.slots.size(); ++slot) {
      if (!model.slots[slot].guardEntries.empty()) guarded_.push_back(slot);
    }
  }

  RunResult run() {
    RunResult result;
    result.failure = checkVerdicts(allSlots());
    bool lastBegan = false;
    while (result.failure.empty() && forgeAndGoOn()) {
      if (!lastBegan && isLastStep()) {
        lastBegan = true;
        result.leftBeforeLast = leftIn(walk_.before());
      }
      result.othersRefused = result.othersRefused || othersRefuse();
      result.givenUp = result.givenUp || isGivenUp();
      if (result.goneEarly.empty()) result.goneEarly = goneEarly();
      result.failure = checkAction();
    }
    if (result.failure.empty()) result.failure = checkEnd();
    result.unsafe = (walk_.after().monitors() & cluster::kUnsafeBit) != 0;
    result.left = leftIn(walk_.after());
    if (requests_.ranForged() > 0) coverage_.count("forged entry, run");
    return result;
  }

 private:
  // Only for objects that a CriticalService guards: other entries are ignored.
  bool forgeAndGoOn() {
    const Model& model = machine_.model();
    if (forges_ && random_.below(12) == 0 && !guarded_.empty()) {
      const Slot slot = guarded_[random_.below(static_cast<uint32_t>(guarded_.size()))];
      const cluster::ObjectState object = walk_.after().object(slot);
      const bool isRecorded = std::ranges::any_of(
          model.deferredByService,
          [&](const std::vector<Slot>& slots) { return std::ranges::count(slots, slot) > 0; });
      if (object.live() && !object.deferredDeletion && isRecorded) {
        walk_.forge(slot, static_cast<cluster::PropagationPolicy>(random_.below(3)));
        requests_.noteForged(slot);
        coverage_.count("forged entry");
      }
    }
    return walk_.next();
  }

  bool isLastStep() const {
    return walk_.action().kind == Action::Kind::Send &&
           machine_.model().steps[walk_.action().a].document == 1;
  }

  bool othersRefuse() const {
    return std::any_of(walk_.events().begin(), walk_.events().end(), [](const cluster::ClusterEvent& event) {
      return event.kind == cluster::EventKind::Denied && event.actor == cluster::Actor::Agent &&
             event.refused != nullptr && event.refused == std::string_view("InternalError");
    });
  }

  // BestEffortDeletion and OrphanResources say that what was deferred need not be run: it was
  // forgotten with a CriticalService that says so, or as it came to say so.
  bool isGivenUp() const {
    const auto concernsOne = [&](const cluster::ClusterEvent& event) {
      const bool ends = event.kind == cluster::EventKind::Gone || event.kind == cluster::EventKind::Changed;
      const auto intentIn = [&](const cluster::StateRef& state) {
        return static_cast<criticalservice::DeletionIntent>(state.object(event.slot).value);
      };
      return ends && machine_.model().slots[event.slot].kind == cluster::SlotKind::CriticalService &&
             (intentIn(walk_.before()) != criticalservice::DeletionIntent::Ordered ||
              intentIn(walk_.after()) != criticalservice::DeletionIntent::Ordered);
    };
    if (!std::any_of(walk_.events().begin(), walk_.events().end(), concernsOne)) return false;
    for (Slot slot = 0; slot < machine_.model().slots.size(); ++slot) {
      const cluster::ObjectState after = walk_.after().object(slot);
      if (walk_.before().object(slot).deferredDeletion && after.live() && !after.deferredDeletion)
        return true;
    }
    return false;
  }

  // Left out are works that bring lastout itself, that own what another owner holds back, or what nobody
  // guards and the agent has forgotten: only the garbage collector deletes that, and only once the work is
  // gone.
  std::string goneEarly() const {
    for (const cluster::ClusterEvent& event : walk_.events()) {
      if (event.kind != cluster::EventKind::Gone) continue;
      const cluster::SlotInfo& work = machine_.model().slots[event.slot];
      if (work.kind != cluster::SlotKind::AppliedManifestWork) continue;
      const auto isExempt = [&](Slot slot) {
        return isLastoutsOwn(slot) || isHeldBack(slot, event.slot) || isForgotten(slot, event.slot);
      };
      if (std::any_of(work.dependents.begin(), work.dependents.end(), isExempt)) continue;
      for (const Slot applied : work.dependents) {
        if (isOwned(applied, event.slot) && !isUnseen(applied) &&
            verdictByTheDocument(plain_.cluster(), machine_.model().slots[applied].key).guarded)
          return machine_.model().name(event.slot) + " before " + machine_.model().name(applied);
      }
    }
    return {};
  }

  // It is being deleted, and of a type that lastout does not follow: a finalizer of its own keeps it.
  bool isUnseen(Slot slot) const {
    const auto isThere = [&](uint32_t service) {
      return walk_.before().object(machine_.model().services[service]).present();
    };
    const cluster::SlotInfo& info = machine_.model().slots[slot];
    return info.kind == cluster::SlotKind::Plain && !walk_.before().object(slot).live() &&
           std::none_of(info.followers.begin(), info.followers.end(), isThere);
  }

  bool isLastoutsOwn(Slot slot) const {
    const kube::ObjectKey& key = machine_.model().slots[slot].key;
    const std::optional<kube::ObjectKey>& home = machine_.model().lastoutNamespace;
    return (home && (key == *home || key.namespaceName == home->name)) ||
           key == kube::crdKey(criticalservice::criticalServiceType());
  }

  bool isOwned(Slot slot, Slot owner) const {
    const std::vector<cluster::OwnerLink>& owners = machine_.model().slots[slot].owners;
    const cluster::ObjectState object = walk_.before().object(slot);
    for (size_t i = 0; i < owners.size(); ++i) {
      if (object.present() && owners[i].owner == owner && object.owner(i) == cluster::OwnerState::Current)
        return true;
    }
    return false;
  }

  bool isForgotten(Slot slot, Slot work) const {
    const cluster::SlotKind kind = machine_.model().slots[slot].kind;
    return isOwned(slot, work) && walk_.before().object(slot).live() &&
           kind != cluster::SlotKind::Namespace && kind != cluster::SlotKind::CriticalService &&
           !verdictByTheDocument(plain_.cluster(), machine_.model().slots[slot].key).guarded;
  }

  bool isHeldBack(Slot slot, Slot work) const {
    const std::vector<cluster::OwnerLink>& owners = machine_.model().slots[slot].owners;
    return isOwned(slot, work) &&
           std::any_of(owners.begin(), owners.end(), [&](const cluster::OwnerLink& link) {
             return link.owner != work && link.owner != cluster::kNone && isOwned(slot, link.owner) &&
                    walk_.before().object(link.owner).live();
           });
  }

  std::vector<Slot> allSlots() const {
    std::vector<Slot> slots(machine_.model().slots.size());
    for (Slot slot = 0; slot < slots.size(); ++slot) slots[slot] = slot;
    return slots;
  }

  std::vector<std::string> leftIn(const cluster::StateRef& state) const {
    std::vector<std::string> names;
    for (Slot slot = 0; slot < machine_.model().slots.size(); ++slot) {
      if (state.object(slot).present()) names.push_back(machine_.model().name(slot));
    }
    return names;
  }

  std::string checkAction() {
    coverage_.count(walk_);
    if (std::string broken = brokenRule(walk_); !broken.empty()) return broken;
    if (std::string broken = safety_.broken(walk_, plain_.cluster()); !broken.empty()) return broken;
    if (std::string broken = requests_.broken(walk_); !broken.empty()) return broken;
    if ((walk_.after().monitors() & cluster::kUnsafeBit) != 0 && machine_.model().confirms)
      return "the machine says UNSAFE in action " + std::to_string(walk_.count());
    if (walk_.changed()) {
      mirror_.follow(walk_.after(), walk_.changedSlots());
      plain_.follow(walk_.after(), walk_.changedSlots());
      if (random_.below(16) == 0) {
        if (std::string broken = checkPurity(); !broken.empty()) return broken;
      }
      if (std::string broken = checkVerdicts(chosenSlots()); !broken.empty()) return broken;
    }
    const size_t bound = 20'000 + 400 * machine_.model().slots.size();
    return walk_.count() > bound ? "still changing after " + std::to_string(bound) + " actions" : "";
  }

  // What the last action was about, and a few others; now and then all that are guarded.
  std::vector<Slot> chosenSlots() {
    if (random_.below(32) == 0) return guarded_;
    std::vector<Slot> slots = walk_.changedSlots();
    if (slots.size() > 2) slots.resize(2);
    slots.push_back(random_.below(static_cast<uint32_t>(machine_.model().slots.size())));
    for (int i = 0; i < 2 && !guarded_.empty(); ++i)
      slots.push_back(guarded_[random_.below(static_cast<uint32_t>(guarded_.size()))]);
    return slots;
  }

  std::string checkVerdicts(const std::vector<Slot>& slots) {
    for (const Slot slot : slots) {
      std::string found = disagreement(machine_, walk_.after(), mirror_, plain_.cluster(), slot);
      if (!found.empty()) return found + " (after action " + std::to_string(walk_.count()) + ")";
    }
    return {};
  }

  // The machine is a function of the state: no list has an action twice, its order never changes, nobody's
  // listening changes what happens, and the state survives being read and written back.
  std::string checkPurity() {
    std::vector<uint64_t> words(walk_.before().words().begin(), walk_.before().words().end());
    const cluster::StateRef state(words.data(), machine_.layout());
    std::vector<Action> before;
    machine_.enabled(state, before);
    machine_.apply(state, walk_.action(), nullptr);
    if (words != walk_.words()) return "an action does something else when nobody listens to its events";
    rewrite(state);
    if (words != walk_.words()) return "a state does not survive being written back";
    std::vector<Action> again;
    machine_.enabled(state, again);
    if (again != walk_.enabled()) return "equal states have different actions";
    return checkOrder(before, again);
  }

  void rewrite(cluster::StateRef state) const {
    const Model& model = machine_.model();
    for (Slot slot = 0; slot < model.slots.size(); ++slot) state.setObject(slot, state.object(slot));
    for (uint32_t i = 0; i < model.works.size(); ++i) state.setWork(i, state.work(i));
    for (uint32_t i = 0; i < model.steps.size(); ++i) state.setStep(i, state.step(i));
    for (uint32_t i = 0; i < model.links.size(); ++i) state.setLink(i, state.link(i));
  }

  static std::string checkOrder(const std::vector<Action>& before, const std::vector<Action>& after) {
    size_t from = 0;  // of `after`: everything common so far stands before
    for (size_t i = 0; i < before.size(); ++i) {
      if (std::find(before.begin() + static_cast<ptrdiff_t>(i) + 1, before.end(), before[i]) != before.end())
        return "an action is listed twice";
      const auto found = std::find(after.begin(), after.end(), before[i]);
      if (found == after.end()) continue;
      const auto place = static_cast<size_t>(found - after.begin());
      if (place < from) return "two actions change places from one state to the next";
      from = place + 1;
    }
    return {};
  }

  std::string checkEnd() {
    if (std::string found = checkVerdicts(allSlots()); !found.empty()) return found;
    const std::vector<Slot> slots = guarded_.empty() ? allSlots() : guarded_;
    const Slot slot = slots[random_.below(static_cast<uint32_t>(slots.size()))];
    if (std::string found =
            disagreementWhenUnsure(machine_.model(), mirror_, plain_.cluster(), slot, coverage_);
        !found.empty())
      return "when unsure: " + found;
    if (machine_.model().slots.size() > 60 && random_.below(8) != 0) return {};
    const std::string followed = mirror_.text();
    const std::string fresh = mirror_.rebuilt(walk_.after(), random_.next()).text();
    if (followed != fresh)
      return "a graph that followed every change differs from one built afresh:\n" + followed + "---\n" +
             fresh;
    return {};
  }

  const Machine& machine_;
  const bool forges_;
  Coverage& coverage_;
  Walk walk_;
  replay::Random random_;
  GraphMirror mirror_;
  PlainMirror plain_;  // of the state after the last change
  SafetyWatch safety_;
  RequestWatch requests_;
  std::vector<Slot> guarded_;
};

}  // namespace

RunResult checkRun(const ClusterSpec& spec, uint64_t seed, Coverage& coverage) {
  const auto model = toModel(spec);
  if (!model)
    return {.failure = "the cluster cannot be built: " + kube::toString(model.error().front()),
            .built = false};
  if (model->slots.empty()) return {};
  const Machine machine(*model);
  return RunCheck(machine, seed, spec.forges && spec.runsDeferredDeletions, coverage).run();
}

std::string traceOf(const ClusterSpec& spec, uint64_t seed) {
  const auto model = toModel(spec);
  if (!model) return kube::toString(model.error().front());
  const Machine machine(*model);
  Walk walk(machine, seed);
  std::string trace;
  const auto add = [&](uint64_t number) { trace += std::to_string(number) + " "; };
  while (walk.next()) {
    const Action& action = walk.action();
    for (const auto part :
         {static_cast<uint32_t>(action.kind), static_cast<uint32_t>(action.actor), action.a, action.b})
      add(part);
    for (const cluster::ClusterEvent& event : walk.events()) {
      for (const auto part : {static_cast<uint32_t>(event.kind), static_cast<uint32_t>(event.actor),
                              event.slot, event.by, event.verdict.unmet})
        add(part);
      if (event.refused != nullptr) trace += event.refused;
    }
    for (const uint64_t word : walk.words()) add(word);
    trace += "\n";
  }
  return trace;
}

}  // namespace lastout::testing

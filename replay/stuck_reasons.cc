#include "replay/stuck_reasons.h"

#include <algorithm>
#include <string_view>

#include "replay/dead_calls.h"

namespace lastout::replay {
namespace {

using cluster::Interception;
using cluster::Slot;

constexpr std::string_view kAnd = ", and ";  // joins two requests that the same webhooks refuse

// Joins two requests that the same webhooks refuse into one reason. Returns false if the reason is another.
bool joinRefusal(std::string& reason, const std::string& who, const std::string& webhooks) {
  if (!reason.ends_with(": " + webhooks)) return false;
  const std::string told = reason.substr(0, reason.size() - webhooks.size());
  const std::string joined = std::string(kAnd) + who;
  if (told != who && !told.ends_with(joined))
    reason = told.substr(0, told.size() - std::string_view(": ").size()) + joined + webhooks;
  return true;
}

}  // namespace

void Reasons::sayOnce(const std::string& reason) {
  if (std::ranges::find(result_.reasons, reason) == result_.reasons.end()) say(reason);
}

void Reasons::blame(const std::vector<cluster::Slot>& objects) {
  for (const cluster::Slot object : objects) {
    if (std::ranges::find(result_.waitsFor, object) == result_.waitsFor.end())
      result_.waitsFor.push_back(object);
  }
}

void Reasons::wait(const std::string& text, const std::vector<cluster::Slot>& objects) {
  if (objects.empty()) return;
  say(text + names_.list(objects));
  blame(objects);
}

bool Reasons::refused(cluster::Slot object, bool cluster::Interception::*request, const std::string& who) {
  const DeadCalls dead = deadCalls(final_.cluster(), names_, object, request);
  if (dead.sentence.empty()) return false;
  blame(dead.configurations);
  for (std::string& reason : result_.reasons) {
    if (joinRefusal(reason, who, dead.sentence)) return true;
  }
  say(who + dead.sentence);
  return true;
}

void Reasons::sayUnasked() {
  result_.isUnasked = none();
  say(kUnasked);
}

// --- finalizers that a controller, or nobody, removes

void FinalizerReasons::explain(Slot slot, size_t index, Reasons& reasons) const {
  const std::string& finalizer = model_.slots[slot].finalizers[index];
  const auto bit = static_cast<uint16_t>(1U << index);
  bool anybody = false;
  bool isOneOfSeveral = false;
  for (const cluster::Removal& removal : model_.slots[slot].removals) {
    if (removal.bit != bit || !removal.isCandidate()) continue;
    anybody = true;
    const bool isKnown = removal.needs.candidates.size() < 2;
    isOneOfSeveral = isOneOfSeveral || !isKnown;
    explainController(slot, removal,
                      "finalizer " + finalizer + (isKnown ? " is" : " may be") + " for controller " +
                          model_.controllers[removal.controller].name + " to remove",
                      reasons);
  }
  if (isOneOfSeveral && !reasons.none())
    reasons.say("several controllers may remove finalizer " + finalizer +
                "; a CriticalService or a scenario can say which one it is");
  if (!anybody) explainNobody(slot, finalizer, reasons);
}

// `who`: "finalizer f is for controller c to remove".
void FinalizerReasons::explainController(Slot slot, const cluster::Removal& removal, const std::string& who,
                                         Reasons& reasons) const {
  const cluster::FinalizerController& controller = model_.controllers[removal.controller];
  const Slot workload = controller.runsIn;
  if (!cluster_.hasReadyPod(workload)) {
    const DeadCalls why = final_.whyNotStarted(workload);
    const char* state = cluster_.isPresent(workload)            ? ", where it runs, has no Ready Pod"
                        : model_.slots[workload].presentAtStart ? ", where it ran, is gone"
                                                                : ", where it would run, is not there";
    reasons.say(who + ", and " + names_.of(workload) + state + why.sentence);
    reasons.blame(why.configurations);
  } else if (!cluster_.works(controller)) {
    reasons.say(who + ", which may do nothing without " + final_.missingRight(workload));
  }
  reasons.refused(slot, removal.request, who + ", whose UPDATE is refused: ");
  explainNeeds(removal, who + "; " + controller.name, reasons);
}

// Says what the controller needs for this object and does not have, and what it waits for.
void FinalizerReasons::explainNeeds(const cluster::Removal& removal, const std::string& who,
                                    Reasons& reasons) const {
  for (const cluster::RemovalNeeds::Need& need : removal.needs.needs) {
    if (!cluster_.isMet(need.ways)) reasons.say(who + " needs " + final_.missing(need));
  }
  reasons.wait(who + " waits for ", final_.presentOf(removal.needs.waitsFor));
  const Slot job = removal.needs.reportsTo;
  if (job != cluster::kNone && cluster_.isLive(job))
    reasons.refused(job, &Interception::onCleanup,
                    who + " writes the status of " + names_.of(job) + " first, and that is refused: ");
}

void FinalizerReasons::explainNobody(Slot slot, const std::string& finalizer, Reasons& reasons) const {
  const std::string nobody = "nobody here removes its finalizer " + finalizer;
  const std::string lookedFor = whatWasLookedFor(model_.slots[slot].key.type, finalizer);
  if (!reasons.refused(slot, &Interception::onUpdate, nobody + ", and a removal by hand is refused: ") ||
      !lookedFor.empty())
    reasons.say(nobody + lookedFor);
}

// ": no CriticalService, ..."; empty: a scenario says who removes what already.
std::string FinalizerReasons::whatWasLookedFor(const kube::GroupResource& type,
                                               const std::string& finalizer) const {
  const auto found = std::ranges::find_if(unremoved_, [&](const criticalservice::UnremovedFinalizer& one) {
    return one.from == type && one.finalizer == finalizer;
  });
  if (found == unremoved_.end()) return {};
  return ": " + found->lookedFor + "; a scenario can name the controller";
}

}  // namespace lastout::replay

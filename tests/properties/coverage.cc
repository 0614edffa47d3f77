#include "tests/properties/coverage.h"

#include <iterator>

#include "admission/explain.h"

namespace lastout::testing {

namespace {

using admission::Reason;
using cluster::Action;
using cluster::ClusterEvent;
using cluster::EventKind;

constexpr const char* kKinds[] = {"Send",
                                  "Confirm",
                                  "Commit",
                                  "AgentStep",
                                  "CollectorDelete",
                                  "CollectorRelease",
                                  "CrdInstances",
                                  "CrdFinish",
                                  "NamespaceDelete",
                                  "NamespaceFinish",
                                  "WorkloadSync",
                                  "PodReady",
                                  "PodStop",
                                  "ClaimRelease",
                                  "VolumeRelease",
                                  "DeleteFinished",
                                  "ReplicaSetWork",
                                  "ReplicaSetFinish",
                                  "DeleteDeferred",
                                  "KeepWork",
                                  "HoldProvider",
                                  "WriteLabels",
                                  "DeleteHeld",
                                  "Confirmation",
                                  "LetGo",
                                  "Finalize"};
constexpr const char* kActors[] = {"Client",     "Agent",      "Collector",   "Lifecycle",
                                   "CrdCleanup", "Workloads",  "Kubelet",     "Claims",
                                   "Finalizers", "TimeToLive", "ReplicaSets", "Lastout"};
constexpr const char* kVerbs[] = {"Delete", "Create", "SetFinalizers", "SetForm", "SetReplicas", "SetIntent"};

static_assert(std::size(kKinds) == static_cast<size_t>(Action::Kind::Finalize) + 1);
static_assert(std::size(kActors) == static_cast<size_t>(cluster::Actor::Lastout) + 1);

std::string nameOf(Reason reason) { return "reason " + std::string(toString(reason)); }

}  // namespace

std::string kindOf(const Action& action) {
  return std::string(kKinds[static_cast<size_t>(action.kind)]) + " by " +
         kActors[static_cast<size_t>(action.actor)];
}

void Coverage::count(const Walk& walk) {
  const Action& action = walk.action();
  const std::string what = kindOf(action);
  count(what);
  if (action.kind == Action::Kind::Send) {
    const cluster::ClientStep& step = walk.machine().model().steps[action.a];
    count(std::string("step ") + (step.dryRun ? "DryRun" : kVerbs[static_cast<size_t>(step.verb)]));
  }
  const bool review = action.kind == Action::Kind::Confirm || action.kind == Action::Kind::Commit;
  if (review && walk.events().empty()) count(what + ", goes on");
  for (const ClusterEvent& event : walk.events()) {
    const uint16_t held = walk.machine().model().slots[event.slot].heldBit;
    if (event.kind == EventKind::Accepted && (walk.after().finalizers(event.slot) & held) != 0)
      count("held and deleted");
    if (event.kind != EventKind::Denied) continue;
    if (event.refused != nullptr) {
      count(std::string("refused ") + event.refused);
    } else {
      count(what + ", denied");
      // All types are known here: what is unknown means nothing.
      if (event.verdict.reason == Reason::CriterionUnknown) count("denied for a slip");
      count(event.verdict.reason);
    }
  }
}

void Coverage::count(admission::Reason reason) { count(nameOf(reason)); }

std::string Coverage::missing() const {
  std::vector<std::string> wanted{"Send by Client",
                                  "AgentStep by Agent",
                                  "CollectorDelete by Collector",
                                  "CollectorRelease by Collector",
                                  "CrdInstances by CrdCleanup",
                                  "CrdFinish by CrdCleanup",
                                  "NamespaceDelete by Lifecycle",
                                  "NamespaceFinish by Lifecycle",
                                  "WorkloadSync by Workloads",
                                  "PodReady by Kubelet",
                                  "PodStop by Kubelet",
                                  "ClaimRelease by Claims",
                                  "DeleteDeferred by Lastout",
                                  "KeepWork by Lastout",
                                  "HoldProvider by Lastout",
                                  "held and deleted",
                                  "denied for a slip",
                                  "forged entry",
                                  "forged entry, run",
                                  "Finalize by Finalizers",
                                  "step DryRun",
                                  "refused NotFound",
                                  "refused AlreadyExists",
                                  "refused Forbidden",
                                  "refused MethodNotAllowed",
                                  "refused Invalid",
                                  "refused InternalError",
                                  "refused Conflict"};
  for (const char* verb : kVerbs) wanted.push_back(std::string("step ") + verb);
  for (const Reason reason : {Reason::ServicesUnknown, Reason::ProviderPresent, Reason::ProviderUnknown,
                              Reason::CriterionUnmet, Reason::CriterionUnknown, Reason::ServicesLeft})
    wanted.push_back(nameOf(reason));
  return missingOf(wanted);
}

std::string Coverage::missingReviews() const {
  std::vector<std::string> wanted{"Send by Client, denied", "AgentStep by Agent, denied",
                                  "CollectorDelete by Collector, denied",
                                  "NamespaceDelete by Lifecycle, denied"};
  for (const char* actor : {"Client", "Agent", "Collector", "Lifecycle", "Lastout"}) {
    for (const char* phase : {"Confirm by ", "Commit by "}) {
      wanted.push_back(std::string(phase) + actor);
      // Its commit is never reviewed again: it insists on what was.
      if (actor == std::string_view("Lastout") && phase == std::string_view("Commit by ")) continue;
      wanted.push_back(std::string(phase) + actor + ", denied");
      wanted.push_back(std::string(phase) + actor + ", goes on");
    }
  }
  return missingOf(wanted);
}

std::string Coverage::missingOf(const std::vector<std::string>& wanted) const {
  std::string lines;
  for (const std::string& what : wanted) {
    if (!counts_.contains(what)) lines += what + "\n";
  }
  return lines;
}

std::string Coverage::text() const {
  std::string lines;
  for (const auto& [what, count] : counts_) lines += what + ": " + std::to_string(count) + "\n";
  return lines;
}

}  // namespace lastout::testing

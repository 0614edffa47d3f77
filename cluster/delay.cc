// How long things take, as recorded on a real cluster (docs/semantics.md, "The rules").
#include <algorithm>

#include "cluster/machine.h"
#include "cluster/transition.h"

namespace lastout::cluster {

namespace {

using Kind = Action::Kind;
using std::chrono::milliseconds;

// Recorded: 5 ms doubling with each refusal, up to 1,000 s.
milliseconds collectorDelay(const Timing& timing, uint32_t attempt) {
  if (attempt == 0) return timing.gcReact;
  const uint32_t doublings = std::min<uint32_t>(attempt - 1, 30);
  return std::min(timing.gcRetryMax, timing.gcRetryBase * (int64_t{1} << doublings));
}

milliseconds agentDelay(const Timing& timing, const Transition& transition, uint32_t work) {
  switch (agentTask(transition, work)) {
    case AgentTask::Apply:
      return agentAppliesNewObjects(transition, work) ? timing.agentReact : timing.agentResync;
    case AgentTask::Pass:
    case AgentTask::Forget:
      return timing.agentCall;
    default:
      return timing.agentReact;
  }
}

// From the moment at which it may finish; what has finished already counts from the start.
milliseconds lifeOf(const Timing& timing, const TimeToLive& timeToLive) {
  return timeToLive.afterFinished + (timeToLive.finishesAnyway ? milliseconds{0} : timing.jobRuns);
}

// Recorded for the garbage collector and the namespace controller, whose delays say it themselves; the work
// queues of Kubernetes' other controllers and of the agent double their delay in the same way. Clients, and
// lastout in what it does by itself, come back after the same time again.
bool doublesItsDelay(Kind kind) {
  switch (kind) {
    case Kind::AgentStep:
    case Kind::CollectorRelease:
    case Kind::CrdInstances:
    case Kind::CrdFinish:
    case Kind::NamespaceFinish:
    case Kind::WorkloadSync:
    case Kind::PodReady:
    case Kind::PodStop:
    case Kind::ClaimRelease:
    case Kind::VolumeRelease:
    case Kind::DeleteFinished:
    case Kind::ReplicaSetWork:
    case Kind::ReplicaSetFinish:
    case Kind::Finalize:
      return true;
    default:
      return false;
  }
}

constexpr milliseconds kLeastRetry{1};
constexpr uint32_t kMostDoublings = 20;

}  // namespace

bool isWokenByChange(const Action& action) {
  return action.kind == Kind::AgentStep || action.kind == Kind::WorkloadSync;
}

bool Machine::isWokenBy(const Action& action, const ClusterEvent& event) const {
  if (event.kind == EventKind::Requested || event.kind == EventKind::Denied) return false;
  const SlotInfo& changed = model_->slots[event.slot];
  const bool comesOrGoes =
      event.kind != EventKind::Changed;  // which concerns its content, and its dependents
  const auto contains = [&](Slot slot) {
    const SlotInfo& info = model_->slots[slot];
    return comesOrGoes && (info.namespaceSlot == event.slot || info.crd == event.slot);
  };
  if (action.kind == Kind::AgentStep) {
    const Work& work = model_->works[action.a];
    const auto isOfWork = [&](uint32_t link) { return model_->links[link].work == action.a; };
    if (changed.work == action.a || std::any_of(changed.links.begin(), changed.links.end(), isOfWork))
      return true;
    for (uint32_t link = work.firstLink; link < work.firstLink + work.linkCount; ++link) {
      if (contains(model_->links[link].object)) return true;
    }
    return false;
  }
  const auto names = [](const SlotInfo& info, Slot owner) {
    return std::any_of(info.owners.begin(), info.owners.end(),
                       [&](const OwnerLink& link) { return link.owner == owner; });
  };
  return event.slot == action.a || names(changed, action.a) || contains(action.a) ||
         (comesOrGoes && names(model_->slots[action.a], event.slot));
}

milliseconds Machine::retryDelay(StateRef state, const Action& action, uint32_t attempt) const {
  const milliseconds once = delay(state, action, attempt);
  if (!doublesItsDelay(action.kind)) return std::max(once, kLeastRetry);
  const milliseconds most = std::max(model_->timing.gcRetryMax, once);
  const milliseconds doubled = once * (int64_t{1} << std::min(attempt - 1, kMostDoublings));
  return std::max(std::min(most, doubled), kLeastRetry);
}

milliseconds Machine::delay(StateRef state, const Action& action, uint32_t attempt) const {
  const Timing& timing = model_->timing;
  switch (action.kind) {
    case Kind::Send:
      return attempt == 0 ? milliseconds{0} : timing.clientRetry;
    case Kind::Confirm:
      return timing.confirm;
    case Kind::Commit:
      return timing.commit;
    case Kind::AgentStep:
      return agentDelay(timing, Transition(*this, state, nullptr), action.a);
    case Kind::CollectorDelete:
      return collectorDelay(timing, attempt);
    case Kind::CollectorRelease:
      return timing.gcReact;
    case Kind::CrdInstances:
      return timing.crdInstances;
    case Kind::CrdFinish:
      return timing.crdPoll;
    case Kind::NamespaceDelete:
      return attempt == 0 ? timing.namespaceStart : timing.namespaceRetry;
    case Kind::NamespaceFinish:
      return timing.namespaceStart;
    case Kind::WorkloadSync:
      return timing.workloadSync;
    case Kind::PodReady:
      return timing.podReady;
    case Kind::PodStop:
      return timing.podStop;
    case Kind::ClaimRelease:
    case Kind::VolumeRelease:
      return timing.claimRelease;
    case Kind::DeleteFinished:
      return attempt == 0 ? lifeOf(timing, *model_->slots[action.a].timeToLive) : timing.workloadSync;
    case Kind::ReplicaSetWork:
    case Kind::ReplicaSetFinish:
      return timing.agentReact;
    case Kind::DeleteDeferred:
      return attempt == 0 ? timing.deferredDeletion : timing.deferredDeletionRetry;
    case Kind::KeepWork:
      return timing.keepWork;
    case Kind::WriteLabels: {
      const auto write = labelWriteOf(*model_, state, action.a);
      return timing.holdProvider + (write ? write->wait : milliseconds{0});
    }
    case Kind::DeleteHeld:
      return attempt == 0 ? timing.holdProvider : timing.deferredDeletionRetry;
    case Kind::HoldProvider:
    case Kind::Confirmation:
    case Kind::LetGo:
      return timing.holdProvider;
    case Kind::Finalize:
      return model_->controllers[action.b].takes;
  }
  return milliseconds{0};
}

}  // namespace lastout::cluster

// Objects that Kubernetes deletes some time after they have finished: a Job with ttlSecondsAfterFinished (the
// TTL controller), and a ManifestWork with deleteOption.ttlSecondsAfterFinished (a controller of the hub).
// The machine does not run what they do: from some moment on they may have finished (docs/semantics.md, "The
// rules").
#include <algorithm>
#include <cstdint>

#include "cluster/builder.h"
#include "cluster/transition.h"
#include "kube/pods.h"
#include "kube/value.h"
#include "manifestwork/manifest_work.h"

namespace lastout::cluster {

namespace {

std::optional<TimeToLive> ofJob(const kube::Value& job) {
  const int64_t* seconds = integerAt(job, {"spec", "ttlSecondsAfterFinished"});
  if (seconds == nullptr) return std::nullopt;
  const int64_t* completions = integerAt(job, {"spec", "completions"});
  const bool isOutOfTime =
      integerAt(job, {"spec", "activeDeadlineSeconds"}) != nullptr && !kube::isSuspended(job);
  return TimeToLive{
      .afterFinished = std::chrono::seconds(std::clamp<int64_t>(*seconds, 0, INT32_MAX)),
      .finishesAnyway = kube::hasEnded(job) || isOutOfTime || (completions != nullptr && *completions == 0)};
}

std::optional<TimeToLive> ofWork(const kube::Value& work) {
  const auto stored = manifestwork::timeToLiveOf(work);
  if (!stored) return std::nullopt;
  return TimeToLive{.afterFinished = std::chrono::seconds(stored->seconds),
                    .finishesAnyway = stored->isComplete};
}

// Some object has a finalizer that a controller in the Job is to take off: a clean-up ends when its work is
// done.
bool hasWorkLeft(const Transition& transition, Slot job) {
  const Model& model = transition.model();
  const auto runsHere = [&](const FinalizerController& controller) { return runsIn(model, controller, job); };
  if (std::ranges::none_of(model.controllers, runsHere)) return false;
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    for (const Removal& removal : transition.info(slot).removals) {
      if (runsHere(model.controllers[removal.controller]) &&
          (transition.state().finalizers(slot) & removal.bit) != 0)
        return true;
    }
  }
  return false;
}

// All that the work applies was applied: only then its agent can find it complete.
bool isApplied(const Transition& transition, const Work& work) {
  if (!transition.isLive(work.applied)) return false;
  for (uint32_t link = work.firstLink; link < work.firstLink + work.linkCount; ++link) {
    const LinkState state = transition.state().link(link);
    if (!state.recorded || state.stale || !transition.isPresent(transition.model().links[link].object))
      return false;
  }
  return true;
}

}  // namespace

bool runsIn(const Model& model, const FinalizerController& controller, Slot job) {
  if (controller.runsIn == kNone || controller.runsIn == job) return controller.runsIn == job;
  const SlotInfo& info = model.slots[controller.runsIn];
  return info.kind == SlotKind::CronJob && std::ranges::find(info.children, job) != info.children.end();
}

void wireTimeToLive(Builder& builder) {
  for (Slot slot = 0; slot < builder.model.slots.size(); ++slot) {
    SlotInfo& info = builder.model.slots[slot];
    const kube::Value* content = builder.content(slot);
    if (content == nullptr) continue;
    if (info.kind == SlotKind::Job) info.timeToLive = ofJob(*content);
    if (info.kind == SlotKind::ManifestWork && info.work != kNone) info.timeToLive = ofWork(*content);
  }
}

bool hasOutlivedItself(const Transition& transition, Slot slot) {
  const SlotInfo& info = transition.info(slot);
  if (!info.timeToLive || !transition.isLive(slot)) return false;
  if (info.timeToLive->finishesAnyway) return true;
  if (info.kind == SlotKind::ManifestWork) return isApplied(transition, transition.model().works[info.work]);
  return transition.hasReadyPod(slot) && !hasWorkLeft(transition, slot);
}

void deleteFinished(Transition& transition, Slot slot) {
  DeleteRequest request{.actor = Actor::TimeToLive, .by = kNone, .slot = slot, .policy = {}};
  // pkg/controller/ttlafterfinished of Kubernetes: in the foreground, and of this very Job.
  if (transition.info(slot).kind == SlotKind::Job) {
    request.policy = PropagationPolicy::Foreground;
    request.precondition = Precondition::Uid;
  }
  transition.sendAtOnce(request);
}

}  // namespace lastout::cluster

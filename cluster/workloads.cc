// Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs: from replicas to Pods, one change at a time.
//
// A Pod's slot stands for "the Pod at this place"; a replacement takes the same slot once the old Pod is
// gone.
#include <algorithm>

#include "cluster/transition.h"

namespace lastout::cluster {

namespace {

enum class Task : uint8_t { None, Adopt, Create, Delete, Scale };

struct WorkloadChange {
  Task task = Task::None;
  Slot child = kNone;
};

// Which of the child's owner links is this workload.
size_t ownerIndex(const Transition& transition, Slot workload, Slot child) {
  const std::vector<OwnerLink>& owners = transition.info(child).owners;
  const auto found = std::find_if(owners.begin(), owners.end(),
                                  [&](const OwnerLink& link) { return link.owner == workload; });
  return static_cast<size_t>(found - owners.begin());
}

// How many children there should be now; of a Deployment's ReplicaSets the first is the current one.
size_t wanted(const Transition& transition, Slot workload, const ObjectState& object) {
  return transition.info(workload).kind == SlotKind::Deployment ? 1 : object.value;
}

DeleteRequest childRequest(Slot child) {
  return {.actor = Actor::Workloads, .by = kNone, .slot = child, .policy = PropagationPolicy::Background};
}

// A StatefulSet makes no Pod while a claim of it terminates. Others do, but a scheduler gives such a Pod no
// Node, so that it does not use the claim: it counts as made once the claim is gone.
bool waitsForClaims(const Transition& transition, Slot pod) {
  return std::ranges::any_of(transition.info(pod).claims,
                             [&](Slot claim) { return transition.isTerminating(claim); });
}

// What is refused comes last: it is asked for again and again, and keeps nothing else from being done.
WorkloadChange nextTask(const Transition& transition, Slot workload) {
  const SlotInfo& spec = transition.info(workload);
  const ObjectState object = transition.state().object(workload);
  const size_t count = wanted(transition, workload, object);
  WorkloadChange refused;
  for (size_t i = 0; i < spec.children.size(); ++i) {
    const Slot child = spec.children[i];
    const ObjectState childObject = transition.state().object(child);
    const bool isWanted = i < count;
    if (!childObject.present()) {
      if (isWanted && !waitsForClaims(transition, child) && transition.mayCreate(child))
        return {Task::Create, child};
      continue;
    }
    if (!childObject.live()) continue;
    const OwnerState owner = childObject.owner(ownerIndex(transition, workload, child));
    const bool mayWrite = !transition.webhookFails(child, &Interception::onUpdate);
    if (owner == OwnerState::None) {
      if (mayWrite && spec.kind != SlotKind::CronJob) return {Task::Adopt, child};
      continue;
    }
    if (owner == OwnerState::Dangling) continue;  // another's; the garbage collector takes it away
    // Old ReplicaSets keep their replicas, and stay for a roll-back. Jobs run to their end.
    if (!isWanted && (spec.kind == SlotKind::Deployment || spec.kind == SlotKind::CronJob)) continue;
    if (!isWanted) {
      if (!transition.isRefused(childRequest(child))) return {Task::Delete, child};
      if (refused.task == Task::None) refused = {Task::Delete, child};
    }
    if (isWanted && mayWrite && spec.kind == SlotKind::Deployment && childObject.value != object.value)
      return {Task::Scale, child};
  }
  return refused;
}

}  // namespace

bool workloadNeedsSync(const Transition& transition, Slot workload) {
  return nextTask(transition, workload).task != Task::None;
}

void workloadSync(Transition& transition, Slot workload) {
  const WorkloadChange change = nextTask(transition, workload);
  ObjectState child = transition.state().object(change.child);
  const size_t index = ownerIndex(transition, workload, change.child);
  switch (change.task) {
    case Task::None:
      break;
    case Task::Create:
      transition.create(change.child, Actor::Workloads);
      if (transition.info(workload).kind == SlotKind::Deployment) {
        child = transition.state().object(change.child);
        child.value = transition.state().object(workload).value;
        transition.state().setObject(change.child, child);
      }
      break;
    case Task::Adopt:
      child.setOwner(index, OwnerState::Current);
      transition.update(change.child, child, Actor::Workloads);
      break;
    case Task::Delete:
      transition.sendAtOnce(childRequest(change.child));
      break;
    case Task::Scale:
      child.value = transition.state().object(workload).value;
      transition.update(change.child, child, Actor::Workloads);
      break;
  }
}

bool isUnused(const Transition& transition, Slot storage) {
  const std::vector<Slot>& users = transition.info(storage).children;
  return std::none_of(users.begin(), users.end(), [&](Slot user) { return transition.isPresent(user); });
}

}  // namespace lastout::cluster

// What ends with its container: the instances of a CRD, and the content of a Namespace.
#include <algorithm>

#include "cluster/transition.h"

namespace lastout::cluster {

// docs/semantics.md, "The rules", conversion webhooks: what has to be converted and cannot be can be neither
// listed nor deleted.
bool crdDeletesInstances(const Transition& transition, Slot crd) {
  const std::vector<Slot>& instances = transition.info(crd).content;
  return std::any_of(instances.begin(), instances.end(),
                     [&](Slot slot) { return transition.isLive(slot) && !transition.conversionFails(slot); });
}

bool crdIsEmpty(const Transition& transition, Slot crd) {
  const std::vector<Slot>& instances = transition.info(crd).content;
  return std::none_of(instances.begin(), instances.end(),
                      [&](Slot slot) { return transition.isPresent(slot); });
}

// docs/semantics.md, "The rules", CRD: marked deleted in storage, without any review.
void deleteInstances(Transition& transition, Slot crd) {
  for (Slot instance : transition.info(crd).content) {
    if (!transition.isLive(instance) || transition.conversionFails(instance)) continue;
    transition.commitDelete(
        {.actor = Actor::CrdCleanup, .by = kNone, .slot = instance, .policy = PropagationPolicy::Background});
  }
}

bool namespaceIsEmpty(const Transition& transition, Slot namespaceSlot) {
  const std::vector<Slot>& content = transition.info(namespaceSlot).content;
  return std::none_of(content.begin(), content.end(), [&](Slot slot) { return transition.isPresent(slot); });
}

namespace {

// One refusal ends the deletion of all Pods. A Pod that its node is still to stop is not asked for again.
bool endsDeletionOfPods(const Transition& transition, Slot pod) {
  const ObjectState object = transition.state().object(pod);
  if (object.terminating() && (object.value & kStopped) == 0) return false;
  return (object.live() && (object.value & kDeletionRefused) != 0) ||
         transition.isRefused(namespaceRequest(pod));
}

}  // namespace

// docs/semantics.md, "The rules", Namespace: while it looks for Pods and finds some it goes no further; when
// the deletion of the Pods fails it does not look, and goes on.
bool awaitsPods(const Transition& transition, Slot namespaceSlot) {
  if (!kube::deletesPodsFirst(transition.model().kubernetes)) return false;
  bool isAny = false;
  for (const Slot pod : transition.info(namespaceSlot).children) {
    if (!transition.isPresent(pod)) continue;
    if (endsDeletionOfPods(transition, pod)) return false;
    isAny = true;
  }
  return isAny;
}

DeleteRequest namespaceRequest(Slot content) {
  return {.actor = Actor::Lifecycle, .by = kNone, .slot = content, .policy = PropagationPolicy::Background};
}

}  // namespace lastout::cluster

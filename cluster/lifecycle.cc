// What ends with its container: the instances of a CRD, and the content of a Namespace.
#include <algorithm>

#include "cluster/transition.h"

namespace lastout::cluster {

// docs/semantics.md, "The rules", conversion webhooks: what cannot be converted can be neither listed nor
// deleted.
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

}  // namespace lastout::cluster

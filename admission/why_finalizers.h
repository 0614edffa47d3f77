// What `why` says of an object's finalizers: who removes each, and who did and is gone. Internal to
// admission/why.h.
#pragma once

#include <vector>

#include "admission/why.h"

namespace lastout::admission {

// Adds who removes the finalizers of an object that is being deleted, but for those of which a SpecBlocker
// tells it, and lastout's own. Kubernetes' own wait for what the blockers name: without any they are added,
// too. `isProtected`: a DeletionPolicy concerns the object, and may hold it by a finalizer of any name.
void addFinalizerBlockers(const graph::Graph& graph, const GuardIndex& index, graph::ObjectId object,
                          const FinalizerRemovals& removals, bool isProtected,
                          std::vector<WhyBlocker>& blockers);

// Returns the finalizers that only providers of CriticalServices which are gone would take off.
std::vector<UnservedFinalizer> unservedFinalizers(const graph::Graph& graph, const GuardIndex& index,
                                                  graph::ObjectId object);

}  // namespace lastout::admission

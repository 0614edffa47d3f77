// unansweredCalls: the webhooks, conversion webhooks and APIServices of some manifests that nobody answers,
// and the deletions that fail or hang for that.
#pragma once

#include <vector>

#include "admission/why.h"
#include "kube/object.h"
#include "kube/resource_map.h"

namespace lastout::replay {

// Returns them by the object whose deletion they concern. The objects are all that there are, each once: a
// Service that is not among them has nobody behind it. As in the machine (cluster/transition.h), whoever is
// called by a URL, or by a Service that selects no Pods, answers; so does lastout itself, where its Service
// is not among the objects. `types`: to find who would remove a finalizer (finalizer_removers.h).
admission::UnansweredCalls unansweredCalls(const std::vector<const kube::Object*>& objects,
                                           const kube::ResourceMap& types);

}  // namespace lastout::replay

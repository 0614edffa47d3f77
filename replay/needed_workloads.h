// assumedOfNeededWorkloads: assumptions about the workloads in which a controller runs, or that a webhook's
// Service selects. The machine does not follow their status, their Nodes, and the classes that their Pods
// name. Internal to replay/.
#pragma once

#include <map>
#include <vector>

#include "replay/assumptions.h"

namespace lastout::replay {

// Each object by its name; if several manifests have one name, the one that counts.
using ManifestsByKey = std::map<kube::ObjectKey, const kube::Object*>;

// Returns an assumption for each that could stop an object of the goal.
std::vector<Assumption> assumedOfNeededWorkloads(const Compiled& compiled, const ManifestsByKey& manifests);

}  // namespace lastout::replay

// What the files say about workloads that somebody needs (a controller runs in them, or a webhook's Service
// selects them), and that the machine does not follow: their status, their Nodes, and what their Pods name.
// Internal to replay/.
#pragma once

#include <map>
#include <vector>

#include "replay/assumptions.h"

namespace lastout::replay {

// Of one name the manifest that counts.
using ManifestsByKey = std::map<kube::ObjectKey, const kube::Object*>;

// Returns an assumption for each that could stop an object of the goal.
std::vector<Assumption> assumedOfNeededWorkloads(const Compiled& compiled, const ManifestsByKey& manifests);

}  // namespace lastout::replay

// What the machine needs to know of a stored object.
#pragma once

#include "cluster/live_cluster.h"
#include "kube/resource_map.h"
#include "simulator/json.h"

namespace lastout::simulator {

// `types` tells which resources a ManifestWork's manifests are; those of unknown kinds are left out, as the
// agent cannot apply them either.
cluster::LiveObject liveObjectOf(const kube::ObjectKey& key, const Json& object,
                                 const kube::ResourceMap& types);

// The manifests of a ManifestWork that can be applied, with their keys.
std::vector<std::pair<kube::ObjectKey, const Json*>> manifestsOf(const Json& manifestWork,
                                                                 const kube::ResourceMap& types);

}  // namespace lastout::simulator

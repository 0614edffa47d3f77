// addUnwatchedDependents: reads, once, the dependents of a terminating object whose types no watch follows,
// for those who ask about that object.
#pragma once

#include <cstddef>
#include <string>

#include "admission/known_cluster.h"
#include "client/api_server.h"
#include "kube/object_key.h"
#include "kube/resource_map.h"

namespace lastout::server {

// Adds to the cluster, of a CRD its instances, of a Namespace its content, of a ManifestWork the
// AppliedManifestWorks that note what it applied, and of an AppliedManifestWork what it notes. Of each type
// at most kMostUnwatchedDependents, and of what is noted at most as many. What could not be read, in a
// sentence; empty: nothing.
std::string addUnwatchedDependents(client::ApiServer& server, const kube::ObjectKey& object,
                                   admission::KnownCluster& cluster);

inline constexpr size_t kMostUnwatchedDependents = 500;

}  // namespace lastout::server

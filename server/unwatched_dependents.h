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

// Adds the dependents of the object to the cluster: the instances of a CRD, the content of a Namespace, the
// AppliedManifestWorks of a ManifestWork, and the objects in the status of an AppliedManifestWork. Reads at
// most kMostUnwatchedDependents objects of each type and of each status. Returns a sentence about what could
// not be read; empty: everything was read.
std::string addUnwatchedDependents(client::ApiServer& server, const kube::ObjectKey& object,
                                   admission::KnownCluster& cluster);

inline constexpr size_t kMostUnwatchedDependents = 500;

}  // namespace lastout::server

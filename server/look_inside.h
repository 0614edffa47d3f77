// lookInside: what an object that is being deleted waits for, of what no watch follows; read once, for
// whoever asks about that object.
#pragma once

#include <string>

#include "admission/known_cluster.h"
#include "client/api_server.h"
#include "kube/object_key.h"

namespace lastout::server {

// Adds to the cluster, of a CRD its instances, of a Namespace its content, of a ManifestWork the
// AppliedManifestWorks that note what it applied. Of each type at most kMostInside. What could not be read,
// in a sentence; empty: nothing.
std::string lookInside(client::ApiServer& server, const kube::ObjectKey& object,
                       admission::KnownCluster& cluster);

inline constexpr int kMostInside = 500;

}  // namespace lastout::server

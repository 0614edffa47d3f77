// lookInside: what an object that is being deleted waits for, of what no watch follows; read once, for
// whoever asks about that object.
#pragma once

#include <string>

#include "admission/known_cluster.h"
#include "client/api_server.h"
#include "kube/object_key.h"
#include "kube/resource_map.h"
#include "server/runtime/requests.h"

namespace lastout::server {

// Adds to the cluster, of a CRD its instances, of a Namespace its content, of a ManifestWork the
// AppliedManifestWorks that note what it applied, and of an AppliedManifestWork what it notes. Of each type
// at most kMostInside, and of what is noted at most as many. What could not be read, in a sentence; empty:
// nothing.
std::string lookInside(client::ApiServer& server, const kube::ObjectKey& object,
                       admission::KnownCluster& cluster);

inline constexpr int kMostInside = 500;

// Of one object, asked for once. Fails with what the API server answers, 404 too.
Answered<kube::ObjectMeta> readMetadata(client::ApiServer& server, const kube::ResourceType& type,
                                        const kube::ObjectKey& key);

}  // namespace lastout::server

// addSpecBlockers: reads, once, what keeps an object by the contents of others (admission/spec_blockers.h),
// for those who ask about that object.
#pragma once

#include <cstddef>
#include <string>

#include "admission/known_cluster.h"
#include "client/api_server.h"
#include "kube/object_key.h"

namespace lastout::server {

// Adds to the cluster what keeps the object, and what is in it where it is a Namespace or a CRD: webhooks,
// conversion webhooks and APIServices that do not answer, Nodes that are not Ready, and who uses the storage.
// Reads at most kMostSpecObjects of each type. Returns a sentence about what could not be read; empty:
// everything was read.
std::string addSpecBlockers(client::ApiServer& server, const kube::ObjectKey& object,
                            admission::KnownCluster& cluster);

inline constexpr size_t kMostSpecObjects = 500;

}  // namespace lastout::server

// addSpecBlockers: reads, once, what keeps an object by the contents of others (admission/spec_blockers.h),
// for those who ask about that object.
#pragma once

#include "admission/known_cluster.h"
#include "kube/object_key.h"
#include "server/unwatched_reader.h"

namespace lastout::server {

// Adds to the cluster what keeps the object, and what is in it where it is a Namespace or a CRD: webhooks,
// conversion webhooks and APIServices that do not answer, controllers that do not remove finalizers, Nodes
// that are not Ready, and who uses the storage. Reads at most kMostUnwatched objects of each type; the reader
// notes what could not be read.
void addSpecBlockers(UnwatchedReader& reader, const kube::ObjectKey& object,
                     admission::KnownCluster& cluster);

}  // namespace lastout::server

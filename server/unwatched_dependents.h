// addUnwatchedDependents: reads, once, the dependents of a terminating object whose types no watch follows,
// for those who ask about that object.
#pragma once

#include "admission/known_cluster.h"
#include "kube/object_key.h"
#include "server/unwatched_reader.h"

namespace lastout::server {

// Adds the dependents of the object to the cluster: the instances of a CRD, the content of a Namespace, the
// AppliedManifestWorks of a ManifestWork, and the objects in the status of an AppliedManifestWork. Reads at
// most kMostUnwatched objects of each type and of each status; the reader notes what could not be read.
void addUnwatchedDependents(UnwatchedReader& reader, const kube::ObjectKey& object,
                            admission::KnownCluster& cluster);

}  // namespace lastout::server

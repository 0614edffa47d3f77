// Random clusters, from a seed.
#pragma once

#include <cstdint>

#include "tests/properties/cluster_spec.h"

namespace lastout::testing {

// Anything that the machine can hold, up to `objects` objects (Pods and ReplicaSets that workloads bring
// along not counted) and up to 30 steps. Deletions may get stuck in it in every way.
ClusterSpec randomCluster(uint64_t seed, uint32_t objects);

// A provider with a criterion that holds now and then, and deletions of the provider and of what holds it by
// whoever may delete: what changes between a verdict, its confirming read and its commit.
ClusterSpec racingCluster(uint64_t seed);

// Works that apply several CriticalServices of one provider type, with any intent, enforcement and
// deferredDeletions, and what these guard; where lastout runs what it deferred.
ClusterSpec worksCluster(uint64_t seed);

// A cluster whose steps delete everything, in which nothing outside is stuck: every finalizer has a live
// controller, every criterion's object is deleted by somebody, every denied client asks again, and goes-after
// has no cycle.
enum class Works : uint8_t {
  None,        // every object is deleted by a client of its own
  Safe,        // many are deleted through ManifestWorks
  WithClaims,  // and works hold claims too, which can leave things behind: see emptying_cluster.cc
};
ClusterSpec emptyingCluster(uint64_t seed, uint32_t objects, Works works);

}  // namespace lastout::testing

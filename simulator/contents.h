// Contents: the content of objects that a controller created or changed, or that are being deleted. The
// machine says what happened; these functions build the JSON.
#pragma once

#include <optional>

#include "cluster/live_cluster.h"
#include "kube/resource_map.h"
#include "simulator/control_plane.h"
#include "simulator/json.h"
#include "simulator/metadata.h"
#include "simulator/mutation.h"

namespace lastout::simulator {

// Returns the properties of a type on which the rules of metadata depend.
TypeRules rulesOf(const ServedType& type);

// A new object as it is stored: with a uid, its times, and all defaults of its type.
Json completed(const ControlPlane& plane, const ServedType& type, Json object);
// The same with the uid and the time that it has.
Json completed(const ServedType& type, Json object, const Birth& birth);

// The object that a controller just created in this slot; null where nothing is known to make it of.
Json contentOf(ControlPlane& plane, cluster::Slot slot) LASTOUT_REQUIRES(plane.mutex);
// `object` with what the machine says of it: deletion, finalizers, owners, replicas, a Pod's readiness.
Json alignedContent(const ControlPlane& plane, cluster::Slot slot, const cluster::ObjectState& state,
                    Json object) LASTOUT_REQUIRES(plane.mutex);

// Whether a DELETE would remove the object at once.
bool wouldVanish(const ServedType& type, const StoredRecord& before,
                 std::optional<cluster::PropagationPolicy> policy);
// What a dry run of the mutation answers with.
Json afterDryRun(const Mutation& mutation, const ControlPlane& plane);

// --- What the machine needs to know of a stored object.

// `types` tells which resources a ManifestWork's manifests are; those of unknown kinds are left out, as the
// agent cannot apply them either.
cluster::LiveObject liveObjectOf(const kube::ObjectKey& key, const Json& object,
                                 const kube::ResourceMap& types);

// The manifests of a ManifestWork that can be applied, with their keys.
std::vector<std::pair<kube::ObjectKey, const Json*>> manifestsOf(const Json& manifestWork,
                                                                 const kube::ResourceMap& types);

}  // namespace lastout::simulator

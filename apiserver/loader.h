// Loader: files into the embedded cluster, as an admin would create their objects.
#pragma once

#include <vector>

#include "apiserver/embedded_cluster.h"
#include "kube/result.h"
#include "scenarios/manifests.h"
#include "scenarios/scenario.h"

namespace lastout::apiserver {

// Creates the objects: definitions and namespaces first, then owners before what they own, works last. Owner
// references get the uids that the owners have here; namespaces that are only named are made; what is being
// deleted in the file is deleted. The number of objects, or what could not be created, each with its place;
// the rest is there then.
tl::expected<size_t, kube::Errors> loadManifests(EmbeddedCluster& cluster,
                                                 const scenarios::Manifests& manifests);

// The finalizer controllers that a scenario declares; they work from now on.
tl::expected<void, kube::Errors> addControllers(EmbeddedCluster& cluster,
                                                const std::vector<scenarios::Controller>& controllers);

}  // namespace lastout::apiserver

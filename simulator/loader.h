// Loader: files into the embedded cluster, as an admin would create their objects.
#pragma once

#include <string>
#include <vector>

#include "kube/result.h"
#include "replay/manifests.h"
#include "replay/scenario.h"
#include "simulator/embedded_cluster.h"

namespace lastout::simulator {

struct LoadedManifests {
  size_t objects = 0;
  kube::Errors warnings;  // that the API server answered with, each with the place of its object
};

// Creates the objects: definitions and namespaces first, then owners before what they own, works last. Owner
// references get the uids that the owners have here; namespaces that are only named are made; what is being
// deleted in the file is deleted. Webhooks and admission policies come into force when all else is there.
// Fails with the place of each object that could not be created; the others exist then.
tl::expected<LoadedManifests, kube::Errors> loadManifests(EmbeddedCluster& cluster,
                                                          const replay::Manifests& manifests);

// The finalizer controllers that a scenario declares; they work from now on.
tl::expected<void, kube::Errors> addControllers(EmbeddedCluster& cluster,
                                                const std::vector<replay::ScenarioController>& controllers);

// Returns the finalizers on the manifests that nothing in the embedded cluster removes, each as
// "example.com/cleanup of widgets.example.com". `controllers`: those of addControllers(). `isLastoutInside`:
// lastout runs there, too.
std::vector<std::string> unremovedFinalizers(const replay::Manifests& manifests,
                                             const std::vector<replay::ScenarioController>& controllers,
                                             bool isLastoutInside);

}  // namespace lastout::simulator

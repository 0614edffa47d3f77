// SpecFindings: what keeps an object, or its deletion, as the contents of other objects say: calls of the API
// server that nobody answers, finalizers whose controller does not work, Pods on a Node that is not Ready,
// and storage that is in use. The graph, which holds metadata alone, does not know it by itself.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "admission/finalizer_removal.h"
#include "admission/spec_objects.h"
#include "graph/graph.h"
#include "kube/object.h"
#include "kube/resource_map.h"

namespace lastout::admission {

struct SpecBlocker {
  bool refusesDeletion = false;  // its DELETE is refused
  bool keeps = false;            // it stays once it is being deleted
  bool stopsCleanup = false;  // the clean-up of its CRD, which asks no webhook about a DELETE, cannot end it
  std::string reason = {};    // "WebhookFails", "ConversionFails", "DiscoveryFails", "Finalizer", ...
  std::string message = {};   // a sentence: what fails and why, and what to do
  std::string field = {};     // where the call is asked for; empty: Kubernetes itself
  // Why the first of the objects is the end of the chain: nobody answers its call, or it does not do its
  // work. Empty: the object goes after these objects, and the graph says what these go after.
  std::string cause = {};
  std::vector<kube::ObjectKey> objects = {};  // a person must change or delete them; of a container none
};
using SpecBlockers = std::unordered_map<kube::ObjectKey, std::vector<SpecBlocker>>;

struct SpecFindings {
  SpecBlockers blockers;  // by the object whose deletion they concern
  FinalizerRemovals removals;
};

// `objects`, `types` and `source`: as of SpecObjects.
SpecFindings findInSpecs(const std::vector<const kube::Object*>& objects, const kube::ResourceMap& types,
                         const SpecSource& source = {});

// Requires in the graph what blockers without a cause say.
void requireSpecBlockers(graph::Graph& graph, const SpecBlockers& blockers);

}  // namespace lastout::admission

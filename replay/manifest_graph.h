// ManifestGraph: the live graph of a cluster that holds these manifests and nothing else.
#pragma once

#include <string>
#include <string_view>

#include "admission/guard_index.h"
#include "admission/spec_blockers.h"
#include "graph/graph.h"
#include "protection/protected_objects.h"
#include "replay/manifests.h"
#include "replay/scenario.h"

namespace lastout::replay {

struct ManifestGraph {
  graph::Graph graph;
  admission::GuardIndex guards;
  protection::Denials protections;  // what DeletionPolicies say
  admission::SpecFindings specs;    // whose blockers the graph requires
  kube::Errors warnings;            // accepted, but probably not meant: of CriticalServices, and cycles

  ManifestGraph() : guards(graph) {}
};

// Works count as applied: what they apply is there, and where the manifests hold no AppliedManifestWork for
// one, there is the one that its agent would write. Every type counts as listed; one that nothing defines, as
// absent. Fails on CriticalServices and DeletionPolicies that cannot be read.
tl::expected<ManifestGraph, kube::Errors> graphOf(const Manifests& manifests);

// The warnings about a scenario: what it leaves out, and about its cluster, with what its steps may create.
// Fails as graphOf does.
tl::expected<kube::Errors, kube::Errors> warningsOf(const Scenario& scenario);

// The verdict for a DELETE of `key` now; `guarded` is false of objects that lastout does not decide on.
admission::Verdict verdictOn(const ManifestGraph& graph, const kube::ObjectKey& key);

}  // namespace lastout::replay

// What may be written: a new CriticalService, a changed one, and what is allowed but probably not meant.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "criticalservice/critical_service.h"
#include "graph/graph.h"

namespace lastout::criticalservice {

// What parse() cannot know from the manifest: errors for a provider or a criterion that could never work
// beside a lastout that runs in `ownNamespace` (empty: it does not run in the cluster).
kube::Errors validateNew(const CriticalService& service, std::string_view ownNamespace);

// Errors for a change that would let go what is still needed: another provider, or a criterion removed (or
// altered) while it is not known to be met. The deletion intent may always change, and so may the order of
// the criteria.
kube::Errors validateChange(const CriticalService& before, const CriticalService& after,
                            const std::function<bool(const Criterion&)>& isMet);

// What is there beside the service; each may be empty when nobody knows.
struct ValidationContext {
  std::function<bool(const kube::ObjectKey&)> exists;
  // Some object in the namespace carries the finalizer.
  std::function<bool(const FinalizerCriterion&, std::string_view namespaceName)> carriedIn;
  std::function<std::vector<std::string>(const kube::GroupResource&)> finalizers;  // of all its objects
  // Takes each warning that is true only while that object is not there, for whoever has to ask the API
  // server first; empty: it is reported as the others.
  std::function<void(const kube::ObjectKey&, std::string)> ifAbsent = {};
  std::vector<kube::ObjectKey> awaited = {};  // what the provider needs and waits for (Needed::awaited)
  bool personsCount = true;                   // lastout can prove that persons have asked for what it denied
};
// Returns what the graph knows, which must outlive it. An object of a type that is not known well enough
// counts as existing.
ValidationContext contextIn(const graph::Graph& graph);

// lastout does not review what is in it: a control plane must not wait for what it runs.
inline constexpr std::string_view kExcludedNamespace = "kube-system";

// Returns in words that the provider needs these objects, which go before it (Needed::awaited).
std::string awaitedInWords(const std::vector<kube::ObjectKey>& awaited);

// What a person should know although it is accepted, of a service that guards something: a provider in the
// excluded namespace; `deferredDeletions: Always` where persons do not count; a type that is not installed; a
// provider that is not there; a finalizer that nothing carries while its objects carry others; a Finalizer
// criterion whose CRD no SpecificResource criterion names (a new instance may appear between the last look
// and the deletion); instances in the provider's own namespace, whose deletion then waits for somebody to
// delete them (the document's non-goal); a dependency that goes before the provider.
kube::Errors warnings(const CriticalService& service, const kube::ResourceMap& types,
                      const ValidationContext& context);

}  // namespace lastout::criticalservice

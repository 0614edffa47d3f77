// KubernetesVersion: whose rules are followed, where they differ (docs/semantics.md, "Versions").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lastout::kube {

enum class KubernetesVersion : uint8_t { V1_26, V1_36 };

constexpr KubernetesVersion kNewestKubernetes = KubernetesVersion::V1_36;
constexpr std::array<std::string_view, 2> kKubernetesVersions = {"1.26", "1.36"};  // in the enum's order

constexpr std::string_view toString(KubernetesVersion version) {
  return kKubernetesVersions.at(static_cast<size_t>(version));
}

// Returns the version that is written "1.26" or "1.36"; nullopt: neither.
constexpr std::optional<KubernetesVersion> parseKubernetesVersion(std::string_view text) {
  for (size_t i = 0; i < kKubernetesVersions.size(); ++i) {
    if (text == kKubernetesVersions.at(i)) return static_cast<KubernetesVersion>(i);
  }
  return std::nullopt;
}

// --- what differs: each difference is asked for by one of these, and by no comparison of versions elsewhere.
// `rest/` and `admission/` are recordings of tests/recordings/kubernetes-1.36.

// A terminating Namespace deletes nothing but its Pods while one of them is left
// (KEP-5080, OrderedNamespaceDeletion; admission/77 to 89).
constexpr bool deletesPodsFirst(KubernetesVersion version) { return version >= KubernetesVersion::V1_36; }

// A StatefulSet that deletes its claims is their controller, and they block its deletion in the foreground
// (KEP-1847, StatefulSetAutoDeletePVC, as it became stable); before, it is an owner like any other.
constexpr bool controlsClaimsOfStatefulSets(KubernetesVersion version) {
  return version >= KubernetesVersion::V1_36;
}

// A create under a terminating CRD is Forbidden; before, MethodNotAllowed (rest/086 of both).
constexpr bool forbidsInstancesOfTerminatingCrds(KubernetesVersion version) {
  return version >= KubernetesVersion::V1_36;
}

// A watch says by sendInitialEvents how it begins; before, nobody reads that word (KEP-3157, WatchList; since
// 1.27 in k8s.io/apimachinery, validation.ValidateListOptions()).
constexpr bool readsSendInitialEvents(KubernetesVersion version) {
  return version >= KubernetesVersion::V1_36;
}

// Pods have a metadata.generation that counts the changes of their specification (KEP-5067,
// PodObservedGenerationTracking; rest/074).
constexpr bool countsGenerationsOfPods(KubernetesVersion version) {
  return version >= KubernetesVersion::V1_36;
}

// The beta versions v1beta2 and v1beta3 of flowcontrol.apiserver.k8s.io are served beside v1
// (https://kubernetes.io/docs/reference/using-api/deprecation-guide/).
constexpr bool servesBetaOfFlowControl(KubernetesVersion version) {
  return version < KubernetesVersion::V1_36;
}

// Discovery tells the singular names of built-in types (rest/004).
constexpr bool namesBuiltInTypesInSingular(KubernetesVersion version) {
  return version >= KubernetesVersion::V1_36;
}

// Clients read the discovery of all groups in one answer, which calls a group stale whose API server does not
// answer (KEP-3352, AggregatedDiscovery).
constexpr bool aggregatesDiscovery(KubernetesVersion version) { return version >= KubernetesVersion::V1_36; }

// /version tells which versions it emulates and is compatible with (KEP-4330; rest/001).
constexpr bool tellsEmulatedVersion(KubernetesVersion version) { return version >= KubernetesVersion::V1_36; }

// The first column of a table is described with a link into the documentation's concepts; before, into its
// user guide (rest/031 of both).
constexpr bool linksToConcepts(KubernetesVersion version) { return version >= KubernetesVersion::V1_36; }

// What has no metadata.creationTimestamp, such as a bookmark or a Pod template, says null for it (rest/072
// and 081 of both).
constexpr bool writesNullTimestamps(KubernetesVersion version) { return version < KubernetesVersion::V1_36; }

// Deployments and ReplicaSets count the Pods that terminate (KEP-3973,
// DeploymentReplicaSetTerminatingReplicas; admission/09 and 11).
constexpr bool countsTerminatingReplicas(KubernetesVersion version) {
  return version >= KubernetesVersion::V1_36;
}

// When a type comes or goes, the garbage collector stops until it has listed all types; later versions go on
// without those that cannot be listed (kubernetes/kubernetes#125796).
constexpr bool collectorWaitsForAllTypes(KubernetesVersion version) {
  return version < KubernetesVersion::V1_36;
}

// The garbage collector deletes an object as it last saw it: a DELETE names the resource version, too, and
// ends in a conflict where the object has changed since (admission/33 and 35).
constexpr bool collectsByResourceVersion(KubernetesVersion version) {
  return version >= KubernetesVersion::V1_36;
}

// The Pods of a Job have its name and uid also by labels of batch.kubernetes.io (1.27), and those of a
// StatefulSet their number (KEP-4017, 1.28).
constexpr bool hasLaterPodLabels(KubernetesVersion version) { return version >= KubernetesVersion::V1_36; }

// The name of a Service may begin with a digit (KEP-5311, RelaxedServiceNameValidation;
// validation/177-service-name-digit).
constexpr bool relaxesServiceNames(KubernetesVersion version) { return version >= KubernetesVersion::V1_36; }

// A user's extra tells by which certificate or token the user is known (KEP-4193; admission/01 and 06).
constexpr bool tellsCredentials(KubernetesVersion version) { return version >= KubernetesVersion::V1_36; }

}  // namespace lastout::kube

#include "kube/builtin_types.h"

#include <algorithm>
#include <iterator>

#include "kube/well_known.h"

namespace lastout::kube {
namespace {

constexpr bool kNamespaced = true;
constexpr bool kCluster = false;

// clang-format off
constexpr KnownType kBuiltIn[] = {
    {"", "v1", "bindings", "Binding", kNamespaced, {}, CreateOnly | NotServed},
    {"", "v1", "componentstatuses", "ComponentStatus", kCluster, {"cs"}, NotServed},
    {"", "v1", "configmaps", "ConfigMap", kNamespaced, {"cm"}},
    {"", "v1", "endpoints", "Endpoints", kNamespaced, {"ep"}},
    {"", "v1", "events", "Event", kNamespaced, {"ev"}, NamedByPathSegment},
    {"", "v1", "limitranges", "LimitRange", kNamespaced, {"limits"}},
    {"", "v1", "namespaces", "Namespace", kCluster, {"ns"}, HasStatus | HasFinalize | NoCollection},
    {"", "v1", "nodes", "Node", kCluster, {"no"}, HasStatus},
    {"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", kNamespaced, {"pvc"}, HasStatus},
    {"", "v1", "persistentvolumes", "PersistentVolume", kCluster, {"pv"}, HasStatus},
    {"", "v1", "pods", "Pod", kNamespaced, {"po"}, HasStatus | InAll | HasGenerationOfPods},
    {"", "v1", "podtemplates", "PodTemplate", kNamespaced, {}, HasGeneration},
    {"", "v1", "replicationcontrollers", "ReplicationController", kNamespaced, {"rc"}, HasStatus | HasGeneration | InAll},
    {"", "v1", "resourcequotas", "ResourceQuota", kNamespaced, {"quota"}, HasStatus},
    {"", "v1", "secrets", "Secret", kNamespaced, {}},
    {"", "v1", "serviceaccounts", "ServiceAccount", kNamespaced, {"sa"}},
    {"", "v1", "services", "Service", kNamespaced, {"svc"}, HasStatus | InAll},
    {"apiregistration.k8s.io", "v1", "apiservices", "APIService", kCluster, {}, HasStatus | InApiExtensions | NamedByPathSegment},
    {"apps", "v1", "controllerrevisions", "ControllerRevision", kNamespaced, {}},
    {"apps", "v1", "daemonsets", "DaemonSet", kNamespaced, {"ds"}, HasStatus | HasGeneration | InAll},
    {"apps", "v1", "deployments", "Deployment", kNamespaced, {"deploy"}, HasStatus | HasGeneration | InAll},
    {"apps", "v1", "replicasets", "ReplicaSet", kNamespaced, {"rs"}, HasStatus | HasGeneration | InAll},
    {"apps", "v1", "statefulsets", "StatefulSet", kNamespaced, {"sts"}, HasStatus | HasGeneration | InAll},
    {"events.k8s.io", "v1", "events", "Event", kNamespaced, {"ev"}, NamedByPathSegment},
    {"authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", kCluster, {}, CreateOnly | NotServed},
    {"authentication.k8s.io", "v1", "tokenreviews", "TokenReview", kCluster, {}, CreateOnly},
    {"authorization.k8s.io", "v1", "localsubjectaccessreviews", "LocalSubjectAccessReview", kNamespaced, {}, CreateOnly},
    {"authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", kCluster, {}, CreateOnly},
    {"authorization.k8s.io", "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", kCluster, {}, CreateOnly},
    {"authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", kCluster, {}, CreateOnly},
    {"autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", kNamespaced, {"hpa"}, HasStatus | InAll, "v1"},
    {"batch", "v1", "cronjobs", "CronJob", kNamespaced, {"cj"}, HasStatus | HasGeneration | InAll},
    {"batch", "v1", "jobs", "Job", kNamespaced, {}, HasStatus | HasGeneration | InAll},
    {"certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", kCluster, {"csr"}, HasStatus | HasApproval | NamedByPathSegment},
    {"networking.k8s.io", "v1", "ingressclasses", "IngressClass", kCluster, {}, HasGeneration},
    {"networking.k8s.io", "v1", "ingresses", "Ingress", kNamespaced, {"ing"}, HasStatus | HasGeneration},
    {"networking.k8s.io", "v1", "ipaddresses", "IPAddress", kCluster, {"ip"}, NamedByPathSegment},
    {"networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", kNamespaced, {"netpol"}, HasGeneration},
    {"networking.k8s.io", "v1", "servicecidrs", "ServiceCIDR", kCluster, {}, HasStatus},
    {"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", kNamespaced, {"pdb"}, HasStatus | HasGeneration},
    {"rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", kCluster, {}, NamedByPathSegment},
    {"rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", kCluster, {}, NamedByPathSegment},
    {"rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", kNamespaced, {}, NamedByPathSegment},
    {"rbac.authorization.k8s.io", "v1", "roles", "Role", kNamespaced, {}, NamedByPathSegment},
    {"storage.k8s.io", "v1", "csidrivers", "CSIDriver", kCluster, {}},
    {"storage.k8s.io", "v1", "csinodes", "CSINode", kCluster, {}},
    {"storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity", kNamespaced, {}},
    {"storage.k8s.io", "v1", "storageclasses", "StorageClass", kCluster, {"sc"}},
    {"storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", kCluster, {}, HasStatus},
    {"storage.k8s.io", "v1", "volumeattributesclasses", "VolumeAttributesClass", kCluster, {"vac"}},
    {"admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies", "MutatingAdmissionPolicy", kCluster, {}, HasGeneration | InApiExtensions, "", "v1beta1"},
    {"admissionregistration.k8s.io", "v1", "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding", kCluster, {}, HasGeneration | InApiExtensions, "", "v1beta1"},
    {"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", kCluster, {}, HasGeneration | InApiExtensions},
    {"admissionregistration.k8s.io", "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", kCluster, {}, HasStatus | HasGeneration | InApiExtensions},
    {"admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", kCluster, {}, HasGeneration | InApiExtensions},
    {"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", kCluster, {}, HasGeneration | InApiExtensions},
    {"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", kCluster, {"crd", "crds"}, HasStatus | HasGeneration | InApiExtensions, "", "v1beta1"},
    {"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", kCluster, {"pc"}, HasGeneration},
    {"coordination.k8s.io", "v1", "leases", "Lease", kNamespaced, {}},
    {"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", kCluster, {}},
    {"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", kNamespaced, {}},
    {"resource.k8s.io", "v1", "deviceclasses", "DeviceClass", kCluster, {}, HasGeneration},
    {"resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", kNamespaced, {}, HasStatus},
    {"resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate", kNamespaced, {}},
    {"resource.k8s.io", "v1", "resourceslices", "ResourceSlice", kCluster, {}, HasGeneration},
    {"flowcontrol.apiserver.k8s.io", "v1", "flowschemas", "FlowSchema", kCluster, {}, HasStatus | HasGeneration | OtherIsBetaOfFlowControl, "v1beta3", "v1beta2"},
    {"flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations", "PriorityLevelConfiguration", kCluster, {}, HasStatus | HasGeneration | OtherIsBetaOfFlowControl, "v1beta3", "v1beta2"},
};

constexpr KnownType kCustom[] = {
    {kLastoutGroup, kLastoutVersion, "criticalservices", "CriticalService", kCluster, {"critsvc"}},
    {kLastoutGroup, kLastoutVersion, "deletionpolicies", "DeletionPolicy", kCluster, {"delpol"}},
    {kWorkGroup, kWorkVersion, "manifestworks", "ManifestWork", kNamespaced, {}},
    {kWorkGroup, kWorkVersion, "appliedmanifestworks", "AppliedManifestWork", kCluster, {}},
    {kWorkGroup, "v1alpha1", "manifestworkreplicasets", "ManifestWorkReplicaSet", kNamespaced, {"mwrs"}},
};

constexpr WorkloadType kWorkloads[] = {
    {&kDeployments, "deployment-controller", "readyReplicas", true, true},
    {&kStatefulSets, "statefulset-controller", "readyReplicas", true, true},
    {&kDaemonSets, "daemon-set-controller", "numberReady", false, true},
    {&kReplicaSets, "replicaset-controller", "readyReplicas", true, false},
    {&kReplicationControllers, "replication-controller", "readyReplicas", true, false},
    {&kJobs, "job-controller", "", false, false},
    {&kCronJobs, "cronjob-controller", "", false, false},
};
// clang-format on

}  // namespace

std::span<const KnownType> builtInTypes() { return kBuiltIn; }

std::span<const WorkloadType> workloadTypes() { return kWorkloads; }

const WorkloadType* findWorkloadType(const GroupResource& type) {
  const auto* const found =
      std::ranges::find_if(kWorkloads, [&](const WorkloadType& workload) { return *workload.type == type; });
  return found == std::end(kWorkloads) ? nullptr : found;
}

const KnownType* findBuiltInType(const GroupResource& type) {
  const auto* const found = std::ranges::find_if(kBuiltIn, [&](const KnownType& known) {
    return known.group == type.group && known.resource == type.resource;
  });
  return found == std::end(kBuiltIn) ? nullptr : found;
}

bool servesOtherVersion(const KnownType& known, KubernetesVersion kubernetes) {
  return (known.traits & OtherIsBetaOfFlowControl) == 0 || servesBetaOfFlowControl(kubernetes);
}

std::span<const KnownType> wellKnownCustomTypes() { return kCustom; }

}  // namespace lastout::kube

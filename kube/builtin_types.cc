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
    {"", "v1", "bindings", "Binding", kNamespaced, {}},
    {"", "v1", "componentstatuses", "ComponentStatus", kCluster, {"cs"}},
    {"", "v1", "configmaps", "ConfigMap", kNamespaced, {"cm"}},
    {"", "v1", "endpoints", "Endpoints", kNamespaced, {"ep"}},
    {"", "v1", "events", "Event", kNamespaced, {"ev"}},
    {"", "v1", "limitranges", "LimitRange", kNamespaced, {"limits"}},
    {"", "v1", "namespaces", "Namespace", kCluster, {"ns"}},
    {"", "v1", "nodes", "Node", kCluster, {"no"}},
    {"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", kNamespaced, {"pvc"}},
    {"", "v1", "persistentvolumes", "PersistentVolume", kCluster, {"pv"}},
    {"", "v1", "pods", "Pod", kNamespaced, {"po"}},
    {"", "v1", "podtemplates", "PodTemplate", kNamespaced, {}},
    {"", "v1", "replicationcontrollers", "ReplicationController", kNamespaced, {"rc"}},
    {"", "v1", "resourcequotas", "ResourceQuota", kNamespaced, {"quota"}},
    {"", "v1", "secrets", "Secret", kNamespaced, {}},
    {"", "v1", "serviceaccounts", "ServiceAccount", kNamespaced, {"sa"}},
    {"", "v1", "services", "Service", kNamespaced, {"svc"}},
    {"apiregistration.k8s.io", "v1", "apiservices", "APIService", kCluster, {}},
    {"apps", "v1", "controllerrevisions", "ControllerRevision", kNamespaced, {}},
    {"apps", "v1", "daemonsets", "DaemonSet", kNamespaced, {"ds"}},
    {"apps", "v1", "deployments", "Deployment", kNamespaced, {"deploy"}},
    {"apps", "v1", "replicasets", "ReplicaSet", kNamespaced, {"rs"}},
    {"apps", "v1", "statefulsets", "StatefulSet", kNamespaced, {"sts"}},
    {"events.k8s.io", "v1", "events", "Event", kNamespaced, {"ev"}},
    {"authentication.k8s.io", "v1", "tokenreviews", "TokenReview", kCluster, {}},
    {"authorization.k8s.io", "v1", "localsubjectaccessreviews", "LocalSubjectAccessReview", kNamespaced, {}},
    {"authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", kCluster, {}},
    {"authorization.k8s.io", "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", kCluster, {}},
    {"authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", kCluster, {}},
    {"autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", kNamespaced, {"hpa"}},
    {"batch", "v1", "cronjobs", "CronJob", kNamespaced, {"cj"}},
    {"batch", "v1", "jobs", "Job", kNamespaced, {}},
    {"certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", kCluster, {"csr"}},
    {"networking.k8s.io", "v1", "ingressclasses", "IngressClass", kCluster, {}},
    {"networking.k8s.io", "v1", "ingresses", "Ingress", kNamespaced, {"ing"}},
    {"networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", kNamespaced, {"netpol"}},
    {"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", kNamespaced, {"pdb"}},
    {"rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", kCluster, {}},
    {"rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", kCluster, {}},
    {"rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", kNamespaced, {}},
    {"rbac.authorization.k8s.io", "v1", "roles", "Role", kNamespaced, {}},
    {"storage.k8s.io", "v1", "csidrivers", "CSIDriver", kCluster, {}},
    {"storage.k8s.io", "v1", "csinodes", "CSINode", kCluster, {}},
    {"storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity", kNamespaced, {}},
    {"storage.k8s.io", "v1", "storageclasses", "StorageClass", kCluster, {"sc"}},
    {"storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", kCluster, {}},
    {"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", kCluster, {}},
    {"admissionregistration.k8s.io", "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", kCluster, {}},
    {"admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", kCluster, {}},
    {"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", kCluster, {}},
    {"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", kCluster, {"crd", "crds"}},
    {"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", kCluster, {"pc"}},
    {"coordination.k8s.io", "v1", "leases", "Lease", kNamespaced, {}},
    {"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", kCluster, {}},
    {"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", kNamespaced, {}},
    {"flowcontrol.apiserver.k8s.io", "v1beta3", "flowschemas", "FlowSchema", kCluster, {}},
    {"flowcontrol.apiserver.k8s.io", "v1beta3", "prioritylevelconfigurations", "PriorityLevelConfiguration", kCluster, {}},
};

constexpr KnownType kCustom[] = {
    {"lastout.dev", "v1alpha1", "criticalservices", "CriticalService", kCluster, {"critsvc"}},
    {"lastout.dev", "v1alpha1", "deletionpolicies", "DeletionPolicy", kCluster, {"delpol"}},
    {"work.open-cluster-management.io", "v1", "manifestworks", "ManifestWork", kNamespaced, {}},
    {"work.open-cluster-management.io", "v1", "appliedmanifestworks", "AppliedManifestWork", kCluster, {}},
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

std::span<const KnownType> wellKnownCustomTypes() { return kCustom; }

}  // namespace lastout::kube

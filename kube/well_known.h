// Names to which Kubernetes, Open Cluster Management and lastout give a meaning, each written once: API
// groups, types and finalizers. The table of built-in types (builtin_types.cc), which is read as a whole,
// spells Kubernetes' groups out.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "kube/object_key.h"

namespace lastout::kube {

// API groups, and the apiVersions "<group>/<version>" that objects are written with.
inline constexpr std::string_view kAdmissionRegistrationGroup = "admissionregistration.k8s.io";
inline constexpr std::string_view kAdmissionRegistrationApiVersion = "admissionregistration.k8s.io/v1";
inline constexpr std::string_view kApiExtensionsGroup = "apiextensions.k8s.io";
inline constexpr std::string_view kApiExtensionsApiVersion = "apiextensions.k8s.io/v1";
inline constexpr std::string_view kApiRegistrationGroup = "apiregistration.k8s.io";
inline constexpr std::string_view kApiRegistrationApiVersion = "apiregistration.k8s.io/v1";
inline constexpr std::string_view kAppsGroup = "apps";
inline constexpr std::string_view kAppsApiVersion = "apps/v1";
inline constexpr std::string_view kAuthenticationGroup = "authentication.k8s.io";
inline constexpr std::string_view kAuthorizationGroup = "authorization.k8s.io";
inline constexpr std::string_view kBatchGroup = "batch";
inline constexpr std::string_view kCoordinationGroup = "coordination.k8s.io";
inline constexpr std::string_view kCoordinationApiVersion = "coordination.k8s.io/v1";
inline constexpr std::string_view kMetaGroup = "meta.k8s.io";
inline constexpr std::string_view kMetaApiVersion = "meta.k8s.io/v1";
// Kubernetes adds the rules of every ClusterRole with this label, "true", to those that lastout reads by.
inline constexpr std::string_view kReadsLabel = "lastout.dev/aggregate-to-reads";
inline constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";

// The groups of CriticalServices and of Open Cluster Management's ManifestWorks.
inline constexpr std::string_view kLastoutGroup = "lastout.dev";
inline constexpr std::string_view kLastoutVersion = "v1alpha1";
inline constexpr std::string_view kLastoutApiVersion = "lastout.dev/v1alpha1";
inline constexpr std::string_view kWorkGroup = "work.open-cluster-management.io";
inline const GroupResource kAppliedManifestWorks{std::string(kWorkGroup), "appliedmanifestworks"};
inline constexpr std::string_view kWorkVersion = "v1";
inline constexpr std::string_view kWorkApiVersion = "work.open-cluster-management.io/v1";

// Types of the core group, and of storage.
inline const GroupResource kConfigMaps{"", "configmaps"};
inline const GroupResource kEndpoints{"", "endpoints"};
inline const GroupResource kEvents{"", "events"};
inline const GroupResource kEventsOfLater{"events.k8s.io", "events"};  // the same objects
inline const GroupResource kNamespaces{"", "namespaces"};
inline const GroupResource kNodes{"", "nodes"};
inline const GroupResource kPersistentVolumeClaims{"", "persistentvolumeclaims"};
inline const GroupResource kPersistentVolumes{"", "persistentvolumes"};
inline const GroupResource kPods{"", "pods"};
inline const GroupResource kReplicationControllers{"", "replicationcontrollers"};
inline const GroupResource kResourceClaims{"resource.k8s.io", "resourceclaims"};
inline const GroupResource kSecrets{"", "secrets"};
inline const GroupResource kServiceAccounts{"", "serviceaccounts"};
inline const GroupResource kServices{"", "services"};
inline const GroupResource kVolumeAttachments{"storage.k8s.io", "volumeattachments"};

// Workloads.
inline const GroupResource kControllerRevisions{std::string(kAppsGroup), "controllerrevisions"};
inline const GroupResource kCronJobs{std::string(kBatchGroup), "cronjobs"};
inline const GroupResource kDaemonSets{std::string(kAppsGroup), "daemonsets"};
inline const GroupResource kDeployments{std::string(kAppsGroup), "deployments"};
inline const GroupResource kJobs{std::string(kBatchGroup), "jobs"};
inline const GroupResource kPodDisruptionBudgets{"policy", "poddisruptionbudgets"};
inline const GroupResource kReplicaSets{std::string(kAppsGroup), "replicasets"};
inline const GroupResource kStatefulSets{std::string(kAppsGroup), "statefulsets"};

// They refuse Pods that ask for too much.
inline const GroupResource kResourceQuotas{"", "resourcequotas"};
inline const GroupResource kLimitRanges{"", "limitranges"};

// What Pods name by class.
inline const GroupResource kPriorityClasses{"scheduling.k8s.io", "priorityclasses"};
inline const GroupResource kRuntimeClasses{"node.k8s.io", "runtimeclasses"};

// RBAC.
inline const GroupResource kClusterRoleBindings{std::string(kRbacGroup), "clusterrolebindings"};
inline const GroupResource kClusterRoles{std::string(kRbacGroup), "clusterroles"};
inline const GroupResource kRoleBindings{std::string(kRbacGroup), "rolebindings"};
inline const GroupResource kRoles{std::string(kRbacGroup), "roles"};

// Types by which the API is extended, requests are admitted, and replicas elect one of them.
inline const GroupResource kApiServices{std::string(kApiRegistrationGroup), "apiservices"};
inline const GroupResource kCustomResourceDefinitions{std::string(kApiExtensionsGroup),
                                                      "customresourcedefinitions"};
inline const GroupResource kEndpointSlices{"discovery.k8s.io", "endpointslices"};
inline const GroupResource kLeases{std::string(kCoordinationGroup), "leases"};
inline const GroupResource kMutatingAdmissionPolicies{std::string(kAdmissionRegistrationGroup),
                                                      "mutatingadmissionpolicies"};
inline const GroupResource kMutatingAdmissionPolicyBindings{std::string(kAdmissionRegistrationGroup),
                                                            "mutatingadmissionpolicybindings"};
inline const GroupResource kMutatingWebhookConfigurations{std::string(kAdmissionRegistrationGroup),
                                                          "mutatingwebhookconfigurations"};
inline const GroupResource kValidatingAdmissionPolicies{std::string(kAdmissionRegistrationGroup),
                                                        "validatingadmissionpolicies"};
inline const GroupResource kValidatingAdmissionPolicyBindings{std::string(kAdmissionRegistrationGroup),
                                                              "validatingadmissionpolicybindings"};
inline const GroupResource kValidatingWebhookConfigurations{std::string(kAdmissionRegistrationGroup),
                                                            "validatingwebhookconfigurations"};

// Finalizers that API servers add after a Foreground and after an Orphan delete, and that the garbage
// collector removes.
inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
inline constexpr std::string_view kOrphanFinalizer = "orphan";
// By which API servers keep a CRD until its instances are gone.
inline constexpr std::string_view kCrdCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";
// In every Namespace's spec.finalizers until what is in it is gone.
inline constexpr std::string_view kNamespaceSpecFinalizer = "kubernetes";
// The Job controller takes it off every Pod that has stopped, and off those whose Job is gone.
inline constexpr std::string_view kJobTrackingFinalizer = "batch.kubernetes.io/job-tracking";
inline constexpr std::string_view kPvcProtectionFinalizer = "kubernetes.io/pvc-protection";
inline constexpr std::string_view kPvProtectionFinalizer = "kubernetes.io/pv-protection";
// Others that the control plane sets and removes: on volumes of in-tree drivers, on a ResourceClaim, a
// VolumeAttributesClass and a ServiceCIDR.
inline constexpr std::string_view kPvControllerFinalizer = "kubernetes.io/pv-controller";
inline constexpr std::string_view kResourceClaimFinalizer = "resource.kubernetes.io/delete-protection";
inline constexpr std::string_view kVacProtectionFinalizer = "kubernetes.io/vac-protection";
inline constexpr std::string_view kServiceCidrFinalizer = "networking.k8s.io/service-cidr-finalizer";
// The conditions by which the namespace controller says why a Namespace does not end: what it cannot do, and
// what is left.
inline constexpr std::array<std::string_view, 3> kNamespaceFailures = {
    "NamespaceDeletionDiscoveryFailure", "NamespaceDeletionGroupVersionParsingFailure",
    "NamespaceDeletionContentFailure"};
inline constexpr std::string_view kNamespaceContentRemaining = "NamespaceContentRemaining";
inline constexpr std::string_view kNamespaceFinalizersRemaining = "NamespaceFinalizersRemaining";

// A cloud's controller sets it on a Service of type LoadBalancer, and removes it.
inline constexpr std::string_view kLoadBalancerFinalizer = "service.kubernetes.io/load-balancer-cleanup";
// The provisioner of a CSI driver does that with a volume that it is to delete.
inline constexpr std::string_view kProvisionerFinalizer =
    "external-provisioner.volume.kubernetes.io/finalizer";

// kube-controller-manager puts them on the objects of these types, and takes them off what terminates once
// nothing uses it.
struct UsageFinalizer {
  GroupResource type;
  std::string_view finalizer;
};
inline const std::array<UsageFinalizer, 4> kUsageFinalizers{{
    {kResourceClaims, kResourceClaimFinalizer},
    {{"storage.k8s.io", "volumeattributesclasses"}, kVacProtectionFinalizer},
    {{"networking.k8s.io", "servicecidrs"}, kServiceCidrFinalizer},
    {kPersistentVolumes, kPvControllerFinalizer},
}};

inline bool isUsageFinalizer(const GroupResource& type, std::string_view finalizer) {
  return std::ranges::any_of(kUsageFinalizers, [&](const UsageFinalizer& one) {
    return one.type == type && one.finalizer == finalizer;
  });
}

// All of lastout's own begin with it, those of other versions, too.
inline constexpr std::string_view kFinalizerDomain = "lastout.dev/";
// lastout's own: on an owner that is kept until all that it owns is gone (control/kept_work_rule.h), and on a
// provider that is held until its criteria hold (control/held_provider_rule.h).
inline constexpr std::string_view kAppliedObjectsFinalizer = "lastout.dev/applied-objects";
inline constexpr std::string_view kCriteriaFinalizer = "lastout.dev/criteria";

// The label by which an EndpointSlice says whose it is.
inline constexpr std::string_view kServiceNameLabel = "kubernetes.io/service-name";
// The label by which it says who writes it, and who does so for Services that have a selector.
inline constexpr std::string_view kSliceManagerLabel = "endpointslice.kubernetes.io/managed-by";
inline constexpr std::string_view kSliceController = "endpointslice-controller.k8s.io";
// The label of the Endpoints and EndpointSlices of a Service without a cluster IP.
inline constexpr std::string_view kHeadlessLabel = "service.kubernetes.io/headless";
// The label by which a ControllerRevision says which Pods are of it: that of a DaemonSet, and of a
// StatefulSet.
inline constexpr std::string_view kDaemonSetRevisionLabel = "controller-revision-hash";
inline constexpr std::string_view kStatefulSetRevisionLabel = "controller.kubernetes.io/hash";
// Before the name of a CSI driver: on a volume while it may be attached, and on its VolumeAttachments.
inline constexpr std::string_view kAttacherFinalizerPrefix = "external-attacher/";

// The label by which every Namespace says its name; API servers set it.
inline constexpr const char* kNamespaceNameLabel = "kubernetes.io/metadata.name";

// Returns true if a Pod of that status.phase has ended for good: its containers do not run again.
constexpr bool isFinalPhase(std::string_view phase) { return phase == "Succeeded" || phase == "Failed"; }

// Returns the key of the Namespace of that name.
inline ObjectKey namespaceKey(std::string_view name) { return {kNamespaces, "", std::string(name)}; }

// Namespaces that an API server does not delete (the admission plugin NamespaceLifecycle). kube-node-lease is
// none of them.
inline constexpr std::array<std::string_view, 3> kImmortalNamespaces = {"default", "kube-public",
                                                                        "kube-system"};
// PriorityClasses that it makes, and does not delete (registry/scheduling/priorityclass/storage of
// Kubernetes).
inline constexpr std::array<std::string_view, 2> kImmortalPriorityClasses = {"system-cluster-critical",
                                                                             "system-node-critical"};

// Returns true if an API server answers a DELETE of the object with 403, whoever asks.
inline bool isImmortal(const ObjectKey& key) {
  const auto isOneOf = [&key](const auto& names) {
    return std::ranges::find(names, key.name) != names.end();
  };
  return (key.type == kNamespaces && isOneOf(kImmortalNamespaces)) ||
         (key.type == kPriorityClasses && isOneOf(kImmortalPriorityClasses));
}

// The ConfigMap that kube-controller-manager writes into each Namespace.
inline constexpr std::string_view kRootCaConfigMap = "kube-root-ca.crt";

// How a certificate begins in PEM.
inline constexpr std::string_view kPemCertificate = "-----BEGIN CERTIFICATE-----";

// Returns true if an object of that type is the Namespace `space`, or is in it.
inline bool isPartOfNamespace(std::string_view space, const GroupResource& type,
                              std::string_view namespaceName, std::string_view name) {
  return namespaceName.empty() ? type == kNamespaces && name == space : namespaceName == space;
}

}  // namespace lastout::kube

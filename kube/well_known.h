// Names to which Kubernetes gives a meaning, each written once: types and finalizers.
#pragma once

#include <string>
#include <string_view>

#include "kube/object_key.h"

namespace lastout::kube {

// Types of the core group.
inline const GroupResource kConfigMaps{"", "configmaps"};
inline const GroupResource kNamespaces{"", "namespaces"};
inline const GroupResource kPersistentVolumeClaims{"", "persistentvolumeclaims"};
inline const GroupResource kPods{"", "pods"};
inline const GroupResource kReplicationControllers{"", "replicationcontrollers"};
inline const GroupResource kSecrets{"", "secrets"};
inline const GroupResource kServiceAccounts{"", "serviceaccounts"};
inline const GroupResource kServices{"", "services"};

// Workloads.
inline const GroupResource kControllerRevisions{"apps", "controllerrevisions"};
inline const GroupResource kCronJobs{"batch", "cronjobs"};
inline const GroupResource kDaemonSets{"apps", "daemonsets"};
inline const GroupResource kDeployments{"apps", "deployments"};
inline const GroupResource kJobs{"batch", "jobs"};
inline const GroupResource kReplicaSets{"apps", "replicasets"};
inline const GroupResource kStatefulSets{"apps", "statefulsets"};

// RBAC.
inline const GroupResource kClusterRoleBindings{"rbac.authorization.k8s.io", "clusterrolebindings"};
inline const GroupResource kClusterRoles{"rbac.authorization.k8s.io", "clusterroles"};
inline const GroupResource kRoleBindings{"rbac.authorization.k8s.io", "rolebindings"};
inline const GroupResource kRoles{"rbac.authorization.k8s.io", "roles"};

// Types by which the API is extended, requests are admitted, and replicas elect one of them.
inline const GroupResource kApiServices{"apiregistration.k8s.io", "apiservices"};
inline const GroupResource kCustomResourceDefinitions{"apiextensions.k8s.io", "customresourcedefinitions"};
inline const GroupResource kLeases{"coordination.k8s.io", "leases"};
inline const GroupResource kMutatingWebhookConfigurations{"admissionregistration.k8s.io",
                                                          "mutatingwebhookconfigurations"};
inline const GroupResource kValidatingAdmissionPolicies{"admissionregistration.k8s.io",
                                                        "validatingadmissionpolicies"};
inline const GroupResource kValidatingAdmissionPolicyBindings{"admissionregistration.k8s.io",
                                                              "validatingadmissionpolicybindings"};
inline const GroupResource kValidatingWebhookConfigurations{"admissionregistration.k8s.io",
                                                            "validatingwebhookconfigurations"};

// Finalizers that API servers add after a Foreground and after an Orphan delete, and that the garbage
// collector removes.
inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
inline constexpr std::string_view kOrphanFinalizer = "orphan";

// Returns the key of the Namespace of that name.
inline ObjectKey namespaceKey(std::string_view name) { return {kNamespaces, "", std::string(name)}; }

}  // namespace lastout::kube

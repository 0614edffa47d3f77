// The story's manifests: the CRD, its instance, the right to read it, the provider with its namespace, and
// the finalizer controller.
#pragma once

namespace lastout::clients {

inline constexpr const char* kCrd = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: coolresources.my.crd.group
spec:
  group: my.crd.group
  scope: Cluster
  names: {kind: CoolResource, listKind: CoolResourceList, plural: coolresources, singular: coolresource}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
)";

// What docs/install.md tells the owners of a type to add.
inline constexpr const char* kReads = R"(---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: lastout-reads-coolresources
  labels: {lastout.dev/aggregate-to-reads: "true"}
rules:
- apiGroups: [my.crd.group]
  resources: [coolresources]
  verbs: [get, list, watch]
)";

inline constexpr const char* kController = R"(---
apiVersion: lastout.dev/v1alpha1
kind: Scenario
metadata: {name: controller}
spec:
  controllers:
  - name: super-important
    runsIn: deployments.apps/finalizer-namespace/finalizer-deployment
    removes: {finalizer: my.crd.group/super-important, from: coolresources.my.crd.group}
    takes: 1s
)";

inline constexpr const char* kProvider = R"(---
apiVersion: v1
kind: Namespace
metadata: {name: finalizer-namespace}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: finalizer-deployment, namespace: finalizer-namespace}
spec:
  replicas: 1
  selector: {matchLabels: {app: finalizer}}
  template:
    metadata: {labels: {app: finalizer}}
    spec: {containers: [{name: controller, image: "example.com/finalizer:1"}]}
)";

inline constexpr const char* kInstance = R"(apiVersion: my.crd.group/v1
kind: CoolResource
metadata:
  name: some-instance
  finalizers: [my.crd.group/super-important]
)";

}  // namespace lastout::clients

// One operator, its CRD, and one widget that only the operator finalizes: documents for tests and benchmarks
// of prove.
#pragma once

namespace lastout::prove {

inline constexpr const char* kOperator = R"(---
apiVersion: v1
kind: Namespace
metadata: {name: operator}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, namespace: operator}
spec:
  replicas: 1
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec: {containers: [{name: operator, image: "example.com/operator:1"}]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: widgets, kind: Widget}
  versions: [{name: v1, served: true, storage: true}]
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: one, finalizers: [example.com/cleanup]}
)";

// Guards the operator until no widget has the finalizer.
inline constexpr const char* kGuard = R"(---
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: operator}
spec:
  provider: {group: apps, resource: deployments, namespace: operator, name: operator}
  criteria:
    - type: Finalizer
      finalizer: {group: example.com, resource: widgets, finalizerName: example.com/cleanup}
)";

}  // namespace lastout::prove

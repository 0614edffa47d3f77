// Manifests that several tests of the machine begin with.
#pragma once

#include <string>

#include "tests/cluster/world.h"

namespace lastout::cluster {

inline const std::string kProvider = R"(
apiVersion: v1
kind: Namespace
metadata: {name: operator}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: controller, namespace: operator}
spec:
  replicas: 1
  selector: {matchLabels: {app: c}}
  template: {metadata: {labels: {app: c}}}
---
)";

inline const std::string kInstances = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: widgets, singular: widget, kind: Widget}
  versions: [{name: v1, served: true, storage: true}]
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: one, finalizers: [example.com/clean]}
---
)";

inline const std::string kGuard = R"(
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: guard}
spec:
  provider: {group: apps, resource: deployments, namespace: operator, name: controller}
  criteria:
  - type: Finalizer
    ifNotInstalled: Met
    finalizer: {group: example.com, resource: widgets, finalizerName: example.com/clean}
---
)";

// The CRD of Things, and one of them. `versions`: those beside v1, each after a comma; `more`: the CRD's
// other fields.
inline std::string things(const std::string& versions = "", const std::string& more = "") {
  return R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Thing, plural: things, singular: thing}
  versions: [{name: v1, served: true, storage: true})" +
         versions + "]\n" + more + R"(
---
{apiVersion: example.com/v1, kind: Thing, metadata: {name: t}}
)";
}
// For `more`: a conversion webhook whose Service is in no file.
inline constexpr char kConvertedByNobody[] =
    "  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {namespace: h, name: hook}}}}\n";

// A webhook whose Service is in no file, with one rule: for these operations on these resources of any group.
inline std::string deadWebhook(const std::string& operations, const std::string& resources,
                               const std::string& more = "",
                               const std::string& kind = "ValidatingWebhookConfiguration") {
  return "---\napiVersion: admissionregistration.k8s.io/v1\nkind: " + kind +
         "\nmetadata: {name: leftover}\nwebhooks:\n- name: leftover.example.com\n"
         "  clientConfig: {service: {namespace: gone, name: gone}}\n"
         "  rules: [{operations: [" +
         operations + "], apiGroups: ['*'], apiVersions: ['*'], resources: ['" + resources + "']}]\n" + more;
}
inline constexpr char kLeftover[] = "validatingwebhookconfigurations.admissionregistration.k8s.io/leftover";

inline constexpr char kDeployment[] = "deployments.apps/operator/controller";
inline constexpr char kWidget[] = "widgets.example.com/one";
inline constexpr char kCrd[] = "customresourcedefinitions.apiextensions.k8s.io/widgets.example.com";
inline constexpr char kNamespace[] = "namespaces/operator";
inline constexpr char kService[] = "criticalservices.lastout.dev/guard";
// Of WorldOptions::works that are called "provider".
inline constexpr char kWork[] = "manifestworks.work.open-cluster-management.io/hub/provider";
inline constexpr char kApplied[] = "appliedmanifestworks.work.open-cluster-management.io/applied-provider";

// The criteria of kGuard hold from now on.
inline void clear(World& world) {
  world.deletes(kWidget);
  world.does(ClientStep::Verb::SetFinalizers, kWidget, 0);
}

}  // namespace lastout::cluster

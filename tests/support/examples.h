// Manifests that several tests show, as text alone: tests that only run the program can include this, too.
#pragma once

namespace lastout::testing {

// The design document's own.
inline constexpr const char* kCriticalServiceExample = R"(apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata:
  name: for-finalizer-deployment
spec:
  provider:
    group: apps
    resource: deployments
    namespace: finalizer-namespace
    name: finalizer-deployment
  criteria:
  - type: Finalizer
    finalizer:
      group: my.crd.group
      resource: coolresources
      finalizerName: my.crd.group/super-important
  - type: SpecificResource
    specificResource:
      group: apiextensions.k8s.io
      resource: CustomResourceDefinition
      name: coolresources.my.crd.group
)";

}  // namespace lastout::testing

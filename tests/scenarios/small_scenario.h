// A small scenario for tests of prove: one operator, its CRD, one widget that only the operator finalizes.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "scenarios/batch.h"
#include "tests/support/manifests.h"

namespace lastout::scenarios {

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

// `spec` is indented by two. Ends the test when it is no scenario.
inline std::unique_ptr<const Ready> smallScenario(const std::string& spec, const std::string& documents) {
  const std::string text =
      "apiVersion: lastout.dev/v1alpha1\nkind: Scenario\nmetadata: {name: small}\nspec:\n"
      "  controllers:\n    - name: cleanup\n      runsIn: deployments.apps/operator/operator\n"
      "      removes: {finalizer: example.com/cleanup, from: widgets.example.com}\n" +
      spec + documents;
  auto scenario = parse(text, "small.yaml");
  if (!scenario) {
    ADD_FAILURE() << testing::lines(scenario.error());
    std::abort();
  }
  auto compiled = compile(*scenario);
  if (!compiled) {
    ADD_FAILURE() << testing::lines(compiled.error());
    std::abort();
  }
  return std::make_unique<const Ready>(Ready{std::move(*scenario), std::move(*compiled)});
}

}  // namespace lastout::scenarios

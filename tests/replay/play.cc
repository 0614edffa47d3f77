#include "tests/replay/play.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "replay/assumptions.h"
#include "replay/names.h"
#include "tests/support/manifests.h"

namespace lastout::replay {

const std::string_view kUnguarded = R"(---
apiVersion: v1
kind: Namespace
metadata: { name: operator }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: operator, namespace: operator }
spec:
  replicas: 1
  selector: { matchLabels: { app: operator } }
  template:
    metadata: { labels: { app: operator } }
    spec: { containers: [{ name: main, image: example.com/operator:1 }] }
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.com }
spec:
  group: example.com
  scope: Cluster
  names: { kind: Widget, plural: widgets, singular: widget }
  versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }]
---
apiVersion: example.com/v1
kind: Widget
metadata: { name: one, finalizers: [example.com/cleanup] }
)";

namespace {

constexpr std::string_view kService = R"(---
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: { name: operator }
spec:
  provider: { group: apps, resource: deployments, namespace: operator, name: operator }
  criteria:
    - type: Finalizer
      finalizer: { group: example.com, resource: widgets, finalizerName: example.com/cleanup }
    - type: SpecificResource
      specificResource:
        group: apiextensions.k8s.io
        resource: customresourcedefinitions
        name: widgets.example.com
)";

const std::string kGuarded = std::string(kService) + std::string(kUnguarded);

}  // namespace

const std::string_view kOperator = kGuarded;

const std::string_view kController = R"(
  controllers:
    - name: cleanup
      runsIn: deployments.apps/operator/operator
      removes: { finalizer: example.com/cleanup, from: widgets.example.com }
)";

std::string scenario(std::string_view spec, std::string_view documents) {
  return "apiVersion: lastout.dev/v1alpha1\nkind: Scenario\nspec:\n" + std::string(spec) + "\n" +
         std::string(documents);
}

std::vector<std::string> shippedFiles() {
  std::vector<std::string> result;
  for (const auto& entry : std::filesystem::directory_iterator("scenarios")) {
    if (entry.path().extension() == ".yaml") result.push_back(entry.path().string());
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<std::string> mistakes(const std::string& yaml) {
  kube::Errors errors;
  if (auto parsed = parse(yaml, "s.yaml"); !parsed)
    errors = parsed.error();
  else if (auto compiled = compile(*parsed); !compiled)
    errors = compiled.error();
  std::vector<std::string> lines;
  for (const kube::Error& error : errors) lines.push_back(kube::toString(error));
  return lines;
}

std::unique_ptr<const Ready> ready(const std::string& yaml, const std::string& file) {
  auto parsed = parse(yaml, file);
  auto compiled = parsed ? compile(*parsed) : tl::unexpected(parsed.error());
  if (compiled) return std::make_unique<const Ready>(Ready{std::move(*parsed), std::move(*compiled)});
  std::cerr << "the scenario in this test is wrong:\n" << testing::lines(compiled.error());
  std::abort();
}

ScenarioReport play(const std::string& yaml, const ReplayOptions& options) {
  return replay(*ready(yaml), options);
}

std::string inOneLine(const ScenarioReport& report) {
  return std::string(word(report.end)) + " at " + seconds(report.goalAt.value_or(report.time)) +
         (report.held ? ": held" : ": failed");
}

std::vector<std::string> failures(const ScenarioReport& report) {
  std::vector<std::string> lines;
  for (const ExpectationResult& outcome : report.outcomes) {
    if (!outcome.held) lines.push_back(outcome.text + ": " + outcome.whyNot);
  }
  return lines;
}

std::vector<std::string> toldAssumptions(const std::string& yaml) {
  const auto made = ready(yaml);
  std::vector<std::string> lines;
  for (const Assumption& one : assumptionsOf(made->scenario, made->compiled))
    lines.push_back(one.object + ": " + one.text);
  return lines;
}

std::vector<std::string> told(const ScenarioReport& report) {
  std::vector<std::string> lines;
  for (const Line& line : report.timeline) lines.push_back(seconds(line.at) + "  " + line.text);
  return lines;
}

}  // namespace lastout::replay

// The goal: what must be gone in the end.
#include "replay/goal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/names.h"
#include "tests/replay/play.h"

namespace lastout::replay {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

std::vector<std::string> goal(std::string_view steps, std::string_view documents = kUnguarded) {
  const auto loaded = ready(scenario("  steps:\n" + std::string(steps), documents));
  const Names names(loaded->compiled.model);
  std::vector<std::string> result;
  for (const cluster::Slot slot : loaded->compiled.goal) result.push_back(names.of(slot));
  return result;
}

TEST(Goal, IsWhatAStepDeletes) { EXPECT_THAT(goal("    - delete: widgets/one"), ElementsAre("widgets/one")); }

TEST(Goal, IsNotWhatADryRunWouldDelete) {
  EXPECT_THAT(goal("    - { delete: widgets/one, dryRun: true }"), IsEmpty());
}

TEST(Goal, HasTheInstancesOfACrd) {
  EXPECT_THAT(goal("    - delete: crd/widgets.example.com"),
              UnorderedElementsAre("customresourcedefinitions/widgets.example.com", "widgets/one"));
}

TEST(Goal, HasTheContentOfANamespaceAndWhatThatOwns) {
  EXPECT_THAT(goal("    - delete: namespace/operator"),
              UnorderedElementsAre("namespaces/operator", "deployments/operator/operator",
                                   StartsWith("replicasets/operator/operator-"),
                                   StartsWith("pods/operator/operator-")));
}

TEST(Goal, HasTheDependentsOfADeployment) {
  EXPECT_THAT(
      goal("    - delete: deployments.apps/operator/operator"),
      UnorderedElementsAre("deployments/operator/operator", StartsWith("replicasets/"), StartsWith("pods/")));
}

TEST(Goal, LeavesDependentsThatAreOrphaned) {
  EXPECT_THAT(goal("    - { delete: deployments.apps/operator/operator, propagationPolicy: Orphan }"),
              ElementsAre("deployments/operator/operator"));
}

// As a dump shows it whose deletion with --cascade=orphan is under way.
TEST(Goal, LeavesDependentsThatAreBeingOrphaned) {
  const std::string owner =
      "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default, finalizers: [orphan], "
      "deletionTimestamp: '2026-01-01T00:00:00Z'}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: "
      "b, "
      "namespace: default, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, uid: ''}]}}\n";
  EXPECT_THAT(goal("    - delete: configmaps/a", owner), ElementsAre("configmaps/default/a"));
}

TEST(Goal, LeavesWhatALaterStepAppliesAgain) {
  EXPECT_THAT(goal("    - delete: deployments.apps/operator/operator\n    - apply: "
                   "deployments.apps/operator/operator"),
              IsEmpty());
  EXPECT_THAT(goal("    - apply: widgets/one\n    - delete: widgets/one"), ElementsAre("widgets/one"));
  // What is applied into a namespace or a CRD that goes has to go with it.
  EXPECT_THAT(goal("    - delete: namespace/operator\n    - apply: deployments.apps/operator/operator"),
              Contains("deployments/operator/operator"));
}

const std::string kWorks = std::string(kUnguarded) + R"(---
kind: ManifestWork
metadata: { name: a }
spec: [namespace/operator, widgets.example.com/one]
---
kind: ManifestWork
metadata: { name: b }
spec: [widgets.example.com/one]
)";

TEST(Goal, HasWhatAWorkAppliedAndTheNoteOfIt) {
  EXPECT_THAT(goal("    - delete: manifestworks/cluster1/a", kWorks),
              AllOf(Contains("manifestworks/cluster1/a"), Contains("appliedmanifestworks/cluster1-a"),
                    Contains("namespaces/operator"), Contains("deployments/operator/operator"),
                    Not(Contains("widgets/one"))));  // b applies it, too
}

TEST(Goal, HasWhatTwoWorksApplyWhenBothGo) {
  EXPECT_THAT(goal("    - delete: manifestworks/cluster1/*", kWorks),
              AllOf(Contains("widgets/one"), Contains("appliedmanifestworks/cluster1-b")));
}

}  // namespace
}  // namespace lastout::replay

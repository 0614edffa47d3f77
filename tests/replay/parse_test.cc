// Scenario files: every mistake is named, with its place, and all of them at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replay/play.h"

namespace lastout::replay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(ScenarioFile, TheSmallestOneHasNothingToSay) {
  EXPECT_THAT(mistakes("apiVersion: lastout.dev/v1alpha1\nkind: Scenario\nspec: {}\n"), IsEmpty());
}

TEST(ScenarioFile, TakesItsNameFromTheFileWhenItHasNone) {
  EXPECT_EQ(ready(scenario("  steps: []"))->scenario.name, "s");
}

TEST(ScenarioFile, EveryMistakeIsReportedAtOnce) {
  EXPECT_THAT(
      mistakes(scenario(R"(  gaurd: true
  steps:
    - delete: widgets.example.com/one
      propagationPolicy: Forground
    - scale: { object: deployments.apps/operator/operator, replicas: 100 }
  expect:
    ends: emtpy
    within: soon)")),
      ElementsAre(AllOf(StartsWith("s.yaml:4:3: "), HasSubstr("gaurd"), HasSubstr("guard")),
                  AllOf(StartsWith("s.yaml:7:26: spec.steps[0].propagationPolicy"), HasSubstr("Foreground")),
                  AllOf(StartsWith("s.yaml:8:70: spec.steps[1].scale.replicas"), HasSubstr("64")),
                  AllOf(StartsWith("s.yaml:10:11: spec.expect.ends"), HasSubstr("empty")),
                  StartsWith("s.yaml:11:13: spec.expect.within")));
}

TEST(ScenarioFile, AnUnknownFieldNamesTheNearestKnownOne) {
  EXPECT_THAT(mistakes(scenario("  steps:\n    - delete: widgets.example.com/one\n      retri: false")),
              ElementsAre(AllOf(StartsWith("s.yaml:6:7: "), HasSubstr("retri"), HasSubstr("retry"))));
  // A field of another kind of step is unknown here.
  EXPECT_THAT(mistakes(scenario("  steps:\n    - delete: widgets.example.com/one\n      serverSide: true")),
              ElementsAre(AllOf(StartsWith("s.yaml:6:7: "), HasSubstr("serverSide"))));
}

TEST(ScenarioFile, FollowsTheNewestKubernetesUnlessItNamesAnother) {
  const auto versionOf = [](const std::string& spec) { return ready(scenario(spec))->scenario.kubernetes; };
  EXPECT_EQ(versionOf("  steps: []"), kube::kNewestKubernetes);
  EXPECT_EQ(versionOf("  kubernetes: \"1.26\""), kube::KubernetesVersion::V1_26);
  EXPECT_EQ(versionOf("  kubernetes: '1.36'"), kube::KubernetesVersion::V1_36);
  EXPECT_EQ(ready(scenario("  kubernetes: \"1.26\""))->compiled.model.kubernetes,
            kube::KubernetesVersion::V1_26);
  EXPECT_THAT(mistakes(scenario("  kubernetes: \"1.30\"")),
              ElementsAre(AllOf(StartsWith("s.yaml:4:15: spec.kubernetes must be \"1.26\" or \"1.36\""),
                                HasSubstr("not \"1.30\""))));
  EXPECT_THAT(mistakes(scenario("  kubernetes: 1.26")),
              ElementsAre(AllOf(StartsWith("s.yaml:4:15: spec.kubernetes is a number"),
                                HasSubstr("in quotes"), HasSubstr("\"1.26\""))));
}

TEST(ScenarioFile, ItsKubernetesStandsInItsSpec) {
  EXPECT_THAT(mistakes("apiVersion: lastout.dev/v1alpha1\nkind: Scenario\nkubernetes: '1.26'\nspec: {}\n"),
              ElementsAre("s.yaml:3:13: kubernetes: write it into spec, as spec.kubernetes"));
}

TEST(ScenarioFile, AReferenceToNothingNamesTheNearestObject) {
  EXPECT_THAT(mistakes(scenario("  steps:\n    - delete: deployments.apps/operator/opertor")),
              ElementsAre(AllOf(StartsWith("s.yaml:5:15: "),
                                HasSubstr("\"deployments.apps/operator/opertor\" names nothing"),
                                HasSubstr("did you mean deployments.apps/operator/operator?"))));
  EXPECT_THAT(mistakes(scenario("  steps:\n    - delete: secrets/operator/key")),
              ElementsAre(HasSubstr("there are no secrets at all")));
}

TEST(ScenarioFile, AReferenceToAnUnknownTypeIsAMistake) {
  EXPECT_THAT(mistakes(scenario("  steps:\n    - delete: [widgetz.example.com/one]")),
              ElementsAre(AllOf(StartsWith("s.yaml:5:16: spec.steps[0].delete[0]: "), HasSubstr("widgets"))));
}

TEST(ScenarioFile, OneObjectIsMeantWhereSeveralMatch) {
  EXPECT_THAT(mistakes(scenario("  expect:\n    before:\n      - [widgets/* gone, '*/operator gone']")),
              ElementsAre(StartsWith("s.yaml:6:26: ")));
  EXPECT_THAT(
      mistakes(scenario("  expect: { before: [[widgets/one gone, widgets/* gone]] }",
                        std::string(kOperator) + "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: "
                                                 "{ name: two }\n")),
      ElementsAre(AllOf(HasSubstr("names 2 objects"), HasSubstr("widgets.example.com/one"),
                        HasSubstr("widgets.example.com/two"))));
}

TEST(ScenarioFile, AnEventEndsWithWhatHappens) {
  EXPECT_THAT(mistakes(scenario("  expect: { never: [widgets/one goen] }")),
              ElementsAre(AllOf(StartsWith("s.yaml:4:21: spec.expect.never[0]"),
                                HasSubstr("did you mean \"gone\"?"))));
  EXPECT_THAT(mistakes(scenario("  expect: { never: [widgets/one] }")),
              ElementsAre(HasSubstr("write requested, denied, accepted, gone, created or changed")));
  EXPECT_THAT(mistakes(scenario("  expect: { never: [17] }")), ElementsAre(HasSubstr("an integer")));
}

TEST(ScenarioFile, AStepDoesOneThing) {
  EXPECT_THAT(
      mistakes(scenario("  steps:\n    - delete: widgets/one\n      apply: widgets/one")),
      ElementsAre(AllOf(StartsWith("s.yaml:5:7: "), HasSubstr("one of delete, apply, patch and scale"))));
  EXPECT_THAT(mistakes(scenario("  steps:\n    - at: 2s")),
              ElementsAre(HasSubstr("needs one of delete, apply, patch and scale")));
  EXPECT_THAT(
      mistakes(scenario("  steps:\n    - patch: { object: widgets/one, finalizers: [], labels: {} }")),
      ElementsAre(HasSubstr("write one step for each")));
}

TEST(ScenarioFile, StepsStandInTheOrderOfTheirTimes) {
  EXPECT_THAT(
      mistakes(scenario(
          "  steps:\n    - delete: widgets/one\n      at: 5s\n    - delete: crd/widgets.example.com\n"
          "      at: 4s")),
      ElementsAre(AllOf(StartsWith("s.yaml:8:11: spec.steps[1].at"), HasSubstr("the one above is later"))));
}

TEST(ScenarioFile, AChangeFitsItsObject) {
  EXPECT_THAT(mistakes(scenario("  steps:\n    - patch: { object: widgets/one, deletionIntent: Ordered }")),
              ElementsAre(HasSubstr("widgets.example.com/one is not a CriticalService")));
  EXPECT_THAT(
      mistakes(scenario("  steps:\n    - scale: { object: widgets/one, replicas: 2 }")),
      ElementsAre(HasSubstr("is not a Deployment, ReplicaSet, ReplicationController or StatefulSet")));
}

TEST(ScenarioFile, WhatCannotBeExpectedTogetherIsAMistake) {
  EXPECT_THAT(mistakes(scenario("  expect: { ends: empty, stuck: [widgets/one] }")),
              ElementsAre(HasSubstr("`ends: stuck`")));
  EXPECT_THAT(mistakes(scenario("  expect: { ends: stuck, within: 5s }")),
              ElementsAre(HasSubstr("never done")));
  EXPECT_THAT(mistakes(scenario("  expect: { before: [[widgets/one gone]] }")),
              ElementsAre(HasSubstr("each of which happens before the next")));
}

// As in several files of a folder.
TEST(ScenarioFile, AnObjectMayStandTwiceIfItIsAlike) {
  const std::string one = "---\napiVersion: v1\nkind: Namespace\nmetadata: { name: a }\n";
  EXPECT_THAT(mistakes(scenario("  steps: []", one + one)), IsEmpty());
  const std::string inAnotherOrder = "---\nkind: Namespace\nmetadata: { name: a }\napiVersion: v1\n";
  EXPECT_THAT(mistakes(scenario("  steps: []", one + inAnotherOrder)), IsEmpty());
  EXPECT_THAT(
      mistakes(scenario("  steps: []", one + "---\napiVersion: v1\nkind: Namespace\nmetadata: { name: a, "
                                             "labels: { b: c } }\n")),
      ElementsAre(AllOf(StartsWith("s.yaml:10:1: namespaces/a"), HasSubstr("s.yaml:6:1"))));
}

TEST(ScenarioFile, HasOneScenario) {
  EXPECT_THAT(mistakes("apiVersion: v1\nkind: Namespace\nmetadata: { name: a }\n"),
              ElementsAre(StartsWith(
                  "s.yaml: there is no document of kind Scenario in this file; of plain manifests, ")));
  EXPECT_THAT(mistakes(scenario("  steps: []", "---\nkind: Scenario\n")),
              ElementsAre(AllOf(StartsWith("s.yaml:6:1: "), HasSubstr("the first is in line 1"))));
  EXPECT_THAT(mistakes("apiVersion: lastout.dev/v1\nkind: Scenario\nspec: {}\n"),
              ElementsAre(AllOf(StartsWith("s.yaml:1:13: "), HasSubstr("lastout.dev/v1alpha1"))));
}

TEST(ScenarioFile, AControllerRunsInOneObjectOfTheFile) {
  EXPECT_THAT(
      mistakes(scenario(R"(  controllers:
    - name: a
      runsIn: deployments.apps/operator/operater
      removes: { finalizer: x.y/z, from: widget }
    - name: b
      removes: { from: nothings })")),
      ElementsAre(StartsWith("s.yaml:9:16: spec.controllers[1].removes.finalizer"),
                  AllOf(StartsWith("s.yaml:9:24: spec.controllers[1].removes.from"), HasSubstr("nothings"))));
}

TEST(ScenarioFile, AControllerRunsInSomethingThatIsThere) {
  EXPECT_THAT(mistakes(scenario(R"(  controllers:
    - name: a
      runsIn: deployments.apps/operator/operater
      removes: { finalizer: x.y/z, from: widget })")),
              ElementsAre(AllOf(StartsWith("s.yaml:6:15: "),
                                HasSubstr("did you mean deployments.apps/operator/operator?"))));
}

TEST(ScenarioFile, OtherFilesStandBesideItOrBelow) {
  EXPECT_THAT(mistakes(scenario("  files: [/etc/passwd, ../x.yaml, a/../../b.yaml, there-is-none.yaml, 3]")),
              ElementsAre(AllOf(StartsWith("s.yaml:4:11: "), HasSubstr("is an absolute path")),
                          AllOf(StartsWith("s.yaml:4:24: "), HasSubstr("outside of the scenario's folder")),
                          AllOf(StartsWith("s.yaml:4:35: "), HasSubstr("outside of the scenario's folder")),
                          AllOf(StartsWith("s.yaml:4:51: "), HasSubstr("there-is-none.yaml")),
                          AllOf(StartsWith("s.yaml:4:71: "), HasSubstr("spec.files[4]"))));
}

// The document's own example of three works, and of a CriticalService, word for word in form.
TEST(ScenarioFile, TheDocumentsShorthandLoadsAsItStands) {
  const auto loaded = ready(scenario("  steps:\n    - delete: manifestworks/cluster1/*", R"(---
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
  - type: SpecificResource
    specificResource:
      group: apiextensions.k8s.io
      resource: CustomResourceDefinition
      name: coolresources.my.crd.group
---
apiVersion: v1
kind: Namespace
metadata: { name: finalizer-namespace }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: finalizer-deployment, namespace: finalizer-namespace }
---
kind: ManifestWork
metadata:
  name: finalizer
spec:
  criticalservices/for-finalizer-deployment
  namespace/finalizer-namespace
  deployment.apps/finalizer-deployment
---
kind: ManifestWork
metadata:
  name: again
spec:
- namespace/finalizer-namespace
)"));
  ASSERT_EQ(loaded->scenario.works.size(), 2u);
  EXPECT_EQ(kube::toString(loaded->scenario.works[0].manifestWork.key),
            "manifestworks.work.open-cluster-management.io/cluster1/finalizer");
  EXPECT_EQ(loaded->scenario.works[0].manifests.size(), 3u);
  EXPECT_EQ(kube::toString(loaded->scenario.works[0].manifests[2].key),
            "deployments.apps/finalizer-namespace/finalizer-deployment");
}

TEST(ScenarioFile, AWorkInItsRealFormBringsItsObjects) {
  const auto loaded = ready(scenario("  steps:\n    - delete: manifestworks/cluster1/a", R"(---
apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: { name: a, namespace: cluster1 }
spec:
  workload:
    manifests:
      - apiVersion: v1
        kind: ConfigMap
        metadata: { name: c, namespace: default }
)"));
  EXPECT_TRUE(loaded->compiled.model.find({{"", "configmaps"}, "default", "c"}).has_value());
}

}  // namespace
}  // namespace lastout::replay

// ManifestWorks in both forms, and AppliedManifestWorks, from YAML into values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/manifestwork/reading.h"

namespace lastout::manifestwork {
namespace {

using testing::ElementsAre;

constexpr const char* kCluster = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: coolresources.my.crd.group
spec:
  group: my.crd.group
  scope: Cluster
  names: {plural: coolresources, singular: coolresource, kind: CoolResource}
  versions:
  - {name: v1, served: true, storage: true}
---
apiVersion: my.crd.group/v1
kind: CoolResource
metadata:
  name: some-instance
---
apiVersion: v1
kind: Namespace
metadata:
  name: finalizer-namespace
---
apiVersion: apps/v1
kind: Deployment
metadata:
  namespace: finalizer-namespace
  name: finalizer-deployment
---
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata:
  name: for-finalizer-deployment
---
)";

std::string withCluster(std::string_view works) { return kCluster + std::string(works); }

// --- shorthand ---

TEST(Shorthand, ReadsTheWorksAsTheDesignDocumentWritesThem) {
  const File file(withCluster(R"(kind: ManifestWork
metadata:
  name: finalizer
spec:
  criticalservices/for-finalizer-deployment
  namespace/finalizer-namespace
  deployment.apps/finalizer-deployment
---
kind: ManifestWork
metadata:
  name: crd
spec:
  crd/coolresources.my.crd.group
---
kind: ManifestWork
metadata:
  name: cr
spec:
  coolresources.my.crd.group/some-instance
)"));
  EXPECT_EQ(kube::toString(file.object("finalizer").key),
            "manifestworks.work.open-cluster-management.io/cluster1/finalizer");
  EXPECT_THAT(
      manifestsOf(file.work("finalizer")),
      ElementsAre("criticalservices.lastout.dev/for-finalizer-deployment", "namespaces/finalizer-namespace",
                  "deployments.apps/finalizer-namespace/finalizer-deployment"));
  EXPECT_THAT(manifestsOf(file.work("crd")),
              ElementsAre("customresourcedefinitions.apiextensions.k8s.io/coolresources.my.crd.group"));
  EXPECT_THAT(manifestsOf(file.work("cr")), ElementsAre("coolresources.my.crd.group/some-instance"));
}

TEST(Shorthand, TakesAListOfWordsToo) {
  const File file(withCluster(R"(kind: ManifestWork
metadata: {name: all}
spec:
- ns/finalizer-namespace
- deploy/finalizer-deployment -n finalizer-namespace
)"));
  EXPECT_THAT(manifestsOf(file.work("all")),
              ElementsAre("namespaces/finalizer-namespace",
                          "deployments.apps/finalizer-namespace/finalizer-deployment"));
}

TEST(Shorthand, KeepsTheNamespaceAndTheVersionThatAreWritten) {
  const File file(R"(apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: {name: all, namespace: paris}
spec: []
)");
  EXPECT_EQ(file.object("all").key.namespaceName, "paris");
  EXPECT_THAT(manifestsOf(file.work("all")), ElementsAre());
}

TEST(Shorthand, AWordThatNamesNothingIsAnErrorWithTheNearestName) {
  const File file(withCluster(R"(kind: ManifestWork
metadata: {name: all}
spec:
- deployment.apps/finalizer-deploymnet
- pod/x
- deploy/other
)"));
  EXPECT_EQ(
      errorsOf(file.work("all")),
      "works.yaml:37:3: ManifestWork all: \"deployment.apps/finalizer-deploymnet\" names no object in the "
      "input; "
      "did you mean finalizer-deployment?\n"
      "works.yaml:38:3: ManifestWork all: \"pod/x\" names no object in the input, which has no pods\n"
      "works.yaml:39:3: ManifestWork all: \"deploy/other\" names no object in the input; of this type it has "
      "finalizer-deployment\n");
}

TEST(Shorthand, AWordThatNamesSeveralObjectsIsAnErrorThatListsThem) {
  const File file(withCluster(R"(apiVersion: apps/v1
kind: Deployment
metadata: {namespace: other, name: finalizer-deployment}
---
kind: ManifestWork
metadata: {name: all}
spec:
  deployment.apps/finalizer-deployment
---
kind: ManifestWork
metadata: {name: one}
spec:
  deployment.apps/other/finalizer-deployment
)"));
  EXPECT_EQ(errorsOf(file.work("all")),
            "works.yaml:41:3: ManifestWork all: \"deployment.apps/finalizer-deployment\" names 2 objects in "
            "the input: "
            "deployments.apps/finalizer-namespace/finalizer-deployment and "
            "deployments.apps/other/finalizer-deployment; "
            "write the namespace too\n");
  EXPECT_THAT(manifestsOf(file.work("one")), ElementsAre("deployments.apps/other/finalizer-deployment"));
}

TEST(Shorthand, RefusesWhatIsNoWordForOneObject) {
  const File file(withCluster(R"(kind: ManifestWork
metadata: {name: all}
spec:
- deploy/*
- 7
- manifestwork/all
- ns/finalizer-namespace
- namespace/finalizer-namespace
- nosuchtype/x
)"));
  const std::string errors = errorsOf(file.work("all"));
  EXPECT_THAT(errors,
              testing::HasSubstr("works.yaml:37:3: ManifestWork all: \"deploy/*\": a word names one object"));
  EXPECT_THAT(errors, testing::HasSubstr("works.yaml:38:3: ManifestWork all: spec: a list of words such as "
                                         "deployment.apps/name is expected, but this is an integer"));
  EXPECT_THAT(errors, testing::HasSubstr("works.yaml:39:3: ManifestWork all: a work cannot apply itself"));
  EXPECT_THAT(errors, testing::HasSubstr(
                          "works.yaml:41:3: ManifestWork all: namespaces/finalizer-namespace stands in "
                          "it twice"));
  EXPECT_THAT(errors, testing::HasSubstr("works.yaml:42:3: ManifestWork all: \"nosuchtype/x\""));
}

TEST(Shorthand, LeavesEveryOtherDocumentAlone) {
  for (const char* text :
       {"kind: Deployment\nspec: words\n", "kind: ManifestWork\nspec: {workload: {}}\n",
        "kind: ManifestWork\nmetadata: {name: a}\n", "- kind\n", "kind: [ManifestWork]\nspec: x\n"}) {
    auto documents = kube::parseYaml(text, "a.yaml");
    ASSERT_TRUE(documents) << text;
    const auto before = kube::toJson(documents->front());
    EXPECT_EQ(kube::toJson(completeShorthand(documents->front())), before) << text;
  }
}

// --- the real form ---

TEST(Work, ReadsManifestsWithTheirPlacesAndTheTypesThatTheyDefine) {
  const File file(R"(apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: {name: all, namespace: cluster1}
spec:
  deleteOption: {propagationPolicy: Foreground}
  workload:
    manifests:
    - apiVersion: my.crd.group/v1
      kind: CoolResource
      metadata: {name: some-instance, namespace: here, finalizers: [my.crd.group/super-important]}
    - apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: {name: coolresources.my.crd.group}
      spec:
        group: my.crd.group
        scope: Namespaced
        names: {plural: coolresources, kind: CoolResource}
        versions: [{name: v1, served: true, storage: true}]
)");
  const auto work = file.work("all");
  EXPECT_THAT(manifestsOf(work),
              ElementsAre("coolresources.my.crd.group/here/some-instance",
                          "customresourcedefinitions.apiextensions.k8s.io/coolresources.my.crd.group"));
  ASSERT_TRUE(work);
  EXPECT_EQ(work->object.key.name, "all");
  EXPECT_THAT(work->manifests[0].meta.finalizers, ElementsAre("my.crd.group/super-important"));
  EXPECT_EQ(work->manifests[0].content.position, (kube::Position{8, 7}));
  EXPECT_EQ(work->manifests[0].file, "works.yaml");
}

TEST(Work, FindsEmbeddedTypesInsideLists) {
  const File file(R"(apiVersion: v1
kind: List
items:
- apiVersion: work.open-cluster-management.io/v1
  kind: ManifestWork
  metadata: {name: crd, namespace: cluster1}
  spec:
    workload:
      manifests:
      - apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: coolresources.my.crd.group}
        spec:
          group: my.crd.group
          scope: Cluster
          names: {plural: coolresources, kind: CoolResource}
          versions: [{name: v1, served: true, storage: true}]
---
apiVersion: my.crd.group/v1
kind: CoolResource
metadata: {name: some-instance}
)");
  EXPECT_EQ(kube::toString(file.object("some-instance").key), "coolresources.my.crd.group/some-instance");
}

TEST(Work, ReportsEverythingThatIsWrong) {
  const File file(R"(apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: {name: all, namespace: cluster1}
spec:
  executor: {}
  deleteOption: {propagationPolicy: Orphaned, selectivelyOrphans: {orphaningRules: [{resource: secrets}]}}
  wrkload: {}
  workload:
    manifest: []
    manifests:
    - {apiVersion: v1, kind: Namespace, metadata: {name: a}}
    - {apiVersion: v1, kind: Namespace, metadata: {name: a}}
    - {apiVersion: v1, kind: Nothing, metadata: {name: a}}
    - text
)");
  const std::string errors = errorsOf(file.work("all"));
  EXPECT_THAT(errors, testing::HasSubstr("works.yaml:6:37: spec.deleteOption.propagationPolicy"));
  EXPECT_THAT(errors,
              testing::HasSubstr("works.yaml:6:85: spec.deleteOption.selectivelyOrphans.orphaningRules[0]"));
  EXPECT_THAT(errors, testing::HasSubstr(
                          "works.yaml:7:3: spec.\"wrkload\" is no known field; did you mean \"workload\"?"));
  EXPECT_THAT(errors, testing::HasSubstr("works.yaml:9:5: spec.workload.\"manifest\" is no known field"));
  EXPECT_THAT(errors,
              testing::HasSubstr("works.yaml:12:7: ManifestWork all: namespaces/a stands in it twice"));
  EXPECT_THAT(errors, testing::ContainsRegex("works.yaml:13:[0-9]+: .*Nothing"));
  EXPECT_THAT(errors, testing::ContainsRegex("works.yaml:14:7: "));
}

// OrphaningRule of the API: group, resource, namespace and name, each as it is written.
TEST(Work, SaysWhichObjectsItsDeletionLeavesBehind) {
  const auto orphans = [](const std::string& option) {
    const File file(R"(apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: {name: all, namespace: cluster1}
spec:
)" + option + R"(
  workload:
    manifests:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: y}}
    - {apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: x}}
    - {apiVersion: v1, kind: Namespace, metadata: {name: a}}
)");
    const auto work = file.work("all");
    if (!work) return errorsOf(work);
    std::string names;
    for (const AppliedResource& resource : appliedBy(*work).resources)
      names += resource.orphaned ? kube::toString(resource.key) + " " : "";
    return names;
  };
  const std::string all = "configmaps/x/a configmaps/y/a deployments.apps/x/a namespaces/a ";
  EXPECT_EQ(orphans(""), "");
  EXPECT_EQ(orphans("  deleteOption: {}"), "");
  EXPECT_EQ(orphans("  deleteOption: {propagationPolicy: Foreground, ttlSecondsAfterFinished: 60}"), "");
  EXPECT_EQ(orphans("  deleteOption: {propagationPolicy: Orphan}"), all);
  EXPECT_EQ(orphans("  deleteOption: {propagationPolicy: SelectivelyOrphan}"), "");
  const std::string selectively =
      "  deleteOption:\n    propagationPolicy: SelectivelyOrphan\n    selectivelyOrphans:\n      "
      "orphaningRules:\n";
  EXPECT_EQ(orphans(selectively + "      - {resource: configmaps, namespace: y, name: a}\n"
                                  "      - {group: apps, resource: deployments, namespace: x, name: a}\n"
                                  "      - {group: \"\", resource: namespaces, name: a}"),
            "configmaps/y/a deployments.apps/x/a namespaces/a ");
  EXPECT_EQ(orphans(selectively + "      - {resource: deployments, namespace: x, name: a}\n"
                                  "      - {resource: configmaps, name: a}"),
            "");
}

TEST(Work, ItsRecordDoesNotWaitForWhatItLeavesBehind) {
  const File file(R"(apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: {name: all, namespace: cluster1}
spec:
  deleteOption:
    propagationPolicy: SelectivelyOrphan
    selectivelyOrphans: {orphaningRules: [{resource: secrets, namespace: x, name: b}]}
  workload:
    manifests:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}
    - {apiVersion: v1, kind: Secret, metadata: {name: b, namespace: x}}
)");
  const auto work = file.work("all");
  ASSERT_TRUE(work);
  const std::vector<WorkRequirement> requirements = requirementsOf(appliedBy(*work));
  ASSERT_EQ(requirements.size(), 1U);
  EXPECT_EQ(requirements[0].condition.name, "a");
}

// What is stored may have been written by anybody.
TEST(Work, ItsStoredDeleteOptionIsReadAsTheAgentReadsIt) {
  const auto read = [](const std::string& text) {
    return deleteOptionOf(kube::parseYaml(text, "work").value().at(0));
  };
  const kube::ObjectKey map = {{"", "configmaps"}, "x", "a"};
  EXPECT_TRUE(read("spec: {deleteOption: {propagationPolicy: Orphan}}").orphans(map));
  EXPECT_FALSE(read("spec: {deleteOption: {propagationPolicy: [Orphan]}}").orphans(map));
  EXPECT_FALSE(read("spec: {}").orphans(map));
  EXPECT_TRUE(read("spec: {deleteOption: {propagationPolicy: SelectivelyOrphan, selectivelyOrphans: "
                   "{orphaningRules: [5, {resource: configmaps, namespace: x, name: a}]}}}")
                  .orphans(map));
}

TEST(Work, WhatItOnlyReadsIsLeftBehind) {
  const File file(R"(apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: {name: all, namespace: cluster1}
spec:
  workload:
    manifests:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: read, namespace: x}}
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: made, namespace: x}}
  manifestConfigs:
  - resourceIdentifier: {group: '', resource: configmaps, namespace: x, name: read}
    updateStrategy: {type: ReadOnly}
  - resourceIdentifier: {group: '', resource: configmaps, namespace: x, name: made}
    updateStrategy: {type: CreateOnly}
)");
  const auto work = file.work("all");
  ASSERT_TRUE(work);
  for (const DeleteOption& option : {work->deleteOption, deleteOptionOf(work->object.content)}) {
    EXPECT_TRUE(option.onlyReads({{"", "configmaps"}, "x", "read"}));
    EXPECT_TRUE(option.orphans({{"", "configmaps"}, "x", "read"}));
    EXPECT_FALSE(option.onlyReads({{"", "configmaps"}, "x", "made"}));
    EXPECT_FALSE(option.orphans({{"", "configmaps"}, "x", "made"}));
  }
}

TEST(Work, ASpecIsNeeded) {
  const File file(
      "apiVersion: work.open-cluster-management.io/v1\nkind: ManifestWork\nmetadata: {name: a}\nspec:\n");
  EXPECT_THAT(errorsOf(file.work("a")),
              testing::HasSubstr("works.yaml:1:1: ManifestWork a: spec is missing"));
}

// --- AppliedManifestWork ---

TEST(Applied, ReadsWhatTheAgentNoted) {
  const File file(R"(apiVersion: work.open-cluster-management.io/v1
kind: AppliedManifestWork
metadata: {name: d40a-finalizer, uid: u-1}
spec: {agentID: agent1, hubHash: d40a, manifestWorkName: finalizer, somethingNew: 1}
status:
  evictionStartTime: "2026-01-01T00:00:00Z"
  appliedResources:
  - {group: "", version: v1, resource: namespaces, namespace: "", name: finalizer-namespace, uid: u-2}
  - {group: apps, version: v1, resource: deployments, namespace: finalizer-namespace, name: d, uid: u-3}
)");
  const auto applied = parseApplied(file.objects.front());
  ASSERT_TRUE(applied) << errorsOf(applied);
  EXPECT_EQ(applied->object.meta.uid, "u-1");
  EXPECT_EQ(applied->manifestWorkName, "finalizer");
  EXPECT_EQ(applied->hubHash, "d40a");
  EXPECT_EQ(applied->agentId, "agent1");
  ASSERT_EQ(applied->resources.size(), 2u);
  EXPECT_EQ(kube::toString(applied->resources[0].key), "namespaces/finalizer-namespace");
  EXPECT_EQ(applied->resources[0].uid, "u-2");
  EXPECT_EQ(kube::toString(applied->resources[1].key), "deployments.apps/finalizer-namespace/d");
  EXPECT_EQ(applied->resources[1].uid, "u-3");
}

TEST(Applied, ANewOneHasAppliedNothingYet) {
  const File file(R"(apiVersion: work.open-cluster-management.io/v1
kind: AppliedManifestWork
metadata: {name: d40a-finalizer}
spec: {hubHash: d40a, manifestWorkName: finalizer}
)");
  const auto applied = parseApplied(file.objects.front());
  ASSERT_TRUE(applied) << errorsOf(applied);
  EXPECT_TRUE(applied->resources.empty());
}

TEST(Applied, ReportsWhatIsMissing) {
  const File file(R"(apiVersion: work.open-cluster-management.io/v1
kind: AppliedManifestWork
metadata: {name: d40a-finalizer}
spec: {hubHash: d40a}
status:
  appliedResources:
  - {group: apps, name: d}
)");
  const std::string errors = errorsOf(parseApplied(file.objects.front()));
  EXPECT_THAT(errors, testing::HasSubstr("spec.manifestWorkName"));
  EXPECT_THAT(errors, testing::HasSubstr("status.appliedResources[0].resource"));
}

}  // namespace
}  // namespace lastout::manifestwork

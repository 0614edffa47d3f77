// What works go after: the note goes after what it lists, the work after its note.
#include "manifestwork/ordering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/manifestwork/reading.h"

namespace lastout::manifestwork {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kWork = R"(apiVersion: v1
kind: Namespace
metadata: {name: web, uid: u-web}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: server, namespace: web}
---
kind: ManifestWork
metadata: {name: site}
spec: ns/web deploy/server
)";

constexpr const char* kNote = R"(apiVersion: work.open-cluster-management.io/v1
kind: AppliedManifestWork
metadata: {name: d40a-site, uid: u-note}
spec: {hubHash: d40a, manifestWorkName: site}
status:
  appliedResources:
  - {group: apps, resource: deployments, namespace: web, name: server, uid: u-server}
)";

AppliedManifestWork note(std::string_view text = kNote) {
  const File file(text);
  auto applied = parseApplied(file.objects.front());
  EXPECT_TRUE(applied) << errorsOf(applied);
  return *applied;
}

// "subject after object uid, because of field"
std::vector<std::string> inWords(const std::vector<WorkRequirement>& requirements) {
  std::vector<std::string> words;
  for (const WorkRequirement& requirement : requirements) {
    EXPECT_EQ(requirement.condition.kind, graph::Condition::Kind::Object);
    EXPECT_EQ(requirement.origin.object, requirement.subject);
    const graph::Condition& condition = requirement.condition;
    words.push_back(requirement.subject.name + " after " +
                    kube::toString(kube::ObjectKey{condition.type, condition.namespaceName, condition.name}) +
                    " " + condition.uid + ", because of " + requirement.origin.field);
  }
  return words;
}

TEST(Ordering, ANoteGoesAfterWhatItListsByItsUid) {
  EXPECT_THAT(
      inWords(requirementsOf(note())),
      ElementsAre(
          "d40a-site after deployments.apps/web/server u-server, because of status.appliedResources[0]"));
}

TEST(Ordering, AWorkGoesAfterTheNoteThatNamesIt) {
  const auto work = *File(kWork).work("site");
  EXPECT_THAT(
      inWords(requirementsOf(work, std::vector{note()})),
      ElementsAre(
          "site after appliedmanifestworks.work.open-cluster-management.io/d40a-site u-note, because of "
          "spec.workload.manifests"));
}

TEST(Ordering, AWorkGoesAfterTheNoteToComeWhereThereIsNone) {
  const auto work = *File(kWork).work("site");
  AppliedManifestWork other = note();
  other.manifestWorkName = "another";
  EXPECT_THAT(
      inWords(requirementsOf(work, std::vector{other})),
      ElementsAre(
          "site after appliedmanifestworks.work.open-cluster-management.io/cluster1-site , because of "
          "spec.workload.manifests"));
}

TEST(Ordering, WithoutAHubTheNamespaceTellsWorksApart) {
  const auto work = *File(kWork).work("site");
  AppliedManifestWork mine = appliedBy(work);
  EXPECT_TRUE(isAppliedFrom(mine, work));
  mine.object.key.name = mine.object.meta.name = "cluster2-site";
  EXPECT_FALSE(isAppliedFrom(mine, work));
}

TEST(Ordering, WhatAnAgentWouldNote) {
  const auto work = *File(kWork).work("site");
  const AppliedManifestWork applied = appliedBy(work);
  EXPECT_EQ(kube::toString(applied.object.key),
            "appliedmanifestworks.work.open-cluster-management.io/cluster1-site");
  EXPECT_EQ(applied.object.meta.name, "cluster1-site");
  EXPECT_THAT(applied.object.meta.finalizers,
              ElementsAre("cluster.open-cluster-management.io/applied-manifest-work-cleanup"));
  EXPECT_THAT(
      inWords(requirementsOf(applied)),
      ElementsAre("cluster1-site after namespaces/web u-web, because of status.appliedResources[0]",
                  "cluster1-site after deployments.apps/web/server , because of status.appliedResources[1]"));
}

TEST(Ordering, ANoteOfNothingGoesAfterNothing) {
  AppliedManifestWork empty = note();
  empty.resources.clear();
  EXPECT_THAT(requirementsOf(empty), IsEmpty());
}

}  // namespace
}  // namespace lastout::manifestwork

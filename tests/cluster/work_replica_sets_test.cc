// ManifestWorkReplicaSets: their controller makes ManifestWorks, and deletes them with the set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cluster/manifests.h"
#include "tests/cluster/world.h"

namespace lastout::cluster {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kSet = "manifestworkreplicasets.work.open-cluster-management.io/fleet/web";
constexpr const char* kOnHub = "manifestworks.work.open-cluster-management.io/hub/web";

// The set, and a work that has this in its metadata and applies a ConfigMap with a finalizer.
World worldOfSet(const std::string& spec, const std::string& metadata, const std::string& more = "") {
  return World(
      "{apiVersion: work.open-cluster-management.io/v1alpha1, kind: ManifestWorkReplicaSet, metadata: {name: "
      "web, namespace: fleet}, spec: {" +
          spec +
          "}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x, finalizers: "
          "[example.com/slow]}}\n---\n{apiVersion: work.open-cluster-management.io/v1, kind: ManifestWork, "
          "metadata: {name: web, namespace: hub, " +
          metadata + "}}\n" + more,
      {.works = {"web: configmaps/x/a"}});
}
constexpr const char* kForeground = "cascadeDeletionPolicy: Foreground";
constexpr const char* kLabelled =
    "labels: {work.open-cluster-management.io/manifestworkreplicaset: fleet.web}";

TEST(WorkReplicaSets, GoOnceTheDeletionOfTheirWorksWasAccepted) {
  World world = worldOfSet("", kLabelled);
  world.deletes(kSet);
  EXPECT_TRUE(world.terminating(kSet));
  EXPECT_FALSE(world.enabled(Kind::ReplicaSetFinish, kSet));
  world.perform(Kind::ReplicaSetWork, kOnHub);
  EXPECT_THAT(world.log(), Contains("replicasets accepted " + std::string(kOnHub)));
  world.settle();
  EXPECT_FALSE(world.present(kSet)) << "in the background it does not wait for the works";
  EXPECT_TRUE(world.terminating(kOnHub)) << "a finalizer keeps what it applied";
}

TEST(WorkReplicaSets, InTheForegroundWaitForTheirWorks) {
  World world = worldOfSet(kForeground, kLabelled);
  world.deletes(kSet);
  world.settle();
  EXPECT_THAT(world.finalizers(kSet), ElementsAre("work.open-cluster-management.io/manifest-work-cleanup"));
  world.does(ClientStep::Verb::SetFinalizers, "configmaps/x/a", 0);
  world.settle();
  EXPECT_THAT(world.left(), IsEmpty());
}

TEST(WorkReplicaSets, KnowTheirWorksByALabelOrAnAnnotation) {
  for (const char* metadata :
       {"labels: {work.open-cluster-management.io/manifestworkreplicaset: fleet.web}",
        "annotations: {work.open-cluster-management.io/manifestworkreplicaset-owner: fleet/web}"}) {
    World world = worldOfSet("", metadata);
    world.deletes(kSet);
    EXPECT_TRUE(world.enabled(Kind::ReplicaSetWork, kOnHub)) << metadata;
  }
  for (const char* metadata :
       {"labels: {work.open-cluster-management.io/manifestworkreplicaset: fleet.other}",
        "labels: {app: fleet.web}", "labels: {}"}) {
    World world = worldOfSet("", metadata);
    world.deletes(kSet);
    EXPECT_FALSE(world.present(kOnHub) && world.enabled(Kind::ReplicaSetWork, kOnHub)) << metadata;
    world.settle();
    EXPECT_FALSE(world.present(kSet)) << metadata;
    EXPECT_FALSE(world.terminating(kOnHub)) << metadata;
  }
}

// Its placement still selects the cluster.
TEST(WorkReplicaSets, MakeAWorkAgainThatSomebodyDeleted) {
  World world = worldOfSet("", kLabelled);
  world.does(ClientStep::Verb::SetFinalizers, "configmaps/x/a", 0);
  world.deletes(kOnHub);
  world.settle();
  EXPECT_THAT(world.log(), Contains("replicasets created " + std::string(kOnHub)));
  EXPECT_TRUE(world.present("configmaps/x/a")) << "and its agent applies it";
  EXPECT_FALSE(world.terminating(kOnHub));
}

TEST(WorkReplicaSets, StayWhileTheDeletionOfAWorkIsRefused) {
  World world = worldOfSet("", kLabelled, deadWebhook("DELETE", "manifestworks"));
  world.deletes(kSet);
  world.perform(Kind::ReplicaSetWork, kOnHub);
  EXPECT_EQ(world.log().back(), "replicasets denied " + std::string(kOnHub) + ": InternalError");
  EXPECT_TRUE(world.terminating(kSet));
  EXPECT_FALSE(world.enabled(Kind::ReplicaSetFinish, kSet));
}

}  // namespace
}  // namespace lastout::cluster

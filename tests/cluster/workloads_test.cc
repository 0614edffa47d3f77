// Workload controllers: what they make, scale and delete, and that lastout decides their DELETEs too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cluster/manifests.h"
#include "tests/cluster/world.h"

namespace lastout::cluster {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Not;

TEST(Workload, DeletesAGuardedPodOnlyOnceItsCriteriaHold) {
  World world(kProvider + kInstances + kGuard +
              "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web, namespace: x}, spec: "
              "{replicas: 3}}");
  // By the guard's criteria lastout is to decide this one too.
  world.model().slots[world.slot("pods/x/web-1")].guardEntries.push_back({admission::GuardRole::Provider, 0});
  world.does(ClientStep::Verb::SetReplicas, "statefulsets.apps/x/web", 0);
  world.settle();
  EXPECT_TRUE(world.present("pods/x/web-1"));
  EXPECT_FALSE(world.present("pods/x/web-2")) << "what is refused keeps nothing else from going";
  EXPECT_THAT(world.log(), AllOf(Contains("workloads denied pods/x/web-1"),
                                 Not(Contains("workloads accepted pods/x/web-1"))));
  world.does(ClientStep::Verb::SetFinalizers, kWidget, 0);
  world.settle();
  EXPECT_FALSE(world.present("pods/x/web-1")) << "it asks again";
  EXPECT_FALSE(world.unsafe());
}

// What a cluster's dump looks like: the ReplicaSets of earlier roll-outs stand beside the current one.
std::string replicaSet(const std::string& name, int replicas, const std::string& annotations = "{}") {
  return "\n---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata:\n  name: " + name +
         "\n  namespace: x\n  annotations: " + annotations +
         "\n  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: u, controller: true}]"
         "\nspec: {replicas: " +
         std::to_string(replicas) + "}\n";
}

std::string revision(int number) {
  return "{deployment.kubernetes.io/revision: \"" + std::to_string(number) + "\"}";
}

const std::string kWeb =
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: x}, spec: {replicas: 2}}";

uint8_t replicasOf(const World& world, std::string_view reference) {
  return world.state().object(world.slot(reference)).value;
}

TEST(Workload, ADeploymentLeavesItsOldReplicaSetsAlone) {
  World world(kWeb + replicaSet("web-old", 0) + replicaSet("web-new", 2));
  EXPECT_FALSE(world.enabled(Kind::WorkloadSync, "deployments.apps/x/web"));
  world.does(ClientStep::Verb::SetReplicas, "deployments.apps/x/web", 3);
  world.settle();
  EXPECT_EQ(replicasOf(world, "replicasets.apps/x/web-old"), 0);
  EXPECT_EQ(replicasOf(world, "replicasets.apps/x/web-new"), 3);
  EXPECT_EQ(world.left().size(), 6U) << "with three Pods";
}

TEST(Workload, ADeploymentsCurrentReplicaSetHasTheHighestRevision) {
  World world(kWeb + replicaSet("web-a", 2, revision(9)) + replicaSet("web-b", 1, revision(10)));
  world.settle();
  EXPECT_EQ(replicasOf(world, "replicasets.apps/x/web-a"), 2);
  EXPECT_EQ(replicasOf(world, "replicasets.apps/x/web-b"), 2);
}

// Whatever mistake leaves a guarded object unreviewed: its deletion is seen to be unsafe.
TEST(Unsafe, IsADeletionWithoutAReviewWhileTheCriteriaDoNotHold) {
  World world(kProvider + kInstances + kGuard);
  world.model().slots[world.slot(kDeployment)].guardEntries.clear();
  world.deletes(kDeployment);
  EXPECT_FALSE(world.present(kDeployment));
  EXPECT_TRUE(world.unsafe());
}

TEST(Unsafe, IsNotADeletionWithoutAReviewOnceTheyHold) {
  World world(kProvider + kInstances + kGuard);
  world.model().slots[world.slot(kDeployment)].guardEntries.clear();
  world.does(ClientStep::Verb::SetFinalizers, kWidget, 0);
  world.deletes(kDeployment);
  EXPECT_FALSE(world.unsafe());
}

}  // namespace
}  // namespace lastout::cluster

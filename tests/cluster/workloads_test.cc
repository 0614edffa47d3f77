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
  world.model().slots[world.slot("pods/x/web-1")].stakes.push_back({admission::Role::Provider, 0});
  world.does(Step::Verb::SetReplicas, "statefulsets.apps/x/web", 0);
  world.settle();
  EXPECT_TRUE(world.present("pods/x/web-1"));
  EXPECT_FALSE(world.present("pods/x/web-2")) << "what is refused keeps nothing else from going";
  EXPECT_THAT(world.log(), AllOf(Contains("workloads denied pods/x/web-1"),
                                 Not(Contains("workloads accepted pods/x/web-1"))));
  world.does(Step::Verb::SetFinalizers, kWidget, 0);
  world.settle();
  EXPECT_FALSE(world.present("pods/x/web-1")) << "it asks again";
  EXPECT_FALSE(world.unsafe());
}

// Whatever mistake leaves a guarded object unreviewed: its deletion is seen to be unsafe.
TEST(Unsafe, IsADeletionWithoutAReviewWhileTheCriteriaDoNotHold) {
  World world(kProvider + kInstances + kGuard);
  world.model().slots[world.slot(kDeployment)].stakes.clear();
  world.deletes(kDeployment);
  EXPECT_FALSE(world.present(kDeployment));
  EXPECT_TRUE(world.unsafe());
}

TEST(Unsafe, IsNotADeletionWithoutAReviewOnceTheyHold) {
  World world(kProvider + kInstances + kGuard);
  world.model().slots[world.slot(kDeployment)].stakes.clear();
  world.does(Step::Verb::SetFinalizers, kWidget, 0);
  world.deletes(kDeployment);
  EXPECT_FALSE(world.unsafe());
}

}  // namespace
}  // namespace lastout::cluster

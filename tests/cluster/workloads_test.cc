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
  world.model().slots[world.slot("pods/x/web-1")].guardEntries.push_back({admission::GuardedAs::Provider, 0});
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

std::string job(const std::string& spec, const std::string& more = "") {
  return "\n---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: clean, namespace: x" + more +
         "}\nspec: {" + spec + (spec.empty() ? "" : ", ") +
         "template: {metadata: {labels: {app: c}}, spec: {restartPolicy: Never, containers: [{name: "
         "main}]}}}\n";
}

const std::string kSpace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n";

size_t podsIn(const World& world) {
  const std::vector<std::string> left = world.left();
  return static_cast<size_t>(
      std::ranges::count_if(left, [](const std::string& name) { return name.starts_with("pods/"); }));
}

TEST(Workload, AJobRunsAsManyPodsAtOnceAsItSays) {
  const auto pods = [](const std::string& spec, const std::string& status = "") {
    return podsIn(World(kSpace + job(spec) + status));
  };
  EXPECT_EQ(pods(""), 1U);
  EXPECT_EQ(pods("parallelism: 3"), 3U);
  EXPECT_EQ(pods("parallelism: 3, completions: 2"), 2U);
  EXPECT_EQ(pods("parallelism: 0"), 0U);
  EXPECT_EQ(pods("suspend: true"), 0U);
  EXPECT_EQ(pods("", "status: {conditions: [{type: Complete, status: 'True'}]}"), 0U);
  EXPECT_EQ(pods("", "status: {conditions: [{type: Failed, status: 'True'}]}"), 0U);
  EXPECT_EQ(pods("", "status: {conditions: [{type: Complete, status: 'False'}]}"), 1U);
}

TEST(Workload, AJobReplacesItsPod) {
  World world(kSpace + job(""));
  const std::vector<std::string> left = world.left();
  const auto pod = std::ranges::find_if(left, [](const auto& name) { return name.starts_with("pods/"); });
  ASSERT_NE(pod, left.end());
  world.deletes(*pod);
  world.settle();
  EXPECT_EQ(podsIn(world), 1U);
  EXPECT_THAT(world.log(), Contains("workloads created " + *pod));
}

// docs/semantics.md, "The rules", propagation: the default of batch/v1 for Jobs, and for nothing else.
TEST(Workload, ThePodsOfAJobAreOrphanedUnlessTheDeleteSaysOtherwise) {
  for (const bool isSaid : {false, true}) {
    World world(kSpace + job("parallelism: 2"));
    world.deletes("jobs.batch/x/clean", isSaid ? std::optional(PropagationPolicy::Background) : std::nullopt);
    world.settle();
    EXPECT_FALSE(world.present("jobs.batch/x/clean"));
    EXPECT_EQ(podsIn(world), isSaid ? 0U : 2U);
  }
  World foreground(kSpace + job("", ", finalizers: [foregroundDeletion]"));
  foreground.deletes("jobs.batch/x/clean");
  foreground.settle();
  EXPECT_EQ(podsIn(foreground), 0U) << "its finalizers say it";
  World space(kSpace + job(""));
  space.deletes("namespaces/x");
  space.settle();
  EXPECT_THAT(space.left(), testing::IsEmpty()) << "the namespace controller says it";
}

TEST(Workload, AControllerRunsInAJobAndInTheJobsOfACronJob) {
  const std::string kOwned =
      ", ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: often, uid: u, "
      "controller: true, blockOwnerDeletion: true}]";
  const std::string cron =
      "\n---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: often, namespace: x}\n"
      "spec: {schedule: '* * * * *', jobTemplate: {spec: {template: {spec: {containers: [{name: "
      "main}]}}}}}\n";
  for (const char* runsIn : {"jobs.batch/x/clean", "cronjobs.batch/x/often"}) {
    World world(kSpace + job("", kOwned) + cron + "---" + kInstances);
    world.controller("cleaner", runsIn, "example.com/clean", "widgets.example.com");
    world.deletes(kWidget);
    EXPECT_TRUE(world.enabled(Kind::Finalize, kWidget)) << runsIn;
    world.deletes("cronjobs.batch/x/often");  // which takes its Jobs along, and they their Pods
    world.settle();
    EXPECT_EQ(podsIn(world), 0U);
  }
}

// What a controller makes from a Pod template has the template's finalizers.
TEST(Workload, ItsPodsCarryTheFinalizersOfTheirTemplate) {
  for (const auto& [kind, resource] :
       {std::pair("Deployment", "deployments"), std::pair("StatefulSet", "statefulsets"),
        std::pair("DaemonSet", "daemonsets")}) {
    World world(std::string("{apiVersion: apps/v1, kind: ") + kind +
                ", metadata: {name: w, namespace: x}, spec: {selector: {matchLabels: {app: w}}, template: "
                "{metadata: {labels: {app: w}, finalizers: [example.com/drain]}}}}");
    world.deletes(std::string(resource) + ".apps/x/w");
    world.settle();
    ASSERT_EQ(world.left().size(), 1u) << kind;
    const std::string pod = world.left().front();
    EXPECT_TRUE(world.terminating(pod)) << kind;
    EXPECT_THAT(world.finalizers(pod), ElementsAre("example.com/drain")) << kind;
  }
}

TEST(Workload, APodThatScalingBringsCarriesThemToo) {
  World world(
      "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: w, namespace: x}, spec: {replicas: 1, "
      "template: {metadata: {finalizers: [example.com/drain]}}}}");
  world.does(ClientStep::Verb::SetReplicas, "statefulsets.apps/x/w", 2);
  world.settle();
  EXPECT_THAT(world.finalizers("pods/x/w-1"), ElementsAre("example.com/drain"));
}

// The Job controller removes it.
TEST(Workload, APodOfAJobInADumpIsNotKeptByItsTracking) {
  World world(
      "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: x, finalizers: "
      "[batch.kubernetes.io/job-tracking]}}");
  world.deletes("pods/x/p");
  world.settle();
  EXPECT_THAT(world.left(), testing::IsEmpty());
}

// Kubernetes' default of v1, for the sake of old clients.
TEST(Workload, WhatAReplicationControllerOwnsIsOrphanedUnlessTheDeleteSaysOtherwise) {
  const std::string yaml =
      "{apiVersion: v1, kind: ReplicationController, metadata: {name: r, namespace: x, uid: u}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: x, ownerReferences: [{apiVersion: v1, "
      "kind: "
      "ReplicationController, name: r, uid: u, controller: true, blockOwnerDeletion: true}]}}";
  World orphaned(yaml);
  orphaned.deletes("replicationcontrollers/x/r");
  orphaned.settle();
  EXPECT_THAT(orphaned.left(), testing::ElementsAre("pods/x/p"));
  World background(yaml);
  background.deletes("replicationcontrollers/x/r", PropagationPolicy::Background);
  background.settle();
  EXPECT_THAT(background.left(), testing::IsEmpty());
}

// As a ReplicaSet does: https://kubernetes.io/docs/concepts/workloads/controllers/replicationcontroller/
TEST(Workload, AReplicationControllerRunsPods) {
  const std::string yaml =
      "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: x}}\n---\n"
      "{apiVersion: v1, kind: ReplicationController, metadata: {name: r, namespace: x}, spec: {replicas: 1, "
      "selector: {app: r}, template: {metadata: {labels: {app: r}, finalizers: [example.com/f]}, spec: "
      "{containers: [{name: c}], volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]}}}}";
  World used(yaml);
  used.deletes("persistentvolumeclaims/x/c");
  used.settle();
  EXPECT_TRUE(used.present("persistentvolumeclaims/x/c")) << "its Pod mounts it";
  World background(yaml);
  background.deletes("replicationcontrollers/x/r", PropagationPolicy::Background);
  background.settle();
  EXPECT_THAT(background.left(), Contains(testing::StartsWith("pods/x/r-"))) << "by its finalizer";
}

std::string setWithClaims(const std::string& more = "") {
  return "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: x}, spec: {replicas: 2, "
         "template: {metadata: {labels: {app: db}}}, volumeClaimTemplates: [{metadata: {name: data}}]" +
         more + "}}";
}

TEST(StatefulSet, ItsClaimsStayWhenItGoes) {
  World world(setWithClaims());
  world.settle();
  world.deletes("persistentvolumeclaims/x/data-db-0");
  world.settle();
  EXPECT_TRUE(world.terminating("persistentvolumeclaims/x/data-db-0")) << "its Pod mounts it";
  world.deletes("statefulsets.apps/x/db");
  world.settle();
  EXPECT_THAT(world.left(), testing::ElementsAre("persistentvolumeclaims/x/data-db-1"));
}

TEST(StatefulSet, ItsClaimsGoWithItWhereItSaysSo) {
  World world(setWithClaims(", persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}"));
  world.settle();
  world.deletes("statefulsets.apps/x/db");
  world.settle();
  EXPECT_THAT(world.left(), testing::IsEmpty());
}

TEST(StatefulSet, TakesTheClaimsThatTheFilesHave) {
  World world(
      setWithClaims() +
      "\n---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-db-1, namespace: x, "
      "finalizers: [example.com/f]}}");
  world.deletes("persistentvolumeclaims/x/data-db-1");
  world.settle();
  EXPECT_THAT(world.finalizers("persistentvolumeclaims/x/data-db-1"),
              testing::UnorderedElementsAre("example.com/f", "kubernetes.io/pvc-protection"))
      << "the Pod db-1 mounts it";
  world.deletes("statefulsets.apps/x/db");
  world.settle();
  EXPECT_THAT(world.finalizers("persistentvolumeclaims/x/data-db-1"), testing::ElementsAre("example.com/f"));
}

TEST(StatefulSet, APodThatScalingAddsMountsItsOwnClaim) {
  World world(
      setWithClaims() +
      "\n---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-db-2, namespace: x}}");
  world.does(ClientStep::Verb::SetReplicas, "statefulsets.apps/x/db", 3);
  world.settle();
  const auto& claims = world.model().slots;
  const auto isMountedBy = [&](std::string_view claim, std::string_view pod) {
    const std::vector<Slot>& pods = claims[world.slot(claim)].children;
    return std::ranges::find(pods, world.slot(pod)) != pods.end();
  };
  EXPECT_TRUE(isMountedBy("persistentvolumeclaims/x/data-db-2", "pods/x/db-2"));
  EXPECT_FALSE(isMountedBy("persistentvolumeclaims/x/data-db-0", "pods/x/db-2"));
}

}  // namespace
}  // namespace lastout::cluster

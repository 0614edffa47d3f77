// Deletions that were denied to controllers, and that lastout runs itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/well_known.h"
#include "tests/cluster/manifests.h"
#include "tests/cluster/world.h"

namespace lastout::cluster {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kHeld[] = "configmaps/x/held";

const std::string kHolding =
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: held, namespace: x, finalizers: [f/x]}}";

// The provider with all that the work brings, and one object that keeps the work from being finished.
World workThatWaits(bool runsDeferredDeletions) {
  return World(kProvider + kInstances + kGuard + kHolding,
               {.runsDeferredDeletions = runsDeferredDeletions,
                .works = {"provider: namespaces/operator deployments.apps/operator/controller "
                          "criticalservices.lastout.dev/guard configmaps/x/held"}});
}

std::vector<std::string> requestsOfLastout(const World& world) {
  std::vector<std::string> requests;
  for (const std::string& line : world.log()) {
    if (line.starts_with("lastout requested ")) requests.push_back(line.substr(line.rfind(' ') + 1));
  }
  return requests;
}

TEST(DeferredDeletion, IsRunInOrderWhenNobodyElseWould) {
  World world = workThatWaits(true);
  world.deletes(kWork);
  world.settle();
  EXPECT_TRUE(world.present(kDeployment));
  EXPECT_TRUE(world.terminating(kApplied)) << "the collector leaves its dependents alone";
  EXPECT_THAT(requestsOfLastout(world), IsEmpty()) << "its criteria do not hold";
  clear(world);
  world.settle();
  EXPECT_THAT(requestsOfLastout(world), ElementsAre(kDeployment, kNamespace, kService));
  EXPECT_FALSE(world.present(kDeployment) || world.present(kNamespace) || world.present(kService));
  EXPECT_FALSE(world.unsafe());
}

TEST(DeferredDeletion, IsForgottenWhereLastoutOnlyDenies) {
  World world = workThatWaits(false);
  world.deletes(kWork);
  world.settle();
  clear(world);
  world.settle();
  EXPECT_TRUE(world.present(kDeployment));
  EXPECT_THAT(requestsOfLastout(world), IsEmpty());
}

TEST(DeferredDeletion, NothingThatAPersonWasDenied) {
  World world(kProvider + kInstances + kGuard, {.runsDeferredDeletions = true});
  world.send(world.step(ClientStep::Verb::Delete, kDeployment, [](ClientStep& step) { step.retry = false; }));
  EXPECT_THAT(world.log(), Contains(std::string("client denied ") + kDeployment));
  clear(world);
  world.settle();
  EXPECT_TRUE(world.present(kDeployment)) << "who was told no may have changed their mind";
}

TEST(DeferredDeletion, IsReviewedLikeAnyOther) {
  World world = workThatWaits(true);
  world.deletes(kWork);
  world.settle();
  clear(world);
  world.perform(Kind::DeleteDeferred, kDeployment);
  EXPECT_TRUE(world.present(kDeployment)) << "allowed at first sight, and not yet confirmed";
  world.does(ClientStep::Verb::Create, kWidget);  // it has the finalizer again
  world.perform(Kind::Confirm, kDeployment, Actor::Lastout);
  EXPECT_THAT(world.log(), Contains(std::string("lastout denied ") + kDeployment));
  EXPECT_FALSE(world.enabled(Kind::DeleteDeferred, kDeployment));
  clear(world);
  EXPECT_TRUE(world.enabled(Kind::DeleteDeferred, kDeployment)) << "it is still deferred";
}

TEST(DeferredDeletion, IsOfThatObjectAlone) {
  World world = workThatWaits(true);
  world.deletes(kWork);
  world.settle();
  clear(world);
  world.deletes(kDeployment);
  world.does(ClientStep::Verb::Create, kDeployment);
  EXPECT_TRUE(world.present(kDeployment));
  EXPECT_EQ(world.state().object(world.slot(kDeployment)).deferredDeletion, std::nullopt)
      << "another one has its name now";
}

TEST(DeferredDeletion, IsTakenBackByAnOwnerThatComesBack) {
  World world(kProvider + kInstances + kGuard,
              {.runsDeferredDeletions = true, .works = {"provider: deployments.apps/operator/controller"}});
  world.deletes(kWork);
  world.settle();
  world.does(ClientStep::Verb::SetFinalizers, kApplied, 0);
  world.settle();
  EXPECT_FALSE(world.present(kWork)) << "somebody has removed lastout's finalizer by hand";
  world.does(ClientStep::Verb::Create, kWork);
  world.agent(0);
  EXPECT_TRUE(world.present(kApplied));
  world.agent(0);
  clear(world);
  EXPECT_FALSE(world.enabled(Kind::DeleteDeferred, kDeployment)) << "the new work applies it";
  world.settle();
  EXPECT_TRUE(world.present(kDeployment));
}

TEST(DeferredDeletion, IsTakenBackEvenWhileItIsUnderWay) {
  World world(kProvider + kInstances + kGuard,
              {.runsDeferredDeletions = true, .works = {"provider: deployments.apps/operator/controller"}});
  world.deletes(kWork);
  world.settle();
  world.does(ClientStep::Verb::SetFinalizers, kApplied, 0);
  world.settle();
  clear(world);
  world.perform(Kind::DeleteDeferred, kDeployment);
  world.does(ClientStep::Verb::Create, kWork);
  world.agent(0);
  world.agent(0);
  world.perform(Kind::Confirm, kDeployment, Actor::Lastout);
  world.perform(Kind::Commit, kDeployment, Actor::Lastout);
  world.settle();
  EXPECT_TRUE(world.present(kDeployment)) << "the new work applies it";
}

constexpr char kOwned[] =
    "{apiVersion: v1, kind: Namespace, metadata: {name: operator}}\n---\n"
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: owner, namespace: operator}}\n---\n"
    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: controller\n  namespace: operator\n"
    "  ownerReferences:\n"
    "  - {apiVersion: v1, kind: ConfigMap, name: owner, uid: u, blockOwnerDeletion: true}\n"
    "spec:\n  replicas: 1\n  selector: {matchLabels: {app: c}}\n"
    "  template: {metadata: {labels: {app: c}}}\n---\n";

TEST(DeferredDeletion, IsTakenBackByADeletionThatOrphansIt) {
  World world(kOwned + kInstances + kGuard, {.runsDeferredDeletions = true});
  world.deletes("configmaps/operator/owner", PropagationPolicy::Foreground);
  world.perform(Kind::CollectorDelete, kDeployment);
  clear(world);
  EXPECT_TRUE(world.enabled(Kind::DeleteDeferred, kDeployment));
  world.deletes("configmaps/operator/owner", PropagationPolicy::Orphan);
  EXPECT_FALSE(world.enabled(Kind::DeleteDeferred, kDeployment));
  world.settle();
  EXPECT_FALSE(world.present("configmaps/operator/owner"));
  EXPECT_TRUE(world.present(kDeployment)) << "it was to stay";
}

TEST(DeferredDeletion, KeepsHowItWasToBeDone) {
  World world(kOwned + kInstances + kGuard, {.runsDeferredDeletions = true});
  world.deletes("configmaps/operator/owner", PropagationPolicy::Foreground);
  world.perform(Kind::CollectorDelete, kDeployment);
  EXPECT_THAT(world.log(), Contains(std::string("collector denied ") + kDeployment));
  EXPECT_EQ(world.state().object(world.slot(kDeployment)).deferredDeletion,
            (DeferredDeletionState{PropagationPolicy::Foreground, false}))
      << "it has a ReplicaSet that waits for it";
  clear(world);
  world.perform(Kind::DeleteDeferred, kDeployment);
  world.perform(Kind::Confirm, kDeployment, Actor::Lastout);
  world.perform(Kind::Commit, kDeployment, Actor::Lastout);
  EXPECT_THAT(world.finalizers(kDeployment), Contains(kube::kForegroundFinalizer));
}

// The guard with one more line in its spec.
std::string guardWith(const std::string& line) {
  std::string guard = kGuard;
  return guard.insert(guard.find("  provider:"), line);
}

TEST(DeferredDeletion, APersonsTooWhereItsCriticalServiceWantsThat) {
  World world(kProvider + kInstances + guardWith("  deferredDeletions: Always\n"),
              {.runsDeferredDeletions = true, .works = {"provider: deployments.apps/operator/controller"}});
  world.send(world.step(ClientStep::Verb::Delete, kDeployment, [](ClientStep& step) { step.retry = false; }));
  EXPECT_TRUE(world.present(kDeployment));
  clear(world);
  world.settle();
  EXPECT_THAT(requestsOfLastout(world), ElementsAre(kDeployment))
      << "its work has it still, and that is not the person's affair";
}

TEST(DeferredDeletion, NobodysWhereItsCriticalServiceWantsThat) {
  World world(kProvider + kInstances + guardWith("  deferredDeletions: Never\n") + kHolding,
              {.runsDeferredDeletions = true,
               .works = {"provider: namespaces/operator deployments.apps/operator/controller "
                         "configmaps/x/held"}});
  world.deletes(kWork);
  world.settle();
  EXPECT_THAT(world.log(), Contains(std::string("agent denied ") + kDeployment));
  clear(world);
  world.settle();
  EXPECT_THAT(requestsOfLastout(world), IsEmpty());
  EXPECT_TRUE(world.present(kDeployment));
}

TEST(DeferredDeletion, IsForgottenWithTheCriticalServiceThatRecordsIt) {
  World world(
      kProvider + kInstances + guardWith("  deletionIntent: BestEffortDeletion\n") + kHolding,
      {.runsDeferredDeletions = true,
       .works = {"provider: namespaces/operator deployments.apps/operator/controller configmaps/x/held"}});
  world.deletes(kWork);
  world.settle();
  EXPECT_TRUE(world.state().object(world.slot(kDeployment)).deferredDeletion);
  world.deletes(kService);
  EXPECT_FALSE(world.present(kService));
  EXPECT_EQ(world.state().object(world.slot(kDeployment)).deferredDeletion, std::nullopt);
  EXPECT_EQ(world.state().object(world.slot(kNamespace)).deferredDeletion, std::nullopt);
}

TEST(DeferredDeletion, WaitsWhileAnOwnerIsThereThatNobodyDeletes) {
  World world(kOwned + kInstances + kGuard, {.runsDeferredDeletions = true});
  world.deletes("configmaps/operator/owner", PropagationPolicy::Foreground);
  world.perform(Kind::CollectorDelete, kDeployment);
  clear(world);
  ObjectState owner = world.state().object(world.slot("configmaps/operator/owner"));
  owner.presence = Presence::Live;
  world.state().setObject(world.slot("configmaps/operator/owner"), owner);
  EXPECT_FALSE(world.enabled(Kind::DeleteDeferred, kDeployment));
}

}  // namespace
}  // namespace lastout::cluster

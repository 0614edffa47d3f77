// The ManifestWork agent as recorded: applies, records, deletes in order, forgets what fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cluster/manifests.h"
#include "tests/cluster/world.h"

namespace lastout::cluster {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

const WorldOptions kProviderWork{
    .works = {"provider: namespaces/operator deployments.apps/operator/controller "
              "criticalservices.lastout.dev/guard"}};

TEST(Agent, DeletesTheAppliedManifestWorkThenItsObjectsInTheStatusOrder) {
  World world(kProvider, {.works = {"provider: deployments.apps/operator/controller namespaces/operator"}});
  EXPECT_FALSE(world.enabledWork(0)) << "everything is applied";
  world.deletes(kWork);
  world.agent(0);
  EXPECT_TRUE(world.terminating(kApplied));
  world.agent(0);
  EXPECT_TRUE(world.terminating(kNamespace)) << "namespaces stand before deployments.apps";
  EXPECT_FALSE(world.terminating(kDeployment));
  world.agent(0);
  EXPECT_FALSE(world.present(kDeployment));
  world.settle();
  EXPECT_THAT(world.left(), IsEmpty());
}

// OwnedByTheWork() in the agent's source: what a work orphans has no owner reference, and is not deleted.
TEST(Agent, NeitherOwnsNorDeletesWhatItsWorkOrphans) {
  World world(kProvider, {.works = {"provider: namespaces/operator deployments.apps/operator/controller"},
                          .orphans = {"namespaces/operator"}});
  EXPECT_FALSE(world.enabledWork(0)) << "everything is applied";
  world.deletes(kWork);
  world.settle();
  EXPECT_FALSE(world.present(kWork));
  EXPECT_FALSE(world.present(kApplied));
  EXPECT_FALSE(world.present(kDeployment));
  EXPECT_TRUE(world.present(kNamespace));
  EXPECT_FALSE(world.terminating(kNamespace));
}

// "ReadOnly: only checks the existence of the resource" (the agent's API): it does not make it, either.
TEST(Agent, NeitherMakesNorOwnsNorDeletesWhatItOnlyReads) {
  const WorldOptions reads{.works = {"provider: namespaces/operator deployments.apps/operator/controller"},
                           .readOnly = {"namespaces/operator"}};
  World world(kProvider, reads);
  EXPECT_FALSE(world.enabledWork(0));
  world.deletes(kWork);
  world.settle();
  EXPECT_FALSE(world.present(kWork) || world.present(kApplied) || world.present(kDeployment));
  EXPECT_TRUE(world.present(kNamespace));
  World without(kProvider, reads);
  without.deletes(kNamespace);
  without.settle();
  EXPECT_FALSE(without.present(kNamespace));
  EXPECT_TRUE(without.present(kWork));
}

// story-guarded.jsonl: the work is reported gone while Deployment, namespace and CriticalService are still
// there.
TEST(Agent, ForgetsWhatItIsNotAllowedToDeleteAndReportsTheWorkGone) {
  World world(kProvider + kInstances + kGuard, kProviderWork);
  world.deletes(kWork);
  for (int i = 0; i < 6; ++i) world.agent(0);
  EXPECT_FALSE(world.present(kWork));
  EXPECT_FALSE(world.present(kApplied));
  EXPECT_TRUE(world.present(kDeployment));
  EXPECT_TRUE(world.enabled(Kind::CollectorDelete, kDeployment)) << "now the garbage collector tries";
}

// story-deadlock.jsonl: something of the same work still terminates, so the collector has no reason to try.
TEST(Agent, ThatWaitsForOneObjectLeavesTheForgottenOnesToNobody) {
  const std::string held =
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: held, namespace: x, finalizers: [f/x]}}";
  World world(
      kProvider + kInstances + kGuard + held,
      {.works = {"provider: namespaces/operator deployments.apps/operator/controller configmaps/x/held"}});
  world.deletes(kWork);
  world.settle();
  EXPECT_TRUE(world.present(kApplied));
  world.deletes(kWidget);
  world.does(ClientStep::Verb::SetFinalizers, kWidget, 0);
  world.settle();
  EXPECT_TRUE(world.present(kDeployment)) << "its criteria hold, and nobody asks";
  EXPECT_FALSE(world.enabled(Kind::CollectorDelete, kDeployment));
  EXPECT_FALSE(world.enabledWork(0));
}

TEST(Agent, PutsBackWhatIsMissingWhileItsWorkLives) {
  World world(kProvider + kInstances, {.works = {"provider: deployments.apps/operator/controller"}});
  world.deletes(kDeployment);
  world.agent(0);
  EXPECT_TRUE(world.present(kDeployment));
}

TEST(Agent, TakesAnotherObjectOfTheSameNameForGone) {
  World world(kProvider, {.works = {"provider: deployments.apps/operator/controller"}});
  world.deletes(kWork);
  world.agent(0);
  world.deletes(kDeployment);
  world.does(ClientStep::Verb::Create, kDeployment);
  world.settle();
  EXPECT_FALSE(world.present(kWork));
  EXPECT_TRUE(world.present(kDeployment)) << "this one was never the work's";
}

TEST(Agent, LeavesAnObjectToTheOtherWorkThatAppliesIt) {
  World world(kProvider, {.works = {"provider: deployments.apps/operator/controller",
                                    "other: deployments.apps/operator/controller"}});
  world.deletes(kWork);
  world.settle();
  EXPECT_FALSE(world.present(kWork));
  EXPECT_TRUE(world.present(kDeployment));
  EXPECT_THAT(world.log(), Not(Contains(std::string("agent requested ") + kDeployment)));
}

TEST(Agent, AppliesAgainAfterItsRecordWasDeleted) {
  World world(kProvider, {.works = {"provider: deployments.apps/operator/controller"}});
  world.deletes(kApplied);
  world.settle();
  EXPECT_TRUE(world.present(kApplied));
  EXPECT_TRUE(world.present(kDeployment));
}

TEST(Agent, ItsAllowedDeleteIsConfirmedAndCommittedLikeAnyOther) {
  World world(kProvider + kGuard, kProviderWork);
  world.deletes(kWork);
  world.agent(0);
  world.agent(0);
  EXPECT_FALSE(world.terminating(kNamespace));
  world.agentConfirms(0);
  world.agentCommits(0);
  EXPECT_TRUE(world.terminating(kNamespace));
  world.settle();
  EXPECT_THAT(world.left(), IsEmpty());
}

}  // namespace
}  // namespace lastout::cluster

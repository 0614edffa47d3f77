// Admission in the machine: first sight, confirming read and commit, with the rest of the cluster going on
// between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cluster/manifests.h"
#include "tests/cluster/world.h"

namespace lastout::cluster {
namespace {

using testing::Contains;

struct Review : testing::Test {
  World world{kProvider + kInstances + kGuard};
  uint32_t request = 0;

  void finish() {
    world.does(ClientStep::Verb::SetFinalizers, kWidget, 0);
    world.deletes(kWidget);
  }
  Flight flight() const { return world.state().step(request).flight; }
  void act(Kind kind) {
    Events events;
    world.machine().apply(world.state(), {kind, Actor::Client, request, 0}, &events);
  }
  // The provider's DELETE, allowed at first sight.
  void sendAllowed() {
    finish();
    request = world.step(ClientStep::Verb::Delete, kDeployment);
    world.send(request);
    ASSERT_EQ(flight().phase, Flight::Phase::Decided);
  }
  // The finalizer is back on a new instance: the criterion is unmet again.
  void breakCriterion() { world.does(ClientStep::Verb::Create, kWidget); }
};

TEST_F(Review, DeniesTheProviderWhileAnInstanceCarriesTheFinalizer) {
  request = world.step(ClientStep::Verb::Delete, kDeployment);
  world.send(request);
  EXPECT_EQ(world.log().back(), std::string("client denied ") + kDeployment);
  EXPECT_FALSE(world.state().step(request).done) << "the client asks again";
}

// All types that there ever are stand in the input: another resource of their group means nothing.
TEST(Understanding, ACriterionThatMeansNothingIsNeverMet) {
  const auto replaced = [](const std::string& before, const std::string& after) {
    std::string guard = kGuard;
    return guard.replace(guard.find(before), before.size(), after);
  };
  const auto isDenied = [](const std::string& manifests) {
    World world(manifests);
    world.send(world.step(ClientStep::Verb::Delete, kDeployment));
    return world.log().back() == std::string("client denied ") + kDeployment;
  };
  EXPECT_TRUE(isDenied(kProvider + kInstances + replaced("resource: widgets", "resource: gadgets")));
  EXPECT_FALSE(isDenied(kProvider + kInstances + replaced("group: example.com", "group: elsewhere.com")));
  EXPECT_FALSE(isDenied(kProvider + kGuard));
  EXPECT_TRUE(isDenied(kProvider + replaced("ifNotInstalled: Met", "ifNotInstalled: Unknown")));
}

TEST_F(Review, DoesNothingUntilTheCommit) {
  sendAllowed();
  act(Kind::Confirm);
  EXPECT_EQ(flight().phase, Flight::Phase::Confirmed);
  EXPECT_TRUE(world.present(kDeployment));
  act(Kind::Commit);
  EXPECT_FALSE(world.present(kDeployment));
  EXPECT_FALSE(world.unsafe());
}

TEST_F(Review, TheConfirmingReadSeesWhatAppearedAfterTheFirstSight) {
  sendAllowed();
  breakCriterion();
  act(Kind::Confirm);
  EXPECT_EQ(flight().phase, Flight::Phase::None);
  EXPECT_TRUE(world.present(kDeployment));
}

// What is created between that read and the commit is outside the promise (docs/concepts.md).
TEST_F(Review, WhatAppearsAfterTheConfirmingReadDoesNotMakeTheCommitUnsafe) {
  sendAllowed();
  act(Kind::Confirm);
  breakCriterion();
  act(Kind::Commit);
  EXPECT_FALSE(world.present(kDeployment));
  EXPECT_FALSE(world.unsafe());
}

TEST_F(Review, WithoutAConfirmingReadTheCommitIsUnsafe) {
  world.model().confirms = false;
  sendAllowed();
  breakCriterion();
  act(Kind::Confirm);
  act(Kind::Commit);
  EXPECT_TRUE(world.unsafe());
}

TEST_F(Review, AStorageConflictIsReviewedAgain) {
  sendAllowed();
  act(Kind::Confirm);
  world.does(ClientStep::Verb::SetReplicas, kDeployment, 2);
  act(Kind::Commit);
  EXPECT_TRUE(world.present(kDeployment));
  EXPECT_EQ(flight().phase, Flight::Phase::Decided);
  act(Kind::Confirm);
  act(Kind::Commit);
  EXPECT_FALSE(world.present(kDeployment));
}

TEST(Conflict, IsReviewedByOtherPeoplesWebhooksToo) {
  World world(kProvider + kGuard + R"(
{apiVersion: apps/v1, kind: Deployment, metadata: {name: hook, namespace: h},
 spec: {template: {metadata: {labels: {app: hook}}}}}
---
{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: h}, spec: {selector: {app: hook}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: checks}
webhooks:
- name: checks.example.com
  clientConfig: {service: {namespace: h, name: hook}}
  rules: [{operations: [DELETE], apiGroups: [apps], apiVersions: [v1], resources: [deployments]}]
)");
  const uint32_t request = world.step(ClientStep::Verb::Delete, kDeployment);
  world.send(request);
  const auto act = [&](Kind kind) {
    Events events;
    world.machine().apply(world.state(), {kind, Actor::Client, request, 0}, &events);
    return events;
  };
  act(Kind::Confirm);
  world.deletes("services/h/hook");
  world.does(ClientStep::Verb::SetReplicas, kDeployment, 2);
  const Events events = act(Kind::Commit);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_STREQ(events.front().refused, "InternalError");
  EXPECT_TRUE(world.present(kDeployment));
}

TEST_F(Review, APreconditionOnTheUidRefusesAnotherObjectOfTheName) {
  request = world.step(ClientStep::Verb::Delete, kDeployment,
                       [](ClientStep& step) { step.precondition = Precondition::Uid; });
  world.send(request);
  ASSERT_FALSE(world.state().step(request).done) << "denied, and asked again";
  finish();
  world.does(ClientStep::Verb::SetReplicas, kDeployment, 2);
  world.deletes(kDeployment);
  world.does(ClientStep::Verb::Create, kDeployment);
  world.send(request);
  EXPECT_EQ(world.log().back(), std::string("client denied ") + kDeployment + ": Conflict");
  EXPECT_TRUE(world.present(kDeployment));
}

TEST_F(Review, APreconditionOnTheVersionRefusesAnObjectThatChangedSince) {
  request = world.step(ClientStep::Verb::Delete, kDeployment,
                       [](ClientStep& step) { step.precondition = Precondition::ResourceVersion; });
  world.send(request);
  finish();
  world.does(ClientStep::Verb::SetReplicas, kDeployment, 2);
  world.send(request);
  EXPECT_EQ(world.log().back(), std::string("client denied ") + kDeployment + ": Conflict");
  EXPECT_TRUE(world.state().step(request).done);
}

TEST_F(Review, APreconditionIsCheckedAgainAtTheCommit) {
  finish();
  request = world.step(ClientStep::Verb::Delete, kDeployment,
                       [](ClientStep& step) { step.precondition = Precondition::ResourceVersion; });
  world.send(request);
  act(Kind::Confirm);
  world.does(ClientStep::Verb::SetReplicas, kDeployment, 2);
  act(Kind::Commit);
  EXPECT_TRUE(world.present(kDeployment));
  EXPECT_TRUE(world.state().step(request).done);
}

TEST_F(Review, ASecondDeleteOfATerminatingProviderIsDecidedToo) {
  const auto hold = finalizerMask(world.model(), world.slot(kDeployment), {"f/hold"});
  ASSERT_TRUE(hold);
  world.does(ClientStep::Verb::SetFinalizers, kDeployment, *hold);
  finish();
  world.deletes(kDeployment, PropagationPolicy::Background);
  ASSERT_TRUE(world.terminating(kDeployment));
  breakCriterion();
  world.deletes(kDeployment, PropagationPolicy::Foreground);
  EXPECT_EQ(world.log().back(), std::string("client denied ") + kDeployment);
}

TEST_F(Review, GuardsNamespaceServiceAndBothByTheirOwnRules) {
  world.deletes(kNamespace);
  EXPECT_EQ(world.log().back(), "client denied namespaces/operator");
  world.deletes(kService);
  EXPECT_EQ(world.log().back(), std::string("client denied ") + kService);
  finish();
  world.deletes(kService);
  EXPECT_EQ(world.log().back(), std::string("client denied ") + kService) << "the provider is still there";
  world.deletes(kNamespace);
  EXPECT_TRUE(world.terminating(kNamespace));
  world.settle();
  world.deletes(kService);
  EXPECT_FALSE(world.present(kService));
}

TEST_F(Review, AnotherDeletionIntentLetsTheServiceGoFirst) {
  using criticalservice::DeletionIntent;
  world.does(ClientStep::Verb::SetIntent, kService,
             static_cast<uint16_t>(DeletionIntent::BestEffortDeletion));
  world.deletes(kDeployment);
  EXPECT_TRUE(world.present(kDeployment)) << "it guards as long as it is there";
  world.deletes(kService);
  EXPECT_FALSE(world.present(kService));
  world.deletes(kDeployment);
  EXPECT_FALSE(world.present(kDeployment));
}

TEST_F(Review, WithOrphanResourcesTheProviderIsNotGuarded) {
  using criticalservice::DeletionIntent;
  world.does(ClientStep::Verb::SetIntent, kService, static_cast<uint16_t>(DeletionIntent::OrphanResources));
  world.deletes(kDeployment);
  EXPECT_FALSE(world.present(kDeployment));
}

TEST_F(Review, WhereLastoutIsNotNothingIsDenied) {
  World unguarded(kProvider + kInstances + kGuard, {.guarded = false});
  unguarded.deletes(kDeployment);
  EXPECT_FALSE(unguarded.present(kDeployment));
  EXPECT_FALSE(unguarded.unsafe());
}

TEST_F(Review, WatchedEventsAreRememberedInTheState) {
  const auto denied = watch(world.model(), world.slot(kDeployment), EventKind::Denied);
  const auto gone = watch(world.model(), world.slot(kDeployment), EventKind::Gone);
  ASSERT_TRUE(denied && gone);
  world.deletes(kDeployment);
  EXPECT_EQ(world.state().monitors(), uint64_t{1} << *denied);
  finish();
  world.deletes(kDeployment);
  EXPECT_EQ(world.state().monitors(), (uint64_t{1} << *denied) | (uint64_t{1} << *gone));
}

TEST(Denial, IsAPatchThatFindsNothingAndNotADelete) {
  World world("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}");
  const auto denied = watch(world.model(), world.slot("configmaps/x/a"), EventKind::Denied);
  world.deletes("configmaps/x/a");
  world.deletes("configmaps/x/a");
  EXPECT_EQ(world.log().back(), "client denied configmaps/x/a: NotFound");
  EXPECT_EQ(world.state().monitors(), 0U);
  world.does(ClientStep::Verb::SetFinalizers, "configmaps/x/a", 0);
  EXPECT_EQ(world.log().back(), "client denied configmaps/x/a: NotFound");
  EXPECT_EQ(world.state().monitors(), uint64_t{1} << *denied);
}

}  // namespace
}  // namespace lastout::cluster

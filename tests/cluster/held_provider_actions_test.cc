// Providers that lastout holds by a finalizer: deleted at once, gone with their criteria.
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
using testing::Not;

const std::string kHoldsIt(kube::kCriteriaFinalizer);

// kGuard with more lines in its spec; under another name, if one is given.
std::string guardSaying(const std::string& spec, const std::string& name = "guard") {
  std::string guard = kGuard;
  guard.replace(guard.find("name: guard"), 11, "name: " + name);
  return guard.insert(guard.find("  provider:"), spec);
}
const std::string kHoldGuard = guardSaying("  enforcement: Hold\n");

// The first of a type; there is none but the provider's.
std::string firstOf(const World& world, const std::string& type) {
  for (const std::string& name : world.left()) {
    if (name.starts_with(type)) return name;
  }
  return {};
}

void letGo(World& world) {
  world.perform(Kind::HoldProvider, kDeployment);
  world.perform(Kind::Confirm, kDeployment, Actor::Lastout);
  world.perform(Kind::Commit, kDeployment, Actor::Lastout);
}

TEST(HeldProvider, IsDeletedAtOnceAndGoneWithItsCriteria) {
  World world(kProvider + kInstances + kHoldGuard);
  EXPECT_THAT(world.finalizers(kDeployment), ElementsAre(kHoldsIt));
  for (const auto policy :
       {std::optional<PropagationPolicy>(), std::optional(PropagationPolicy::Background)}) {
    world.deletes(kDeployment, policy);
    EXPECT_TRUE(world.terminating(kDeployment));
    EXPECT_THAT(world.log(), Not(Contains(std::string("client denied ") + kDeployment)));
  }
  world.settle();
  EXPECT_NE(firstOf(world, "pods/"), "") << "it does its work";
  EXPECT_FALSE(world.enabled(Kind::HoldProvider, kDeployment));
  clear(world);
  letGo(world);
  EXPECT_FALSE(world.present(kDeployment));
  EXPECT_FALSE(world.unsafe());
  world.settle();
  EXPECT_EQ(firstOf(world, "pods/"), "");
}

TEST(HeldProvider, IsNotDeletedInTheForegroundAlsoOnceItTerminates) {
  World world(kProvider + kInstances + kHoldGuard);
  world.deletes(kDeployment, PropagationPolicy::Foreground);
  EXPECT_EQ(world.log().back(), std::string("client denied ") + kDeployment);
  world.deletes(kDeployment, PropagationPolicy::Background);
  ASSERT_TRUE(world.terminating(kDeployment));
  world.deletes(kDeployment, PropagationPolicy::Foreground);
  EXPECT_EQ(world.log().back(), std::string("client denied ") + kDeployment);
  EXPECT_THAT(world.finalizers(kDeployment), ElementsAre(kHoldsIt));
  for (const char* const guarded : {kNamespace, kService}) {
    world.deletes(guarded);
    EXPECT_EQ(world.log().back(), std::string("client denied ") + guarded);
  }
  EXPECT_FALSE(world.unsafe());
}

TEST(HeldProvider, ThatOrphansLeavesWhatItRan) {
  World world(kProvider + kInstances + kHoldGuard);
  world.deletes(kDeployment, PropagationPolicy::Orphan);
  world.settle();
  EXPECT_THAT(world.finalizers(kDeployment), ElementsAre(kHoldsIt));
  EXPECT_FALSE(world.unsafe());
  clear(world);
  world.settle();
  EXPECT_FALSE(world.present(kDeployment));
  EXPECT_NE(firstOf(world, "pods/"), "");
}

TEST(HeldProvider, IsNoneWhereSomebodyElseSaysDeny) {
  World world(kProvider + kInstances + kHoldGuard + guardSaying("", "another"));
  EXPECT_THAT(world.finalizers(kDeployment), IsEmpty());
  world.deletes(kDeployment, PropagationPolicy::Background);
  EXPECT_EQ(world.log().back(), std::string("client denied ") + kDeployment);
}

// What comes and goes while the provider is not deleted.
TEST(HeldProvider, IsOneWhileEverybodyWantsIt) {
  World world(kProvider + kInstances + kHoldGuard + guardSaying("", "another"),
              {.absent = {"criticalservices.lastout.dev/another"}});
  EXPECT_THAT(world.finalizers(kDeployment), ElementsAre(kHoldsIt));
  world.does(ClientStep::Verb::Create, "criticalservices.lastout.dev/another");
  world.deletes(kDeployment, PropagationPolicy::Background);
  EXPECT_EQ(world.log().back(), std::string("client denied ") + kDeployment)
      << "the finalizer is on it still";
  world.perform(Kind::HoldProvider, kDeployment);
  EXPECT_THAT(world.finalizers(kDeployment), IsEmpty());
  const auto orphan = static_cast<uint16_t>(criticalservice::DeletionIntent::OrphanResources);
  world.does(ClientStep::Verb::SetIntent, "criticalservices.lastout.dev/another", orphan);
  world.perform(Kind::HoldProvider, kDeployment);
  EXPECT_THAT(world.finalizers(kDeployment), ElementsAre(kHoldsIt));
  world.does(ClientStep::Verb::SetIntent, kService, orphan);
  world.perform(Kind::HoldProvider, kDeployment);
  EXPECT_THAT(world.finalizers(kDeployment), IsEmpty());
}

TEST(HeldProvider, ThatIsDeletedStaysForWhoeverSaysDenyByNow) {
  World world(kProvider + kInstances + kHoldGuard + guardSaying("", "another"),
              {.absent = {"criticalservices.lastout.dev/another"}});
  world.deletes(kDeployment);
  world.does(ClientStep::Verb::Create, "criticalservices.lastout.dev/another");
  EXPECT_FALSE(world.enabled(Kind::HoldProvider, kDeployment));
  world.deletes(kDeployment, PropagationPolicy::Background);
  EXPECT_EQ(world.log().back(), std::string("client denied ") + kDeployment) << "that one wants it denied";
  clear(world);
  letGo(world);
  EXPECT_FALSE(world.present(kDeployment));
  EXPECT_FALSE(world.unsafe());
}

TEST(HeldProvider, ThatIsDeletedGoesOnceNobodyGuardsIt) {
  World world(kProvider + kInstances + kHoldGuard);
  world.deletes(kDeployment);
  const auto orphan = static_cast<uint16_t>(criticalservice::DeletionIntent::OrphanResources);
  world.does(ClientStep::Verb::SetIntent, kService, orphan);
  letGo(world);
  EXPECT_FALSE(world.present(kDeployment));
  EXPECT_FALSE(world.unsafe());
}

struct Release : testing::Test {
  World world{kProvider + kInstances + kHoldGuard};

  void begin() {
    world.deletes(kDeployment);
    clear(world);
    world.perform(Kind::HoldProvider, kDeployment);
  }
  void breakCriterion() { world.does(ClientStep::Verb::Create, kWidget); }
};

TEST_F(Release, TheConfirmingReadSeesWhatAppearedSince) {
  begin();
  breakCriterion();
  world.perform(Kind::Confirm, kDeployment, Actor::Lastout);
  EXPECT_TRUE(world.present(kDeployment));
  EXPECT_FALSE(world.enabled(Kind::Commit, kDeployment) || world.enabled(Kind::HoldProvider, kDeployment));
}

// As of a DELETE: docs/concepts.md.
TEST_F(Release, WhatAppearsAfterTheConfirmingReadDoesNotMakeItUnsafe) {
  begin();
  world.perform(Kind::Confirm, kDeployment, Actor::Lastout);
  breakCriterion();
  world.perform(Kind::Commit, kDeployment, Actor::Lastout);
  EXPECT_FALSE(world.present(kDeployment));
  EXPECT_FALSE(world.unsafe());
}

TEST_F(Release, WithoutAConfirmingReadItIsUnsafe) {
  world.model().confirms = false;
  begin();
  breakCriterion();
  world.perform(Kind::Confirm, kDeployment, Actor::Lastout);
  world.perform(Kind::Commit, kDeployment, Actor::Lastout);
  EXPECT_FALSE(world.present(kDeployment));
  EXPECT_TRUE(world.unsafe());
}

TEST_F(Release, InsistsOnTheObjectThatWasLookedAt) {
  begin();
  world.perform(Kind::Confirm, kDeployment, Actor::Lastout);
  world.does(ClientStep::Verb::SetReplicas, kDeployment, 2);
  world.perform(Kind::Commit, kDeployment, Actor::Lastout);
  EXPECT_TRUE(world.present(kDeployment));
  letGo(world);
  EXPECT_FALSE(world.present(kDeployment));
}

// Between the review of a DELETE and its commit.
TEST(HeldProvider, WhoseFinalizerIsTakenOffMeanwhileIsReviewedAgain) {
  World world(kProvider + kInstances + kHoldGuard + guardSaying("", "another"),
              {.absent = {"criticalservices.lastout.dev/another"}});
  const uint32_t another = world.step(ClientStep::Verb::Create, "criticalservices.lastout.dev/another");
  const uint32_t request = world.step(ClientStep::Verb::Delete, kDeployment);
  const auto act = [&](Kind kind) {
    Events events;
    world.machine().apply(world.state(), {kind, Actor::Client, request, 0}, &events);
  };
  world.send(request);
  act(Kind::Confirm);
  ASSERT_EQ(world.state().step(request).flight.phase, Flight::Phase::Confirmed);
  world.send(another);
  world.perform(Kind::HoldProvider, kDeployment);
  act(Kind::Commit);
  EXPECT_FALSE(world.terminating(kDeployment));
  EXPECT_TRUE(world.present(kDeployment));
  EXPECT_FALSE(world.unsafe());
}

// What the check goes by that shares nothing with the rule.
TEST(HeldProvider, IsHeldBackByItsFinalizerAloneAndNotInTheForeground) {
  World world(kProvider + kInstances + kHoldGuard);
  const Slot provider = world.slot(kDeployment);
  const uint16_t held = world.state().finalizers(provider);
  const auto isHeldBack = [&](unsigned finalizers) {
    return world.machine().isHeldBack(provider, static_cast<uint16_t>(finalizers));
  };
  EXPECT_TRUE(isHeldBack(held) && isHeldBack(held | kOrphanBit));
  EXPECT_FALSE(isHeldBack(0) || isHeldBack(kOrphanBit) || isHeldBack(held | kForegroundBit));
  EXPECT_FALSE(world.machine().isHeldBack(world.slot(kWidget), 0xffff));
}

TEST(HeldProvider, KeepsItsFinalizerWhateverAClientWrites) {
  World world(kProvider + kInstances + kHoldGuard);
  world.does(ClientStep::Verb::SetFinalizers, kDeployment, 0);
  EXPECT_THAT(world.finalizers(kDeployment), ElementsAre(kHoldsIt));
}

TEST(HeldProvider, OfAWorkIsNotForgottenByItsAgent) {
  World world(kProvider + kInstances + kHoldGuard,
              {.runsDeferredDeletions = true,
               .works = {"provider: namespaces/operator deployments.apps/operator/controller"}});
  world.deletes(kWork);
  world.settle();
  EXPECT_TRUE(world.terminating(kDeployment));
  EXPECT_EQ(world.finalizers(kApplied).size(), 2U) << "its agent waits for the provider";
  clear(world);
  world.settle();
  EXPECT_FALSE(world.present(kDeployment) || world.present(kNamespace) || world.present(kApplied) ||
               world.present(kWork));
  EXPECT_FALSE(world.unsafe());
}

TEST(HeldProvider, IsNoneWhereLastoutIsNot) {
  World world(kProvider + kInstances + kHoldGuard, {.guarded = false});
  EXPECT_THAT(world.finalizers(kDeployment), IsEmpty());
}

}  // namespace
}  // namespace lastout::cluster

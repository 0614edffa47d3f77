// The program itself, two processes with the webhook role and two with the controller role: what becomes of a
// teardown when each of them is killed, cut off, frozen, or loses the Lease.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/faults/two_of_each_role.h"
#include "tests/faults/works_test.h"

namespace lastout::testing {
namespace {

using simulator::Json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kHeldInstance = kFaultInstances + std::string("/instance-0");
constexpr const char* kHeld = "f.x/held";  // a finalizer
constexpr int kInstances = 3;
constexpr int kReviews = 10;  // that clients have asked for when something has lasted for a while

class ProcessesTest : public TwoOfEachRole {
 public:
  ProcessesTest() : TwoOfEachRole(Processes::OfOneRoleOnTheirOwn) {}

  // All of the story is asked for again and again while `happens` is done; somebody else's finalizer holds an
  // instance so long. Then everything goes.
  void teardown(const std::function<void()>& happens) {
    begin(kInstances);
    world.patch(kHeldInstance, {{"metadata", {{"finalizers", {"my.crd.group/super-important", kHeld}}}}});
    bool isOver = false;
    world.deleteAll(FaultWorld::storyPaths(kInstances), [&] {
      if (isOver) return;
      isOver = true;
      happens();
      EXPECT_TRUE(world.isThere(kFaultProvider));
      letGo();
    });
    expectAllGone(kInstances);
  }
  void letGo() {
    world.waitUntil("only somebody else holds it",
                    [&] { return world.get(kHeldInstance)["metadata"]["finalizers"] == Json({kHeld}); });
    world.patch(kHeldInstance, {{"metadata", {{"finalizers", nullptr}}}});
  }
  // Clients have gone on asking.
  void waitForReviews() {
    const auto reviews = [this] {
      const Judge::Counts counts = world.judge.counts();
      return counts.allowed + counts.denied + counts.failed;
    };
    const int before = reviews();
    world.waitUntil("clients go on asking", [&] { return reviews() >= before + kReviews; });
  }
  void waitUntilHeldBy(const Replica& replica) {
    world.waitUntil(replica.identity + " holds the Lease",
                    [&] { return world.holder() == replica.identity; });
  }
};

TEST_F(ProcessesTest, EachWebhookIsKilledAndThenBoth) {
  teardown([this] {
    for (size_t i = 0; i < 2; ++i) {
      webhook(i).kill();
      waitForReviews();
      webhook(i).serve();
      waitUntilAgain(webhook(i));
    }
    for (size_t i = 0; i < 2; ++i) webhook(i).kill();
    world.expectRefused(kFaultProvider, HasSubstr("failed calling webhook"));
    for (size_t i = 0; i < 2; ++i) webhook(i).serve();
  });
}

// The other one takes over, and does all that its holder does.
TEST_F(ProcessesTest, TheHolderOfTheLeaseIsKilled) {
  begin(0);
  Replica& killed = world.leader();
  world.deleteAll(FaultWorld::storyPaths(0));
  killed.kill();
  teardown([&] { waitUntilHeldBy(world.otherThan(killed)); });
  killed.serve();
  waitUntilAgain(killed);
  EXPECT_FALSE(killed.leads());
}

// Webhooks decide and record; nobody runs anything.
TEST_F(ProcessesTest, BothControllersAreDeadForAWhile) {
  begin(kInstances);
  for (size_t i = 0; i < 2; ++i) controller(i).kill();
  for (int i = 0; i < kReviews; ++i) world.expectRefused(kFaultProvider, HasSubstr("must stay while"));
  deferTheProvider();
  std::vector<std::string> blockers = FaultWorld::storyPaths(kInstances);
  std::erase_if(blockers, [](const std::string& path) {
    return path != kFaultCrd && !path.starts_with(kFaultInstances);
  });
  world.deleteAll(blockers);
  EXPECT_THAT(world.deletedByLastout(), IsEmpty());
  for (size_t i = 0; i < 2; ++i) controller(i).serve();
  world.waitUntil("it is run", [&] { return !world.isThere(kFaultProvider); });
  world.deleteAll({kFaultService, kFaultNamespace});
  expectAllGone(kInstances);
}

TEST_F(ProcessesTest, EachIsCutOffInItsTurn) {
  teardown([this] {
    for (size_t i = 0; i < world.replicas(); ++i) {
      world.replica(i).disconnect();
      waitForReviews();
      world.replica(i).connect();
      waitUntilAgain(world.replica(i));
    }
  });
}

// It knows by itself that it holds the Lease no longer, before another can get it.
TEST_F(ProcessesTest, TheHolderOfTheLeaseIsCutOffUntilAnotherHasIt) {
  teardown([this] {
    Replica& cutOff = world.leader();
    cutOff.disconnect();
    waitUntilHeldBy(world.otherThan(cutOff));
    EXPECT_FALSE(cutOff.leads());
    cutOff.connect();
    waitUntilAgain(cutOff);
    EXPECT_FALSE(cutOff.leads());
  });
}

// What it was about to do when it stood still it does no more.
TEST_F(ProcessesTest, TheHolderOfTheLeaseIsFrozenUntilAnotherHasIt) {
  teardown([this] {
    Replica& frozen = world.leader();
    frozen.suspend();
    waitUntilHeldBy(world.otherThan(frozen));
    frozen.resume();
    EXPECT_FALSE(frozen.leads());
    waitForReviews();
    EXPECT_EQ(world.holder(), world.otherThan(frozen).identity);
  });
}

TEST_F(ProcessesTest, TheLeaseIsDeletedAndTakenBySomebodyElse) {
  teardown([this] {
    world.deleteTheLease();
    Replica& former = world.leader();
    world.patch(kFaultLease, {{"spec", {{"holderIdentity", "somebody"}}}});
    world.waitUntil("it knows", [&] { return !former.leads(); });
    EXPECT_TRUE(world.leader().roles().controller);
  });
}

TEST_F(ProcessesTest, TheLeaseIsGivenBackAtSigterm) {
  teardown([this] {
    Replica& ending = world.leader();
    ending.terminate();
    EXPECT_NE(world.holder(), ending.identity);
    waitUntilHeldBy(world.otherThan(ending));
  });
}

// An instance that no process was told of.
TEST_F(ProcessesTest, WhatNoWatchHasToldIsReadBeforeAnythingGoes) {
  world.definitionCounts = false;
  begin(1);
  world.deleteAll({kHeldInstance});
  for (size_t i = 0; i < world.replicas(); ++i) {
    Replica& replica = world.replica(i);
    world.waitUntil(replica.identity + " knows of none", [&] {
      return replica.standing().find("coolresources.my.crd.group: Synced, 0 objects") != std::string::npos;
    });
    replica.api.set({.held = {"coolresources"}});
  }
  world.createInstance("late");
  for (int i = 0; i < kReviews; ++i) {
    world.expectRefused(kFaultProvider, HasSubstr("must stay while"));
    world.expectRefused(kFaultNamespace, HasSubstr("must stay while"));
  }
  for (size_t i = 0; i < world.replicas(); ++i) world.replica(i).api.calm();
  world.deleteAll(
      {kFaultProvider, kFaultService, kFaultCrd, kFaultNamespace, kFaultInstances + std::string("/late")});
  expectAllGone(0);
}

class ProcessesWorksTest : public WorksTest {
 public:
  ProcessesWorksTest() : WorksTest(2, Processes::OfOneRoleOnTheirOwn) {}
};

// The agent asks once for what was denied: whoever holds the Lease next runs it, and not before does
// the work go.
TEST_F(ProcessesWorksTest, TheHolderOfTheLeaseAndAWebhookAreKilled) {
  begin();
  waitUntilKept();
  deleteWork("provider");
  waitUntilRecorded();
  world.leader().kill();
  world.replica(0).kill();
  clearTheWay();
  world.replica(0).serve();
  expectGoneAfterAllThatItApplied();
  expectAllGone();
  EXPECT_THAT(world.unasked(), IsEmpty());
}

}  // namespace
}  // namespace lastout::testing

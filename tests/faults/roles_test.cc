// Two processes with the webhook role and two with the controller role: the same stories, and what goes wrong
// with each of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/faults/two_of_each_role.h"

namespace lastout::testing {
namespace {

using simulator::Json;
using ::testing::HasSubstr;

const kube::GroupResource kRolesType{"my.crd.group", "coolresources"};

std::string pathOf(const Json& configuration) {
  return configuration["webhooks"][0]["clientConfig"]["service"]["path"];
}

class RolesTest : public TwoOfEachRole {
 public:
  explicit RolesTest(bool serves = true) : TwoOfEachRole(Processes::OfOneRole, serves) {}
};

// docs/security.md: the account of the webhook role may write nothing else.
TEST_F(RolesTest, TheWebhookRoleWritesStatusAndEventsAlone) {
  begin(3);
  deferTheProvider();
  world.deleteAll(FaultWorld::storyPaths(3));
  expectAllGone(3);
  std::set<std::string> writes = webhook(0).writes();
  writes.merge(webhook(1).writes());
  const std::string status = "PATCH /apis/lastout.dev/v1alpha1/criticalservices/guard/status";
  EXPECT_THAT(writes, ::testing::Contains(status)) << "it records what it denied to controllers";
  writes.erase(status);
  for (const std::string& write : writes) EXPECT_EQ(write, "POST /api/v1/namespaces/default/events");
}

TEST_F(RolesTest, AControllerIsAskedNothing) {
  begin(1);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(controller(i).server().port(), 0);
    EXPECT_FALSE(controller(i).wasReached());
    EXPECT_EQ(webhook(i).server().standing().leads, std::nullopt);
    EXPECT_EQ(webhook(i).server().standing().webhookInForce, std::nullopt);
  }
  EXPECT_TRUE(world.leader().roles().controller);
  world.expectRefused(kFaultProvider, HasSubstr("must stay while"));
}

TEST_F(RolesTest, AWebhookDies) {
  begin(3);
  world.deleteAll(FaultWorld::storyPaths(3), [&] {
    if (webhook().isServing()) webhook().kill();
  });
  expectAllGone(3);
}

TEST_F(RolesTest, TheHolderOfTheLeaseDies) {
  begin(3);
  Replica& dying = world.leader();
  world.deleteAll(FaultWorld::storyPaths(3), [&] {
    if (dying.isServing()) dying.kill();
  });
  expectAllGone(3);
  world.createStory();
  world.waitUntilGuarded();
  EXPECT_NE(world.holder(), dying.identity);
  EXPECT_TRUE(world.leader().roles().controller);
}

// Webhooks decide and record; nobody runs anything.
TEST_F(RolesTest, BothControllersAreDeadForAWhile) {
  begin(2);
  controller(0).kill();
  controller(1).kill();
  for (int i = 0; i < 5; ++i) world.expectRefused(kFaultProvider, HasSubstr("must stay while"));
  deferTheProvider();
  std::vector<std::string> blockers = FaultWorld::storyPaths(2);
  std::erase_if(blockers, [](const std::string& path) {
    return path != kFaultCrd && !path.starts_with(kFaultInstances);
  });
  world.deleteAll(blockers);
  EXPECT_THAT(world.deletedByLastout(), ::testing::IsEmpty()) << "nobody runs it";
  controller(0).serve();
  controller(1).serve();
  world.waitUntil("it is run", [&] { return !world.isThere(kFaultProvider); });
  world.deleteAll({kFaultService, kFaultNamespace});
  expectAllGone(2);
}

TEST_F(RolesTest, EachIsCutOffInItsTurn) {
  begin(3);
  size_t turn = 0;
  world.deleteAll(FaultWorld::storyPaths(3), [&] {
    if (turn >= world.replicas()) return;
    Replica& replica = world.replica(turn++);
    replica.disconnect();
    replica.connect();
    waitUntilAgain(replica);
  });
  expectAllGone(3);
}

// Somebody else's write, or a deletion: who held it acts no more, and another, or the same, gets it again.
TEST_F(RolesTest, TheLeaseIsLost) {
  begin(3);
  int times = 0;
  world.deleteAll(FaultWorld::storyPaths(3), [&] {
    if (++times > 6) return;
    times % 2 == 0 ? world.deleteTheLease() : world.takeTheLease();
  });
  expectAllGone(3);
  EXPECT_TRUE(world.leader().roles().controller);
}

// The Secret is deleted: a controller makes another, which all use, with another path for reviews.
TEST_F(RolesTest, TheCertificateIsReplacedUnderLoad) {
  begin(2);
  const std::string before = pathOf(world.get(kFaultWebhook));
  controller().rotate();
  world.waitUntil("the configuration names another path",
                  [&] { return pathOf(world.get(kFaultWebhook)) != before; });
  world.waitUntilGuarded();
  world.waitUntil("a review is answered at the new path", [&] {
    return world.refusalOf(kFaultProvider).find("must stay while") != std::string::npos;
  });
  world.deleteAll(FaultWorld::storyPaths(2));
  expectAllGone(2);
}

// docs/security.md, "The path for reviews": one process listens, as a second would be taken for one that was
// started again.
class RenewedPathTest : public RolesTest {
 public:
  RenewedPathTest() : RolesTest(false) {
    world.probePeriod = std::chrono::milliseconds(50);
    for (Replica* replica : {&webhook(0), &controller(0), &controller(1)}) replica->serve();
  }
  // The holder of the Lease has renewed the path since it took that.
  void beginSettled() {
    begin(1);
    world.waitUntil("the first path is left", [&] { return isOfOneSeed(); });
    before = pathOf(world.get(kFaultWebhook));
  }
  bool isOfOneSeed() {
    const Json seeds = world.get(kFaultCertificate)["data"]["review.seeds"];
    return seeds.is_string() && seeds.get<std::string>().size() < 50;  // in Base64
  }
  void expectAnotherPath() {
    world.waitUntil("reviews are asked for at another path",
                    [&] { return pathOf(world.get(kFaultWebhook)) != before; });
    world.waitUntil("the former path is left", [&] { return isOfOneSeed(); });
    world.waitUntil("a review is answered there", [&] {
      return world.refusalOf(kFaultProvider).find("must stay while") != std::string::npos;
    });
    world.deleteAll(FaultWorld::storyPaths());
    expectAllGone(1);
  }

  std::string before;
};

// Whoever was refused meanwhile was told the former one.
TEST_F(RenewedPathTest, AListenerThatIsStartedAgainHasAnother) {
  beginSettled();
  webhook().kill();
  webhook().serve();
  waitUntilAgain(webhook());
  expectAnotherPath();
}

// No probe of its own has met what outage there may have been.
TEST_F(RenewedPathTest, ANewHolderOfTheLeaseHasAnother) {
  beginSettled();
  world.leader().kill();
  expectAnotherPath();
}

// A controller that has seen an instance go, and not seen it come again, asks before it deletes.
TEST_F(RolesTest, AControllerThatIsBehindSendsNothing) {
  world.definitionCounts = false;
  begin(1);
  world.deleteAll({kFaultInstances + std::string("/instance-0")});
  for (size_t i = 0; i < 2; ++i) {
    world.waitUntil("controllers know of no instance",
                    [&] { return controller(i).server().view().objectCount(kRolesType) == 0; });
    controller(i).api.set({.held = {"coolresources"}});
  }
  world.createInstance("late");
  deferTheProvider();
  const auto records = [&](Replica& replica) {
    bool isRecorded = false;
    replica.server().view().inspect([&](const admission::ClusterView& view, const kube::ResourceMap&) {
      const auto* service = view.service("guard");
      isRecorded = service != nullptr && !service->deferredDeletions.deletions.empty();
    });
    return isRecorded;
  };
  world.waitUntil("controllers know what was deferred",
                  [&] { return records(controller(0)) && records(controller(1)); });
  const auto reads = [&] {
    return controller(0).reads(kFaultInstances) + controller(1).reads(kFaultInstances);
  };
  const size_t before = reads();
  world.waitUntil("one of them has read whether it may go", [&] { return reads() > before + 1; });
  for (const auto& [uid, path] : world.deletedByLastout()) EXPECT_NE(path, kFaultProvider);
  for (size_t i = 0; i < 2; ++i) controller(i).api.calm();
  world.deleteAll({kFaultService, kFaultCrd, kFaultNamespace, kFaultInstances + std::string("/late")});
  expectAllGone(0);
}

}  // namespace
}  // namespace lastout::testing

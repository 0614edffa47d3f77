// ManifestWorks in a cluster that grows: applied from nothing, lost and put back, taken away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cluster/live_world.h"

namespace lastout::cluster {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::SizeIs;

constexpr char kWorkWeb[] = "deployments.apps/x/web";

LiveObject providerWork(LiveWorld& world) {
  LiveObject work = world.object(kLiveWork);
  work.appliedName = "applied-provider";
  work.applies = {world.key(kWorkWeb), world.key("namespaces/x")};
  return work;
}

TEST(LiveWork, AppliesAManifestWorkFromNothingAndTakesItAwayAgain) {
  LiveWorld world;
  world.create("namespaces/hub");
  const Slot work = world.create(providerWork(world));
  EXPECT_THAT(world.cluster.finalizers(work), SizeIs(1));
  world.run(std::chrono::seconds(10));
  EXPECT_TRUE(world.present(kLiveApplied));
  EXPECT_TRUE(world.present(kWorkWeb));
  EXPECT_THAT(world.cluster.owners(world.slot(kWorkWeb)),
              ElementsAre(LiveOwner{.uid = world.cluster.uid(world.slot(kLiveApplied))}));
  world.remove(kLiveWork);
  world.run();
  EXPECT_THAT(world.left(), ElementsAre("namespaces/hub"));
}

TEST(LiveWork, PutsBackWhatAWorkHasLostOnlyWithTheResync) {
  LiveWorld world;
  world.create("namespaces/hub");
  world.create(providerWork(world));
  world.run();
  const milliseconds lost = world.now;
  world.remove(kWorkWeb);
  world.run(lost + std::chrono::minutes(4));
  EXPECT_FALSE(world.present(kWorkWeb));
  world.run(lost + std::chrono::minutes(6));
  EXPECT_TRUE(world.present(kWorkWeb));
}

// story-guarded: the work is reported gone while what it was not allowed to delete is still there.
TEST(LiveWork, AnAgentForgetsWhatItMayNotDelete) {
  LiveWorld world;
  world.create("namespaces/hub");
  world.create(providerWork(world));
  world.run();
  world.remove(kLiveWork);
  EXPECT_EQ(world.nameOf(world.next().deletes), kLiveApplied);
  EXPECT_EQ(world.nameOf(world.next(AdmissionOutcome::Denied).deletes), "namespaces/x");
  EXPECT_EQ(world.nameOf(world.next(AdmissionOutcome::Denied).deletes), kWorkWeb);
  for (int i = 0; i < 10 && world.present(kLiveWork); ++i) {
    const bool deletes = world.cluster.plan(*world.cluster.nextAt())->deletes != kNone;
    world.next(deletes ? AdmissionOutcome::Denied : AdmissionOutcome::Allowed);
  }
  EXPECT_FALSE(world.present(kLiveWork));
  EXPECT_TRUE(world.present(kWorkWeb));
}

// Another object has the name by now: the agent lets go of it.
TEST(LiveWork, DoesNotDeleteWhatIsNotItsOwn) {
  LiveWorld world;
  for (const char* space : {"namespaces/hub", "namespaces/x"}) world.create(space);
  LiveObject work = providerWork(world);
  work.applies = {world.key("configmaps/x/mine")};
  world.create(work);
  world.run();
  world.remove(kLiveWork);
  EXPECT_EQ(world.nameOf(world.next().deletes), kLiveApplied);
  world.remove("configmaps/x/mine");
  world.create("configmaps/x/mine");
  const auto plan = world.cluster.plan(world.now + std::chrono::seconds(2));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->deletes, kNone);
  world.run();
  EXPECT_FALSE(world.present(kLiveWork));
  EXPECT_TRUE(world.present("configmaps/x/mine"));
}

TEST(LiveWork, IsForgottenWhenSomebodyTakesItsFinalizersAway) {
  LiveWorld world;
  world.create("namespaces/hub");
  world.create(providerWork(world));
  world.run();
  world.remove(kLiveWork);
  world.next();
  EXPECT_EQ(world.nameOf(world.next().deletes), "namespaces/x") << "a pass is under way";
  world.setFinalizers(kLiveApplied, {});
  world.setFinalizers(kLiveWork, {});
  world.run();
  EXPECT_THAT(world.left(), ElementsAre("namespaces/hub"));
  EXPECT_EQ(world.cluster.nextAt(), std::nullopt);
}

TEST(LiveWork, AppliesWhatIsListedLaterAndLeavesWhatIsNoLongerListed) {
  LiveWorld world;
  world.create("namespaces/hub");
  const Slot slot = world.create(providerWork(world));
  world.run();
  LiveObject work = providerWork(world);
  work.finalizers = world.cluster.finalizers(slot);
  work.applies = {world.key("namespaces/x"), world.key("configmaps/x/new")};
  Events events;
  ASSERT_TRUE(world.cluster.update(slot, work, events));
  world.run();
  EXPECT_TRUE(world.present("configmaps/x/new"));
  EXPECT_TRUE(world.present(kWorkWeb)) << "its owner is there";
  world.remove(kLiveWork);
  world.run();
  EXPECT_THAT(world.left(), ElementsAre("namespaces/hub"));
}

// Two works may not share one record.
TEST(LiveWork, HasARecordOfItsOwn) {
  LiveWorld world;
  world.create("namespaces/hub");
  world.create(providerWork(world));
  LiveObject other = providerWork(world);
  other.key.name = "other";
  Events events;
  const auto created = world.cluster.create(other, events);
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().message, std::string(kLiveApplied) + " is the record of another ManifestWork");
}

}  // namespace
}  // namespace lastout::cluster

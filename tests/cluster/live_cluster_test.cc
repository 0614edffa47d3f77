// A cluster that grows: clients' requests one by one, controllers in virtual time.
#include "cluster/live_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cluster/live_world.h"

namespace lastout::cluster {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr char kLiveOne[] = "widgets.example.com/one";
constexpr char kLiveWeb[] = "deployments.apps/x/web";

// The document's story: a Deployment runs the controller that an instance's finalizer waits for.
void beginStory(LiveWorld& world) {
  FinalizerController controller;
  controller.name = "controller";
  controller.finalizer = "example.com/clean";
  controller.from = {"example.com", "widgets"};
  ASSERT_TRUE(world.cluster.addController(controller, world.key("deployments.apps/operator/controller")));
  world.create("namespaces/operator");
  world.create(kLiveCrd);
  world.create("deployments.apps/operator/controller");
  world.create(kLiveOne, {"example.com/clean"});
  world.run();
}

TEST(LiveCluster, EndsEmptyWhenTheStoryIsPlayedInOrder) {
  LiveWorld world;
  beginStory(world);
  world.remove(kLiveCrd);
  world.run();
  EXPECT_FALSE(world.present(kLiveOne));
  EXPECT_FALSE(world.present(kLiveCrd));
  world.remove("namespaces/operator");
  world.run();
  EXPECT_THAT(world.left(), IsEmpty());
  EXPECT_THAT(world.log, Contains(std::string("finalizers gone ") + kLiveOne));
}

TEST(LiveCluster, GetsStuckWhenTheProviderGoesFirst) {
  LiveWorld world;
  beginStory(world);
  world.remove("namespaces/operator");
  world.run();
  world.remove(kLiveCrd);
  world.run();
  EXPECT_THAT(world.left(), ElementsAre(kLiveCrd, kLiveOne));
  EXPECT_EQ(world.cluster.nextAt(), std::nullopt) << "nobody will ever do anything";
}

TEST(LiveCluster, MakesPodsOfADeploymentAndFollowsItsReplicas) {
  LiveWorld world;
  world.create("namespaces/x");
  world.create(kLiveWeb);
  world.run();
  EXPECT_THAT(world.left(), SizeIs(4)) << "namespace, Deployment, ReplicaSet, Pod";
  world.setReplicas(kLiveWeb, 5);
  world.run();
  EXPECT_THAT(world.left(), SizeIs(8));
  world.setReplicas(kLiveWeb, 0);
  world.run();
  EXPECT_THAT(world.left(), SizeIs(3));
}

TEST(LiveCluster, TakesAPodThatNamesTheWorkloadAsItsControllerForOneOfItsOwn) {
  LiveWorld world;
  world.create("namespaces/x");
  world.create("replicasets.apps/x/rs");
  LiveObject pod = world.object("pods/x/given", {}, {"replicasets.apps/x/rs"});
  pod.owners.front().controller = true;
  world.create(pod);
  world.run();
  EXPECT_THAT(world.left(), ElementsAre("namespaces/x", "pods/x/given", "replicasets.apps/x/rs"));
}

TEST(LiveCluster, WaitsForDependentsInTheForegroundLeavesOrphansAndCollectsInTheBackground) {
  const auto after = [](PropagationPolicy policy) {
    LiveWorld world;
    world.create("namespaces/x");
    world.create("configmaps/x/owner");
    world.create("configmaps/x/owned", {}, {"configmaps/x/owner"});
    world.remove("configmaps/x/owner", policy);
    const bool waits = world.present("configmaps/x/owner");
    world.run();
    return std::pair(waits, world.left());
  };
  EXPECT_THAT(after(PropagationPolicy::Foreground), testing::Pair(true, ElementsAre("namespaces/x")));
  EXPECT_THAT(after(PropagationPolicy::Background), testing::Pair(false, ElementsAre("namespaces/x")));
  EXPECT_THAT(after(PropagationPolicy::Orphan),
              testing::Pair(true, ElementsAre("configmaps/x/owned", "namespaces/x")));
}

TEST(LiveCluster, CollectsWhatNamesAnOwnerThatIsAnotherByNow) {
  LiveWorld world;
  world.create("namespaces/x");
  LiveObject owned = world.object("configmaps/x/owned");
  owned.owners = {{"somebody-else", false, false}};
  const Slot slot = world.create(owned);
  EXPECT_THAT(world.cluster.owners(slot), ElementsAre(LiveOwner{.uid = "somebody-else"}));
  EXPECT_EQ(world.cluster.nextAt(), Timing{}.gcReact);
  world.run();
  EXPECT_FALSE(world.present("configmaps/x/owned"));
}

// The recorded back-off (story-guarded): 5 ms after the first refusal, doubling.
TEST(LiveCluster, TriesADeniedDeletionAgainAfterTwiceTheTime) {
  LiveWorld world;
  world.create("namespaces/x");
  LiveObject orphan = world.object("configmaps/x/orphan");
  orphan.owners = {{"gone", false, false}};
  world.create(orphan);
  std::vector<int64_t> waits;
  for (int i = 0; i < 5; ++i) {
    const milliseconds before = world.now;
    const PlannedAction plan = world.next(AdmissionOutcome::Denied);
    EXPECT_EQ(world.nameOf(plan.deletes), "configmaps/x/orphan");
    EXPECT_EQ(plan.policy, PropagationPolicy::Background);
    waits.push_back((world.now - before).count());
  }
  EXPECT_THAT(waits, ElementsAre(10, 5, 10, 20, 40));
  world.run();
  EXPECT_FALSE(world.present("configmaps/x/orphan"));
}

TEST(LiveCluster, MakesARefusedControllerWaitTwiceAsLongEachTime) {
  LiveWorld world;
  beginStory(world);
  world.remove(kLiveOne);
  std::vector<int64_t> waits;
  for (int i = 0; i < 4; ++i) {
    const milliseconds before = world.now;
    EXPECT_EQ(world.next(AdmissionOutcome::Denied).action.kind, Action::Kind::Finalize);
    waits.push_back((world.now - before).count());
  }
  EXPECT_THAT(waits, ElementsAre(1000, 1000, 2000, 4000));
}

TEST(LiveCluster, EmptiesATerminatingNamespaceEveryFiveSecondsWhileSomeOfItIsDenied) {
  LiveWorld world;
  world.create("namespaces/x");
  world.create("configmaps/x/kept");
  world.remove("namespaces/x");
  EXPECT_EQ(world.cluster.refusesCreation(world.key("configmaps/x/new"), false),
            CreationRefusal::NamespaceTerminates);
  for (int i = 1; i <= 3; ++i) {
    world.next(AdmissionOutcome::Denied);
    EXPECT_EQ(world.now, milliseconds(5000 * i));
  }
  world.run();
  EXPECT_THAT(world.left(), IsEmpty());
  EXPECT_EQ(world.cluster.refusesCreation(world.key("configmaps/x/new"), false),
            CreationRefusal::NoNamespace);
}

TEST(LiveCluster, EmptiesATerminatingNamespaceOfItsPodsFirst) {
  const auto leftOf = [](kube::KubernetesVersion version) {
    LiveWorld world(version);
    world.create("namespaces/x");
    world.create("pods/x/free");
    world.create("pods/x/held", {"f/one"});
    world.create("configmaps/x/a");
    world.remove("namespaces/x");
    world.run();
    const std::vector<std::string> left = world.left();
    EXPECT_TRUE(world.terminating("namespaces/x"));
    EXPECT_TRUE(world.terminating("pods/x/held"));
    world.setFinalizers("pods/x/held", {});
    world.run();
    EXPECT_THAT(world.left(), IsEmpty());
    return left;
  };
  EXPECT_THAT(leftOf(kube::KubernetesVersion::V1_36),
              ElementsAre("configmaps/x/a", "namespaces/x", "pods/x/held"));
  EXPECT_THAT(leftOf(kube::KubernetesVersion::V1_26), ElementsAre("namespaces/x", "pods/x/held"));
}

// As in the machine: a refusal ends the look for Pods. It is others who refuse here.
TEST(LiveCluster, GoesOnInATerminatingNamespaceWhereAPodIsRefused) {
  LiveWorld world;
  world.create("namespaces/x");
  world.create("pods/x/free");
  world.create("configmaps/x/a");
  world.run();
  world.remove("namespaces/x");
  const PlannedAction first = world.next(AdmissionOutcome::Denied);
  EXPECT_EQ(world.nameOf(first.deletes), "pods/x/free");
  EXPECT_EQ(world.nameOf(world.next(AdmissionOutcome::Denied).deletes), "pods/x/free");
  EXPECT_EQ(world.nameOf(world.next(AdmissionOutcome::Denied).deletes), "configmaps/x/a");
  EXPECT_EQ(world.nameOf(world.next(AdmissionOutcome::Allowed).deletes), "pods/x/free");
  EXPECT_THAT(world.cluster.possible(), testing::SizeIs(1)) << "the Pod's node has to stop it";
  world.run();
  EXPECT_THAT(world.left(), IsEmpty());
}

TEST(LiveCluster, DeletesInstancesWithTheirCrdAndRefusesNewOnes) {
  LiveWorld world;
  EXPECT_EQ(world.cluster.refusesCreation(world.key(kLiveOne), false), CreationRefusal::NoCrd);
  world.create(kLiveCrd, {"example.com/held"});
  world.create(kLiveOne, {"f/x"});
  world.remove(kLiveCrd);
  EXPECT_THAT(world.cluster.finalizers(world.slot(kLiveCrd)),
              ElementsAre("example.com/held", "customresourcecleanup.apiextensions.k8s.io"));
  world.run();
  EXPECT_TRUE(world.terminating(kLiveOne));
  EXPECT_EQ(world.cluster.refusesCreation(world.key("widgets.example.com/two"), false),
            CreationRefusal::CrdTerminates);
  EXPECT_EQ(world.cluster.refusesCreation(world.key("widgets.example.com/two"), true), std::nullopt);
  world.setFinalizers(kLiveOne, {});
  world.run();
  EXPECT_THAT(world.cluster.finalizers(world.slot(kLiveCrd)), ElementsAre("example.com/held"));
  world.setFinalizers(kLiveCrd, {});
  EXPECT_THAT(world.left(), IsEmpty());
}

TEST(LiveCluster, KeepsAClaimWhileAPodMountsIt) {
  LiveWorld world;
  world.create("namespaces/x");
  LiveObject web = world.object(kLiveWeb);
  web.claims = {"data"};
  world.create(web);
  world.create("persistentvolumeclaims/x/data");
  world.run();
  world.remove("persistentvolumeclaims/x/data");
  world.run();
  EXPECT_TRUE(world.terminating("persistentvolumeclaims/x/data"));
  world.setReplicas(kLiveWeb, 0);
  world.run();
  EXPECT_FALSE(world.present("persistentvolumeclaims/x/data"));
}

TEST(LiveCluster, KeepsAVolumeWhileAClaimIsBoundToIt) {
  LiveWorld live;
  const kube::ObjectKey claim = live.key("persistentvolumeclaims/x/data");
  live.create("namespaces/x");
  LiveObject volume = live.object("persistentvolumes/pv");
  volume.boundTo = claim;
  live.create(volume);
  live.create("persistentvolumes/free");
  live.create(live.object("persistentvolumeclaims/x/data"));
  live.remove("persistentvolumes/free");
  live.remove("persistentvolumes/pv");
  live.run();
  EXPECT_FALSE(live.present("persistentvolumes/free"));
  EXPECT_TRUE(live.terminating("persistentvolumes/pv"));
  live.remove("persistentvolumeclaims/x/data");
  live.run();
  EXPECT_FALSE(live.present("persistentvolumes/pv"));
}

TEST(LiveCluster, LetsAVolumeGoOnceItsClaimIsBoundToAnother) {
  LiveWorld live;
  live.create("namespaces/x");
  live.create("persistentvolumes/pv");
  LiveObject claim = live.object("persistentvolumeclaims/x/data");
  claim.boundTo = live.key("persistentvolumes/pv");
  const Slot slot = live.create(claim);
  live.remove("persistentvolumes/pv");
  live.run();
  EXPECT_TRUE(live.terminating("persistentvolumes/pv"));
  claim = live.asIs(slot);
  claim.boundTo = live.key("persistentvolumes/other");
  Events events;
  ASSERT_TRUE(live.cluster.update(slot, claim, events));
  live.run();
  EXPECT_FALSE(live.present("persistentvolumes/pv"));
}

TEST(LiveCluster, RefusedCreationsAreTriedAgainLaterAndLater) {
  LiveWorld world;
  world.create("namespaces/x");
  world.create("replicasets.apps/x/rs");
  std::vector<int64_t> waits;
  for (int i = 0; i < 4; ++i) {
    const milliseconds before = world.now;
    EXPECT_EQ(world.next(AdmissionOutcome::Denied).deletes, kNone);
    waits.push_back((world.now - before).count());
  }
  EXPECT_THAT(waits, ElementsAre(50, 50, 100, 200));
  EXPECT_THAT(world.left(), ElementsAre("namespaces/x", "replicasets.apps/x/rs"));
}

TEST(LiveCluster, DoesNotRunWhatIsNotPossibleAnyMore) {
  LiveWorld world;
  world.create("namespaces/x");
  LiveObject orphan = world.object("configmaps/x/orphan");
  orphan.owners = {{"gone", false, false}};
  world.create(orphan);
  const auto plan = world.cluster.plan(milliseconds(10));
  ASSERT_TRUE(plan);
  world.remove("configmaps/x/orphan");
  world.create(orphan);  // another one, in the same place
  Events events;
  EXPECT_FALSE(world.cluster.execute(*plan, AdmissionOutcome::Allowed, milliseconds(10), events));
  EXPECT_THAT(events, IsEmpty());
  EXPECT_TRUE(world.present("configmaps/x/orphan"));
}

TEST(LiveCluster, UsesTheSlotsOfNamesThatAreGoneAgain) {
  LiveWorld world;
  world.create("namespaces/x");
  for (int i = 0; i < 100'000; ++i) {
    Events events;
    const std::string name = "n" + std::to_string(i);
    LiveObject object;
    object.key = {{"", "configmaps"}, "x", name};
    object.uid = name;
    world.cluster.remove(world.cluster.create(object, events).value(), {}, events);
  }
  EXPECT_LT(world.cluster.model().slots.size(), 10u);
  for (int i = 0; i < 50; ++i) {
    const std::string name = "deployments.apps/x/d" + std::to_string(i);
    world.create(name);
    world.run();
    world.remove(name);
    world.run();
  }
  EXPECT_THAT(world.left(), ElementsAre("namespaces/x"));
  EXPECT_LT(world.cluster.model().slots.size(), 20u);
}

TEST(LiveCluster, SaysWhatItCannotHold) {
  LiveWorld world;
  world.create("namespaces/x");
  const auto refused = [&](const LiveObject& object) {
    Events events;
    const auto created = world.cluster.create(object, events);
    EXPECT_THAT(events, IsEmpty());
    EXPECT_FALSE(world.cluster.find(object.key) &&
                 world.cluster.object(*world.cluster.find(object.key)).present());
    return created ? "nothing" : created.error().message;
  };
  LiveObject object = world.object("configmaps/x/c");
  for (int i = 0; i < 15; ++i) object.finalizers.push_back("f/" + std::to_string(i));
  EXPECT_EQ(refused(object), "configmaps/x/c has more than 14 finalizers");
  object = world.object("configmaps/x/c");
  for (int i = 0; i < 9; ++i) object.owners.push_back({.uid = std::to_string(i)});
  EXPECT_EQ(refused(object), "configmaps/x/c has more than 8 owners");
  object = world.object(kLiveWeb);
  object.replicas = 65;
  EXPECT_EQ(refused(object), std::string(kLiveWeb) + " has more than 64 replicas");
  object = world.object(kLiveWork);
  object.appliedName = "applied-provider";
  for (int i = 0; i < 251; ++i) object.applies.push_back(world.key("configmaps/x/c" + std::to_string(i)));
  EXPECT_EQ(refused(object), std::string(kLiveWork) + " applies more than 250 objects");
  FinalizerController controller;
  const auto added = world.cluster.addController(controller, world.key("configmaps/x/c"));
  EXPECT_THAT(added.error().message, HasSubstr("runs no Pods"));
}

}  // namespace
}  // namespace lastout::cluster

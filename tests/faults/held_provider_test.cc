// Providers that lastout holds by a finalizer, and what goes wrong meanwhile. What is let go too early the
// Judge sees.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "admission/deletion_effect.h"
#include "kube/well_known.h"
#include "tests/faults/works_test.h"

namespace lastout::testing {
namespace {

using simulator::Json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kHolding(kube::kCriteriaFinalizer);
const kube::ObjectKey kHeldDeployment{{"apps", "deployments"}, "app", "provider"};

class HeldProviderTest : public WorksTest {
 public:
  explicit HeldProviderTest(size_t replicas = 1, Processes processes = Processes::OfBothRoles)
      : WorksTest(replicas, processes) {
    hasClaim = false;
  }

  Json service() override {
    Json service = FaultWorld::service();
    service["spec"]["enforcement"] = "Hold";
    if (!definitionCounts) service["spec"]["criteria"].erase(1);
    return service;
  }

  // The story, held, without works.
  void beginHeld() {
    world.serve();
    createHeldStory();
    waitUntilHeld();
  }
  void createHeldStory() {
    world.createDefinition();
    world.create("/api/v1/namespaces", FaultWorld::named("v1", "Namespace", "app"));
    world.create("/apis/apps/v1/namespaces/app/deployments", FaultWorld::provider());
    world.createInstance("instance-0");
    world.create("/apis/lastout.dev/v1alpha1/criticalservices", service());
    world.waitUntilGuarded();
  }

  static bool carries(const Json& object) {
    const Json* finalizers = simulator::at(object, {"metadata", "finalizers"});
    return finalizers != nullptr &&
           std::find(finalizers->begin(), finalizers->end(), kHolding) != finalizers->end();
  }
  bool isHeld() { return carries(world.get(kFaultProvider)); }
  bool isDeleted() {
    return !simulator::stringAt(world.get(kFaultProvider), {"metadata", "deletionTimestamp"}).empty();
  }
  void waitUntilHeld() {
    world.waitUntil("the provider is held", [&] { return isHeld(); });
    const std::string uid = world.get(kFaultProvider)["metadata"]["uid"];
    for (size_t i = 0; i < world.replicas(); ++i) {
      if (!world.replica(i).isServing()) continue;
      world.waitUntil("it is told", [&] {
        return world.replica(i).server().view().isHeldBy(kHeldDeployment, uid,
                                                         std::chrono::steady_clock::now());
      });
    }
  }
  void waitUntilGone() {
    world.waitUntil("the provider is gone", [&] { return !world.isThere(kFaultProvider); });
  }
  int deleteBy(const char* policy, const std::string& path = kFaultProvider) {
    return world.ask("DELETE", path, {{"propagationPolicy", policy}}).status;
  }
  void finish(const std::string& instance) {
    world.patch(std::string(kFaultInstances) + "/" + instance, {{"metadata", {{"finalizers", nullptr}}}});
    EXPECT_EQ(world.ask("DELETE", std::string(kFaultInstances) + "/" + instance).status, 200);
  }
  void clearBoth() {
    finish("instance-0");
    EXPECT_EQ(world.ask("DELETE", kFaultCrd).status, 200);
    world.waitUntil("the CRD is gone", [&] { return !world.isThere(kFaultCrd); });
  }
  // Of its condition Degraded: the reason, and the message.
  std::string degraded() {
    const Json service = world.get(kFaultService);
    const Json* conditions = simulator::at(service, {"status", "conditions"});
    if (conditions == nullptr) return {};
    for (const Json& condition : *conditions) {
      if (condition["type"] == "Degraded")
        return condition["reason"].get<std::string>() + ": " + condition["message"].get<std::string>();
    }
    return {};
  }

  bool definitionCounts = true;
};

using HeldProvider = OfEachForm<HeldProviderTest>;
INSTANTIATE_TEST_SUITE_P(, HeldProvider, kEachForm, formName);

TEST_P(HeldProvider, IsDeletedAtOnceAndGoneAfterWhatItServes) {
  beginHeld();
  EXPECT_EQ(deleteBy("Background"), 200);
  EXPECT_TRUE(isDeleted());
  EXPECT_EQ(world.ask("DELETE", kFaultProvider).status, 200) << "again, as kubectl asks";
  finish("instance-0");
  world.waitUntil("the instance is gone",
                  [&] { return !world.isThere(std::string(kFaultInstances) + "/instance-0"); });
  EXPECT_TRUE(isDeleted() && isHeld()) << "its CRD is there";
  EXPECT_EQ(world.ask("DELETE", kFaultCrd).status, 200);
  waitUntilGone();
  EXPECT_FALSE(world.isThere(kFaultCrd));
  world.waitUntil("it is told", [&] {
    return world.logged().find("deployments.apps/app/provider is let go: its criteria hold") !=
           std::string::npos;
  });
  world.waitUntil("the service may go", [&] { return world.ask("DELETE", kFaultService).status == 200; });
}

TEST_F(HeldProviderTest, IsDeniedInTheForegroundAlsoOnceItIsDeleted) {
  beginHeld();
  EXPECT_EQ(deleteBy("Foreground"), 403);
  EXPECT_FALSE(isDeleted());
  EXPECT_EQ(deleteBy("Orphan"), 200);
  EXPECT_EQ(deleteBy("Foreground"), 403);
  for (const char* path : {kFaultNamespace, kFaultService}) EXPECT_EQ(deleteBy("Background", path), 403);
  EXPECT_TRUE(isHeld());
  clearBoth();
  waitUntilGone();
}

// Only the API server has the late instance: no watch has told. What it rests on is read once more; where
// that fails, and where it is found, the provider stays.
TEST_P(HeldProvider, IsNotLetGoByAStaleCache) {
  definitionCounts = false;
  beginHeld();
  finish("instance-0");
  for (size_t i = 0; i < world.replicas(); ++i) {
    world.waitUntil(world.replica(i).identity + " knows", [&] {
      bool isMet = false;
      world.replica(i).server().view().inspect(
          [&](const admission::ClusterView& view, const kube::ResourceMap&) {
            isMet = view.decide(kHeldDeployment).allowed;
          });
      return isMet;
    });
  }
  world.set({.held = {"coolresources"}, .forbidden = {"GET coolresources"}});
  world.createInstance("late");
  EXPECT_EQ(deleteBy("Background"), 200);
  world.waitUntil("it is not confirmed", [&] {
    return world.logged().find("that it may go could not be confirmed") != std::string::npos;
  });
  EXPECT_TRUE(isHeld());
  world.set({.held = {"coolresources"}});
  world.waitUntil("it is read again", [&] {
    return world.logged().find("lastout's finalizer can be changed again") != std::string::npos;
  });
  EXPECT_TRUE(isHeld()) << "the late instance was found";
  finish("late");
  waitUntilGone();
}

TEST_F(HeldProviderTest, IsDeniedAsEverWhereNoRightIsThereAndSaysSo) {
  world.replica().api.set({.forbidden = {"PATCH deployments"}});
  world.replica().serve();
  createHeldStory();
  world.waitUntil("it is told", [&] {
    return world.logged().find("ClusterRole lastout-holds-providers") != std::string::npos;
  });
  EXPECT_EQ(deleteBy("Background"), 403);
  EXPECT_FALSE(isHeld());
  world.waitUntil("the status says so", [&] { return degraded().starts_with("HoldFailed"); });
  EXPECT_THAT(degraded(), AllOf(HasSubstr("deployments.apps/app/provider cannot be held, and its deletion is "
                                          "denied instead"),
                                HasSubstr("ClusterRole lastout-holds-providers grants that")));
  world.replica().api.calm();
  waitUntilHeld();
  world.waitUntil("the status says no more", [&] { return degraded().starts_with("AllKnown"); });
  EXPECT_EQ(deleteBy("Background"), 200);
}

TEST_F(HeldProviderTest, IsHeldNoLongerWhereSomebodySaysDeny) {
  beginHeld();
  Json another = FaultWorld::service();
  another["metadata"]["name"] = "another";
  world.create("/apis/lastout.dev/v1alpha1/criticalservices", another);
  EXPECT_EQ(deleteBy("Background"), 403) << "the finalizer may still be there";
  world.waitUntil("it is held no longer", [&] { return !isHeld(); });
  world.patch("/apis/lastout.dev/v1alpha1/criticalservices/another", {{"spec", {{"enforcement", "Hold"}}}});
  waitUntilHeld();
}

// The last CriticalService that names a Deployment is gone, and nobody follows them any more.
TEST_F(HeldProviderTest, IsHeldNoLongerOnceItsServiceIsGone) {
  beginHeld();
  world.patch(kFaultService, {{"spec", {{"deletionIntent", "BestEffortDeletion"}}}});
  world.waitUntil("the service is gone", [&] { return world.ask("DELETE", kFaultService).status == 404; });
  world.waitUntil("it is held no longer", [&] { return !isHeld(); });
  EXPECT_FALSE(isDeleted());
}

// What another lastout has left, of a type that no CriticalService names.
TEST_F(HeldProviderTest, IsLookedForWhereNobodyNamesItsType) {
  world.create("/api/v1/namespaces", FaultWorld::named("v1", "Namespace", "app"));
  Json left = FaultWorld::provider();
  left["kind"] = "StatefulSet";
  left["spec"]["serviceName"] = "p";
  left["metadata"]["finalizers"] = {kHolding};
  world.create("/apis/apps/v1/namespaces/app/statefulsets", left);
  world.replica().serve();
  world.waitUntil("it is held no longer",
                  [&] { return !carries(world.get("/apis/apps/v1/namespaces/app/statefulsets/provider")); });
}

TEST_P(HeldProvider, IsLetGoByWhoOnlyLooksOn) {
  beginHeld();
  world.kill();
  world.auditOnly = true;
  world.serve();
  world.waitUntil("it is held no longer", [&] { return !isHeld(); });
}

TEST_P(HeldProvider, OfAWorkIsWaitedForByItsAgent) {
  begin();
  waitUntilHeld();
  deleteWork("provider");
  world.waitUntil("the provider is deleted", [&] { return isDeleted(); });
  world.waitUntil("the others are recorded", [&] { return recorded().size() == 2; });
  EXPECT_THAT(recorded(), Not(Contains("provider")));
  clearTheWay();
  expectAllGone();
}

using HeldProviderByTwo = OfEachForm<HeldProviderTest, 2>;
INSTANTIATE_TEST_SUITE_P(, HeldProviderByTwo, kEachForm, formName);

TEST_P(HeldProviderByTwo, TheOtherLetsGoOfWhatTheLeaderHeld) {
  beginHeld();
  EXPECT_EQ(deleteBy("Background"), 200);
  world.set({.forbidden = {"PATCH deployments"}});
  clearBoth();
  world.waitUntil("the leader cannot let go", [&] {
    return world.logged().find("lastout's finalizer cannot be changed") != std::string::npos;
  });
  EXPECT_TRUE(world.isThere(kFaultProvider));
  world.leader().kill();
  world.calm();
  waitUntilGone();
}

TEST_P(HeldProviderByTwo, TheOtherLetsItGoWhileTheLeaderIsCutOff) {
  beginHeld();
  EXPECT_EQ(deleteBy("Background"), 200);
  Replica& leader = world.leader();
  leader.disconnect();
  clearBoth();
  waitUntilGone();
  EXPECT_EQ(world.holder(), world.otherThan(leader).identity);
  leader.connect();
}

TEST_P(HeldProviderByTwo, IsLetGoByWhoHasTheLeaseAlone) {
  beginHeld();
  EXPECT_EQ(deleteBy("Background"), 200);
  Replica& former = world.leader();
  world.set({.forbidden = {"PATCH leases"}});
  world.takeTheLease();
  world.waitUntil("nobody holds it", [&] { return !former.leads() && !world.otherThan(former).leads(); });
  clearBoth();
  world.waitUntilCollected();
  EXPECT_TRUE(isHeld());
  world.calm();
  waitUntilGone();
}

}  // namespace
}  // namespace lastout::testing

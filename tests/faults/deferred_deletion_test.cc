// Deletions that lastout denied to controllers, and runs: the recorded deadlock, and what goes wrong
// on the way.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/faults/works_test.h"

namespace lastout::testing {
namespace {

using simulator::Json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;

size_t droppedBy(const Json& service) {
  const Json* count = simulator::at(service, {"status", "deferredDeletionsDropped"});
  return count == nullptr ? 0 : count->get<size_t>();
}

class DeferredDeletionTest : public WorksTest {
 public:
  using WorksTest::WorksTest;

  // However late the agent asks for the provider, its first answer is no: what it waits for is held until
  // then.
  void deleteAllWorks() {
    const std::string instance = kFaultInstances + std::string("/instance-0");
    world.patch(instance, {{"metadata", {{"finalizers", {"my.crd.group/super-important", "f.x/held"}}}}});
    const Json provider = world.get(kFaultProvider);
    for (const char* work : {"provider", "instance", "crd"}) deleteWork(work);
    world.waitUntil("the agent was denied the provider", [&] {
      return world.deferredDeletions().contains(provider["metadata"]["uid"].get<std::string>());
    });
    world.waitUntil("the instance is finalized",
                    [&] { return world.get(instance)["metadata"]["finalizers"] == Json({"f.x/held"}); });
    world.patch(instance, {{"metadata", {{"finalizers", nullptr}}}});
  }
  // The provider may go, and somebody else does not let it.
  void expectRefused() {
    clearTheWay();
    world.waitUntil("it is told", [&] {
      return world.logged().find("deployments.apps/app/provider may go, and is not deleted yet") !=
             std::string::npos;
    });
    EXPECT_TRUE(world.isThere(kFaultProvider));
    EXPECT_TRUE(world.isThere(kFaultNamespace)) << "it goes after what is in it";
  }
};

using DeferredDeletion = OfEachForm<DeferredDeletionTest>;
INSTANTIATE_TEST_SUITE_P(, DeferredDeletion, kEachForm, formName);

TEST_P(DeferredDeletion, TheRecordedDeadlockEndsEmpty) {
  begin();
  deleteAllWorks();
  expectAllGone();
  EXPECT_THAT(world.deletedByLastout(), Contains(::testing::Pair(::testing::_, kFaultProvider)))
      << "nobody else asked again\n"
      << world.logged();
}

// As long as the work is not finished, the garbage collector leaves everything to lastout.
TEST_F(DeferredDeletionTest, GoesInOrder) {
  holdsWork = true;
  deferDeletions();
  clearTheWay();
  for (const char* path : {kFaultProvider, kClaim, kFaultNamespace, kFaultService})
    world.waitUntil(std::string("it is gone: ") + path, [&] { return !world.isThere(path); });
  EXPECT_THAT(world.deletedByLastout(), ::testing::SizeIs(4)) << world.logged();
  world.waitUntil("it is told", [&] {
    return world.logged().find("criticalservices.lastout.dev/guard is deleted now") != std::string::npos;
  });
  const std::string log = world.logged();
  EXPECT_THAT(log, HasSubstr("deployments.apps/app/provider: its deletion, asked for by agent, is deferred"));
  const auto when = [&log](const std::string& object) {
    const size_t at = log.find(object + " is deleted now, as agent had asked");
    EXPECT_NE(at, std::string::npos) << log;
    return at;
  };
  EXPECT_LT(when("deployments.apps/app/provider"), when("persistentvolumeclaims/app/data"));
  EXPECT_LT(when("persistentvolumeclaims/app/data"), when("namespaces/app")) << log;
  EXPECT_LT(when("namespaces/app"), when("criticalservices.lastout.dev/guard"));
  world.patch("/api/v1/namespaces/cluster1/configmaps/held", {{"metadata", {{"finalizers", nullptr}}}});
  expectAllGone();
}

TEST_F(DeferredDeletionTest, IsRecordedAsItWasAskedFor) {
  deferDeletions();
  const Json service = world.get(kFaultService);
  const Json provider = world.get(kFaultProvider);
  const Json& list = service["status"]["deferredDeletions"];
  const auto found = std::ranges::find(list, Json("provider"), [](const Json& one) { return one["name"]; });
  ASSERT_NE(found, list.end());
  const Json& entry = *found;
  EXPECT_EQ(entry["resource"], "deployments");
  EXPECT_EQ(entry["group"], "apps");
  EXPECT_EQ(entry["namespace"], "app");
  EXPECT_EQ(entry["uid"], provider["metadata"]["uid"]);
  EXPECT_EQ(entry["requestedBy"], "agent");
  EXPECT_EQ(entry["propagationPolicy"], "Background");
  EXPECT_EQ(entry["owners"], Json::array({provider["metadata"]["ownerReferences"][0]["uid"]}));
  EXPECT_THAT(world.deletedByLastout(), IsEmpty()) << "its criteria do not hold";
}

TEST_P(DeferredDeletion, WhoIsKilledFindsItAgain) {
  deferDeletions();
  world.set({.forbidden = {"DELETE deployments"}});
  clearTheWay();
  world.kill();
  world.waitUntilCollected();
  EXPECT_TRUE(world.isThere(kFaultProvider)) << "nobody asks for it any more";
  world.calm();
  world.serve();
  expectAllGone();
}

TEST_P(DeferredDeletion, IsKilledAgainAndAgain) {
  deferDeletions();
  for (const char* work : {"instance", "crd"}) deleteWork(work);
  for (int i = 0; i < 6; ++i) {
    world.kill();
    world.serve();
    world.waitUntilReady();
  }
  expectAllGone();
}

// Somebody was faster, and has made another one.
TEST_F(DeferredDeletionTest, AnotherObjectOfTheSameNameStays) {
  holdsWork = true;
  deferDeletions();
  world.replica().api.set({.forbidden = {"DELETE deployments", "DELETE namespaces"}});
  clearTheWay();
  const std::string before = world.get(kFaultProvider)["metadata"]["uid"];
  world.deleteAll({kFaultProvider});
  world.create("/apis/apps/v1/namespaces/app/deployments", FaultWorld::provider());
  const std::string after = world.get(kFaultProvider)["metadata"]["uid"];
  ASSERT_NE(after, before);
  world.waitUntil("it is forgotten", [&] { return recorded().size() == deniedObjects() - 1; });
  world.replica().api.set({.forbidden = {"DELETE namespaces"}});
  world.waitUntilCollected();
  EXPECT_EQ(world.get(kFaultProvider)["metadata"]["uid"], after);
  EXPECT_THAT(world.deletedByLastout(), ::testing::Not(Contains(Key(after))));
}

TEST_F(DeferredDeletionTest, IsTriedAgainWhenItWasForbidden) {
  deferDeletions();
  world.replica().api.set({.forbidden = {"DELETE deployments"}});
  expectRefused();
  EXPECT_THAT(world.logged(), HasSubstr("ClusterRole lastout-carries-out"));
  world.replica().api.calm();
  expectAllGone();
}

TEST_F(DeferredDeletionTest, IsTriedAgainWhenAnotherWebhookRefused) {
  deferDeletions();
  world.denyToAll("DELETE", {"apps", "deployments"});
  expectRefused();
  EXPECT_THAT(world.logged(), HasSubstr("nothing goes on a Friday"));
  EXPECT_THAT(world.logged(), ::testing::Not(HasSubstr("ClusterRole lastout-carries-out")))
      << "no right is lacking";
  EXPECT_EQ(world.ask("DELETE", kFaultPolicy).status, 200);
  expectAllGone();
}

// Nobody can write the status; the denial is answered all the same, and it is recorded later.
TEST_P(DeferredDeletion, IsRecordedWhenItCanBeWritten) {
  begin();
  world.set({.forbidden = {"PATCH criticalservices"}});
  deleteWork("provider");
  world.waitUntil("it is denied", [&] { return world.deferredDeletions().size() == deniedObjects(); });
  EXPECT_THAT(recorded(), IsEmpty());
  world.calm();
  waitUntilRecorded();
  clearTheWay();
  expectAllGone();
}

// Two of the four find room; the others are not lost, for the work says that they were asked for.
TEST_F(DeferredDeletionTest, WhatFindsRoomIsRecordedAndTheRestIsCounted) {
  begin();
  world.replica().api.set({.longestPatch = 1'000});
  deleteWork("provider");
  world.waitUntil("some of it is recorded", [&] {
    const Json service = world.get(kFaultService);
    return !recorded().empty() && recorded().size() + droppedBy(service) >= deniedObjects();
  });
  EXPECT_LT(recorded().size(), deniedObjects());
  EXPECT_THAT(world.logged(), HasSubstr("413 RequestEntityTooLarge"));
  world.waitUntil("it is told", [&] {
    return world.logged().find("is denied and could not be recorded") != std::string::npos;
  });
  clearTheWay();
  expectAllGone();
  EXPECT_THAT(world.unasked(), IsEmpty());
}

// The agent's hub is away: it learns nothing of what is deleted there, and cannot say there what it has done.
TEST_F(DeferredDeletionTest, IsRunWhileTheHubIsAway) {
  begin();
  world.denyToAll("DELETE", {"work.open-cluster-management.io", "appliedmanifestworks"});
  for (const char* work : {"provider", "instance", "crd"}) deleteWork(work);
  world.waitUntilCollected();
  EXPECT_THAT(recorded(), IsEmpty()) << "nobody here was told";
  EXPECT_EQ(world.ask("DELETE", kFaultPolicy).status, 200);
  world.denyToAll("UPDATE", {"work.open-cluster-management.io", "manifestworks"});
  for (const char* path : {kFaultProvider, kFaultService, kFaultNamespace, kFaultCrd})
    world.waitUntil(std::string("it is gone: ") + path, [&] { return !world.isThere(path); });
  world.waitUntil("nothing is applied", [&] { return world.get(kAppliedWorks)["items"].empty(); });
  EXPECT_THAT(world.get(kWorks)["items"], ::testing::SizeIs(3)) << "the hub has not heard of it";
  EXPECT_EQ(world.ask("DELETE", kFaultPolicy).status, 200);
  expectAllGone();
  EXPECT_THAT(world.unasked(), IsEmpty());
}

TEST_F(DeferredDeletionTest, NothingThatAPersonWasDenied) {
  begin();
  world.expectRefused(kFaultProvider, HasSubstr("must stay while"));
  clearTheWay();
  world.waitUntil("it is seen to be free", [&] {
    return world.get(kFaultService)["status"].value("unmetCriteria", Json::array()).empty();
  });
  EXPECT_THAT(recorded(), IsEmpty());
  EXPECT_TRUE(world.isThere(kFaultProvider));
}

// Somebody who reaches lastout, and says what an API server would say.
TEST_F(DeferredDeletionTest, NothingThatNobodyAskedAnApiServerFor) {
  begin();
  const Json provider = world.get(kFaultProvider);
  const Json forged = {{"apiVersion", "admission.k8s.io/v1"},
                       {"kind", "AdmissionReview"},
                       {"request",
                        {{"uid", "u"},
                         {"operation", "DELETE"},
                         {"kind", {{"group", "apps"}, {"version", "v1"}, {"kind", "Deployment"}}},
                         {"resource", {{"group", "apps"}, {"version", "v1"}, {"resource", "deployments"}}},
                         {"namespace", "app"},
                         {"name", "provider"},
                         {"userInfo", {{"username", "agent"}}},
                         {"object", nullptr},
                         {"oldObject", provider}}}};
  const auto webhooks = simulator::checkConfiguration(world.get(kFaultWebhook)).value();
  const auto deletions =
      std::ranges::find(webhooks, "deployments.apps.lastout.dev", &simulator::Webhook::name);
  ASSERT_NE(deletions, webhooks.end());
  simulator::Webhook guessed = *deletions;
  for (const char* path : {"/review", "/review/", "/review/0123456789abcdef0123456789abcdef"}) {
    guessed.address.servicePath = path;
    const auto answer = world.replica().call(guessed, forged.dump());
    ASSERT_TRUE(answer) << answer.error();
    EXPECT_EQ(answer->status, 404) << path;
    EXPECT_THAT(answer->body, ::testing::Not(HasSubstr("instance-0"))) << "it tells nobody what is there";
  }
  const auto answer = world.replica().call(*deletions, forged.dump());
  ASSERT_TRUE(answer) << answer.error();
  EXPECT_EQ(answer->status, 200) << "the API server is answered";
  world.waitUntil("it is recorded", [&] { return !recorded().empty(); });
  EXPECT_THAT(recorded(), ::testing::ElementsAre("provider")) << "the API server is believed";
}

TEST_F(DeferredDeletionTest, IsTakenBackByAnotherOwner) {
  holdsWork = true;
  deferDeletions();
  const std::string uid = world.get(kFaultProvider)["metadata"]["uid"];
  Json owner = FaultWorld::named("v1", "ConfigMap", "holder");
  world.create("/api/v1/namespaces/app/configmaps", owner);
  const Json held = world.get("/api/v1/namespaces/app/configmaps/holder");
  Json references = world.get(kFaultProvider)["metadata"]["ownerReferences"];
  references.push_back(
      {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "holder"}, {"uid", held["metadata"]["uid"]}});
  world.patch(kFaultProvider, {{"metadata", {{"ownerReferences", references}}}});
  world.replica().api.set({.forbidden = {"DELETE namespaces"}});
  clearTheWay();
  world.waitUntil("it is taken back", [&] {
    return world.logged().find("deployments.apps/app/provider is not deleted, although agent had asked") !=
           std::string::npos;
  });
  EXPECT_TRUE(world.isThere(kFaultProvider));
  EXPECT_THAT(world.deletedByLastout(), ::testing::Not(Contains(Key(uid))));
}

TEST_F(DeferredDeletionTest, IsTakenBackWithItsLastOwner) {
  deferDeletions();
  const std::string uid = world.get(kFaultProvider)["metadata"]["uid"];
  world.patch(kFaultProvider, {{"metadata", {{"ownerReferences", nullptr}}}});
  world.replica().api.set({.forbidden = {"DELETE namespaces"}});
  clearTheWay();
  world.waitUntil("it is taken back", [&] {
    return world.logged().find("deployments.apps/app/provider is not deleted, although agent had asked") !=
           std::string::npos;
  });
  EXPECT_THAT(world.deletedByLastout(), ::testing::Not(Contains(Key(uid))));
}

TEST_F(DeferredDeletionTest, WaitsForAnOwnerThatCannotBeRead) {
  holdsWork = true;
  deferDeletions();
  world.replica().api.set({.forbidden = {"GET appliedmanifestworks"}});
  clearTheWay();
  world.waitUntil("it is told", [&] {
    return world.logged().find("its owner, AppliedManifestWork ") != std::string::npos;
  });
  EXPECT_THAT(world.logged(), HasSubstr("ClusterRole lastout-carries-out"));
  EXPECT_THAT(world.deletedByLastout(), IsEmpty()) << "the CriticalService still records";
  world.replica().api.calm();
  for (const char* path : {kFaultProvider, kFaultNamespace, kFaultService})
    world.waitUntil(std::string("it is gone: ") + path, [&] { return !world.isThere(path); });
}

TEST_F(DeferredDeletionTest, IsTakenBackByWhoTakesItsEntryAway) {
  holdsWork = true;
  deferDeletions();
  world.replica().api.set({.forbidden = {"DELETE deployments", "DELETE namespaces"}});
  clearTheWay();
  world.waitUntil("it is tried", [&] {
    return world.logged().find("deployments.apps/app/provider may go") != std::string::npos;
  });
  world.patch(kFaultService + std::string("/status"), {{"status", {{"deferredDeletions", nullptr}}}});
  world.replica().api.calm();
  world.waitUntilCollected();
  EXPECT_THAT(recorded(), IsEmpty());
  EXPECT_TRUE(world.isThere(kFaultProvider));
}

TEST_F(DeferredDeletionTest, IsForgottenWhenItsCriticalServiceWantsNone) {
  holdsWork = true;
  deferDeletions();
  world.patch(kFaultService, {{"spec", {{"deferredDeletions", "Never"}}}});
  world.waitUntil("it is forgotten", [&] { return recorded().empty(); });
  clearTheWay();
  world.waitUntilCollected();
  EXPECT_TRUE(world.isThere(kFaultProvider));
}

// Who may write a status must not have lastout delete what that CriticalService does not guard.
TEST_F(DeferredDeletionTest, NothingThatIsWrittenByOthers) {
  begin();
  clearTheWay();
  Json deployment = FaultWorld::provider();
  deployment["metadata"]["name"] = "other";
  world.create("/apis/apps/v1/namespaces/app/deployments", deployment);
  const std::string other = "/apis/apps/v1/namespaces/app/deployments/other";
  const Json forged = {{"group", "apps"},
                       {"resource", "deployments"},
                       {"namespace", "app"},
                       {"name", "other"},
                       {"uid", world.get(other)["metadata"]["uid"]},
                       {"requestedBy", "agent"},
                       {"requestedAt", "2026-11-22T16:00:00Z"}};
  world.patch(kFaultService + std::string("/status"),
              {{"status", {{"deferredDeletions", Json::array({forged})}}}});
  world.waitUntil("it is forgotten", [&] { return recorded().empty(); });
  EXPECT_THAT(world.deletedByLastout(), IsEmpty());
  EXPECT_TRUE(world.isThere(other));
}

class DeferredDeletionForAll : public DeferredDeletionTest {
  Json service() override {
    Json service = FaultWorld::service();
    service["spec"]["deferredDeletions"] = "Always";
    return service;
  }
};

TEST_F(DeferredDeletionForAll, APersonNeedNotAskAgain) {
  world.personsCount = true;
  begin();
  world.expectRefused(kFaultProvider + std::string("?dryRun=All"), HasSubstr("must stay while"));
  EXPECT_THAT(recorded(), IsEmpty()) << "a dry run leaves no trace";
  const std::string uid = world.get(kFaultProvider)["metadata"]["uid"];
  world.waitUntil("it is recorded", [&] {
    world.refusalOf(kFaultProvider);
    return recorded() == std::vector<std::string>{"provider"};
  });
  clearTheWay();
  world.waitUntil("lastout deletes it, although its work has it still",
                  [&] { return world.deletedByLastout().contains(uid); });
  world.noteDeferredDeletion(uid);
}

TEST_F(DeferredDeletionForAll, APersonAsksAgainWhereNobodyCanProveThatTheyAsked) {
  begin();
  world.expectRefused(kFaultProvider, HasSubstr("must stay while"));
  world.expectRefused(kFaultProvider, HasSubstr("ask again once it may go"));
  EXPECT_THAT(recorded(), IsEmpty());
  clearTheWay();
  world.waitUntil("it is seen to be free", [&] {
    return world.get(kFaultService)["status"].value("unmetCriteria", Json::array()).empty();
  });
  EXPECT_THAT(recorded(), IsEmpty());
  EXPECT_TRUE(world.isThere(kFaultProvider));
  world.waitUntil("they may delete it", [&] { return world.ask("DELETE", kFaultProvider).status == 200; });
  EXPECT_THAT(world.deletedByLastout(), IsEmpty());
}

// Whoever may write the status of a CriticalService that guards a Namespace, a Secret and a ClusterRole,
// which nobody owns and nobody has asked to delete.
class ForgedEntries : public WorksTest {
 public:
  static constexpr const char* kSecret = "/api/v1/namespaces/app/secrets/key";
  static constexpr const char* kRole = "/apis/rbac.authorization.k8s.io/v1/clusterroles/acting";

  // The provider is gone, and of its criteria nothing is left.
  void beginUnowned() {
    world.replica().serve();
    world.createDefinition();
    world.create("/api/v1/namespaces", FaultWorld::named("v1", "Namespace", "app"));
    world.create("/apis/apps/v1/namespaces/app/deployments", FaultWorld::provider());
    world.create("/api/v1/namespaces/app/secrets", FaultWorld::named("v1", "Secret", "key"));
    world.create("/apis/rbac.authorization.k8s.io/v1/clusterroles",
                 FaultWorld::named("rbac.authorization.k8s.io/v1", "ClusterRole", "acting"));
    Json service = FaultWorld::service();
    service["spec"]["deferredDeletions"] = "Always";
    service["spec"]["guard"]["dependencies"] = Json::array(
        {{{"resource", "secrets"}, {"namespace", "app"}, {"name", "key"}},
         {{"group", "rbac.authorization.k8s.io"}, {"resource", "clusterroles"}, {"name", "acting"}}});
    world.create("/apis/lastout.dev/v1alpha1/criticalservices", service);
    world.waitUntilGuarded();
    world.expectRefused(kSecret, HasSubstr("must stay"));
    world.deleteAll({kFaultCrd, kFaultProvider});
  }
  Json forged(const char* path, const char* group, const char* resource, const char* requestedBy) {
    const Json meta = world.get(path)["metadata"];
    Json entry = {{"resource", resource},
                  {"name", meta["name"]},
                  {"uid", meta["uid"]},
                  {"requestedBy", requestedBy},
                  {"requestedAt", "2026-11-22T16:00:00Z"}};
    if (*group != '\0') entry["group"] = group;
    if (meta.contains("namespace")) entry["namespace"] = meta["namespace"];
    return entry;
  }
};

TEST_F(ForgedEntries, NothingBecauseAnEntrySaysThatSomebodyAsked) {
  beginUnowned();
  for (const char* user : {"agent", "somebody", "system:kube-controller-manager"}) {
    const Json entries =
        Json::array({forged(kFaultNamespace, "", "namespaces", user), forged(kSecret, "", "secrets", user),
                     forged(kRole, "rbac.authorization.k8s.io", "clusterroles", user)});
    world.patch(kFaultService + std::string("/status"), {{"status", {{"deferredDeletions", entries}}}});
    world.waitUntil("they are forgotten", [&] { return recorded().empty(); });
  }
  EXPECT_THAT(world.logged(), HasSubstr("secrets/app/key is not deleted, although agent had asked"));
  for (const char* path : {kFaultNamespace, kSecret, kRole}) EXPECT_TRUE(world.isThere(path)) << path;
  EXPECT_THAT(world.deletedByLastout(), IsEmpty());
}

// The claim may go first, as it could in the recording, and so waits for the Pods that mount it.
class DeferredDeletionForNobody : public DeferredDeletionTest {
  Json service() override {
    Json service = FaultWorld::service();
    service["spec"]["deferredDeletions"] = "Never";
    service["spec"]["guard"]["dependencies"] = "None";
    return service;
  }
};

TEST_F(DeferredDeletionForNobody, StaysADeadlock) {
  begin();
  deleteAllWorks();
  world.waitUntil("the way is clear", [&] { return !world.isThere(kFaultCrd); });
  world.waitUntilCollected();
  EXPECT_TRUE(world.isThere(kFaultProvider));
  EXPECT_THAT(world.deletedByLastout(), IsEmpty());
  // It is a matter of will.
  world.patch(kFaultService, {{"spec", {{"deferredDeletions", "Always"}}}});
  world.deleteAll({kFaultProvider, kFaultNamespace, kFaultService});
  expectAllGone();
}

using DeferredDeletionByTwo = OfEachForm<DeferredDeletionTest, 2>;
INSTANTIATE_TEST_SUITE_P(, DeferredDeletionByTwo, kEachForm, formName);

TEST_P(DeferredDeletionByTwo, TheOtherRunsWhatTheLeaderCannot) {
  deferDeletions();
  world.set({.forbidden = {"DELETE deployments"}});
  clearTheWay();
  world.waitUntil("the leader tries", [&] {
    return world.logged().find("deployments.apps/app/provider may go") != std::string::npos;
  });
  EXPECT_TRUE(world.isThere(kFaultProvider));
  world.leader().kill();
  world.calm();
  expectAllGone();
}

TEST_P(DeferredDeletionByTwo, TheOtherCarriesItOutWhileTheLeaderIsCutOff) {
  deferDeletions();
  Replica& leader = world.leader();
  leader.disconnect();
  clearTheWay();
  expectAllGone();
  EXPECT_EQ(world.holder(), world.otherThan(leader).identity);
  leader.connect();
}

TEST_P(DeferredDeletionByTwo, IsRunByWhoHasTheLeaseAlone) {
  deferDeletions();
  Replica& former = world.leader();
  world.set({.forbidden = {"PATCH leases"}});
  world.takeTheLease();
  world.waitUntil("nobody holds it", [&] { return !former.leads() && !world.otherThan(former).leads(); });
  clearTheWay();
  world.waitUntilCollected();
  EXPECT_TRUE(world.isThere(kFaultProvider));
  EXPECT_THAT(world.deletedByLastout(), IsEmpty());
  world.calm();
  expectAllGone();
}

}  // namespace
}  // namespace lastout::testing

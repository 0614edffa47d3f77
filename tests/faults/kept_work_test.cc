// Works that lastout keeps until what they have applied is gone, and what goes wrong meanwhile.
#include <algorithm>
#include <string>
#include <vector>

#include "control/kept_work_rule.h"
#include "kube/well_known.h"
#include "tests/faults/works_test.h"

namespace lastout::testing {
namespace {

using simulator::Json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kApplied = kAppliedWorks + std::string("/cluster1-provider");
const std::string kStorage = kAppliedWorks + std::string("/cluster1-storage");
const std::string kKept(kube::kAppliedObjectsFinalizer);

class KeptWorkTest : public WorksTest {
 public:
  explicit KeptWorkTest(size_t replicas = 1, Processes processes = Processes::OfBothRoles)
      : WorksTest(replicas, processes) {
    hasClaim = false;
  }

  void waitUntilLetGo() {
    world.waitUntil("the work is let go", [&] { return !isKept(); });
  }
  // Returns once lastout has heard of it. nullptr: the default.
  void setDeferredDeletions(const Json& mode) {
    world.patch(kFaultService, {{"spec", {{"deferredDeletions", mode}}}});
    world.waitUntil("lastout has heard of that", [&] {
      const Json service = world.get(kFaultService);
      return service.value("/status/observedGeneration"_json_pointer, 0) == service["metadata"]["generation"];
    });
  }
  void waitUntilTheAgentIsDone() {
    world.waitUntil("the agent is done", [&] { return finalizers() == std::vector<std::string>{kKept}; });
  }
};

using KeptWork = OfEachForm<KeptWorkTest>;
INSTANTIATE_TEST_SUITE_P(, KeptWork, kEachForm, formName);

TEST_P(KeptWork, IsNotReportedGoneTooEarly) {
  begin();
  waitUntilKept();
  deleteWork("provider");
  waitUntilTheAgentIsDone();
  EXPECT_TRUE(world.isThere(kFaultProvider));
  clearTheWay();
  expectGoneAfterAllThatItApplied();
  expectAllGone();
}

TEST_F(KeptWorkTest, IsKeptOnlyForWhatIsGuarded) {
  begin();
  waitUntilKept();
  const Json works = world.get(kAppliedWorks)["items"];
  for (const Json& item : works) {
    const auto all = item["metadata"].value("finalizers", std::vector<std::string>());
    const bool isProviders = item["metadata"]["name"] == "cluster1-provider";
    EXPECT_EQ(std::ranges::count(all, kKept), isProviders ? 1 : 0) << item;
  }
}

TEST_P(KeptWork, WhoComesLaterPicksItUp) {
  begin();
  waitUntilKept();
  world.kill();
  world.patch(kApplied, {{"metadata", {{"finalizers", nullptr}}}});
  EXPECT_THAT(finalizers(), IsEmpty());
  world.serve();
  waitUntilKept();
}

// No lastout answers the agent, whose DELETEs fail, and who asks once.
TEST_P(KeptWork, IsFinishedAfterLastoutWasAway) {
  begin();
  waitUntilKept();
  world.kill();
  deleteWork("provider");
  waitUntilTheAgentIsDone();
  EXPECT_THAT(recorded(), IsEmpty()) << "nobody has denied anything";
  EXPECT_TRUE(isThere());
  for (const char* path : {kFaultProvider, kFaultNamespace, kFaultService})
    world.noteDeferredDeletion(world.get(path)["metadata"]["uid"]);
  world.serve();
  clearTheWay();
  expectGoneAfterAllThatItApplied();
  EXPECT_THAT(world.logged(),
              HasSubstr("as the agent of appliedmanifestworks.work.open-cluster-management.io/"));
}

TEST_F(KeptWorkTest, IsLetGoByWhoOnlyLooksOn) {
  begin();
  waitUntilKept();
  world.replica().kill();
  world.auditOnly = true;
  world.replica().serve();
  waitUntilLetGo();
  EXPECT_TRUE(isThere());
}

TEST_F(KeptWorkTest, IsKeptOnceThatIsAllowed) {
  world.replica().api.set({.forbidden = {"PATCH appliedmanifestworks"}});
  begin();
  world.waitUntil("it is told", [&] {
    return world.logged().find("ClusterRole lastout-keeps-works") != std::string::npos;
  });
  EXPECT_THAT(finalizers(), Not(Contains(kKept)));
  world.replica().api.calm();
  waitUntilKept();
}

TEST_F(KeptWorkTest, IsNoLongerKeptOnceNothingIsGuarded) {
  begin();
  waitUntilKept();
  world.patch(kFaultService, {{"spec", {{"deferredDeletions", "Never"}}}});
  waitUntilLetGo();
  EXPECT_TRUE(isThere());
}

// The watch of CriticalServices tells that nothing is guarded, that of the works has not told yet that this
// one is being deleted.
TEST_F(KeptWorkTest, IsNotLetGoByWhoHasNotHeardOfItsDeletion) {
  begin();
  waitUntilKept();
  world.replica().api.set({.held = {"appliedmanifestworks"}});
  deleteWork("provider");
  waitUntilTheAgentIsDone();
  setDeferredDeletions("Never");
  EXPECT_TRUE(isKept());
  setDeferredDeletions(nullptr);
  world.replica().api.calm();
  clearTheWay();
  expectGoneAfterAllThatItApplied();
}

// A work of its own has the claim that the provider's Pods mount, and somebody else's finalizer holds it.
class KeptWorkOfTheClaim : public KeptWorkTest {
 public:
  using KeptWorkTest::KeptWorkTest;

  std::vector<Json> providersWork() override {
    std::vector<Json> work = WorksTest::providersWork();
    for (Json& object : work) {
      if (object["kind"] == "Deployment")
        object["spec"]["template"]["spec"]["volumes"] =
            Json::array({{{"name", "data"}, {"persistentVolumeClaim", {{"claimName", "data"}}}}});
    }
    return work;
  }

  // Two works are being deleted: the provider's, and that of its claim, which somebody else's finalizer
  // holds.
  void deleteBoth() {
    begin();
    Json claim = FaultWorld::named("v1", "PersistentVolumeClaim", "data");
    claim["metadata"]["namespace"] = "app";
    claim["metadata"]["finalizers"] = {"f.x/held"};
    claim["spec"] = {{"accessModes", {"ReadWriteOnce"}}, {"resources", {{"requests", {{"storage", "1Gi"}}}}}};
    createWork("storage", {claim});
    world.waitUntil("it is kept", [&] {
      const Json applied = world.get(kStorage);
      return !applied.is_null() &&
             applied["metadata"].value("finalizers", Json()).dump().find(kKept) != std::string::npos;
    });
    world.waitUntil("all know the claim", [this] {
      bool isKnown = true;
      for (size_t i = 0; i < world.replicas(); ++i) isKnown = isKnown && knowsTheClaim(world.replica(i));
      return isKnown;
    });
    for (const char* work : {"storage", "provider"}) deleteWork(work);
  }
  static bool knowsTheClaim(Replica& replica) {
    return std::ranges::any_of(replica.server().standing().types, [](const server::TypeStanding& standing) {
      return standing.type.resource == "persistentvolumeclaims" && standing.objects == 1 &&
             standing.knowledge == graph::Knowledge::Synced;
    });
  }
  void endAllButTheClaim() {
    clearTheWay();
    world.waitUntil("nobody guards it", [&] { return !world.isThere(kFaultService); });
    world.waitUntil("lastout has heard of that",
                    [&] { return world.get(kFaultWebhook).dump().find("deployments") == std::string::npos; });
  }
  void expectKeptUntilItIsGone() {
    world.waitUntilCollected();
    EXPECT_TRUE(world.isThere(kClaim));
    EXPECT_TRUE(world.isThere(kStorage)) << world.logged();
    world.patch(kClaim, {{"metadata", {{"finalizers", nullptr}}}});
    expectAllGone();
  }
};

TEST_F(KeptWorkOfTheClaim, IsKeptWhileItEndsAlthoughNobodyGuardsItAnyMore) {
  deleteBoth();
  endAllButTheClaim();
  expectKeptUntilItIsGone();
}

using KeptWorkOfTheClaimByTwo = OfEachForm<KeptWorkOfTheClaim, 2>;
INSTANTIATE_TEST_SUITE_P(, KeptWorkOfTheClaimByTwo, kEachForm, formName);

TEST_P(KeptWorkOfTheClaimByTwo, IsKeptByWhoOnlySawWhatItWaitsFor) {
  deleteBoth();
  Replica& leader = world.leader();
  Replica& other = world.otherThan(leader);
  const auto keeps = [](Replica& replica) { return replica.server().standing().keptWorks == 2U; };
  world.waitUntil("both have seen it", [&] { return keeps(leader) && keeps(other); });
  endAllButTheClaim();
  leader.kill();
  world.waitUntil("the other leads", [&] { return world.holder() == other.identity; });
  world.createService();
  world.waitUntilGuarded();  // by whoever leads
  world.waitUntil("it goes, by the other's leave",
                  [&] { return world.ask("DELETE", kFaultService).status == 200; });
  expectKeptUntilItIsGone();
}

using KeptWorkByTwo = OfEachForm<KeptWorkTest, 2>;
INSTANTIATE_TEST_SUITE_P(, KeptWorkByTwo, kEachForm, formName);

TEST_P(KeptWorkByTwo, TheOtherLetsGoOfWhatTheLeaderKept) {
  begin();
  waitUntilKept();
  deleteWork("provider");
  waitUntilTheAgentIsDone();
  world.set({.forbidden = {"PATCH appliedmanifestworks"}});
  clearTheWay();
  world.waitUntil("the leader cannot let go", [&] {
    return world.logged().find("lastout's finalizer cannot be changed") != std::string::npos;
  });
  EXPECT_TRUE(isThere());
  world.leader().kill();
  world.calm();
  expectGoneAfterAllThatItApplied();
}

TEST_P(KeptWorkByTwo, IsKeptWhileTheLeaderIsCutOff) {
  begin();
  waitUntilKept();
  deleteWork("provider");
  waitUntilTheAgentIsDone();
  Replica& leader = world.leader();
  leader.disconnect();
  world.waitUntil("the other leads", [&] { return world.holder() == world.otherThan(leader).identity; });
  EXPECT_TRUE(isKept());
  clearTheWay();
  expectGoneAfterAllThatItApplied();
  leader.connect();
  expectAllGone();
}

TEST_P(KeptWorkByTwo, IsKeptWhileNobodyHasTheLease) {
  begin();
  waitUntilKept();
  deleteWork("provider");
  waitUntilTheAgentIsDone();
  Replica& former = world.leader();
  world.set({.forbidden = {"PATCH leases"}});
  world.takeTheLease();
  world.waitUntil("nobody holds it", [&] { return !former.leads() && !world.otherThan(former).leads(); });
  clearTheWay();
  world.waitUntilCollected();
  EXPECT_TRUE(isKept());
  world.calm();
  expectGoneAfterAllThatItApplied();
  expectAllGone();
}

}  // namespace
}  // namespace lastout::testing

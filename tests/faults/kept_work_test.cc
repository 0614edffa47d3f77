// Works that lastout keeps until what they have applied is gone, and what goes wrong meanwhile.
#include "admission/kept_work.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/faults/works_test.h"

namespace lastout::testing {
namespace {

using apiserver::Json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kApplied = kAppliedWorks + std::string("/cluster1-provider");
const std::string kKept(admission::kKeptFinalizer);

class KeptWorkTest : public WorksTest {
 public:
  explicit KeptWorkTest(size_t replicas = 1) : WorksTest(replicas) { hasClaim = false; }

  // Of the AppliedManifestWork of the provider's work; none: it is not there.
  std::vector<std::string> finalizers() {
    const Json applied = world.get(kApplied);
    return applied.is_null() ? std::vector<std::string>()
                             : applied["metadata"].value("finalizers", std::vector<std::string>());
  }
  bool isKept() {
    const std::vector<std::string> all = finalizers();
    return std::ranges::find(all, kKept) != all.end();
  }
  bool isThere() { return world.isThere(std::string(kWorks) + "/provider"); }
  void waitUntilKept() {
    world.waitUntil("the work is kept", [&] { return isKept(); });
  }
  void waitUntilLetGo() {
    world.waitUntil("the work is let go", [&] { return !isKept(); });
  }
  void waitUntilTheAgentIsDone() {
    world.waitUntil("the agent is done", [&] { return finalizers() == std::vector<std::string>{kKept}; });
  }
  // From here on nothing comes back: what is there once the work is not, the work was reported gone before.
  void expectGoneAfterAllThatItApplied() {
    world.waitUntil("the work is gone", [&] { return !isThere(); });
    for (const char* path : {kFaultProvider, kFaultNamespace, kFaultService})
      EXPECT_FALSE(world.isThere(path)) << path << "\n" << world.logged();
  }
};

TEST_F(KeptWorkTest, IsNotReportedGoneTooEarly) {
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

TEST_F(KeptWorkTest, WhoComesLaterPicksItUp) {
  begin();
  waitUntilKept();
  world.replica().kill();
  world.patch(kApplied, {{"metadata", {{"finalizers", nullptr}}}});
  EXPECT_THAT(finalizers(), IsEmpty());
  world.replica().serve();
  waitUntilKept();
}

// No lastout answers the agent, whose DELETEs fail, and who asks once.
TEST_F(KeptWorkTest, IsFinishedAfterLastoutWasAway) {
  begin();
  waitUntilKept();
  world.replica().kill();
  deleteWork("provider");
  waitUntilTheAgentIsDone();
  EXPECT_THAT(remembered(), IsEmpty()) << "nobody has denied anything";
  EXPECT_TRUE(isThere());
  for (const char* path : {kFaultProvider, kFaultNamespace, kFaultService})
    world.notePutOff(world.get(path)["metadata"]["uid"]);
  world.replica().serve();
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
  world.patch(kFaultService, {{"spec", {{"replay", "Never"}}}});
  waitUntilLetGo();
  EXPECT_TRUE(isThere());
}

class KeptWorkByTwo : public KeptWorkTest {
 public:
  KeptWorkByTwo() : KeptWorkTest(2) {}
};

TEST_F(KeptWorkByTwo, TheOtherLetsGoOfWhatTheLeaderKept) {
  world.replica(1).serve();
  begin();
  waitUntilKept();
  deleteWork("provider");
  waitUntilTheAgentIsDone();
  std::string dead;
  world.waitUntil("one of them holds the Lease", [&] { return !(dead = world.holder()).empty(); });
  Replica& leader = world.replica(dead == world.replica(0).identity ? 0 : 1);
  leader.api.set({.forbidden = {"PATCH appliedmanifestworks"}});
  clearTheWay();
  world.waitUntil("the leader cannot let go", [&] {
    return world.logged().find("its finalizer of lastout's cannot be changed") != std::string::npos;
  });
  EXPECT_TRUE(isThere());
  leader.kill();
  expectGoneAfterAllThatItApplied();
}

}  // namespace
}  // namespace lastout::testing

// What goes wrong between lastout and its API server, one thing after the other; soak_test.cc mixes them.
// What a Reflector makes of it alone is in tests/client/reflector_*_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/faults/fault_world.h"
#include "tests/properties/dice.h"

namespace lastout::testing {
namespace {

using simulator::Json;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

const kube::GroupResource kFaultType{"my.crd.group", "coolresources"};

class FaultsTest : public ::testing::Test {
 public:
  ~FaultsTest() override { EXPECT_EQ(world.judge.complaints(), "") << world.logged(); }

  explicit FaultsTest(size_t replicas = 1) : world(replicas) {}

  void begin(int instances = 1) {
    world.replica().serve();
    world.createStory(instances);
    world.waitUntilGuarded();
  }
  bool allowsProvider() { return world.ask("DELETE", kFaultProvider).status == 200; }
  void expectAllGone(int instances = 1) {
    for (const std::string& path : FaultWorld::storyPaths(instances))
      EXPECT_FALSE(world.isThere(path)) << path;
    EXPECT_GT(world.judge.counts().allowed, 0) << "the provider's deletion was reviewed";
  }

  server::Server& server() { return world.replica().server(); }
  int reviews() const { return world.judge.counts().allowed + world.judge.counts().denied; }
  static std::string instance(int number) {
    return kFaultInstances + ("/instance-" + std::to_string(number));
  }
  void waitUntilKnown(graph::Knowledge knowledge) {
    world.waitUntil("instances are known so", [&] {
      for (size_t i = 0; i < world.replicas(); ++i) {
        if (world.replica(i).server().view().knowledge(kFaultType) != knowledge) return false;
      }
      return true;
    });
  }
  // Discovery no longer names the type, and nobody tries to list it again and again.
  void waitUntilUnwatched() {
    world.waitUntil("nobody lists instances", [&] {
      const std::vector<server::TypeStanding> standings = server().view().standings();
      const auto type = std::ranges::find(standings, kFaultType, &server::TypeStanding::type);
      return !server().view().find(kFaultType) && type != standings.end() && type->why.empty();
    });
  }

  // After another cluster has come: what lastout writes is of that one, and stays.
  void expectToSettle() {
    world.waitUntilGuarded();
    world.waitUntil("the configuration belongs to the namespace that is there", [&] {
      const Json configuration = world.get(kFaultWebhook);
      const Json* owners = simulator::at(configuration, {"metadata", "ownerReferences"});
      const Json home = world.get("/api/v1/namespaces/lastout");
      return owners != nullptr && owners->at(0)["uid"] == home["metadata"]["uid"];
    });
    // Until the new namespace was read it may have been written for the former one, more and more seldom.
    const int made = world.configurationsMade();
    world.waitUntilCollected();
    EXPECT_EQ(world.configurationsMade(), made) << "it stays";
  }
  void expectStoryIsFollowed(int instances) {
    expectToSettle();
    waitUntilInstances(static_cast<uint32_t>(instances));
    world.expectRefused(kFaultProvider, HasSubstr("instance-" + std::to_string(instances - 1)));
    world.deleteAll(FaultWorld::storyPaths(instances));
    expectAllGone(instances);
  }
  void waitUntilInstances(uint32_t count) {
    world.waitUntil("lastout knows of " + std::to_string(count) + " instances",
                    [&] { return server().view().objectCount(kFaultType) == count; });
  }

  FaultWorld world;
};

TEST_F(FaultsTest, NoneEndsEmpty) {
  begin(3);
  world.deleteAll(FaultWorld::storyPaths(3));
  expectAllGone(3);
}

// lastout has seen instance and CRD go, and does not see them come again.
TEST_F(FaultsTest, AStaleCacheNeverLetsAProviderGo) {
  begin();
  world.deleteAll({instance(0), kFaultCrd});
  waitUntilKnown(graph::Knowledge::Absent);
  waitUntilUnwatched();
  world.replica().api.set({.held = {"customresourcedefinitions", "coolresources"}, .undiscovered = true});
  world.createDefinition();
  world.createInstance("late");
  for (int i = 0; i < 5; ++i) world.expectRefused(kFaultProvider, HasSubstr("denied the request"));
  EXPECT_EQ(server().view().knowledge(kFaultType), graph::Knowledge::Absent) << "as far as it was told";
  EXPECT_TRUE(world.isThere(kFaultProvider));
  world.replica().api.calm();
  auto paths = FaultWorld::storyPaths();
  paths.push_back(std::string(kFaultInstances) + "/late");
  world.deleteAll(paths);
  expectAllGone();
}

// The criterion is one on instances alone.
TEST_F(FaultsTest, AStaleCacheOfInstancesNeverLetsAProviderGo) {
  world.definitionCounts = false;
  begin();
  world.deleteAll({instance(0)});
  waitUntilInstances(0);
  world.replica().api.set({.held = {"coolresources"}});
  world.createInstance("late");
  for (int i = 0; i < 5; ++i)
    world.expectRefused(kFaultProvider, HasSubstr("coolresources.my.crd.group/late has finalizer"));
  EXPECT_EQ(server().view().objectCount(kFaultType), 0U) << "as far as it was told";
  world.replica().api.calm();
  world.deleteAll({kFaultInstances + std::string("/late"), kFaultProvider});
}

TEST_F(FaultsTest, WatchesThatAreCutAtAnyEvent) {
  begin(3);
  Dice dice(1);
  const std::vector<WatchEnd> ends{WatchEnd::Whole, WatchEnd::Amid, WatchEnd::Expired};
  world.deleteAll(FaultWorld::storyPaths(3),
                  [&] { world.replica().api.cutWatches(static_cast<int>(dice.below(4)), dice.pick(ends)); });
  expectAllGone(3);
  EXPECT_GT(world.replica().api.faults(), 0);
}

TEST_F(FaultsTest, EventsThatAreRepeatedAndInTheWrongOrder) {
  begin(3);
  world.replica().api.set({.repeats = true});
  bool swaps = false;
  world.deleteAll(FaultWorld::storyPaths(3), [&] {
    swaps = !swaps;
    world.replica().api.set({.repeats = true, .swaps = swaps});
  });
  expectAllGone(3);
  EXPECT_GT(world.replica().api.faults(), 0);
}

TEST_F(FaultsTest, AListWhoseTokenExpires) {
  begin(5);
  const int before = world.replica().api.faults();
  world.replica().api.set({.expires = true});
  world.replica().api.cutWatches(0, WatchEnd::Expired);
  world.waitUntil("a list is refused in its middle",
                  [&] { return world.replica().api.faults() > before + 3; });
  world.createInstance("late");
  world.expectRefused(kFaultProvider, HasSubstr("have finalizer"));
  auto paths = FaultWorld::storyPaths(5);
  paths.push_back(std::string(kFaultInstances) + "/late");
  world.deleteAll(paths);
  expectAllGone(5);
}

// For longer than what was heard is believed.
TEST_F(FaultsTest, AnApiServerThatIsGoneAndComesBack) {
  begin(2);
  world.replica().disconnect();
  world.waitUntil("it no longer believes what it heard", [&] { return !server().isReady(); });
  world.expectRefused(kFaultProvider, HasSubstr("denied the request"));
  EXPECT_THAT(world.refusalOf(kFaultInstances + std::string("/instance-0")),
              Not(HasSubstr("denied the request")))
      << "nobody is asked about instances";
  world.replica().connect();
  world.deleteAll(FaultWorld::storyPaths(2));
  expectAllGone(2);
}

// All of the other one is made before lastout sees it, and no time passes that would show it: a watch that
// goes on where the former one stopped tells nothing of it.
TEST_F(FaultsTest, AnApiServerThatComesBackWithAnotherHistory) {
  world.outage = std::chrono::hours(1);
  begin(1);
  world.newHistory([&](uint64_t former) {
    world.createStory(3);
    world.writeBeyond(former);
  });
  expectStoryIsFollowed(3);
}

TEST_F(FaultsTest, AnApiServerThatComesBackWithAShorterHistory) {
  world.outage = std::chrono::hours(1);
  world.writeBeyond(400);  // so that all watches are from after that
  begin(1);
  world.newHistory([&](uint64_t former) {
    world.createStory(3);
    ASSERT_LT(world.version(), former);
  });
  expectStoryIsFollowed(3);
}

// All that lastout knew to block is gone, and in the other history there is something that it never heard of.
TEST_F(FaultsTest, AnotherHistoryWithWhatNobodyToldOf) {
  world.outage = std::chrono::hours(1);
  begin();
  world.deleteAll({instance(0), kFaultCrd});
  waitUntilKnown(graph::Knowledge::Absent);
  world.newHistory([&](uint64_t former) {
    world.createStory(0);
    world.createInstance("other");
    world.writeBeyond(former);
  });
  expectToSettle();
  waitUntilInstances(1);
  for (int i = 0; i < 5; ++i)
    world.expectRefused(kFaultProvider, HasSubstr("coolresources.my.crd.group/other"));
  auto paths = FaultWorld::storyPaths(0);
  paths.push_back(kFaultInstances + std::string("/other"));
  world.deleteAll(paths);
  expectAllGone(0);
}

TEST_F(FaultsTest, ASlowApiServer) {
  begin();
  world.replica().api.set({.delay = milliseconds(150)});
  world.deleteAll({instance(0), kFaultCrd});
  waitUntilKnown(graph::Knowledge::Absent);
  world.replica().api.set({.delay = std::chrono::hours(1)});
  world.expectRefused(kFaultProvider, HasSubstr("until the API server has confirmed"));
  world.replica().api.calm();
  world.deleteAll(FaultWorld::storyPaths());
  expectAllGone();
}

TEST_F(FaultsTest, AnApiServerThatRefusesEverything) {
  begin();
  for (const int status : {401, 403, 404, 429, 500, 503}) {
    world.replica().api.set({.status = status});
    world.replica().api.cutWatches(0);
    world.waitUntil("it no longer believes what it heard", [&] { return !server().isReady(); });
    world.expectRefused(kFaultProvider, HasSubstr("denied the request"));
    world.replica().api.calm();
    world.waitUntil("it follows again", [&] { return server().isReady(); });
  }
  world.deleteAll(FaultWorld::storyPaths());
  expectAllGone();
}

TEST_F(FaultsTest, ALastoutThatIsStartedAnew) {
  begin(3);
  const std::vector<std::string> paths = FaultWorld::storyPaths(3);
  int starts = 0;
  world.deleteAll(paths, [&] {
    if (++starts > 10) {  // who is ended as soon as he is asked gets nowhere
      world.waitUntil("all is gone", [&] {
        return std::ranges::none_of(paths, [&](const std::string& path) { return world.isThere(path); });
      });
      return;
    }
    world.replica().kill();
    world.replica().serve();
    const int before = reviews();
    world.waitUntil("it is asked, or nothing is guarded any more", [&] {
      return server().isReady() && (reviews() > before || !world.isThere(kFaultService));
    });
  });
  expectAllGone(3);
}

TEST_F(FaultsTest, AWebhookConfigurationThatIsDeletedOrEdited) {
  begin(3);
  int times = 0;
  const auto spoil = [&] {
    ++times;
    if (times % 2 == 0)
      world.patch(kFaultWebhook, {{"webhooks", Json::array()}});
    else
      world.waitUntil("it is deleted", [&] { return world.ask("DELETE", kFaultWebhook).status == 200; });
    world.waitUntil("it is put back", [&] { return world.judge.counts().reported >= times; });
    if (world.judge.counts().unguarded > 0) world.finalizeByHand();
  };
  spoil();
  world.expectRefused(kFaultProvider, HasSubstr("must stay while"));
  world.deleteAll(FaultWorld::storyPaths(3), spoil);
  for (const std::string& path : FaultWorld::storyPaths(3)) EXPECT_FALSE(world.isThere(path)) << path;
  EXPECT_GT(times, 1);
}

// What happened while lastout could not see is within what it reports.
TEST_F(FaultsTest, AWebhookConfigurationThatIsDeletedUnseen) {
  begin();
  world.replica().disconnect();
  world.waitUntil("lastout has noticed", [&] { return server().standing().webhookInForce != true; });
  EXPECT_EQ(world.ask("DELETE", kFaultWebhook).status, 200);
  const auto deleted = std::chrono::steady_clock::now();
  EXPECT_TRUE(allowsProvider()) << "nobody is asked";
  world.waitUntil("lastout does not know any more", [&] { return !server().isReady(); });
  const auto unguarded = std::chrono::steady_clock::now() - deleted;
  world.replica().connect();
  world.waitUntil("it is put back", [&] { return world.judge.counts().reported > 0; });
  EXPECT_GE(world.judge.counts().longest, std::chrono::floor<milliseconds>(unguarded));
}

TEST_F(FaultsTest, ACriticalServiceThatIsDeletedAndMadeAnew) {
  begin();
  for (const std::set<std::string>& held :
       {std::set<std::string>{}, std::set<std::string>{"criticalservices"}}) {
    world.patch(kFaultService, {{"spec", {{"deletionIntent", "BestEffortDeletion"}}}});
    world.waitUntil("lastout knows", [&] {
      return world.ask("DELETE", kFaultService + std::string("?dryRun=All")).status == 200;
    });
    world.replica().api.set({.held = held});
    world.deleteAll({kFaultService});
    world.createService();
    if (!held.empty()) {
      world.expectRefused(kFaultProvider, HasSubstr("must stay while"));
    }
    world.replica().api.calm();
    world.waitUntilGuarded();
    world.expectRefused(kFaultProvider, HasSubstr("must stay while"));
  }
  world.deleteAll(FaultWorld::storyPaths());
  expectAllGone();
}

TEST_F(FaultsTest, ClocksThatJump) {
  begin(3);
  Dice dice(1);
  world.deleteAll(FaultWorld::storyPaths(3),
                  [&] { world.jump(std::chrono::hours(24) * (static_cast<int>(dice.below(800)) - 400)); });
  expectAllGone(3);
}

// Clients that keep their connections, and others that do not.
TEST_F(FaultsTest, ACertificateThatIsRotatedUnderLoad) {
  begin();
  std::atomic<bool> over{false};
  std::atomic<int> calls{0};
  std::vector<std::thread> clients;
  clients.reserve(4);
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      while (!over) {
        world.expectRefused(kFaultProvider, HasSubstr("must stay while"));
        ++calls;
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    const int before = calls;
    world.replica().rotate();
    world.replica().forgetConnections();
    world.waitUntil("clients go on", [&] { return calls > before + 10; });
  }
  over = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(world.judge.counts().failed, 0);
}

class TwoReplicas : public FaultsTest {
 public:
  TwoReplicas() : FaultsTest(2) {}
  // The CriticalServices that the replica knows.
  std::set<std::string> servicesOf(size_t replica) {
    std::set<std::string> names;
    world.replica(replica).server().view().inspect(
        [&](const admission::ClusterView& view, const kube::ResourceMap&) {
          for (const auto* service : view.services()) names.insert(service->meta.name);
        });
    return names;
  }
};

TEST_F(TwoReplicas, OfWhichOneDies) {
  world.replica(1).serve();
  begin(3);
  Replica& dying = world.leader();
  Replica& other = world.replica(&dying == &world.replica(0) ? 1 : 0);
  world.deleteAll(FaultWorld::storyPaths(3), [&] {
    if (dying.isServing()) dying.kill();
  });
  expectAllGone(3);
  world.waitUntil("the other has the Lease", [&] { return world.holder() == other.identity; });
  world.createStory();
  world.waitUntilGuarded();
}

// Each sees the configuration by itself, and puts it back.
TEST_F(TwoReplicas, OfWhichOneIsBehind) {
  world.replica(1).serve();
  begin();
  world.deleteAll({instance(0), kFaultCrd});
  waitUntilKnown(graph::Knowledge::Absent);
  world.replica(1).api.set({.held = {"customresourcedefinitions", "coolresources"}});
  world.createDefinition();
  world.createInstance("late");
  for (int i = 0; i < 6; ++i) world.expectRefused(kFaultProvider, HasSubstr("must stay"));
  world.replica(1).api.calm();
  world.deleteAll({std::string(kFaultInstances) + "/late"});
  world.deleteAll(FaultWorld::storyPaths());
  expectAllGone();
}

// One has heard of a CriticalService, and the other has not. Another guards something else, so that both are
// asked about Deployments all the while.
TEST_F(TwoReplicas, OfWhichOneHasNotHeardOfTheGuard) {
  world.replica(1).serve();
  begin();
  Json other = world.get(kFaultService);
  other["metadata"] = {{"name", "other"}};
  other["spec"]["provider"]["name"] = "other";
  other.erase("status");
  world.create("/apis/lastout.dev/v1alpha1/criticalservices", other);
  world.patch(kFaultService, {{"spec", {{"deletionIntent", "BestEffortDeletion"}}}});
  world.deleteAll({kFaultService});
  const std::set<std::string> justOther{"other"};
  world.waitUntil("both know that it is gone",
                  [&] { return servicesOf(0) == justOther && servicesOf(1) == justOther; });
  const size_t behind = world.replica(0).identity == world.holder() ? 1 : 0;
  world.replica(behind).api.set({.held = {"criticalservices"}});
  world.createService();
  world.waitUntil("it is said to be enforced", [this] {
    const Json service = world.get(kFaultService);
    const Json* conditions = simulator::at(service, {"status", "conditions"});
    return conditions != nullptr && conditions->dump().find("ProbeDenied") != std::string::npos;
  });
  std::string refusals;
  for (int i = 0; i < 6; ++i) {
    const std::string refusal = world.refusalOf(kFaultProvider);
    EXPECT_THAT(refusal, HasSubstr("must stay"));
    refusals += refusal;
  }
  EXPECT_THAT(refusals, HasSubstr("guards it since a moment ago")) << "each is asked in its turn";
  EXPECT_EQ(servicesOf(behind), justOther) << "as far as it was told";
  world.replica(behind).api.calm();
  std::vector<std::string> paths = FaultWorld::storyPaths();
  paths.emplace_back("/apis/lastout.dev/v1alpha1/criticalservices/other");
  world.deleteAll(paths);
  expectAllGone();
}

}  // namespace
}  // namespace lastout::testing

// The clock of an embedded cluster, and who may turn it.
#include "simulator/virtual_clock.h"

#include <gtest/gtest.h>

#include "tests/simulator/cluster_fixture.h"

namespace lastout::simulator {
namespace {

using std::chrono::milliseconds;

class VirtualClockTest : public ::testing::Test {
 public:
  void pass(milliseconds time) { real += time; }
  std::chrono::steady_clock::time_point real{};
  VirtualClock clock{1, [this] { return real; }};
};

TEST_F(VirtualClockTest, RunsWithRealTime) {
  EXPECT_EQ(clock.now(), milliseconds(0));
  pass(milliseconds(250));
  EXPECT_EQ(clock.now(), milliseconds(250));
}

TEST_F(VirtualClockTest, AnotherSpeedCountsFromNowOn) {
  pass(milliseconds(100));
  clock.setSpeed(100);
  pass(milliseconds(10));
  EXPECT_EQ(clock.now(), milliseconds(1100));
  EXPECT_EQ(clock.until(milliseconds(2100)), milliseconds(10));
  EXPECT_EQ(clock.until(milliseconds(5)), milliseconds(0)) << "past";
}

TEST_F(VirtualClockTest, StandsStillWhilePausedAndMovesOnByHand) {
  clock.pause();
  pass(milliseconds(100));
  EXPECT_EQ(clock.now(), milliseconds(0));
  EXPECT_EQ(clock.until(milliseconds(1)), std::nullopt);
  clock.advance(milliseconds(5000));
  EXPECT_EQ(clock.now(), milliseconds(5000));
  clock.resume();
  pass(milliseconds(1));
  EXPECT_EQ(clock.now(), milliseconds(5001));
}

TEST(TheClock, IsForThoseWhoMay) {
  EmbeddedOptions options;
  options.users = parseUsers("users: [{ token: t, username: jane }]", "tokens.yaml").value();
  EmbeddedCluster cluster(std::move(options));
  ExchangeRequest request;
  request.method = "PUT";
  request.path = "/lastout/clock";
  request.body = R"({"paused": true})";
  request.user.username = "jane";
  EXPECT_EQ(cluster.handle(request).status, 403);
  request.user = adminUser();
  EXPECT_EQ(cluster.handle(request).status, 200);
}

using Clock = testing::ClusterTest;

TEST_F(Clock, TakesOnlyWhatItKnows) {
  for (const char* text : {R"({"speed": 1e300})", R"({"speed": 0})", R"({"speed": -1})", R"({"pause": true})",
                           R"({"advance": 5})", R"({"advance": "999999h"})", R"({"paused": 1})"})
    expect(400, "PUT", "/lastout/clock", Json::parse(text));
  const auto before = cluster.clock().now();
  expect(200, "PUT", "/lastout/clock", Json::parse(R"({"advance": "5s"})"));
  EXPECT_EQ(cluster.clock().now() - before, std::chrono::seconds(5));
}

// A Pod becomes Ready a second after it was made, and its Deployment says so after that: not all at the end.
TEST_F(Clock, LetsHappenWhatIsDueOnTheWay) {
  const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";
  expect(201, "POST", deployments, Json::parse(R"({"apiVersion": "apps/v1", "kind": "Deployment",
    "metadata": {"name": "web"}, "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "w"}},
    "template": {"metadata": {"labels": {"app": "w"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}})"));
  expect(200, "PUT", "/lastout/clock", {{"advance", "30s"}});
  EXPECT_EQ(expect(200, "GET", deployments + "/web")["status"]["readyReplicas"], 2);
}

}  // namespace
}  // namespace lastout::simulator

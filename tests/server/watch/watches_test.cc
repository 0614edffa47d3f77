// What watches say of themselves.
#include "server/watch/watches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::kProvider;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WatchesTest : public lastout::testing::ServerWorld {};

// It is asked for as long as that lasts, and said once.
TEST_F(WatchesTest, SayOnceThatNobodyAnswers) {
  listener.reset();
  std::vector<std::string> lines;  // of one thread: nothing is followed
  std::atomic<int> looks{0};
  WatchesOptions options;
  options.random = lastout::testing::oneHalf;
  options.watcher.reflector.backoff = {std::chrono::milliseconds(1), std::chrono::milliseconds(1)};
  options.log = [&lines](Level /*level*/, const std::string& line) { lines.push_back(line); };
  Watches unanswered(access, view, std::move(options));
  unanswered.observe([&looks] { ++looks; });
  unanswered.start();
  waitUntil([&looks] { return looks > 2; });
  unanswered.stop();
  EXPECT_THAT(lines, ElementsAre(HasSubstr("cannot find out what the API server serves: ")));
}

using lastout::testing::kCoolResources;

// A bulk deletion takes the ClusterRole by which lastout reads a type together with the type's CRD.
class LostRoleTest : public lastout::testing::ServerWorld {
 public:
  LostRoleTest() {
    serveAndConnect([this](const simulator::ExchangeRequest& request) {
      if (!isRoleGone || !request.path.starts_with("/apis/my.crd.group/v1/")) return handle(request);
      simulator::ExchangeResponse refusal;
      refusal.status = 403;
      refusal.body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden",)"
                     R"("message":"coolresources.my.crd.group is forbidden","code":403})";
      return refusal;
    });
    cluster.clock().pause();
  }
  ~LostRoleTest() override { listener.reset(); }

  std::atomic<bool> isRoleGone{false};
};

// The group is named as long as the clock stands still, and the path of its version answers 404.
TEST_F(LostRoleTest, ATypeThatIsForbiddenForEverIsAbsentOnceItsCrdIsGone) {
  createStory();
  follow();
  waitFor(kCoolResources, graph::Knowledge::Synced);
  isRoleGone = true;
  removeStory();
  waitFor(kCoolResources, graph::Knowledge::Absent);
  EXPECT_EQ(view.find(kCoolResources), std::nullopt) << "discovery has told";
  EXPECT_TRUE(view.gapIn("my.crd.group"));
}

TEST_F(LostRoleTest, AProviderMayGoAsSoonAsTheCrdIsGoneAlthoughItsGroupIsStillNamed) {
  createStory();
  follow();
  waitFor(kCoolResources, graph::Knowledge::Synced);
  removeStory();
  waitUntil([this] { return view.gapIn("my.crd.group").has_value(); });
  // Discovery may be told before the watch of CRDs.
  waitUntil([this] {
    bool isTold = false;
    view.inspect([&](const admission::ClusterView& cluster, const kube::ResourceMap&) {
      isTold = !cluster.graph().find(kube::crdKey(kCoolResources));
    });
    return isTold;
  });
  const Json answer = reviewDelete(lastout::testing::kProvider);
  EXPECT_TRUE(answer["allowed"]) << answer;
}

// What providers need, as it is found in a real cluster.
class FollowedNeedsTest : public lastout::testing::ServerWorld {
 public:
  static constexpr const char* kServicePath = "/apis/lastout.dev/v1alpha1/criticalservices";

  void createProvider() {
    using lastout::testing::Json;
    const Json labels = {{"app", "p"}};
    const Json container = {
        {"name", "c"}, {"image", "i"}, {"envFrom", Json::array({{{"secretRef", {{"name", "key"}}}}})}};
    create("/apis/apps/v1/namespaces/default/deployments",
           {{"apiVersion", "apps/v1"},
            {"kind", "Deployment"},
            {"metadata", {{"name", "provider"}}},
            {"spec",
             {{"selector", {{"matchLabels", labels}}},
              {"template",
               {{"metadata", {{"labels", labels}}},
                {"spec", {{"serviceAccountName", "acts"}, {"containers", Json::array({container})}}}}}}}});
    create("/api/v1/namespaces/default/services",
           {{"apiVersion", "v1"},
            {"kind", "Service"},
            {"metadata", {{"name", "front"}}},
            {"spec", {{"selector", labels}, {"ports", {{{"port", 1}}}}}}});
  }
  void createBinding() {
    create(
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
        {{"apiVersion", "rbac.authorization.k8s.io/v1"},
         {"kind", "ClusterRoleBinding"},
         {"metadata", {{"name", "bound"}}},
         {"roleRef", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", "role"}}},
         {"subjects", {{{"kind", "ServiceAccount"}, {"namespace", "default"}, {"name", "acts"}}}}});
  }
  // By name.
  std::vector<std::string> needed() {
    std::vector<std::string> names;
    view.inspect([&](const admission::ClusterView& cluster, const kube::ResourceMap&) {
      const uint32_t number = cluster.guards().find("s");
      if (number == graph::kNone) return;
      for (const auto& dependency : cluster.guards().dependencies(number))
        names.push_back(toString(dependency.object));
    });
    return names;
  }
  void waitUntilNeeded(const std::vector<std::string>& names) {
    waitUntil([&] { return needed() == names; });
  }
  lastout::testing::Json serviceThatWants(const char* dependencies) {
    lastout::testing::Json service = criticalService();
    service["spec"]["guard"]["dependencies"] = dependencies;
    return service;
  }
};

const std::vector<std::string> kNeeded{"secrets/default/key", "serviceaccounts/default/acts",
                                       "services/default/front"};

TEST_F(FollowedNeedsTest, AreFoundAsTheyComeAndGo) {
  createProvider();
  create(kServicePath, criticalService());
  follow();
  EXPECT_EQ(needed(), kNeeded) << "it is not ready before";
  createBinding();
  std::vector<std::string> more = kNeeded;
  more.emplace_back("clusterrolebindings.rbac.authorization.k8s.io/bound");
  more.emplace_back("clusterroles.rbac.authorization.k8s.io/role");
  waitUntilNeeded(more);
  remove("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/bound");
  waitUntilNeeded(kNeeded);
}

// Deployments are followed by their metadata alone until a CriticalService wants to know more of them.
TEST_F(FollowedNeedsTest, AreFoundOfATypeThatWasFollowedBefore) {
  createProvider();
  create(kServicePath, serviceThatWants("None"));
  follow();
  waitFor(kProvider.type, graph::Knowledge::Synced);
  EXPECT_TRUE(needed().empty());
  patch(std::string(kServicePath) + "/s", {{"spec", {{"guard", {{"dependencies", "Auto"}}}}}});
  waitUntilNeeded(kNeeded);
  EXPECT_EQ(view.objectCount(kProvider.type), 1U);
  waitFor(kProvider.type, graph::Knowledge::Synced);  // what is listed is told before the list has ended
  patch(std::string(kServicePath) + "/s", {{"spec", {{"guard", {{"dependencies", "None"}}}}}});
  waitUntilNeeded({});
  EXPECT_EQ(view.knowledge(kProvider.type), graph::Knowledge::Synced) << "it is not followed anew for less";
}

// An edit of the Deployment frees nothing that its Pods still mount.
TEST_F(FollowedNeedsTest, AreFoundInReplicaSetsThatHavePods) {
  using lastout::testing::Json;
  createProvider();
  cluster.runUntil(std::chrono::minutes(1));  // it has its ReplicaSet
  create(kServicePath, criticalService());
  follow();
  const Json container = {
      {"name", "c"}, {"image", "i"}, {"envFrom", Json::array({{{"secretRef", {{"name", "other"}}}}})}};
  patch("/apis/apps/v1/namespaces/default/deployments/provider",
        {{"spec", {{"template", {{"spec", {{"containers", Json::array({container})}}}}}}}});
  std::vector<std::string> both = kNeeded;
  both.insert(both.begin() + 1, "secrets/default/other");
  waitUntilNeeded(both);
  EXPECT_TRUE(view.wantedWithReferences().contains({"apps", "replicasets"}));
  EXPECT_EQ(std::ranges::count(view.wanted(), kube::GroupResource{"", "pods"}), 0);
  patch("/apis/apps/v1/namespaces/default/deployments/provider", {{"spec", {{"replicas", 0}}}});
  cluster.runUntil(std::chrono::minutes(2));
  both.erase(both.begin());
  waitUntilNeeded(both);
}

// Nobody is asked about an update.
TEST_F(FollowedNeedsTest, WhatAnUpdateTakesAwayIsTold) {
  using lastout::testing::Json;
  const std::string roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  createProvider();
  create(
      roles,
      {{"apiVersion", "rbac.authorization.k8s.io/v1"},
       {"kind", "ClusterRole"},
       {"metadata", {{"name", "role"}}},
       {"rules", Json::array({{{"apiGroups", {""}}, {"resources", {"pods"}}, {"verbs", {"get", "list"}}}})}});
  createBinding();
  create(kServicePath, criticalService());
  follow();
  EXPECT_TRUE(weakened().empty());
  patch(roles + "/role",
        {{"rules", Json::array({{{"apiGroups", {""}}, {"resources", {"pods"}}, {"verbs", {"get"}}}})}});
  waitUntil([this] { return weakened().size() == 1; });
  EXPECT_EQ(
      weakened()[0],
      "clusterroles.rbac.authorization.k8s.io/role: it allows less than before (role of its ServiceAccount)");
  patch("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/bound", {{"subjects", nullptr}});
  waitUntil([this] { return weakened().size() == 2; });
  EXPECT_THAT(
      weakened()[1],
      HasSubstr("clusterrolebindings.rbac.authorization.k8s.io/bound: the provider is not seen to need"));
}

// Who may not read Secrets cannot list them, and is never to try.
TEST_F(FollowedNeedsTest, SecretsAndConfigMapsAreNotFollowed) {
  createProvider();
  create(kServicePath, criticalService());
  follow();
  for (const kube::GroupResource& type : view.wanted()) {
    EXPECT_NE(type.resource, "secrets");
    EXPECT_NE(type.resource, "configmaps");
  }
}

}  // namespace
}  // namespace lastout::server

// The webhook configuration, made, extended, and put back, at a real API.
#include "server/webhook_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "tests/server/server_fixture.h"

namespace lastout::server {
namespace {

using lastout::testing::Json;
using lastout::testing::WireAnswer;
using ::testing::ElementsAre;

constexpr const char* kPath = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/lastout";

class WebhookKeeperTest : public lastout::testing::ServerTest {
 public:
  WebhookKeeperTest() { keeper = makeKeeper("https://127.0.0.1:9443", nullptr); }

  std::unique_ptr<WebhookKeeper> makeKeeper(const std::string& url, std::function<bool()> mayWrite,
                                            const std::string& reviewPath = reviewPathOf("its key"),
                                            client::BackoffLimits restoring = {
                                                std::chrono::milliseconds(5),
                                                std::chrono::milliseconds(20)}) {
    WebhookConfiguration configuration;
    configuration.address.reviewPath = reviewPath;
    configuration.address.url = url;
    configuration.address.authorities = authority.certificate;
    configuration.ownNamespace = "lastout";
    WebhookKeeperOptions options;
    options.mayWrite = std::move(mayWrite);
    options.restoring = restoring;
    options.watcher.reflector.backoff = {std::chrono::milliseconds(5), std::chrono::milliseconds(20)};
    options.random = [] { return [] { return 0.5; }; };
    options.log = [](Level /*level*/, const std::string&) {};
    options.restored = [this](std::chrono::milliseconds unguarded) {
      longest = std::max(longest.load(), unguarded);
      ++restored;
    };
    return std::make_unique<WebhookKeeper>(access, std::move(configuration), std::move(options));
  }

  void edit() { patch(kPath, {{"metadata", {{"labels", {{"a", "b"}}}}}, {"webhooks", Json::array()}}); }

  Json standing() {
    const WireAnswer answer = ask({.method = "GET", .target = kPath, .body = {}, .headers = {}});
    return answer.status == 200 ? answer.json() : Json();
  }
  // Until what stands there holds; then that.
  Json waitUntilInForce() {
    waitUntil([this] { return keeper->isInForce() == true; });
    return standing();
  }

  std::atomic<int> restored{0};
  std::atomic<std::chrono::milliseconds> longest{std::chrono::milliseconds(0)};
  std::unique_ptr<WebhookKeeper> keeper;
};

std::vector<std::string> reviewedTypes(const Json& configuration) {
  std::vector<std::string> types;
  for (const Json& rule : configuration["webhooks"][1]["rules"]) types.push_back(rule["resources"][0]);
  return types;
}

TEST_F(WebhookKeeperTest, MakesItAndFollowsTheProviders) {
  keeper->start();
  keeper->setTypes({});
  const Json made = waitUntilInForce();
  EXPECT_THAT(reviewedTypes(made), ElementsAre("customresourcedefinitions", "criticalservices"));
  for (const Json& webhook : made["webhooks"]) {
    EXPECT_EQ(webhook["failurePolicy"], "Fail");
    EXPECT_EQ(webhook["timeoutSeconds"], 5);
    EXPECT_EQ(webhook["sideEffects"], "NoneOnDryRun");
    EXPECT_EQ(webhook["matchPolicy"], "Equivalent");
  }
  const Json excluded = made["webhooks"][1]["namespaceSelector"]["matchExpressions"][0]["values"];
  EXPECT_EQ(excluded, (Json{"kube-system", "lastout"}));
  EXPECT_EQ(made["webhooks"][2]["namespaceSelector"]["matchExpressions"][0]["values"], Json{"kube-system"});

  keeper->setTypes({{{"apps", "deployments"}}, {}});
  EXPECT_THAT(reviewedTypes(waitUntilInForce()),
              ElementsAre("customresourcedefinitions", "deployments", "criticalservices"));

  keeper->setTypes({{{"apps", "deployments"}}, {{"apps", "deployments"}}});
  EXPECT_EQ(waitUntilInForce()["webhooks"][1]["rules"].back(),
            (Json{{"operations", {"UPDATE"}},
                  {"apiGroups", {"apps"}},
                  {"apiVersions", {"*"}},
                  {"resources", {"deployments", "deployments/scale"}},
                  {"scope", "*"}}));
  EXPECT_EQ(restored, 0);
}

// The types and namespaces alone in which something is needed.
TEST_F(WebhookKeeperTest, AsksAboutWhatProvidersNeed) {
  const kube::GroupResource deployments{"apps", "deployments"};
  const kube::GroupResource secrets{"", "secrets"};
  keeper->start();
  keeper->setTypes({{deployments}, {}});
  EXPECT_EQ(waitUntilInForce()["webhooks"].size(), 4U);
  ReviewedTypes types{{deployments}, {}, "", {secrets, deployments, {"", "configmaps"}}, {"b", "a"}};
  keeper->setTypes(types);
  const Json webhook = waitUntilInForce()["webhooks"][3];
  EXPECT_EQ(webhook["name"], "dependencies.lastout.dev");
  EXPECT_EQ(webhook["failurePolicy"], "Fail");
  ASSERT_EQ(webhook["rules"].size(), 2U) << "Deployments are reviewed already";
  EXPECT_EQ(webhook["rules"][0]["resources"], Json{"configmaps"});
  EXPECT_EQ(webhook["rules"][1]["resources"], Json{"secrets"});
  EXPECT_EQ(webhook["rules"][1]["operations"], Json{"DELETE"});
  EXPECT_EQ(
      webhook["namespaceSelector"]["matchExpressions"],
      Json::array({{{"key", "kubernetes.io/metadata.name"}, {"operator", "In"}, {"values", {"a", "b"}}}}));
  EXPECT_EQ(keeper->asksAbout({{deployments}, {}, "", {secrets}, {"a"}}), true);
  EXPECT_EQ(keeper->asksAbout({{deployments}, {}, "", {secrets}, {"c"}}), false);
  types.needed = {{"rbac.authorization.k8s.io", "clusterroles"}};
  types.neededIn = {};
  keeper->setTypes(types);
  EXPECT_EQ(waitUntilInForce()["webhooks"][3]["namespaceSelector"]["matchExpressions"],
            Json::array({{{"key", "kubernetes.io/metadata.name"}, {"operator", "DoesNotExist"}}}))
      << "what is in no namespace is reviewed whatever the selector says, and nothing else is to be";
  EXPECT_EQ(keeper->asksAbout({{deployments}, {}, "", {secrets}, {"a"}}), false);
  EXPECT_EQ(restored, 0) << "nobody else changed it";
}

TEST(ReviewedTypes, AreWhatACriticalServiceGuards) {
  criticalservice::CriticalService service;
  service.provider = {{"apps", "deployments"}, "app", "p"};
  const kube::GroupResource secrets{"", "secrets"};
  const kube::GroupResource bindings{"rbac.authorization.k8s.io", "rolebindings"};
  ReviewedTypes types;
  types.add(service,
            {{{secrets, "app", "s"}, "", false},
             {{bindings, "kube-system", "b"}, "", false},
             {{bindings, "lastout", "b"}, "", false},
             {{{"", "namespaces"}, "", "other"}, "", false}},
            "lastout");
  EXPECT_EQ(types, (ReviewedTypes{{service.provider.type}, {}, "", {secrets}, {"app"}}));
  const ReviewedTypes wanted = types;
  EXPECT_TRUE(types.covers(wanted));
  service.provider.namespaceName = "b";
  types.add(service, {{{bindings, "b", "s"}, "", false}}, "lastout");
  EXPECT_TRUE(types.covers(wanted));
  EXPECT_FALSE(wanted.covers(types));
  EXPECT_EQ(types.common(wanted), wanted);
  EXPECT_TRUE((ReviewedTypes{{service.provider.type, secrets}, {}}).covers(wanted)) << "wherever they are";
  EXPECT_FALSE((ReviewedTypes{{secrets}, {}}).covers(wanted));
}

TEST_F(WebhookKeeperTest, PutsBackWhatWasDeletedOrEdited) {
  keeper->start();
  keeper->setTypes({{{"apps", "deployments"}}, {}});
  const Json made = waitUntilInForce();
  remove(kPath);
  waitUntil([this] { return restored == 1; });
  EXPECT_EQ(standing()["webhooks"], made["webhooks"]);
  edit();
  waitUntil([this] { return restored == 2; });
  EXPECT_EQ(standing()["webhooks"], made["webhooks"]);
  EXPECT_EQ(standing()["metadata"]["labels"]["a"], "b") << "others may label it";
}

TEST_F(WebhookKeeperTest, TakesOverWhatStandsThere) {
  create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
         {{"apiVersion", "admissionregistration.k8s.io/v1"},
          {"kind", "ValidatingWebhookConfiguration"},
          {"metadata", {{"name", "lastout"}}}});
  keeper->start();
  keeper->setTypes({});
  EXPECT_EQ(waitUntilInForce()["webhooks"].size(), 4U);
  EXPECT_EQ(restored, 0);
}

TEST_F(WebhookKeeperTest, TakesItAwayWhenNothingCanBeGuarded) {
  keeper->start();
  keeper->setTypes({{{"apps", "deployments"}}, {}});
  waitUntilInForce();
  keeper->retire();
  waitUntil([this] { return standing().is_null(); });
  EXPECT_EQ(keeper->isInForce(), false);
  create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
         {{"apiVersion", "admissionregistration.k8s.io/v1"},
          {"kind", "ValidatingWebhookConfiguration"},
          {"metadata", {{"name", "lastout"}}}});
  waitUntil([this] { return standing().is_null(); });
  keeper->setTypes({});
  waitUntilInForce();
  EXPECT_EQ(restored, 0) << "whatever was missing, nothing was unguarded";
}

TEST_F(WebhookKeeperTest, ItsNamespaceOwnsIt) {
  keeper->start();
  keeper->setTypes({{}, {}, "uid-of-lastout"});
  EXPECT_EQ(
      waitUntilInForce()["metadata"]["ownerReferences"],
      Json::array(
          {{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"name", "lastout"}, {"uid", "uid-of-lastout"}}}));
}

TEST_F(WebhookKeeperTest, OneOfSeveralWrites) {
  std::atomic<bool> leads{false};
  const auto other = makeKeeper("https://127.0.0.1:9444", [&leads] { return leads.load(); });
  keeper->start();
  keeper->setTypes({{{"apps", "deployments"}}, {}});
  const Json made = waitUntilInForce();
  other->start();
  other->setTypes({{{"apps", "statefulsets"}}, {}});
  waitUntil([&] { return other->isInForce() == false; });
  edit();
  waitUntil([this] { return restored == 1; });
  EXPECT_EQ(standing()["webhooks"], made["webhooks"]);
  keeper->stop();
  leads = true;
  other->reconsider();
  waitUntil([&] { return other->isInForce() == true; });
  EXPECT_THAT(reviewedTypes(standing()),
              ElementsAre("customresourcedefinitions", "statefulsets", "criticalservices"));
  EXPECT_EQ(restored, 1) << "what another wrote in its place was no interval without guard";
}

// What is wished changes while the former wish is written: it is not in force because it stood before.
TEST_F(WebhookKeeperTest, IsInForceOnlyWhenItStands) {
  keeper->start();
  for (int i = 0; i < 30; ++i) {
    keeper->setTypes({{{"apps", "deployments"}}, {}});
    EXPECT_THAT(reviewedTypes(waitUntilInForce()), ::testing::Contains("deployments")) << i;
    keeper->setTypes({});
    for (int pause = 0; pause < i; ++pause) std::this_thread::yield();
  }
  EXPECT_EQ(restored, 0) << "nobody else changed it";
}

TEST_F(WebhookKeeperTest, GoesOnAskingAboutTheOthersWhileATypeIsAdded) {
  const kube::GroupResource deployments{"apps", "deployments"};
  const kube::GroupResource sets{"apps", "statefulsets"};
  std::atomic<bool> writes = true;
  keeper = makeKeeper("https://127.0.0.1:9443", [&] { return writes.load(); });
  EXPECT_EQ(keeper->asksAbout({{deployments}, {}}), std::nullopt);
  keeper->start();
  keeper->setTypes({{deployments}, {}});
  waitUntilInForce();
  EXPECT_EQ(keeper->asksAbout({{deployments}, {}}), true);
  EXPECT_EQ(keeper->asksAbout({{sets}, {}}), false);
  writes = false;  // as long as a write may take
  keeper->setTypes({{deployments, sets}, {}});
  EXPECT_EQ(keeper->isInForce(), false);
  EXPECT_EQ(keeper->asksAbout({{deployments}, {}}), true);
  EXPECT_EQ(keeper->asksAbout({{sets}, {}}), false);
  edit();
  waitUntil([&] { return keeper->asksAbout({{deployments}, {}}) == false; });
  writes = true;
  keeper->reconsider();
  waitUntilInForce();
  EXPECT_EQ(keeper->asksAbout({{sets}, {}}), true);
  keeper->setTypes({{sets}, {}});
  waitUntilInForce();
  EXPECT_EQ(keeper->asksAbout({{deployments}, {}}), false);
  EXPECT_EQ(keeper->asksAbout({{sets}, {}}), true);
  keeper->retire();
  EXPECT_EQ(keeper->asksAbout({{sets}, {}}), false);
}

TEST_F(WebhookKeeperTest, AsksAboutAllWhileATypeIsTakenOut) {
  const kube::GroupResource deployments{"apps", "deployments"};
  const kube::GroupResource sets{"apps", "statefulsets"};
  std::atomic<bool> writes = true;
  keeper = makeKeeper("https://127.0.0.1:9443", [&] { return writes.load(); });
  EXPECT_EQ(keeper->asksAboutAll(), std::nullopt);
  keeper->start();
  keeper->setTypes({{deployments, sets}, {}});
  waitUntilInForce();
  EXPECT_EQ(keeper->asksAboutAll(), true);
  writes = false;  // as long as a write may take
  keeper->setTypes({{deployments}, {}});
  EXPECT_EQ(keeper->isInForce(), false);
  EXPECT_EQ(keeper->asksAboutAll(), true);
  edit();
  waitUntil([&] { return keeper->asksAboutAll() == false; });
  keeper->setTypes({});
  EXPECT_EQ(keeper->asksAboutAll(), false) << "nothing is certain of what stands there";
  writes = true;
  keeper->reconsider();
  waitUntilInForce();
  EXPECT_EQ(keeper->asksAboutAll(), true);
  keeper->setTypes({{sets}, {}});
  waitUntil([&] { return keeper->asksAboutAll() == true; });
  EXPECT_THAT(reviewedTypes(standing()), ::testing::Contains("statefulsets"));
  keeper->retire();
  EXPECT_EQ(keeper->asksAboutAll(), false);
}

// It was changed while nobody was to put it back: that time counts, too.
TEST_F(WebhookKeeperTest, CountsFromTheChangeWhoeverWrites) {
  std::atomic<bool> leads{true};
  keeper = makeKeeper("https://127.0.0.1:9443", [&leads] { return leads.load(); });
  keeper->start();
  keeper->setTypes({{{"apps", "deployments"}}, {}});
  waitUntilInForce();
  leads = false;
  edit();
  waitUntil([this] { return keeper->isInForce() == false; });
  const auto seen = std::chrono::steady_clock::now();
  waitUntil([&] { return std::chrono::steady_clock::now() - seen > std::chrono::milliseconds(50); });
  leads = true;
  const auto least = std::chrono::steady_clock::now() - seen;
  keeper->reconsider();
  waitUntil([this] { return restored == 1; });
  EXPECT_GE(longest.load(), std::chrono::floor<std::chrono::milliseconds>(least));
  EXPECT_EQ(keeper->isInForce(), true);
  keeper->stop();
}

TEST_F(WebhookKeeperTest, ASecondChangeIsPutBackLater) {
  keeper = makeKeeper("https://127.0.0.1:9443", nullptr, reviewPathOf("its key"),
                      {std::chrono::hours(1), std::chrono::hours(1)});
  keeper->start();
  keeper->setTypes({{{"apps", "deployments"}}, {}});
  waitUntilInForce();
  edit();
  waitUntil([this] { return restored == 1; });
  edit();
  waitUntil([this] { return keeper->isInForce() == false; });
  keeper->setTypes({});
  waitUntilInForce();
  waitUntil([this] { return restored == 2; });
}

// Nobody who merely reaches lastout knows where API servers ask.
TEST_F(WebhookKeeperTest, KnowsWhereApiServersAsk) {
  const auto pathsOfReviews = [this] {
    std::set<std::string> paths;
    const Json configuration = standing();
    for (const Json& webhook : configuration["webhooks"]) {
      const std::string url = webhook["clientConfig"]["url"];
      if (webhook["name"] != "sentinel.lastout.dev") paths.insert(url.substr(url.find('/', 8)));
    }
    return paths;
  };
  const std::string first = reviewPathOf("a key");
  const std::string second = reviewPathOf("another key");
  const std::string others = reviewPathOf("that of another replica");
  EXPECT_EQ((std::set<std::string>{first, second, others}).size(), 3U);
  EXPECT_EQ(first.size(), std::string("/review/").size() + 32) << "too long to be guessed";
  const auto other = makeKeeper("https://127.0.0.1:9443", [] { return false; });
  keeper->setReviewPath(first);
  other->setReviewPath(others);
  keeper->start();
  other->start();
  for (WebhookKeeper* each : {keeper.get(), other.get()}) each->setTypes({});
  waitUntilInForce();
  EXPECT_THAT(pathsOfReviews(), ElementsAre(first));
  waitUntil([&] { return other->asksAt(first) && other->isInForce() == true; });
  EXPECT_FALSE(other->asksAt(second));

  keeper->setReviewPath(second);
  waitUntilInForce();
  EXPECT_THAT(pathsOfReviews(), ElementsAre(second));
  waitUntil([&] { return other->asksAt(second) && other->isInForce() == true; });
  for (const WebhookKeeper* each : {keeper.get(), other.get()}) {
    EXPECT_TRUE(each->asksAt(first)) << "some API server has not heard of the other one";
    EXPECT_FALSE(each->asksAt("/review")) << "that is where it asks by a configuration of others";
    EXPECT_FALSE(each->asksAt(""));
  }
}

// A certificate that is made at each start is no reason to write it anew.
TEST_F(WebhookKeeperTest, WhoComesLaterAsksWhereTheFormerDid) {
  keeper->setReviewPath(reviewPathOf("a key"));
  keeper->start();
  keeper->setTypes({});
  const Json made = waitUntilInForce();
  keeper = makeKeeper("https://127.0.0.1:9443", nullptr, reviewPathOf("another key"));
  keeper->start();
  keeper->setTypes({});
  EXPECT_EQ(waitUntilInForce(), made);
}

TEST_F(WebhookKeeperTest, WhatItCannotSeeIsNotKnown) {
  EXPECT_EQ(keeper->isInForce(), std::nullopt);
  keeper->start();
  keeper->setTypes({});
  waitUntilInForce();
}

}  // namespace
}  // namespace lastout::server

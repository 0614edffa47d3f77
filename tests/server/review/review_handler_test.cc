// Verdicts beside a real API: what the watches tell, and the confirming read before an ALLOW.
#include "server/review/review_handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "kube/well_known.h"
#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using graph::Knowledge;
using lastout::testing::Json;
using lastout::testing::kCoolResources;
using lastout::testing::kProvider;
using lastout::testing::kService;
using lastout::testing::ServerWorld;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kServicePath = "/apis/lastout.dev/v1alpha1/criticalservices/s";
constexpr const char* kProviderPath = "/apis/apps/v1/namespaces/default/deployments/provider";

std::string messageOf(const Json& response) { return response["status"]["message"]; }

using ReviewHandlerTest = ServerWorld;

TEST_F(ReviewHandlerTest, DeniesEverythingUntilCriticalServicesAreKnown) {
  const Json response = reviewDelete({{"", "configmaps"}, "default", "any"});
  EXPECT_FALSE(response["allowed"]);
  EXPECT_EQ(response["status"]["details"]["causes"][0]["reason"], "ServicesUnknown");
}

TEST_F(ReviewHandlerTest, DeniesScalingToZeroUntilCriticalServicesAreKnown) {
  const auto deployment = [](int replicas) {
    return Json{{"spec", {{"replicas", replicas}}}, {"metadata", {{"name", "provider"}}}};
  };
  const auto scaled = [&](int replicas) {
    return reviewUpdate(kProvider, {{"oldObject", deployment(2)}, {"object", deployment(replicas)}});
  };
  EXPECT_FALSE(scaled(0)["allowed"]);
  EXPECT_TRUE(scaled(1)["allowed"]);
}

// No watch has told of what stands there: the request itself does.
TEST_F(ReviewHandlerTest, ACriterionThatIsNotKnownToBeMetIsNotGivenUp) {
  Json before = criticalService();
  before["metadata"]["uid"] = "u";
  Json after = before;
  after["spec"]["criteria"].erase(1);
  const Json refused = reviewService(before, after);
  EXPECT_FALSE(refused["allowed"]);
  EXPECT_THAT(messageOf(refused), HasSubstr("spec.criteria"));
  EXPECT_EQ(verdicts().back().reason, admission::Reason::Invalid);
  after = before;
  after["metadata"]["labels"] = {{"a", "b"}};
  EXPECT_TRUE(reviewService(before, after)["allowed"]);
}

TEST_F(ReviewHandlerTest, TheProviderIsTheLastOneOut) {
  createStory();
  follow();
  waitFor(kCoolResources, Knowledge::Synced);
  const Json denied = reviewDelete(kProvider);
  EXPECT_EQ(denied["status"]["code"], 403);
  EXPECT_THAT(messageOf(denied), AllOf(HasSubstr("coolresources.my.crd.group/instance has finalizer"),
                                       HasSubstr("customresourcedefinitions.apiextensions.k8s.io/"
                                                 "coolresources.my.crd.group exists")));
  EXPECT_FALSE(reviewDelete(kService)["allowed"]);
  EXPECT_TRUE(reviewDelete({kCoolResources, "", "instance"})["allowed"]);

  clearTheWay();
  waitUntilClear();
  Json allowed;
  waitUntil([&] {
    allowed = reviewDelete(kProvider);
    return allowed["allowed"] == true;
  });
  EXPECT_TRUE(allowed["allowed"]) << allowed;
  EXPECT_TRUE(verdicts().back().confirmed);
  EXPECT_FALSE(reviewDelete(kService)["allowed"]);
  remove(kProviderPath);
  cluster.runUntil(std::chrono::minutes(2));
  waitUntil([&] { return reviewDelete(kService)["allowed"] == true; });
}

// A watch that lags behind: only the API server has the instance.
TEST_F(ReviewHandlerTest, AStaleCacheNeverLetsAProviderGo) {
  createStory();
  follow();
  waitFor(kCoolResources, Knowledge::Synced);
  watches->stop();
  removeFinalizers("instance");
  createInstance("late", {"my.crd.group/super-important"});
  const auto now = std::chrono::steady_clock::now();
  view.remove(kCoolResources, {"", "instance", ""});
  view.remove(kube::kCustomResourceDefinitions, {"", "coolresources.my.crd.group", ""});
  view.know(kCoolResources, {client::SyncStatus::State::Synced, true, now, ""}, now);
  view.know(kube::kCustomResourceDefinitions, {client::SyncStatus::State::Synced, true, now, ""}, now);
  const Json denied = reviewDelete(kProvider);
  EXPECT_FALSE(denied["allowed"]);
  EXPECT_EQ(denied["status"]["details"]["causes"][0]["reason"], "CriterionUnmet") << denied;
  EXPECT_TRUE(verdicts().back().confirmed);
}

// Likewise of a CriticalService: another replica may have told everybody that the provider is guarded.
TEST_F(ReviewHandlerTest, AGuardThatTheWatchHasNotToldOfIsRespected) {
  createStory();
  remove(kServicePath);
  follow();
  EXPECT_TRUE(reviewDelete(kProvider)["allowed"]) << "nobody guards it";
  EXPECT_TRUE(verdicts().back().confirmed);
  watches->stop();
  create("/apis/lastout.dev/v1alpha1/criticalservices", criticalService());
  const Json denied = reviewDelete(kProvider);
  EXPECT_FALSE(denied["allowed"]);
  EXPECT_EQ(denied["status"]["details"]["causes"][0]["reason"], "Unconfirmed") << denied;
  EXPECT_THAT(messageOf(denied), HasSubstr("criticalservices.lastout.dev/s guards it since a moment ago"));
  EXPECT_TRUE(reviewDelete({kProvider.type, "default", "another"})["allowed"]);
}

TEST_F(ReviewHandlerTest, AGuardOfScalingThatTheWatchHasNotToldOfIsRespected) {
  createStoryWithoutService();
  follow();
  watches->stop();
  Json service = criticalService();
  service["spec"]["guard"] = {{"scaleToZero", true}};
  create("/apis/lastout.dev/v1alpha1/criticalservices", service);
  const auto scaledTo = [this](int replicas) {
    return reviewUpdate(kProvider, {{"oldObject", {{"spec", {{"replicas", 2}}}}},
                                    {"object", {{"spec", {{"replicas", replicas}}}}}});
  };
  EXPECT_TRUE(scaledTo(1)["allowed"]);
  EXPECT_THAT(messageOf(scaledTo(0)), HasSubstr("guards it since a moment ago"));
}

// Likewise of one that asks for more than it did.
TEST_F(ReviewHandlerTest, ACriterionThatTheWatchHasNotToldOfIsRespected) {
  createStory();
  follow();
  clearTheWay();
  waitUntilClear();
  waitUntil([this] { return reviewDelete(kProvider)["allowed"] == true; });
  watches->stop();
  Json criteria = criticalService()["spec"]["criteria"];
  criteria.push_back(
      {{"type", "SpecificResource"},
       {"specificResource",
        {{"group", ""}, {"resource", "configmaps"}, {"namespace", "default"}, {"name", "c"}}}});
  patch(kServicePath, {{"metadata", {{"labels", {{"a", "b"}}}}}});
  EXPECT_TRUE(reviewDelete(kProvider)["allowed"]) << "a label asks for nothing";
  patch(kServicePath, {{"spec", {{"criteria", criteria}}}});
  EXPECT_THAT(messageOf(reviewDelete(kProvider)), HasSubstr("guards it since a moment ago"));
}

// An API server that does not answer does not keep what nobody guards from going; that nobody does has to be
// known from a watch that follows.
TEST_F(ReviewHandlerTest, WhatNobodyGuardsWaitsForNoApiServer) {
  createStory();
  remove(kServicePath);
  follow();
  waitUntil([this] { return view.isFollowed(criticalservice::criticalServiceType()); });
  services->stop();
  const Json allowed = reviewDelete(kProvider);
  EXPECT_TRUE(allowed["allowed"]) << allowed;
  watches->stop();
  const auto now = std::chrono::steady_clock::now();
  view.know(criticalservice::criticalServiceType(), {client::SyncStatus::State::Stale, true, now, "cut"},
            now);
  EXPECT_THAT(messageOf(reviewDelete(kProvider)), HasSubstr("must stay until the API server has confirmed"));
}

TEST_F(ReviewHandlerTest, WhatCannotBeConfirmedIsDenied) {
  createStory();
  follow();
  waitFor(kCoolResources, Knowledge::Synced);  // before it goes
  clearTheWay();
  waitUntilClear();
  waitUntil([this] { return reviewDelete(kProvider)["allowed"] == true; });
  reads->stop();
  const Json denied = reviewDelete(kProvider);
  EXPECT_EQ(denied["status"]["details"]["causes"][0]["reason"], "Unconfirmed") << denied;
  EXPECT_THAT(messageOf(denied), HasSubstr("must stay until the API server has confirmed"));
  EXPECT_FALSE(verdicts().back().confirmed) << "it was asked, in vain";
}

// An API server that does not answer lets nothing go that is guarded as far as this replica knows.
TEST_F(ReviewHandlerTest, WhatIsGuardedStaysWhenTheCriticalServicesCannotBeRead) {
  createStory();
  follow();
  waitFor(kCoolResources, Knowledge::Synced);  // before it goes
  clearTheWay();
  waitUntilClear();
  waitUntil([this] { return reviewDelete(kProvider)["allowed"] == true; });
  EXPECT_TRUE(verdicts().back().confirmed);
  services->stop();
  EXPECT_EQ(reviewDelete(kProvider)["status"]["details"]["causes"][0]["reason"], "Unconfirmed");
  EXPECT_FALSE(verdicts().back().confirmed);
  EXPECT_TRUE(reviewDelete({kProvider.type, kProvider.namespaceName, "another"})["allowed"])
      << "what nobody guards waits for nobody";
  EXPECT_FALSE(verdicts().back().confirmed) << "it was allowed by what the watch told alone";
}

TEST_F(ReviewHandlerTest, WhatThisReplicaHasAllowedToBeGuardedCountsBesideTheWatch) {
  createStory();
  follow();
  waitUntil([this] { return view.isFollowed(criticalservice::criticalServiceType()); });
  Json another = criticalService();
  another["metadata"]["name"] = "another";
  another["spec"]["provider"]["name"] = "another";
  EXPECT_TRUE(reviewService(nullptr, another)["allowed"]);
  services->stop();
  const kube::ObjectKey provider{kProvider.type, kProvider.namespaceName, "another"};
  EXPECT_THAT(messageOf(reviewDelete(provider)), HasSubstr("another guards it since a moment ago"));
  EXPECT_TRUE(reviewDelete({kProvider.type, kProvider.namespaceName, "third"})["allowed"]);
}

TEST(AllowedServices, AreForgottenInTime) {
  AllowedServices allowed;
  const TimePoint begun;
  const auto named = [](const std::string& name) {
    kube::Object service;
    service.key.name = name;
    service.meta.resourceVersion = "7";
    return service;
  };
  allowed.add(named("a"), begun);
  allowed.add(named(""), begun + std::chrono::minutes(1));
  ASSERT_EQ(allowed.recent(begun + std::chrono::minutes(2)).size(), 2U);
  EXPECT_EQ(allowed.recent(begun + std::chrono::minutes(2)).front().meta.resourceVersion, "");
  ASSERT_EQ(allowed.recent(begun + std::chrono::minutes(5) + std::chrono::seconds(1)).size(), 1U);
  EXPECT_NE(allowed.recent(begun + std::chrono::minutes(6)).front().key.name, "");
  for (size_t i = 0; i <= AllowedServices::kMost; ++i)
    allowed.add(named("b" + std::to_string(i)), begun + std::chrono::minutes(6));
  EXPECT_EQ(allowed.recent(begun + std::chrono::minutes(6)).size(), AllowedServices::kMost);
}

// As by a controller that labels it all the time.
TEST(AllowedServices, UpdatesOfOnePushOutNoOther) {
  AllowedServices allowed;
  const TimePoint begun;
  const auto withSpec = [](const std::string& name, const char* intent) {
    kube::Object service;
    service.key.name = name;
    service.content = kube::fromJson(Json{{"spec", {{"deletionIntent", intent}}}});
    return service;
  };
  allowed.add(withSpec("b", "Ordered"), begun);
  for (size_t i = 0; i <= AllowedServices::kMost; ++i)
    allowed.add(withSpec("a", "Ordered"), begun + std::chrono::minutes(1));
  ASSERT_EQ(allowed.recent(begun + std::chrono::minutes(1)).size(), 2U);
  allowed.add(withSpec("b", "Ordered"), begun + std::chrono::minutes(4));
  const auto recent = allowed.recent(begun + std::chrono::minutes(8));
  ASSERT_EQ(recent.size(), 1U) << "its time is that of the last update";
  EXPECT_EQ(recent.front().key.name, "b");
  for (const char* intent : {"OrphanResources", "Ordered"})
    allowed.add(withSpec("b", intent), begun + std::chrono::minutes(8));
  EXPECT_EQ(allowed.recent(begun + std::chrono::minutes(8)).size(), 3U) << "nobody knows which one counts";
}

TEST_F(ReviewHandlerTest, ATypeThatIsInstalledLaterIsFollowed) {
  create("/apis/lastout.dev/v1alpha1/criticalservices", criticalService());
  follow();
  waitFor(kCoolResources, Knowledge::Absent);
  createStoryWithoutService();
  waitFor(kCoolResources, Knowledge::Synced);
  waitUntil(
      [&] { return messageOf(reviewDelete(kProvider)).find("instance has finalizer") != std::string::npos; });
}

// It was written before its CRD came, is looked at again when that does, and may be mended then.
TEST_F(ReviewHandlerTest, ACriterionWithATypingErrorIsNotMet) {
  Json wrong = criticalService();
  wrong["spec"]["criteria"][0]["finalizer"]["resource"] = "coolresource";
  wrong["spec"]["criteria"].erase(1);
  create("/apis/lastout.dev/v1alpha1/criticalservices", wrong);
  follow();
  waitFor(kProvider.type, Knowledge::Synced);
  EXPECT_THAT(messageOf(reviewDelete(kProvider)),
              HasSubstr("never seen: coolresource.my.crd.group are not installed"));
  createStoryWithoutService();
  waitUntil([this] { return view.find(kCoolResources).has_value(); });
  const Json denied = reviewDelete(kProvider);
  EXPECT_FALSE(denied["allowed"]);
  EXPECT_THAT(messageOf(denied), HasSubstr("did you mean \"coolresources.my.crd.group\"?"));
  EXPECT_EQ(denied["status"]["details"]["causes"][0]["field"],
            "criticalservices.lastout.dev/s#spec.criteria[0]");
  EXPECT_TRUE(reviewService(wrong, criticalService())["allowed"]);
}

// Providers that were written before their CRDs came, which have another scope. All criteria hold.
class WrongScopeTest : public ServerWorld {
 public:
  WrongScopeTest() {
    createStoryWithoutService();
    guard("in-namespace", {kOperators, "team", "one"});
    guard("in-none", {kAgents, "", "one"});
    define(kOperators, "Cluster");
    define(kAgents, "Namespaced");
    follow();
    for (const kube::GroupResource& type : {kCoolResources, kOperators, kAgents})
      waitFor(type, Knowledge::Synced);
    clearTheWay();
    waitUntilClear();
  }

  std::string reasonOfDenial(const kube::ObjectKey& object) {  // empty: it is allowed
    const Json response = reviewDelete(object);
    return response["allowed"] == true ? "" : response["status"]["details"]["causes"][0]["reason"];
  }

  static kube::ObjectKey serviceOf(const char* name) {
    return {criticalservice::criticalServiceType(), "", name};
  }
  inline static const kube::GroupResource kOperators{"late.example.com", "operators"};
  inline static const kube::GroupResource kAgents{"late.example.com", "agents"};
  inline static const kube::ObjectKey kNamespace{{"", "namespaces"}, "", "team"};

 private:
  void guard(const char* name, const kube::ObjectKey& provider) {
    Json service = criticalService();
    service["metadata"]["name"] = name;
    Json& named = service["spec"]["provider"];
    named = {{"group", provider.type.group}, {"resource", provider.type.resource}, {"name", provider.name}};
    if (!provider.namespaceName.empty()) named["namespace"] = provider.namespaceName;
    create("/apis/lastout.dev/v1alpha1/criticalservices", service);
  }
  void define(const kube::GroupResource& type, const char* scope) {
    const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    Json definition = ask({.method = "GET",
                           .target = definitions + "/coolresources.my.crd.group",
                           .body = {},
                           .headers = {}})
                          .json();
    definition["metadata"] = {{"name", kube::crdName(type)}};
    definition["spec"]["group"] = type.group;
    definition["spec"]["names"] = {{"kind", type.resource}, {"plural", type.resource}};
    definition["spec"]["scope"] = scope;
    create(definitions, definition);
  }
};

// docs/verdicts.md, "When a criterion is understood".
TEST_F(WrongScopeTest, WhatTheNameImpliesIsDeniedAndWhatWasMeantIsNot) {
  const std::vector<kube::ObjectKey> implied{kNamespace, kube::crdKey(kOperators), serviceOf("in-namespace"),
                                             kube::crdKey(kAgents), serviceOf("in-none")};
  for (const kube::ObjectKey& object : implied)
    EXPECT_EQ(reasonOfDenial(object), "Unconfirmed") << toString(object);
  EXPECT_EQ(reasonOfDenial({kOperators, "", "one"}), "");
  EXPECT_EQ(reasonOfDenial({kAgents, "team", "one"}), "");
  for (const char* name : {"in-namespace", "in-none"})
    patch(std::string("/apis/lastout.dev/v1alpha1/criticalservices/") + name,
          {{"spec", {{"deletionIntent", "OrphanResources"}}}});
  for (const kube::ObjectKey& object : implied) waitUntil([&] { return reasonOfDenial(object).empty(); });
}

TEST_F(WrongScopeTest, WhatMayNotBeListedIsUnknown) {
  waitUntil([&] { return reasonOfDenial(kNamespace) == "Unconfirmed"; });  // the watches know all
  watches->stop();
  const auto now = std::chrono::steady_clock::now();
  view.know(kOperators, {client::SyncStatus::State::Forbidden, true, now, ""}, now);
  EXPECT_EQ(reasonOfDenial(kNamespace), "") << "the criteria hold";
  EXPECT_EQ(reasonOfDenial(kube::crdKey(kOperators)), "");
  EXPECT_EQ(reasonOfDenial(serviceOf("in-namespace")), "ProviderUnknown");
}

TEST_F(ReviewHandlerTest, WritesOfCriticalServicesAreJudged) {
  createStory();
  follow();
  waitFor(kCoolResources, Knowledge::Synced);
  const Json before = criticalService();
  Json after = before;
  after["spec"]["criteria"].erase(0);
  EXPECT_THAT(messageOf(reviewService(before, after)),
              HasSubstr("spec.criteria[0] cannot be removed while it is not known to be met"));
  after = before;
  after["spec"]["provider"]["name"] = "other";
  EXPECT_THAT(messageOf(reviewService(before, after)), HasSubstr("spec.provider cannot be changed"));
  after = before;
  after["metadata"]["labels"] = {{"a", "b"}};
  EXPECT_TRUE(reviewService(before, after)["allowed"]);
  after["spec"]["criteria"][0]["finalizer"]["finalizerName"] = "my.crd.group/super-importnt";
  EXPECT_THAT(reviewService(nullptr, after)["warnings"].dump(),
              HasSubstr("did you mean \\\"my.crd.group/super-important\\\""));
  after["spec"]["criteria"][0].erase("type");
  EXPECT_FALSE(reviewService(nullptr, after)["allowed"]);
}

// Nobody follows Deployments before a CriticalService names one.
TEST_F(ReviewHandlerTest, TheFirstServiceIsToldThatItsProviderIsMissing) {
  createStory();
  remove("/apis/lastout.dev/v1alpha1/criticalservices/s");
  follow();
  waitFor({"lastout.dev", "criticalservices"}, Knowledge::Synced);
  Json service = criticalService();
  EXPECT_THAT(reviewService(nullptr, service).dump(), Not(HasSubstr("does not exist")));
  service["spec"]["provider"]["name"] = "providr";
  EXPECT_THAT(reviewService(nullptr, service)["warnings"].dump(),
              HasSubstr("spec.provider: deployments.apps/default/providr does not exist"));
}

TEST_F(ReviewHandlerTest, ScalingToZeroIsGuardedWhereThatIsAskedFor) {
  const auto scale = [](const char* subresource, const char* kind, const Json& before, const Json& after) {
    const auto object = [&](const Json& spec) {
      return Json{{"apiVersion", "v1"}, {"kind", kind}, {"metadata", {{"name", "provider"}}}, {"spec", spec}};
    };
    return Json{{"operation", "UPDATE"},
                {"subResource", subresource},
                {"oldObject", object(before)},
                {"object", object(after)}};
  };
  const Json toNone = scale("scale", "Scale", {{"replicas", 2}}, Json::object());
  createStory();
  follow();
  waitFor(kCoolResources, Knowledge::Synced);
  EXPECT_TRUE(reviewUpdate(kProvider, toNone)["allowed"]) << "nobody asked for it";
  patch(kServicePath, {{"spec", {{"guard", {{"scaleToZero", true}}}}}});
  // At first it is denied since the watch has not told of the change yet.
  waitUntil([&] {
    const Json response = reviewUpdate(kProvider, toNone);
    return response["allowed"] == false &&
           messageOf(response).starts_with(
               "scaling to zero is guarded like deletion: deployments.apps/default/provider is the provider");
  });
  EXPECT_TRUE(
      reviewUpdate(kProvider, scale("scale", "Scale", {{"replicas", 2}}, {{"replicas", 1}}))["allowed"]);
  EXPECT_TRUE(reviewUpdate(kProvider, scale("scale", "Scale", Json::object(), Json::object()))["allowed"]);
  EXPECT_FALSE(
      reviewUpdate(kProvider, scale("", "Deployment", {{"replicas", 1}}, {{"replicas", 0}}))["allowed"]);
  EXPECT_TRUE(
      reviewUpdate(kProvider, scale("", "Deployment", {{"replicas", 1}}, {{"paused", true}}))["allowed"]);
  EXPECT_TRUE(reviewUpdate(kProvider,
                           scale("status", "Deployment", {{"replicas", 1}}, {{"replicas", 0}}))["allowed"]);
  clearTheWay();
  waitUntil([&] { return reviewUpdate(kProvider, toNone)["allowed"] == true; });
}

class WaitingTest : public ServerWorld {
 public:
  WaitingTest() : ServerWorld({.reviews = {.denyStatus = 429}}) {}
};

TEST_F(WaitingTest, PeopleAreToldToTryAgainAndControllersAreNot) {
  createStory();
  follow();
  waitFor(kCoolResources, Knowledge::Synced);
  const Json person = reviewDelete(kProvider);
  EXPECT_EQ(person["status"]["code"], 429);
  EXPECT_EQ(person["status"]["details"]["retryAfterSeconds"], 5);
  for (const char* user : {"system:serviceaccount:kube-system:generic-garbage-collector", "system:node:n"}) {
    const Json controller = reviewDelete(kProvider, user);
    EXPECT_EQ(controller["status"]["code"], 403);
    EXPECT_FALSE(controller["status"]["details"].contains("retryAfterSeconds"));
  }
}

class AuditTest : public ServerWorld {
 public:
  AuditTest() : ServerWorld({.reviews = {.auditOnly = true}}) {}
};

TEST_F(AuditTest, SaysWhatItWouldDeny) {
  createStory();
  follow();
  waitFor(kCoolResources, Knowledge::Synced);
  const Json response = reviewDelete(kProvider);
  EXPECT_TRUE(response["allowed"]);
  EXPECT_THAT(std::string(response["warnings"][0]), HasSubstr("lastout only watches; it would deny this"));
  EXPECT_FALSE(verdicts().back().allowed);
  EXPECT_FALSE(verdicts().back().enforced);
}

}  // namespace
}  // namespace lastout::server

// The webhook configuration, made, extended, and put back, at a real API.
#include "server/webhook/webhook_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "kube/names.h"
#include "server/webhook/webhook_entries.h"
#include "simulator/webhooks.h"
#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::Json;
using lastout::testing::WireAnswer;
using ::testing::ElementsAre;

constexpr const char* kPath = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/lastout";

const std::string kOwnPath = reviewPathOf("the key in the Secret");
const std::string kFormerPath = reviewPathOf("a former key");

class WebhookKeeperTest : public lastout::testing::ServerWorld {
 public:
  WebhookKeeperTest() { keeper = makeKeeper("https://127.0.0.1:9443", nullptr); }

  // `keeper` writes, with the former path, until both know that it stands.
  void writeForBoth(WebhookKeeper& other) {
    keeper->setReviewPath(kFormerPath);
    for (WebhookKeeper* each : {keeper.get(), &other}) {
      each->start();
      each->setObjects({});
    }
    waitUntil([&] { return keeper->isInForce() == true && other.isInForce() == true; });
  }

  std::set<std::string> pathsOfReviews() {
    std::set<std::string> paths;
    const Json configuration = standing();
    for (const Json& webhook : configuration["webhooks"]) {
      const std::string url = webhook["clientConfig"]["url"];
      if (webhook["name"] != "sentinel.lastout.dev") paths.insert(url.substr(url.find('/', 8)));
    }
    return paths;
  }

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
    configuration.scope = scope;
    configuration.labels = labels;
    WebhookKeeperOptions options;
    options.mayWrite = std::move(mayWrite);
    options.restoring = restoring;
    options.batch = batch;
    options.watcher.reflector.backoff = lastout::testing::kSoonAgain;
    options.random = lastout::testing::oneHalf;
    options.log = lastout::testing::noLog();
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

  WebhookScope scope = WebhookScope::Objects;  // of the next one that is made, as the next
  kube::Labels labels;
  std::chrono::milliseconds batch{1};
  std::atomic<int> restored{0};
  std::atomic<std::chrono::milliseconds> longest{std::chrono::milliseconds(0)};
  std::unique_ptr<WebhookKeeper> keeper;
};

const kube::ObjectKey kDeployment{{"apps", "deployments"}, "app", "provider"};
const kube::ObjectKey kStatefulSet{{"apps", "statefulsets"}, "app", "provider"};

// Of providers alone.
ReviewedObjects reviewed(const std::vector<kube::ObjectKey>& providers) {
  ReviewedObjects objects;
  for (const kube::ObjectKey& provider : providers) {
    objects.deleted.insert(provider);
    objects.providers.insert(provider.type);
  }
  return objects;
}

ReviewedObjects alone(const kube::ObjectKey& object) { return {{object}, {}, {}}; }

std::vector<std::string> namesOfWebhooks(const Json& configuration) {
  std::vector<std::string> names;
  for (const Json& webhook : configuration["webhooks"]) names.push_back(webhook["name"]);
  return names;
}

const Json& webhookNamed(const Json& configuration, const std::string& name) {
  static const Json kNone = Json::object();
  for (const Json& webhook : configuration["webhooks"])
    if (webhook["name"] == name) return webhook;
  ADD_FAILURE() << "no webhook is called " << name;
  return kNone;
}

std::string conditionOf(const Json& configuration, const std::string& name) {
  const Json& webhook = webhookNamed(configuration, name);
  return webhook.contains("matchConditions") ? webhook["matchConditions"][0]["expression"].get<std::string>()
                                             : "";
}

TEST_F(WebhookKeeperTest, MakesItAndFollowsTheGuardedObjects) {
  keeper->start();
  keeper->setObjects({});
  Json made = waitUntilInForce();
  EXPECT_THAT(namesOfWebhooks(made), ElementsAre("criticalservices.lastout.dev", "policy-writes.lastout.dev",
                                                 "sentinel.lastout.dev"));
  EXPECT_EQ(made["webhooks"][0]["rules"], Json::array({{{"operations", {"CREATE", "UPDATE", "DELETE"}},
                                                        {"apiGroups", {"lastout.dev"}},
                                                        {"apiVersions", {"*"}},
                                                        {"resources", {"criticalservices"}},
                                                        {"scope", "*"}}}))
      << "every CriticalService is guarded, also one that nobody has heard of yet";
  const Json& warnings = webhookNamed(made, "policy-writes.lastout.dev");
  EXPECT_EQ(warnings["rules"], Json::array({{{"operations", {"CREATE", "UPDATE"}},
                                             {"apiGroups", {"lastout.dev"}},
                                             {"apiVersions", {"*"}},
                                             {"resources", {"deletionpolicies"}},
                                             {"scope", "*"}}}));
  EXPECT_EQ(warnings["failurePolicy"], "Ignore") << "an outage denies no policy";

  ReviewedObjects objects = reviewed({kDeployment});
  objects.scaled = {kDeployment};
  objects.deleted.insert({{{"", "namespaces"}, "", "app"},
                          kube::crdKey({"my.crd.group", "coolresources"}),
                          {{"", "secrets"}, "app", "keys"},
                          {{"rbac.authorization.k8s.io", "clusterroles"}, "", R"(it's:a\role)"}});
  keeper->setObjects(objects);
  made = waitUntilInForce();
  for (const Json& webhook : made["webhooks"]) {
    EXPECT_EQ(webhook["failurePolicy"], webhook["name"] == "policy-writes.lastout.dev" ? "Ignore" : "Fail");
    EXPECT_EQ(webhook["timeoutSeconds"], 5);
    EXPECT_EQ(webhook["sideEffects"], "NoneOnDryRun");
    EXPECT_EQ(webhook["matchPolicy"], "Equivalent");
  }
  const std::string deployments =
      "(oldObject.metadata.namespace + '/' + oldObject.metadata.name) in ['app/provider']";
  EXPECT_EQ(conditionOf(made, "deployments.apps.lastout.dev"), deployments);
  EXPECT_EQ(webhookNamed(made, "deployments.apps.lastout.dev")["rules"],
            Json::array({{{"operations", {"DELETE"}},
                          {"apiGroups", {"apps"}},
                          {"apiVersions", {"*"}},
                          {"resources", {"deployments"}},
                          {"scope", "Namespaced"}}}));
  EXPECT_EQ(webhookNamed(made, "deployments.apps.lastout.dev")["namespaceSelector"]["matchExpressions"][0],
            (Json{{"key", "kubernetes.io/metadata.name"},
                  {"operator", "NotIn"},
                  {"values", {"kube-system", "lastout"}}}));
  EXPECT_EQ(conditionOf(made, "scale.deployments.apps.lastout.dev"), deployments);
  EXPECT_EQ(webhookNamed(made, "scale.deployments.apps.lastout.dev")["rules"],
            Json::array({{{"operations", {"UPDATE"}},
                          {"apiGroups", {"apps"}},
                          {"apiVersions", {"*"}},
                          {"resources", {"deployments", "deployments/scale"}},
                          {"scope", "Namespaced"}}}));
  EXPECT_EQ(conditionOf(made, "secrets.lastout.dev"),
            "(oldObject.metadata.namespace + '/' + oldObject.metadata.name) in ['app/keys']");
  EXPECT_EQ(conditionOf(made, "customresourcedefinitions.apiextensions.k8s.io.lastout.dev"),
            "oldObject.metadata.name in ['coolresources.my.crd.group']");
  EXPECT_EQ(conditionOf(made, "clusterroles.rbac.authorization.k8s.io.lastout.dev"),
            R"(oldObject.metadata.name in ['it\'s:a\\role'])");
  const Json& namespaces = webhookNamed(made, "namespaces.lastout.dev");
  EXPECT_FALSE(namespaces.contains("matchConditions"));
  EXPECT_EQ(namespaces["namespaceSelector"]["matchExpressions"],
            Json::array({{{"key", "kubernetes.io/metadata.name"}, {"operator", "In"}, {"values", {"app"}}}}));
  EXPECT_EQ(made.dump().find("request.name"), std::string::npos) << "a deletecollection has none";
  EXPECT_EQ(restored, 0);
}

// Of API servers without matchConditions all objects of the guarded objects' types are asked about.
TEST_F(WebhookKeeperTest, AsksAboutTypesWhereItIsTold) {
  scope = WebhookScope::Types;
  keeper = makeKeeper("https://127.0.0.1:9443", nullptr);
  keeper->start();
  ReviewedObjects objects = reviewed({kDeployment});
  objects.scaled = {kDeployment};
  keeper->setObjects(objects);
  Json made = waitUntilInForce();
  EXPECT_THAT(namesOfWebhooks(made),
              ElementsAre("criticalservices.lastout.dev", "deletions.lastout.dev", "namespaces.lastout.dev",
                          "policy-writes.lastout.dev", "sentinel.lastout.dev"));
  std::vector<std::string> types;
  for (const Json& rule : made["webhooks"][1]["rules"]) types.push_back(rule["resources"][0]);
  EXPECT_THAT(types,
              ElementsAre("customresourcedefinitions", "deployments", "criticalservices", "deployments"));
  EXPECT_EQ(made["webhooks"][1]["rules"].back()["resources"], (Json{"deployments", "deployments/scale"}));
  EXPECT_EQ(made["webhooks"][1]["namespaceSelector"]["matchExpressions"][0]["values"],
            (Json{"kube-system", "lastout"}));
  EXPECT_EQ(made["webhooks"][2]["namespaceSelector"]["matchExpressions"][0]["values"], Json{"kube-system"});
  for (const Json& webhook : made["webhooks"]) EXPECT_FALSE(webhook.contains("matchConditions"));
  objects.deleted.insert({{{"", "secrets"}, "b", "s"}, {{"", "configmaps"}, "a", "c"}});
  keeper->setObjects(objects);
  made = waitUntilInForce();
  const Json& webhook = webhookNamed(made, "dependencies.lastout.dev");
  ASSERT_EQ(webhook["rules"].size(), 2U) << "Deployments are reviewed already";
  EXPECT_EQ(webhook["rules"][1]["resources"], Json{"secrets"});
  EXPECT_EQ(
      webhook["namespaceSelector"]["matchExpressions"],
      Json::array({{{"key", "kubernetes.io/metadata.name"}, {"operator", "In"}, {"values", {"a", "b"}}}}));
  objects.deleted = {kDeployment, {{"rbac.authorization.k8s.io", "clusterroles"}, "", "c"}};
  keeper->setObjects(objects);
  EXPECT_EQ(
      webhookNamed(waitUntilInForce(), "dependencies.lastout.dev")["namespaceSelector"]["matchExpressions"],
      Json::array({{{"key", "kubernetes.io/metadata.name"}, {"operator", "DoesNotExist"}}}))
      << "what is in no namespace is reviewed whatever the selector says, and nothing else is to be";
  EXPECT_EQ(restored, 0) << "nobody else changed it";
}

// An API server drops what it does not know, such as matchConditions before Kubernetes 1.28: then what was
// written would never be seen to stand.
TEST_F(WebhookKeeperTest, AnApiServerThatDropsConditionsIsAskedByType) {
  serveAndConnect([this](simulator::ExchangeRequest request) {
    if (Json body = Json::parse(request.body, nullptr, false);
        body.is_object() && body.contains("webhooks")) {
      for (Json& webhook : body["webhooks"]) webhook.erase("matchConditions");
      request.body = body.dump();
    }
    return handle(request);
  });
  keeper = makeKeeper("https://127.0.0.1:9443", nullptr);
  keeper->start();
  keeper->setObjects(reviewed({kDeployment}));
  EXPECT_THAT(namesOfWebhooks(waitUntilInForce()),
              ElementsAre("criticalservices.lastout.dev", "deletions.lastout.dev", "namespaces.lastout.dev",
                          "policy-writes.lastout.dev", "sentinel.lastout.dev"));
  EXPECT_EQ(keeper->inForce()->scope, WebhookScope::Types);
  EXPECT_EQ(keeper->asksAbout(alone(kDeployment)), true);
  EXPECT_EQ(restored, 0) << "nobody else changed it";
  keeper->setObjects(reviewed({kDeployment, kStatefulSet}));
  waitUntilInForce();
  EXPECT_EQ(keeper->asksAbout(alone(kStatefulSet)), true);
  keeper->stop();
}

TEST(ReviewedObjects, AreWhatACriticalServiceGuards) {
  const kube::ResourceMap& types = kube::ResourceMap::builtIn();
  criticalservice::CriticalService service;
  service.meta.name = "s";
  service.provider = kDeployment;
  service.guardsScaling = true;
  const kube::ObjectKey secret{{"", "secrets"}, "app", "s"};
  const kube::ObjectKey other{{"", "namespaces"}, "", "other"};
  const kube::ObjectKey space{{"", "namespaces"}, "", "app"};
  const kube::ObjectKey own{{"", "namespaces"}, "", "lastout"};
  const kube::ObjectKey crd = kube::crdKey(criticalservice::criticalServiceType());
  const kube::GroupResource bindings{"rbac.authorization.k8s.io", "rolebindings"};
  const admission::Dependencies dependencies{{secret, "", false},
                                             {{bindings, "kube-system", "b"}, "", false},
                                             {{bindings, "lastout", "b"}, "", false},
                                             {other, "", false}};
  ReviewedObjects objects;
  objects.add(service, types, dependencies, "lastout");
  EXPECT_EQ(objects, (ReviewedObjects{
                         {kDeployment, secret, other, space, own, crd}, {kDeployment}, {kDeployment.type}}));
  EXPECT_EQ(objects.toString(), "deployments.apps and what the provider needs");
  const ReviewedObjects wanted = objects;
  service.provider = {{"my.crd.group", "coolresources"}, "", "p"};
  objects.add(service, types, {}, "lastout");
  EXPECT_TRUE(objects.deleted.contains(kube::crdKey(service.provider.type)));
  EXPECT_TRUE(objects.covers(wanted));
  EXPECT_FALSE(wanted.covers(objects));
  EXPECT_EQ(objects.common(wanted), wanted);
  ReviewedObjects withoutScaling = wanted;
  withoutScaling.scaled.clear();
  EXPECT_TRUE(wanted.covers(withoutScaling));
  EXPECT_FALSE(withoutScaling.covers(wanted)) << "it may be scaled to zero unasked";

  ReviewedObjects none;
  service.intent = criticalservice::DeletionIntent::OrphanResources;
  none.add(service, types, dependencies, "lastout");
  EXPECT_EQ(none, (ReviewedObjects{{own}, {}, {}}))
      << "the provider is given up, and any CriticalService keeps lastout";
}

// A type may be called as another webhook is, and as long as a name may be.
TEST(WebhookEntries, HaveNamesOfTheirOwn) {
  ReviewedObjects objects;
  for (const char* resource : {"sentinel", "criticalservices", "policy-writes", "scale", "namespaces"})
    objects.deleted.insert({{"", resource}, "app", "a"});
  objects.deleted.insert({{"deployments.apps", "scale"}, "app", "a"});
  objects.scaled.insert({{"apps", "deployments"}, "app", "a"});
  objects.deleted.insert({{std::string(120, 'a') + "." + std::string(120, 'b'), "things"}, "app", "a"});
  std::set<std::string> names;
  const auto entries = entriesByObject(objects, "lastout");
  for (const WebhookEntry& entry : entries) {
    EXPECT_TRUE(kube::isDnsSubdomain(entry.name)) << entry.name;
    EXPECT_NE(entry.name, "sentinel.lastout.dev");
    names.insert(entry.name);
  }
  EXPECT_EQ(names.size(), entries.size());
}

// Each expression is one that an API server compiles, and lists its own objects alone.
TEST(WebhookEntries, AreDividedWhereAnExpressionWouldBeTooLong) {
  WebhookConfiguration configuration;
  configuration.address.url = "https://127.0.0.1:9443";
  configuration.address.authorities = "-----BEGIN CERTIFICATE-----";
  const auto add = [&](int first, int end) {
    for (int i = first; i < end; ++i) {
      const std::string number = std::to_string(100'000 + i);
      configuration.objects.deleted.insert(
          {{"apps", "deployments"}, "namespace-of-a-provider-" + number, "provider-with-a-name-" + number});
      configuration.objects.deleted.insert({{"", "namespaces"}, "", "namespace-of-a-provider-" + number});
    }
    configuration.objects.providers = {{"apps", "deployments"}};
  };
  add(0, 2'000);
  EXPECT_EQ(makeWebhooks(configuration).scope, WebhookScope::Objects);
  size_t listed = 0;
  const auto webhooks = simulator::checkConfiguration(toJson(configuration));
  ASSERT_TRUE(webhooks) << webhooks.error().message;
  for (const simulator::Webhook& webhook : *webhooks) listed += webhook.matchConditions.size();
  EXPECT_EQ(listed, 2U) << "of 120,000 characters";
  simulator::ReviewRequest request;
  request.operation = "DELETE";
  request.type = {"apps", "deployments"};
  request.version = "v1";
  const auto askedAbout = [&](const kube::ObjectKey& object) {
    const Json old = {{"metadata", {{"namespace", object.namespaceName}, {"name", object.name}}}};
    request.oldObject = &old;
    request.type = object.type;
    request.namespaceName = object.namespaceName;
    return simulator::matching(simulator::Webhooks::List(*webhooks), false, request).value().size();
  };
  for (const kube::ObjectKey& object : configuration.objects.deleted) {
    if (object.namespaceName.empty()) continue;
    ASSERT_EQ(askedAbout(object), 1U) << kube::toString(object);
    ASSERT_EQ(askedAbout({{"apps", "statefulsets"}, object.namespaceName, object.name}), 0U);
  }
  EXPECT_EQ(askedAbout({{"apps", "deployments"}, "namespace-of-a-provider-100000", "other"}), 0U);

  add(2'000, 12'000);
  EXPECT_EQ(makeWebhooks(configuration).scope, WebhookScope::Namespaces) << "more than an API server stores";
  const Json wide = toJson(configuration);
  EXPECT_LT(wide.dump().size(), 1'100'000U);
  const size_t whole = wide["webhooks"][1]["namespaceSelector"]["matchExpressions"][0]["values"].size();
  EXPECT_GT(whole, 1'000U);
  EXPECT_LT(whole, 12'000U) << "no more than it takes";
  add(12'000, 40'000);
  EXPECT_EQ(makeWebhooks(configuration).scope, WebhookScope::Types);
}

// CriticalServices of one writer, and one of another owner's.
class CrowdedEntries : public ::testing::Test {
 public:
  CrowdedEntries() { configuration.address.url = "https://127.0.0.1:9443"; }

  static criticalservice::CriticalService serviceIn(const std::string& space, const std::string& name) {
    criticalservice::CriticalService service;
    service.meta.name = name;
    service.provider = {{"apps", "deployments"}, space, name};
    return service;
  }
  void addVictim() {
    admission::Dependencies needed;
    for (int i = 0; i < 120; ++i)
      needed.push_back({{kube::kSecrets, "victim", "secret-" + std::to_string(i)}, "", false});
    configuration.objects.add(serviceIn("victim", "victim"), kube::ResourceMap::builtIn(), needed, "lastout");
  }
  void addInvented(int services, int secrets) {
    for (int i = 0; i < services; ++i) {
      admission::Dependencies needed;
      for (int j = 0; j < secrets; ++j) {
        const std::string number = std::to_string(100'000 + i * secrets + j);
        needed.push_back({{kube::kSecrets, "tenant", number + std::string(247, 'x')}, "", false});
      }
      configuration.objects.add(serviceIn("tenant", "t" + std::to_string(i)), kube::ResourceMap::builtIn(),
                                needed, "lastout");
    }
  }
  size_t askedAbout(const kube::ObjectKey& object) {
    const auto webhooks = simulator::checkConfiguration(toJson(configuration));
    if (!webhooks) ADD_FAILURE() << webhooks.error().message;
    const Json old = {{"metadata", {{"namespace", object.namespaceName}, {"name", object.name}}}};
    simulator::ReviewRequest request;
    request.operation = "DELETE";
    request.type = object.type;
    request.version = "v1";
    request.oldObject = &old;
    request.namespaceName = object.namespaceName;
    request.namespaceLabels = {{"kubernetes.io/metadata.name", object.namespaceName}};
    return simulator::matching(simulator::Webhooks::List(*webhooks), false, request).value().size();
  }
  void expectOnlyTheTenantsSecretsAsAWhole() {
    EXPECT_EQ(makeWebhooks(configuration).scope, WebhookScope::Namespaces);
    EXPECT_LT(toJson(configuration).dump().size(), 1'050'000U);
    EXPECT_EQ(askedAbout({kube::kSecrets, "victim", "secret-7"}), 1U);
    EXPECT_EQ(askedAbout({kube::kSecrets, "victim", "other"}), 0U) << "an outage of lastout does not hold it";
    EXPECT_EQ(askedAbout({kube::kSecrets, "tenant", "other"}), 1U);
    EXPECT_EQ(askedAbout({kube::kConfigMaps, "tenant", "other"}), 0U);
    EXPECT_EQ(askedAbout({{"apps", "deployments"}, "tenant", "t7"}), 1U);
    EXPECT_EQ(askedAbout({{"apps", "deployments"}, "tenant", "other"}), 0U);
  }

  WebhookConfiguration configuration;
};

TEST_F(CrowdedEntries, AreWideWhereOneCriticalServiceNamesTooMuch) {
  addVictim();
  EXPECT_EQ(makeWebhooks(configuration).scope, WebhookScope::Objects);
  addInvented(96, 64);
  EXPECT_EQ(configuration.objects.crowded.size(), 1U);
  expectOnlyTheTenantsSecretsAsAWhole();
  const Json made = toJson(configuration);
  configuration.objects = {};
  addInvented(96, 64);
  addVictim();
  EXPECT_EQ(toJson(configuration), made) << "in whatever order they are told";
}

// Each of them names no more than it may.
TEST_F(CrowdedEntries, AreWideWhereManyCriticalServicesNameTheMost) {
  addVictim();
  addInvented(192, 32);
  EXPECT_EQ(configuration.objects.crowded, Places());
  expectOnlyTheTenantsSecretsAsAWhole();
}

TEST_F(CrowdedEntries, AreWideForATypeWithoutNamespaces) {
  addVictim();
  for (int i = 0; i < 96; ++i) {
    admission::Dependencies needed;
    for (int j = 0; j < 64; ++j)
      needed.push_back(
          {{kube::kClusterRoles, "", std::to_string(100'000 + i * 64 + j) + std::string(247, 'x')},
           "",
           false});
    configuration.objects.add(serviceIn("tenant", "t" + std::to_string(i)), kube::ResourceMap::builtIn(),
                              needed, "lastout");
  }
  EXPECT_EQ(makeWebhooks(configuration).scope, WebhookScope::Namespaces);
  EXPECT_EQ(askedAbout({kube::kSecrets, "victim", "secret-7"}), 1U);
  EXPECT_EQ(askedAbout({kube::kSecrets, "victim", "other"}), 0U);
  EXPECT_EQ(askedAbout({kube::kClusterRoles, "", "other"}), 1U);
}

TEST_F(CrowdedEntries, NameWhatIsCalledStrangely) {
  const kube::ObjectKey strange{kube::kRoles, "tenant", "x\n1 '\"\\{{}}"};
  const kube::ObjectKey longName{kube::kRoles, "other", std::string(200'000, 'x')};
  const kube::ObjectKey impossible{kube::kSecrets, "tenant", std::string(200'000, 'x')};
  configuration.objects.add(serviceIn("tenant", "t"), kube::ResourceMap::builtIn(),
                            {{strange, "", false}, {longName, "", false}, {impossible, "", false}},
                            "lastout");
  EXPECT_EQ(askedAbout(strange), 1U);
  EXPECT_EQ(askedAbout({kube::kRoles, "tenant", "x"}), 0U);
  EXPECT_EQ(askedAbout(longName), 1U);
  EXPECT_EQ(askedAbout({kube::kRoles, "other", "x"}), 1U) << "no expression may be so long";
  EXPECT_EQ(askedAbout({kube::kSecrets, "tenant", "x"}), 0U);
  EXPECT_LT(toJson(configuration).dump().size(), 20'000U) << "what cannot exist takes no room";
}

TEST_F(WebhookKeeperTest, WritesWhatChangesTogetherAtOnce) {
  batch = std::chrono::hours(1);
  keeper = makeKeeper("https://127.0.0.1:9443", nullptr);
  keeper->start();
  keeper->setObjects(reviewed({kDeployment}));
  const Json made = waitUntilInForce();
  keeper->setObjects(reviewed({kDeployment, kStatefulSet}));
  EXPECT_EQ(keeper->asksAbout(alone(kDeployment)), true);
  EXPECT_EQ(standing(), made);
  remove(kPath);
  waitUntilInForce();
  EXPECT_EQ(keeper->asksAbout(alone(kStatefulSet)), true) << "what is put back is all that should stand";
}

TEST_F(WebhookKeeperTest, PutsBackWhatWasDeletedOrEdited) {
  keeper->start();
  keeper->setObjects(reviewed({kDeployment}));
  const Json made = waitUntilInForce();
  remove(kPath);
  waitUntil([this] { return restored == 1; });
  EXPECT_EQ(standing()["webhooks"], made["webhooks"]);
  edit();
  waitUntil([this] { return restored == 2; });
  EXPECT_EQ(standing()["webhooks"], made["webhooks"]);
  EXPECT_EQ(standing()["metadata"]["labels"]["a"], "b") << "others may label it";
}

// API servers ask all that they should meanwhile.
TEST_F(WebhookKeeperTest, KeepsTheLabelsThatItIsToHave) {
  labels = {{"example.com/keep", "true"}};
  keeper = makeKeeper("https://127.0.0.1:9443", nullptr);
  keeper->start();
  keeper->setObjects(reviewed({kDeployment}));
  EXPECT_EQ(waitUntilInForce()["metadata"]["labels"], (Json{{"example.com/keep", "true"}}));
  const auto isLabelled = [this] {
    return standing()["metadata"].value("labels", Json::object()).value("example.com/keep", "") == "true";
  };
  patch(kPath, {{"metadata", {{"labels", {{"example.com/keep", nullptr}}}}}});
  waitUntil(isLabelled);
  patch(kPath, {{"metadata", {{"labels", {{"example.com/keep", "false"}}}}}});
  waitUntil(isLabelled);
  EXPECT_EQ(restored, 0);
}

TEST_F(WebhookKeeperTest, TakesOverWhatStandsThere) {
  create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
         {{"apiVersion", "admissionregistration.k8s.io/v1"},
          {"kind", "ValidatingWebhookConfiguration"},
          {"metadata", {{"name", "lastout"}}}});
  keeper->start();
  keeper->setObjects({});
  EXPECT_EQ(waitUntilInForce()["webhooks"].size(), 3U);
  EXPECT_EQ(restored, 0);
}

TEST_F(WebhookKeeperTest, TakesItAwayWhenNothingCanBeGuarded) {
  keeper->start();
  keeper->setObjects(reviewed({kDeployment}));
  waitUntilInForce();
  keeper->retire();
  waitUntil([this] { return standing().is_null(); });
  EXPECT_EQ(keeper->isInForce(), false);
  create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
         {{"apiVersion", "admissionregistration.k8s.io/v1"},
          {"kind", "ValidatingWebhookConfiguration"},
          {"metadata", {{"name", "lastout"}}}});
  waitUntil([this] { return standing().is_null(); });
  keeper->setObjects({});
  waitUntilInForce();
  EXPECT_EQ(restored, 0) << "whatever was missing, nothing was unguarded";
}

TEST_F(WebhookKeeperTest, ItsNamespaceOwnsIt) {
  keeper->start();
  keeper->setObjects({{}, {}, {}, "uid-of-lastout"});
  EXPECT_EQ(
      waitUntilInForce()["metadata"]["ownerReferences"],
      Json::array(
          {{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"name", "lastout"}, {"uid", "uid-of-lastout"}}}));
}

TEST_F(WebhookKeeperTest, OneOfSeveralWrites) {
  std::atomic<bool> leads{false};
  const auto other = makeKeeper("https://127.0.0.1:9444", [&leads] { return leads.load(); });
  keeper->start();
  keeper->setObjects(reviewed({kDeployment}));
  const Json made = waitUntilInForce();
  other->start();
  other->setObjects(reviewed({kStatefulSet}));
  waitUntil([&] { return other->isInForce() == false; });
  edit();
  waitUntil([this] { return restored == 1; });
  EXPECT_EQ(standing()["webhooks"], made["webhooks"]);
  keeper->stop();
  leads = true;
  other->reconsider();
  waitUntil([&] { return other->isInForce() == true; });
  EXPECT_THAT(namesOfWebhooks(standing()),
              ElementsAre("criticalservices.lastout.dev", "statefulsets.apps.lastout.dev",
                          "policy-writes.lastout.dev", "sentinel.lastout.dev"));
  EXPECT_EQ(restored, 1) << "what another wrote in its place was no interval without guard";
}

// What is wished changes while the former wish is written: it is not in force because it stood before.
TEST_F(WebhookKeeperTest, IsInForceOnlyWhenItStands) {
  keeper->start();
  for (int i = 0; i < 30; ++i) {
    keeper->setObjects(reviewed({kDeployment}));
    EXPECT_THAT(namesOfWebhooks(waitUntilInForce()), ::testing::Contains("deployments.apps.lastout.dev"))
        << i;
    keeper->setObjects({});
    for (int pause = 0; pause < i; ++pause) std::this_thread::yield();
  }
  EXPECT_EQ(restored, 0) << "nobody else changed it";
}

// A process that may not read DeletionPolicies leaves what they have reviewed as it stands.
TEST_F(WebhookKeeperTest, KnowsWhetherAnythingIsAskedForPolicies) {
  keeper->start();
  keeper->setObjects({});
  waitUntil([&] { return keeper->asksForPolicies() == false; });
  for (const std::string name : {"", "protect.example.com"}) {
    ReviewedObjects objects;
    objects.policies = {{name,
                         Json::array({{{"apiGroups", {""}},
                                       {"apiVersions", {"*"}},
                                       {"operations", {"DELETE"}},
                                       {"resources", {"configmaps"}},
                                       {"scope", "*"}}}),
                         Json::object()}};
    keeper->setObjects(objects);
    waitUntil([&] { return keeper->asksForPolicies() == true; });
    keeper->setObjects({});
    waitUntil([&] { return keeper->asksForPolicies() == false; });
  }
}

TEST_F(WebhookKeeperTest, GoesOnAskingAboutTheOthersWhileAnObjectIsAdded) {
  std::atomic<bool> writes = true;
  keeper = makeKeeper("https://127.0.0.1:9443", [&] { return writes.load(); });
  EXPECT_EQ(keeper->asksAbout(alone(kDeployment)), std::nullopt);
  keeper->start();
  keeper->setObjects(reviewed({kDeployment}));
  waitUntilInForce();
  EXPECT_EQ(keeper->asksAbout(alone(kDeployment)), true);
  EXPECT_EQ(keeper->asksAbout(alone(kStatefulSet)), false);
  writes = false;  // as long as a write may take
  keeper->setObjects(reviewed({kDeployment, kStatefulSet}));
  EXPECT_EQ(keeper->isInForce(), false);
  EXPECT_EQ(keeper->asksAbout(alone(kDeployment)), true);
  EXPECT_EQ(keeper->asksAbout(alone(kStatefulSet)), false);
  edit();
  waitUntil([&] { return keeper->asksAbout(alone(kDeployment)) == false; });
  writes = true;
  keeper->reconsider();
  waitUntilInForce();
  EXPECT_EQ(keeper->asksAbout(alone(kStatefulSet)), true);
  keeper->setObjects(reviewed({kStatefulSet}));
  waitUntilInForce();
  EXPECT_EQ(keeper->asksAbout(alone(kDeployment)), false);
  EXPECT_EQ(keeper->asksAbout(alone(kStatefulSet)), true);
  keeper->retire();
  EXPECT_EQ(keeper->asksAbout(alone(kStatefulSet)), false);
}

TEST_F(WebhookKeeperTest, AsksAboutAllWhileAnObjectIsTakenOut) {
  std::atomic<bool> writes = true;
  keeper = makeKeeper("https://127.0.0.1:9443", [&] { return writes.load(); });
  EXPECT_EQ(keeper->asksAboutAll(), std::nullopt);
  keeper->start();
  keeper->setObjects(reviewed({kDeployment, kStatefulSet}));
  waitUntilInForce();
  EXPECT_EQ(keeper->asksAboutAll(), true);
  writes = false;  // as long as a write may take
  keeper->setObjects(reviewed({kDeployment}));
  EXPECT_EQ(keeper->isInForce(), false);
  EXPECT_EQ(keeper->asksAboutAll(), true);
  edit();
  waitUntil([&] { return keeper->asksAboutAll() == false; });
  keeper->setObjects({});
  EXPECT_EQ(keeper->asksAboutAll(), false) << "nothing is certain of what stands there";
  writes = true;
  keeper->reconsider();
  waitUntilInForce();
  EXPECT_EQ(keeper->asksAboutAll(), true);
  keeper->setObjects(reviewed({kStatefulSet}));
  waitUntil([&] { return keeper->asksAboutAll() == true; });
  EXPECT_THAT(namesOfWebhooks(standing()), ::testing::Contains("statefulsets.apps.lastout.dev"));
  keeper->retire();
  EXPECT_EQ(keeper->asksAboutAll(), false);
}

// It was changed while nobody was to put it back: that time counts, too.
TEST_F(WebhookKeeperTest, CountsFromTheChangeWhoeverWrites) {
  std::atomic<bool> leads{true};
  keeper = makeKeeper("https://127.0.0.1:9443", [&leads] { return leads.load(); });
  keeper->start();
  keeper->setObjects(reviewed({kDeployment}));
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
  keeper->setObjects(reviewed({kDeployment}));
  waitUntilInForce();
  edit();
  waitUntil([this] { return restored == 1; });
  edit();
  waitUntil([this] { return keeper->isInForce() == false; });
  keeper->setObjects({});
  waitUntilInForce();
  waitUntil([this] { return restored == 2; });
}

// Nobody who merely reaches lastout knows where API servers ask.
TEST_F(WebhookKeeperTest, KnowsWhereApiServersAsk) {
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
  for (WebhookKeeper* each : {keeper.get(), other.get()}) each->setObjects({});
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

// The Secret has changed while nobody could write the configuration.
TEST_F(WebhookKeeperTest, APathThatItKnewOfBeforeItWritesIsWritten) {
  std::atomic<bool> writes = false;
  const auto other = makeKeeper("https://127.0.0.1:9443", [&] { return writes.load(); });
  writeForBoth(*other);
  other->setReviewPath(kOwnPath);
  waitUntil([&] { return other->isInForce() == true; });
  EXPECT_TRUE(other->asksAt(kOwnPath));
  EXPECT_THAT(pathsOfReviews(), ElementsAre(kFormerPath)) << "it may not write";
  keeper->stop();
  writes = true;
  other->reconsider();
  waitUntil([&] { return pathsOfReviews() == std::set<std::string>{kOwnPath}; });
}

TEST_F(WebhookKeeperTest, AConfigurationThatWasDeletedIsMadeAgainWithThePathThatWasSet) {
  std::atomic<bool> writes = false;
  const auto other = makeKeeper("https://127.0.0.1:9443", [&] { return writes.load(); });
  writeForBoth(*other);
  other->setReviewPath(kOwnPath);
  keeper->stop();
  remove(kPath);
  waitUntil([&] { return other->isInForce() == false; });
  writes = true;
  other->reconsider();
  waitUntil([&] { return !standing().is_null(); });
  EXPECT_THAT(pathsOfReviews(), ElementsAre(kOwnPath));
}

// An old manifest of it that somebody applies, and listeners do not know its path.
TEST_F(WebhookKeeperTest, APathThatSomebodyElseWroteIsPutBack) {
  keeper->setReviewPath(kOwnPath);
  keeper->start();
  keeper->setObjects({});
  Json webhooks = waitUntilInForce()["webhooks"];
  for (Json& webhook : webhooks) {
    std::string url = webhook["clientConfig"]["url"];
    if (const size_t at = url.find(kOwnPath); at != std::string::npos)
      webhook["clientConfig"]["url"] = url.replace(at, kOwnPath.size(), kFormerPath);
  }
  patch(kPath, {{"webhooks", webhooks}});
  waitUntil([&] { return pathsOfReviews() == std::set<std::string>{kOwnPath} && restored > 0; });
}

// A certificate that is made at each start is no reason to write it anew.
TEST_F(WebhookKeeperTest, WhoComesLaterAsksWhereTheFormerDid) {
  keeper->setReviewPath(reviewPathOf("a key"));
  keeper->start();
  keeper->setObjects({});
  const Json made = waitUntilInForce();
  keeper = makeKeeper("https://127.0.0.1:9443", nullptr, reviewPathOf("another key"));
  keeper->start();
  keeper->setObjects({});
  EXPECT_EQ(waitUntilInForce(), made);
}

TEST_F(WebhookKeeperTest, WhatItCannotSeeIsNotKnown) {
  EXPECT_EQ(keeper->isInForce(), std::nullopt);
  keeper->start();
  keeper->setObjects({});
  waitUntilInForce();
}

}  // namespace
}  // namespace lastout::server

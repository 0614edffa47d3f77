#include "tests/support/server_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "client/api_server.h"
#include "kube/parse.h"
#include "protection/profiles.h"
#include "simulator/certificates.h"
#include "tests/protection/policies.h"
#include "tests/simulator/admin_request.h"
#include "tests/support/manifests.h"

namespace lastout::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{60};
constexpr std::string_view kContentTypeHeader = "Content-Type: ";
constexpr std::string_view kAcceptHeader = "Accept: ";
constexpr const char* kInstances = "/apis/my.crd.group/v1/coolresources";
constexpr const char* kPolicies = "/apis/lastout.dev/v1alpha1/deletionpolicies";

constexpr std::string_view kStoryWithoutService = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: coolresources.my.crd.group}
spec:
  group: my.crd.group
  scope: Cluster
  names: {kind: CoolResource, plural: coolresources}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: provider}
spec:
  selector: {matchLabels: {app: p}}
  template:
    metadata: {labels: {app: p}}
    spec: {containers: [{name: c, image: i}]}
---
apiVersion: my.crd.group/v1
kind: CoolResource
metadata: {name: instance, finalizers: [my.crd.group/super-important]}
)";

constexpr std::string_view kStoryService = R"(apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: s}
spec:
  provider: {group: apps, resource: deployments, namespace: default, name: provider}
  criteria:
  - type: Finalizer
    finalizer: {group: my.crd.group, resource: coolresources, finalizerName: my.crd.group/super-important}
  - type: SpecificResource
    specificResource:
      {group: apiextensions.k8s.io, resource: customresourcedefinitions, name: coolresources.my.crd.group}
)";

// The API server answers reads, on a busy machine late.
void bePatient(server::ReviewHandlerOptions& reviews) {
  reviews.budget = reviews.servicesPatience = kPatience;
}

}  // namespace

client::RandomFraction oneHalf() {
  return [] { return 0.5; };
}

server::LogSink noLog() {
  return [](server::Level /*level*/, const std::string& /*line*/) {};
}

ServerWorld::ServerWorld(const WorldOptions& options)
    : policies(view, {.clusters = options.policyClusters}), options_(options) {
  connect();
}

void ServerWorld::serveAndConnect(simulator::Handler handler) {
  serve(std::move(handler));
  connect();
}

void ServerWorld::connect() {
  access = accessWith();
  reviews.reset();  // asks the others
  reads = std::make_unique<server::ConfirmingReads>(access, view);
  services = std::make_unique<server::CurrentServices>(access, view);
  rights = std::make_unique<server::ObjectRights>(access);
  server::ReviewHandlerOptions reviewing = options_.reviews;
  bePatient(reviewing);
  if (options_.policies) {
    policyReviews = std::make_unique<server::PolicyReviewer>(access, view, policies, *options_.policies);
    reviewing.policies = policyReviews.get();
    server::PolicyWatchesOptions watching;
    watching.random = oneHalf;
    watching.log = noLog();
    watching.watcher.reflector.backoff = kSoonAgain;
    policyWatches = std::make_unique<server::PolicyWatches>(access, view, policies, std::move(watching));
  }
  reviews = std::make_unique<server::ReviewHandler>(view, *reads, *services, *rights, reviewing,
                                                    [this](const server::ReviewResult& verdict) {
                                                      const std::lock_guard lock(mutex_);
                                                      verdicts_.push_back(verdict);
                                                    });
}

std::shared_ptr<client::Access> ServerWorld::accessWith(
    const std::function<void(client::ConnectionConfig& connection)>& change) const {
  client::ConnectionConfig connection;
  connection.server = {true, "127.0.0.1", static_cast<uint16_t>(port), ""};
  connection.authority = authority.certificate;
  connection.authentication.client = {admin.certificate, admin.key};
  change(connection);
  return client::Access::open(std::move(connection), [] { return int64_t{0}; }).value();
}

std::shared_ptr<client::Access> ServerWorld::accessOf(const std::string& token) const {
  return accessWith([&](client::ConnectionConfig& connection) {
    connection.authentication = {};
    connection.authentication.token = token;
  });
}

server::ServerOptions ServerWorld::serverOptions(const std::string& identity) const {
  const auto certificate =
      simulator::makeServerCertificate(authority, {{"localhost"}, {"127.0.0.1"}}, {0, 4'102'444'800}).value();
  server::ServerOptions options;
  options.http.identity = {certificate.certificate, certificate.key, ""};
  options.identity = identity;
  options.lease.times.retry = milliseconds(20);
  options.clock = [] { return server::WallTime(std::chrono::microseconds(1'760'000'000'000'000)); };
  options.watcher.reflector.backoff = kSoonAgain;
  bePatient(options.reviews);
  options.random = oneHalf;
  options.log = noLog();
  options.verdict = [](const server::ReviewResult& /*verdict*/) {};
  options.restored = [](milliseconds /*unguarded*/) {};
  return options;
}

ServerWorld::~ServerWorld() {
  if (policyWatches) policyWatches->stop();
  if (watches) watches->stop();
  cluster.stop();
}

WireAnswer ServerWorld::ask(const WireRequest& asked) {
  simulator::ExchangeRequest request = adminRequest(asked.method, asked.target);
  for (const std::string& header : asked.headers) {
    if (header.starts_with(kContentTypeHeader))
      request.contentType = header.substr(kContentTypeHeader.size());
    else if (header.starts_with(kAcceptHeader))
      request.accept = header.substr(kAcceptHeader.size());
    else
      ADD_FAILURE() << "this header is for the wire: " << header;
  }
  request.body = asked.body;
  const simulator::ExchangeResponse response = handle(request);
  EXPECT_EQ(response.stream, nullptr) << "a watch is for the wire";
  return {response.status, "", response.body};
}

Json ServerWorld::criticalService() { return jsonOf(kStoryService); }

void ServerWorld::createStory() {
  createStoryWithoutService();
  createAll(kStoryService);
}

void ServerWorld::createStoryWithoutService() { createAll(kStoryWithoutService); }

void ServerWorld::createAll(std::string_view manifests) {
  for (const kube::Object& object : objects(manifests, manifestTypes_))
    create(client::collectionPath(*manifestTypes_.find(object.key.type), object.key.namespaceName),
           Json(kube::toJson(object.content)));
}

void ServerWorld::createInstance(const std::string& name, const Json& finalizers) {
  create(kInstances, {{"apiVersion", "my.crd.group/v1"},
                      {"kind", "CoolResource"},
                      {"metadata", {{"name", name}, {"finalizers", finalizers}}}});
}

void ServerWorld::removeFinalizers(const std::string& instance) {
  patch(std::string(kInstances) + "/" + instance, {{"metadata", {{"finalizers", nullptr}}}});
}

void ServerWorld::clearTheWay(std::chrono::minutes until) {
  removeStory(until);
  cluster.clock().advance(std::chrono::seconds(1));  // until then discovery names the type of the CRD
}

void ServerWorld::removeStory(std::chrono::minutes until) {
  removeFinalizers("instance");
  remove(std::string(kDefinitionsPath) + "/coolresources.my.crd.group");
  cluster.runUntil(until);
}

void ServerWorld::patch(const std::string& path, const Json& merged) {
  expectStatusOk({.method = "PATCH",
                  .target = path,
                  .body = merged.dump(),
                  .headers = {"Content-Type: application/merge-patch+json"}});
}

void ServerWorld::remove(const std::string& path) {
  expectStatusOk({.method = "DELETE", .target = path, .body = {}, .headers = {}});
}

void ServerWorld::expectStatusOk(const WireRequest& request) {
  const WireAnswer answer = ask(request);
  EXPECT_EQ(answer.status, 200) << answer.body;
}

void ServerWorld::follow() {
  server::WatchesOptions options;
  options.random = oneHalf;
  options.log = noLog();
  options.watcher.reflector.backoff = kSoonAgain;
  watches = std::make_unique<server::Watches>(access, view, std::move(options));
  watches->start();
  waitUntil([this] { return view.isReady(); });
}

void ServerWorld::waitUntilClear(const server::LiveView& live) {
  waitUntil([&live] {
    return live.knowledge(kCoolResources) == graph::Knowledge::Absent && !live.find(kCoolResources);
  });
  waitUntil([&live] {
    bool isThere = true;
    live.inspect([&](const admission::ClusterView& cluster, const kube::ResourceMap&) {
      const auto definition = cluster.graph().find(kube::crdKey(kCoolResources));
      isThere = definition && cluster.graph().isPresent(*definition);
    });
    return !isThere;
  });
}

void ServerWorld::waitUntil(const std::function<bool()>& holds) {
  constexpr milliseconds kLongestPause{32};
  const auto deadline = steady_clock::now() + kPatience;
  // What is waited for needs the processors, too.
  for (milliseconds pause{2}; !holds(); pause = std::min(2 * pause, kLongestPause)) {
    ASSERT_LT(steady_clock::now(), deadline) << "it does not come true";
    std::this_thread::sleep_for(pause);
  }
}

void ServerWorld::waitFor(const kube::GroupResource& type, graph::Knowledge knowledge) {
  SCOPED_TRACE(toString(type) + " becomes " + std::string(graph::toString(knowledge)));
  waitUntil([&] { return view.knowledge(type) == knowledge; });
}

Json ServerWorld::answer(const Json& request) {
  const Json review = {
      {"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", request}};
  net::HttpRequest http;
  http.body = review.dump();
  http.begun = steady_clock::now();
  const net::HttpResponse response = reviews->answer(http);
  EXPECT_EQ(response.status, 200) << response.body;
  return Json::parse(response.body)["response"];
}

Json ServerWorld::deletion(const kube::ObjectKey& key, const std::string& user) {
  const Json resource = {{"group", key.type.group}, {"version", "v1"}, {"resource", key.type.resource}};
  return {{"uid", "u"},
          {"operation", "DELETE"},
          {"kind", {{"group", key.type.group}, {"version", "v1"}, {"kind", "K"}}},
          {"resource", resource},
          {"namespace", key.namespaceName},
          {"name", key.name},
          {"userInfo", {{"username", user}}},
          {"object", nullptr},
          {"oldObject", {{"metadata", {{"name", key.name}, {"namespace", key.namespaceName}}}}}};
}

Json ServerWorld::reviewDelete(const kube::ObjectKey& key, const std::string& user) {
  return answer(deletion(key, user));
}

Json ServerWorld::reviewUpdate(const kube::ObjectKey& key, const Json& request) {
  Json all = {{"uid", "u"},
              {"operation", "UPDATE"},
              {"kind", {{"group", key.type.group}, {"version", "v1"}, {"kind", "K"}}},
              {"resource", {{"group", key.type.group}, {"version", "v1"}, {"resource", key.type.resource}}},
              {"namespace", key.namespaceName},
              {"name", key.name},
              {"userInfo", {{"username", "jane"}}}};
  all.update(request);
  return answer(all);
}

Json ServerWorld::reviewService(const Json& before, const Json& after, const Json& user) {
  const Json kind = {{"group", "lastout.dev"}, {"version", "v1alpha1"}, {"kind", "CriticalService"}};
  return answer(
      {{"uid", "u"},
       {"operation", before.is_null() ? "CREATE" : "UPDATE"},
       {"kind", kind},
       {"resource", {{"group", "lastout.dev"}, {"version", "v1alpha1"}, {"resource", "criticalservices"}}},
       {"name", "s"},
       {"userInfo", user},
       {"object", after},
       {"oldObject", before}});
}

bool ServerWorld::isThere(const std::string& path) {
  return ask({.method = "GET", .target = path, .body = {}, .headers = {}}).status == 200;
}

Json ServerWorld::get(const std::string& path) {
  return expectStatus(200, {.method = "GET", .target = path, .body = {}, .headers = {}});
}

std::vector<server::ReviewResult> ServerWorld::verdicts() {
  const std::lock_guard lock(mutex_);
  return verdicts_;
}

std::vector<std::string> ServerWorld::weakened() {
  const std::lock_guard lock(mutex_);
  return weakened_;
}

void ServerWorld::createPolicy(const Json& policy) {
  create(kPolicies, policy);
  ++applied_;
}

void ServerWorld::followAll() {
  follow();
  policyWatches->start();
  waitUntil([this] {
    policyWatches->reconsider();
    return policies.isKnown();
  });
}

void ServerWorld::apply(std::string_view spec, const std::string& name) {
  createPolicy(jsonOf(protection::policyText(spec, name)));
  waitUntil([this] { return policies.policies()->all().size() == applied_; });
}

void ServerWorld::applyProfile(std::string_view profile, const std::function<void(Json& policy)>& change) {
  const auto found = protection::findProfile(profile);
  ASSERT_TRUE(found) << found.error().message;
  const auto documents = kube::parseYaml(found->text, found->file);
  ASSERT_TRUE(documents) << documents.error().message;
  for (const kube::Value& document : *documents) {
    Json policy(kube::toJson(document));
    change(policy);
    createPolicy(policy);
  }
  waitUntil([this] { return policies.policies()->all().size() == applied_; });
}

Json ServerWorld::deletionOf(const std::string& path, const kube::ObjectKey& key, bool allowed,
                             const std::string& said, const Json& more) {
  Json request = {{"operation", "DELETE"}, {"oldObject", get(path)}};
  request.update(more);
  Json response;
  waitUntil([&] {
    policyWatches->reconsider();
    response = reviewUpdate(key, request);
    if (response["allowed"] != allowed) return false;
    return allowed || response["status"]["message"].get<std::string>().find(said) != std::string::npos;
  });
  return response;
}

}  // namespace lastout::testing

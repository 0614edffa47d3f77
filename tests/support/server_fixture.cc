#include "tests/support/server_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "tests/simulator/admin_request.h"

namespace lastout::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{60};
constexpr std::string_view kContentTypeHeader = "Content-Type: ";
constexpr std::string_view kAcceptHeader = "Accept: ";
constexpr const char* kInstances = "/apis/my.crd.group/v1/coolresources";
constexpr const char* kServices = "/apis/lastout.dev/v1alpha1/criticalservices";
constexpr const char* kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

Json coolResources() {
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "coolresources.my.crd.group"}}},
          {"spec",
           {{"group", "my.crd.group"},
            {"scope", "Cluster"},
            {"names", {{"kind", "CoolResource"}, {"plural", "coolresources"}}},
            {"versions", Json::array({{{"name", "v1"},
                                       {"served", true},
                                       {"storage", true},
                                       {"schema", {{"openAPIV3Schema", {{"type", "object"}}}}}}})}}}};
}

Json provider() {
  const Json labels = {{"app", "p"}};
  return {{"apiVersion", "apps/v1"},
          {"kind", "Deployment"},
          {"metadata", {{"name", "provider"}}},
          {"spec",
           {{"selector", {{"matchLabels", labels}}},
            {"template",
             {{"metadata", {{"labels", labels}}},
              {"spec", {{"containers", Json::array({{{"name", "c"}, {"image", "i"}}})}}}}}}}};
}

}  // namespace

ServerTest::ServerTest(const server::ReviewHandlerOptions& options) : options_(options) {
  options_.budget = options_.servicesPatience = kPatience;  // this API server answers, on a busy machine late
  connect();
}

void ServerTest::serveAndConnect(simulator::Handler handler) {
  serve(std::move(handler));
  connect();
}

void ServerTest::connect() {
  client::ConnectionConfig connection;
  connection.server = {true, "127.0.0.1", static_cast<uint16_t>(port), ""};
  connection.authority = authority.certificate;
  connection.authentication.client = {admin.certificate, admin.key};
  access = client::Access::open(std::move(connection), [] { return int64_t{0}; }).value();
  reviews.reset();  // asks the others
  reads = std::make_unique<server::ConfirmingReads>(access, view);
  services = std::make_unique<server::CurrentServices>(access, view);
  rights = std::make_unique<server::ObjectRights>(access);
  reviews = std::make_unique<server::ReviewHandler>(view, *reads, *services, *rights, options_,
                                                    [this](const server::ReviewResult& verdict) {
                                                      const std::lock_guard lock(mutex_);
                                                      verdicts_.push_back(verdict);
                                                    });
}

ServerTest::~ServerTest() {
  if (watches) watches->stop();
  cluster.stop();
}

WireAnswer ServerTest::ask(const WireRequest& asked) {
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

Json ServerTest::criticalService() {
  return {
      {"apiVersion", "lastout.dev/v1alpha1"},
      {"kind", "CriticalService"},
      {"metadata", {{"name", "s"}}},
      {"spec",
       {{"provider",
         {{"group", "apps"}, {"resource", "deployments"}, {"namespace", "default"}, {"name", "provider"}}},
        {"criteria", Json::array({{{"type", "Finalizer"},
                                   {"finalizer",
                                    {{"group", "my.crd.group"},
                                     {"resource", "coolresources"},
                                     {"finalizerName", "my.crd.group/super-important"}}}},
                                  {{"type", "SpecificResource"},
                                   {"specificResource",
                                    {{"group", "apiextensions.k8s.io"},
                                     {"resource", "customresourcedefinitions"},
                                     {"name", "coolresources.my.crd.group"}}}}})}}}};
}

void ServerTest::createStory() {
  createStoryWithoutService();
  create(kServices, criticalService());
}

void ServerTest::createStoryWithoutService() {
  create(kDefinitions, coolResources());
  create("/apis/apps/v1/namespaces/default/deployments", provider());
  createInstance("instance", {"my.crd.group/super-important"});
}

void ServerTest::createInstance(const std::string& name, const Json& finalizers) {
  create(kInstances, {{"apiVersion", "my.crd.group/v1"},
                      {"kind", "CoolResource"},
                      {"metadata", {{"name", name}, {"finalizers", finalizers}}}});
}

void ServerTest::removeFinalizers(const std::string& instance) {
  patch(std::string(kInstances) + "/" + instance, {{"metadata", {{"finalizers", nullptr}}}});
}

void ServerTest::clearTheWay(std::chrono::minutes until) {
  removeFinalizers("instance");
  remove(std::string(kDefinitions) + "/coolresources.my.crd.group");
  cluster.runUntil(until);
  cluster.clock().advance(std::chrono::seconds(1));  // until then discovery names the type of the CRD
}

void ServerTest::patch(const std::string& path, const Json& merged) {
  expectStatusOk({.method = "PATCH",
                  .target = path,
                  .body = merged.dump(),
                  .headers = {"Content-Type: application/merge-patch+json"}});
}

void ServerTest::remove(const std::string& path) {
  expectStatusOk({.method = "DELETE", .target = path, .body = {}, .headers = {}});
}

void ServerTest::expectStatusOk(const WireRequest& request) {
  const WireAnswer answer = ask(request);
  EXPECT_EQ(answer.status, 200) << answer.body;
}

void ServerTest::follow() {
  server::WatchesOptions options;
  options.random = [] { return [] { return 0.5; }; };
  options.log = [](server::Level /*level*/, const std::string&) {};
  options.watcher.reflector.backoff = {milliseconds(5), milliseconds(20)};
  watches = std::make_unique<server::Watches>(access, view, std::move(options));
  watches->start();
  waitUntil([this] { return view.isReady(); });
}

void ServerTest::waitUntilClear() {
  waitFor(kCoolResources, graph::Knowledge::Absent);
  waitUntil([this] {
    bool isThere = true;
    view.inspect([&](const admission::ClusterView& cluster, const kube::ResourceMap&) {
      const auto definition = cluster.graph().find(kube::crdKey(kCoolResources));
      isThere = definition && cluster.graph().isPresent(*definition);
    });
    return !isThere;
  });
}

void ServerTest::waitUntil(const std::function<bool()>& holds) {
  constexpr milliseconds kLongestPause{32};
  const auto deadline = steady_clock::now() + kPatience;
  // What is waited for needs the processors, too.
  for (milliseconds pause{2}; !holds(); pause = std::min(2 * pause, kLongestPause)) {
    ASSERT_LT(steady_clock::now(), deadline) << "it does not come true";
    std::this_thread::sleep_for(pause);
  }
}

void ServerTest::waitFor(const kube::GroupResource& type, graph::Knowledge knowledge) {
  SCOPED_TRACE(toString(type) + " becomes " + std::string(graph::toString(knowledge)));
  waitUntil([&] { return view.knowledge(type) == knowledge; });
}

Json ServerTest::answer(const Json& request) {
  const Json review = {
      {"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", request}};
  net::HttpRequest http;
  http.body = review.dump();
  http.begun = steady_clock::now();
  const net::HttpResponse response = reviews->answer(http);
  EXPECT_EQ(response.status, 200) << response.body;
  return Json::parse(response.body)["response"];
}

Json ServerTest::deletion(const kube::ObjectKey& key, const std::string& user) {
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

Json ServerTest::reviewDelete(const kube::ObjectKey& key, const std::string& user) {
  return answer(deletion(key, user));
}

Json ServerTest::reviewUpdate(const kube::ObjectKey& key, const Json& request) {
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

Json ServerTest::reviewService(const Json& before, const Json& after, const Json& user) {
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

bool ServerTest::isThere(const std::string& path) {
  return ask({.method = "GET", .target = path, .body = {}, .headers = {}}).status == 200;
}

Json ServerTest::get(const std::string& path) {
  return expectStatus(200, {.method = "GET", .target = path, .body = {}, .headers = {}});
}

std::vector<server::ReviewResult> ServerTest::verdicts() {
  const std::lock_guard lock(mutex_);
  return verdicts_;
}

std::vector<std::string> ServerTest::weakened() {
  const std::lock_guard lock(mutex_);
  return weakened_;
}

}  // namespace lastout::testing

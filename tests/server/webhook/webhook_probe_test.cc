// Probes of API servers that ask lastout, or do not: over TLS, with the webhook really called.
#include "server/webhook/webhook_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "client/http.h"
#include "kube/parse.h"
#include "net/http_server.h"
#include "server/server.h"
#include "simulator/webhook_client.h"
#include "tests/net/http_world.h"
#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::Json;
using lastout::testing::kProvider;
using lastout::testing::ServerWorld;
using lastout::testing::WireAnswer;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr const char* kWebhooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
constexpr const char* kWebhook =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/lastout";
constexpr const char* kSentinelPath =
    "/apis/coordination.k8s.io/v1/namespaces/default/leases/lastout-sentinel";
constexpr const char* kSlices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

Json criticalServiceDefinition() {
  const auto text = kube::readFile("deploy/crd/criticalservices.yaml");
  return kube::toJson(kube::parseYaml(*text, "").value().front());
}

ReviewedObjects of(const kube::ObjectKey& provider) { return {{provider}, {}, {provider.type}}; }

// Another API server, at a port of its own, over a cluster of its own: one that has not heard of what stands
// in the first one.
class OtherApiServer {
 public:
  explicit OtherApiServer(const simulator::CertifiedKey& authority) : cluster_(options()) {
    const auto made =
        simulator::makeServerCertificate(authority, {{}, {"127.0.0.1"}}, {0, 4'000'000'000}).value();
    simulator::ListenerOptions listening;
    listening.certificate = made.certificate;
    listening.privateKey = made.key;
    listening.clientCa = authority.certificate;
    listener_ =
        simulator::Listener::open(
            listening, [this](const simulator::ExchangeRequest& request) { return cluster_.handle(request); },
            [](std::string_view, const simulator::UserInfo* certificate)
                -> std::optional<simulator::UserInfo> { return *certificate; })
            .value();
    listener_->start();
  }
  int port() const {
    const std::string url = listener_->url();
    return std::stoi(url.substr(url.rfind(':') + 1));
  }

 private:
  static simulator::EmbeddedOptions options() {
    simulator::EmbeddedOptions options;
    options.callWebhook = [](const simulator::Webhook&,
                             const std::string&) -> tl::expected<simulator::WebhookResponse, std::string> {
      return tl::unexpected(std::string("nobody"));
    };
    return options;
  }

  simulator::EmbeddedCluster cluster_;
  std::unique_ptr<simulator::Listener> listener_;
};

// What is probed, by a probe of its own. The configuration is written by the test, which also says which one
// should stand.
class WebhookProbeTest : public ServerWorld {
 public:
  WebhookProbeTest() {
    callWebhook = [this](const simulator::Webhook& webhook, const std::string& body) {
      ++calls;
      return caller_.post(webhook, body);
    };
    net::HttpServerOptions options;
    options.identity = lastout::testing::testIdentity(authority);
    std::vector<net::HttpRoute> routes{
        {"POST", std::string(kProbePath), "application/json",
         [](const net::HttpRequest& request) { return answerProbe(request, "0a"); }}};
    http_ = net::HttpServer::open(options, std::move(routes), [](const net::HttpEvent&) {}).value();
    configuration.address.url = "https://127.0.0.1:" + std::to_string(http_->port());
    configuration.address.authorities = authority.certificate;
    configuration.objects = of(kProvider);
    create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", criticalServiceDefinition());
  }
  ~WebhookProbeTest() override {
    if (probe) probe->stop();
    listener.reset();  // calls the webhook no longer
  }

  // It stands, and is what should.
  void put() {
    create(kWebhooks, toJson(configuration));
    declare();
  }
  void declare() {
    const std::lock_guard lock(mutex_);
    wanted_ = {makeWebhooks(configuration).fingerprint, configuration.objects, TimePoint()};
  }
  void start(bool inCluster = false) {
    const auto mine =
        accessWith([&](client::ConnectionConfig& connection) { connection.inCluster = inCluster; });
    WebhookProbeOptions options;
    options.configuration = [this] {
      const std::lock_guard lock(mutex_);
      return wanted_;
    };
    options.times = {milliseconds(10), milliseconds(5), milliseconds(0), milliseconds(5'000)};
    options.random = [] { return 0.5; };
    options.counted = [this](ProbeResult result) {
      const std::lock_guard lock(mutex_);
      ++counts_[result];
    };
    options.changed = [this](const ProbeStanding& standing) {
      const std::lock_guard lock(mutex_);
      news_.push_back(std::string(toString(standing.result)));
    };
    options.log = [this](Level /*level*/, const std::string& line) {
      const std::lock_guard lock(mutex_);
      news_.push_back(line);
    };
    probe = std::make_unique<WebhookProbe>(mine, std::move(options));
    probe->start();
  }
  std::string enforced() const {
    const WebhookEnforcement found = probe->enforcementFor(of(kProvider));
    return (found.enforced.value_or(false) ? "True " : "False ") + found.reason;
  }
  void probeUntil(const std::string& wanted) {
    waitUntil([&] {
      probe->reconsider();
      return enforced() == wanted;
    });
    EXPECT_EQ(enforced(), wanted) << probe->enforcementFor(of(kProvider)).message;
  }
  // Some more rounds, to their end.
  void probeAFewTimes() {
    const int before = probes();
    waitUntil([&] {
      probe->reconsider();
      return probes() >= before + 3;
    });
  }
  int probes() {
    const std::lock_guard lock(mutex_);
    int all = 0;
    for (const auto& [result, number] : counts_) all += number;
    return all;
  }
  int count(ProbeResult result) {
    const std::lock_guard lock(mutex_);
    return counts_[result];
  }
  // What stands otherwise is told a moment after it does.
  void waitUntilTold(const std::vector<std::string>& wanted) {
    waitUntil([&] { return news() == wanted; });
  }
  std::vector<std::string> news() {
    const std::lock_guard lock(mutex_);
    return news_;
  }
  // Another address of the API server, beside the one that was configured.
  void createSlice(int slicePort) {
    create(kSlices, {{"apiVersion", "discovery.k8s.io/v1"},
                     {"kind", "EndpointSlice"},
                     {"metadata", {{"name", "kubernetes"}}},
                     {"addressType", "IPv4"},
                     {"endpoints", Json::array({{{"addresses", {"127.0.0.1"}}}})},
                     {"ports", Json::array({{{"name", "https"}, {"port", slicePort}}})}});
  }
  std::string messageNow() const { return probe->enforcementFor(of(kProvider)).message; }

  WebhookConfiguration configuration;
  std::atomic<int> calls{0};
  std::unique_ptr<WebhookProbe> probe;

 private:
  simulator::WebhookClient caller_{{}};
  std::unique_ptr<net::HttpServer> http_;
  std::mutex mutex_;
  std::optional<ProbedConfiguration> wanted_;
  std::map<ProbeResult, int> counts_;
  std::vector<std::string> news_;
};

TEST_F(WebhookProbeTest, MakesItsSentinelAndIsDenied) {
  put();
  start();
  EXPECT_EQ(enforced(), "False ProbePending");
  probeUntil("True ProbeDenied");
  EXPECT_GT(calls, 0);
  waitUntilTold({"denied"});
  EXPECT_EQ(count(ProbeResult::Allowed), 0) << "nor before the sentinel was there";
  const Json sentinel = ask({.method = "GET", .target = kSentinelPath, .body = {}, .headers = {}}).json();
  EXPECT_EQ(sentinel["metadata"]["ownerReferences"][0]["name"], "criticalservices.lastout.dev");
  probeAFewTimes();
  EXPECT_EQ(ask({.method = "GET", .target = kSentinelPath, .body = {}, .headers = {}}).json(), sentinel);

  // Whoever wants it gone may delete it; and it is made again, with the label that it is known by.
  remove(kSentinelPath);
  probeAFewTimes();
  patch(kSentinelPath, {{"metadata", {{"labels", nullptr}}}});
  probeAFewTimes();
  EXPECT_EQ(enforced(), "True ProbeDenied");
  EXPECT_EQ(count(ProbeResult::Allowed), 0);
}

TEST_F(WebhookProbeTest, NothingIsProbedWhileNothingStands) {
  start();
  probe->reconsider();
  put();
  probeUntil("True ProbeDenied");
  waitUntilTold({"denied"});
}

TEST_F(WebhookProbeTest, AConfigurationThatIsGoneIsAnAlarm) {
  put();
  start();
  probeUntil("True ProbeDenied");
  remove(kWebhook);
  probeUntil("False ProbeAllowed");
  EXPECT_THAT(messageNow(), HasSubstr("https://127.0.0.1:" + std::to_string(port)));
  probeAFewTimes();
  EXPECT_GT(count(ProbeResult::Allowed), 0);
  waitUntilTold({"denied", "allowed"});
  put();
  probeUntil("True ProbeDenied");
  waitUntilTold({"denied", "allowed", "denied"});
}

// Somebody made it harmless: who cannot be reached is not waited for.
TEST_F(WebhookProbeTest, AConfigurationThatIsEditedIsAnAlarm) {
  put();
  start();
  probeUntil("True ProbeDenied");
  Json edited = toJson(configuration)["webhooks"];
  for (Json& webhook : edited) webhook["clientConfig"]["url"] = "https://127.0.0.1:1/review";
  patch(kWebhook, {{"webhooks", edited}});
  probeUntil("False ProbeFailed");
  EXPECT_THAT(messageNow(), HasSubstr("failed calling webhook"));
  for (Json& webhook : edited) webhook["failurePolicy"] = "Ignore";
  patch(kWebhook, {{"webhooks", edited}});
  probeUntil("False ProbeAllowed");
}

// The API server still goes by what stood there before.
TEST_F(WebhookProbeTest, AnOlderConfigurationShowsNothingOfANewObject) {
  put();
  start();
  probeUntil("True ProbeDenied");
  const kube::ObjectKey added{{"apps", "statefulsets"}, "app", "added"};
  configuration.objects.deleted.insert(added);
  declare();
  probeAFewTimes();
  EXPECT_EQ(enforced(), "True ProbeDenied");
  EXPECT_EQ(probe->enforcementFor(of(added)).reason, "ProbePending");
  patch(kWebhook, {{"webhooks", toJson(configuration)["webhooks"]}});
  waitUntil([&] {
    probe->reconsider();
    return probe->enforcementFor(of(added)).enforced.value_or(false);
  });
}

TEST_F(WebhookProbeTest, EveryApiServerIsProbed) {
  OtherApiServer other(authority);
  createSlice(other.port());
  put();
  start(true);
  probeUntil("False ProbeAllowed");
  EXPECT_THAT(messageNow(), HasSubstr("https://127.0.0.1:" + std::to_string(other.port())));
  EXPECT_EQ(probe->standings().size(), 2U);
  // It goes, and is known no longer.
  remove(std::string(kSlices) + "/kubernetes");
  probeUntil("True ProbeDenied");
  EXPECT_EQ(probe->standings().size(), 1U);
}

TEST_F(WebhookProbeTest, AnApiServerThatDoesNotAnswerIsNotBelieved) {
  createSlice(1);
  put();
  start(true);
  probeUntil("False ProbeFailed");
  EXPECT_THAT(messageNow(), HasSubstr("https://127.0.0.1:1 "));
  EXPECT_EQ(probe->standings().back().result, ProbeResult::Denied);
  patch(std::string(kSlices) + "/kubernetes",
        {{"ports", Json::array({{{"name", "https"}, {"port", port}}})}});
  probeUntil("True ProbeDenied");
}

// --- all of `lastout serve`

class ProbingServerTest : public ServerWorld {
 public:
  ProbingServerTest() {
    callWebhook = [this](const simulator::Webhook& webhook,
                         const std::string& body) -> tl::expected<simulator::WebhookResponse, std::string> {
      if (webhook.name == "sentinel.lastout.dev" && !reaches)
        return tl::unexpected(std::string("it cannot be reached"));
      return caller_.post(webhook, body);
    };
  }
  ~ProbingServerTest() override {
    if (serving) serving->stop(milliseconds(0));
    listener.reset();  // calls the webhook no longer
  }
  void serve() {
    ServerOptions options = serverOptions();
    options.answers.emplace();
    options.webhook = WebhookAddress{};
    options.webhook->authorities = authority.certificate;
    options.probe.period = milliseconds(20);
    options.probe.retry = milliseconds(5);
    options.log = [this](Level level, const std::string&) { alerts += level == Level::Error ? 1 : 0; };
    serving = Server::open(access, std::move(options)).value();
  }
  std::string enforcedIn(const Json& service) const {
    const Json none = Json::object();
    for (const Json& one : service.value("status", none).value("conditions", Json::array())) {
      if (one["type"] == "Enforced")
        return one["status"].get<std::string>() + " " + one["reason"].get<std::string>();
    }
    return "";
  }
  void waitForEnforced(const std::string& wanted) {
    waitUntil([&] {
      const WireAnswer answer = ask({.method = "GET",
                                     .target = "/apis/lastout.dev/v1alpha1/criticalservices/s",
                                     .body = {},
                                     .headers = {}});
      return enforcedIn(answer.json()) == wanted;
    });
  }

  std::atomic<bool> reaches{false};
  std::atomic<int> alerts{0};
  std::unique_ptr<Server> serving;

 private:
  simulator::WebhookClient caller_{{}};
};

TEST_F(ProbingServerTest, EnforcedFollowsTheProbe) {
  createStory();
  serve();
  waitForEnforced("False ProbeFailed");
  reaches = true;
  waitForEnforced("True ProbeDenied");
  EXPECT_EQ(alerts, 0);
  const std::string metrics = [this] {
    client::HttpOptions options;
    options.host = "127.0.0.1";
    options.port = static_cast<uint16_t>(std::stoi(serving->answersUrl().substr(17)));
    options.tls = false;
    client::ApiRequest request;
    request.target = "/metrics";
    return client::fetch(*client::HttpApiServer::open(std::move(options)).value(), request).value().body;
  }();
  EXPECT_THAT(metrics, HasSubstr("lastout_probe_last_result{address=\"https://127.0.0.1:" +
                                 std::to_string(port) + "\",result=\"denied\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("lastout_probes_total{result=\"failed\"}"));
}

}  // namespace
}  // namespace lastout::server

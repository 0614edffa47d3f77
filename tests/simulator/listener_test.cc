// What clients send wrongly, over a real connection: each gets the API server's kind of answer.
#include "simulator/listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "tests/simulator/wire.h"

namespace lastout::simulator {
namespace {

using lastout::testing::WireAnswer;
using lastout::testing::WireConnection;
using lastout::testing::WireRequest;
using lastout::testing::WireTest;
using ::testing::HasSubstr;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kDeployments = "/apis/apps/v1/namespaces/default/deployments";
constexpr const char* kWebhooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
constexpr const char* kJson = "Content-Type: application/json";
constexpr const char* kMergePatch = "Content-Type: application/merge-patch+json";
constexpr const char* kJsonPatch = "Content-Type: application/json-patch+json";

Json configMap(const std::string& name) {
  return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}};
}

Json webhookConfiguration(const Json& webhook) {
  return {{"apiVersion", "admissionregistration.k8s.io/v1"},
          {"kind", "ValidatingWebhookConfiguration"},
          {"metadata", {{"name", "hook"}}},
          {"webhooks", Json::array({webhook})}};
}

ListenerOptions withPatience(int seconds) {
  ListenerOptions options;
  options.slowestSeconds = seconds;
  return options;
}

class ListenerTest : public WireTest {
 public:
  ListenerTest() : WireTest(withPatience(30)) { create(kMaps, configMap("there")); }
  const std::string kThere = std::string(kMaps) + "/there";
};

// With a listener that drops a client soon.
class ImpatientListenerTest : public WireTest {
 public:
  ImpatientListenerTest() : WireTest(withPatience(1)) { create(kMaps, configMap("there")); }
};

TEST_F(ListenerTest, RefusesBodiesThatItCannotRead) {
  expectStatus(400, {"POST", kMaps, "{\"kind\":", {kJson}});
  expectStatus(400, {"POST", kMaps, "", {kJson}});
  expectStatus(400, {"POST", kMaps, "[]", {kJson}});
  expectStatus(400, {"POST", kMaps, "{\"a\":\"\xff\xfe\"}", {kJson}});
  expectStatus(400, {"POST", kMaps, std::string("{\"a\":\0}", 7), {kJson}});
  expectStatus(400, {"POST", kMaps, std::string(100'000, '['), {kJson}});
  expectStatus(415, {"POST", kMaps, "{}", {"Content-Type: text/plain"}});
  expectStatus(415, {"POST", kMaps, "--b--", {"Content-Type: multipart/form-data; boundary=b"}});
  expectStatus(415, {"POST", kMaps, "a=b", {"Content-Type: application/x-www-form-urlencoded"}});
  expectStatus(400, {"DELETE", kThere, "{", {kJson}});
}

TEST_F(ListenerTest, RefusesBodiesThatAreTooLarge) {
  const std::string large(ListenerOptions{}.mostBody + 1, ' ');
  EXPECT_EQ(expectStatus(413, {"POST", kMaps, large, {kJson}})["reason"], "RequestEntityTooLarge");
  char size[20];
  std::snprintf(size, sizeof(size), "%zx\r\n", large.size());
  WireConnection inChunks(port, &admin);
  inChunks.send("POST " + std::string(kMaps) +
                " HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n" + size + large +
                "\r\n0\r\n\r\n");
  EXPECT_EQ(inChunks.readToEnd().status, 413);
}

TEST_F(ListenerTest, KnowsNoPathThatIsNone) {
  for (const std::string path :
       {"/api/v1/namespaces/%zz", "/api/v1/nonsense", "/..", "//", "/%00", "/%2e%2e"})
    EXPECT_EQ(ask({"GET", path, "", {}}).status, 404) << path;
  EXPECT_EQ(ask({"GET", "/api/v1/" + std::string(3000, 'x'), "", {}}).status, 404);
  EXPECT_EQ(ask({"GET", "/api/v1/" + std::string(8000, 'x'), "", {}}).status, 404);
  expectStatus(414, {"GET", "/api/v1/" + std::string(9000, 'x'), "", {}});
  expectStatus(404, {"GET", std::string(kMaps) + "/%ff%fe", "", {}});
  expectStatus(404, {"GET", std::string(kMaps) + "/absent", "", {}});
}

TEST_F(ListenerTest, RefusesQueriesThatMeanNothing) {
  for (const std::string query :
       {"labelSelector=a%20in%20(", "labelSelector=%ff", "fieldSelector=nope", "fieldSelector=a%3Db",
        "limit=many", "limit=99999999999999999999", "continue=nonsense", "resourceVersion=-1"})
    expectStatus(400, {"GET", std::string(kMaps) + "?" + query, "", {}});
  expectStatus(422, {"DELETE", kThere + "?dryRun=Some", "", {}});
  expectStatus(422, {"DELETE", kThere + "?propagationPolicy=Sideways", "", {}});
}

TEST_F(ListenerTest, ToldOfAVersionThatIsYetToComeItSaysSo) {
  const std::string exactly = "?resourceVersion=999999999&resourceVersionMatch=Exact";
  EXPECT_EQ(expectStatus(504, {"GET", kMaps + exactly, "", {}})["reason"], "Timeout");
  EXPECT_THAT(ask({"GET", std::string(kMaps) + "?watch=1&resourceVersion=999999999", "", {}}).body,
              HasSubstr("\"ERROR\""));
}

TEST_F(ListenerTest, RefusesPatchesThatDoNotFit) {
  expectStatus(415, {"PATCH", kThere, "{}", {kJson}});
  expectStatus(400, {"PATCH", kThere, "{", {kMergePatch}});
  expectStatus(400, {"PATCH", kThere, "{}", {kJsonPatch}});
  expectStatus(422, {"PATCH", kThere, R"([{"op":"test","path":"/data","value":1}])", {kJsonPatch}});
  expectStatus(404, {"PATCH", std::string(kMaps) + "/absent", "{}", {kMergePatch}});
}

// As recorded in rest/052: what is quoted within a quoted text is marked.
TEST_F(ListenerTest, WarnsInAHeader) {
  const Json version = {{"name", "v1"},
                        {"served", true},
                        {"storage", true},
                        {"schema", {{"openAPIV3Schema", {{"type", "object"}}}}}};
  create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
         {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "things.x.dev"}}},
          {"spec",
           {{"group", "x.dev"},
            {"names", {{"kind", "Thing"}, {"plural", "things"}}},
            {"scope", "Cluster"},
            {"versions", Json::array({version})}}}});
  const std::string thing = R"({"apiVersion":"x.dev/v1","kind":"Thing","metadata":{"name":"a"},"colour":1})";
  const WireAnswer answer = ask({"POST", "/apis/x.dev/v1/things", thing, {kJson}});
  EXPECT_EQ(answer.status, 201) << answer.body;
  EXPECT_THAT(answer.head, HasSubstr(R"(Warning: 299 - "unknown field \"colour\"")"));
}

TEST_F(ListenerTest, AllowsNoOtherMethods) {
  for (const char* method : {"OPTIONS", "TRACE", "FETCH", "PROPFIND", "get"})
    EXPECT_EQ(expectStatus(405, {method, kMaps, "", {}})["reason"], "MethodNotAllowed") << method;
  expectStatus(405, {"PUT", kMaps, "{}", {kJson}});
  const WireAnswer head = ask({"HEAD", kMaps, "", {}});
  EXPECT_EQ(head.status, 405);
  EXPECT_EQ(head.body, "");
}

TEST_F(ListenerTest, GivesNoFormThatItDoesNotHave) {
  expectStatus(406, {"GET", kMaps, "", {"Accept: text/html"}});
  expectStatus(406, {"GET", kMaps, "", {"Accept: application/json;as=Table;v=v9;g=meta.k8s.io"}});
}

TEST_F(ListenerTest, RefusesWhatIsNoRequest) {
  for (const std::string text :
       {"\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/7.0\r\n\r\n", "\x01\x02\x03\r\n\r\n"}) {
    WireConnection connection(port, &admin);
    connection.send(text);
    EXPECT_EQ(connection.readToEnd().status, 400) << text;
  }
}

TEST_F(ListenerTest, SaysWhatOfAnObjectItCannotHold) {
  Json many = configMap("many");
  for (int i = 0; i < 15; ++i) many["metadata"]["finalizers"].push_back("x.dev/f" + std::to_string(i));
  EXPECT_THAT(expectStatus(422, {"POST", kMaps, many.dump(), {kJson}})["message"], HasSubstr("finalizers"));
  Json owned = configMap("owned");
  for (int i = 0; i < 9; ++i) {
    owned["metadata"]["ownerReferences"].push_back(
        {{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "p"}, {"uid", std::to_string(i)}});
  }
  EXPECT_THAT(expectStatus(422, {"POST", kMaps, owned.dump(), {kJson}})["message"], HasSubstr("owner"));
  const Json labels = {{"a", "b"}};
  const Json container = {{"name", "c"}, {"image", "x.invalid/x:1"}};
  const Json wide = {
      {"apiVersion", "apps/v1"},
      {"kind", "Deployment"},
      {"metadata", {{"name", "wide"}}},
      {"spec",
       {{"replicas", 65},
        {"selector", {{"matchLabels", labels}}},
        {"template",
         {{"metadata", {{"labels", labels}}}, {"spec", {{"containers", Json::array({container})}}}}}}}};
  EXPECT_THAT(expectStatus(422, {"POST", kDeployments, wide.dump(), {kJson}})["message"],
              HasSubstr("replicas"));
}

TEST_F(ListenerTest, RefusesNamesThatAreNone) {
  for (const std::string name : {"A", "a_b", "a/b", "..", "a\nb", "\xc3\xa4", "-", "a%20b"})
    expectStatus(422, {"POST", kMaps, configMap(name).dump(), {kJson}});
  expectStatus(422, {"POST", kMaps, configMap(std::string(300, 'a')).dump(), {kJson}});
  expectStatus(404, {"POST", "/api/v1/namespaces/absent/configmaps", configMap("a").dump(), {kJson}});
  expectStatus(409, {"POST", kMaps, configMap("there").dump(), {kJson}});
}

TEST_F(ListenerTest, RefusesWebhooksThatCannotBeCalled) {
  const std::vector<Json> garbage = {
      Json(17),
      Json::object(),
      {{"name", "a.b.c"}},
      {{"name", "a.b.c"}, {"clientConfig", "x"}},
      {{"name", "a.b.c"}, {"clientConfig", {{"url", "ftp://x"}}}, {"rules", {{{"operations", "ALL"}}}}}};
  for (const Json& webhook : garbage) {
    const WireAnswer answer = ask({"POST", kWebhooks, webhookConfiguration(webhook).dump(), {kJson}});
    EXPECT_TRUE(answer.status == 400 || answer.status == 422) << webhook << "\n" << answer.body;
  }
  create(kMaps, configMap("not-reviewed"));
}

TEST_F(ListenerTest, WritesToATerminatingObjectAsFarAsThatGoes) {
  Json held = configMap("held");
  held["metadata"]["finalizers"] = {"x.dev/held"};
  create(kMaps, held);
  const std::string path = std::string(kMaps) + "/held";
  expectStatus(200, {"DELETE", path, "", {}});
  expectStatus(200, {"PATCH", path, R"({"data":{"a":"b"}})", {kMergePatch}});
  expectStatus(422,
               {"PATCH", path, R"({"metadata":{"finalizers":["x.dev/held","x.dev/b"]}})", {kMergePatch}});
  held["metadata"]["resourceVersion"] = "1";
  expectStatus(409, {"PUT", path, held.dump(), {kJson}});
  expectStatus(200, {"PATCH", path, R"({"metadata":{"finalizers":null}})", {kMergePatch}});
  expectStatus(404, {"GET", path, "", {}});
}

TEST_F(ListenerTest, EmptiesAFullNamespace) {
  create("/api/v1/namespaces",
         {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "full"}}}});
  for (int i = 0; i < 100; ++i)
    create("/api/v1/namespaces/full/configmaps", configMap("m" + std::to_string(i)));
  expectStatus(200, {"DELETE", "/api/v1/namespaces/full", "", {}});
  cluster.runUntil(std::chrono::minutes(10));
  expectStatus(404, {"GET", "/api/v1/namespaces/full", "", {}});
}

TEST_F(ImpatientListenerTest, DropsClientsThatSendNothing) {
  WireConnection noHandshake(port, nullptr);
  WireConnection halfAHeader(port, &admin);
  halfAHeader.send("GET " + std::string(kMaps) + " HTTP/1.1\r\nHost: te");
  WireConnection halfABody(port, &admin);
  halfABody.send("POST " + std::string(kMaps) + " HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\n{");
  expectStatus(200, {"GET", kMaps, "", {}});
  halfAHeader.readToEnd();
  EXPECT_EQ(halfABody.readToEnd().status, 400);
  expectStatus(200, {"GET", kMaps, "", {}});
}

TEST_F(ImpatientListenerTest, DropsAWatchWhoseClientDoesNotRead) {
  WireConnection watch(port, &admin, 4096);
  watch.send(toText(WireRequest{"GET", std::string(kMaps) + "?watch=1", "", {}}));
  EXPECT_THAT(watch.readUntil("}\n\r\n"), HasSubstr("ADDED"));
  EXPECT_EQ(openWatches, 1);
  const std::string filler(900'000, 'x');
  for (int i = 0; i < 16 && openWatches > 0; ++i) {
    const Json patch = {{"data", {{"filler", filler + std::to_string(i)}}}};
    expectStatus(200, {"PATCH", std::string(kMaps) + "/there", patch.dump(), {kMergePatch}});
  }
  waitUntilNoWatchIsOpen();
  expectStatus(200, {"GET", kMaps, "", {}});
}

TEST_F(ListenerTest, ServesOthersWhileManyAreIdle) {
  std::vector<std::unique_ptr<WireConnection>> idle;
  idle.reserve(100);
  for (int i = 0; i < 100; ++i) idle.push_back(std::make_unique<WireConnection>(port, &admin));
  expectStatus(200, {"GET", kMaps, "", {}});
  listener->stop();  // waits for none of them
}

TEST_F(ListenerTest, EndsWithItsWatches) {
  std::vector<std::unique_ptr<WireConnection>> watches;
  for (int i = 0; i < 8; ++i) {
    watches.push_back(std::make_unique<WireConnection>(port, &admin));
    watches.back()->send(toText(WireRequest{"GET", std::string(kMaps) + "?watch=1", "", {}}));
    EXPECT_THAT(watches.back()->readUntil("}\n\r\n"), HasSubstr("ADDED"));
  }
  listener->stop();
  EXPECT_EQ(openWatches, 0);
  for (const auto& watch : watches) watch->readToEnd();
}

// Tells a line, and nothing more until it is ended, however long that takes.
class SilentWatch : public WatchResponse {
 public:
  explicit SilentWatch(std::atomic<bool>& waits) : waits_(waits) {}

  std::optional<std::string> next(std::chrono::milliseconds /*patience*/) override {
    if (!std::exchange(hasTold_, true)) return "told\n";
    waits_ = true;
    waits_.notify_all();
    isEnded_.wait(false);
    return std::nullopt;
  }
  void end() override {
    isEnded_ = true;
    isEnded_.notify_all();
  }

 private:
  std::atomic<bool>& waits_;
  bool hasTold_ = false;
  std::atomic<bool> isEnded_{false};
};

TEST_F(ListenerTest, EndsAWatchThatWaits) {
  std::atomic<bool> waits{false};
  serve([&waits](const ExchangeRequest&) {
    ExchangeResponse response;
    response.stream = std::make_unique<SilentWatch>(waits);
    return response;
  });
  WireConnection watch(port, &admin);
  watch.send(toText(WireRequest{"GET", kMaps, "", {}}));
  EXPECT_THAT(watch.readUntil("told\n\r\n"), HasSubstr("told"));
  waits.wait(false);
  listener->stop();
  EXPECT_EQ(watch.readUntil(""), "") << "it is cut off";
}

}  // namespace
}  // namespace lastout::simulator

// What lastout serve tells over HTTP, asked over HTTP, beside an embedded cluster.
#include "server/question_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "client/api_server.h"
#include "client/http.h"
#include "server/server.h"
#include "tests/net/http_world.h"
#include "tests/protection/policies.h"
#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::Json;
using lastout::testing::kCoolResources;
using lastout::testing::kProvider;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class QuestionServerTest : public lastout::testing::ServerWorld {
 public:
  // `address`: where answers are given.
  void serve(const std::string& address = "127.0.0.1",
             std::optional<CertificateSecretOptions> certificates = std::nullopt) {
    ServerOptions options = serverOptions();
    options.roles.controller = false;
    options.version = "1.2.3";
    options.answers.emplace();
    options.answers->http.address = address;
    options.answers->http.identity = options.http.identity;
    options.certificates = std::move(certificates);
    serving = Server::open(access, std::move(options)).value();
    const std::string url = serving->answersUrl();
    isTls = url.starts_with("https://");
    answersPort = std::stoi(url.substr(url.rfind(':') + 1));
  }
  // With the story, known.
  void serveTheStory() {
    createStory();
    serve();
    waitUntil([this] { return serving->isReady(); });
    waitUntil([this] { return serving->view().knowledge(kCoolResources) == graph::Knowledge::Synced; });
    waitUntil([this] { return serving->view().knowledge(kProvider.type) == graph::Knowledge::Synced; });
  }

  std::unique_ptr<client::HttpApiServer> clientOf(int to, bool tls) const {
    client::HttpOptions options;
    options.host = "127.0.0.1";
    options.port = static_cast<uint16_t>(to);
    options.tls = tls;
    options.authorities = authority.certificate;
    return client::HttpApiServer::open(std::move(options)).value();
  }
  client::WholeAnswer request(const std::string& method, const std::string& target,
                              const std::string& token = "") const {
    client::ApiRequest request;
    request.method = method;
    request.target = target;
    if (!token.empty()) request.authorization = "Bearer " + token;
    return client::fetch(*clientOf(answersPort, isTls), request).value();
  }
  client::WholeAnswer get(const std::string& target, const std::string& token = "") const {
    return request("GET", target, token);
  }
  Json json(const std::string& target) const {
    const auto whole = get(target);
    EXPECT_EQ(whole.answer.status, 200) << whole.body;
    return Json::parse(whole.body, nullptr, false);
  }
  // The response to a review that is sent as an API server sends it.
  Json review(const kube::ObjectKey& key) const {
    client::ApiRequest request;
    request.method = "POST";
    request.target = "/review";
    request.contentType = "application/json";
    request.body =
        Json({{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", deletion(key)}})
            .dump();
    const auto whole = client::fetch(*clientOf(serving->port(), true), request).value();
    return Json::parse(whole.body, nullptr, false)["response"];
  }
  bool metricsSay(const std::string& line) const {
    return get("/metrics").body.find("\n" + line + "\n") != std::string::npos;
  }

  std::unique_ptr<Server> serving;
  int answersPort = 0;
  bool isTls = false;
};

TEST_F(QuestionServerTest, MetricsTellWhatHasHappened) {
  serveTheStory();
  EXPECT_EQ(review(kProvider)["allowed"], false);
  const std::string denied =
      R"(lastout_verdicts_total{operation="DELETE",outcome="denied",reason="CriterionUnmet"} )";
  EXPECT_TRUE(metricsSay(denied + "1")) << get("/metrics").body;
  EXPECT_TRUE(metricsSay(R"(lastout_watched_objects{type="coolresources.my.crd.group"} 1)"));
  EXPECT_TRUE(metricsSay(R"(lastout_watched_type_known{type="coolresources.my.crd.group"} 1)"));
  EXPECT_TRUE(metricsSay("lastout_ready 1"));
  EXPECT_TRUE(metricsSay("lastout_certificate_expiry_timestamp_seconds 4102444800"));
  EXPECT_THAT(get("/metrics").body, Not(HasSubstr("lastout_leader"))) << "it was given no Lease";
  EXPECT_TRUE(metricsSay(R"(lastout_build_info{version="1.2.3"} 1)"));
  EXPECT_TRUE(metricsSay(R"(lastout_confirming_reads_total{outcome="free"} 0)"));

  clearTheWay();
  waitUntilClear(serving->view());
  // A type that goes between two answers of discovery is not known for a moment.
  waitUntil([this] { return review(kProvider)["allowed"] == true; });
  EXPECT_TRUE(
      metricsSay(R"(lastout_verdicts_total{operation="DELETE",outcome="allowed",reason="CriteriaMet"} 1)"));
  // It was confirmed; who waited for a read may be faster than who counts it.
  waitUntil([this] { return !metricsSay(R"(lastout_confirming_reads_total{outcome="free"} 0)"); });
  const std::string confirmed = R"(lastout_verdict_duration_seconds_count{confirmed="true"} )";
  EXPECT_THAT(get("/metrics").body, HasSubstr(confirmed));
  EXPECT_FALSE(metricsSay(confirmed + "0")) << "a denial of that moment may be confirmed, too";
}

TEST_F(QuestionServerTest, AWatchThatFailsIsCounted) {
  serveTheStory();
  EXPECT_THAT(get("/metrics").body, Not(HasSubstr("lastout_watch_interruptions_total{")));
  createInstance("second", {});  // after the list, so that a watch tells of it
  waitUntil([this] {
    return serving->view().objectCount(kCoolResources) == 2 && serving->view().isFollowed(kCoolResources);
  });
  listener.reset();
  waitUntil([this] {
    return metricsSay(R"(lastout_watch_interruptions_total{type="coolresources.my.crd.group"} 1)");
  });
}

TEST_F(QuestionServerTest, WhatItKnowsIsToldWhereThatIsAnswered) {
  serveTheStory();
  EXPECT_THAT(get("/readyz/verbose").body,
              AllOf(HasSubstr("ready\n"), HasSubstr("coolresources.my.crd.group: Synced, 1 object\n")));
  client::ApiRequest stranger;
  stranger.target = "/readyz";
  EXPECT_EQ(client::fetch(*clientOf(serving->port(), true), stranger).value().body, "ready\n");
}

// Nobody can make a Secret in a namespace that is not there.
TEST_F(QuestionServerTest, ACertificateThatIsMissingIsToldWhereThatIsAnswered) {
  CertificateSecretOptions certificates;
  certificates.namespaceName = "nowhere";
  certificates.name = "lastout-tls";
  certificates.names = {{"lastout.nowhere.svc"}, {}};
  certificates.clock = [] { return int64_t{1'760'000'000}; };
  createStory();
  serve("127.0.0.1", std::move(certificates));
  waitUntil([this] { return serving->health().knowsCluster; });
  const client::WholeAnswer verbose = get("/readyz/verbose");
  EXPECT_EQ(verbose.answer.status, 503);
  EXPECT_THAT(verbose.body, AllOf(HasSubstr("not ready\nthe certificate in the Secret is missing"),
                                  Not(HasSubstr("too little"))));
}

TEST(HealthRoutes, SayWhatIsMissingAndNoMore) {
  Health health;
  const auto routes = healthRoutes([&health] { return health; });
  const auto ready = std::ranges::find(routes, "/readyz", &net::HttpRoute::path);
  EXPECT_EQ(ready->handler({}).status, 503);
  EXPECT_EQ(ready->handler({}).body, "not ready: cluster certificate\n");
  health.hasCertificate = true;
  EXPECT_EQ(ready->handler({}).body, "not ready: cluster\n");
  health.knowsCluster = true;
  EXPECT_EQ(ready->handler({}).status, 200);
  health.isEnding = true;
  EXPECT_EQ(ready->handler({}).status, 503);
  EXPECT_EQ(ready->handler({}).body, "not ready: ending\n");
}

TEST_F(QuestionServerTest, WhySaysWhatTheDenialSays) {
  serveTheStory();
  const Json why = json("/why?ref=deployment%2Fprovider+-n+default");
  EXPECT_EQ(why["object"], "deployments.apps/default/provider");
  EXPECT_EQ(why["blocked"], true);
  const Json response = review(kProvider);
  EXPECT_EQ(why["verdict"]["message"], response["status"]["message"]);
  const Json& causes = response["status"]["details"]["causes"];
  ASSERT_EQ(why["blockers"].size(), causes.size());
  for (size_t i = 0; i < causes.size(); ++i) EXPECT_EQ(why["blockers"][i]["message"], causes[i]["message"]);
  EXPECT_EQ(why["roots"][0]["message"], "coolresources.my.crd.group/instance");
  EXPECT_EQ(why["roots"][0]["path"],
            (Json{"deployments.apps/default/provider",
                  "finalizer my.crd.group/super-important on coolresources.my.crd.group",
                  "coolresources.my.crd.group/instance"}));
  EXPECT_THAT(get("/why?ref=deployments.apps/default/provider&format=text").body,
              AllOf(HasSubstr("deployments.apps/default/provider: DENY (CriterionUnmet)\n"),
                    HasSubstr(response["status"]["message"])));
}

TEST_F(QuestionServerTest, WhyKnowsWhatIsNotGuarded) {
  serveTheStory();
  EXPECT_EQ(json("/why?ref=coolresources/instance")["blocked"], false);
  const Json pod = json("/why?ref=pods/default/any");
  EXPECT_EQ(pod["present"], false) << "Pods are not followed";
  EXPECT_EQ(pod["verdict"]["reason"], "NotGuarded");
}

// Its type is not followed; the object was read for the policies' sake.
TEST_F(QuestionServerTest, WhyKnowsAnObjectThatWasReadForAPolicy) {
  serveTheStory();
  using lastout::testing::jsonOf;
  create("/apis/lastout.dev/v1alpha1/deletionpolicies",
         jsonOf(protection::policyText(
             "  objects: [{resources: [{resource: configmaps}]}]\n  when: [{label: keep}]\n"
             "  enforcement: Hold\n  hold: {finalizer: example.com/hold}\n")));
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  create(maps,
         jsonOf("{apiVersion: v1, kind: ConfigMap, metadata: {name: held, namespace: default, labels: {keep: "
                "'yes'}, finalizers: [example.com/hold]}}"));
  remove(maps + "/held");
  Json why;
  waitUntil([&] {
    why = json("/why?ref=configmaps/default/held");
    return why["verdict"]["reason"] == "Held";
  });
  EXPECT_EQ(why["present"], true);
  EXPECT_EQ(why["terminating"], true);
  EXPECT_EQ(why["finalizers"], Json({"example.com/hold"}));
  EXPECT_THAT(get("/why?ref=configmaps/default/held&format=text").body,
              AllOf(HasSubstr("it is being deleted already, and keeps finalizer example.com/hold\n"),
                    Not(HasSubstr("it is not there"))));
  EXPECT_EQ(json("/why?ref=configmaps/default/other")["present"], false) << "it was read, and is not there";
}

TEST_F(QuestionServerTest, GraphIsDrawnAsItIsAskedFor) {
  serveTheStory();
  EXPECT_THAT(get("/graph?format=mermaid").body, HasSubstr("\n%% DeletionPolicies are not drawn here: "));
  EXPECT_THAT(get("/graph?format=dot").body, HasSubstr("\n// DeletionPolicies are not drawn here: "));
  const auto idsOf = [](const Json& list) {
    std::vector<std::string> all;
    for (const Json& each : list) all.push_back(each["id"]);
    return all;
  };
  const Json all = json("/graph");
  EXPECT_THAT(idsOf(all["objects"]),
              AllOf(Contains("coolresources.my.crd.group/instance"), Contains("namespaces/kube-system")));
  const Json near = json("/graph?focus=deployment/provider&depth=0");
  EXPECT_THAT(idsOf(near["objects"]), ElementsAre("deployments.apps/default/provider"));
  EXPECT_EQ(near["objects"][0]["verdict"]["allowed"], false);
  EXPECT_THAT(
      idsOf(json("/graph?blocked=true")["objects"]),
      AllOf(Contains("coolresources.my.crd.group/instance"), Not(Contains("namespaces/kube-system"))));
  EXPECT_THAT(idsOf(json("/graph?namespace=kube-system")["objects"]), ElementsAre("namespaces/kube-system"));
  EXPECT_EQ(json("/graph?limit=1")["objects"].size() + json("/graph?limit=1")["conditions"].size(), 1U);
  EXPECT_THAT(get("/graph?format=dot").body, HasSubstr("digraph lastout {"));
  EXPECT_THAT(get("/graph?format=mermaid").body, HasSubstr("flowchart LR"));
}

TEST_F(QuestionServerTest, BadQuestionsAreToldWhatIsWrong) {
  serveTheStory();
  const std::tuple<const char*, int, const char*> questions[] = {
      {"/why", 400, "ref is missing"},
      {"/why?ref=", 400, "ref is missing"},
      {"/why?ref=provider", 400, "is no reference"},
      {"/why?ref=deploymnt/provider", 400, "deployment"},
      {"/why?ref=deployments/default/provder", 404, "did you mean deployments.apps/default/provider?"},
      {"/why?ref=pods/x", 400, "lacks the namespace"},
      {"/why?ref=%zz", 400, "an escape that is none"},
      {"/why?rf=x", 400, "there is no parameter \"rf\"; did you mean \"ref\"?"},
      {"/why?ref=ns/default&format=xml", 400, "it has to be json or text"},
      {"/graph?format=svg", 400, "it has to be json, dot or mermaid"},
      {"/graph?depth=1", 400, "give focus, too"},
      {"/graph?focus=ns/default&depth=-1", 400, "a number from 0 to 1000000"},
      {"/graph?focus=ns/default&depth=1000001", 400, "a number from 0 to 1000000"},
      {"/graph?limit=0", 400, "a number from 1 to 10000"},
      {"/graph?blocked=yes", 400, "true or false"},
      {"/graph?focus=ns/nowhere", 404, "names nothing"},
      {"/nothing", 404, "there is nothing here"}};
  for (const auto& [target, status, words] : questions) {
    const auto whole = get(target);
    EXPECT_EQ(whole.answer.status, status) << target;
    EXPECT_THAT(whole.body, HasSubstr(words)) << target;
  }
  EXPECT_EQ(request("DELETE", "/graph").answer.status, 405);
  const auto head = request("HEAD", "/metrics");
  EXPECT_EQ(head.answer.status, 200);
  EXPECT_EQ(head.body, "");
}

TEST_F(QuestionServerTest, AWebPageCannotAskForItsReader) {
  serveTheStory();
  const auto statusFor = [this](const std::string& host, const std::string& path = "/graph") {
    lastout::testing::RawClient client(answersPort);
    client.send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return lastout::testing::statusOf(client.readAnswer());
  };
  EXPECT_EQ(statusFor("evil.example:" + std::to_string(answersPort)), 403);
  EXPECT_EQ(statusFor("127.0.0.1.evil.example"), 403);
  EXPECT_EQ(statusFor("localhost:" + std::to_string(answersPort)), 200);
  EXPECT_EQ(statusFor("127.0.0.1"), 200);
  EXPECT_EQ(statusFor("[::1]:9090"), 200);
  EXPECT_EQ(statusFor("evil.example", "/readyz/verbose"), 403);
  EXPECT_EQ(statusFor("localhost", "/readyz/verbose"), 200);
}

TEST_F(QuestionServerTest, ElsewhereATokenIsNeeded) {
  serve("0.0.0.0");
  EXPECT_TRUE(isTls);
  EXPECT_EQ(get("/livez").answer.status, 200);
  waitUntil([this] { return get("/readyz").answer.status == 200; });
  EXPECT_EQ(get("/readyz").body, "ready\n") << "and nothing else";
  EXPECT_EQ(get("/readyz/verbose").answer.status, 401);
  EXPECT_EQ(get("/readyz/verbose", "scrapers-token").answer.status, 403);
  EXPECT_THAT(get("/readyz/verbose", "the-token").body, HasSubstr("namespaces: Synced, "));
  EXPECT_EQ(get("/metrics").answer.status, 401);
  EXPECT_EQ(get("/metrics", "of-nobody").answer.status, 401);
  EXPECT_EQ(get("/metrics", "scrapers-token").answer.status, 200);
  EXPECT_EQ(get("/graph", "scrapers-token").answer.status, 403);
  EXPECT_EQ(get("/why?ref=ns/default", "the-token").answer.status, 200);
}

}  // namespace
}  // namespace lastout::server

// Who may write a CriticalService, as an API server with users and rights says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <mutex>

#include "server/review/authorization.h"
#include "tests/client/tls_peer.h"
#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::Json;
using lastout::testing::kProvider;
using lastout::testing::PeerConnection;
using lastout::testing::pki;
using lastout::testing::TlsPeer;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ServiceRightsTest : public lastout::testing::ServerWorld {
 public:
  ServiceRightsTest() { createStoryWithoutService(); }

  Json written(const Json& before, const Json& after, const std::string& user) {
    return reviewService(before, after, {{"username", user}, {"groups", {"system:authenticated"}}});
  }
  std::string refusal(const Json& before, const Json& after, const std::string& user = "tenant") {
    const Json response = written(before, after, user);
    if (response["allowed"] == true) return "";
    EXPECT_EQ(response["status"]["code"], 403);
    EXPECT_FALSE(response.contains("warnings")) << "of what is there nothing is told";
    return response["status"]["message"];
  }
  static Json withSpec(const Json& more) {
    Json service = criticalService();
    service["spec"].update(more);
    return service;
  }
};

// The tenant may delete Deployments and Secrets in the namespace, and not the namespace.
TEST_F(ServiceRightsTest, WhoMayNotDeleteTheNamespaceDoesNotHaveItKept) {
  EXPECT_EQ(
      refusal(nullptr, criticalService()),
      "user \"tenant\" cannot delete namespaces/default, which this CriticalService needs its writer to "
      "be allowed: have it written by somebody who is, or grant \"tenant\" these rights");
  EXPECT_EQ(verdicts().back().reason, admission::Reason::Forbidden);
  EXPECT_EQ(refusal(nullptr, criticalService(), "namespace-owner"), "");
  EXPECT_THAT(refusal(nullptr, criticalService(), "stranger"),
              HasSubstr("cannot delete namespaces/default and delete deployments.apps/default/provider,"));
}

TEST_F(ServiceRightsTest, HoldNeedsTheRightToPatchTheProvider) {
  EXPECT_THAT(refusal(criticalService(), withSpec({{"enforcement", "Hold"}}), "namespace-owner"),
              HasSubstr("cannot patch deployments.apps/default/provider,"));
}

TEST_F(ServiceRightsTest, WhatIsListedIsAskedAboutByItself) {
  const Json listing =
      withSpec({{"guard",
                 {{"dependencies",
                   Json::array({{{"resource", "secrets"}, {"namespace", "default"}, {"name", "a"}},
                                {{"resource", "secrets"}, {"namespace", "other"}, {"name", "b"}}})}}}});
  EXPECT_THAT(refusal(criticalService(), listing, "namespace-owner"),
              AllOf(HasSubstr("cannot delete secrets/other/b,"), Not(HasSubstr("secrets/default/a"))));
}

TEST_F(ServiceRightsTest, ManyThatAreLackingAreNotAllAskedAbout) {
  Json dependencies = Json::array();
  for (int i = 0; i < 64; ++i)
    dependencies.push_back({{"resource", "secrets"}, {"namespace", "x"}, {"name", "s" + std::to_string(i)}});
  EXPECT_THAT(refusal(nullptr, withSpec({{"guard", {{"dependencies", dependencies}}}}), "namespace-owner"),
              HasSubstr("and delete secrets/x/s12 (no others were asked about), which"));
}

TEST_F(ServiceRightsTest, AnUnrelatedChangeAsksForNothing) {
  rights->stop();
  const Json before = criticalService();
  Json after = before;
  after["metadata"]["labels"] = {{"a", "b"}};
  EXPECT_EQ(refusal(before, after, "stranger"), "");
  EXPECT_EQ(refusal(before, withSpec({{"deletionIntent", "OrphanResources"}}), "stranger"), "");
}

TEST_F(ServiceRightsTest, WhereItCannotBeFoundOutNothingIsWritten) {
  rights->stop();
  EXPECT_THAT(refusal(nullptr, criticalService(), "namespace-owner"),
              AllOf(HasSubstr("whether user \"namespace-owner\" may do"), HasSubstr("cannot be found out")));
  EXPECT_EQ(verdicts().back().reason, admission::Reason::Unconfirmed);
}

TEST_F(ServiceRightsTest, AMistakeIsToldBeforeAnybodyIsAsked) {
  rights->stop();
  EXPECT_THAT(written(nullptr, withSpec({{"criteria", Json::array()}}), "tenant")["status"]["message"],
              HasSubstr("spec.criteria is empty"));
}

TEST_F(ServiceRightsTest, ALargeOneIsRefused) {
  Json large = criticalService();
  large["metadata"]["labels"] = {{"a", std::string(70'000, 'x')}};
  EXPECT_THAT(refusal(nullptr, large), HasSubstr("at most 65536 are read"));
  Json changed = criticalService();
  changed["metadata"]["annotations"] = large["metadata"]["labels"];
  EXPECT_EQ(refusal(criticalService(), changed), "") << "an annotation is not read";
}

class AuditedRightsTest : public lastout::testing::ServerWorld {
 public:
  AuditedRightsTest() : ServerWorld({.reviews = {.auditOnly = true}}) {}
};

TEST_F(AuditedRightsTest, AreMissedAloud) {
  const Json response = reviewService(nullptr, criticalService(), {{"username", "stranger"}});
  EXPECT_TRUE(response["allowed"]);
  EXPECT_THAT(response["warnings"].dump(),
              HasSubstr("it would deny this: user \\\"stranger\\\" cannot delete"));
}

// At an API server that answers everything with what a test says.
class AskedRightsTest : public ::testing::Test {
 public:
  AskedRightsTest() {
    client::ConnectionConfig connection;
    connection.server = {true, "127.0.0.1", peer.port(), ""};
    connection.authority = pki().authority.certificate;
    rights = std::make_unique<ObjectRights>(
        client::Access::open(std::move(connection), [] { return int64_t{0}; }).value());
  }
  ~AskedRightsTest() override { rights->stop(); }

  // What the user lacks of one right on the provider's namespace, and one on the provider.
  kube::Result<std::vector<admission::NeededRight>> lacking(int status, const Json& body) {
    {
      const std::lock_guard lock(mutex_);
      status_ = status;
      body_ = body.dump();
    }
    const std::string user =
        Json{{"username", "jane"}, {"uid", "7"}, {"groups", {"ops"}}, {"extra", {{"scopes", {"a"}}}}}.dump();
    return rights->lacking(&user, {{"delete", {{"", "namespaces"}, "", "default"}}, {"patch", kProvider}},
                           std::chrono::steady_clock::now() + std::chrono::hours(1));
  }
  std::vector<Json> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

  TlsPeer peer{[this](PeerConnection& connection) {
    for (std::string text = connection.request(); !text.empty(); text = connection.request()) {
      const std::lock_guard lock(mutex_);
      asked_.push_back(Json::parse(text.substr(text.find("\r\n\r\n") + 4))["spec"]);
      connection.send("HTTP/1.1 " + std::to_string(status_) +
                      " Said\r\nContent-Type: application/json\r\nContent-Length: " +
                      std::to_string(body_.size()) + "\r\n\r\n" + body_);
    }
  }};
  std::unique_ptr<ObjectRights> rights;

 private:
  std::mutex mutex_;
  int status_ = 201;
  std::string body_;
  std::vector<Json> asked_;
};

// A request for a Namespace is one in that namespace: so API servers let Roles grant it.
TEST_F(AskedRightsTest, AreAskedForWithAllThatIsKnownOfTheUser) {
  const auto none = lacking(201, {{"status", {{"allowed", true}}}});
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_TRUE(none->empty());
  Json user = {{"user", "jane"}, {"uid", "7"}, {"groups", {"ops"}}, {"extra", {{"scopes", {"a"}}}}};
  Json onProvider = user;
  user["resourceAttributes"] = {{"verb", "delete"},
                                {"group", ""},
                                {"resource", "namespaces"},
                                {"namespace", "default"},
                                {"name", "default"}};
  onProvider["resourceAttributes"] = {{"verb", "patch"},
                                      {"group", "apps"},
                                      {"resource", "deployments"},
                                      {"namespace", "default"},
                                      {"name", "provider"}};
  EXPECT_THAT(asked(), ElementsAre(user, onProvider));
}

TEST_F(AskedRightsTest, AreLackingUnlessTheyAreAllowed) {
  EXPECT_EQ(lacking(201, {{"status", {{"allowed", true}, {"denied", true}}}})->size(), 2U);
  EXPECT_EQ(lacking(201, {{"status", {{"evaluationError", "who knows"}}}})->size(), 2U);
}

TEST_F(AskedRightsTest, AreNotKnownWhereTheApiServerDoesNotSay) {
  EXPECT_FALSE(lacking(201, {{"spec", 1}}));
  EXPECT_FALSE(lacking(201, "no review"));
  EXPECT_THAT(lacking(403, {{"kind", "Status"},
                            {"status", "Failure"},
                            {"code", 403},
                            {"reason", "Forbidden"},
                            {"message", "cannot create resource \"subjectaccessreviews\""}})
                  .error()
                  .message,
              HasSubstr("cannot create resource"));
}

TEST_F(AskedRightsTest, AreNotAskedForWhenNoTimeIsLeft) {
  const std::string user = "{}";
  const auto late = rights->lacking(&user, {{"patch", kProvider}}, std::chrono::steady_clock::now());
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().message, HasSubstr("took too long"));
  EXPECT_TRUE(asked().empty());
}

}  // namespace
}  // namespace lastout::server

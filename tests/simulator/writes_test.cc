// What happens between the request for a write and its commit: reviews, races, refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulator/webhook_fixture.h"

namespace lastout::simulator {
namespace {

using std::chrono::seconds;

constexpr const char* kApply = "application/apply-patch+yaml";
const std::string kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

Json widget(const std::string& name) {
  return {{"apiVersion", "example.com/v1"}, {"kind", "Widget"}, {"metadata", {{"name", name}}}};
}

class WritesTest : public testing::WebhookClusterTest {
 public:
  // Happens while the first such request is reviewed.
  void meanwhile(const std::string& resource, const std::string& operation,
                 const std::function<void()>& what) {
    validate(resource, operation, [what, happened = false](const Json&) mutable {
      if (!std::exchange(happened, true)) what();
      return allow();
    });
  }
};

TEST_F(WritesTest, AFieldManagerIsPrintableAndShort) {
  validate("configmaps", "CREATE", [](const Json&) { return allow(); });
  validate("configmaps", "CREATE", [](const Json&) { return allow(); });
  for (const std::string& name :
       {std::string("\xff"), std::string("a\nb"), std::string("\xC2\x85"), std::string(129, 'a')}) {
    const Json refused = expect(422, "POST", kMaps + "?fieldManager=" + name, configMap("a"));
    EXPECT_EQ(refused["details"]["causes"][0]["field"], "fieldManager") << name;
  }
  expect(201, "POST", kMaps + "?fieldManager=" + std::string(128, 'a'), configMap("a"));
  expect(201, "POST", kMaps + "?fieldManager=kubectl-\xC3\xA9", configMap("b"));
}

// A PUT says which object it means by its uid; in a patch that is a field like others, which never changes.
TEST_F(WritesTest, AUidNeverChanges) {
  createWidgets({{"type", "object"}});
  expect(201, "POST", kMaps, configMap("a"));
  expect(201, "POST", kWidgets, widget("a"));
  const Json other = {{"metadata", {{"uid", "other"}}}};
  const Json operations = {{{"op", "replace"}, {"path", "/metadata/uid"}, {"value", "other"}}};
  for (const std::string& path : {kMaps + "/a", kWidgets + "/a"}) {
    const Json before = expect(200, "GET", path);
    for (const Json& refused : {expect(422, "PATCH", path, other, kMerge),
                                expect(422, "PATCH", path, operations, "application/json-patch+json")}) {
      EXPECT_EQ(refused["reason"], "Invalid");
      EXPECT_EQ(refused["details"]["causes"][0]["field"], "metadata.uid");
      EXPECT_EQ(refused["details"]["causes"][0]["message"], "Invalid value: \"other\": field is immutable");
    }
    Json whole = before;
    whole["metadata"]["uid"] = "other";
    EXPECT_EQ(expect(409, "PUT", path, whole)["reason"], "Conflict");
    EXPECT_EQ(expect(200, "GET", path), before);
    expect(200, "PATCH", path, {{"metadata", {{"uid", before["metadata"]["uid"]}}}}, kMerge);
  }
}

// Where a type's objects are in namespaces an object has no path without one, and the other way round.
TEST_F(WritesTest, NothingHasAPathInTheOtherScope) {
  expect(201, "POST", kMaps, configMap("a"));
  for (const char* method : {"GET", "PUT", "PATCH", "DELETE"}) {
    for (const char* path : {"/api/v1/configmaps/a", "/apis/apps/v1/deployments/d/scale",
                             "/api/v1/namespaces/default/persistentvolumes/v",
                             "/apis/apiextensions.k8s.io/v1/namespaces/default/customresourcedefinitions"}) {
      const ExchangeResponse answer = send(method, path);
      EXPECT_EQ(answer.status, 404) << method << path;
      EXPECT_EQ(answer.body, "404 page not found\n") << method << path;
    }
  }
  expect(200, "GET", "/api/v1/configmaps");
}

TEST_F(WritesTest, VersionZeroIsNone) {
  createWidgets({{"type", "object"}});
  expect(201, "POST", kMaps, configMap("a"));
  expect(201, "POST", kWidgets, widget("a"));
  const Json zero = {{"metadata", {{"resourceVersion", "0"}}}};
  expect(200, "PATCH", kMaps + "/a", zero, kMerge);
  EXPECT_EQ(expect(422, "PATCH", kWidgets + "/a", zero, kMerge)["details"]["causes"][0]["field"],
            "metadata.resourceVersion");
  expect(409, "PATCH", kMaps + "/a", {{"metadata", {{"resourceVersion", "1"}}}}, kMerge);
}

TEST_F(WritesTest, WhatThrowsIsTheAnswerOfOneRequest) {
  for (int i = 0; i < 3; ++i)
    validate("configmaps", "CREATE", [](const Json&) -> Json { throw std::runtime_error("no memory"); });
  EXPECT_EQ(send("POST", kMaps, configMap("a")).status, 500);
  mutate("secrets", "CREATE", [](const Json&) -> Json { throw std::runtime_error("no memory"); });
  EXPECT_EQ(send("POST", "/api/v1/namespaces/default/secrets",
                 {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", "s"}}}})
                .status,
            500);
}

TEST_F(WritesTest, NothingIsCreatedInANamespaceThatWentMeanwhile) {
  createNamespace("bye");
  meanwhile("configmaps", "CREATE", [this] {
    expect(200, "DELETE", "/api/v1/namespaces/bye");
    pass(seconds(60));
    expect(404, "GET", "/api/v1/namespaces/bye");
  });
  expect(404, "POST", "/api/v1/namespaces/bye/configmaps", configMap("a"));
  EXPECT_TRUE(isEmpty({"", "configmaps"}, "bye"));
}

TEST_F(WritesTest, NothingIsCreatedInANamespaceThatTerminatesMeanwhile) {
  createNamespace("bye");
  meanwhile("configmaps", "CREATE", [this] { expect(200, "DELETE", "/api/v1/namespaces/bye"); });
  expect(403, "POST", "/api/v1/namespaces/bye/configmaps", configMap("a"));
}

TEST_F(WritesTest, NothingIsCreatedOfATypeThatWentMeanwhile) {
  createWidgets({{"type", "object"}});
  meanwhile("widgets", "CREATE", [this] {
    expect(200, "DELETE", kDefinitions + "/widgets.example.com");
    pass(seconds(60));
    expect(404, "GET", kDefinitions + "/widgets.example.com");
  });
  expect(404, "POST", kWidgets, widget("w"));
  EXPECT_TRUE(isEmpty({"example.com", "widgets"}, ""));
}

TEST_F(WritesTest, AControllerCreatesNothingInANamespaceThatTerminatesMeanwhile) {
  meanwhile("serviceaccounts", "CREATE", [this] { expect(200, "DELETE", "/api/v1/namespaces/bye"); });
  createNamespace("bye");
  pass(seconds(60));
  expect(404, "GET", "/api/v1/namespaces/bye");
  EXPECT_TRUE(isEmpty({"", "serviceaccounts"}, "bye"));
}

TEST_F(WritesTest, AnUpdateThatChangesNothingIsReviewedAndNotWritten) {
  const Json before = expect(201, "POST", kMaps, configMap("a"));
  int reviews = 0;
  bool allowed = true;
  validate("configmaps", "UPDATE", [&](const Json&) {
    ++reviews;
    return allowed ? allow() : deny("no");
  });
  EXPECT_EQ(expect(200, "PUT", kMaps + "/a", before), before);
  EXPECT_EQ(reviews, 1);
  EXPECT_EQ(expect(200, "GET", kMaps + "/a")["metadata"]["resourceVersion"],
            before["metadata"]["resourceVersion"]);
  allowed = false;
  expect(400, "PATCH", kMaps + "/a", Json::object(), kMerge);
}

TEST_F(WritesTest, OfTwoThatApplyTheSecondUpdates) {
  Json mine = configMap("a");
  mine["data"] = {{"mine", "1"}};
  Json theirs = configMap("a");
  theirs["data"] = {{"theirs", "2"}};
  meanwhile("configmaps", "CREATE",
            [&] { expect(201, "PATCH", kMaps + "/a?fieldManager=b", theirs, kApply); });
  const Json stored = expect(200, "PATCH", kMaps + "/a?fieldManager=a", mine, kApply);
  EXPECT_EQ(stored["data"], (Json{{"mine", "1"}, {"theirs", "2"}}));
}

TEST_F(WritesTest, AnUpdateIsPreparedAnewWhenSomebodyWasFaster) {
  expect(201, "POST", kMaps, configMap("a"));
  meanwhile("configmaps", "UPDATE", [this] {
    expect(200, "PATCH", kMaps + "/a", {{"data", {{"theirs", "2"}}}}, kMerge);
  });
  const Json stored = expect(200, "PATCH", kMaps + "/a", {{"data", {{"mine", "1"}}}}, kMerge);
  EXPECT_EQ(stored["data"], (Json{{"mine", "1"}, {"theirs", "2"}}));
}

TEST_F(WritesTest, SomeNamespacesStay) {
  for (const std::string name : {"default", "kube-system", "kube-public"}) {
    EXPECT_EQ(expect(403, "DELETE", "/api/v1/namespaces/" + name)["message"],
              "namespaces \"" + name + "\" is forbidden: this namespace may not be deleted");
  }
  expect(200, "DELETE", "/api/v1/namespaces/kube-node-lease");
}

// As the namespace controller does: what refuses the content stands in the condition, once for each type.
TEST_F(WritesTest, ANamespaceSaysWhatRefusesItsContent) {
  createNamespace("bye");
  for (const char* name : {"a", "b"})
    expect(201, "POST", "/api/v1/namespaces/bye/configmaps", configMap(name));
  bool allowed = false;
  validate("configmaps", "DELETE", [&](const Json&) { return allowed ? allow() : deny("keep it"); });
  expect(200, "DELETE", "/api/v1/namespaces/bye");
  pass(seconds(60));
  const Json status = expect(200, "GET", "/api/v1/namespaces/bye")["status"];
  const Json& condition = status["conditions"][2];
  EXPECT_EQ(condition["type"], "NamespaceDeletionContentFailure");
  EXPECT_EQ(condition["status"], "True");
  EXPECT_THAT(std::string(condition["message"]),
              ::testing::MatchesRegex("Failed to delete all resource types, 1 remaining: "
                                      "admission webhook \".*\" denied the request: keep it"));
  allowed = true;
  pass(seconds(600));
  expect(404, "GET", "/api/v1/namespaces/bye");
  const kube::MutexLock lock(cluster.plane().mutex);
  EXPECT_TRUE(cluster.plane().refusedContent.empty());
}

// Since 1.33. What its conditions say meanwhile misleads, as those of a real Namespace do (Kubernetes'
// source).
TEST_F(WritesTest, ANamespaceWhosePodsStaySaysThatAllIsDeleted) {
  createNamespace("bye");
  const Json metadata = {{"name", "held"}, {"finalizers", {"example.com/hold"}}};
  expect(201, "POST", "/api/v1/namespaces/bye/pods",
         {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", metadata},
          {"spec", {{"containers", {{{"name", "c"}, {"image", "example.com/c:1"}}}}}}});
  expect(201, "POST", "/api/v1/namespaces/bye/configmaps", configMap("a"));
  expect(200, "DELETE", "/api/v1/namespaces/bye");
  pass(seconds(60));
  EXPECT_FALSE(
      expect(200, "GET", "/api/v1/namespaces/bye/configmaps/a")["metadata"].contains("deletionTimestamp"));
  std::vector<std::string> said;
  const Json status = expect(200, "GET", "/api/v1/namespaces/bye")["status"];
  for (const Json& condition : status["conditions"])
    said.push_back(std::string(condition["status"]) + " " + std::string(condition["reason"]));
  EXPECT_THAT(said, ::testing::ElementsAre("False ResourcesDiscovered", "False ParsedGroupVersions",
                                           "False ContentDeleted", "False ContentRemoved",
                                           "False ContentHasNoFinalizers"));
  expect(200, "PATCH", "/api/v1/namespaces/bye/pods/held", {{"metadata", {{"finalizers", nullptr}}}}, kMerge);
  pass(seconds(60));
  expect(404, "GET", "/api/v1/namespaces/bye");
}

TEST_F(WritesTest, AForegroundDeletionIsOneWrite) {
  expect(201, "POST", kMaps, configMap("a"));
  const Json options = {{"propagationPolicy", "Foreground"}, {"gracePeriodSeconds", 0}};
  const Json foreground = Json::array({"foregroundDeletion"});
  EXPECT_EQ(expect(200, "DELETE", kMaps + "/a?dryRun=All", options)["metadata"]["finalizers"], foreground);
  const uint64_t before = version();
  EXPECT_EQ(expect(200, "DELETE", kMaps + "/a", options)["metadata"]["finalizers"], foreground);
  EXPECT_EQ(version(), before + 1);
}

TEST_F(WritesTest, AnObjectThatTakesTooLongToCheckIsRefused) {
#ifdef LASTOUT_SANITIZED
  GTEST_SKIP() << "two million steps take minutes under a sanitizer, and no other way than a hundred";
#endif
  Json members = Json::array();
  for (int i = 0; i < 100; ++i) members.push_back({{"type", "string"}, {"enum", {"no"}}});
  const Json items = {{"type", "string"}, {"not", {{"anyOf", members}}}};
  createWidgets({{"type", "object"}, {"properties", {{"l", {{"type", "array"}, {"items", items}}}}}});
  Json evil = widget("w");
  evil["l"] = Json(1000, "x");
  expect(201, "POST", kWidgets, evil);
  evil["metadata"]["name"] = "v";
  evil["l"] = Json(20'000, "x");
  const Json refused = expect(422, "POST", kWidgets, evil);
  EXPECT_NE(std::string(refused["message"]).find("takes too long"), std::string::npos);
}

TEST_F(WritesTest, AWorkThatAppliesMoreThanTheMachineHoldsIsRefused) {
  Json many = configMap("many");
  for (int i = 0; i < 20; ++i) many["metadata"]["finalizers"].push_back("a.b/f" + std::to_string(i));
  const Json refused = expect(422, "POST", kMaps, many);
  const Json work =
      expect(422, "POST", "/apis/work.open-cluster-management.io/v1/namespaces/default/manifestworks",
             {{"apiVersion", "work.open-cluster-management.io/v1"},
              {"kind", "ManifestWork"},
              {"metadata", {{"name", "w"}}},
              {"spec", {{"workload", {{"manifests", Json::array({many})}}}}}});
  EXPECT_EQ(work["details"]["causes"], refused["details"]["causes"]);
}

TEST_F(WritesTest, WhatAWebhookMakesTooMuchOfAControllersObjectIsDenied) {
  Json many = Json::array();
  for (int i = 0; i < 20; ++i) many.push_back("a.b/f" + std::to_string(i));
  mutate("configmaps", "CREATE", [&](const Json&) {
    return patch(Json::array({{{"op", "add"}, {"path", "/metadata/finalizers"}, {"value", many}}}));
  });
  expect(201, "POST", "/apis/work.open-cluster-management.io/v1/namespaces/default/manifestworks",
         {{"apiVersion", "work.open-cluster-management.io/v1"},
          {"kind", "ManifestWork"},
          {"metadata", {{"name", "w"}}},
          {"spec", {{"workload", {{"manifests", Json::array({configMap("m")})}}}}}});
  pass(seconds(30));
  expect(404, "GET", kMaps + "/m");
}

// Jane, who may patch ConfigMaps and nothing else.
Users jane() {
  return *parseUsers(R"({users: [{token: t, username: jane, rights: [
    {verbs: [patch], groups: [""], resources: [configmaps]}]}]})",
                     "users.yaml");
}

EmbeddedOptions ofJane() {
  EmbeddedOptions options;
  options.users = jane();
  return options;
}

class LimitedWritesTest : public testing::WebhookClusterTest {
 public:
  LimitedWritesTest() : WebhookClusterTest(ofJane()) {}
};

TEST_F(LimitedWritesTest, WhoAppliesSomethingNewNeedsTheRightToCreate) {
  ExchangeRequest request;
  request.method = "PATCH";
  request.path = kMaps + "/a";
  request.query = {{"fieldManager", "m"}};
  request.contentType = kApply;
  request.body = toText(configMap("a"));
  request.user = *userWithToken(jane(), "t");
  const ExchangeResponse refused = cluster.handle(request);
  EXPECT_EQ(refused.status, 403);
  EXPECT_NE(refused.body.find("cannot create resource"), std::string::npos) << refused.body;
  expect(201, "POST", kMaps, configMap("a"));
  EXPECT_EQ(cluster.handle(request).status, 200);
}

}  // namespace
}  // namespace lastout::simulator

#include "client/discovery.h"

#include <gtest/gtest.h>

#include "client/api_server.h"
#include "kube/encoding.h"
#include "tests/client/recorded_answers.h"

namespace lastout::client {
namespace {

using lastout::testing::OrderedJson;
using lastout::testing::recordedBody;
using lastout::testing::RecordedServer;

OrderedJson groupOf(const std::string& name, const std::vector<std::string>& versions,
                    const std::string& preferred) {
  OrderedJson group = {{"name", name}};
  for (const std::string& version : versions)
    group["versions"].push_back({{"groupVersion", name + "/" + version}, {"version", version}});
  group["preferredVersion"] = {{"groupVersion", name + "/" + preferred}, {"version", preferred}};
  return group;
}

// The recorded groups whose contents were recorded.
class DiscoveryTest : public ::testing::Test {
 protected:
  DiscoveryTest() : groups_(recordedBody("003-discovery-apis")) {
    OrderedJson kept = OrderedJson::array();
    for (const OrderedJson& group : groups_["groups"]) {
      for (const char* name : {"apps", "admissionregistration.k8s.io", "apiextensions.k8s.io"}) {
        if (group["name"] == name) kept.push_back(group);
      }
    }
    groups_["groups"] = kept;
    add(groupOf("my.crd.group", {"v1"}, "v1"));
    server_.answer("/api", "002-discovery-api");
    server_.answer("/api/v1", "004-discovery-core-v1");
    server_.answer("/apis/apps/v1", "005-discovery-apps-v1");
    server_.answer("/apis/apiextensions.k8s.io/v1", "006-discovery-apiextensions-v1");
    server_.answer("/apis/admissionregistration.k8s.io/v1", "007-discovery-admissionregistration-v1");
    server_.answer("/apis/my.crd.group/v1", "012-discovery-crd-group");
  }

  void add(const OrderedJson& group) { groups_["groups"].push_back(group); }
  void serve(const std::string& group, const std::string& version, const OrderedJson& resources) {
    server_.answers["/apis/" + group + "/" + version].body = OrderedJson{
        {"kind", "APIResourceList"},
        {"groupVersion", group + "/" + version},
        {"resources", resources}}.dump();
  }
  kube::Result<Discovery> run() {
    server_.answers["/apis"].body = groups_.dump();
    return discover(server_);
  }

  RecordedServer server_;
  OrderedJson groups_;
};

TEST_F(DiscoveryTest, FindsTheRecordedTypes) {
  const auto found = run();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->gaps.empty());

  const DiscoveredType* deployments = found->find({"apps", "deployments"});
  ASSERT_NE(deployments, nullptr);
  EXPECT_EQ(deployments->type.kind, "Deployment");
  EXPECT_EQ(deployments->type.version, "v1");
  EXPECT_EQ(deployments->type.singular, "deployment");
  EXPECT_EQ(deployments->type.shortNames, std::vector<std::string>{"deploy"});
  EXPECT_TRUE(deployments->type.namespaced && deployments->type.builtIn);
  EXPECT_TRUE(deployments->canGet && deployments->canList && deployments->canWatch);

  const DiscoveredType* cool = found->find({"my.crd.group", "coolresources"});
  ASSERT_NE(cool, nullptr);
  EXPECT_FALSE(cool->type.builtIn);
  EXPECT_EQ(found->types.resolve("cool").value()->kind, "CoolResource");
  EXPECT_EQ(found->types.findKind("my.crd.group", "CoolResource")->type.resource, "coolresources");
  EXPECT_EQ(found->types.resolve("deploy").value()->type, (kube::GroupResource{"apps", "deployments"}));

  EXPECT_FALSE(found->find({"", "namespaces"})->type.namespaced);
  EXPECT_FALSE(found->find({"", "componentstatuses"})->canWatch);
  EXPECT_FALSE(found->find({"", "bindings"})->canList);
  EXPECT_EQ(found->find({"", "pods/status"}), nullptr);
  EXPECT_EQ(found->find({"apps", "podsets"}), nullptr);
}

TEST_F(DiscoveryTest, FindsAsManyTypesAsWereRecorded) {
  const auto found = run();
  ASSERT_TRUE(found);
  size_t types = 0;
  for (const char* name : {"004-discovery-core-v1", "005-discovery-apps-v1", "006-discovery-apiextensions-v1",
                           "007-discovery-admissionregistration-v1", "012-discovery-crd-group"}) {
    const OrderedJson body = recordedBody(name);
    for (const OrderedJson& resource : body["resources"])
      types += resource["name"].get<std::string>().find('/') == std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(found->served.size(), types);
}

TEST_F(DiscoveryTest, AsksAgainOnlyForWhatMayHaveChanged) {
  add(groupOf("away.example.com", {"v1"}, "v1"));
  const auto before = run();
  ASSERT_TRUE(before);
  const auto again = [&](const std::set<std::string>& groups) {
    server_.asked.clear();
    server_.answers["/apis"].body = groups_.dump();
    return discoverAgain(server_, *before, groups).value();
  };
  const std::vector<std::string> always{"/api", "/apis", "/apis/away.example.com/v1"};
  const Discovery same = again({});
  EXPECT_EQ(server_.asked, always) << "of the last it is not known what it serves";
  EXPECT_EQ(same.served.size(), before->served.size());
  EXPECT_EQ(same.find({"my.crd.group", "coolresources"})->type.kind, "CoolResource");
  EXPECT_EQ(same.types.resolve("cool").value()->kind, "CoolResource");

  serve("my.crd.group", "v1", OrderedJson::array());
  EXPECT_NE(again({}).find({"my.crd.group", "coolresources"}), nullptr);
  EXPECT_EQ(again({"my.crd.group"}).find({"my.crd.group", "coolresources"}), nullptr);
  groups_["groups"].erase(groups_["groups"].size() - 2);  // its last type is gone
  EXPECT_EQ(again({}).find({"my.crd.group", "coolresources"}), nullptr);
  add(groupOf("new.example.com", {"v1"}, "v1"));
  again({});
  EXPECT_EQ(server_.asked.back(), "/apis/new.example.com/v1");
}

TEST_F(DiscoveryTest, AGroupThatFailsIsAGapAndTheOthersCount) {
  add(groupOf("metrics.k8s.io", {"v1beta1"}, "v1beta1"));
  add(groupOf("gone.example.com", {"v1"}, "v1"));
  add(groupOf("cut.example.com", {"v1"}, "v1"));
  add(groupOf("odd.example.com", {"v1"}, "v1"));
  server_.answers["/apis/metrics.k8s.io/v1beta1"] = {503, "service unavailable\n"};
  server_.answers["/apis/cut.example.com/v1"] = {200, R"({"kind":"APIResourceList","resources":[)", true};
  server_.answers["/apis/odd.example.com/v1"].body = R"({"kind":"APIResourceList","resources":7})";
  const auto found = run();
  ASSERT_TRUE(found);
  EXPECT_NE(found->find({"apps", "deployments"}), nullptr);
  EXPECT_EQ(found->gapIn("apps"), nullptr);
  ASSERT_NE(found->gapIn("metrics.k8s.io"), nullptr);
  EXPECT_EQ(found->gapIn("metrics.k8s.io")->why,
            "/apis/metrics.k8s.io/v1beta1 answers 503: service unavailable");
  EXPECT_EQ(found->gapIn("gone.example.com")->why,
            "/apis/gone.example.com/v1 answers 404: 404 page not found");
  EXPECT_FALSE(found->mayServeMore("gone.example.com")) << "nobody serves it now";
  EXPECT_TRUE(found->mayServeMore("metrics.k8s.io"));
  EXPECT_TRUE(found->mayServeMore("cut.example.com"));
  EXPECT_FALSE(found->mayServeMore("apps"));
  EXPECT_EQ(found->gapIn("cut.example.com")->why, "the answer was cut off before its end");
  EXPECT_EQ(found->gapIn("odd.example.com")->why, "/apis/odd.example.com/v1 has no resources");
}

TEST_F(DiscoveryTest, PrefersTheServersVersionOfEachType) {
  add(groupOf("many.example.com", {"v1alpha1", "v1", "v2"}, "v1"));
  const auto resource = [](const char* name, const char* kind) {
    return OrderedJson{
        {"name", name}, {"kind", kind}, {"namespaced", false}, {"verbs", {"get", "list", "watch"}}};
  };
  serve("many.example.com", "v1", OrderedJson::array({resource("olds", "Old")}));
  serve("many.example.com", "v2", {resource("olds", "Old"), resource("news", "New")});
  serve("many.example.com", "v1alpha1", nullptr);
  const auto found = run();
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->gaps.empty());
  EXPECT_EQ(found->find({"many.example.com", "olds"})->type.version, "v1");
  EXPECT_EQ(found->find({"many.example.com", "olds"})->versions, (std::vector<std::string>{"v1", "v2"}));
  EXPECT_EQ(found->find({"many.example.com", "news"})->type.version, "v2");
}

TEST_F(DiscoveryTest, AsksForNoPathThatAServerMadeUp) {
  add(groupOf("../../api/v1/secrets?x=", {"v1"}, "v1"));
  add(groupOf("ok.example.com", {"v1/../.."}, "v1/../.."));
  add(groupOf("none.example.com", {}, ""));
  add({{"name", 7}});
  const OrderedJson fine = {{"name", "fines"}, {"kind", "Fine"}, {"namespaced", true}, {"verbs", nullptr}};
  add(groupOf("bad.example.com", {"v1"}, "v1"));
  serve("bad.example.com", "v1",
        {{{"name", "a b"}, {"kind", "A"}, {"namespaced", true}}, {{"name", "bs"}, {"kind", "B"}}, 7, fine});
  const auto found = run();
  ASSERT_TRUE(found);
  for (const std::string& path : server_.asked) EXPECT_EQ(path.find(".."), std::string::npos) << path;
  EXPECT_NE(found->gapIn("ok.example.com"), nullptr);
  EXPECT_NE(found->gapIn("none.example.com"), nullptr);
  EXPECT_NE(found->gapIn("bad.example.com"), nullptr);
  EXPECT_NE(found->find({"bad.example.com", "fines"}), nullptr);
  EXPECT_EQ(found->find({"bad.example.com", "bs"}), nullptr);
}

TEST_F(DiscoveryTest, FailsWithoutTheListsOfGroups) {
  server_.answers["/api"] = {401, recordedBody("043-get-not-found").dump()};
  const auto found = run();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message.rfind("/api answers 401 NotFound: ", 0), 0U) << found.error().message;
  server_.answer("/api", "002-discovery-api");
  groups_ = {{"kind", "Status"}};
  EXPECT_EQ(run().error().message, "/apis answers the kind \"Status\", not APIGroupList");
  groups_ = {{"kind", "APIGroupList"}};
  EXPECT_EQ(run().error().message, "/apis answers no list of groups");
}

ApiRequest get(const std::string& target) {
  ApiRequest request;
  request.target = target;
  return request;
}

TEST(Fetch, TakesNoMoreThanItMay) {
  RecordedServer server;
  server.answers["/x"].body = std::string(1'000, 'x');
  EXPECT_EQ(fetch(server, get("/x"), 1'000).value().body.size(), 1'000U);
  EXPECT_EQ(fetch(server, get("/x"), 999).error().message, "the answer to GET /x is longer than 999 bytes");
  EXPECT_EQ(fetch(server, get("/y")).value().answer.status, 404);
}

TEST(Paths, AreThoseOfTheApi) {
  const kube::ResourceMap& types = kube::ResourceMap::builtIn();
  EXPECT_EQ(collectionPath(*types.find({"", "pods"})), "/api/v1/pods");
  EXPECT_EQ(collectionPath(*types.find({"apps", "deployments"}), "app"),
            "/apis/apps/v1/namespaces/app/deployments");
  EXPECT_EQ(objectPath(*types.find({"", "namespaces"}), "", "app"), "/api/v1/namespaces/app");
  EXPECT_EQ(objectPath(*types.find({"rbac.authorization.k8s.io", "clusterroles"}), "", "system:a/b?c"),
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Aa%2Fb%3Fc");
  EXPECT_EQ(kube::percentEncoded("az09-._~ \xc3\xa4"), "az09-._~%20%C3%A4");
}

}  // namespace
}  // namespace lastout::client

// A client's session with the embedded cluster: objects come, live and go as they do on a real one.
#include "simulator/embedded_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "kube/parse.h"
#include "simulator/control_plane.h"
#include "tests/simulator/cluster_fixture.h"

namespace lastout::simulator {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class EmbeddedClusterTest : public testing::ClusterTest {
 public:
  using ClusterTest::ClusterTest;

  void createCrd() {
    const Json schema = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
    const Json version = {
        {"name", "v1"}, {"served", true}, {"storage", true}, {"schema", {{"openAPIV3Schema", schema}}}};
    expect(201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
           {{"apiVersion", "apiextensions.k8s.io/v1"},
            {"kind", "CustomResourceDefinition"},
            {"metadata", {{"name", "coolresources.my.crd.group"}}},
            {"spec",
             {{"group", "my.crd.group"},
              {"names", {{"kind", "CoolResource"}, {"plural", "coolresources"}}},
              {"scope", "Namespaced"},
              {"versions", Json::array({version})}}}});
  }
  void createInstance(const std::string& name, const Json& finalizers = nullptr) {
    Json instance = {
        {"apiVersion", "my.crd.group/v1"}, {"kind", "CoolResource"}, {"metadata", {{"name", name}}}};
    if (!finalizers.is_null()) instance["metadata"]["finalizers"] = finalizers;
    expect(201, "POST", kInstances, instance);
  }
  void createDeployment(int replicas) {
    const Json container = {{"name", "c"}, {"image", "x.invalid/x:1"}};
    const Json labels = {{"a", "b"}};
    expect(
        201, "POST", kDeployments,
        {{"apiVersion", "apps/v1"},
         {"kind", "Deployment"},
         {"metadata", {{"name", "web"}}},
         {"spec",
          {{"replicas", replicas},
           {"selector", {{"matchLabels", labels}}},
           {"template",
            {{"metadata", {{"labels", labels}}}, {"spec", {{"containers", Json::array({container})}}}}}}}});
  }
  size_t count(const std::string& path) { return expect(200, "GET", path)["items"].size(); }

  const std::string kInstances = "/apis/my.crd.group/v1/namespaces/default/coolresources";
  const std::string kDeployments = "/apis/apps/v1/namespaces/default/deployments";
  const std::string kPods = "/api/v1/namespaces/default/pods";
};

TEST_F(EmbeddedClusterTest, ADeploymentGetsPodsThatBecomeReady) {
  createDeployment(2);
  pass(seconds(5));
  const Json pods = expect(200, "GET", kPods)["items"];
  ASSERT_EQ(pods.size(), 2U);
  EXPECT_EQ(pods[0]["status"]["phase"], "Running");
  const Json status = expect(200, "GET", kDeployments + "/web")["status"];
  EXPECT_EQ(status["readyReplicas"], 2);
  EXPECT_EQ(status["observedGeneration"], 1);
}

TEST_F(EmbeddedClusterTest, NothingChangesOnceAllIsAsItShouldBe) {
  createDeployment(2);
  createCrd();
  pass(seconds(60));
  const uint64_t before = version();
  pass(seconds(600));
  EXPECT_EQ(version(), before);
}

TEST_F(EmbeddedClusterTest, BackgroundDeletionTakesTheDependentsAfterwards) {
  createDeployment(1);
  pass(seconds(5));
  EXPECT_EQ(expect(200, "DELETE", kDeployments + "/web?propagationPolicy=Background")["status"], "Success");
  EXPECT_EQ(count(kPods), 1U);
  pass(seconds(10));
  EXPECT_EQ(count(kPods), 0U);
  EXPECT_EQ(count("/apis/apps/v1/namespaces/default/replicasets"), 0U);
}

TEST_F(EmbeddedClusterTest, ForegroundDeletionTakesTheDependentsFirst) {
  createDeployment(1);
  pass(seconds(5));
  const Json left = expect(200, "DELETE", kDeployments + "/web", {{"propagationPolicy", "Foreground"}});
  EXPECT_EQ(left["metadata"]["finalizers"], Json::array({"foregroundDeletion"}));
  EXPECT_FALSE(left["metadata"]["deletionTimestamp"].is_null());
  pass(seconds(10));
  expect(404, "GET", kDeployments + "/web");
  EXPECT_EQ(count(kPods), 0U);
}

TEST_F(EmbeddedClusterTest, OrphansLoseTheirOwner) {
  createDeployment(1);
  pass(seconds(5));
  expect(200, "DELETE", kDeployments + "/web", {{"propagationPolicy", "Orphan"}});
  pass(seconds(10));
  expect(404, "GET", kDeployments + "/web");
  const Json sets = expect(200, "GET", "/apis/apps/v1/namespaces/default/replicasets")["items"];
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_FALSE(sets[0]["metadata"].contains("ownerReferences"));
}

TEST_F(EmbeddedClusterTest, AFinalizerHoldsAnObjectUntilItIsRemoved) {
  createCrd();
  createInstance("held", Json::array({"my.crd.group/important"}));
  const Json left = expect(200, "DELETE", kInstances + "/held");
  EXPECT_EQ(left["metadata"]["finalizers"], Json::array({"my.crd.group/important"}));
  const Json refused = expect(
      422, "PATCH", kInstances + "/held",
      {{"metadata", {{"finalizers", Json::array({"my.crd.group/important", "x.dev/second"})}}}}, kMerge);
  EXPECT_EQ(refused["reason"], "Invalid");
  expect(200, "PATCH", kInstances + "/held", {{"metadata", {{"finalizers", nullptr}}}}, kMerge);
  expect(404, "GET", kInstances + "/held");
}

TEST_F(EmbeddedClusterTest, ADefinitionTakesItsInstancesAndIsServedUntilItIsGone) {
  createCrd();
  createInstance("plain");
  createInstance("held", Json::array({"my.crd.group/important"}));
  expect(200, "DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/coolresources.my.crd.group");
  pass(seconds(1));
  EXPECT_EQ(count(kInstances), 1U);
  expect(403, "POST", kInstances,
         {{"apiVersion", "my.crd.group/v1"}, {"kind", "CoolResource"}, {"metadata", {{"name", "late"}}}});
  expect(200, "PATCH", kInstances + "/held", {{"metadata", {{"finalizers", nullptr}}}}, kMerge);
  pass(seconds(10));
  EXPECT_EQ(send("GET", kInstances).status, 404);
}

class EmbeddedClusterTestOf126 : public EmbeddedClusterTest {
 public:
  static EmbeddedOptions of126() {
    EmbeddedOptions options;
    options.kubernetes = kube::KubernetesVersion::V1_26;
    return options;
  }
  EmbeddedClusterTestOf126() : EmbeddedClusterTest(of126()) {}
};

// rest/086 of 1.26.
TEST_F(EmbeddedClusterTestOf126, AnInstanceOfATerminatingDefinitionIsNotAllowedAsAMethod) {
  createCrd();
  createInstance("held", Json::array({"my.crd.group/important"}));
  expect(200, "DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/coolresources.my.crd.group");
  pass(seconds(1));
  expect(405, "POST", kInstances,
         {{"apiVersion", "my.crd.group/v1"}, {"kind", "CoolResource"}, {"metadata", {{"name", "late"}}}});
}

// As recorded in crd-end/changes-*.json: no path answers 404 before the CRD's does, and in the end each path
// answers as it did there.
TEST_F(EmbeddedClusterTest, ADefinitionEndsAsItWasRecorded) {
  createCrd();
  expect(200, "DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/coolresources.my.crd.group");
  pass(seconds(10));
  const std::map<std::string, std::string> paths = {
      {"crd", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/coolresources.my.crd.group"},
      {"list", kInstances},
      {"groupVersion", "/apis/my.crd.group/v1"},
      {"group", "/apis/my.crd.group"}};
  for (const char* run : {"with-finalizer", "without-finalizer"}) {
    const auto text =
        kube::readFile("tests/recordings/kubernetes-1.36/crd-end/changes-" + std::string(run) + ".json");
    ASSERT_TRUE(text);
    std::map<std::string, Json> last;
    for (const Json& change : Json::parse(*text)) {
      const bool isNews = last.contains(change["path"]);
      EXPECT_TRUE(!isNews || change["path"] == "crd" || last["crd"][0] == 404) << change;
      last[change["path"]] = change["is"];
    }
    EXPECT_EQ(last["apis"], false);
    for (const auto& [name, path] : paths) {
      const auto answer = send("GET", path);
      EXPECT_EQ(answer.status, last[name][0]) << name;
      const bool isPlain = last[name][1].is_null() && last[name][2].is_string();
      EXPECT_TRUE(!isPlain || answer.body == last[name][2]) << name;
    }
  }
}

// See above; a client may find its group named, and its version gone.
TEST_F(EmbeddedClusterTest, DiscoveryNamesAGroupForASecondAfterItsDefinitionIsGone) {
  createCrd();
  expect(200, "DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/coolresources.my.crd.group");
  cluster.runUntil(now + seconds(10));  // the clock stands
  EXPECT_EQ(send("GET", kInstances).body, "404 page not found\n");
  const std::string group = "/apis/my.crd.group";
  EXPECT_EQ(send("GET", group + "/v1").body, "404 page not found\n");
  cluster.clock().advance(milliseconds(999));
  EXPECT_EQ(expect(200, "GET", group)["versions"][0]["version"], "v1");
  EXPECT_EQ(send("GET", group + "/v1").status, 404);
  cluster.clock().advance(milliseconds(1));
  EXPECT_EQ(send("GET", group).status, 404);
  createCrd();
  EXPECT_EQ(expect(200, "GET", group + "/v1")["resources"].size(), 1U);
}

TEST_F(EmbeddedClusterTest, ANamespaceTakesWhatIsInIt) {
  createNamespace("bye");
  expect(201, "POST", "/api/v1/namespaces/bye/configmaps",
         {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"name", "m"}, {"finalizers", Json::array({"x.dev/held"})}}}});
  pass(seconds(1));
  const Json left = expect(200, "DELETE", "/api/v1/namespaces/bye");
  EXPECT_EQ(left["status"]["phase"], "Terminating");
  expect(403, "POST", "/api/v1/namespaces/bye/configmaps",
         {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "late"}}}});
  pass(seconds(30));
  const Json conditions = expect(200, "GET", "/api/v1/namespaces/bye")["status"]["conditions"];
  EXPECT_EQ(conditions.size(), 5U);
  expect(200, "PATCH", "/api/v1/namespaces/bye/configmaps/m", {{"metadata", {{"finalizers", nullptr}}}},
         kMerge);
  pass(seconds(30));
  expect(404, "GET", "/api/v1/namespaces/bye");
}

TEST_F(EmbeddedClusterTest, AWorkIsAppliedAndTakenAway) {
  createNamespace("cluster1");
  const std::string works = "/apis/work.open-cluster-management.io/v1/namespaces/cluster1/manifestworks";
  Json manifest = {
      {"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "m"}, {"namespace", "default"}}}};
  expect(201, "POST", works,
         {{"apiVersion", "work.open-cluster-management.io/v1"},
          {"kind", "ManifestWork"},
          {"metadata", {{"name", "w"}}},
          {"spec", {{"workload", {{"manifests", Json::array({manifest})}}}}}});
  pass(seconds(30));
  const Json applied = expect(200, "GET", "/api/v1/namespaces/default/configmaps/m");
  EXPECT_EQ(applied["metadata"]["ownerReferences"][0]["kind"], "AppliedManifestWork");
  const Json note =
      expect(200, "GET", "/apis/work.open-cluster-management.io/v1/appliedmanifestworks")["items"][0];
  EXPECT_EQ(note["status"]["appliedResources"][0]["uid"], applied["metadata"]["uid"]);
  expect(200, "DELETE", works + "/w");
  pass(seconds(30));
  expect(404, "GET", works + "/w");
  expect(404, "GET", "/api/v1/namespaces/default/configmaps/m");
  EXPECT_EQ(count("/apis/work.open-cluster-management.io/v1/appliedmanifestworks"), 0U);
}

// spec.deleteOption: the agent owns what the work deletes, and nothing else.
TEST_F(EmbeddedClusterTest, AWorkLeavesBehindWhatItOrphans) {
  createNamespace("cluster1");
  const std::string works = "/apis/work.open-cluster-management.io/v1/namespaces/cluster1/manifestworks";
  const std::string maps = "/api/v1/namespaces/default/configmaps/";
  const auto manifest = [](const char* name) {
    return Json{{"apiVersion", "v1"},
                {"kind", "ConfigMap"},
                {"metadata", {{"name", name}, {"namespace", "default"}}}};
  };
  const Json rule = {{"resource", "configmaps"}, {"namespace", "default"}, {"name", "stays"}};
  expect(201, "POST", works,
         {{"apiVersion", "work.open-cluster-management.io/v1"},
          {"kind", "ManifestWork"},
          {"metadata", {{"name", "w"}}},
          {"spec",
           {{"workload", {{"manifests", {manifest("goes"), manifest("stays"), manifest("later")}}}},
            {"deleteOption",
             {{"propagationPolicy", "SelectivelyOrphan"},
              {"selectivelyOrphans", {{"orphaningRules", Json::array({rule})}}}}}}}});
  pass(seconds(30));
  EXPECT_TRUE(expect(200, "GET", maps + "goes")["metadata"].contains("ownerReferences"));
  EXPECT_TRUE(expect(200, "GET", maps + "later")["metadata"].contains("ownerReferences"));
  EXPECT_FALSE(expect(200, "GET", maps + "stays")["metadata"].contains("ownerReferences"));
  const Json note =
      expect(200, "GET", "/apis/work.open-cluster-management.io/v1/appliedmanifestworks")["items"][0];
  EXPECT_EQ(note["status"]["appliedResources"].size(), 3U) << "it applied all of them";
  // What a work is to leave behind may be said later, and taken back.
  const Json other = {{"resource", "configmaps"}, {"namespace", "default"}, {"name", "later"}};
  expect(200, "PATCH", works + "/w",
         {{"spec", {{"deleteOption", {{"selectivelyOrphans", {{"orphaningRules", Json::array({other})}}}}}}}},
         kMerge);
  pass(seconds(30));
  EXPECT_FALSE(expect(200, "GET", maps + "later")["metadata"].contains("ownerReferences"));
  pass(std::chrono::minutes(10));  // by then the agent has looked at everything again
  EXPECT_TRUE(expect(200, "GET", maps + "stays")["metadata"].contains("ownerReferences"));
  expect(200, "DELETE", works + "/w");
  pass(seconds(60));
  expect(404, "GET", works + "/w");
  expect(404, "GET", maps + "goes");
  expect(404, "GET", maps + "stays");
  EXPECT_FALSE(expect(200, "GET", maps + "later")["metadata"].contains("deletionTimestamp"));
  EXPECT_EQ(count("/apis/work.open-cluster-management.io/v1/appliedmanifestworks"), 0U);
}

TEST_F(EmbeddedClusterTest, AWorkThatOrphansAllDeletesNothing) {
  createNamespace("cluster1");
  const std::string works = "/apis/work.open-cluster-management.io/v1/namespaces/cluster1/manifestworks";
  const Json held = {
      {"apiVersion", "v1"},
      {"kind", "ConfigMap"},
      {"metadata", {{"name", "held"}, {"namespace", "default"}, {"finalizers", {"example.com/x"}}}}};
  Json work = {{"apiVersion", "work.open-cluster-management.io/v1"},
               {"kind", "ManifestWork"},
               {"metadata", {{"name", "w"}}},
               {"spec", {{"workload", {{"manifests", Json::array({held})}}}}}};
  expect(201, "POST", works, work);
  pass(seconds(30));
  // At once, so that the deletion begins before the agent has seen the change.
  expect(200, "PATCH", works + "/w", {{"spec", {{"deleteOption", {{"propagationPolicy", "Orphan"}}}}}},
         kMerge);
  expect(200, "DELETE", works + "/w");
  pass(seconds(60));
  expect(404, "GET", works + "/w");
  const Json left = expect(200, "GET", "/api/v1/namespaces/default/configmaps/held");
  EXPECT_FALSE(left["metadata"].contains("deletionTimestamp"));
  EXPECT_FALSE(left["metadata"].contains("ownerReferences"));
}

TEST_F(EmbeddedClusterTest, PagesAreOfOneMoment) {
  createCrd();
  for (const char* name : {"a", "b", "c", "d"}) createInstance(name);
  const Json first = expect(200, "GET", kInstances + "?limit=2");
  EXPECT_EQ(first["items"].size(), 2U);
  EXPECT_EQ(first["metadata"]["remainingItemCount"], 2);
  expect(200, "DELETE", kInstances + "/c");
  const Json second =
      expect(200, "GET", kInstances + "?limit=2&continue=" + std::string(first["metadata"]["continue"]));
  ASSERT_EQ(second["items"].size(), 2U);
  EXPECT_EQ(second["items"][0]["metadata"]["name"], "c") << "as it was when the first page was made";
  EXPECT_EQ(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
}

TEST_F(EmbeddedClusterTest, AWatchTellsWhatFollows) {
  createCrd();
  createInstance("a");
  ExchangeResponse response = send("GET", kInstances + "?watch=1");
  ASSERT_NE(response.stream, nullptr);
  const auto next = [&] {
    return Json::parse(response.stream->next(milliseconds(0)).value_or("null"), nullptr, false);
  };
  EXPECT_EQ(next()["type"], "ADDED");
  createInstance("b");
  EXPECT_EQ(next()["object"]["metadata"]["name"], "b");
  expect(200, "DELETE", kInstances + "/a");
  const Json deleted = next();
  EXPECT_EQ(deleted["type"], "DELETED");
  EXPECT_EQ(deleted["object"]["metadata"]["name"], "a");
}

// A body of legal size; what the machine cannot hold is refused at once.
TEST_F(EmbeddedClusterTest, ManyFinalizersAreRefusedWhereverTheyStand) {
  Json finalizers = Json::array();
  for (int i = 0; i < 100'000; ++i) finalizers.push_back("e.com/" + std::to_string(i));
  const Json refused = expect(422, "POST", "/api/v1/namespaces/default/configmaps",
                              {{"apiVersion", "v1"},
                               {"kind", "ConfigMap"},
                               {"metadata", {{"name", "m"}, {"finalizers", finalizers}}}});
  EXPECT_EQ(refused["message"],
            "ConfigMap \"m\" is invalid: configmaps/default/m has more than 14 finalizers");
  expect(422, "POST", "/api/v1/namespaces",
         {{"apiVersion", "v1"},
          {"kind", "Namespace"},
          {"metadata", {{"name", "n"}}},
          {"spec", {{"finalizers", finalizers}}}});
}

// As every API server does: what is served is told to those alone who may read it.
TEST(EmbeddedCluster, ForbiddenComesBeforeNotFound) {
  EmbeddedOptions options;
  options.callWebhook = testing::noWebhook();
  const std::string users = R"(
users:
- {username: reader, token: t, rights: [{verbs: [get, list], groups: [my.crd.group], resources: [things]}]}
)";
  options.users = parseUsers(users, "tokens.yaml").value();
  const UserInfo reader = userWithToken(options.users, "t").value();
  EmbeddedCluster cluster(std::move(options));
  ExchangeRequest request;
  request.method = "GET";
  request.user = reader;
  request.path = "/apis/my.crd.group/v1/things";
  EXPECT_EQ(cluster.handle(request).body, "404 page not found\n");
  request.path = "/apis/my.crd.group/v1/others";
  const ExchangeResponse denied = cluster.handle(request);
  EXPECT_EQ(denied.status, 403);
  EXPECT_EQ(Json::parse(denied.body)["reason"], "Forbidden");
}

TEST(EmbeddedCluster, ActsAsWhomItsUserImpersonates) {
  EmbeddedOptions options;
  options.callWebhook = testing::noWebhook();
  options.users = parseUsers(R"(
users:
- {username: helper, token: t, rights: [{verbs: [impersonate], groups: [""], resources: [users], names: [jane]}]}
- {username: jane, rights: [{verbs: [get], groups: [""], resources: [namespaces]}]}
)",
                             "tokens.yaml")
                      .value();
  EmbeddedCluster cluster(std::move(options));
  ExchangeRequest request;
  request.method = "GET";
  request.path = "/api/v1/namespaces/default";
  request.user = userWithToken(parseUsers("users: [{username: helper, token: t}]", "").value(), "t").value();
  EXPECT_EQ(cluster.handle(request).status, 403);
  request.impersonation.username = "jane";
  EXPECT_EQ(cluster.handle(request).status, 200);
  request.impersonation.username = "root";
  EXPECT_EQ(cluster.handle(request).status, 403);
}

using Definitions = testing::ClusterTest;

Json definition(const std::string& plural) {
  Json crd = Json::parse(R"({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "spec": {"group": "x.dev", "scope": "Cluster", "names": {"kind": "Engine", "listKind": "EngineList"},
    "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
      {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})");
  crd["metadata"]["name"] = plural + ".x.dev";
  crd["spec"]["names"]["plural"] = plural;
  crd["spec"]["names"]["singular"] = plural + "one";
  return crd;
}

std::string conditionOf(const Json& crd, const std::string& type) {
  for (const Json& condition : crd["status"]["conditions"]) {
    if (condition["type"] == type) return condition["status"];
  }
  return "none";
}

TEST_F(Definitions, WaitForANameThatAnotherHas) {
  const std::string crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  expect(201, "POST", crds, definition("engines"));
  expect(201, "POST", crds, definition("motors"));
  pass(std::chrono::seconds(5));
  const Json waiting = expect(200, "GET", crds + "/motors.x.dev");
  EXPECT_EQ(conditionOf(waiting, "NamesAccepted"), "False");
  EXPECT_EQ(conditionOf(waiting, "Established"), "False");
  EXPECT_EQ(send("GET", "/apis/x.dev/v1/motors").status, 404);
  expect(200, "DELETE", crds + "/engines.x.dev");
  pass(std::chrono::seconds(30));
  EXPECT_EQ(conditionOf(expect(200, "GET", crds + "/motors.x.dev"), "Established"), "True");
  expect(200, "GET", "/apis/x.dev/v1/motors");
}

// RFC 4122, 4.4: the digit of the version is 4, the two bits of the variant are 10, and all others are
// random.
TEST(NewUid, IsARandomUuid) {
  const auto uidOf = [](std::vector<uint64_t> random) {
    auto next = random.begin();
    const simulator::ControlPlane plane({}, 1,
                                        {.wallClock = {}, .time = {}, .random = [&next] { return *next++; }});
    return plane.newUid();
  };
  EXPECT_EQ(uidOf({0x0123456789abcdef, 0xfedcba9876543210}), "01234567-89ab-4def-bedc-ba9876543210");
  EXPECT_EQ(uidOf({0, 0}), "00000000-0000-4000-8000-000000000000");
  EXPECT_EQ(uidOf({~uint64_t{0}, ~uint64_t{0}}), "ffffffff-ffff-4fff-bfff-ffffffffffff");
}

}  // namespace
}  // namespace lastout::simulator

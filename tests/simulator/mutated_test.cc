// What mutating webhooks make of an object is held to all that a client's write is.
#include <gtest/gtest.h>

#include "tests/simulator/webhook_fixture.h"

namespace lastout::simulator {
namespace {

using std::chrono::seconds;

Json replacing(const std::string& path, const Json& value) {
  return Json::array({{{"op", "add"}, {"path", path}, {"value", value}}});
}

class MutatedTest : public testing::WebhookClusterTest {
 public:
  // Every write of this operation to a ConfigMap is changed in this way from now on.
  void change(const std::string& operation, const std::string& path, const Json& value) {
    mutate("configmaps", operation, [=](const Json&) { return patch(replacing(path, value)); });
  }
  // What a write to the ConfigMap "a" is answered with.
  std::string answered(int status) {
    return expect(status, "PATCH", kMaps + "/a", {{"data", {{"k", "v"}}}}, kMerge)["message"];
  }
};

TEST_F(MutatedTest, ANewObjectMayGetAnotherNameButKeepsItsUid) {
  change("CREATE", "/metadata/name", "b");
  change("CREATE", "/metadata/uid", "11111111-1111-1111-1111-111111111111");
  std::string seen;
  validate("configmaps", "CREATE", [&](const Json& request) {
    seen = request["object"]["metadata"]["uid"];
    return allow();
  });
  EXPECT_EQ(expect(201, "POST", kMaps, configMap("a"))["metadata"]["name"], "b");
  expect(404, "GET", kMaps + "/a");
  EXPECT_EQ(expect(200, "GET", kMaps + "/b")["metadata"]["uid"], seen);
  EXPECT_NE(seen, "11111111-1111-1111-1111-111111111111");
  EXPECT_EQ(expect(409, "POST", kMaps, configMap("a"))["message"], "configmaps \"b\" already exists");
}

TEST_F(MutatedTest, ADryRunSaysWhatTheRunWould) {
  expect(201, "POST", kMaps, configMap("b"));
  change("CREATE", "/metadata/name", "b");
  expect(409, "POST", kMaps + "?dryRun=All", configMap("a"));
}

TEST_F(MutatedTest, WhatCannotBeDecodedIsTheWebhooksFault) {
  change("CREATE", "/data", {{"k", 1}});
  expect(500, "POST", kMaps, configMap("a"));
}

TEST_F(MutatedTest, ANewObjectStaysInItsNamespace) {
  change("CREATE", "/metadata/namespace", "kube-system");
  EXPECT_EQ(expect(400, "POST", kMaps, configMap("a"))["message"],
            "the namespace of the provided object does not match the namespace sent on the request");
}

TEST_F(MutatedTest, AnUpdateKeepsNameAndUid) {
  expect(201, "POST", kMaps, configMap("a"));
  change("UPDATE", "/metadata/name", "b");
  EXPECT_NE(answered(422).find("metadata.name: Invalid value: \"b\": field is immutable"), std::string::npos);
  expect(404, "GET", kMaps + "/b");
}

TEST_F(MutatedTest, AnUpdateKeepsItsUid) {
  expect(201, "POST", kMaps, configMap("a"));
  change("UPDATE", "/metadata/uid", "x");
  EXPECT_EQ(answered(422),
            "ConfigMap \"a\" is invalid: metadata.uid: Invalid value: \"x\": field is immutable");
}

TEST_F(MutatedTest, WhatIsNoObjectOfItsTypeIsAnError) {
  expect(201, "POST", kMaps, configMap("a"));
  change("UPDATE", "/metadata", 5);
  EXPECT_NE(answered(500).find("cannot unmarshal number into Go struct field ObjectMeta.metadata"),
            std::string::npos);
}

TEST_F(MutatedTest, LabelsAreTexts) {
  expect(201, "POST", kMaps, configMap("a"));
  change("UPDATE", "/metadata/labels", Json{{"a", 1}});
  EXPECT_NE(answered(500).find("Internal error occurred: "), std::string::npos);
}

TEST_F(MutatedTest, ATerminatingObjectGetsNoNewFinalizers) {
  Json held = configMap("a");
  held["metadata"]["finalizers"] = Json::array({"a.b/one"});
  expect(201, "POST", kMaps, held);
  expect(200, "DELETE", kMaps + "/a");
  change("UPDATE", "/metadata/finalizers", Json::array({"a.b/one", "a.b/two"}));
  EXPECT_NE(answered(422).find("no new finalizers can be added if the object is being deleted"),
            std::string::npos);
}

TEST_F(MutatedTest, ASchemaHoldsForThem) {
  const Json schema = {{"type", "object"},
                       {"properties", {{"size", {{"type", "integer"}}}, {"kept", {{"type", "string"}}}}}};
  createWidgets(schema);
  Json widget = {{"apiVersion", "example.com/v1"}, {"kind", "Widget"}, {"metadata", {{"name", "w"}}}};
  Json operations = replacing("/unknown", "x");
  mutate("widgets", "CREATE", [&](const Json&) { return patch(operations); });
  EXPECT_FALSE(expect(201, "POST", kWidgets, widget).contains("unknown"));
  operations = replacing("/size", "large");
  widget["metadata"]["name"] = "v";
  EXPECT_NE(std::string(expect(422, "POST", kWidgets, widget)["message"]).find("size"), std::string::npos);
}

TEST_F(MutatedTest, OfAScaleTheReplicasCount) {
  const Json container = {{"name", "c"}, {"image", "x.invalid/x:1"}};
  const Json labels = {{"a", "b"}};
  const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";
  expect(201, "POST", deployments,
         {{"apiVersion", "apps/v1"},
          {"kind", "Deployment"},
          {"metadata", {{"name", "web"}}},
          {"spec",
           {{"selector", {{"matchLabels", labels}}},
            {"template",
             {{"metadata", {{"labels", labels}}}, {"spec", {{"containers", Json::array({container})}}}}}}}});
  mutate("deployments/scale", "UPDATE", [](const Json&) { return patch(replacing("/spec/replicas", 3)); });
  expect(200, "PATCH", deployments + "/web/scale", {{"spec", {{"replicas", 9}}}}, kMerge);
  const Json stored = expect(200, "GET", deployments + "/web");
  EXPECT_EQ(stored["kind"], "Deployment");
  EXPECT_EQ(stored["spec"]["replicas"], 3);
}

TEST_F(MutatedTest, WhatAControllerCreatesIsStoredAsItWasAdmitted) {
  const std::string pods = "/api/v1/namespaces/default/pods";
  Json reviewed;
  mutate("pods", "CREATE", [](const Json&) { return patch(replacing("/metadata/labels/injected", "yes")); });
  validate("pods", "CREATE", [&](const Json& request) {
    reviewed = request["object"];
    return allow();
  });
  const Json container = {{"name", "c"}, {"image", "x.invalid/x:1"}};
  const Json labels = {{"a", "b"}};
  expect(201, "POST", "/apis/apps/v1/namespaces/default/replicasets",
         {{"apiVersion", "apps/v1"},
          {"kind", "ReplicaSet"},
          {"metadata", {{"name", "web"}}},
          {"spec",
           {{"replicas", 1},
            {"selector", {{"matchLabels", labels}}},
            {"template",
             {{"metadata", {{"labels", labels}}}, {"spec", {{"containers", Json::array({container})}}}}}}}});
  pass(seconds(10));
  const Json stored = expect(200, "GET", pods)["items"];
  ASSERT_EQ(stored.size(), 1U);
  EXPECT_EQ(stored[0]["metadata"]["labels"], (Json{{"a", "b"}, {"injected", "yes"}}));
  EXPECT_EQ(stored[0]["metadata"]["uid"], reviewed["metadata"]["uid"]);
  EXPECT_EQ(stored[0]["status"]["phase"], "Running");
}

}  // namespace
}  // namespace lastout::simulator

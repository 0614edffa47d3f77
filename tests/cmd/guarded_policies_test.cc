// Verdicts of `up --guard inside` at the API, by DeletionPolicies that depend on other objects than the
// request's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/parse.h"
#include "tests/cmd/guarded_cluster.h"

namespace lastout::simulator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kPolicies = "/apis/lastout.dev/v1alpha1/deletionpolicies";
constexpr const char* kSpaces = "/api/v1/namespaces";
constexpr const char* kSecrets = "/api/v1/namespaces/default/secrets";
constexpr const char* kDefinitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

class GuardedPolicies : public testing::GuardedClusterTest {
 public:
  // Creates a policy with this spec, in YAML, and waits until it is enforced.
  void apply(const std::string& spec, const std::string& name = "p") {
    expect(201, "POST", kPolicies,
           jsonOf("apiVersion: lastout.dev/v1alpha1\nkind: DeletionPolicy\nmetadata: {name: " + name +
                  "}\nspec: " + spec));
    settle();
  }
  static Json jsonOf(const std::string& yaml) {
    const auto documents = kube::parseYaml(yaml, "");
    EXPECT_TRUE(documents && documents->size() == 1) << yaml;
    return Json::parse(kube::toJson(documents->front()).dump());
  }
  // A type of example.com.
  void define(const std::string& plural, const std::string& kind, const std::string& scope = "Namespaced") {
    expect(201, "POST", kDefinitionsPath,
           jsonOf("{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: " +
                  plural + ".example.com}, spec: {group: example.com, scope: " + scope +
                  ", names: {plural: " + plural + ", kind: " + kind +
                  "}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: "
                  "object, x-kubernetes-preserve-unknown-fields: true}}}]}}"));
  }
  static Json secret(const std::string& name, const Json& labels = Json::object()) {
    return {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", name}, {"labels", labels}}}};
  }
  std::string denied(const std::string& path, int code = 403, const std::string& words = "") {
    return GuardedClusterTest::denied(path, code, words)["message"];
  }
};

TEST_F(GuardedPolicies, ChildrenKeepTheirParent) {
  apply(
      "{objects: [{resources: [{resource: configmaps}]}], when: [{children: [{resource: secrets, label: "
      "of}]}]}");
  expect(201, "POST", kMaps, configMap("m"));
  expect(201, "POST", kSecrets, secret("s", {{"of", "m"}}));
  EXPECT_THAT(denied(kMaps + "/m"),
              AllOf(HasSubstr("admission webhook \"deletionpolicies.lastout.dev\" denied the request"),
                    HasSubstr("Secret/s")));
  expect(200, "PATCH", std::string(kSecrets) + "/s", {{"metadata", {{"labels", {{"of", "n"}}}}}}, kMerge);
  eventually(200, "DELETE", kMaps + "/m");
}

TEST_F(GuardedPolicies, ChildrenThatWereThereBeforeThePolicyCount) {
  expect(201, "POST", kMaps, configMap("m"));
  expect(201, "POST", kSecrets, secret("s", {{"of", "m"}}));
  apply(
      "{objects: [{resources: [{resource: configmaps}]}], when: [{children: [{resource: secrets, label: "
      "of}]}]}");
  denied(kMaps + "/m");
  eventually(200, "DELETE", std::string(kSecrets) + "/s");
  eventually(200, "DELETE", kMaps + "/m");
}

TEST_F(GuardedPolicies, TheAncestorThatLabelsNameDecides) {
  define("composites", "Composite", "Cluster");
  apply(
      R"({objects: [{resources: [{resource: secrets}]}], when: [{ancestor: {groupLabel: a/group, versionLabel: a/version,
    kindLabel: a/kind, nameLabel: a/name, field: {path: spec.keep, equals: true}}}]})");
  const std::string owner = "/apis/example.com/v1/composites/owner";
  expect(
      201, "POST", "/apis/example.com/v1/composites",
      jsonOf("{apiVersion: example.com/v1, kind: Composite, metadata: {name: owner}, spec: {keep: true}}"));
  Json labels = {
      {"a/group", "example.com"}, {"a/version", "v1"}, {"a/kind", "Composite"}, {"a/name", "owner"}};
  expect(201, "POST", kSecrets, secret("s", labels));
  labels.erase("a/group");
  expect(201, "POST", kSecrets, secret("incomplete", labels));
  EXPECT_THAT(denied(std::string(kSecrets) + "/s"), HasSubstr("composites.example.com/owner"));
  EXPECT_THAT(denied(std::string(kSecrets) + "/incomplete"), HasSubstr("a/group"));
  expect(200, "PATCH", owner, {{"spec", {{"keep", false}}}}, kMerge);
  eventually(200, "DELETE", std::string(kSecrets) + "/s");
}

TEST_F(GuardedPolicies, ActivePodsKeepTheirNamespace) {
  apply("{objects: [{resources: [{resource: namespaces}]}], when: [{label: keep, active: Pods}]}");
  expect(201, "POST", kSpaces,
         {{"apiVersion", "v1"},
          {"kind", "Namespace"},
          {"metadata", {{"name", "shop"}, {"labels", {{"keep", "yes"}}}}}});
  expect(
      201, "POST", "/api/v1/namespaces/shop/pods",
      jsonOf(
          "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: web, image: i}]}}"));
  denied(std::string(kSpaces) + "/shop");
  expect(200, "PATCH", std::string(kSpaces) + "/shop", {{"metadata", {{"labels", {{"keep", nullptr}}}}}},
         kMerge);
  eventually(200, "DELETE", std::string(kSpaces) + "/shop");
}

TEST_F(GuardedPolicies, AProtectedObjectKeepsItsNamespace) {
  apply("{objects: [{resources: [{resource: secrets}]}], when: [{label: keep}]}");
  expect(201, "POST", kSpaces, jsonOf("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"));
  expect(201, "POST", "/api/v1/namespaces/shop/secrets", secret("s", {{"keep", "yes"}}));
  EXPECT_THAT(denied(std::string(kSpaces) + "/shop"),
              AllOf(HasSubstr("namespaces/shop holds secrets/shop/s, which DeletionPolicy p protects"),
                    HasSubstr("namespaces: Ignore")));
  expect(200, "PATCH", std::string(kPolicies) + "/p", {{"spec", {{"namespaces", "Ignore"}}}}, kMerge);
  eventually(200, "DELETE", std::string(kSpaces) + "/shop");
}

TEST_F(GuardedPolicies, AProtectedInstanceKeepsItsDefinition) {
  apply("{objects: [{resources: [{group: example.com, resource: widgets}]}], when: [{label: keep}]}");
  define("widgets", "Widget");
  const std::string widgets = "/apis/example.com/v1/namespaces/default/widgets";
  expect(201, "POST", widgets,
         jsonOf("{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, labels: {keep: \"\"}}}"));
  // Until lastout reads the new type it denies, too, and says that it cannot.
  EXPECT_THAT(denied(std::string(kDefinitionsPath) + "/widgets.example.com", 403, "default/w"),
              HasSubstr("default/w"));
  expect(200, "PATCH", widgets + "/w", {{"metadata", {{"labels", {{"keep", nullptr}}}}}}, kMerge);
  eventually(200, "DELETE", std::string(kDefinitionsPath) + "/widgets.example.com");
}

TEST_F(GuardedPolicies, AnObjectThatListsOthersProtectsThem) {
  define("lists", "KeepList");
  apply(
      R"({listedBy: {group: example.com, resource: lists, entries: spec.kept, apiVersion: apiVersion, kind: kind,
    name: name}})");
  expect(201, "POST", kMaps, configMap("m"));
  expect(201, "POST", kMaps, configMap("n"));
  const std::string lists = "/apis/example.com/v1/namespaces/default/lists";
  expect(201, "POST", lists, jsonOf(R"(
apiVersion: example.com/v1
kind: KeepList
metadata: {name: l}
spec: {kept: [{apiVersion: v1, kind: ConfigMap, name: m}]}
)"));
  EXPECT_THAT(denied(kMaps + "/m"), HasSubstr("lists/default/l lists it"));
  eventually(200, "DELETE", kMaps + "/n");
  eventually(200, "DELETE", lists + "/l");
  eventually(200, "DELETE", kMaps + "/m");
}

// What API servers do not deny with by themselves.
TEST_F(GuardedPolicies, TheCodeAndTheNameOfTheWebhookAreThePolicys) {
  apply(
      "{objects: [{resources: [{resource: configmaps}]}], when: [{label: keep}], code: 409, webhookName: "
      "protect.example.com}");
  Json map = configMap("m");
  map["metadata"]["labels"] = {{"keep", "yes"}};
  expect(201, "POST", kMaps, map);
  EXPECT_THAT(denied(kMaps + "/m", 409), HasSubstr("admission webhook \"protect.example.com\" denied"));
}

TEST_F(GuardedPolicies, WhatCriticalServicesSayComesFirst) {
  apply(
      R"({objects: [{resources: [{group: apps, resource: deployments}]}], when: [{children: [{resource: secrets,
    label: of}]}]})");
  const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";
  expect(201, "POST", deployments, jsonOf(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: m}
spec:
  selector: {matchLabels: {app: m}}
  template: {metadata: {labels: {app: m}}, spec: {containers: [{name: m, image: i}]}}
)"));
  expect(201, "POST", kSecrets, secret("s", {{"of", "m"}}));
  expect(201, "POST", "/apis/lastout.dev/v1alpha1/criticalservices", jsonOf(R"(
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: c}
spec:
  provider: {group: apps, resource: deployments, namespace: default, name: m}
  criteria: [{type: SpecificResource, specificResource: {resource: secrets, namespace: default, name: s}}]
)"));
  settle();
  const Json denial = GuardedClusterTest::denied(deployments + "/m");
  const std::string message = denial["message"];
  EXPECT_LT(message.find("must stay while"), message.find("Secret/s")) << message;
  EXPECT_EQ(denial["details"]["causes"].back()["field"], "deletionpolicies.lastout.dev/p");
}

}  // namespace
}  // namespace lastout::simulator

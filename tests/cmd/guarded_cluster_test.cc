// What lastout says inside: of CriticalServices, DeletionPolicies and DELETEs.
#include "tests/cmd/guarded_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lastout::simulator {
namespace {

using ::testing::HasSubstr;

class GuardedCluster : public testing::GuardedClusterTest {
 public:
  static Json service(const Json& provider, const Json& object) {
    return {{"apiVersion", "lastout.dev/v1alpha1"},
            {"kind", "CriticalService"},
            {"metadata", {{"name", "s"}, {"finalizers", {"x.dev/held"}}}},
            {"spec",
             {{"provider", provider},
              {"criteria", Json::array({{{"type", "SpecificResource"}, {"specificResource", object}}})}}}};
  }

  const std::string services = "/apis/lastout.dev/v1alpha1/criticalservices";
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  const Json provider = {
      {"group", "apps"}, {"resource", "deployments"}, {"namespace", "default"}, {"name", "p"}};
  const Json map = {{"group", ""}, {"resource", "configmaps"}, {"namespace", "default"}, {"name", "m"}};
};

TEST_F(GuardedCluster, RefusesACriticalServiceThatSaysNothing) {
  Json misspelt = provider;
  misspelt["resource"] = "deploymnts";
  const Json refused = expect(403, "POST", services, service(misspelt, map));
  EXPECT_THAT(refused["message"], HasSubstr("did you mean \"deployments\"?"));
  expect(201, "POST", services, service(provider, map));
  expect(422, "PATCH", services + "/s", {{"spec", {{"provider", misspelt}}}}, "application/merge-patch+json");
}

TEST_F(GuardedCluster, KeepsProviderAndUnmetCriteria) {
  expect(201, "POST", maps, {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "m"}}}});
  expect(201, "POST", services, service(provider, map));
  const auto patch = [&](int status, const Json& spec) {
    return expect(status, "PATCH", services + "/s", {{"spec", spec}}, "application/merge-patch+json");
  };
  EXPECT_THAT(patch(422, {{"provider", {{"name", "other"}}}})["message"], HasSubstr("provider"));
  Json other = map;
  other["name"] = "n";
  const Json criteria = service(provider, other)["spec"]["criteria"];
  patch(403, {{"criteria", criteria}});
  expect(200, "DELETE", maps + "/m");
  eventually(200, "PATCH", services + "/s", {{"spec", {{"criteria", criteria}}}}, kMerge);
  patch(200, {{"deletionIntent", "OrphanResources"}});
}

TEST_F(GuardedCluster, GuardsScalingWhereThatIsAskedFor) {
  const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";
  const Json labels = {{"app", "p"}};
  expect(201, "POST", kMaps, configMap("m"));
  expect(201, "POST", deployments,
         {{"apiVersion", "apps/v1"},
          {"kind", "Deployment"},
          {"metadata", {{"name", "p"}}},
          {"spec",
           {{"replicas", 1},
            {"selector", {{"matchLabels", labels}}},
            {"template",
             {{"metadata", {{"labels", labels}}},
              {"spec", {{"containers", Json::array({{{"name", "c"}, {"image", "i"}}})}}}}}}}});
  expect(201, "POST", services, service(provider, map));
  const auto scale = [&](int status, const char* subresource, int replicas) {
    return expect(status, "PATCH", deployments + "/p" + subresource, {{"spec", {{"replicas", replicas}}}},
                  kMerge);
  };
  settle();
  scale(200, "/scale", 0);
  scale(200, "/scale", 1);
  expect(200, "PATCH", services + "/s", {{"spec", {{"guard", {{"scaleToZero", true}}}}}}, kMerge);
  settle();
  EXPECT_THAT(scale(403, "/scale", 0)["message"], HasSubstr("scaling to zero is guarded like deletion: "));
  scale(403, "", 0);
  scale(200, "/scale", 2);
  expect(200, "DELETE", kMaps + "/m");
  eventually(200, "PATCH", deployments + "/p", {{"spec", {{"replicas", 0}}}}, kMerge);
}

// By default, and as the API server writes it down.
TEST_F(GuardedCluster, KeepsWhatTheProviderNeeds) {
  const std::string secrets = "/api/v1/namespaces/default/secrets";
  for (const char* name : {"certs", "of-nobody"})
    expect(201, "POST", secrets, {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", name}}}});
  expect(201, "POST", services, service(provider, map));
  EXPECT_EQ(expect(200, "GET", services + "/s")["spec"]["guard"],
            (Json{{"dependencies", "Auto"}, {"scaleToZero", false}}));
  const Json labels = {{"app", "p"}};
  const Json volumes = Json::array({{{"name", "v"}, {"secret", {{"secretName", "certs"}}}}});
  const Json containers = Json::array({{{"name", "c"}, {"image", "i"}}});
  expect(201, "POST", "/apis/apps/v1/namespaces/default/deployments",
         {{"apiVersion", "apps/v1"},
          {"kind", "Deployment"},
          {"metadata", {{"name", "p"}}},
          {"spec",
           {{"selector", {{"matchLabels", labels}}},
            {"template",
             {{"metadata", {{"labels", labels}}},
              {"spec", {{"containers", containers}, {"volumes", volumes}}}}}}}});
  expect(200, "DELETE", secrets + "/of-nobody");
  EXPECT_THAT(denied(secrets + "/certs")["message"],
              HasSubstr("is needed by a provider (volume v), and must stay while provider"));
  eventually(200, "DELETE", "/apis/apps/v1/namespaces/default/deployments/p");
  eventually(200, "DELETE", secrets + "/certs");
}

TEST_F(GuardedCluster, EnforcesTheDeletionPoliciesThatAreStored) {
  const std::string policies = "/apis/lastout.dev/v1alpha1/deletionpolicies";
  const auto policy = [](const char* name, const char* resource, const Json& rest) {
    Json spec = {{"objects", Json::array({{{"resources", Json::array({{{"resource", resource}}})}}})}};
    spec.update(rest);
    return Json{{"apiVersion", "lastout.dev/v1alpha1"},
                {"kind", "DeletionPolicy"},
                {"metadata", {{"name", name}}},
                {"spec", spec}};
  };
  const auto named = [](const char* name) {
    return Json{{"objects", Json::array({{{"resources", Json::array({{{"resource", "configmaps"}}})},
                                          {"names", {name}}}})}};
  };
  expect(201, "POST", kMaps, configMap("m"));
  expect(201, "POST", kMaps, configMap("n"));
  expect(201, "POST", policies, policy("p", "configmaps", named("m")));
  settle();
  EXPECT_THAT(expect(403, "DELETE", kMaps + "/m")["message"],
              HasSubstr("ValidatingAdmissionPolicy 'lastout-policy-p' with binding 'lastout-policy-p' denied "
                        "request: configmaps m in namespace \"default\" must not be deleted"));
  expect(200, "PATCH", policies + "/p", {{"spec", named("n")}}, kMerge);
  settle();
  expect(200, "DELETE", kMaps + "/m");
  expect(403, "DELETE", kMaps + "/n");
  expect(200, "DELETE", policies + "/p");
  eventually(200, "DELETE", kMaps + "/n");
}

// As on any cluster the API server takes it, and its condition says what is wrong.
TEST_F(GuardedCluster, DoesNotAcceptADeletionPolicyThatCannotBe) {
  const std::string policies = "/apis/lastout.dev/v1alpha1/deletionpolicies";
  const Json everything = {
      {"apiVersion", "lastout.dev/v1alpha1"},
      {"kind", "DeletionPolicy"},
      {"metadata", {{"name", "p"}}},
      {"spec",
       {{"objects", Json::array({{{"resources", Json::array({{{"group", "*"}, {"resource", "*"}}})}}})}}}};
  const auto problemWith = [&](const Json& when) {
    if (when.is_array() && when.empty())
      expect(201, "POST", policies, everything);
    else
      expect(200, "PATCH", policies + "/p", {{"spec", {{"when", when}}}}, kMerge);
    return problemWithSettling();
  };
  EXPECT_THAT(problemWith(Json::array()), HasSubstr("spec.objects match everything"));
  EXPECT_THAT(problemWith(Json::array({{{"label", "a b"}}})),
              HasSubstr("spec.when[0].label is no key of a label or annotation"));
  EXPECT_EQ(problemWith(Json::array({{{"label", "a/b"}}})), "");
  EXPECT_THAT(problemWith(nullptr), HasSubstr("spec.objects match everything"));
}

// The type that a criterion names may go; what was meant stays guarded.
TEST_F(GuardedCluster, RemembersWhatAServiceWasUnderstoodToSay) {
  const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  expect(201, "POST", definitions,
         {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "things.example.com"}}},
          {"spec",
           {{"group", "example.com"},
            {"names", {{"kind", "Thing"}, {"plural", "things"}}},
            {"scope", "Cluster"},
            {"versions", Json::array({{{"name", "v1"},
                                       {"served", true},
                                       {"storage", true},
                                       {"schema", {{"openAPIV3Schema", {{"type", "object"}}}}}}})}}}});
  expect(201, "POST", kMaps, configMap("m"));
  Json both = service(provider, map);
  both["spec"]["criteria"].push_back(
      {{"type", "Finalizer"},
       {"finalizer",
        {{"group", "example.com"}, {"resource", "things"}, {"finalizerName", "example.com/f"}}}});
  eventually(201, "POST", services, both);
  settle();
  expect(200, "DELETE", definitions + "/things.example.com");
  pass(std::chrono::seconds(60));
  expect(404, "GET", definitions + "/things.example.com");
  Json other = map;
  other["name"] = "unrelated";
  const Json criteria = service(provider, other)["spec"]["criteria"];
  expect(403, "PATCH", services + "/s", {{"spec", {{"criteria", criteria}}}}, kMerge);
}

TEST_F(GuardedCluster, WhatAWebhookMakesOfACriticalServiceIsJudged) {
  expect(201, "POST", kMaps, configMap("m"));
  const Json criterion = {
      {"type", "SpecificResource"},
      {"specificResource",
       {{"group", ""}, {"resource", "configmaps"}, {"namespace", "default"}, {"name", "m"}}}};
  expect(201, "POST", "/apis/lastout.dev/v1alpha1/criticalservices",
         {{"apiVersion", "lastout.dev/v1alpha1"},
          {"kind", "CriticalService"},
          {"metadata", {{"name", "s"}}},
          {"spec",
           {{"provider",
             {{"group", "apps"}, {"resource", "deployments"}, {"namespace", "default"}, {"name", "p"}}},
            {"criteria", Json::array({criterion})}}}});
  settle();
  mutate("criticalservices", "UPDATE", [](const Json&) {
    return Json::array(
        {{{"op", "replace"}, {"path", "/spec/criteria/0/specificResource/name"}, {"value", "other"}}});
  });
  const Json refused = expect(403, "PATCH", "/apis/lastout.dev/v1alpha1/criticalservices/s",
                              {{"metadata", {{"labels", {{"a", "b"}}}}}}, kMerge);
  EXPECT_THAT(refused["message"], HasSubstr("cannot be removed while it is not known to be met"));
}

}  // namespace
}  // namespace lastout::simulator

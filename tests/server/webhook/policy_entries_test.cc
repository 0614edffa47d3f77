// Which webhooks DeletionPolicies come to: they ask about what can match, and no more.
#include "server/webhook/policy_entries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "server/webhook/webhook_configuration.h"
#include "tests/protection/told_index.h"

namespace lastout::server {
namespace {

using nlohmann::json;
using protection::PolicyMode;
using protection::policyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kIgnoring = "  namespaces: Ignore\n  crds: Ignore\n";

class PolicyEntries : public ::testing::Test {
 public:
  std::vector<WebhookEntry> of(const std::string& spec, PolicyMode mode = PolicyMode::ApiServer) {
    return entriesFor({policyOf(spec + kIgnoring)}, mode);
  }
  std::vector<WebhookEntry> entriesFor(const std::vector<protection::DeletionPolicy>& policies,
                                       PolicyMode mode) {
    return policyEntries(policies, mode, told.types, told.index, "lastout");
  }
  static json expression(const std::string& key, const std::string& how, const json& values = nullptr) {
    json made = {{"key", key}, {"operator", how}};
    if (!values.is_null()) made["values"] = values;
    return made;
  }

  protection::ToldIndex told{protection::definitionText("example.com", "lists", "Listing", false)};
  const json outside = expression("kubernetes.io/metadata.name", "NotIn", {"kube-system", "lastout"});
};

TEST_F(PolicyEntries, WhatTheRequestAloneTellsIsNotAskedAbout) {
  const std::string spec = "  objects: [{resources: [{resource: services}]}]\n  when: [{label: a/b}]\n";
  EXPECT_THAT(of(spec), IsEmpty());
  EXPECT_EQ(of(spec, PolicyMode::Webhook).size(), 1U);
  EXPECT_EQ(of(spec + "  code: 409\n").size(), 1U) << "an API server's own policy does not deny with 409";
}

TEST_F(PolicyEntries, ALabelNarrowsAndUpdatesMatchSubresources) {
  const auto entries = of(
      R"(  objects: [{resources: [{resource: services}], namespaces: [shop], labelSelector: {matchLabels: {app: web}}}]
  when: [{label: a/b, values: [x, y]}]
  blocks: [Delete, Unprotect]
  failurePolicy: Ignore
  webhookName: protect.example.com
)",
      PolicyMode::Webhook);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].name, "protect.example.com");
  EXPECT_FALSE(entries[0].failsClosed);
  EXPECT_EQ(entries[0].objectSelector["matchExpressions"],
            json::array({expression("app", "In", {"web"}), expression("a/b", "In", {"x", "y"})}));
  EXPECT_EQ(entries[0].namespaceSelector["matchExpressions"],
            json::array({expression("kubernetes.io/metadata.name", "In", {"shop"}), outside}));
  const json& rules = entries[0].rules;
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[0]["operations"], json({"DELETE"}));
  EXPECT_EQ(rules[0]["resources"], json({"services"}));
  EXPECT_EQ(rules[1]["operations"], json({"UPDATE"}));
  EXPECT_EQ(rules[1]["resources"], json({"services", "services/*"}));
}

TEST_F(PolicyEntries, EachOfTheFourLabelsOfAnAncestorIsEnough) {
  const auto entries = of(R"(  objects: [{resources: [{group: "*", resource: "*"}]}]
  when: [{ancestor: {groupLabel: o/g, versionLabel: o/v, kindLabel: o/k, nameLabel: o/n, field: {path: spec.on}}}]
)");
  ASSERT_EQ(entries.size(), 8U);
  // For each set of labels on an object and on its namespace exactly one asks, unless nobody has any.
  const auto matches = [](const json& selector, const std::set<std::string>& labels) {
    for (const json& one : selector["matchExpressions"]) {
      const std::string how = one["operator"];
      const bool has = labels.contains(one["key"]);
      if ((how == "Exists" && !has) || (how == "DoesNotExist" && has)) return false;
    }
    return true;
  };
  const std::vector<std::string> keys{"o/n", "o/k", "o/v", "o/g"};
  for (unsigned both = 0; both < 256; ++both) {
    std::set<std::string> own;
    std::set<std::string> ofSpace;
    for (size_t i = 0; i < keys.size(); ++i) {
      if ((both >> i & 1U) != 0) own.insert(keys[i]);
      if ((both >> (i + 4) & 1U) != 0) ofSpace.insert(keys[i]);
    }
    int asking = 0;
    for (const WebhookEntry& entry : entries)
      asking += matches(entry.objectSelector, own) && matches(entry.namespaceSelector, ofSpace) ? 1 : 0;
    EXPECT_EQ(asking, own.empty() && ofSpace.empty() ? 0 : 1) << both;
    int askingOfClusterScoped = 0;  // which match every selector by namespace
    for (const WebhookEntry& entry : entries)
      askingOfClusterScoped += entry.rules[0]["scope"] == "*" && matches(entry.objectSelector, own) ? 1 : 0;
    EXPECT_EQ(askingOfClusterScoped, own.empty() ? 0 : 1) << both;
  }
}

TEST_F(PolicyEntries, OnlyKindsThatAreListedNowAreAskedAbout) {
  const auto policy = policyOf(
      std::string(
          R"(  listedBy: {group: example.com, resource: lists, selectors: spec, apiVersion: apiVersion, kind: kind, namespace: namespace}
)") + kIgnoring);
  told.index.setPolicies({policy});
  told.knowAll();
  EXPECT_THAT(entriesFor({policy}, PolicyMode::ApiServer), IsEmpty());
  told.tell(R"(apiVersion: example.com/v1
kind: Listing
metadata: {name: a, uid: u-a}
spec:
- {apiVersion: apps/v1, kind: Deployment, namespace: shop}
- {apiVersion: apps/v1, kind: Deployment, namespace: blog}
- {apiVersion: v1, kind: Secret}
)");
  const auto entries = entriesFor({policy}, PolicyMode::ApiServer);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].rules[0]["resources"], json({"secrets"}));
  EXPECT_EQ(entries[0].namespaceSelector["matchExpressions"], json::array({outside}));
  EXPECT_EQ(entries[1].rules[0]["resources"], json({"deployments"}));
  EXPECT_EQ(entries[1].namespaceSelector["matchExpressions"][0],
            expression("kubernetes.io/metadata.name", "In", {"blog", "shop"}));
}

TEST_F(PolicyEntries, WhatListsTooManyKindsOrNamespacesIsAskedAboutMore) {
  const auto policy = policyOf(
      std::string(
          R"(  listedBy: {group: example.com, resource: lists, selectors: spec, apiVersion: apiVersion, kind: kind, namespace: namespace}
)") + kIgnoring);
  told.index.setPolicies({policy});
  told.knowAll();
  const auto listing = [&](const std::string& spec) {
    told.tell("apiVersion: example.com/v1\nkind: Listing\nmetadata: {name: a, uid: u-a}\nspec: " + spec +
              "\n");
    return entriesFor({policy}, PolicyMode::ApiServer);
  };
  std::string kinds = "[";
  for (int i = 0; i <= 1'000; ++i)
    kinds += "{apiVersion: v1, kind: K" + std::to_string(i) + ", namespace: shop}, ";
  auto entries = listing(kinds + "]");
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].rules[0]["apiGroups"], json({"*"}));
  EXPECT_EQ(entries[0].rules[0]["resources"], json({"*"}));
  EXPECT_EQ(entries[0].namespaceSelector["matchExpressions"][0],
            expression("kubernetes.io/metadata.name", "In", {"shop"}));

  std::string spaces = "[";
  for (int i = 0; i <= 64; ++i)
    spaces += "{apiVersion: v1, kind: Secret, namespace: n" + std::to_string(i) + "}, ";
  entries = listing(spaces + "]");
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].namespaceSelector["matchExpressions"], json::array({outside}))
      << "the configuration must stay small enough to be stored";
}

TEST_F(PolicyEntries, NamespacesAndDefinitionsThatMayHoldAProtectedObject) {
  const auto resourcesOf = [&](const std::string& spec) {
    std::vector<std::string> resources;
    for (const WebhookEntry& entry : entriesFor({policyOf(spec)}, PolicyMode::ApiServer))
      resources.push_back(entry.rules[0]["resources"][0].get<std::string>() + " " + entry.condition);
    return resources;
  };
  EXPECT_THAT(resourcesOf("  objects: [{resources: [{resource: services}]}]\n"), ElementsAre("namespaces "));
  EXPECT_THAT(resourcesOf("  objects: [{resources: [{resource: namespaces}]}]\n"), IsEmpty());
  EXPECT_THAT(resourcesOf("  objects: [{resources: [{group: example.com, resource: things}]}]\n"),
              ElementsAre("namespaces ",
                          "customresourcedefinitions oldObject.metadata.name in ['things.example.com']"));
  EXPECT_THAT(
      resourcesOf("  objects: [{resources: [{group: \"*\", resource: \"*\"}]}]\n  when: [{label: a/b}]\n"),
      ElementsAre("namespaces ", "customresourcedefinitions "));
  EXPECT_THAT(resourcesOf("  objects: [{resources: [{resource: services}]}]\n  blocks: [Orphan]\n"),
              IsEmpty())
      << "to delete a namespace orphans nothing";
}

TEST_F(PolicyEntries, WebhooksThatAskTheSameAreOneAndOthersHaveNamesOfTheirOwn) {
  const std::string spec =
      "  objects: [{resources: [{resource: services}]}]\n  code: 409\n" + std::string(kIgnoring);
  const std::string other =
      "  objects: [{resources: [{resource: secrets}]}]\n  code: 409\n" + std::string(kIgnoring);
  const std::string named = "  webhookName: protect.example.com\n";
  WebhookConfiguration configuration;
  configuration.address.url = "https://127.0.0.1:9443";
  configuration.objects.policies = entriesFor({policyOf(spec, "a"), policyOf(spec, "b"), policyOf(other, "c"),
                                               policyOf(spec + named, "d"), policyOf(other + named, "e")},
                                              PolicyMode::ApiServer);
  std::vector<std::string> names;
  for (const json& webhook : makeWebhooks(configuration).declared.webhooks) names.push_back(webhook["name"]);
  EXPECT_THAT(names,
              ElementsAre("criticalservices.lastout.dev", "deletionpolicies.lastout.dev",
                          "2.deletionpolicies.lastout.dev", "protect.example.com", "2.protect.example.com",
                          "policy-writes.lastout.dev", "sentinel.lastout.dev"));
}

// A held object's DELETE is accepted, whether lastout answers or not.
TEST_F(PolicyEntries, WhatItsFinalizerHoldsIsNotAskedAbout) {
  const std::string spec =
      "  objects: [{resources: [{group: example.com, resource: lists}]}]\n"
      "  when: [{children: [{resource: pods, ownerReference: true}]}]\n"
      "  enforcement: Hold\n";
  const auto held = of(spec + "  hold: {finalizer: a/held}\n");
  ASSERT_EQ(held.size(), 1U);
  EXPECT_THAT(held[0].condition, HasSubstr("!has(oldObject.metadata.deletionTimestamp)"));
  EXPECT_THAT(held[0].condition, HasSubstr("oldObject.metadata.finalizers.exists(f, f == 'a/held')"));
  const auto entries = of(spec + "  hold: {finalizer: a/held, finalizersOfOthers: [a/operator]}\n");
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_THAT(entries[0].condition, HasSubstr("oldObject.metadata.finalizers.exists(f, f == 'a/operator')"));
}

TEST_F(PolicyEntries, TheyCountForWhatIsReviewed) {
  ReviewedObjects standing;
  standing.policies = of("  objects: [{resources: [{resource: services}]}]\n  code: 409\n");
  ReviewedObjects wanted;
  wanted.policies = of("  objects: [{resources: [{resource: secrets}]}]\n  code: 409\n");
  EXPECT_TRUE(standing.covers(standing));
  EXPECT_TRUE(standing.covers({}));
  EXPECT_FALSE(standing.covers(wanted));
  EXPECT_TRUE(standing.common(wanted).policies.empty());
  EXPECT_EQ(standing.common(standing).policies.size(), 1U);
}

}  // namespace
}  // namespace lastout::server

// DeletionPolicies among manifests: what `lastout why` and `lastout graph` say of what they protect.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/known_cluster.h"
#include "replay/manifest_graph.h"
#include "tests/support/manifests.h"

namespace lastout::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kManifests = R"(apiVersion: lastout.dev/v1alpha1
kind: DeletionPolicy
metadata: {name: keep}
spec:
  objects: [{resources: [{group: "*", resource: "*"}]}]
  when: [{label: example.com/keep, values: [Always]}]
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop, labels: {example.com/keep: Always}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other, namespace: shop}
)";

admission::KnownCluster clusterOf(std::string_view text) {
  auto manifests = readManifests({{"m.yaml", std::string(text)}});
  EXPECT_TRUE(manifests.has_value());
  auto built = graphOf(*manifests);
  EXPECT_TRUE(built.has_value());
  admission::KnownCluster cluster(std::move(built->graph), std::move(built->guards),
                                  std::move(manifests->types));
  cluster.protections = std::move(built->protections);
  cluster.knowsAllProtections = true;
  return cluster;
}

TEST(PoliciesAmongManifests, WhySaysWhatADenialWouldSay) {
  const auto why = admission::whyOf(clusterOf(kManifests), "configmaps/shop/settings");
  ASSERT_TRUE(why.has_value());
  EXPECT_FALSE(why->allowed);
  EXPECT_EQ(why->reason, "Protected");
  EXPECT_EQ(why->message,
            "configmaps settings in namespace \"shop\" must not be deleted: label example.com/keep is "
            "Always, says deletion policy keep");
  ASSERT_EQ(why->blockers.size(), 1u);
  EXPECT_EQ(why->blockers[0].field, "deletionpolicies.lastout.dev/keep");
  ASSERT_EQ(why->roots.size(), 1u);
  EXPECT_THAT(why->roots[0].message, HasSubstr("deletionpolicies.lastout.dev/keep"));
}

TEST(PoliciesAmongManifests, WhyOfANamespaceNamesWhatIsProtectedInIt) {
  const auto why = admission::whyOf(clusterOf(kManifests), "ns/shop");
  ASSERT_TRUE(why.has_value());
  EXPECT_FALSE(why->allowed);
  EXPECT_THAT(why->message, HasSubstr("namespaces/shop holds configmaps/shop/settings"));
}

TEST(PoliciesAmongManifests, NothingKeepsWhatNoPolicyProtects) {
  const auto why = admission::whyOf(clusterOf(kManifests), "configmaps/shop/other");
  ASSERT_TRUE(why.has_value());
  EXPECT_TRUE(why->allowed);
  EXPECT_THAT(why->blockers, ElementsAre());
}

TEST(PoliciesAmongManifests, TheGraphLeadsFromTheObjectToThePolicy) {
  admission::GraphQuestion question;
  question.format = admission::GraphQuestion::Format::Dot;
  const auto drawn = admission::drawn(clusterOf(kManifests), question);
  ASSERT_TRUE(drawn.has_value());
  EXPECT_THAT(*drawn, HasSubstr("existence of deletionpolicies.lastout.dev/keep"));
  EXPECT_THAT(*drawn, HasSubstr("must not be deleted: label example.com/keep is Always"));
}

constexpr std::string_view kHeldManifests = R"(apiVersion: lastout.dev/v1alpha1
kind: DeletionPolicy
metadata: {name: hold}
spec:
  objects: [{resources: [{resource: configmaps}]}]
  when:
  - {label: example.com/keep}
  - children: [{resource: secrets, label: example.com/of}]
  enforcement: Hold
  hold: {finalizer: example.com/hold}
  namespaces: Ignore
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: labelled, namespace: shop, labels: {example.com/keep: ""}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: parent, namespace: shop}
---
apiVersion: v1
kind: Secret
metadata: {name: child, namespace: shop, labels: {example.com/of: parent}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: free, namespace: shop}
)";

TEST(PoliciesAmongManifests, WhatAPolicyHoldsMayBeDeletedAndStays) {
  const auto labelled = admission::whyOf(clusterOf(kHeldManifests), "configmaps/shop/labelled");
  ASSERT_TRUE(labelled.has_value());
  EXPECT_TRUE(labelled->allowed);
  EXPECT_TRUE(labelled->isBlocked());
  EXPECT_EQ(labelled->reason, "Held");
  EXPECT_EQ(labelled->message,
            "DeletionPolicy hold holds configmaps/shop/labelled by finalizer example.com/hold: label "
            "example.com/keep is set");
  ASSERT_EQ(labelled->blockers.size(), 1u);
  EXPECT_EQ(labelled->blockers[0].message, "label example.com/keep is set");
  EXPECT_EQ(labelled->blockers[0].field, "deletionpolicies.lastout.dev/hold");

  const auto parent = admission::whyOf(clusterOf(kHeldManifests), "configmaps/shop/parent");
  ASSERT_EQ(parent->blockers.size(), 1u);
  EXPECT_THAT(parent->blockers[0].message, HasSubstr("Secret/child"));
  EXPECT_FALSE(admission::whyOf(clusterOf(kHeldManifests), "configmaps/shop/free")->isBlocked());
}

TEST(PoliciesAmongManifests, WhyOfANamespaceListsWhatIsHeldInIt) {
  const auto why = admission::whyOf(clusterOf(kHeldManifests), "ns/shop");
  ASSERT_TRUE(why.has_value());
  EXPECT_TRUE(why->allowed);
  std::vector<std::string> told;
  for (const admission::WhyBlocker& blocker : why->blockers) told.push_back(blocker.message);
  EXPECT_THAT(told,
              UnorderedElementsAre(
                  "it holds configmaps/shop/labelled: label example.com/keep is set",
                  "it holds configmaps/shop/parent: 1 object of secrets that refers to it (Secret/child)"));
}

TEST(PoliciesAmongManifests, TheTextNamesEachStepToTheRootOnce) {
  const auto why = admission::whyOf(clusterOf(kManifests), "configmaps/shop/settings");
  ASSERT_TRUE(why.has_value());
  EXPECT_THAT(toText(*why), HasSubstr("    configmaps/shop/settings\n"
                                      "      goes after deletionpolicies.lastout.dev/keep\n"));
}

TEST(PoliciesAmongManifests, ASentenceOfSeveralLinesStandsOnOne) {
  std::string manifests(kManifests);
  manifests.insert(manifests.find("---\n"), "  message: |-\n    {name} stays.\n    Ask its owner.\n");
  EXPECT_EQ(admission::whyOf(clusterOf(manifests), "configmaps/shop/settings")->message,
            "settings stays. Ask its owner.");
  admission::GraphQuestion question;
  question.format = admission::GraphQuestion::Format::Dot;
  EXPECT_THAT(*admission::drawn(clusterOf(manifests), question), HasSubstr("settings stays. Ask its owner."));
}

TEST(PoliciesAmongManifests, OnePolicyThatCannotBeReadIsAnError) {
  std::string wrong(kManifests);
  wrong.replace(wrong.find("  when:"), 7, "  wenn:");
  auto manifests = readManifests({{"m.yaml", wrong}});
  ASSERT_TRUE(manifests.has_value());
  const auto built = graphOf(*manifests);
  ASSERT_FALSE(built.has_value());
  EXPECT_THAT(testing::lines(built.error()), HasSubstr("m.yaml:6:3: "));
}

// The way out stands at its end.
TEST(PoliciesAmongManifests, ALongSentenceIsToldWhole) {
  const std::string sentence = "{name} stays" + std::string(900, '!') + " {reason}; ask the owner";
  std::string manifests(kManifests);
  manifests.insert(manifests.find("---\n"), "  message: '" + sentence + "'\n");
  const std::string told =
      "settings stays" + std::string(900, '!') + " label example.com/keep is Always; ask the owner";
  const admission::KnownCluster cluster = clusterOf(manifests);
  EXPECT_EQ(admission::whyOf(cluster, "configmaps/shop/settings")->message, told);
  EXPECT_THAT(toJson(*admission::whyOf(cluster, "configmaps/shop/settings")), HasSubstr(told));
  admission::GraphQuestion question;
  question.format = admission::GraphQuestion::Format::Dot;
  EXPECT_THAT(*admission::drawn(cluster, question), HasSubstr("tooltip=\"" + told + "\""));
}

// As a denial: so many policies say their sentences, and the others are counted.
TEST(PoliciesAmongManifests, ManyPoliciesSayAsMuchAsADenialDoes) {
  std::string manifests =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop, labels: {keep: now}}\n";
  for (char name = 'a'; name < 'm'; ++name)
    manifests +=
        std::string("---\napiVersion: lastout.dev/v1alpha1\nkind: DeletionPolicy\nmetadata: {name: ") + name +
        "}\nspec:\n  objects: [{resources: [{resource: configmaps}]}]\n  when: [{label: keep}]\n  message: "
        "'by " +
        name + "'\n";
  const auto why = admission::whyOf(clusterOf(manifests), "configmaps/shop/settings");
  EXPECT_EQ(why->message,
            "by a; by b; by c; by d; by e; by f; by g; by h; by i; by j; and 2 more DeletionPolicies");
}

constexpr std::string_view kScenarioWithProfile = R"(apiVersion: lastout.dev/v1alpha1
kind: Scenario
metadata: {name: s}
spec:
  profiles: [karmada]
  steps:
  - delete: configmaps/shop/settings
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop, labels: {resourcetemplate.karmada.io/deletion-protected: Always}}
)";

TEST(PoliciesAmongManifests, APolicyOfAProfileIsThere) {
  const admission::KnownCluster cluster = clusterOf(kScenarioWithProfile);
  const auto drawn = admission::drawn(cluster, {});
  ASSERT_TRUE(drawn.has_value());
  EXPECT_THAT(*drawn, HasSubstr("[\"deletionpolicies.lastout.dev/karmada\"]"));
  EXPECT_THAT(*drawn, HasSubstr("existence of deletionpolicies.lastout.dev/karmada\"])\n"))
      << "and it is not met";
  EXPECT_THAT(*drawn, Not(HasSubstr(" absent\n")));
  for (const char* reference : {"configmaps/shop/settings", "ns/shop"}) {
    const auto why = admission::whyOf(cluster, reference);
    ASSERT_TRUE(why.has_value());
    ASSERT_EQ(why->roots.size(), 1U) << reference;
    EXPECT_EQ(why->roots[0].message, "deletionpolicies.lastout.dev/karmada");
  }
}

// It may be deleted, and hangs: the controller that empties it is denied.
TEST(PoliciesAmongManifests, WhyOfANamespaceNamesWhatCannotBeDeletedInIt) {
  std::string manifests(kManifests);
  manifests.insert(manifests.find("---\n"), "  namespaces: Ignore\n");
  const auto why = admission::whyOf(clusterOf(manifests), "ns/shop");
  ASSERT_TRUE(why.has_value());
  EXPECT_TRUE(why->allowed);
  EXPECT_TRUE(why->isBlocked());
  EXPECT_EQ(why->reason, "Held");
  EXPECT_EQ(why->message,
            "namespaces/shop stays until configmaps/shop/settings is gone, whose deletion DeletionPolicy "
            "keep denies "
            "(label example.com/keep is Always): unprotect that first");
  ASSERT_EQ(why->blockers.size(), 1U);
  EXPECT_EQ(why->blockers[0].message, "it holds configmaps/shop/settings: label example.com/keep is Always");
  manifests.insert(manifests.find("---\n"),
                   "  exempt: {users: [\"system:serviceaccount:kube-system:namespace-controller\"]}\n");
  EXPECT_FALSE(admission::whyOf(clusterOf(manifests), "ns/shop")->isBlocked())
      << "the controller is not denied";
}

// As lastout serve without --hold-policies leaves it: it was read from an API server, without the finalizer.
TEST(PoliciesAmongManifests, WhyOfANamespaceNamesWhatIsNotHeldYet) {
  std::string manifests(kHeldManifests);
  const std::string labelled = "name: labelled, ";
  manifests.insert(manifests.find(labelled) + labelled.size(), "uid: u, ");
  const auto why = admission::whyOf(clusterOf(manifests), "ns/shop");
  ASSERT_TRUE(why.has_value());
  EXPECT_TRUE(why->isBlocked());
  EXPECT_THAT(why->message,
              HasSubstr("namespaces/shop stays until configmaps/shop/labelled is gone, whose deletion "
                        "DeletionPolicy hold denies (label example.com/keep is set)"));
}

TEST(PoliciesAmongManifests, WhatAPolicyHoldsIsDrawnAsHeld) {
  const auto drawn = admission::drawn(clusterOf(kHeldManifests), {});
  ASSERT_TRUE(drawn.has_value());
  EXPECT_THAT(*drawn, HasSubstr("[\"configmaps/shop/labelled\"]:::held\n"));
  EXPECT_THAT(*drawn, Not(HasSubstr("[\"configmaps/shop/labelled\"]:::allowed")));
}

}  // namespace
}  // namespace lastout::replay

// DeletionPolicies in scenarios: what they deny, in which words, and to whom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "prove/proof_report.h"
#include "tests/replay/play.h"

namespace lastout::replay {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kLabelPolicy = R"(---
apiVersion: lastout.dev/v1alpha1
kind: DeletionPolicy
metadata: {name: keep}
spec:
  objects: [{resources: [{group: "*", resource: "*"}]}]
  when: [{label: example.com/keep, values: [Always]}]
)";

std::string configMap(const std::string& name, const std::string& labels) {
  return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: shop, labels: {" +
         labels + "}}\n";
}

const std::string kShop = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";

std::string cluster(std::string_view policy = kLabelPolicy) {
  return kShop + std::string(policy) + configMap("settings", "example.com/keep: Always");
}

TEST(PoliciesInScenarios, ADenialNamesThePolicyAndTheReason) {
  const ScenarioReport report =
      play(scenario("  steps:\n    - {delete: configmaps/shop/settings, retry: false}", cluster()));
  EXPECT_EQ(report.end, End::Stuck);
  EXPECT_THAT(
      told(report),
      Contains("0.000 s  admin asks to delete configmaps/shop/settings: denied, configmaps settings in "
               "namespace \"shop\" must not be deleted: label example.com/keep is Always, says "
               "deletion policy keep"));
}

TEST(PoliciesInScenarios, AMessageOfSeveralLinesIsToldOnOne) {
  const std::string lines = std::string(kLabelPolicy) + "  message: |-\n    It stays.\n\n    Ask first.\n";
  const ScenarioReport report =
      play(scenario("  steps:\n    - {delete: configmaps/shop/settings}", cluster(lines)));
  EXPECT_THAT(
      told(report),
      Contains("0.000 s  admin asks to delete configmaps/shop/settings: denied, It stays. Ask first."));
  ASSERT_EQ(report.leftovers.size(), 1u);
  EXPECT_THAT(report.leftovers[0].reasons, ElementsAre("its deletion is denied: It stays. Ask first."));
}

TEST(PoliciesInScenarios, ALabelThatIsTakenAwayLetsTheNextRequestPass) {
  EXPECT_THAT(failures(play(scenario(R"(
  steps:
    - delete: configmaps/shop/settings
    - patch: {object: configmaps/shop/settings, labels: {}}
      at: 5s
  expect:
    ends: empty
    denied: [configmaps/shop/settings]
    before: [[configmaps/shop/settings changed, configmaps/shop/settings gone]])",
                                     cluster()))),
              ElementsAre());
}

TEST(PoliciesInScenarios, AStrictPolicyDeniesThatTheLabelIsTakenAway) {
  std::string strict(kLabelPolicy);
  strict += "  blocks: [Delete, Unprotect]\n  exemptions: [{label: free, values: [\"true\"]}]\n";
  const ScenarioReport denied = play(scenario(R"(
  steps:
    - patch: {object: configmaps/shop/settings, labels: {}})",
                                              cluster(strict)));
  EXPECT_THAT(told(denied), Contains(HasSubstr("admin asks to write configmaps/shop/settings: denied, ")));
  const ScenarioReport exempt = play(scenario(R"(
  steps:
    - patch: {object: configmaps/shop/settings, labels: {free: "true"}})",
                                              cluster(strict)));
  EXPECT_THAT(told(exempt), Contains("0.000 s  admin changes configmaps/shop/settings"));
}

TEST(PoliciesInScenarios, APolicyCountsWhileItIsThere) {
  EXPECT_THAT(failures(play(scenario(R"(
  steps:
    - delete: configmaps/shop/settings
    - {delete: deletionpolicies/keep, at: 5s}
  expect:
    ends: empty
    denied: [configmaps/shop/settings]
    before: [[deletionpolicies/keep gone, configmaps/shop/settings gone]])",
                                     cluster()))),
              ElementsAre());
}

TEST(PoliciesInScenarios, AUserWhoIsExemptIsNotDenied) {
  const std::string exempt = std::string(kLabelPolicy) + "  exempt: {users: [boss]}\n";
  const std::string steps = "  steps:\n    - {delete: configmaps/shop/settings, as: ";
  EXPECT_EQ(play(scenario(steps + "boss}", cluster(exempt))).end, End::Empty);
  EXPECT_EQ(play(scenario(steps + "clerk}", cluster(exempt))).end, End::Stuck);
}

// Its Secrets would go, and it would never end.
TEST(PoliciesInScenarios, ANamespaceStaysForWhatIsInIt) {
  const std::string steps = "  steps:\n    - delete: namespaces/shop";
  const ScenarioReport report = play(scenario(steps, cluster()));
  EXPECT_THAT(told(report), Contains(HasSubstr("namespaces/shop holds configmaps/shop/settings, which "
                                               "DeletionPolicy keep protects (label example.com/keep is "
                                               "Always): unprotect that, or set namespaces: Ignore")));
  EXPECT_THAT(told(report), Not(Contains(HasSubstr("namespace controller"))));
  const std::string ignore = std::string(kLabelPolicy) + "  namespaces: Ignore\n";
  EXPECT_THAT(
      told(play(scenario(steps, cluster(ignore)))),
      Contains(HasSubstr("the namespace controller asks to delete configmaps/shop/settings: denied")));
}

TEST(PoliciesInScenarios, AProofTellsWhichPolicyItIsStuckOn) {
  const auto stuck =
      ready(scenario("  steps:\n    - delete: configmaps/shop/settings\n  expect: {ends: stuck}", cluster()));
  const prove::Proof proof = prove::proveScenario(stuck->compiled);
  EXPECT_EQ(proof.verdict, prove::ProofResult::Stuck);
  EXPECT_THAT(prove::toText(prove::reportOf(*stuck, {}, proof), {}), HasSubstr("says deletion policy keep"));
}

TEST(PoliciesInScenarios, OnlyAnOrphanDeleteIsDeniedWhereThePolicySaysSo) {
  const std::string orphan = std::string(kLabelPolicy) + "  blocks: [Orphan]\n";
  const std::string steps = "  steps:\n    - {delete: configmaps/shop/settings, propagationPolicy: ";
  EXPECT_EQ(play(scenario(steps + "Orphan}", cluster(orphan))).end, End::Stuck);
  EXPECT_EQ(play(scenario(steps + "Background}", cluster(orphan))).end, End::Empty);
}

TEST(PoliciesInScenarios, NothingIsDeniedWithoutLastout) {
  EXPECT_EQ(play(scenario("  guard: false\n  steps:\n    - delete: configmaps/shop/settings", cluster())).end,
            End::Empty);
}

constexpr std::string_view kHoldingPolicy = R"(---
apiVersion: lastout.dev/v1alpha1
kind: DeletionPolicy
metadata: {name: hold}
spec:
  objects: [{resources: [{resource: configmaps}]}]
  when:
  - {label: example.com/keep, values: [Always]}
  - children: [{resource: secrets, label: parent}]
  namespaces: Ignore
  enforcement: Hold
  hold:
    finalizer: example.com/held
    force: {annotation: example.com/force, values: ["true"], starts: STARTS}
)";

std::string holding(const std::string& starts, const std::string& configMap) {
  std::string policy(kHoldingPolicy);
  policy.replace(policy.find("STARTS"), 6, starts);
  return kShop + policy + configMap;
}

const std::string kSecret =
    "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop, labels: {parent: settings}}\n";

TEST(PoliciesInScenarios, AHeldObjectGoesAfterWhatRefersToIt) {
  EXPECT_THAT(
      failures(play(scenario(R"(
  steps:
    - delete: configmaps/shop/settings
    - {delete: secrets/shop/s, at: 5s}
  expect:
    ends: empty
    before: [[configmaps/shop/settings accepted, secrets/shop/s gone, configmaps/shop/settings gone]])",
                             holding("OnlyWhenDeleting", configMap("settings", "app: web") + kSecret)))),
      ElementsAre());
}

TEST(PoliciesInScenarios, AHeldObjectThatIsProtectedStaysAndTheReasonIsTold) {
  const auto held =
      ready(scenario("  steps:\n    - delete: configmaps/shop/settings\n  expect: {ends: stuck}",
                     holding("OnlyWhenDeleting", configMap("settings", "example.com/keep: Always"))));
  const prove::Proof proof = prove::proveScenario(held->compiled);
  EXPECT_EQ(proof.verdict, prove::ProofResult::Stuck);
  EXPECT_THAT(prove::toText(prove::reportOf(*held, {}, proof), {}),
              HasSubstr("DeletionPolicy hold holds it: Deletion blocked by deletion protection"));
}

TEST(PoliciesInScenarios, ForceLetsAHeldObjectGo) {
  std::string forced = configMap("settings", "example.com/keep: Always");
  forced.insert(forced.find(", labels"), ", annotations: {example.com/force: \"true\"}");
  const std::string steps = "  steps:\n    - delete: configmaps/shop/settings";
  EXPECT_EQ(play(scenario(steps, holding("OnlyWhenDeleting", forced))).end, End::Empty);
}

const std::string kForceIt =
    "    - patch: {object: configmaps/shop/settings, merge: {metadata: {annotations: {example.com/force: "
    "\"true\"}}}}\n";

TEST(PoliciesInScenarios, ForceBeginsADeletionWhereThePolicySaysSo) {
  const std::string steps = "  steps:\n" + kForceIt;
  const std::string isProtected = configMap("settings", "example.com/keep: Always");
  const std::string deletes =
      "0.020 s  lastout deletes configmaps/shop/settings: accepted, waits for what its "
      "deletion policy waits for";
  EXPECT_THAT(told(play(scenario(steps, holding("Always", isProtected)))), Contains(deletes));
  EXPECT_THAT(told(play(scenario(steps, holding("OnlyWhenDeleting", isProtected)))), Not(Contains(deletes)));
}

TEST(PoliciesInScenarios, ACascadeGoesOnceItsHashIsTheOneOfTheChildren) {
  std::string policy = holding("Always", configMap("settings", "example.com/keep: Always") + kSecret);
  policy.insert(policy.find("    force:"), "    confirmAnnotation: example.com/confirm\n");
  const auto confirmed = [](const std::string& hash) {
    return "  steps:\n" + kForceIt +
           "    - patch: {object: configmaps/shop/settings, merge: {metadata: {annotations: "
           "{example.com/confirm: \"" +
           hash + "\"}}}}\n    - {delete: namespaces/shop, after: configmaps/shop/settings gone}\n";
  };
  // printf Secret/s | sha256sum
  const ScenarioReport right = play(scenario(confirmed("3b34726d"), policy));
  EXPECT_EQ(right.end, End::Empty);
  EXPECT_THAT(told(right), Contains(HasSubstr("lastout deletes secrets/shop/s: gone")));
  const ScenarioReport wrong = play(scenario(confirmed("a1b2c3d4"), policy));
  EXPECT_EQ(wrong.end, End::Stuck);
  EXPECT_THAT(told(wrong), Not(Contains(HasSubstr("lastout deletes"))));
}

TEST(PoliciesInScenarios, WhatCannotBeDeletedOutsideStays) {
  std::string policy = holding("Always", configMap("settings", "app: web"));
  policy.insert(policy.find("    force:"),
                "    external: {annotation: example.com/word, default: Delete, allowed: [Delete], "
                "reportedBy: {condition: Dropped}}\n");
  const std::string steps = "  steps:\n    - delete: configmaps/shop/settings\n";
  EXPECT_EQ(play(scenario(steps, policy)).end, End::Empty);
  const auto whyStuck = [&](const std::string& outcome) {
    const ScenarioReport report = play(scenario("  externalStep: " + outcome + "\n" + steps, policy));
    EXPECT_EQ(report.end, End::Stuck);
    return report.leftovers.size() == 1 ? report.leftovers[0].reasons : std::vector<std::string>();
  };
  EXPECT_THAT(whyStuck("Unreachable"),
              ElementsAre(HasSubstr("DeletionPolicy hold holds it: External deletion (Delete) is awaited: "
                                    "condition Dropped is to be True with reason Done")));
  EXPECT_THAT(whyStuck("Fail"),
              ElementsAre("DeletionPolicy hold holds it: External deletion (Delete) failed: no reason was "
                          "reported"));
  for (const std::string outcome : {"Fail", "Unreachable"})
    EXPECT_EQ(play(scenario("  externalStep: " + outcome + "\n" + steps + kForceIt, policy)).end, End::Empty);
  const std::string reporter = ", reportedBy: {condition: Dropped}";
  const std::string noReporter = std::string(policy).erase(policy.find(reporter), reporter.size());
  EXPECT_EQ(play(scenario("  externalStep: Fail\n" + steps, noReporter)).end, End::Empty)
      << "there is no step";
}

constexpr std::string_view kLabelledPolicy = R"(---
apiVersion: lastout.dev/v1alpha1
kind: DeletionPolicy
metadata: {name: labels}
spec:
  objects: [{resources: [{resource: configmaps}]}]
  when: [{label: example.com/keep, values: [Always]}]
  labels:
    protection: {key: example.com/keep, value: Always}
    protected: false
    exemption: {key: EXEMPTION, value: "true"}
    exempt: false
)";

TEST(PoliciesInScenarios, LastoutWritesLabelsAndTriesAgainWhereItIsDenied) {
  std::string strict(kLabelPolicy);
  strict += "  blocks: [Delete, Unprotect]\n  exemptions: [{label: free, values: [\"true\"]}]\n";
  const auto labelled = [&](const std::string& exemption) {
    std::string policy(kLabelledPolicy);
    policy.replace(policy.find("EXEMPTION"), 9, exemption);
    return play(scenario("  steps:\n    - delete: configmaps/shop/settings\n", cluster(strict) + policy));
  };
  const ScenarioReport allowed = labelled("free");
  EXPECT_EQ(allowed.end, End::Empty);
  EXPECT_THAT(told(allowed), Contains("0.020 s  lastout writes the labels of configmaps/shop/settings"));
  const ScenarioReport denied = labelled("example.com/other");
  EXPECT_EQ(denied.end, End::Stuck);
  EXPECT_THAT(told(denied), Contains(HasSubstr("lastout asks to write configmaps/shop/settings: denied, ")));
}

TEST(PoliciesInScenarios, MistakesInAMergeSayWhatIsPossible) {
  const auto merge = [](const std::string& what) {
    return mistakes(scenario("  steps:\n    - patch: {object: configmaps/shop/settings, merge: " + what + "}",
                             cluster()));
  };
  EXPECT_THAT(merge("1"), ElementsAre(HasSubstr("spec.steps[0].patch.merge is an integer; write a map")));
  EXPECT_THAT(merge("{kind: Secret}"), ElementsAre(HasSubstr("a patch does not change what an object is")));
  EXPECT_THAT(merge("{metadata: {name: x}}"), ElementsAre(HasSubstr("a merge has labels and annotations")));
  EXPECT_THAT(merge("{metadata: {labels: {a: 1}}}"),
              ElementsAre(HasSubstr("each value is a text, or null to remove the key")));
  EXPECT_THAT(merge("{data: {a: b}}"),
              ElementsAre(HasSubstr("configmaps/shop/settings is not a custom resource")));
}

TEST(PoliciesInScenarios, AProfileIsThereAllTheTime) {
  const std::string protectedOne =
      kShop + configMap("settings", "resourcetemplate.karmada.io/deletion-protected: Always");
  const std::string steps = "  steps:\n    - {delete: configmaps/shop/settings, retry: false}";
  EXPECT_EQ(play(scenario("  profiles: [karmada]\n" + steps, protectedOne)).end, End::Stuck);
  EXPECT_EQ(play(scenario(steps, protectedOne)).end, End::Empty);
  EXPECT_THAT(mistakes(scenario("  profiles: [karmda]\n  steps: []", protectedOne)),
              ElementsAre(HasSubstr("s.yaml:4:14: spec.profiles[0]: there is no profile \"karmda\"; did you "
                                    "mean \"karmada\"?")));
}

TEST(PoliciesInScenarios, MistakesSayWhereTheyStand) {
  EXPECT_THAT(mistakes(scenario("  steps: []", kShop + R"(---
apiVersion: lastout.dev/v1alpha1
kind: DeletionPolicy
metadata: {name: keep}
spec:
  objects: [{resources: [{group: "", resource: configmaps}]}]
  wehn: []
)")),
              ElementsAre(HasSubstr("s.yaml:15:3: spec.\"wehn\" is no known field")));
}

}  // namespace
}  // namespace lastout::replay

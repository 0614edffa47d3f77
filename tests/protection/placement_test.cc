// Where each part of a policy runs, and why.
#include "protection/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protection/cel.h"
#include "tests/protection/policies.h"

namespace lastout::protection {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

std::vector<std::string> placesOf(std::string_view spec, PolicyMode mode = PolicyMode::ApiServer) {
  std::vector<std::string> lines;
  for (const Placement& one : placementsOf(policyOf(spec), mode))
    lines.push_back(std::string(toString(one.place)) + ": " + one.part);
  return lines;
}

constexpr const char* kDeployments = "  objects: [{resources: [{group: apps, resource: deployments}]}]\n";

TEST(Placement, WhatARequestTellsRunsInTheApiServer) {
  EXPECT_THAT(placesOf(std::string(kDeployments) + "  when: [{label: a/b}]\n  blocks: [Delete, Unprotect]\n"
                                                   "  namespaces: Ignore\n"),
              ElementsAre("API server: DELETE, when label a/b",
                          "API server: UPDATE that takes the protection away, when label a/b"));
}

// Unprotect is about labels and annotations: a field may be changed by whoever may write the object.
TEST(Placement, UnprotectKeepsNoField) {
  const std::string both =
      std::string(kDeployments) + "  blocks: [Delete, Unprotect]\n  namespaces: Ignore\n";
  EXPECT_THAT(placesOf(both + "  when: [{label: a/b}, {field: {path: spec.kept}}]\n"),
              ElementsAre("API server: DELETE, when label a/b", "API server: DELETE, when spec.kept: true",
                          "API server: UPDATE that takes the protection away, when label a/b",
                          "out of reach: UPDATE that changes field spec.kept"));
  EXPECT_THAT(placesOf(both), ElementsAre("API server: DELETE, at all times"));
  const std::string labelled =
      "  objects: [{resources: [{group: apps, resource: deployments}], labelSelector: {matchLabels: {a: "
      "b}}}]\n"
      "  blocks: [Unprotect]\n";
  EXPECT_THAT(
      placesOf(labelled),
      ElementsAre("API server: UPDATE of labels that takes it out of the policy's objects, at all times"));
  EXPECT_THAT(
      placesOf(labelled + "  when: [{active: Replicas}]\n"),
      ElementsAre("API server: UPDATE of labels that takes it out of the policy's objects, when replicas",
                  "out of reach: UPDATE that changes field spec.replicas"));
}

TEST(Placement, ANamespaceHoldsNothingThatIsClusterScoped) {
  const std::string held = "webhook: DELETE of a namespace that holds a protected object";
  const auto of = [](const std::string& resources) {
    return placesOf("  objects: [{resources: [" + resources + "]}]\n  when: [{label: a/b}]\n");
  };
  const std::string definitions = "{group: apiextensions.k8s.io, resource: customresourcedefinitions}";
  EXPECT_THAT(of(definitions), Not(Contains(held)));
  EXPECT_THAT(of("{resource: namespaces}, {resource: nodes}"), Not(Contains(held)));
  EXPECT_THAT(of(definitions + ", {resource: pods}"), Contains(held));
  EXPECT_THAT(of("{group: example.com, resource: things}"), Contains(held)) << "they may be in namespaces";
}

constexpr const char* kNotAsked =
    "out of reach: namespace kube-system, that of lastout, and what is in them, as far as the webhook "
    "decides";

TEST(Placement, WhatNeedsOtherObjectsRunsInTheWebhook) {
  EXPECT_THAT(
      placesOf("  objects: [{resources: [{resource: namespaces}]}]\n  when: [{label: a/b, active: Pods}]\n"
               "  namespaces: Ignore\n"),
      ElementsAre("webhook: DELETE, when label a/b, and active Pods", kNotAsked));
  EXPECT_THAT(placesOf(std::string(kDeployments) + "  code: 409\n  namespaces: Ignore\n"),
              ElementsAre("webhook: DELETE, at all times", kNotAsked));
  EXPECT_THAT(placesOf(std::string(kDeployments) + "  namespaces: Ignore\n", PolicyMode::Webhook),
              ElementsAre("webhook: DELETE, at all times", kNotAsked));
}

TEST(Placement, WhatHoldsProtectedObjectsRunsInTheWebhook) {
  const auto places =
      placesOf("  objects: [{resources: [{group: \"*\", resource: \"*\"}]}]\n  when: [{label: a/b}]\n");
  EXPECT_THAT(places, Contains("webhook: DELETE of a namespace that holds a protected object"));
  EXPECT_THAT(places, Contains("webhook: DELETE of a CustomResourceDefinition with a protected instance"));
}

TEST(Placement, TheControllerRepeatsDeletions) {
  const std::string listed = "  listedBy: {group: a.b, resource: cs, apiVersion: a, kind: b";
  const std::string repeats =
      "controller: deletion by annotation once nothing lists the object, where cs.a.b have spec.again: true";
  EXPECT_THAT(placesOf(listed + ", replay: spec.again}\n"), Contains(repeats));
  EXPECT_THAT(placesOf(listed + "}\n"), Not(Contains(repeats)));
}

TEST(Placement, SaysWhatIsOutOfReach) {
  const std::string all =
      "  objects: [{resources: [{group: \"*\", resource: \"*\"}]}]\n  when: [{label: a/b}]\n";
  EXPECT_THAT(placesOf(all), Contains("out of reach: objects of aggregated APIs"));
  EXPECT_THAT(placesOf(all), Contains("out of reach: eviction of a Pod"));
  EXPECT_THAT(placesOf(all),
              Not(Contains("out of reach: webhook configurations, as far as the webhook decides")));
  EXPECT_THAT(placesOf(all, PolicyMode::Webhook),
              Contains("out of reach: webhook configurations, as far as the webhook decides"));
  EXPECT_THAT(placesOf(kDeployments), Not(Contains("out of reach: eviction of a Pod")));
}

// The API server asks the webhook about nothing there, whatever the policy says.
TEST(Placement, SaysWhereTheWebhookIsNotAsked) {
  const std::string labelled = "  objects: [{resources: [{resource: configmaps}]}]\n  when: [{label: a/b}]\n";
  EXPECT_THAT(placesOf(labelled, PolicyMode::Webhook), Contains(kNotAsked));
  EXPECT_THAT(placesOf(labelled + "  namespaces: Ignore\n"), Not(Contains(kNotAsked)))
      << "API servers evaluate it there, too";
  EXPECT_THAT(placesOf("  listedBy: {group: a.b, resource: uses, apiVersion: apiVersion, kind: kind}\n"),
              Contains(kNotAsked));
  EXPECT_THAT(placesOf("  objects: [{resources: [{resource: nodes}]}]\n  when: [{label: a/b}]\n",
                       PolicyMode::Webhook),
              Not(Contains(kNotAsked)))
      << "what is cluster-scoped is asked about";
}

TEST(Placement, SaysOnWhichClusterAnAncestorIs) {
  const std::vector<Placement> all = placementsOf(
      policyOf(std::string(kDeployments) +
               "  when: [{ancestor: {groupLabel: a/g, versionLabel: a/v, kindLabel: a/k, nameLabel: a/n, "
               "cluster: control-plane, field: {path: spec.on}}}]\n"),
      PolicyMode::ApiServer);
  EXPECT_EQ(all.front().place, EnforcementPoint::Webhook);
  EXPECT_EQ(all.front().part, "DELETE, when an ancestor on cluster control-plane with spec.on: true");
  EXPECT_EQ(all.front().why,
            "it needs an object on cluster control-plane, which serve --policy-cluster makes known");
}

TEST(Placement, SaysThatANamespacedListerIsConfined) {
  const std::string listed = "  listedBy: {group: a.b, resource: uses, apiVersion: apiVersion, kind: kind";
  const auto confined = Contains("out of reach: cluster-scoped objects that namespaced uses.a.b list");
  EXPECT_THAT(placesOf(listed + ", in: OwnNamespace}\n"), confined);
  EXPECT_THAT(placesOf(listed + ", in: OwnUnlessNamed}\n"), confined);
  EXPECT_THAT(placesOf(listed + "}\n"), Not(confined));
}

TEST(Placement, AHeldObjectIsTheControllers) {
  EXPECT_THAT(
      placesOf(std::string(kDeployments) +
               "  when: [{field: {path: spec.protected}}]\n  namespaces: Ignore\n  enforcement: Hold\n"
               "  hold: {finalizer: a/held, finalizersOfOthers: [a/operator]}\n"),
      ElementsAre(
          "controller: held by finalizer a/held, when spec.protected: true",
          "API server: DELETE, when spec.protected: true, of what has no finalizer a/held yet, or one of "
          "another operator"));
}

TEST(Placement, NothingIsMadeForTheApiServerWhereAllRunsInTheWebhook) {
  EXPECT_TRUE(admissionPoliciesOf(policyOf(std::string(kDeployments) + "  code: 409\n")).empty());
  EXPECT_EQ(admissionPoliciesOf(policyOf(kDeployments)).size(), 2U);
}

// Who may force is told by the API server alone, whatever the code of a denial.
TEST(Placement, OfAHeldObjectThatIsDeniedByTheWebhookOnlyTheGuardIsMade) {
  const auto made = admissionPoliciesOf(
      policyOf(std::string(kDeployments) +
               "  when: [{field: {path: spec.protected}}]\n  code: 409\n  enforcement: Hold\n"
               "  hold: {finalizer: a.b/held, finalizersOfOthers: [a.b/operator], "
               "force: {annotation: a.b/force}}\n"));
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0]["metadata"]["name"], "lastout-force-p");
}

}  // namespace
}  // namespace lastout::protection

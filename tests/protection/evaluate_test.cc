// What a policy says to a request: when it blocks, what lifts it, and in which words.
#include "protection/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "protection/cel.h"
#include "protection/implied.h"
#include "protection/message.h"
#include "tests/protection/policies.h"
#include "tests/protection/requests.h"

namespace lastout::protection {
namespace {

using ::testing::HasSubstr;

std::string deployment(std::string_view metadata) {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop" +
         std::string(metadata) + "}\nspec: {paused: true, replicas: 2}\n";
}

constexpr const char* kLabelled = R"(  objects: [{resources: [{group: "*", resource: "*"}]}]
  when: [{label: example.com/protect, values: [Always]}]
)";

TEST(Judge, ALabelProtectsByItsValue) {
  const DeletionPolicy policy = policyOf(kLabelled);
  EXPECT_EQ(messageFor(policy, Asked(deployment(", labels: {example.com/protect: Always}"))),
            "deployments.apps web in namespace \"shop\" must not be deleted: label example.com/protect is "
            "Always, says deletion policy p");
  EXPECT_EQ(messageFor(policy, Asked(deployment(", labels: {example.com/protect: always}"))), "");
  EXPECT_EQ(messageFor(policy, Asked(deployment(""))), "");
}

TEST(Judge, AnAnnotationIsNoLabel) {
  const DeletionPolicy policy = policyOf(kLabelled);
  EXPECT_EQ(messageFor(policy, Asked(deployment(", annotations: {example.com/protect: Always}"))), "");
}

TEST(Judge, AFieldProtectsAndItsAbsenceAsThePolicySays) {
  const std::string objects = "  objects: [{resources: [{group: apps, resource: deployments}]}]\n";
  EXPECT_THAT(
      messageFor(policyOf(objects + "  when: [{field: {path: spec.paused}}]\n"), Asked(deployment(""))),
      HasSubstr("spec.paused is true"));
  EXPECT_EQ(messageFor(policyOf(objects + "  when: [{field: {path: spec.paused, equals: false}}]\n"),
                       Asked(deployment(""))),
            "");
  EXPECT_EQ(messageFor(policyOf(objects + "  when: [{field: {path: spec.other}}]\n"), Asked(deployment(""))),
            "");
  EXPECT_NE(messageFor(policyOf(objects + "  when: [{field: {path: spec.other, whenAbsent: Protected}}]\n"),
                       Asked(deployment(""))),
            "");
  EXPECT_NE(messageFor(policyOf(objects + "  when: [{field: {path: spec.replicas, equals: 2}}]\n"),
                       Asked(deployment(""))),
            "");
}

TEST(Judge, WithoutCasesTheObjectsAreProtectedAtAllTimes) {
  const DeletionPolicy policy =
      policyOf("  objects: [{resources: [{group: apps, resource: deployments}], names: [web]}]\n");
  EXPECT_NE(messageFor(policy, Asked(deployment(""))), "");
}

TEST(Judge, AnExceptionIsNotProtected) {
  const DeletionPolicy policy = policyOf(std::string(kLabelled) +
                                         "  exceptObjects: [{resources: [{group: apps, resource: "
                                         "\"*\"}], namespaces: [shop]}]\n");
  EXPECT_EQ(messageFor(policy, Asked(deployment(", labels: {example.com/protect: Always}"))), "");
}

TEST(Judge, AnOverrideLetsItBeDeletedWithThatValueAlone) {
  const DeletionPolicy policy =
      policyOf(std::string(kLabelled) + "  overrides: [{label: example.com/allow, values: [\"true\"]}]\n");
  EXPECT_EQ(
      messageFor(policy,
                 Asked(deployment(", labels: {example.com/protect: Always, example.com/allow: \"true\"}"))),
      "");
  EXPECT_THAT(
      messageFor(policy,
                 Asked(deployment(", labels: {example.com/protect: Always, example.com/allow: \"yes\"}"))),
      HasSubstr("; label example.com/allow: true overrides that"));
}

TEST(Judge, ExemptUsersAndGroupsMay) {
  const DeletionPolicy policy =
      policyOf(std::string(kLabelled) + "  exempt: {users: [root], groups: [admins]}\n");
  Asked asked(deployment(", labels: {example.com/protect: Always}"));
  EXPECT_NE(messageFor(policy, asked), "");
  asked.request.groups = {"people", "admins"};
  EXPECT_EQ(messageFor(policy, asked), "");
  asked.request.groups = {};
  asked.request.user = "root";
  EXPECT_EQ(messageFor(policy, asked), "");
}

TEST(Judge, ATerminatingObjectIsProtectedUnlessSkipped) {
  const std::string object =
      deployment(", labels: {example.com/protect: Always}, deletionTimestamp: \"2026-01-01T00:00:00Z\"");
  EXPECT_NE(messageFor(policyOf(kLabelled), Asked(object)), "");
  EXPECT_EQ(messageFor(policyOf(std::string(kLabelled) + "  skipTerminating: true\n"), Asked(object)), "");
}

// As `policy show` says it; a denial, what it implies, and an API server all say why.
TEST(Judge, APolicyWithoutCasesSaysThatItProtectsAtAllTimes) {
  const DeletionPolicy policy = policyOf(
      "  objects: [{resources: [{group: apps, resource: deployments}]}]\n  blocks: [Delete, Orphan]\n");
  const Asked asked(deployment(""));
  const auto denial = judge(policy, asked.request, ToldFacts());
  ASSERT_TRUE(denial);
  EXPECT_EQ(denial->reason, "it is protected at all times");
  EXPECT_THAT(denial->message,
              HasSubstr("must not be deleted: it is protected at all times, says deletion policy p"));
  EXPECT_THAT(impliedBy(policy, {{"", "namespaces"}, "", "shop"}, asked.request.object, *denial).message,
              HasSubstr("which DeletionPolicy p protects (it is protected at all times): unprotect that"));
  EXPECT_THAT(admissionPoliciesOf(policy).front().dump(), HasSubstr("'it is protected at all times'"));
}

TEST(Judge, OrphanAloneIsBlockedWhereThePolicySaysSo) {
  const DeletionPolicy policy = policyOf(std::string(kLabelled) + "  blocks: [Orphan]\n");
  Asked asked(deployment(", labels: {example.com/protect: Always}"));
  EXPECT_EQ(messageFor(policy, asked), "");
  asked.request.orphans = true;
  EXPECT_THAT(messageFor(policy, asked), HasSubstr("must not be deleted with Orphan"));
}

constexpr const char* kStrict = R"(  objects: [{resources: [{group: "*", resource: "*"}]}]
  when: [{label: example.com/protect}]
  blocks: [Unprotect]
  exemptions: [{label: example.com/exempt, values: ["true"]}]
)";

TEST(Judge, StrictKeepsTheLabelAndItsValue) {
  const DeletionPolicy policy = policyOf(kStrict);
  const std::string labelled = deployment(", labels: {example.com/protect: \"true\"}");
  EXPECT_THAT(messageFor(policy, Asked(labelled, deployment(""))), HasSubstr("must keep what protects it"));
  EXPECT_NE(messageFor(policy, Asked(labelled, deployment(", labels: {example.com/protect: \"false\"}"))),
            "");
  EXPECT_EQ(
      messageFor(policy, Asked(labelled, deployment(", labels: {example.com/protect: \"true\", a: b}"))), "");
  EXPECT_EQ(messageFor(policy, Asked(deployment(""), deployment(""))), "");
  EXPECT_EQ(messageFor(policy, Asked(labelled)), "") << "it does not block deletions";
}

TEST(Judge, AnExemptionCountsInTheNewObjectAlone) {
  const DeletionPolicy policy = policyOf(kStrict);
  const std::string labelled = deployment(", labels: {example.com/protect: \"true\"}");
  EXPECT_EQ(messageFor(policy, Asked(labelled, deployment(", labels: {example.com/exempt: \"true\"}"))), "");
  EXPECT_NE(messageFor(policy, Asked(labelled, deployment(", labels: {example.com/exempt: \"yes\"}"))), "");
  EXPECT_NE(
      messageFor(policy, Asked(deployment(", labels: {example.com/protect: \"true\", example.com/exempt: "
                                          "\"true\"}"),
                               deployment(""))),
      "");
}

TEST(Judge, StrictKeepsWhatThePolicySelectsBy) {
  const DeletionPolicy policy = policyOf(R"(  objects:
  - resources: [{group: "*", resource: "*"}]
    labelSelector: {matchLabels: {team: db}}
  when: [{label: example.com/protect}]
  blocks: [Unprotect]
)");
  const std::string selected = deployment(", labels: {example.com/protect: \"1\", team: db}");
  EXPECT_NE(
      messageFor(policy, Asked(selected, deployment(", labels: {example.com/protect: \"1\", team: web}"))),
      "");
}

constexpr const char* kManaged = R"(  objects: [{resources: [{group: "*", resource: "*"}]}]
  when:
  - ancestor:
      groupLabel: example.com/group
      versionLabel: example.com/version
      kindLabel: example.com/kind
      nameLabel: example.com/name
      field: {path: spec.protected}
)";

TEST(Judge, AnAncestorDecides) {
  using Kind = AncestorState::Kind;
  const DeletionPolicy policy = policyOf(kManaged);
  ToldFacts facts;
  const auto message = [&](Kind kind, std::string detail) {
    facts.ancestorState = {kind, std::move(detail)};
    return messageFor(policy, Asked(deployment("")), facts);
  };
  EXPECT_THAT(message(Kind::Protects, "composites.example.com/pg"),
              HasSubstr("it belongs to composites.example.com/pg, which is protected"));
  EXPECT_THAT(message(Kind::Incomplete, "example.com/kind"),
              HasSubstr("its label example.com/kind is missing or empty"));
  EXPECT_THAT(message(Kind::Unknown, "nobody answers"), HasSubstr("cannot be found out: nobody answers"));
  for (const Kind free : {Kind::Frees, Kind::Gone, Kind::NotManaged}) EXPECT_EQ(message(free, "x"), "");
}

TEST(Judge, ChildrenProtectAndADoubtDoesToo) {
  const DeletionPolicy policy =
      policyOf(R"(  objects: [{resources: [{group: db.example.com, resource: databases}]}]
  when: [{children: [{group: db.example.com, resource: grants, field: spec.databaseRef.name}]}]
)");
  const Asked asked("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n");
  ToldFacts facts;
  Request request = asked.request;
  request.object.type = {"db.example.com", "databases"};
  EXPECT_FALSE(judge(policy, request, facts));
  facts.counts[{"db.example.com", "grants"}] = {2, "DatabaseGrant/reader", std::nullopt};
  EXPECT_EQ(judge(policy, request, facts)->reason,
            "2 grants.db.example.com that refer to it (DatabaseGrant/reader, …)");
  facts.counts[{"db.example.com", "grants"}] = {0, "", "the watch is broken"};
  EXPECT_TRUE(judge(policy, request, facts)->isUncertain);
}

TEST(Judge, CascadingNeedsLabelAndActivity) {
  const DeletionPolicy policy = policyOf(R"(  objects: [{resources: [{resource: namespaces}]}]
  when: [{label: example.com/protect, values: [Cascading], active: Pods}]
)");
  const Asked asked(
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, labels: {example.com/protect: Cascading}}\n");
  ToldFacts facts;
  EXPECT_FALSE(judge(policy, asked.request, facts));
  facts.activities[Activity::Pods] = {3, "web-1", std::nullopt};
  EXPECT_EQ(judge(policy, asked.request, facts)->reason,
            "label example.com/protect is Cascading and 3 active Pods in it (web-1, …)");
  EXPECT_FALSE(judge(policy, asked.request, facts, CaseScope::Local)) << "the API server cannot count Pods";
}

TEST(Judge, AListerProtects) {
  const DeletionPolicy policy = policyOf(
      "  listedBy: {group: example.com, resource: protections, apiVersion: apiVersion, kind: kind}\n");
  ToldFacts facts;
  const Asked asked(deployment(""));
  EXPECT_FALSE(judge(policy, asked.request, facts));
  facts.listersTold = {1, "protections.example.com/sample", "sample", "", "", std::nullopt};
  EXPECT_EQ(judge(policy, asked.request, facts)->reason, "protections.example.com/sample lists it");
  facts.listersTold.unknown = "forbidden";
  EXPECT_TRUE(judge(policy, asked.request, facts)->isUncertain);
}

TEST(Message, TheWordsOfAPolicy) {
  DeletionPolicy policy =
      policyOf(std::string(kLabelled) +
               "  message: '[{kind} \"{name}\"]{inNamespace}, {resource} of {namespace}: {reason}'\n");
  EXPECT_EQ(
      messageFor(policy, Asked(deployment(", labels: {example.com/protect: Always}"))),
      "[Deployment \"web\"] in namespace \"shop\", deployments.apps of shop: label example.com/protect is "
      "Always");
  EXPECT_EQ(parseMessage("a {nam} b").error(), "nam");
  EXPECT_EQ(parseMessage("a {name b").error(), "{name b");
}

constexpr const char* kHolds = R"(  objects: [{resources: [{resource: pods}]}]
  when: [{label: example.com/protect}]
  enforcement: Hold
  hold:
    finalizer: example.com/held
    finalizersOfOthers: [example.com/other]
    force: {annotation: example.com/force, values: ["true"]}
)";

std::string heldPod(std::string_view metadata) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: shop, " + std::string(metadata) + "}\n";
}

TEST(Evaluate, TheDeletionOfWhatIsHeldIsAccepted) {
  const DeletionPolicy policy = policyOf(kHolds);
  const Asked held(heldPod("labels: {example.com/protect: a}, finalizers: [example.com/held]"));
  EXPECT_FALSE(judge(policy, held.request, ToldFacts()));
  EXPECT_EQ(protectionOf(policy, held.request), "label example.com/protect is a");
  EXPECT_FALSE(protectionOf(policy, Asked(heldPod("labels: {}")).request));
}

// It would be gone at once: nothing keeps it.
TEST(Evaluate, TheDeletionOfWhatHasNoFinalizerYetIsDenied) {
  const DeletionPolicy policy = policyOf(kHolds);
  const auto denial = [&](const std::string& metadata) {
    const auto made = judge(policy, Asked(heldPod(metadata)).request, ToldFacts());
    return made ? made->message : "";
  };
  EXPECT_EQ(denial("labels: {example.com/protect: a}"),
            "pods a in namespace \"shop\" must not be deleted: label example.com/protect is a, says deletion "
            "policy p; it has no finalizer example.com/held yet, so it cannot be held: try again, or run "
            "lastout serve with --hold-policies");
  EXPECT_NE(denial("labels: {example.com/protect: a}, finalizers: [example.com/third]"), "");
  EXPECT_EQ(denial("labels: {}"), "");
  EXPECT_EQ(denial("labels: {example.com/protect: a}, annotations: {example.com/force: \"true\"}"), "");
  EXPECT_EQ(denial("labels: {example.com/protect: a}, finalizers: [example.com/third], "
                   "deletionTimestamp: \"2026-01-01T00:00:00Z\""),
            "")
      << "it takes no finalizer any more";
  EXPECT_FALSE(holdOf(policy, Asked(heldPod("labels: {example.com/protect: a}")).request, ToldFacts()));
  const Asked held(heldPod("labels: {example.com/protect: a}, finalizers: [example.com/held]"));
  EXPECT_TRUE(holdOf(policy, held.request, ToldFacts()));
}

TEST(Evaluate, TheDeletionOfAParentThatHasNoFinalizerYetIsDenied) {
  const DeletionPolicy policy = policyOf(
      "  objects: [{resources: [{resource: pods}]}]\n"
      "  when: [{children: [{resource: secrets, label: example.com/of}]}]\n"
      "  enforcement: Hold\n  hold: {finalizer: example.com/held}\n");
  ToldFacts facts;
  const Asked unheld(heldPod("labels: {}"));
  EXPECT_FALSE(judge(policy, unheld.request, facts));
  facts.counts[{"", "secrets"}] = {1, "Secret/s", std::nullopt};
  EXPECT_TRUE(judge(policy, unheld.request, facts));
  EXPECT_FALSE(judge(policy, unheld.request, facts, CaseScope::Local)) << "the API server cannot count";
  EXPECT_FALSE(judge(policy, Asked(heldPod("finalizers: [example.com/held]")).request, facts));
}

TEST(Evaluate, WhatAnotherOperatorDeletesIsDeniedInstead) {
  const DeletionPolicy policy = policyOf(kHolds);
  const std::string others = "finalizers: [example.com/other], ";
  const auto denied = [&](const std::string& metadata) {
    return judge(policy, Asked(heldPod(others + metadata)).request, ToldFacts()).has_value();
  };
  EXPECT_TRUE(denied("labels: {example.com/protect: a}"));
  EXPECT_FALSE(denied("labels: {}"));
  EXPECT_FALSE(denied("labels: {example.com/protect: a}, annotations: {example.com/force: \"true\"}"));
  EXPECT_TRUE(denied("labels: {example.com/protect: a}, annotations: {example.com/force: \"yes\"}"));
}

}  // namespace
}  // namespace lastout::protection

// A DeletionPolicy's manifest: what is read from it, and what each mistake is told as.
#include "kube/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/protection/policies.h"

namespace lastout::protection {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string problemsOf(std::string_view spec) {
  const auto read = parsePolicies(policyText(spec), "p.yaml");
  return read ? "" : testing::lines(read.error());
}

constexpr const char* kEverything = R"(  objects:
  - resources: [{group: "*", resource: "*"}]
)";

TEST(ParsePolicy, ReadsWhatAProfileSays) {
  const DeletionPolicy policy = policyOf(R"(  objects:
  - resources:
    - {group: apps, resource: deployments}
    - {resource: services}
    namespaces: [shop]
    labelSelector: {matchLabels: {app: web}}
  exceptObjects:
  - resources: [{group: apps, resource: deployments}]
    names: [canary]
  when:
  - {label: example.com/protect, values: [Always, "yes"]}
  - field: {path: .spec.deletionProtection, equals: true, whenAbsent: Protected}
    annotation: example.com/tier
  blocks: [Delete, Unprotect]
  overrides: [{annotation: example.com/allow, values: ["true"]}]
  exemptions: [{label: example.com/exempt, values: ["true"]}]
  exempt: {users: [admin], groups: ["system:masters"]}
  cleanupOnShutdown: true
  skipTerminating: true
  namespaces: Ignore
  message: "{kind} {name}{inNamespace} stays: {reason}"
  webhookName: protect.example.com
  failurePolicy: Ignore
)");
  EXPECT_EQ(policy.meta.name, "p");
  ASSERT_EQ(policy.objects.size(), 1U);
  EXPECT_THAT(policy.objects[0].resources,
              ElementsAre(ResourcePattern{"apps", "deployments"}, ResourcePattern{"", "services"}));
  EXPECT_THAT(policy.objects[0].namespaces, ElementsAre("shop"));
  EXPECT_TRUE(policy.objects[0].labels.matches({{"app", "web"}}));
  EXPECT_FALSE(policy.objects[0].labels.matches({}));
  ASSERT_EQ(policy.when.size(), 2U);
  EXPECT_EQ(toString(policy.when[0]), "label example.com/protect: Always or yes");
  EXPECT_EQ(toString(policy.when[1]), "annotation example.com/tier, and spec.deletionProtection: true");
  EXPECT_TRUE(policy.when[1].field->whenAbsent);
  EXPECT_TRUE(policy.blocksAny(Block::Unprotect));
  EXPECT_FALSE(policy.blocksAny(Block::Orphan));
  EXPECT_EQ(toString(policy.overrides.front()), "annotation example.com/allow: true");
  EXPECT_THAT(policy.exemptGroups, ElementsAre("system:masters"));
  EXPECT_TRUE(policy.cleansUpOnShutdown);
  EXPECT_TRUE(policy.skipTerminating);
  EXPECT_EQ(policy.namespaces, Implication::Ignore);
  EXPECT_EQ(policy.crds, Implication::Imply);
  EXPECT_FALSE(policy.failsClosed);
}

TEST(ParsePolicy, ReadsWhatNeedsOtherObjects) {
  const DeletionPolicy policy = policyOf(std::string(kEverything) + R"(  when:
  - ancestor:
      groupLabel: example.com/group
      versionLabel: example.com/version
      kindLabel: example.com/kind
      nameLabel: example.com/name
      cluster: control-plane
      field: {path: spec.protected}
  - children:
    - {group: db.example.com, resource: grants, field: spec.databaseRef.name, namespaceField: spec.databaseRef.namespace}
    - {resource: configmaps, label: example.com/parent}
    - {resource: pods, ownerReference: true}
  - {label: example.com/protect, values: [Cascading], active: Pods}
)");
  EXPECT_FALSE(policy.when[0].isLocal());
  EXPECT_EQ(policy.when[0].ancestor->nameLabel, "example.com/name");
  EXPECT_EQ(policy.when[0].ancestor->cluster, "control-plane");
  ASSERT_EQ(policy.when[1].children.size(), 3U);
  EXPECT_EQ(toString(policy.when[1].children[0].name), "spec.databaseRef.name");
  EXPECT_EQ(policy.when[1].children[1].by, ChildrenTest::By::Label);
  EXPECT_EQ(policy.when[1].children[2].by, ChildrenTest::By::OwnerReference);
  EXPECT_EQ(policy.when[2].activity, Activity::Pods);
}

TEST(ParsePolicy, ReadsWhatObjectsList) {
  const DeletionPolicy policy = policyOf(R"(  listedBy:
    group: example.com
    resource: uses
    apiVersion: apiVersion
    kind: kind
    matchNamespace: selector.namespace
    matchController: selector.sameController
    in: OwnUnlessNamed
    because: ['used by {spec.by.kind} {spec.by.name}!', no field]
    replay: .spec.again
  message: 'in use by {count}, as {listerNamespace}/{listerName} says{because}'
)");
  const ListedBy& listed = *policy.listedBy;
  EXPECT_EQ(toString(*listed.matchNamespace), "selector.namespace");
  EXPECT_EQ(toString(*listed.matchController), "selector.sameController");
  EXPECT_EQ(listed.in, ListedIn::OwnUnlessNamed);
  ASSERT_EQ(listed.because.size(), 2U);
  ASSERT_EQ(listed.because[0].size(), 5U);
  EXPECT_EQ(listed.because[0][0].text, "used by ");
  EXPECT_EQ(toString(*listed.because[0][1].field), "spec.by.kind");
  EXPECT_EQ(listed.because[0][4].text, "!");
  EXPECT_EQ(listed.because[1][0].text, "no field");
  EXPECT_EQ(toString(*listed.replay), "spec.again");
}

constexpr const char* kPods = "  objects: [{resources: [{resource: pods}]}]\n";
constexpr const char* kWhenLabelled = "  when: [{label: a/b}]\n";

TEST(ParsePolicy, ReadsHowObjectsAreHeld) {
  const DeletionPolicy policy = policyOf(std::string(kPods) + kWhenLabelled + R"(  enforcement: Hold
  hold:
    finalizer: example.com/pod
    finalizersOfOthers: [example.com/other]
    pauses: [{annotation: example.com/pause}]
    force: {annotation: example.com/force, values: ["true"], starts: OnlyWhenDeleting, requires: Nothing}
    confirmAnnotation: example.com/confirm
    external: {field: spec.policy, default: Delete, allowed: [Delete, Retain], reportedBy: {condition: Dropped}}
    status:
      phaseField: status.state
      messageField: status.text
      confirmationField: status.confirm
      condition: Healthy
      phases: {blocked: Stuck, pending: Asking, deleting: Going}
    reasons: {protected: P, children: C, pending: A, cascading: G, event: E}
    messages: {protected: "{kind} {name} stays: {reason}", pending: "{reason} go"}
    lookAgain: 5s
    retryAfter: 1m
)");
  EXPECT_EQ(policy.enforcement(), Enforcement::Hold);
  const Hold& hold = *policy.hold;
  EXPECT_EQ(hold.finalizer, "example.com/pod");
  EXPECT_THAT(hold.finalizersOfOthers, ElementsAre("example.com/other"));
  EXPECT_EQ(toString(hold.pauses.at(0)), "annotation example.com/pause");
  EXPECT_EQ(hold.force->starts, Force::Starts::OnlyWhenDeleting);
  EXPECT_FALSE(hold.force->requiresDelete);
  EXPECT_EQ(hold.confirmAnnotation, "example.com/confirm");
  EXPECT_EQ(toString(*hold.external->field), "spec.policy");
  EXPECT_THAT(hold.external->allowed, ElementsAre("Delete", "Retain"));
  EXPECT_EQ(toString(*hold.external->reportedBy), "condition Dropped");
  EXPECT_EQ(toString(hold.status.phase), "status.state");
  EXPECT_EQ(toString(hold.status.message), "status.text");
  EXPECT_EQ(toString(hold.status.confirmation), "status.confirm");
  EXPECT_EQ(hold.status.condition, "Healthy");
  EXPECT_EQ(hold.status.blocked + hold.status.pending + hold.status.deleting, "StuckAskingGoing");
  EXPECT_EQ(hold.words.isProtected + hold.words.hasChildren + hold.words.isPending + hold.words.isCascading +
                hold.words.event,
            "PCAGE");
  EXPECT_EQ(hold.words.protectedMessage, "{kind} {name} stays: {reason}");
  EXPECT_EQ(hold.words.pendingMessage, "{reason} go");
  EXPECT_EQ(hold.lookAgain, std::chrono::seconds(5));
  EXPECT_EQ(hold.retryAfter, std::chrono::seconds(60));
}

struct HoldMistake {
  const char* name;
  const char* more;  // below `objects`
  const char* told;
};

class HoldMistakes : public ::testing::TestWithParam<HoldMistake> {};

TEST_P(HoldMistakes, AreToldWithTheirField) {
  const std::string more = GetParam().more;
  const bool saysWhen = more.starts_with("  when");
  EXPECT_THAT(problemsOf(kPods + (saysWhen ? more : kWhenLabelled + more)), HasSubstr(GetParam().told));
}

INSTANTIATE_TEST_SUITE_P(
    ParsePolicy, HoldMistakes,
    ::testing::Values(
        HoldMistake{"NoBlock", "  enforcement: Hold\n", "spec.hold is missing"},
        HoldMistake{"NotHeld", "  hold: {finalizer: a.b/c}\n", "spec.hold goes with enforcement: Hold alone"},
        HoldMistake{"Word", "  enforcement: Warn\n", "spec.enforcement"},
        HoldMistake{"FinalizerOfKubernetes",
                    "  enforcement: Hold\n  hold: {finalizer: kubernetes.io/pvc-protection}\n",
                    "must be of a domain of yours, not of kubernetes.io"},
        HoldMistake{"FinalizerOfLastout", "  enforcement: Hold\n  hold: {finalizer: x.lastout.dev/held}\n",
                    "must be of a domain of yours, not of lastout.dev"},
        HoldMistake{"Finalizer", "  enforcement: Hold\n  hold: {finalizer: keep}\n",
                    "spec.hold.finalizer must be a name with a domain"},
        HoldMistake{"OwnAmongOthers",
                    "  enforcement: Hold\n  hold: {finalizer: a.b/c, finalizersOfOthers: [a.b/c]}\n",
                    "spec.hold.finalizersOfOthers names spec.hold.finalizer itself"},
        HoldMistake{"ForceByLabel",
                    "  enforcement: Hold\n  hold: {finalizer: a.b/c, force: {label: a.b/f}}\n",
                    "spec.hold.force.label cannot force a deletion"},
        HoldMistake{"ConfirmNothing",
                    "  enforcement: Hold\n  hold: {finalizer: a.b/c, confirmAnnotation: a.b/d}\n",
                    "spec.hold.force asks for, which is missing"},
        HoldMistake{"NoDefault",
                    "  enforcement: Hold\n  hold: {finalizer: a.b/c, external: {field: spec.a}}\n",
                    "spec.hold.external.default is missing"},
        HoldMistake{"DefaultNotAllowed",
                    "  enforcement: Hold\n  hold: {finalizer: a.b/c, external: {default: A, allowed: [B]}}\n",
                    "spec.hold.external.default is not among spec.hold.external.allowed"},
        HoldMistake{
            "NoReporter",
            "  enforcement: Hold\n  hold: {finalizer: a.b/c, external: {default: A, reportedBy: {}}}\n",
            "spec.hold.external.reportedBy names one place: an annotation or a condition"},
        HoldMistake{"TwoReporters",
                    "  enforcement: Hold\n  hold: {finalizer: a.b/c, external: {default: A, reportedBy: "
                    "{annotation: a/b, condition: B}}}\n",
                    "spec.hold.external.reportedBy names one place: an annotation or a condition"},
        HoldMistake{"ReportedByNoCondition",
                    "  enforcement: Hold\n  hold: {finalizer: a.b/c, external: {default: A, reportedBy: "
                    "{condition: \"a b\"}}}\n",
                    "spec.hold.external.reportedBy.condition is no type of a condition: \"a b\""},
        HoldMistake{"ReportedByOwnCondition",
                    "  enforcement: Hold\n  hold: {finalizer: a.b/c, external: {default: A, reportedBy: "
                    "{condition: Ready}}}\n",
                    "spec.hold.external.reportedBy: condition Ready has another meaning in spec.hold"},
        HoldMistake{"ReportedByForce",
                    "  enforcement: Hold\n  hold: {finalizer: a.b/c, force: {annotation: a.b/f}, external: "
                    "{default: A, reportedBy: {annotation: a.b/f}}}\n",
                    "spec.hold.external.reportedBy: annotation a.b/f has another meaning in spec.hold"},
        HoldMistake{"NoStatus",
                    "  enforcement: Hold\n  hold: {finalizer: a.b/c, status: {phaseField: spec.phase}}\n",
                    "spec.hold.status.phaseField must be a field of status"},
        HoldMistake{"Pause", "  enforcement: Hold\n  hold: {finalizer: a.b/c, lookAgain: 100ms}\n",
                    "spec.hold.lookAgain must be whole seconds"},
        HoldMistake{"Placeholder",
                    "  enforcement: Hold\n  hold: {finalizer: a.b/c, messages: {pending: \"{count}\"}}\n",
                    "spec.hold.messages.pending has {count}"},
        HoldMistake{"Blocks", "  enforcement: Hold\n  hold: {finalizer: a.b/c}\n  blocks: [Orphan]\n",
                    "spec.blocks must be Delete alone"},
        HoldMistake{"ChildrenAndMore",
                    "  when: [{label: a/b, children: [{resource: pods, ownerReference: true}]}]\n"
                    "  enforcement: Hold\n  hold: {finalizer: a.b/c}\n",
                    "children together with something else"},
        HoldMistake{"OtherObjects",
                    "  when: [{active: Pods}]\n  enforcement: Hold\n  hold: {finalizer: a.b/c}\n",
                    "asks of other objects, which enforcement Hold does for children alone"}),
    [](const auto& info) { return info.param.name; });

TEST(ParsePolicy, WhatIsHeldNamesItsTypes) {
  EXPECT_THAT(problemsOf("  objects: [{resources: [{group: a.b, resource: \"*\"}]}]\n  when: [{label: a/b}]\n"
                         "  enforcement: Hold\n  hold: {finalizer: a.b/c}\n"),
              HasSubstr("must name each type where enforcement is Hold"));
}

struct Mistake {
  const char* name;
  const char* spec;
  const char* told;
};

class Mistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreToldWithTheirField) {
  EXPECT_THAT(problemsOf(GetParam().spec), HasSubstr(GetParam().told));
}

INSTANTIATE_TEST_SUITE_P(
    ParsePolicy, Mistakes,
    ::testing::Values(
        Mistake{"NoObjects", "  when: [{label: a/b}]\n", "spec.objects is missing"},
        Mistake{
            "Everything", "  objects: [{resources: [{group: \"*\", resource: \"*\"}]}]\n",
            "spec.objects match everything, and nothing that has to be there says when they are protected"},
        Mistake{"EveryTypeOfAGroup", "  objects: [{resources: [{group: apps, resource: \"*\"}]}]\n",
                "spec.objects match everything"},
        Mistake{"EverythingThatLacksAField",
                "  objects: [{resources: [{group: \"*\", resource: \"*\"}]}]\n"
                "  when: [{label: a/b}, {field: {path: spec.a, whenAbsent: Protected}}]\n",
                "spec.objects match everything, and nothing that has to be there says when"},
        Mistake{"EverythingThatLacksReplicas",
                "  objects: [{resources: [{group: \"*\", resource: \"*\"}]}]\n  when: [{active: Replicas}]\n",
                "spec.objects match everything"},
        Mistake{
            "EverythingThatLacksALabel",
            "  objects: [{resources: [{group: \"*\", resource: \"*\"}], labelSelector: {matchExpressions: "
            "[{key: a/b, operator: DoesNotExist}]}}]\n",
            "spec.objects match everything"},
        Mistake{"WebhookConfigurations",
                "  objects: [{resources: [{group: admissionregistration.k8s.io, resource: "
                "validatingwebhookconfigurations}]}]\n",
                "lastout could not be uninstalled"},
        Mistake{"NoType", "  objects: [{namespaces: [a]}]\n",
                "spec.objects[0].resources is missing or empty"},
        Mistake{"Subresource", "  objects: [{resources: [{resource: pods/status}]}]\n",
                "spec.objects[0].resources[0].resource names a subresource"},
        Mistake{"Selector",
                "  objects: [{resources: [{resource: pods}], labelSelector: {matchExpressions: [{key: a, "
                "operator: Like}]}}]\n",
                "spec.objects[0].labelSelector.matchExpressions[0].operator"},
        Mistake{
            "SelectorLabels",
            "  objects: [{resources: [{resource: pods}]}]\n  exceptObjects: [{resources: [{resource: pods}], "
            "labelSelector: {matchLabels: {\"a b\": c}}}]\n",
            "spec.exceptObjects[0].labelSelector.matchLabels: \"a b\" is no label's name"},
        Mistake{"Cluster",
                "  objects: [{resources: [{resource: pods}]}]\n"
                "  when: [{ancestor: {groupLabel: a/g, versionLabel: a/v, kindLabel: a/k, nameLabel: a/n, "
                "cluster: Control.Plane, field: {path: spec.a}}}]\n",
                "spec.when[0].ancestor.cluster must be a DNS label"},
        Mistake{"ListersOfNone", "  objects: [{resources: [{resource: pods}]}]\n  message: '{count} users'\n",
                "spec.message has {count}, {listerName}, {listerNamespace} or {because}"},
        Mistake{"Because", "  listedBy: {resource: pods, apiVersion: a, kind: b, because: ['by {spec.by']}\n",
                "spec.listedBy.because has a { without a }"},
        Mistake{"PathOfBecause",
                "  listedBy: {resource: pods, apiVersion: a, kind: b, because: ['by {spec..by}']}\n",
                "spec.listedBy.because must be keys with dots between them"},
        Mistake{"ReplayOfWhatIsNotDenied",
                "  listedBy: {resource: pods, apiVersion: a, kind: b, replay: c}\n  blocks: [Unprotect]\n",
                "spec.blocks must list Delete: spec.listedBy.replay is about deletions"},
        Mistake{"ListedIn", "  listedBy: {resource: pods, apiVersion: a, kind: b, in: Here}\n",
                "spec.listedBy.in"},
        Mistake{"UnknownField", "  objects: [{resources: [{resource: pods}]}]\n  wen: []\n",
                "spec.\"wen\" is no known field"},
        Mistake{"EmptyCase", "  objects: [{resources: [{resource: pods}]}]\n  when: [{}]\n",
                "spec.when[0] says nothing"},
        Mistake{"LabelAndAnnotation",
                "  objects: [{resources: [{resource: pods}]}]\n  when: [{label: a/b, annotation: a/b}]\n",
                "spec.when[0] has a label and an annotation"},
        Mistake{"LabelValue",
                "  objects: [{resources: [{resource: pods}]}]\n  when: [{label: a/b, values: [\"a b\"]}]\n",
                "which no label can have"},
        Mistake{
            "Path",
            "  objects: [{resources: [{resource: pods}]}]\n  when: [{field: {path: \"spec.items[*]\"}}]\n",
            "spec.when[0].field.path must be keys with dots between them"},
        Mistake{"Children",
                "  objects: [{resources: [{resource: pods}]}]\n  when: [{children: [{resource: pods}]}]\n",
                "must have exactly one of field, label and ownerReference"},
        Mistake{"Placeholder", "  objects: [{resources: [{resource: pods}]}]\n  message: \"{king} stays\"\n",
                "spec.message has {king}, which stands for nothing"},
        Mistake{"Blocks", "  objects: [{resources: [{resource: pods}]}]\n  blocks: [Update]\n",
                "spec.blocks must list Delete, Orphan or Unprotect, not \"Update\""},
        Mistake{"SameLabel",
                "  objects: [{resources: [{resource: pods}]}]\n  labels: {protection: {key: a/b, value: x}, "
                "exemption: {key: a/b, value: y}}\n",
                "spec.labels.exemption has the key of spec.labels.protection"},
        Mistake{
            "LabelToKeep",
            "  objects: [{resources: [{resource: pods}]}]\n  labels: {protection: {key: a/b, value: x y}, "
            "exemption: {key: a/c, value: y}}\n",
            "spec.labels.protection.value is no value of a label"},
        Mistake{"RepairAfter",
                "  objects: [{resources: [{resource: pods}]}]\n  labels: {protection: {key: a/b, value: x}, "
                "exemption: {key: a/c, value: y}, repairAfter: 2h}\n",
                "spec.labels.repairAfter must be whole seconds from 1s to 1h"},
        Mistake{
            "LabelsOfAnyType",
            "  objects: [{resources: [{group: a.b, resource: \"*\"}]}]\n  when: [{label: a/b}]\n  labels: "
            "{protection: {key: a/b, value: x}, exemption: {key: a/c, value: y}}\n",
            "spec.labels are kept on objects of types that spec.objects name"},
        Mistake{"LabelsOfListed",
                "  listedBy: {group: a.b, resource: cs, selectors: a, apiVersion: b, kind: c}\n  labels: "
                "{protection: {key: a/b, value: x}, exemption: {key: a/c, value: y}}\n",
                "spec.labels are kept on objects of types that spec.objects name"},
        Mistake{"Code", "  objects: [{resources: [{resource: pods}]}]\n  code: 404\n",
                "spec.code must be 403 or 409, not 404"},
        Mistake{"WebhookName", "  objects: [{resources: [{resource: pods}]}]\n  webhookName: protect\n",
                "spec.webhookName must be a DNS name of three labels"},
        Mistake{"WebhookNameOfLastout",
                "  objects: [{resources: [{resource: pods}]}]\n  webhookName: deletions.lastout.dev\n",
                "and not of lastout.dev"}),
    [](const ::testing::TestParamInfo<Mistake>& info) { return std::string(info.param.name); });

TEST(ParsePolicy, OneMistakeIsToldOnce) {
  const std::string pods = "  objects: [{resources: [{resource: pods}]}]\n";
  EXPECT_EQ(problemsOf(pods + "  blocks: [delete]\n"),
            "p.yaml:7:11: spec.blocks must list Delete, Orphan or Unprotect, not \"delete\"\n");
  EXPECT_EQ(problemsOf(pods + "  blocks: Delete\n"),
            "p.yaml:7:11: spec.blocks must be a list, not a string\n");
  EXPECT_EQ(problemsOf(pods + "  blocks: []\n"),
            "p.yaml:7:11: spec.blocks is empty: leave it out for Delete\n");
  EXPECT_THAT(
      problemsOf("  listedBy: {resource: pods, apiVersion: a, kind: b, replay: c}\n  blocks: [delete]\n"),
      Not(HasSubstr("replay")));
  const auto read =
      parsePolicies("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: []}\n", "p.yaml");
  ASSERT_FALSE(read);
  EXPECT_EQ(
      testing::lines(read.error()),
      "p.yaml:1:13: apiVersion and kind must be lastout.dev/v1alpha1 and DeletionPolicy, not \"v1\" and "
      "\"Pod\"\n");
}

TEST(ParsePolicy, AnUnprotectThatCanDenyNothingIsAWarning) {
  const auto warned = [](const std::string& spec) {
    auto documents = kube::parseYaml(policyText(spec), "p.yaml");
    return testing::lines(warningsOf(parsePolicyManifests(std::move(*documents), "p.yaml")->front()));
  };
  const std::string pods = "  objects: [{resources: [{resource: pods}]}]\n";
  const std::string blocks = "  blocks: [Delete, Unprotect]\n";
  EXPECT_THAT(
      warned(pods + blocks + "  when: [{field: {path: spec.kept}}]\n"),
      AllOf(HasSubstr("p.yaml:7:11: spec.blocks lists Unprotect"), HasSubstr("labels and annotations")));
  EXPECT_THAT(warned(pods + blocks), HasSubstr("spec.blocks lists Unprotect"));
  EXPECT_EQ(warned(pods + blocks + "  when: [{label: a/b}, {field: {path: spec.kept}}]\n"), "");
  EXPECT_EQ(warned(pods + "  when: [{field: {path: spec.kept}}]\n"), "");
  EXPECT_EQ(
      warned("  objects: [{resources: [{resource: pods}], labelSelector: {matchLabels: {a: b}}}]\n" + blocks),
      "");
}

TEST(ParsePolicy, BoundsItsLists) {
  std::string spec(kEverything);
  spec += "  when:\n";
  for (int i = 0; i < 65; ++i) spec += "  - {label: a/b}\n";
  EXPECT_THAT(problemsOf(spec), HasSubstr("spec.when has 65 entries; 64 are the most"));
  std::string names = "a0";
  for (int i = 1; i < 257; ++i) names += ", a" + std::to_string(i);
  EXPECT_THAT(problemsOf("  objects: [{resources: [{resource: pods}], names: [" + names + "]}]\n"),
              HasSubstr("spec.objects[0].names has 257 entries; 256 are the most"));
}

TEST(ParsePolicy, ItsNameFitsIntoALabel) {
  const auto named = [](size_t length) {
    return parsePolicies("apiVersion: lastout.dev/v1alpha1\nkind: DeletionPolicy\nmetadata: {name: " +
                             std::string(length, 'a') +
                             "}\nspec:\n  objects: [{resources: [{resource: pods}]}]\n",
                         "p.yaml");
  };
  EXPECT_TRUE(named(63));
  const auto longer = named(64);
  ASSERT_FALSE(longer);
  EXPECT_THAT(testing::lines(longer.error()),
              HasSubstr("metadata.name has 64 characters; at most 63 may be"));
}

TEST(ParsePolicy, TellsThePlace) {
  EXPECT_THAT(problemsOf("  objects: [{resources: [{resource: pods}]}]\n  code: 404\n"),
              AllOf(HasSubstr("p.yaml:7:")));
}

}  // namespace
}  // namespace lastout::protection

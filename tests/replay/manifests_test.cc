// Manifests of any files as one cluster, and the graph of it.
#include "replay/manifests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "graph/names.h"
#include "kube/reference.h"
#include "replay/manifest_graph.h"
#include "tests/replay/play.h"
#include "tests/support/manifests.h"

namespace lastout::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr const char* kCrd = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: coolresources.my.crd.group}
spec:
  group: my.crd.group
  scope: Cluster
  names: {plural: coolresources, kind: CoolResource}
  versions: [{name: v1, served: true, storage: true}]
)";

constexpr const char* kInstance = R"(apiVersion: my.crd.group/v1
kind: CoolResource
metadata: {name: some-instance, finalizers: [my.crd.group/super-important]}
)";

constexpr const char* kProvider = R"(apiVersion: v1
kind: Namespace
metadata: {name: web}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, namespace: web}
---
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: for-operator}
spec:
  provider: {group: apps, resource: deployments, namespace: web, name: operator}
  criteria:
  - type: Finalizer
    finalizer: {group: my.crd.group, resource: coolresources, finalizerName: my.crd.group/super-important}
)";

std::vector<std::string> keys(const std::vector<kube::Object>& objects) {
  std::vector<std::string> texts;
  texts.reserve(objects.size());
  for (const kube::Object& object : objects) texts.push_back(kube::toString(object.key));
  return texts;
}

Manifests manifests(const std::vector<InputFile>& files) {
  auto read = readManifests(files);
  EXPECT_TRUE(read) << testing::lines(read.error());
  return read ? std::move(*read) : Manifests();
}

std::string errors(const std::vector<InputFile>& files) {
  auto read = readManifests(files);
  return read ? "" : testing::lines(read.error());
}

ManifestGraph graph(const std::vector<InputFile>& files) {
  auto built = graphOf(manifests(files));
  EXPECT_TRUE(built) << testing::lines(built.error());
  return std::move(*built);
}

kube::ObjectKey key(std::string_view text) {
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  testing::objects(kCrd, types);
  return *kube::parseReference(text, types);
}

// --- reading ---

TEST(Manifests, ACrdCountsForAllFilesWhateverTheirOrder) {
  EXPECT_THAT(keys(manifests({{"a.yaml", kInstance}, {"b.yaml", kCrd}}).objects),
              ElementsAre("coolresources.my.crd.group/some-instance",
                          "customresourcedefinitions.apiextensions.k8s.io/coolresources.my.crd.group"));
}

TEST(Manifests, WorksMayNameObjectsOfOtherFiles) {
  const Manifests read = manifests(
      {{"a.yaml", "kind: ManifestWork\nmetadata: {name: w}\nspec: ns/web\n"}, {"b.yaml", kProvider}});
  ASSERT_EQ(read.works.size(), 1u);
  EXPECT_THAT(keys(read.works[0].manifests), ElementsAre("namespaces/web"));
  EXPECT_EQ(read.objects.size(), 3u);
}

TEST(Manifests, AnObjectStandsOnce) {
  EXPECT_EQ(errors({{"a.yaml", kProvider},
                    {"b.yaml", "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n"}}),
            "");
  EXPECT_EQ(
      errors({{"a.yaml", kProvider},
              {"b.yaml", "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: web, labels: {a: b}}\n"}}),
      "b.yaml:2:1: namespaces/web stands here a second time, unlike the first at a.yaml:1:1\n");
}

// As in a folder that holds both.
TEST(Manifests, AFileThatAScenarioNamesMayBeGivenToo) {
  const auto file = [](const std::string& name) {
    std::ifstream stream(name);
    return InputFile{name, {std::istreambuf_iterator<char>(stream), {}}};
  };
  const InputFile scenario = file("scenarios/policy-dbops-force.yaml");
  const size_t count = manifests({scenario}).objects.size();
  EXPECT_GT(count, 0U);
  EXPECT_EQ(manifests({scenario, file("scenarios/crds/dbops.yaml")}).objects.size(), count);
  EXPECT_EQ(manifests({file("./scenarios/crds/dbops.yaml"), scenario}).objects.size(), count);
}

TEST(Manifests, AScenarioIsReadWithoutItsSteps) {
  const std::string scenario =
      "apiVersion: lastout.dev/v1alpha1\nkind: Scenario\nmetadata: {name: a}\nspec:\n  steps:\n  - delete: "
      "ns/web\n---\n";
  const Manifests read = manifests(
      {{"a.yaml", scenario + kProvider + "---\nkind: ManifestWork\nmetadata: {name: w}\n" + "spec: ns/web\n"},
       {"b.yaml", kCrd}});
  EXPECT_EQ(read.objects.size(), 4u);
  EXPECT_EQ(read.works.size(), 1u);
}

TEST(Manifests, AScenariosTypesCountForOtherFiles) {
  const std::string scenario =
      "apiVersion: lastout.dev/v1alpha1\nkind: Scenario\nmetadata: {name: a}\nspec:\n  steps:\n  - delete: "
      "crd/*\n---\n";
  EXPECT_EQ(manifests({{"a.yaml", scenario + kCrd}, {"b.yaml", kInstance}}).objects.size(), 2u);
}

TEST(Manifests, JsonIsKnownByItsNameOrOnTheStandardInputByItsBeginning) {
  const std::string json = R"({"apiVersion": "v1", "kind": "List", "items": [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "web"}}]})";
  EXPECT_THAT(keys(manifests({{"a.json", json}}).objects), ElementsAre("namespaces/web"));
  EXPECT_THAT(keys(manifests({{"<stdin>", " \n" + json}}).objects), ElementsAre("namespaces/web"));
  EXPECT_THAT(errors({{"<stdin>", "{\"kind\": 01}"}}), HasSubstr("<stdin>:1:11: this is no valid JSON"));
  EXPECT_THAT(errors({{"a.json", "{\"kind\": 01}"}}), HasSubstr("a.json:1:11: this is no valid JSON"));
  EXPECT_THAT(
      keys(manifests({{"a.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: web}}"}}).objects),
      ElementsAre("namespaces/web"));
  EXPECT_THAT(keys(manifests({{"<stdin>", kProvider}}).objects), ::testing::SizeIs(3));
}

TEST(Manifests, AListOfOneTypeIsItsItems) {
  const std::string list =
      "apiVersion: v1\nkind: ConfigMapList\nmetadata: {resourceVersion: '7'}\nitems:\n- metadata: {name: a, "
      "namespace: x}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: x}}\n";
  EXPECT_THAT(keys(manifests({{"a.yaml", list}}).objects), ElementsAre("configmaps/x/a", "configmaps/x/b"));
}

TEST(Manifests, AKustomizationIsBuiltFirst) {
  const std::string says =
      ":1:1: this is for kustomize, and holds no objects: run \"kubectl kustomize DIR\" or \"kustomize build "
      "DIR\", and give what it prints\n";
  EXPECT_EQ(errors({{"base/kustomization.yaml", "resources: [a.yaml]\n"}}), "base/kustomization.yaml" + says);
  EXPECT_EQ(errors({{"k.yaml",
                     "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a]\n"}}),
            "k.yaml" + says);
}

TEST(Manifests, ACrdWithoutAServedVersionIsOneError) {
  std::string crd = kCrd;
  const size_t served = crd.find("served: true");
  ASSERT_NE(served, std::string::npos);
  crd.replace(served, std::string("served: true").size(), "served: false");
  EXPECT_THAT(errors({{"a.yaml", crd}, {"b.yaml", kInstance}}),
              ::testing::MatchesRegex("a.yaml:[0-9]+:[0-9]+: spec.versions has no version that is served\n"));
}

TEST(Manifests, ACrdThatIsWrongIsOneErrorForTheItemsOfAListToo) {
  std::string crd = kCrd;
  crd.replace(crd.find("served: true"), std::string("served: true").size(), "served: false");
  const std::string item = "{apiVersion: my.crd.group/v1, kind: CoolResource, metadata: {name: ";
  const std::string oneError = "a.yaml:[0-9]+:[0-9]+: spec.versions has no version that is served\n";
  for (const std::string list : {"kind: List", "kind: CoolResourceList"}) {
    EXPECT_THAT(
        errors({{"a.yaml", crd},
                {"b.yaml", "apiVersion: " + std::string(list == "kind: List" ? "v1" : "my.crd.group/v1") +
                               "\n" + list + "\nitems: [" + item + "a}}, " + item + "b}}]\n"}}),
        ::testing::MatchesRegex(oneError))
        << list;
  }
  EXPECT_THAT(errors({{"a.yaml", crd},
                      {"b.yaml", "apiVersion: v1\nkind: List\nitems: [" + item +
                                     "a}}, {apiVersion: v1, kind: Nothing, metadata: {name: a}}]\n"}}),
              ::testing::MatchesRegex(oneError + "b.yaml:[0-9]+:[0-9]+: no kind \"Nothing\".*\n"));
}

TEST(Manifests, EverythingThatIsWrongIsReportedOnce) {
  std::vector<InputFile> files = {
      {"b.yaml", "apiVersion: v1\nkind: Nothing\nmetadata: {name: a}\n"},
      {"c.yaml",
       "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}\n"},
      {"d.yaml", "kind: ManifestWork\nmetadata: {name: w}\nspec: ns/web\n"}};
  EXPECT_EQ(errors(files),
            "b.yaml:2:7: no kind \"Nothing\" is known in \"v1\"; a type of your own is known once its "
            "CustomResourceDefinition is in the input; leave out objects of other types\n"
            "c.yaml:1:1: spec is missing\n"
            "d.yaml:3:7: ManifestWork w: \"ns/web\" names no object in the input, which has no namespaces\n");
  // What files lack may stand in those that cannot be read: of these alone it is told.
  files.push_back({"e.yaml", "kind: [\n"});
  files.push_back({"a.yaml", "kind: {\n"});
  EXPECT_EQ(errors(files),
            "e.yaml:2:1: this is no valid YAML: a \"[\" is not closed, or its items lack a \",\" here\n"
            "a.yaml:2:1: this is no valid YAML: a \"{\" is not closed, or its fields lack a \",\" here\n");
}

// --- the graph ---

std::vector<std::string> goesAfter(const ManifestGraph& built, std::string_view subject) {
  std::vector<std::string> conditions;
  const auto object = built.graph.findNamed(key(subject));
  if (!object) return {"no such object"};
  for (const graph::RequirementView& requirement : built.graph.requirementsOf(*object)) {
    const graph::Condition condition = built.graph.condition(requirement.condition);
    const std::string what = condition.kind == graph::Condition::Kind::Finalizer
                                 ? condition.finalizer + " on " + kube::toString(condition.type)
                                 : condition.name;
    conditions.push_back(what + ": " + std::to_string(built.graph.holders(requirement.condition)));
  }
  return conditions;
}

TEST(ManifestGraph, AProviderGoesAfterItsInstances) {
  const ManifestGraph built = graph({{"a.yaml", kProvider}, {"b.yaml", kCrd}, {"c.yaml", kInstance}});
  EXPECT_THAT(goesAfter(built, "deployment/operator -n web"),
              ElementsAre("my.crd.group/super-important on coolresources.my.crd.group: 1"));
  const admission::Verdict verdict = verdictOn(built, key("deployment/operator -n web"));
  EXPECT_TRUE(verdict.guarded);
  EXPECT_FALSE(verdict.allowed);
  EXPECT_EQ(verdict.reason, admission::Reason::CriterionUnmet);
  EXPECT_EQ(verdictOn(built, key("criticalservice/for-operator")).reason, admission::Reason::ProviderPresent);
  EXPECT_FALSE(verdictOn(built, key("coolresources.my.crd.group/some-instance")).guarded);
}

TEST(ManifestGraph, WhatIsNotThereHoldsNothing) {
  const ManifestGraph built = graph({{"a.yaml", kProvider}, {"b.yaml", kCrd}});
  EXPECT_TRUE(verdictOn(built, key("deployment/operator -n web")).allowed);
  EXPECT_EQ(verdictOn(built, key("deployment/operator -n web")).reason, admission::Reason::CriteriaMet);
}

// docs/verdicts.md, "When a criterion is understood".
TEST(ManifestGraph, OfATypeThatNothingDefinesNothingIsBelieved) {
  const ManifestGraph built = graph({{"a.yaml", kProvider}});
  EXPECT_FALSE(verdictOn(built, key("deployment/operator -n web")).allowed);
  EXPECT_EQ(verdictOn(built, key("deployment/operator -n web")).reason, admission::Reason::CriterionUnknown);
}

TEST(ManifestGraph, AProviderOfATypeThatNothingDefinesIsNotThere) {
  const ManifestGraph built = graph({{"a.yaml", R"(apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: for-runner}
spec:
  provider: {group: runs.example.com, resource: runners, name: one}
  criteria:
  - type: SpecificResource
    specificResource: {group: "", resource: namespaces, name: web}
)"}});
  EXPECT_EQ(verdictOn(built, key("criticalservice/for-runner")).reason, admission::Reason::CriteriaMet);
}

TEST(ManifestGraph, WorksCountAsApplied) {
  const std::string work = R"(apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: {name: w, namespace: cluster1}
spec:
  workload:
    manifests:
    - {apiVersion: v1, kind: Namespace, metadata: {name: inside}}
)";
  const ManifestGraph built = graph({{"a.yaml", work}});
  EXPECT_TRUE(built.graph.find(key("ns/inside")));
  EXPECT_TRUE(built.graph.find(key("appliedmanifestworks/cluster1-w")));
  EXPECT_THAT(goesAfter(built, "manifestwork/w -n cluster1"), ElementsAre("cluster1-w: 1"));
  EXPECT_THAT(goesAfter(built, "appliedmanifestworks/cluster1-w"), ElementsAre("inside: 1"));
}

TEST(ManifestGraph, AnAppliedManifestWorkThatIsThereIsTheOne) {
  const std::string both = R"(apiVersion: work.open-cluster-management.io/v1
kind: AppliedManifestWork
metadata: {name: d40a-w, uid: u-note}
spec: {hubHash: d40a, manifestWorkName: w}
status:
  appliedResources:
  - {group: "", resource: namespaces, name: inside, uid: u-inside}
  - {group: "", resource: namespaces, name: other, uid: u-other}
---
apiVersion: v1
kind: Namespace
metadata: {name: inside, uid: u-inside}
---
apiVersion: v1
kind: Namespace
metadata: {name: other, uid: u-somebody-elses}
---
kind: ManifestWork
metadata: {name: w}
spec: ns/inside
)";
  const ManifestGraph built = graph({{"a.yaml", both}});
  EXPECT_FALSE(built.graph.find(key("appliedmanifestworks/cluster1-w")));
  EXPECT_THAT(goesAfter(built, "manifestwork/w -n cluster1"), ElementsAre("d40a-w: 1"));
  EXPECT_THAT(goesAfter(built, "appliedmanifestworks/d40a-w"), UnorderedElementsAre("inside: 1", "other: 0"));
}

TEST(ManifestGraph, FindsTheObjectThatAPersonMeans) {
  const Manifests read =
      manifests({{"a.yaml", kProvider},
                 {"b.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: other}\n"}});
  const auto built = graphOf(read);
  ASSERT_TRUE(built);
  const auto find = [&](std::string_view reference) {
    const auto found = graph::findObject(built->graph, reference, read.types);
    if (!found) return kube::toString(found.error());
    return found->missing.empty() ? kube::toString(*found->key) : found->missing;
  };
  EXPECT_EQ(find("deploy/operator"), "deployments.apps/web/operator");
  EXPECT_EQ(find("deployment/other -n default"), "deployments.apps/default/other");
  EXPECT_EQ(find("deploy/operatr"),
            "\"deploy/operatr\" names nothing; did you mean deployments.apps/web/operator?");
  EXPECT_EQ(find("deploy/zzzzzzzzz"),
            "\"deploy/zzzzzzzzz\" names nothing; there are deployments.apps/default/other and "
            "deployments.apps/web/operator");
  EXPECT_EQ(find("pod/x"), "\"pod/x\" names nothing: there are no pods");
  EXPECT_EQ(find("deploy/*"),
            "\"deploy/*\" names 2 objects: deployments.apps/default/other and deployments.apps/web/operator; "
            "choose one");
  EXPECT_THAT(find("what/x"), HasSubstr("what"));
}

TEST(ManifestGraph, WarnsOfWhatIsProbablyNotMeant) {
  const ManifestGraph built = graph({{"a.yaml", kProvider}, {"b.yaml", kCrd}});
  ASSERT_FALSE(built.warnings.empty());
  EXPECT_THAT(kube::toString(built.warnings[0]), HasSubstr("a.yaml:9:1: "));
}

// What would be proven of such a scenario is next to nothing.
TEST(ScenarioWarnings, TellOfWhatIsMissing) {
  const auto warned = [](std::string_view spec) {
    const auto scenario = parse(lastout::replay::scenario(spec, kUnguarded), "s.yaml");
    return testing::lines(*warningsOf(*scenario));
  };
  const std::string controller(kController);
  const std::string deletes = "  steps: [{ delete: widgets/one }]";
  EXPECT_EQ(warned(controller + deletes), "");
  EXPECT_THAT(warned("  steps: [{ delete: widgets/one, dryRun: true }]"),
              HasSubstr("s.yaml: no step deletes anything"));
  std::string typo = controller;
  typo.replace(typo.find("/cleanup"), 8, "/celanup");
  EXPECT_THAT(warned(typo + deletes),
              HasSubstr("s.yaml:6:7: controller cleanup has nothing to do: no widgets.example.com carries "
                        "example.com/celanup"));
  EXPECT_EQ(
      warned(typo + "  steps:\n    - patch: { object: widgets/one, finalizers: [example.com/celanup] }\n"
                    "    - delete: widgets/one"),
      "");
}

// Templates leave out the namespace into which a client installs them, and render it where they name it.
TEST(ScenarioWarnings, TellOfManifestsWithoutTheNamespaceInWhichOthersNameThem) {
  const auto warned = [](const std::string& metadata) {
    auto scenario = scenarioOfDeletions(
        {{"m.yaml",
          "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: op" + metadata +
              "}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: hook" + metadata +
              "}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: "
              "op}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: op}\nsubjects: "
              "[{kind: ServiceAccount, name: op, namespace: tools}]\n---\napiVersion: "
              "admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: "
              "h}\nwebhooks: [{name: h.example.com, clientConfig: {service: {namespace: tools, name: hook}}, "
              "rules: [{apiGroups: [''], apiVersions: [v1], operations: [DELETE], resources: "
              "[secrets]}]}]\n"}},
        {"serviceaccount/op"});
    return testing::lines(*warningsOf(*scenario));
  };
  EXPECT_THAT(warned(""),
              AllOf(HasSubstr("m.yaml:1:1: serviceaccounts/default/op has no metadata.namespace, and "
                              "clusterrolebindings.rbac.authorization.k8s.io/op names "
                              "serviceaccounts/tools/op, which is not in the files"),
                    HasSubstr("names services/tools/hook, which is not in the files")));
  EXPECT_EQ(warned(", namespace: tools"), "");
  EXPECT_EQ(warned(", namespace: default"), "") << "that is what they say";
}

TEST(ManifestGraph, ABadCriticalServiceIsAnError) {
  const auto built = graphOf(manifests({{"a.yaml", R"(apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: bad}
spec:
  provider: {group: apps, resource: deployments, namespace: web}
)"}}));
  ASSERT_FALSE(built);
  EXPECT_THAT(testing::lines(built.error()), HasSubstr("a.yaml:5:13: "));
}

}  // namespace
}  // namespace lastout::replay

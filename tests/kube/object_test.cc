#include "kube/object.h"

#include <gtest/gtest.h>

#include "kube/timestamp.h"
#include "tests/kube/reading.h"

namespace lastout::kube {
namespace {

Object object(std::string_view text) {
  auto parsed = parseObject(yaml(text), "file", ResourceMap::builtIn());
  EXPECT_TRUE(parsed) << toString(parsed.error());
  return parsed ? std::move(*parsed) : Object();
}

TEST(Object, IsAManifestWithItsMetadata) {
  const Object deployment = object(R"(
apiVersion: apps/v1
kind: Deployment
metadata:
  name: finalizer-deployment
  namespace: finalizer-namespace
  uid: 66c0c613-930f-4fef-9d13-03bde83ba558
  resourceVersion: "319"
  generation: 2
  creationTimestamp: null
  deletionTimestamp: "2026-11-21T02:46:59Z"
  deletionGracePeriodSeconds: 30
  finalizers: [foregroundDeletion, my.crd.group/super-important]
  labels: {app: f}
  annotations: {deployment.kubernetes.io/revision: "1"}
  ownerReferences:
  - apiVersion: work.open-cluster-management.io/v1
    kind: AppliedManifestWork
    name: d40a-finalizer
    uid: a795981e-6fc5-4acc-a6d4-f1eb13845e10
    controller: true
    blockOwnerDeletion: true
  managedFields: []
spec: {replicas: 1}
)");
  EXPECT_EQ(toString(deployment.key), "deployments.apps/finalizer-namespace/finalizer-deployment");
  EXPECT_EQ(deployment.apiVersion, "apps/v1");
  EXPECT_EQ(deployment.kind, "Deployment");
  EXPECT_EQ(deployment.file, "file");
  EXPECT_EQ(deployment.meta.uid, "66c0c613-930f-4fef-9d13-03bde83ba558");
  EXPECT_EQ(deployment.meta.resourceVersion, "319");
  EXPECT_EQ(deployment.meta.generation, 2);
  EXPECT_EQ(deployment.meta.deletionTimestamp, 1795229219);
  EXPECT_EQ(deployment.meta.deletionGracePeriodSeconds, 30);
  EXPECT_EQ(deployment.meta.finalizers,
            (std::vector<std::string>{"foregroundDeletion", "my.crd.group/super-important"}));
  EXPECT_EQ(deployment.meta.labels.at("app"), "f");
  EXPECT_EQ(deployment.meta.annotations.at("deployment.kubernetes.io/revision"), "1");
  EXPECT_EQ(
      deployment.meta.ownerReferences,
      (std::vector<OwnerReference>{{"work.open-cluster-management.io/v1", "AppliedManifestWork",
                                    "d40a-finalizer", "a795981e-6fc5-4acc-a6d4-f1eb13845e10", true, true}}));
  EXPECT_EQ(*deployment.content.at({"spec", "replicas"})->asInteger(), 1);
}

TEST(Object, WithoutANamespaceIsInDefault) {
  EXPECT_EQ(toString(object("{apiVersion: v1, kind: Pod, metadata: {name: a}}").key), "pods/default/a");
  EXPECT_EQ(toString(object("{apiVersion: v1, kind: Namespace, metadata: {name: a}}").key), "namespaces/a");
}

TEST(Object, OfLastoutAndOfManifestWorkMayOmitItsApiVersion) {
  const Object work = object("{kind: ManifestWork, metadata: {name: crd, namespace: cluster1}}");
  EXPECT_EQ(toString(work.key), "manifestworks.work.open-cluster-management.io/cluster1/crd");
  EXPECT_EQ(work.apiVersion, "work.open-cluster-management.io/v1");
  EXPECT_EQ(toJson(work.content).dump(),
            R"({"apiVersion":"work.open-cluster-management.io/v1","kind":"ManifestWork",)"
            R"("metadata":{"name":"crd","namespace":"cluster1"}})");
  EXPECT_EQ(object("{apiVersion: ~, kind: CriticalService, metadata: {name: a}}").apiVersion,
            "lastout.dev/v1alpha1");
  EXPECT_EQ(readObjects("{kind: Pod, metadata: {name: a}}"), "file:1:1: apiVersion is missing");
}

TEST(Object, TimesAreSecondsSinceTheEpoch) {
  const auto time = [](const std::string& text) {
    const auto meta = parseMeta(yaml("deletionTimestamp: '" + text + "'"), "file");
    return meta ? std::to_string(meta->deletionTimestamp.value_or(-1)) : toString(meta.error());
  };
  EXPECT_EQ(time("1970-01-01T00:00:00Z"), "0");
  EXPECT_EQ(time("2000-02-29T12:00:00Z"), "951825600");
  EXPECT_EQ(time("2026-11-21T02:46:59.999Z"), "1795229219");
  EXPECT_EQ(time("2026-11-21T04:46:59+02:00"), "1795229219");
  EXPECT_EQ(time("2026-11-20T23:16:59-03:30"), "1795229219");
  for (const std::string text :
       {"", "yesterday", "2026-11-21", "2026-11-21T02:46:59", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-11-21T24:00:00Z", "2026-11-21T02:60:00Z", "2026-11-21 02:46:59Z", "2026-11-21T02:46:59.Z",
        "2026-11-21T02:46:59+2:00", "2026-11-21T02:46:59+24:00", "2026-11-21T02:46:59Zulu",
        "-026-11-21T02:46:59Z"}) {
    EXPECT_EQ(time(text), "file:1:20: metadata.deletionTimestamp \"" + text +
                              "\" is no time such as 2026-11-21T02:46:59Z");
  }
}

// A manifest with the given metadata, and what is said against it.
std::string meta(const std::string& fields) {
  return readObjects("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  " + fields);
}

TEST(Object, SaysWhatIsWrongWithItsMetadata) {
  const std::string longName(254, 'a');
  const std::pair<std::string, std::string> mistakes[] = {
      {"labels: {}", "file:4:3: metadata.name is missing"},
      {"generateName: a-",
       "file:4:3: metadata.name is missing; generateName gives one only when a server creates the object"},
      {"name: 5", "file:4:9: metadata.name must be a string, not an integer: put it in quotes"},
      {"name: Bad_Name",
       "file:4:9: metadata.name \"Bad_Name\" is no object's name: that is lower case letters, digits, \"-\" "
       "and "
       "\".\", a letter or digit first and last"},
      {"name: " + longName, "file:4:9: metadata.name \"" + longName + "\" is longer than 253 bytes"},
      {"name: a\n  namespace: a.b",
       "file:5:14: metadata.namespace \"a.b\" is no namespace's name: that is at most 63 lower case "
       "letters, digits and \"-\", a letter or digit first and last"},
      {"name: a\n  finalizers: b", "file:5:15: metadata.finalizers must be a list, not a string"},
      {"name: a\n  finalizers: [b, 1]",
       "file:5:19: metadata.finalizers[1] must be a string, not an integer: put it in quotes"},
      {"name: a\n  finalizers: [a/b/c]",
       "file:5:15: metadata.finalizers: \"a/b/c\" is no finalizer's name: that is [domain/]name, "
       "as in example.com/cleanup"},
      {"name: a\n  finalizer: [b]",
       "file:5:3: metadata.\"finalizer\" is no known field; did you mean \"finalizers\"?"},
      {"name: a\n  labels: {a: true}",
       "file:5:15: metadata.labels[\"a\"] must be a string, not a boolean: put it in quotes"},
      {"name: a\n  labels: {-a: b}",
       "file:5:11: metadata.labels: \"-a\" is no label's name: that is [domain/]name"},
      {"name: a\n  labels: {a: b c}",
       "file:5:11: metadata.labels: \"b c\" is no value of a label: that is at most 63 letters, "
       "digits, \"-\", \"_\" and \".\", a letter or digit first and last"},
      {"name: a\n  annotations: {a b: c}",
       "file:5:16: metadata.annotations: \"a b\" is no annotation's name: that is [domain/]name"},
      {"name: a\n  annotations: {a: " + std::string(262'144, 'x') + "}",
       "file:5:16: metadata.annotations have more than 256 KiB"},
      {"name: a\n  generation: -1", "file:5:15: metadata.generation must be at least 0"},
      {"name: a\n  ownerReferences: [{apiVersion: v1, kind: Pod}]",
       "file:5:21: metadata.ownerReferences[0].name is missing"},
      {"name: a\n  ownerReferences: [{apiVersion: v1, kind: Pod, name: b, namespace: c}]",
       "file:5:58: metadata.ownerReferences[0].\"namespace\" is no known field"},
      {"name: a\n  ownerReferences: [{apiVersion: v1, kind: A, name: a, controller: true}, {apiVersion: v1, "
       "kind: B, name: b, "
       "controller: true}]",
       "file:5:122: metadata.ownerReferences[1] is a second owner with controller: true"},
  };
  for (const auto& [fields, sentence] : mistakes) EXPECT_EQ(meta(fields), sentence);
  EXPECT_EQ(meta("name: a\n  annotations: {a: " + std::string(262'143, 'x') + "}"), "configmaps/default/a");
  EXPECT_EQ(meta("name: a\n  annotations: {Example.COM/Key: b}"), "configmaps/default/a");
}

TEST(Object, SaysWhatIsWrongWithItsType) {
  const std::pair<std::string_view, std::string_view> mistakes[] = {
      {"[a]", "file:1:1: the document must be a map, not a list"},
      {"{metadata: {name: a}}", "file:1:1: kind is missing"},
      {"{apiVersion: v1, kind: Pod}", "file:1:1: metadata is missing"},
      {"{apiVersion: apps/v1, kind: Deploymnet, metadata: {name: a}}",
       "file:1:29: no kind \"Deploymnet\" is known in \"apps/v1\"; did you mean \"Deployment\"?"},
      {"{apiVersion: v1, kind: Deployment, metadata: {name: a}}",
       "file:1:24: there is no kind Deployment in \"v1\"; did you mean apiVersion: apps/v1?"},
      {"{apiVersion: apps/v1, kind: Pod, metadata: {name: a}}",
       "file:1:29: there is no kind Pod in \"apps/v1\"; did you mean apiVersion: v1?"},
      {"{apiVersion: my.crd.group/v1, kind: CoolResource, metadata: {name: a}}",
       "file:1:37: no kind \"CoolResource\" is known in \"my.crd.group/v1\"; a type of your own is known "
       "once "
       "its "
       "CustomResourceDefinition is in the input; leave out objects of other types"},
      {"{apiVersion: a/b/c, kind: Pod, metadata: {name: a}}",
       "file:1:14: apiVersion must be <group>/<version>, or v1, not \"a/b/c\""},
      {"{apiVersion: apps/, kind: Deployment, metadata: {name: a}}",
       "file:1:14: apiVersion must be <group>/<version>, or v1, not \"apps/\""},
      {"{apiVersion: v1, kind: Namespace, metadata: {name: a, namespace: b}}",
       "file:1:66: namespaces are in no namespace; leave metadata.namespace out"},
      {"{apiVersion: v1, kind: Namespace, metadata: {name: a.b}}",
       "file:1:52: metadata.name \"a.b\" is no namespace's name: that is at most 63 lower case letters, "
       "digits and \"-\", a letter "
       "or digit first and last"},
  };
  for (const auto& [text, sentence] : mistakes) EXPECT_EQ(readObjects(text), sentence);
}

TEST(Objects, KnowTheTypesOfEveryCrdAmongThem) {
  EXPECT_EQ(readObjects(R"(
apiVersion: my.crd.group/v1
kind: CoolResource
metadata: {name: some-instance}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: coolresources.my.crd.group}
spec:
  group: my.crd.group
  names: {kind: CoolResource, plural: coolresources}
  scope: Cluster
  versions: [{name: v1, served: true}]
)"),
            "coolresources.my.crd.group/some-instance\n"
            "customresourcedefinitions.apiextensions.k8s.io/coolresources.my.crd.group");
}

TEST(Objects, OfAListStandInItsPlace) {
  EXPECT_EQ(readObjects(R"(
{apiVersion: v1, kind: Namespace, metadata: {name: first}}
---
apiVersion: v1
kind: List
metadata: {resourceVersion: ""}
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: second}}
- {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Namespace, metadata: {name: third}}]}
---
{apiVersion: v1, kind: Namespace, metadata: {name: fourth}}
)"),
            "namespaces/first\nnamespaces/second\nnamespaces/third\nnamespaces/fourth");
  EXPECT_EQ(readObjects("{apiVersion: v1, kind: List, items: []}"), "");
  EXPECT_EQ(readObjects("{apiVersion: v1, kind: List}"), "file:1:1: items is missing");
  EXPECT_EQ(readObjects("{apiVersion: v1, kind: List, items: [1]}"),
            "file:1:38: the document must be a map, not an integer");
}

TEST(Objects, AreThereOnlyOnce) {
  EXPECT_EQ(readObjects("{apiVersion: v1, kind: Pod, metadata: {name: a}}\n---\n"
                        "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: other}}\n---\n"
                        "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default}}"),
            "file:5:1: pods/default/a is there twice; the first is at file:1:1: ");
}

TEST(Objects, StopAtTheFirstBadOne) {
  EXPECT_EQ(readObjects("{apiVersion: v1, kind: Pod, metadata: {name: a}}\n---\n{kind: 1}\n---\n{kind: 2}"),
            "file:3:8: kind must be a string, not an integer: put it in quotes");
}

TEST(Meta, OfANewerServerMayHaveMoreFields) {
  const auto meta = parseMeta(yaml("{name: a, inventedLater: 1}"), "file");
  ASSERT_TRUE(meta);
  EXPECT_EQ(meta->name, "a");
}

// What it has stored it has accepted, today or long ago.
TEST(Meta, OfAServerIsNotCheckedOnceMore) {
  for (const char* text :
       {R"({name: "x\n1"})", R"({name: "{{x}} y"})", R"({name: "sha256~A:b", namespace: "A b"})",
        R"({name: a, finalizers: [a/b/c, ""], labels: {"-a": "b c"}, annotations: {"a b": c}})",
        R"({name: a, ownerReferences: [{apiVersion: v1, kind: A, name: "x\n1", controller: true, later: 1},
        {apiVersion: v1, kind: A, name: b, controller: true}]})"}) {
    const auto meta = parseMeta(yaml(text), "file");
    EXPECT_TRUE(meta) << toString(meta.error());
  }
  EXPECT_FALSE(parseMeta(yaml("{name: [a]}"), "file"));
}

// `kubectl get roles -o json` of a cluster with such a Role; without a uid it is a chart's template.
TEST(Object, OfAClusterMayBeCalledAsATemplate) {
  const std::string role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: ";
  EXPECT_EQ(object(role + R"("{{x}} y", uid: u}})").key.name, "{{x}} y");
  EXPECT_EQ(object(role + R"("x\n1"}})").key.name, "x\n1");
  EXPECT_EQ(object(role + std::string(300, 'a') + "}}").key.name.size(), 300U);
  EXPECT_NE(readObjects(role + R"("{{x}} y"}})").find("helm template"), std::string::npos);
}

TEST(Object, GroupIsWhatStandsBeforeTheVersion) {
  EXPECT_EQ(groupOf("apps/v1"), "apps");
  EXPECT_EQ(groupOf("v1"), "");
}

TEST(Timestamps, AreWhatTheyWere) {
  EXPECT_EQ(timestampAfter("2026-11-21T02:39:56Z", std::chrono::seconds(30)), "2026-11-21T02:40:26Z");
  EXPECT_EQ(timestampAfter("2027-01-01T00:00:00Z", std::chrono::seconds(-1)), "2026-12-31T23:59:59Z");
  EXPECT_EQ(timestampText(std::chrono::sys_seconds(std::chrono::seconds(951782400))), "2000-02-29T00:00:00Z");
  for (const char* text : {"", "now", "2026-02-30T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21 02:39:56Z"})
    EXPECT_FALSE(parseTimestamp(text)) << text;
}

}  // namespace
}  // namespace lastout::kube

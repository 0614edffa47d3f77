#include "kube/resource_map.h"

#include <gtest/gtest.h>

#include "tests/kube/reading.h"

namespace lastout::kube {
namespace {

const ResourceMap& builtIn() { return ResourceMap::builtIn(); }

std::string resolved(const ResourceMap& types, std::string_view word) {
  const auto type = types.resolve(word);
  return type ? toString((*type)->type) : type.error().message;
}

struct Known {
  std::string_view words;  // all mean the type
  std::string_view type;
  std::string_view kind;
  std::string_view version;
  bool namespaced;
};

// As a 1.36 API server's discovery gives them, and `kubectl api-resources`.
const Known kKnown[] = {
    {"pods pod po Pod PODS", "pods", "Pod", "v1", true},
    {"namespaces namespace ns Namespace", "namespaces", "Namespace", "v1", false},
    {"nodes node no", "nodes", "Node", "v1", false},
    {"services service svc", "services", "Service", "v1", true},
    {"serviceaccounts serviceaccount sa", "serviceaccounts", "ServiceAccount", "v1", true},
    {"configmaps configmap cm", "configmaps", "ConfigMap", "v1", true},
    {"secrets secret", "secrets", "Secret", "v1", true},
    {"events event ev", "events", "Event", "v1", true},
    {"events.events.k8s.io ev.events.k8s.io", "events.events.k8s.io", "Event", "v1", true},
    {"endpoints ep Endpoints", "endpoints", "Endpoints", "v1", true},
    {"endpointslices endpointslice", "endpointslices.discovery.k8s.io", "EndpointSlice", "v1", true},
    {"persistentvolumeclaims pvc", "persistentvolumeclaims", "PersistentVolumeClaim", "v1", true},
    {"persistentvolumes pv", "persistentvolumes", "PersistentVolume", "v1", false},
    {"replicationcontrollers rc", "replicationcontrollers", "ReplicationController", "v1", true},
    {"componentstatuses cs", "componentstatuses", "ComponentStatus", "v1", false},
    {"limitranges limits", "limitranges", "LimitRange", "v1", true},
    {"resourcequotas quota", "resourcequotas", "ResourceQuota", "v1", true},
    {"deployments deployment deploy Deployment deployments.apps deployment.apps deploy.apps Deployment.apps",
     "deployments.apps", "Deployment", "v1", true},
    {"statefulsets sts", "statefulsets.apps", "StatefulSet", "v1", true},
    {"daemonsets ds", "daemonsets.apps", "DaemonSet", "v1", true},
    {"replicasets rs", "replicasets.apps", "ReplicaSet", "v1", true},
    {"jobs job jobs.batch", "jobs.batch", "Job", "v1", true},
    {"cronjobs cj", "cronjobs.batch", "CronJob", "v1", true},
    {"horizontalpodautoscalers hpa", "horizontalpodautoscalers.autoscaling", "HorizontalPodAutoscaler", "v2",
     true},
    {"ingresses ingress ing", "ingresses.networking.k8s.io", "Ingress", "v1", true},
    {"networkpolicies networkpolicy netpol", "networkpolicies.networking.k8s.io", "NetworkPolicy", "v1",
     true},
    {"poddisruptionbudgets pdb", "poddisruptionbudgets.policy", "PodDisruptionBudget", "v1", true},
    {"storageclasses sc", "storageclasses.storage.k8s.io", "StorageClass", "v1", false},
    {"volumeattachments", "volumeattachments.storage.k8s.io", "VolumeAttachment", "v1", false},
    {"priorityclasses pc", "priorityclasses.scheduling.k8s.io", "PriorityClass", "v1", false},
    {"leases lease", "leases.coordination.k8s.io", "Lease", "v1", true},
    {"roles role", "roles.rbac.authorization.k8s.io", "Role", "v1", true},
    {"rolebindings", "rolebindings.rbac.authorization.k8s.io", "RoleBinding", "v1", true},
    {"clusterroles", "clusterroles.rbac.authorization.k8s.io", "ClusterRole", "v1", false},
    {"clusterrolebindings", "clusterrolebindings.rbac.authorization.k8s.io", "ClusterRoleBinding", "v1",
     false},
    {"customresourcedefinitions customresourcedefinition crd crds CustomResourceDefinition "
     "CustomResourceDefinition.apiextensions.k8s.io",
     "customresourcedefinitions.apiextensions.k8s.io", "CustomResourceDefinition", "v1", false},
    {"validatingwebhookconfigurations", "validatingwebhookconfigurations.admissionregistration.k8s.io",
     "ValidatingWebhookConfiguration", "v1", false},
    {"mutatingwebhookconfigurations", "mutatingwebhookconfigurations.admissionregistration.k8s.io",
     "MutatingWebhookConfiguration", "v1", false},
    {"apiservices apiservice", "apiservices.apiregistration.k8s.io", "APIService", "v1", false},
    {"flowschemas", "flowschemas.flowcontrol.apiserver.k8s.io", "FlowSchema", "v1", false},
    {"prioritylevelconfigurations", "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
     "PriorityLevelConfiguration", "v1", false},
    {"tokenreviews", "tokenreviews.authentication.k8s.io", "TokenReview", "v1", false},
    {"subjectaccessreviews", "subjectaccessreviews.authorization.k8s.io", "SubjectAccessReview", "v1", false},
    {"manifestworks manifestwork ManifestWork", "manifestworks.work.open-cluster-management.io",
     "ManifestWork", "v1", true},
    {"appliedmanifestworks", "appliedmanifestworks.work.open-cluster-management.io", "AppliedManifestWork",
     "v1", false},
    {"criticalservices criticalservice critsvc CriticalService criticalservices.lastout.dev",
     "criticalservices.lastout.dev", "CriticalService", "v1alpha1", false},
};

TEST(ResourceMap, KnowsWhatEveryClusterHas) {
  for (const Known& known : kKnown) {
    std::string_view words = known.words;
    while (!words.empty()) {
      const std::string_view word = words.substr(0, words.find(' '));
      words.remove_prefix(std::min(word.size() + 1, words.size()));
      EXPECT_EQ(resolved(builtIn(), word), known.type) << word;
    }
    const auto type = builtIn().resolve(known.type);
    ASSERT_TRUE(type) << known.type;
    EXPECT_EQ((*type)->kind, known.kind);
    EXPECT_EQ((*type)->version, known.version) << known.type;
    EXPECT_EQ((*type)->namespaced, known.namespaced) << known.type;
    EXPECT_EQ(builtIn().findKind((*type)->type.group, known.kind), *type);
    EXPECT_EQ(builtIn().find((*type)->type), *type);
  }
}

TEST(ResourceMap, TellsBuiltInTypesFromThoseThatACrdDefines) {
  EXPECT_TRUE(builtIn().find({"apps", "deployments"})->builtIn);
  EXPECT_TRUE(builtIn().find({"apiextensions.k8s.io", "customresourcedefinitions"})->builtIn);
  EXPECT_FALSE(builtIn().find({"lastout.dev", "criticalservices"})->builtIn);
  EXPECT_FALSE(builtIn().find({"work.open-cluster-management.io", "manifestworks"})->builtIn);
}

TEST(ResourceMap, NamesTheNearestToAnUnknownWord) {
  EXPECT_EQ(resolved(builtIn(), "deploymnets"),
            "no resource type \"deploymnets\" is known; did you mean \"deployments\"?");
  EXPECT_EQ(resolved(builtIn(), "deployments.app"),
            "no resource type \"deployments.app\" is known; did you mean \"deployments.apps\"?");
  EXPECT_EQ(resolved(builtIn(), "coolresources"),
            "no resource type \"coolresources\" is known; a type of your own is known once its "
            "CustomResourceDefinition is there");
  EXPECT_EQ(resolved(builtIn(), "").substr(0, 30), "no resource type \"\" is known; ");
  EXPECT_EQ(resolved(builtIn(), ".apps").substr(0, 35), "no resource type \".apps\" is known; ");
  EXPECT_EQ(builtIn().find({"apps", "pods"}), nullptr);
  EXPECT_EQ(builtIn().findKind("", "Deployment"), nullptr);
  EXPECT_EQ(builtIn().findKind("apps", "deployment"), nullptr);
}

Value crd(const std::string& plural, const std::string& kind, const std::string& group = "my.crd.group",
          const std::string& more = "") {
  return yaml(
      "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: " + plural +
      "." + group + "}, spec: {group: " + group + ", scope: Namespaced, names: {plural: " + plural +
      ", kind: " + kind + more + "}, versions: [{name: v1, served: true, storage: true}]}}");
}

TEST(ResourceMap, LearnsATypeFromItsCrd) {
  ResourceMap types = ResourceMap::builtIn();
  const auto added = types.addCrd(yaml(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: coolresources.my.crd.group}
spec:
  group: my.crd.group
  names: {kind: CoolResource, listKind: CoolResourceList, plural: coolresources, singular: coolresource, shortNames: [cool]}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
)"),
                                  "file");
  ASSERT_TRUE(added) << toString(added.error());
  for (const std::string_view word :
       {"coolresources", "coolresource", "cool", "CoolResource", "cool.my.crd.group"}) {
    EXPECT_EQ(resolved(types, word), "coolresources.my.crd.group") << word;
  }
  EXPECT_EQ(added->kind, "CoolResource");
  EXPECT_EQ(added->version, "v1");
  EXPECT_TRUE(added->namespaced);
  EXPECT_FALSE(added->builtIn);
  EXPECT_EQ(types.findKind("my.crd.group", "CoolResource")->type, added->type);
}

TEST(ResourceMap, FillsInTheSingularAndReadsTheScope) {
  ResourceMap types;
  Value document = crd("things", "Thing");
  ASSERT_TRUE(types.addCrd(document, "file"));
  EXPECT_EQ(types.find({"my.crd.group", "things"})->singular, "thing");
  document = yaml(
      "{metadata: {name: things.my.crd.group}, spec: {group: my.crd.group, scope: Cluster, names: {plural: "
      "things, kind: Thing}, "
      "versions: [{name: v1}]}}");
  ASSERT_TRUE(types.addCrd(document, "file"));
  EXPECT_FALSE(types.find({"my.crd.group", "things"})->namespaced);
}

TEST(ResourceMap, ALaterCrdReplacesAnEarlierOne) {
  ResourceMap types = ResourceMap::builtIn();
  ASSERT_TRUE(types.addCrd(crd("things", "Thing", "my.crd.group", ", shortNames: [old, th]"), "file"));
  const ResourceType* thing = types.find({"my.crd.group", "things"});
  const size_t count = types.types().size();
  ASSERT_TRUE(types.addCrd(crd("things", "Gadget", "my.crd.group", ", shortNames: [th]"), "file"));
  EXPECT_EQ(types.types().size(), count);
  EXPECT_EQ(types.find({"my.crd.group", "things"}), thing);
  EXPECT_EQ(thing->kind, "Gadget");
  EXPECT_EQ(types.findKind("my.crd.group", "Thing"), nullptr);
  EXPECT_EQ(types.findKind("my.crd.group", "Gadget"), thing);
  EXPECT_EQ(resolved(types, "th"), "things.my.crd.group");
  EXPECT_EQ(resolved(types, "old").substr(0, 33), "no resource type \"old\" is known; ");
}

TEST(ResourceMap, WhatIsRemovedIsNamedByNoWord) {
  ResourceMap types = ResourceMap::builtIn();
  ASSERT_TRUE(types.addCrd(crd("things", "Thing", "my.crd.group", ", shortNames: [th]"), "file"));
  ASSERT_TRUE(types.addCrd(crd("gadgets", "Gadget"), "file"));
  const size_t count = types.types().size();
  types.remove({"my.crd.group", "things"});
  types.remove({"my.crd.group", "things"});
  EXPECT_EQ(types.types().size(), count - 1);
  EXPECT_EQ(types.find({"my.crd.group", "things"}), nullptr);
  EXPECT_EQ(types.findKind("my.crd.group", "Thing"), nullptr);
  for (const std::string word : {"things", "thing", "th"})
    EXPECT_EQ(resolved(types, word).substr(0, 16), "no resource type") << word;
  for (const std::string_view word : {"gadgets", "gadget", "Gadget"})
    EXPECT_EQ(resolved(types, word), "gadgets.my.crd.group");
  EXPECT_EQ(types.findKind("my.crd.group", "Gadget"), types.find({"my.crd.group", "gadgets"}));
  EXPECT_EQ(resolved(types, "deploy"), "deployments.apps");
  ASSERT_TRUE(types.addCrd(crd("widgets", "Thing"), "file")) << "the names are free again";
}

// Only add() takes what an API server would not: of two types with one kind, the later one has it.
TEST(ResourceMap, AKindFallsBackToWhomElseHasIt) {
  ResourceMap types;
  types.add({{"g.dev", "olds"}, "Same", "v1", "old", {}, true, false});
  types.add({{"g.dev", "news"}, "Same", "v1", "new", {}, true, false});
  types.remove({"g.dev", "news"});
  EXPECT_EQ(types.findKind("g.dev", "Same"), types.find({"g.dev", "olds"}));
}

TEST(ResourceMap, ACopyKnowsTheSameAndLearnsByItself) {
  const ResourceMap& original = builtIn();
  ResourceMap copy = original;
  ASSERT_TRUE(copy.addCrd(crd("things", "Thing"), "file"));
  EXPECT_EQ(resolved(copy, "things"), "things.my.crd.group");
  EXPECT_EQ(resolved(copy, "deploy"), "deployments.apps");
  EXPECT_EQ(original.find({"my.crd.group", "things"}), nullptr);
}

TEST(ResourceMap, AWordWithoutGroupPrefersBuiltInTypes) {
  ResourceMap types = ResourceMap::builtIn();
  ASSERT_TRUE(types.addCrd(crd("services", "Service", "serving.example.com"), "file"));
  EXPECT_EQ(resolved(types, "services"), "services");
  EXPECT_EQ(resolved(types, "Service"), "services");
  EXPECT_EQ(resolved(types, "services.serving.example.com"), "services.serving.example.com");
}

TEST(ResourceMap, AnAmbiguousWordListsItsMeanings) {
  ResourceMap types = ResourceMap::builtIn();
  ASSERT_TRUE(types.addCrd(crd("backups", "Backup", "a.example.com"), "file"));
  ASSERT_TRUE(types.addCrd(crd("backups", "Backup", "b.example.com"), "file"));
  EXPECT_EQ(resolved(types, "backup"),
            "\"backup\" means more than one type: write backups.a.example.com or backups.b.example.com");
  ASSERT_TRUE(types.addCrd(crd("backups", "Backup", "c.example.com"), "file"));
  EXPECT_EQ(resolved(types, "backups"),
            "\"backups\" means more than one type: write backups.a.example.com, backups.b.example.com or "
            "backups.c.example.com");
  EXPECT_EQ(resolved(types, "backups.b.example.com"), "backups.b.example.com");
}

TEST(ResourceMap, AResourcesNameCountsBeforeAShortName) {
  ResourceMap types;
  ASSERT_TRUE(types.addCrd(crd("widgets", "Widget", "a.example.com", ", shortNames: [gear]"), "file"));
  ASSERT_TRUE(types.addCrd(crd("gears", "Gear", "b.example.com"), "file"));
  EXPECT_EQ(resolved(types, "gear"), "gears.b.example.com");
}

// "Version priority" of Kubernetes' documentation of CustomResourceDefinitions, with its own example.
TEST(ResourceMap, PrefersTheVersionThatTheServerDoes) {
  const auto preferred = [](const std::string& versions) {
    ResourceMap types;
    const auto added = types.addCrd(yaml("{metadata: {name: t.a.example}, spec: {group: a.example, scope: "
                                         "Cluster, names: {plural: t, kind: T}, versions: [" +
                                         versions + "]}}"),
                                    "file");
    return added ? added->version : toString(added.error());
  };
  EXPECT_EQ(
      preferred("{name: foo10}, {name: v12alpha1}, {name: v11alpha2}, {name: v3beta1}, {name: v10beta3}, "
                "{name: v11beta2}, {name: v1}, {name: v2}, {name: v10}, {name: foo1}"),
      "v10");
  EXPECT_EQ(
      preferred("{name: foo10}, {name: v12alpha1}, {name: v3beta1}, {name: v10beta3}, {name: v11beta2}"),
      "v11beta2");
  EXPECT_EQ(preferred("{name: foo10}, {name: v11alpha2}, {name: v12alpha1}, {name: foo1}"), "v12alpha1");
  EXPECT_EQ(preferred("{name: foo10}, {name: foo1}, {name: v}, {name: v0}, {name: v1beta}"), "foo1");
  EXPECT_EQ(preferred("{name: v2, served: false}, {name: v1, served: true}"), "v1");
  EXPECT_EQ(preferred("{name: v2, served: false}").substr(0, 5), "file:");
}

TEST(ResourceMap, SaysWhatIsWrongWithACrd) {
  const auto refused = [](const Value& document) {
    ResourceMap types = ResourceMap::builtIn();
    (void)types.addCrd(crd("taken", "Taken"), "file");
    const auto added = types.addCrd(document, "file");
    return added ? "accepted" : toString(added.error());
  };
  EXPECT_EQ(refused(crd("things", "Thing")), "accepted");
  EXPECT_EQ(refused(yaml("{metadata: {name: a.b}}")), "file:1:1: spec is missing");
  EXPECT_EQ(
      refused(yaml("{apiVersion: apiextensions.k8s.io/v1beta1, metadata: {name: a.b.c}, spec: {group: "
                   "b.c, scope: Cluster, version: v1, names: {plural: a, kind: A}}}")),
      "file:1:14: apiVersion \"apiextensions.k8s.io/v1beta1\" of a CustomResourceDefinition is not served: "
      "write \"apiextensions.k8s.io/v1\", and its spec accordingly");
  EXPECT_EQ(refused(yaml("{spec: {scope: Cluster, names: {plural: a, kind: A}, versions: [{name: v1}]}}")),
            "file:1:8: spec.group is missing");
  EXPECT_EQ(refused(yaml("{spec: {group: b.c, scope: Cluster, names: {plural: a}, versions: [{name: v1}]}}")),
            "file:1:44: spec.names.kind is missing");
  EXPECT_EQ(refused(yaml(
                "{spec: {group: b.c, scope: Global, names: {plural: a, kind: A}, versions: [{name: v1}]}}")),
            "file:1:28: spec.scope must be Namespaced or Cluster, not \"Global\"");
  EXPECT_EQ(refused(yaml("{spec: {group: b.c, scope: Cluster, names: {plural: a, kind: A}}}")),
            "file:1:8: spec.versions has no version that is served");
  EXPECT_EQ(refused(yaml("{metadata: {name: x.b.c}, spec: {group: b.c, scope: Cluster, names: {plural: a, "
                         "kind: A}, versions: "
                         "[{name: v1}]}}")),
            "file:1:19: metadata.name must be \"a.b.c\": spec.names.plural, a dot, and spec.group");
  EXPECT_EQ(refused(crd("a", "A", "nodot")),
            "file:1:112: spec.group \"nodot\" must be a domain with at least one dot");
  EXPECT_EQ(refused(crd("a/b", "A")).substr(0, 5), "file:");
  EXPECT_NE(refused(crd("a/b", "A")).find("spec.names.plural \"a/b\" must be lower case letters"),
            std::string::npos);
  EXPECT_NE(refused(crd("ab", "A B")).find("spec.names.kind \"A B\" must be letters"), std::string::npos);
  EXPECT_NE(refused(crd("ab", "A", "b.c", ", shortNames: [Q]")).find("spec.names.shortNames \"Q\" must be"),
            std::string::npos);
  EXPECT_NE(refused(crd("others", "Taken"))
                .find("the names of others.my.crd.group are taken by taken.my.crd.group"),
            std::string::npos);
  EXPECT_NE(refused(crd("flowschemas", "FlowSchema", "flowcontrol.apiserver.k8s.io"))
                .find("flowschemas.flowcontrol.apiserver.k8s.io is built into Kubernetes; no "
                      "CustomResourceDefinition can"),
            std::string::npos);
}

}  // namespace
}  // namespace lastout::kube

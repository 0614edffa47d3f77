// Containers: what ends with a CRD, a Namespace, a claim's Pods, a workload.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cluster/manifests.h"
#include "tests/cluster/world.h"

namespace lastout::cluster {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string child(const World& world, std::string_view workload, size_t index = 0) {
  return world.model().name(world.model().slots[world.slot(workload)].children.at(index));
}

// docs/semantics.md, "The rules": CRD.
TEST(Crd, MarksItsInstancesDeletedWithoutReviewAndWaitsForThem) {
  World world(kInstances);
  world.deletes(kCrd);
  EXPECT_THAT(world.finalizers(kCrd), ElementsAre("customresourcecleanup.apiextensions.k8s.io"));
  EXPECT_FALSE(world.enabled(Kind::CrdFinish, kCrd));
  world.perform(Kind::CrdInstances, kCrd);
  EXPECT_TRUE(world.terminating(kWidget));
  EXPECT_THAT(world.log(), Not(Contains(std::string("crd requested ") + kWidget)));
  world.settle();
  EXPECT_TRUE(world.present(kCrd)) << "the instance keeps its finalizer";
  world.does(ClientStep::Verb::SetFinalizers, kWidget, 0);
  world.settle();
  EXPECT_THAT(world.left(), IsEmpty());
}

TEST(Crd, RefusesToCreateWhileItTerminatesButNotToApply) {
  World world(kInstances + "{apiVersion: example.com/v1, kind: Widget, metadata: {name: two}}",
              {.absent = {"widgets.example.com/two"}});
  world.deletes(kCrd);
  world.does(ClientStep::Verb::Create, "widgets.example.com/two");
  EXPECT_EQ(world.log().back(), "client denied widgets.example.com/two: MethodNotAllowed");
  world.send(world.step(ClientStep::Verb::Create, "widgets.example.com/two",
                        [](ClientStep& step) { step.serverSide = true; }));
  EXPECT_TRUE(world.present("widgets.example.com/two"));
  EXPECT_TRUE(world.enabled(Kind::CrdInstances, kCrd)) << "it is deleted in turn";
}

TEST(Crd, ThatIsCleanedUpAndWaitsForAnotherFinalizerTakesNoInstanceAnyMore) {
  World world(kInstances, {.absent = {kWidget}});
  world.deletes(kCrd, PropagationPolicy::Orphan);
  world.perform(Kind::CrdFinish, kCrd);
  ASSERT_TRUE(world.terminating(kCrd));
  world.send(world.step(ClientStep::Verb::Create, kWidget, [](ClientStep& step) { step.serverSide = true; }));
  EXPECT_EQ(world.log().back(), std::string("client denied ") + kWidget + ": MethodNotAllowed");
}

TEST(Crd, OnceGoneLetsNothingOfItsTypeAppear) {
  World world(kInstances, {.absent = {kWidget}});
  world.deletes(kCrd);
  world.settle();
  world.send(world.step(ClientStep::Verb::Create, kWidget, [](ClientStep& step) { step.serverSide = true; }));
  EXPECT_EQ(world.log().back(), std::string("client denied ") + kWidget + ": NotFound");
}

TEST(Namespace, DeletesItsContentThroughReviewAndThenGoes) {
  World world(kProvider);
  world.deletes(kNamespace);
  EXPECT_THAT(world.finalizers(kNamespace), ElementsAre("kubernetes"));
  EXPECT_FALSE(world.enabled(Kind::NamespaceFinish, kNamespace));
  world.perform(Kind::NamespaceDelete, kDeployment);
  EXPECT_THAT(world.log(), Contains(std::string("lifecycle requested ") + kDeployment));
  world.settle();
  EXPECT_THAT(world.left(), IsEmpty());
}

TEST(Namespace, LetsNothingBeCreatedWhileItTerminates) {
  World world(kProvider + "{apiVersion: v1, kind: ConfigMap, metadata: {name: late, namespace: operator}}",
              {.absent = {"configmaps/operator/late"}});
  world.deletes(kNamespace);
  world.does(ClientStep::Verb::Create, "configmaps/operator/late");
  EXPECT_EQ(world.log().back(), "client denied configmaps/operator/late: Forbidden");
}

TEST(Namespace, ThatHasFinishedItsContentOnlyWaitsForItsOtherFinalizers) {
  World world("{apiVersion: v1, kind: Namespace, metadata: {name: operator, finalizers: [f/one]}}");
  world.deletes(kNamespace);
  world.settle();
  EXPECT_THAT(world.finalizers(kNamespace), ElementsAre("f/one"));
  EXPECT_FALSE(world.enabled(Kind::NamespaceFinish, kNamespace));
}

// docs/semantics.md, "The rules": Namespace. The Deployment survives its Pods.
TEST(Namespace, KillsTheProviderEvenWhileTheDeploymentIsDenied) {
  World world(kProvider + kInstances + kGuard);
  // Somebody went around the guard: the namespace terminates although its provider is needed.
  ObjectState space = world.state().object(world.slot(kNamespace));
  space.presence = Presence::Terminating;
  world.state().setObject(world.slot(kNamespace), space);
  world.settle();
  EXPECT_TRUE(world.present(kDeployment));
  EXPECT_FALSE(world.machine().model().slots.empty());
  EXPECT_FALSE(world.present(child(world, kDeployment)));
  EXPECT_THAT(world.log(), Contains(std::string("lifecycle denied ") + kDeployment));
}

TEST(Namespace, ThatAlreadyTerminatesIsNotReviewedAgain) {
  World world(kProvider + kGuard + kInstances);
  ObjectState space = world.state().object(world.slot(kNamespace));
  space.presence = Presence::Terminating;
  world.state().setObject(world.slot(kNamespace), space);
  world.deletes(kNamespace);
  EXPECT_EQ(world.log().back(), "client requested namespaces/operator");
}

// https://kubernetes.io/docs/concepts/storage/persistent-volumes/#storage-object-in-use-protection
TEST(Volume, StaysWhileAClaimIsBoundToIt) {
  const auto worldOf = [](const std::string& ofVolume, const std::string& ofClaim) {
    return "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}, spec: {" + ofVolume +
           "}}\n---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: x}, spec: {" +
           ofClaim + "}}\n";
  };
  constexpr const char* kItsClaim = "claimRef: {namespace: x, name: data}";
  for (const auto& [ofVolume, ofClaim] :
       {std::pair(kItsClaim, "volumeName: pv"), std::pair(kItsClaim, ""), std::pair("", "volumeName: pv")}) {
    World world(worldOf(ofVolume, ofClaim));
    EXPECT_THAT(world.finalizers("pv/pv"), ElementsAre("kubernetes.io/pv-protection"));
    world.deletes("pv/pv");
    world.settle();
    EXPECT_TRUE(world.terminating("pv/pv")) << ofVolume << ofClaim;
    world.deletes("pvc/data -n x");
    world.settle();
    EXPECT_FALSE(world.present("pv/pv")) << ofVolume << ofClaim;
  }
  for (const auto& [ofVolume, ofClaim] :
       {std::pair("", ""), std::pair("claimRef: {namespace: y, name: data}", "volumeName: pv"),
        std::pair(kItsClaim, "volumeName: other"), std::pair("", "volumeName: other")}) {
    World world(worldOf(ofVolume, ofClaim));
    world.deletes("pv/pv");
    world.settle();
    EXPECT_FALSE(world.present("pv/pv")) << ofVolume << ofClaim;
    EXPECT_TRUE(world.present("pvc/data -n x"));
  }
}

// Whoever has put another finalizer on it has to take that off.
TEST(Volume, KeepsTheFinalizersOfItsDriver) {
  World world(
      "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv, finalizers: [kubernetes.io/pv-protection, "
      "external-attacher/disk-example-io]}, spec: {csi: {driver: disk.example.io}}}");
  world.deletes("pv/pv");
  world.settle();
  EXPECT_THAT(world.finalizers("pv/pv"), ElementsAre("external-attacher/disk-example-io"));
}

TEST(Claim, WaitsForThePodsThatMountIt) {
  World world(R"(
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: x}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: x}
spec:
  replicas: 1
  template:
    spec: {volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}
)");
  EXPECT_THAT(world.finalizers("pvc/data -n x"), ElementsAre("kubernetes.io/pvc-protection"));
  world.deletes("pvc/data -n x");
  world.settle();
  EXPECT_TRUE(world.terminating("pvc/data -n x"));
  world.deletes("statefulsets.apps/x/db");
  world.settle();
  EXPECT_THAT(world.left(), IsEmpty());
}

// docs/semantics.md, "The rules": Deployment.
TEST(Workload, ThatTerminatesBehindAFinalizerKeepsItsPodsAndReplacesThem) {
  World world(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: x, finalizers: [f/hold]}
spec: {replicas: 1}
)");
  const std::string replicaSet = child(world, "deployments.apps/x/web");
  const std::string pod = child(world, replicaSet);
  world.deletes("deployments.apps/x/web", PropagationPolicy::Background);
  world.settle();
  EXPECT_TRUE(world.terminating("deployments.apps/x/web"));
  world.deletes(pod);
  world.perform(Kind::PodStop, pod);
  EXPECT_FALSE(world.present(pod));
  world.settle();
  EXPECT_TRUE(world.present(pod)) << "a Pod is replaced";
  world.deletes(replicaSet);
  world.settle();
  EXPECT_FALSE(world.present(replicaSet)) << "a ReplicaSet is not";
}

TEST(Workload, ThatTerminatesInTheForegroundLosesItsPodsAtOnce) {
  World world(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: x, finalizers: [f/hold]}
spec: {replicas: 1}
)");
  world.deletes("deployments.apps/x/web", PropagationPolicy::Background);
  world.deletes("deployments.apps/x/web", PropagationPolicy::Foreground);
  world.settle();
  EXPECT_THAT(world.left(), ElementsAre("deployments.apps/x/web"));
  EXPECT_THAT(world.finalizers("deployments.apps/x/web"), ElementsAre("f/hold"));
}

TEST(Workload, FollowsItsReplicas) {
  World world(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: x}
spec: {replicas: 1}
)");
  world.does(ClientStep::Verb::SetReplicas, "deployments.apps/x/web", 3);
  world.settle();
  EXPECT_EQ(world.left().size(), 5U);
  world.does(ClientStep::Verb::SetReplicas, "deployments.apps/x/web", 0);
  world.settle();
  EXPECT_EQ(world.left().size(), 2U);
}

TEST(Workload, CreatedAnewLeavesTheOldOnesReplicaSetToTheCollector) {
  World world(kProvider);
  const std::string replicaSet = child(world, kDeployment);
  world.deletes(kDeployment, PropagationPolicy::Background);
  world.does(ClientStep::Verb::Create, kDeployment);
  world.does(ClientStep::Verb::SetReplicas, kDeployment, 2);
  EXPECT_FALSE(world.enabled(Kind::WorkloadSync, kDeployment)) << "it is not its own";
  EXPECT_TRUE(world.enabled(Kind::CollectorDelete, replicaSet));
  world.settle();
  EXPECT_EQ(world.left().size(), 5U) << "namespace, Deployment, ReplicaSet and two Pods of its own";
}

TEST(Workload, StatefulSetsNameTheirPodsInOrderAndDaemonSetsRunOne) {
  World world(R"(
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: x}, spec: {replicas: 2}}
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: log, namespace: x}, spec: {}}
)");
  EXPECT_TRUE(world.present("pods/x/db-0"));
  EXPECT_TRUE(world.present("pods/x/db-1"));
  EXPECT_EQ(world.left().size(), 5U);
}

TEST(Workload, ANewPodIsReadyOnlyAfterAWhile) {
  World world(kProvider + kInstances);
  world.controller("cleaner", kDeployment, "example.com/clean", "widgets.example.com");
  const std::string pod = child(world, child(world, kDeployment));
  world.deletes(kWidget);
  EXPECT_TRUE(world.enabled(Kind::Finalize, kWidget));
  world.deletes(pod);
  EXPECT_FALSE(world.enabled(Kind::Finalize, kWidget)) << "a terminating Pod works no more";
  world.perform(Kind::PodStop, pod);
  world.perform(Kind::WorkloadSync, child(world, kDeployment));
  EXPECT_FALSE(world.enabled(Kind::Finalize, kWidget)) << "its replacement is not Ready yet";
  world.perform(Kind::PodReady, pod);
  EXPECT_TRUE(world.enabled(Kind::Finalize, kWidget));
}

// The document's motivation: without Pods behind it, a webhook keeps everything it guards from being changed.
TEST(Webhook, WithoutPodsMakesRequestsFailUntilItsConfigurationIsGone) {
  World world(kProvider + R"(
{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: operator}, spec: {selector: {app: c}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: checks}
webhooks:
- name: checks.example.com
  clientConfig: {service: {namespace: operator, name: hook}}
  rules: [{operations: [DELETE], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}]
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}
)");
  world.deletes(kDeployment);
  world.settle();
  world.deletes("configmaps/x/a");
  EXPECT_EQ(world.log().back(), "client denied configmaps/x/a: InternalError");
  world.deletes("validatingwebhookconfigurations.admissionregistration.k8s.io/checks");
  world.deletes("configmaps/x/a");
  EXPECT_FALSE(world.present("configmaps/x/a"));
}

TEST(Webhook, IsCalledForTheOperationsOfItsRulesOnly) {
  World world(kProvider + kInstances + R"(
{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: operator}, spec: {selector: {app: c}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: checks}
webhooks:
- name: checks.example.com
  clientConfig: {service: {namespace: operator, name: hook}}
  rules: [{operations: [UPDATE], apiGroups: [example.com], apiVersions: [v1], resources: [widgets]}]
)");
  world.controller("cleaner", "", "example.com/clean", "widgets.example.com");
  world.deletes(kDeployment);
  world.settle();
  world.deletes(kWidget);
  EXPECT_TRUE(world.terminating(kWidget));
  EXPECT_FALSE(world.enabled(Kind::Finalize, kWidget)) << "removing a finalizer is an UPDATE";
  world.deletes("validatingwebhookconfigurations.admissionregistration.k8s.io/checks");
  EXPECT_TRUE(world.enabled(Kind::Finalize, kWidget));
}

// A webhook that nothing answers, for these operations on ConfigMaps. `rule` and `webhook`: more fields.
std::string deadWebhook(const std::string& operations, const std::string& resources = "configmaps",
                        const std::string& rule = "", const std::string& webhook = "") {
  return R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x, finalizers: [f/one]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: late, namespace: x}}
---
{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: h}, spec: {selector: {app: hook}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: checks}
webhooks:
- name: checks.example.com
  clientConfig: {service: {namespace: h, name: hook}}
  rules: [{operations: [)" +
         operations + R"(], apiGroups: [""], apiVersions: [v1], resources: [")" + resources + R"("])" + rule +
         "}]\n" + webhook;
}

TEST(Webhook, ThatDoesNotAnswerStopsClientsPatches) {
  World world(deadWebhook("UPDATE"));
  world.does(ClientStep::Verb::SetFinalizers, "configmaps/x/a", 0);
  EXPECT_EQ(world.log().back(), "client denied configmaps/x/a: InternalError");
  EXPECT_THAT(world.finalizers("configmaps/x/a"), ElementsAre("f/one"));
}

TEST(Webhook, ThatDoesNotAnswerStopsClientsCreates) {
  World world(deadWebhook("CREATE"), {.absent = {"configmaps/x/late"}});
  world.does(ClientStep::Verb::Create, "configmaps/x/late");
  EXPECT_EQ(world.log().back(), "client denied configmaps/x/late: InternalError");
  world.does(ClientStep::Verb::SetFinalizers, "configmaps/x/a", 0);
  EXPECT_THAT(world.finalizers("configmaps/x/a"), IsEmpty()) << "it is not called for that";
}

TEST(Webhook, MayNameResourcesWithTheirSubresources) {
  for (const char* all : {"*/*", "*", "configmaps/*"}) {
    World world(deadWebhook("DELETE", all));
    world.deletes("configmaps/x/a");
    EXPECT_EQ(world.log().back(), "client denied configmaps/x/a: InternalError") << all;
  }
  World world(deadWebhook("DELETE", "configmaps/status"));
  world.deletes("configmaps/x/a");
  EXPECT_TRUE(world.terminating("configmaps/x/a"));
}

TEST(Webhook, IsCalledForTheScopeOfItsRulesOnly) {
  for (const char* scope : {"Namespaced", "'*'"}) {
    World world(deadWebhook("DELETE", "configmaps", std::string(", scope: ") + scope));
    world.deletes("configmaps/x/a");
    EXPECT_EQ(world.log().back(), "client denied configmaps/x/a: InternalError") << scope;
  }
  World world(deadWebhook("DELETE", "*", ", scope: Cluster") +
              "---\n{apiVersion: v1, kind: Namespace, metadata: {name: x}}\n");
  world.deletes("configmaps/x/a");
  EXPECT_TRUE(world.terminating("configmaps/x/a"));
  world.deletes("namespaces/x");
  EXPECT_EQ(world.log().back(), "client denied namespaces/x: InternalError")
      << "a Namespace is of the cluster";
}

// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
// #matching-requests-namespaceselector
TEST(Webhook, SelectsANamespaceByItsOwnLabels) {
  constexpr const char* kNamespace = R"(
---
{apiVersion: v1, kind: Namespace, metadata: {name: blue, labels: {team: blue}}}
)";
  const auto selecting = [](const std::string& team) {
    return deadWebhook("DELETE", "namespaces", "",
                       "  namespaceSelector: {matchLabels: {team: " + team + "}}");
  };
  World selected(selecting("blue") + kNamespace);
  selected.deletes("namespaces/blue");
  EXPECT_EQ(selected.log().back(), "client denied namespaces/blue: InternalError");
  World other(selecting("red") + kNamespace);
  other.deletes("namespaces/blue");
  EXPECT_TRUE(other.terminating("namespaces/blue"));
}

// A webhook configuration for DELETEs of ConfigMaps; `client`: of its clientConfig, in braces.
std::string webhookWith(const std::string& client, const std::string& more = "") {
  return R"(
{apiVersion: v1, kind: Namespace, metadata: {name: x}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: checks}
webhooks:
- name: checks.example.com
  clientConfig: )" +
         client + R"(
  rules: [{operations: [DELETE], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}]
)" + more;
}

constexpr const char* kHookService = "{service: {namespace: h, name: hook}}";

TEST(Webhook, WhoseServiceIsNotInTheFilesDoesNotAnswer) {
  World world(webhookWith(kHookService));
  world.deletes("configmaps/x/a");
  EXPECT_EQ(world.log().back(), "client denied configmaps/x/a: InternalError");
  world.deletes("validatingwebhookconfigurations.admissionregistration.k8s.io/checks");
  world.deletes("configmaps/x/a");
  EXPECT_FALSE(world.present("configmaps/x/a"));
}

TEST(Webhook, ThatMayBeIgnoredOrIsReachedOutsideTheModelKeepsNothing) {
  constexpr const char* kByHand =
      "---\n{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: h}, spec: {ports: [{port: "
      "443}]}}\n";
  constexpr const char* kExternal =
      "---\n{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: h}, spec: {type: ExternalName, "
      "externalName: hook.example.com}}\n";
  for (const std::string& yaml : {webhookWith(kHookService, "  failurePolicy: Ignore\n"),
                                  webhookWith("{url: 'https://hook.example.com'}"),
                                  webhookWith(kHookService, kByHand), webhookWith(kHookService, kExternal)}) {
    World world(yaml);
    world.deletes("configmaps/x/a");
    EXPECT_FALSE(world.present("configmaps/x/a")) << yaml;
  }
}

TEST(Webhook, OfLastoutIsLeftToLastoutWhereItsServiceIsNotInTheFiles) {
  std::string yaml = webhookWith(kHookService);
  yaml.replace(yaml.find("checks.example.com"), std::string("checks.example.com").size(),
               "deletions.lastout.dev");
  World world(yaml);
  world.deletes("configmaps/x/a");
  EXPECT_FALSE(world.present("configmaps/x/a"));
}

TEST(Webhook, IsAnsweredByAPodOrByATypeThatTheMachineDoesNotFollow) {
  const std::string service =
      "---\n{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: h}, spec: {selector: {app: "
      "hook}}}\n";
  const std::string pod =
      "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: h, labels: {app: hook}}}\n";
  const std::string controller =
      "---\n{apiVersion: v1, kind: ReplicationController, metadata: {name: r, namespace: h}, "
      "spec: {template: {metadata: {labels: {app: hook}}}}}\n";
  for (const auto& [behind, name] :
       {std::pair(pod, "pods/h/p"), std::pair(controller, "replicationcontrollers/h/r")}) {
    World answered(webhookWith(kHookService, service + behind));
    answered.deletes("configmaps/x/a");
    EXPECT_FALSE(answered.present("configmaps/x/a")) << name;
    World alone(webhookWith(kHookService, service + behind));
    alone.deletes(name);
    alone.settle();
    alone.deletes("configmaps/x/a");
    EXPECT_TRUE(alone.present("configmaps/x/a")) << name;
  }
  World elsewhere(webhookWith(kHookService, service + "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, "
                                                      "namespace: x, labels: {app: hook}}}\n"));
  elsewhere.deletes("configmaps/x/a");
  EXPECT_TRUE(elsewhere.present("configmaps/x/a")) << "a Service selects in its own namespace";
}

// https://kubernetes.io/docs/reference/labels-annotations-taints/#kubernetes-io-metadata-name
TEST(Webhook, SelectsANamespaceByItsName) {
  const auto selecting = [](const std::string& name) {
    return webhookWith(kHookService,
                       "  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: " + name + "}}\n");
  };
  World selected(selecting("x"));
  selected.deletes("configmaps/x/a");
  EXPECT_TRUE(selected.present("configmaps/x/a"));
  World other(selecting("y"));
  other.deletes("configmaps/x/a");
  EXPECT_FALSE(other.present("configmaps/x/a"));
}

TEST(Conversion, WhoseServiceIsNotInTheFilesKeepsTheInstances) {
  World world(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Thing, plural: things, singular: thing}
  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {namespace: h, name: hook}}}}
  versions: [{name: v1, served: true, storage: true}, {name: v2, served: true, storage: false}]
---
{apiVersion: example.com/v1, kind: Thing, metadata: {name: t}}
)");
  world.deletes("things.example.com/t");
  EXPECT_EQ(world.log().back(), "client denied things.example.com/t: InternalError");
  world.deletes("crd/things.example.com");
  world.settle();
  EXPECT_TRUE(world.terminating("crd/things.example.com"));
  EXPECT_FALSE(world.terminating("things.example.com/t"));
}

}  // namespace
}  // namespace lastout::cluster

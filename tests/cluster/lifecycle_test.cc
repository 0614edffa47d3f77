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

// tests/recordings/kubernetes-1.36/rest/086, and the same of 1.26.
TEST(Crd, RefusesToCreateWhileItTerminatesInTheWordsOfItsKubernetes) {
  for (const auto& [version, reason] : {std::pair(kube::KubernetesVersion::V1_26, "MethodNotAllowed"),
                                        std::pair(kube::KubernetesVersion::V1_36, "Forbidden")}) {
    World world(kInstances + "{apiVersion: example.com/v1, kind: Widget, metadata: {name: two}}",
                {.kubernetes = version, .absent = {"widgets.example.com/two"}});
    world.deletes(kCrd);
    world.does(ClientStep::Verb::Create, "widgets.example.com/two");
    EXPECT_EQ(world.log().back(), std::string("client denied widgets.example.com/two: ") + reason);
  }
}

TEST(Crd, DoesNotRefuseToApplyWhileItTerminates) {
  World world(kInstances + "{apiVersion: example.com/v1, kind: Widget, metadata: {name: two}}",
              {.absent = {"widgets.example.com/two"}});
  world.deletes(kCrd);
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
  EXPECT_EQ(world.log().back(), std::string("client denied ") + kWidget + ": Forbidden");
}

TEST(Crd, OnceGoneLetsNothingOfItsTypeAppear) {
  World world(kInstances, {.absent = {kWidget}});
  world.deletes(kCrd);
  world.settle();
  world.send(world.step(ClientStep::Verb::Create, kWidget, [](ClientStep& step) { step.serverSide = true; }));
  EXPECT_EQ(world.log().back(), std::string("client denied ") + kWidget + ": NotFound");
}

const WorldOptions kOf126{.kubernetes = kube::KubernetesVersion::V1_26};

TEST(Namespace, DeletesItsContentThroughReviewAndThenGoes) {
  for (const kube::KubernetesVersion version :
       {kube::KubernetesVersion::V1_26, kube::KubernetesVersion::V1_36}) {
    World world(kProvider, {.kubernetes = version});
    world.deletes(kNamespace);
    EXPECT_THAT(world.finalizers(kNamespace), ElementsAre("kubernetes"));
    EXPECT_FALSE(world.enabled(Kind::NamespaceFinish, kNamespace));
    world.settle();
    EXPECT_THAT(world.log(), Contains(std::string("lifecycle requested ") + kDeployment));
    EXPECT_THAT(world.left(), IsEmpty());
  }
}

TEST(Namespace, DeletesItsContentInAnyOrderUntil126) {
  World world(kProvider, kOf126);
  world.deletes(kNamespace);
  EXPECT_TRUE(world.enabled(Kind::NamespaceDelete, child(world, child(world, kDeployment))));
  EXPECT_TRUE(world.enabled(Kind::NamespaceDelete, child(world, kDeployment)));
  EXPECT_TRUE(world.enabled(Kind::NamespaceDelete, kDeployment));
}

// tests/recordings/kubernetes-1.36/admission/77 to 89. What it deletes nothing else for is the Pod's end, not
// its deletion; nobody makes another Pod meanwhile.
TEST(Namespace, DeletesItsPodsFirst) {
  World world(kProvider);
  const std::string replicaSet = child(world, kDeployment);
  const std::string pod = child(world, replicaSet);
  world.deletes(kNamespace);
  EXPECT_FALSE(world.enabled(Kind::NamespaceDelete, replicaSet));
  EXPECT_FALSE(world.enabled(Kind::NamespaceDelete, kDeployment));
  world.perform(Kind::NamespaceDelete, pod);
  EXPECT_FALSE(world.enabled(Kind::NamespaceDelete, kDeployment)) << "its node is still to stop it";
  world.perform(Kind::PodStop, pod);
  EXPECT_FALSE(world.enabled(Kind::WorkloadSync, replicaSet)) << "nothing is created in it";
  EXPECT_TRUE(world.enabled(Kind::NamespaceDelete, replicaSet));
  EXPECT_TRUE(world.enabled(Kind::NamespaceDelete, kDeployment));
}

const std::string kHeldPod = R"(
{apiVersion: v1, kind: Namespace, metadata: {name: x}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: y}}
---
{apiVersion: v1, kind: Pod, metadata: {name: held, namespace: x, finalizers: [f/one]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: free, namespace: x}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: y}}
)";

TEST(Namespace, KeepsEverythingWhileAPodKeepsAFinalizer) {
  World world(kHeldPod);
  world.deletes("namespaces/x");
  world.deletes("namespaces/y");
  world.settle();
  EXPECT_THAT(world.left(), ElementsAre("configmaps/x/a", "namespaces/x", "pods/x/held"))
      << "of its own namespace";
  EXPECT_FALSE(world.terminating("configmaps/x/a"));
  world.does(ClientStep::Verb::SetFinalizers, "pods/x/held", 0);
  world.settle();
  EXPECT_THAT(world.left(), IsEmpty());
  World before(kHeldPod, kOf126);
  before.deletes("namespaces/x");
  before.settle();
  EXPECT_FALSE(before.present("configmaps/x/a"));
}

// Kubernetes' source: where the deletion of the Pods fails nobody looks whether any are left.
TEST(Namespace, GoesOnWhereTheDeletionOfItsPodsIsRefused) {
  const std::string dead = R"(---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: checks}
webhooks:
- name: checks.example.com
  clientConfig: {service: {namespace: h, name: gone}}
  rules: [{operations: [DELETE], apiGroups: [""], apiVersions: [v1], resources: [pods]}]
)";
  World world(kHeldPod + dead);
  world.deletes("namespaces/x");
  world.settle();
  EXPECT_FALSE(world.present("configmaps/x/a"));
  EXPECT_TRUE(world.present("pods/x/free"));
}

TEST(Namespace, IsRefusedAPodThatHasStoppedAndNotOneThatItsNodeIsToStop) {
  const std::string checked = kHeldPod + R"(---
{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: y}, spec: {selector: {app: hook}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: hook, namespace: y, labels: {app: hook}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: checks}
webhooks:
- name: checks.example.com
  clientConfig: {service: {namespace: y, name: hook}}
  rules: [{operations: [DELETE], apiGroups: [""], apiVersions: [v1], resources: [pods]}]
)";
  for (const bool hasStopped : {false, true}) {
    World world(checked);
    for (const char* pod : {"pods/x/free", "pods/x/held"}) world.deletes(pod);
    world.perform(Kind::PodStop, "pods/x/free");
    if (hasStopped) world.perform(Kind::PodStop, "pods/x/held");
    world.deletes("pods/y/hook");
    world.deletes("namespaces/x");
    EXPECT_EQ(world.enabled(Kind::NamespaceDelete, "configmaps/x/a"), hasStopped)
        << "the finalizer has it asked for again, and the webhook's own Pod is gone";
  }
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
           "}}\n---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: x}, "
           "spec: {" +
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
      "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv, finalizers: "
      "[kubernetes.io/pv-protection, "
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

// podUsesPVC() of kube-controller-manager's pvc-protection: a Pod that no Node has been found for uses
// nothing.
TEST(Claim, WaitsForNoPodThatHasNoNode) {
  const auto staysWith = [](const std::string& uid, const std::string& spec) {
    World world(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: x}}\n---\n"
        "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: x" +
        uid + "}, spec: {" + spec + "volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}}\n");
    world.deletes("pvc/data -n x");
    world.settle();
    return world.present("pvc/data -n x");
  };
  EXPECT_FALSE(staysWith(", uid: u", "schedulingGates: [{name: example.com/wait}], "));
  EXPECT_TRUE(staysWith(", uid: u", "nodeName: n, "));
  EXPECT_TRUE(staysWith("", "")) << "a manifest: it will have one";
}

TEST(Claim, WaitsForNoPodOfAWorkloadThatHasNoNode) {
  World world(R"(
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: x}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: x, uid: s}
spec: {replicas: 1, template: {spec: {volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: db-0, namespace: x, uid: u, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: s, controller: true}]}
spec: {volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}
)");
  world.deletes("pvc/data -n x");
  world.settle();
  EXPECT_FALSE(world.present("pvc/data -n x"));
}

// https://kubernetes.io/docs/concepts/storage/ephemeral-volumes/#lifecycle-and-persistentvolumeclaim
TEST(Claim, OfAnEphemeralVolumeWaitsForThePodThatControlsIt) {
  const auto staysWith = [](const std::string& owner) {
    World world(R"(
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: x, uid: u1}
spec: {nodeName: n, containers: [{name: c}], volumes: [{name: scratch, ephemeral: {volumeClaimTemplate: {spec: {}}}}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: p-scratch, namespace: x)" +
                owner + "}");
    world.deletes("pvc/p-scratch -n x");
    world.settle();
    return world.present("pvc/p-scratch -n x");
  };
  const std::string pod = ", ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: ";
  EXPECT_TRUE(staysWith(pod + "u1, controller: true}]"));
  EXPECT_FALSE(staysWith("")) << "another's claim, of the same name";
  EXPECT_FALSE(staysWith(pod + "u2, controller: true}]")) << "of a former Pod";
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

// The admission plugin NamespaceLifecycle.
TEST(Namespace, ThatKubernetesNeedsIsNotDeleted) {
  for (const char* name : {"default", "kube-public", "kube-system"}) {
    const std::string space = std::string("namespaces/") + name;
    World world(std::string("{apiVersion: v1, kind: Namespace, metadata: {name: ") + name + "}}");
    world.deletes(space);
    EXPECT_EQ(world.log().back(), "client denied " + space + ": Forbidden");
    EXPECT_FALSE(world.terminating(space));
  }
  World world("{apiVersion: v1, kind: Namespace, metadata: {name: kube-node-lease}}");
  world.deletes("namespaces/kube-node-lease");
  world.settle();
  EXPECT_THAT(world.left(), IsEmpty());
}

TEST(Namespace, StaysWhileItsSpecHasAnotherFinalizer) {
  World world(
      "{apiVersion: v1, kind: Namespace, metadata: {name: team, finalizers: [example.com/meta]}, "
      "spec: {finalizers: [kubernetes, example.com/f]}}");
  world.deletes("namespaces/team");
  world.does(ClientStep::Verb::SetFinalizers, "namespaces/team",
             finalizerMask(world.model(), world.slot("namespaces/team"), {}).value());
  world.settle();
  EXPECT_THAT(world.finalizers("namespaces/team"), ElementsAre("example.com/f"))
      << "a patch of the metadata leaves it";
  world.does(ClientStep::Verb::SetFinalizers, "namespaces/team",
             finalizerMask(world.model(), world.slot("namespaces/team"), {}).value());
  EXPECT_THAT(world.log().back(), testing::Not(testing::HasSubstr("denied")))
      << "nor does it put back what the namespace controller has taken off";
  World removed(
      "{apiVersion: v1, kind: Namespace, metadata: {name: team}, spec: {finalizers: [example.com/f]}}");
  removed.controller("cleaner", "", "example.com/f", "namespaces");
  removed.deletes("namespaces/team");
  removed.settle();
  EXPECT_THAT(removed.left(), IsEmpty());
}

// It is not bound: another claim has the name now.
TEST(PersistentVolume, ThatWasReleasedWaitsForNoClaim) {
  for (const auto& [phase, stays] : {std::pair("Bound", true), std::pair("Released", false)}) {
    World world(std::string(R"(
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: x}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {claimRef: {namespace: x, name: c},
  persistentVolumeReclaimPolicy: Retain}, status: {phase: )") +
                phase + "}}\n");
    world.deletes("persistentvolumes/v");
    world.settle();
    EXPECT_EQ(world.present("persistentvolumes/v"), stays) << phase;
  }
}

}  // namespace
}  // namespace lastout::cluster

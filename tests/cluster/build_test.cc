// Manifests into a model: what is derived, and what the machine says it cannot hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/parse.h"
#include "tests/cluster/manifests.h"
#include "tests/cluster/world.h"

namespace lastout::cluster {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string firstError(const std::string& yaml) {
  BuildInput input;
  input.types = kube::ResourceMap::builtIn();
  input.objects = *kube::parseObjects(*kube::parseYaml(yaml, "in.yaml"), "in.yaml", input.types);
  const auto model = build(input);
  return model ? "no error" : kube::toString(model.error().front());
}

TEST(Build, SaysWhichObjectHasMoreFinalizersThanAStateHolds) {
  std::string list;
  for (int i = 0; i < 15; ++i) list += "f/" + std::to_string(i) + ",";
  EXPECT_THAT(
      firstError("\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x, finalizers: [" +
                 list + "]}}"),
      AllOf(HasSubstr("in.yaml:2:1: configmaps/x/a"), HasSubstr("more than 14 finalizers")));
}

TEST(Build, CountsTheFinalizerOfAnObjectsCleanUp) {
  std::string list;
  for (int i = 0; i < 13; ++i) list += "f/" + std::to_string(i) + ",";
  const auto space = [](const std::string& finalizers) {
    return "{apiVersion: v1, kind: Namespace, metadata: {name: n, finalizers: [" + finalizers + "]}}";
  };
  EXPECT_EQ(firstError(space(list)), "no error");
  EXPECT_THAT(
      firstError(space(list + "f/13")),
      HasSubstr("namespaces/n has more than 14 finalizers, counting that of its clean-up, kubernetes"));
}

// The first error of two manifests of one name: a file's, and what a work applies or a step creates.
enum class Second : uint8_t { InAWork, InAStep };

std::string errorOfTwo(const std::string& first, const std::string& again, Second where) {
  BuildInput input;
  input.types = kube::ResourceMap::builtIn();
  const auto objects = [&](const std::string& yaml, const char* file) {
    return *kube::parseObjects(*kube::parseYaml(yaml, file), file, input.types);
  };
  input.objects = objects(first, "one.yaml");
  if (where == Second::InAStep) {
    input.later = objects(again, "two.yaml");
  } else {
    WorkSpec work;
    work.manifestWork.key = {{"work.open-cluster-management.io", "manifestworks"}, "hub", "w"};
    work.appliedName = "applied-w";
    work.manifests = objects(again, "two.yaml");
    input.works.push_back(std::move(work));
  }
  const auto model = build(input);
  return model ? "no error" : kube::toString(model.error().front());
}

std::string web(const std::string& spec, const std::string& labels = "{}") {
  return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: x, labels: " + labels +
         "}, spec: {" + spec + "}}";
}

TEST(Repeated, IsRefusedWhereItDiffersInWhatTheMachineUses) {
  EXPECT_THAT(errorOfTwo(web("replicas: 1"), web("replicas: 2"), Second::InAStep),
              AllOf(HasSubstr("two.yaml:1:1: deployments.apps/x/web stands here with other spec.replicas"),
                    HasSubstr("one.yaml:1:1")));
  EXPECT_THAT(errorOfTwo(web("replicas: 1"), web("replicas: 2"), Second::InAWork),
              HasSubstr("spec.replicas"));
  EXPECT_THAT(errorOfTwo(web("replicas: 1"), web("replicas: 1", "{a: b}"), Second::InAStep),
              HasSubstr("other labels"));
}

TEST(Repeated, IsAcceptedWhereItDoesNot) {
  EXPECT_EQ(errorOfTwo(web("replicas: 1, paused: false"), web("paused: true"), Second::InAStep), "no error");
  EXPECT_EQ(errorOfTwo(web("replicas: 3", "{a: b}"), web(""), Second::InAWork), "no error")
      << "what the work leaves open, the cluster has filled in";
}

// As `kubectl get -o yaml` prints what a manifest created: with defaults.
TEST(Repeated, ADumpIsTheSameAsItsManifest) {
  const auto both = [](const std::string& manifest, const std::string& dump) {
    return std::pair(errorOfTwo(manifest, dump, Second::InAWork),
                     errorOfTwo(dump, manifest, Second::InAStep));
  };
  const auto noError = testing::Pair("no error", "no error");
  const std::string space = "{apiVersion: v1, kind: Namespace, metadata: {name: n}, spec: {finalizers: [";
  EXPECT_THAT(both("{apiVersion: v1, kind: Namespace, metadata: {name: n}}", space + "kubernetes]}}"),
              noError);
  EXPECT_THAT(errorOfTwo(space + "kubernetes]}}", space + "kubernetes, f/other]}}", Second::InAStep),
              HasSubstr("other spec.finalizers"));
  const std::string service =
      "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: n}, spec: {ports: [{port: 443";
  EXPECT_THAT(both(service + "}]}}", service + ", protocol: TCP, targetPort: 443, nodePort: 30000}]}}"),
              noError);
  EXPECT_THAT(errorOfTwo(service + "}]}}", service + "}, {port: 80}]}}", Second::InAStep),
              HasSubstr("other spec.ports"));
  EXPECT_THAT(both(service + "}], clusterIP: 10.0.0.9}}", service + "}]}}"), noError);
  EXPECT_THAT(errorOfTwo(service + "}], clusterIP: None}}", service + "}]}}", Second::InAStep),
              HasSubstr("other spec.clusterIP"));
  const auto webhook = [](const std::string& port) {
    return "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: "
           "{name: w}, webhooks: [{name: w.example.com, clientConfig: {service: {namespace: n, name: s" +
           port + "}}}]}";
  };
  EXPECT_THAT(both(webhook(""), webhook(", port: 443")), noError);
  EXPECT_THAT(errorOfTwo(webhook(""), webhook(", port: 8443"), Second::InAStep), HasSubstr("other webhooks"));
}

TEST(Repeated, ACriticalServiceIsReadWhereverItStands) {
  const auto service = [](const std::string& name) {
    return "apiVersion: lastout.dev/v1alpha1\nkind: CriticalService\nmetadata: {name: guard}\nspec:\n"
           "  provider: {group: apps, resource: deployments, namespace: x, name: web}\n  criteria:\n"
           "  - type: SpecificResource\n    specificResource: {resource: configmaps, namespace: x, name: " +
           name + "}\n";
  };
  EXPECT_EQ(errorOfTwo(service("a"), service("a"), Second::InAWork), "no error");
  EXPECT_THAT(errorOfTwo(service("a"), service("b"), Second::InAWork),
              HasSubstr("criticalservices.lastout.dev/guard stands here with other spec.criteria"));
  EXPECT_THAT(errorOfTwo(service("a"), service("\"\""), Second::InAStep), HasSubstr("two.yaml"));
}

TEST(Repeated, WhatAWorkNamesInTheFileIsNotASecondManifest) {
  BuildInput input;
  input.types = kube::ResourceMap::builtIn();
  const char* withoutSpec =
      "{apiVersion: lastout.dev/v1alpha1, kind: CriticalService, metadata: {name: guard}}";
  input.objects = *kube::parseObjects(*kube::parseYaml(withoutSpec, "one.yaml"), "one.yaml", input.types);
  WorkSpec work;
  work.manifestWork.key = {{"work.open-cluster-management.io", "manifestworks"}, "hub", "w"};
  work.appliedName = "applied-w";
  work.manifests = input.objects;
  input.works.push_back(std::move(work));
  EXPECT_THAT(build(input).error(), testing::SizeIs(1)) << "that it has no spec, said once";
}

// As Helm charts write it that leave a value empty.
TEST(Build, ReplicasThatAreNullAreOne) {
  EXPECT_EQ(firstError("{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: x}, spec: "
                       "{replicas: null}}"),
            "no error");
}

TEST(Build, SaysWhichWorkloadHasTooManyReplicas) {
  EXPECT_THAT(
      firstError(
          "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: x}, spec: {replicas: 65}}"),
      HasSubstr("deployments.apps/x/a needs spec.replicas from 0 to 64"));
}

TEST(Build, TakesReplicaSetsAndPodsThatTheManifestsBring) {
  World world(R"(
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: x}, spec: {replicas: 1}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: web-5d
  namespace: x
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: "", controller: true}]
spec: {replicas: 1}
---
apiVersion: v1
kind: Pod
metadata:
  name: web-5d-abc
  namespace: x
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-5d, uid: "", controller: true}]
)");
  EXPECT_THAT(world.left(),
              ElementsAre("deployments.apps/x/web", "pods/x/web-5d-abc", "replicasets.apps/x/web-5d"));
  EXPECT_TRUE(world.machine().model().slots[world.slot("pods/x/web-5d-abc")].presentAtStart);
}

TEST(Build, AnObjectThatTerminatesInItsManifestTerminatesFromTheStart) {
  World world(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: x, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [f/one]}
)");
  EXPECT_TRUE(world.terminating("configmaps/x/a"));
}

// An API server never stores that: it removes the object with its last finalizer. But for these.
TEST(Build, AnObjectThatTerminatesWithoutFinalizersIsGone) {
  const std::string going = "deletionTimestamp: '2026-01-01T00:00:00Z'";
  World world("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x, uid: u1, " + going +
              "}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: x, ownerReferences: "
              "[{apiVersion: v1, kind: ConfigMap, name: a, uid: u1}]}}\n---\n"
              "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: x, " +
              going +
              ", deletionGracePeriodSeconds: 30}}\n---\n{apiVersion: v1, kind: Namespace, metadata: "
              "{name: y, " +
              going + "}, spec: {finalizers: [kubernetes]}}\n");
  EXPECT_FALSE(world.present("configmaps/x/a"));
  EXPECT_TRUE(world.enabled(Kind::CollectorDelete, "secrets/x/s")) << "its owner is gone";
  EXPECT_TRUE(world.terminating("pods/x/p"));
  EXPECT_TRUE(world.terminating("namespaces/y"));
  world.settle();
  EXPECT_THAT(world.left(), testing::IsEmpty());
}

TEST(Build, AnOwnerThatIsNotThereMakesItsDependentGarbage) {
  World world(R"(
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: x, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: nobody, uid: u1}]}
)");
  EXPECT_TRUE(world.enabled(Kind::CollectorDelete, "secrets/x/s"));
}

// Kubernetes' garbage collector: an owner that it cannot look for is neither there nor gone.
TEST(Build, AnOwnerThatCannotBeLookedForLeavesItsDependentAlone) {
  World unknown(R"(
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: x, ownerReferences: [{apiVersion: e.io/v1, kind: Unknown, name: o, uid: u1},
  {apiVersion: v1, kind: ConfigMap, name: nobody, uid: u2}]}
)");
  EXPECT_FALSE(unknown.enabled(Kind::CollectorDelete, "secrets/x/s"));
  World namespaced(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: o, namespace: x, uid: u1}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: v, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: o, uid: u1,
  blockOwnerDeletion: true}]}
)");
  namespaced.deletes("configmaps/x/o", PropagationPolicy::Foreground);
  namespaced.settle();
  EXPECT_FALSE(namespaced.present("configmaps/x/o"));
  EXPECT_TRUE(namespaced.present("persistentvolumes/v"));
}

// The same: it maps an owner by its group, kind and version (gc.apiResource() of kube-controller-manager).
TEST(Build, AnOwnerOfAVersionThatIsNotServedLeavesItsDependentAlone) {
  const auto collects = [](const std::string& apiVersion, const std::string& kind, const std::string& more) {
    const std::string owner = "apiVersion: " + apiVersion + ", kind: " + kind;
    World world(more +
                "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: x, ownerReferences: [{" +
                owner + ", name: nobody, uid: u1}]}}");
    return world.enabled(Kind::CollectorDelete, "secrets/x/s");
  };
  const std::string versions = ", {name: v1beta1, served: true}, {name: v1alpha1, served: false}";
  const std::string crd = things(versions) + "---\n";
  EXPECT_TRUE(collects("example.com/v1", "Thing", crd));
  EXPECT_TRUE(collects("example.com/v1beta1", "Thing", crd));
  EXPECT_FALSE(collects("example.com/v1alpha1", "Thing", crd));
  EXPECT_FALSE(collects("example.com/v2", "Thing", crd));
  for (const char* served : {"autoscaling/v1", "autoscaling/v2"})
    EXPECT_TRUE(collects(served, "HorizontalPodAutoscaler", "")) << served;
  EXPECT_FALSE(collects("autoscaling/v2beta2", "HorizontalPodAutoscaler", ""));
  EXPECT_TRUE(collects("batch/v1", "CronJob", ""));
  EXPECT_FALSE(collects("batch/v1beta1", "CronJob", ""));
}

// It knows by the uid whose dependent that is, so the owner waits for it.
TEST(Build, AnOwnerWaitsInTheForegroundForADependentThatNamesAVersionThatIsNotServed) {
  World world(things() +
              "---\n{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: x, ownerReferences: "
              "[{apiVersion: example.com/v2, kind: Thing, name: t, uid: '', blockOwnerDeletion: true}]}}");
  world.deletes("things.example.com/t", PropagationPolicy::Foreground);
  world.settle();
  EXPECT_TRUE(world.present("secrets/x/s"));
  EXPECT_TRUE(world.terminating("things.example.com/t"));
}

// The mask of a finalizer that only a later patch puts on an instance counts among a criterion's holders.
TEST(Extend, AFinalizerThatAPatchAddsHoldsACriterion) {
  World world(kProvider + kInstances + kGuard +
              "{apiVersion: example.com/v1, kind: Widget, metadata: {name: plain}}");
  const Slot plain = world.slot("widgets.example.com/plain");
  const auto mask = finalizerMask(world.model(), plain, {"example.com/clean"});
  ASSERT_TRUE(mask);
  world.deletes(kWidget);
  world.does(ClientStep::Verb::SetFinalizers, kWidget, 0);
  world.does(ClientStep::Verb::SetFinalizers, "widgets.example.com/plain", *mask);
  world.deletes(kDeployment);
  EXPECT_EQ(world.log().back(), std::string("client denied ") + kDeployment);
}

// The garbage collector's finalizers are in nobody's vocabulary, and count all the same.
TEST(Build, ACriterionMayNameAFinalizerOfTheGarbageCollector) {
  World world(kProvider + kInstances + R"(
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: guard}
spec:
  provider: {group: apps, resource: deployments, namespace: operator, name: controller}
  criteria:
  - type: Finalizer
    finalizer: {group: example.com, resource: widgets, finalizerName: foregroundDeletion}
)");
  world.deletes(kWidget, PropagationPolicy::Foreground);
  world.deletes(kDeployment);
  EXPECT_EQ(world.log().back(), std::string("client denied ") + kDeployment);
}

TEST(Extend, APodThatOnlyScalingBringsHoldsACriterion) {
  World world(kProvider + R"(
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web, namespace: x}, spec: {replicas: 0}}
---
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: guard}
spec:
  provider: {group: apps, resource: deployments, namespace: operator, name: controller}
  criteria:
  - type: SpecificResource
    specificResource: {resource: pods, namespace: x, name: web-1}
)");
  world.does(ClientStep::Verb::SetReplicas, "statefulsets.apps/x/web", 2);
  world.settle();
  ASSERT_TRUE(world.present("pods/x/web-1"));
  world.deletes(kDeployment);
  EXPECT_EQ(world.log().back(), std::string("client denied ") + kDeployment);
}

TEST(Extend, APodThatOnlyScalingBringsMountsWhatItsSiblingsMount) {
  World world(R"(
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: x}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: x}
spec:
  replicas: 0
  template: {spec: {volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}}
)");
  world.does(ClientStep::Verb::SetReplicas, "statefulsets.apps/x/web", 2);
  world.settle();
  world.deletes("persistentvolumeclaims/x/data");
  EXPECT_FALSE(world.enabled(Kind::ClaimRelease, "persistentvolumeclaims/x/data"));
  world.does(ClientStep::Verb::SetReplicas, "statefulsets.apps/x/web", 0);
  world.settle();
  EXPECT_FALSE(world.present("persistentvolumeclaims/x/data"));
}

TEST(Extend, RefusesWhatMakesNoSense) {
  World world(kProvider);
  ClientStep scale{.verb = ClientStep::Verb::SetReplicas, .object = world.slot(kNamespace)};
  EXPECT_THAT(addStep(world.model(), scale).error().message, HasSubstr("has no replicas to scale"));
  FinalizerController controller{.name = "c", .runsIn = world.slot(kNamespace), .finalizer = "f", .from = {}};
  EXPECT_THAT(addController(world.model(), controller).error().message, HasSubstr("runs no Pods"));
}

}  // namespace
}  // namespace lastout::cluster

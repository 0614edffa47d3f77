// What Kubernetes puts into a cluster by itself: a webhook that nobody answers may keep it.
#include "cluster/unwritten.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cluster/manifests.h"
#include "tests/cluster/world.h"

namespace lastout::cluster {
namespace {

using testing::IsEmpty;

constexpr const char* kTeam = "{apiVersion: v1, kind: Namespace, metadata: {name: team, labels: {a: b}}}\n";

// The Namespace is deleted. `more`: of the webhook; `documents`: beside it.
bool ends(const std::string& resources, const std::string& more = "", const std::string& documents = "",
          const std::string& operations = "DELETE") {
  World world(kTeam + deadWebhook(operations, resources, more) + documents);
  world.deletes("namespaces/team");
  world.settle();
  return !world.present("namespaces/team");
}

// The namespace controller deletes the content of each type with a deletecollection, whose objects webhooks
// are asked about one by one (DeleteCollection() of k8s.io/apiserver).
TEST(Unwritten, AWebhookThatRefusesItsDeletionKeepsTheNamespace) {
  EXPECT_FALSE(ends("configmaps"));
  EXPECT_FALSE(ends("serviceaccounts"));
  EXPECT_FALSE(ends("*"));
  EXPECT_TRUE(ends("secrets"));
  EXPECT_TRUE(ends("configmaps", "", "", "UPDATE"));
  EXPECT_TRUE(ends("configmaps", "  failurePolicy: Ignore\n"));
}

TEST(Unwritten, IsSelectedByItsLabelsAndThoseOfItsNamespace) {
  EXPECT_TRUE(ends("configmaps", "  objectSelector: {matchLabels: {a: b}}\n"));
  EXPECT_FALSE(ends("configmaps", "  namespaceSelector: {matchLabels: {a: b}}\n"));
  EXPECT_TRUE(ends("configmaps", "  namespaceSelector: {matchLabels: {a: c}}\n"));
}

// https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#ownership: they have the labels of
// their Service, and one with its name. A Service without a selector has none.
TEST(Unwritten, AServiceHasEndpointSlices) {
  const auto endsWith = [](const std::string& spec, const std::string& selector) {
    return ends(
        "endpointslices", selector,
        "---\n{apiVersion: v1, kind: Service, metadata: {name: web, namespace: team, labels: {c: d}}, "
        "spec: {" +
            spec + "}}\n");
  };
  EXPECT_FALSE(endsWith("selector: {app: web}", ""));
  EXPECT_FALSE(endsWith("selector: {app: web}", "  objectSelector: {matchLabels: {c: d}}\n"));
  EXPECT_FALSE(endsWith("selector: {app: web}",
                        "  objectSelector: {matchLabels: {kubernetes.io/service-name: web, "
                        "endpointslice.kubernetes.io/managed-by: endpointslice-controller.k8s.io}}\n"));
  EXPECT_TRUE(
      endsWith("selector: {app: web}", "  objectSelector: {matchLabels: {kubernetes.io/service-name: x}}\n"));
  EXPECT_TRUE(endsWith("", ""));
  EXPECT_TRUE(ends("endpointslices"));
  // https://kubernetes.io/docs/reference/labels-annotations-taints/#servicekubernetesioheadless
  const std::string headless = "  objectSelector: {matchLabels: {service.kubernetes.io/headless: ''}}\n";
  EXPECT_FALSE(endsWith("selector: {app: web}, clusterIP: None", headless));
  EXPECT_TRUE(endsWith("selector: {app: web}", headless));
}

// The other controllers that make something beside what the files have: StatefulSets keep their Pod
// templates, and Services have Endpoints
// (https://kubernetes.io/docs/concepts/services-networking/service/#endpoints).
TEST(Unwritten, SetsHaveRevisionsAndServicesEndpoints) {
  const std::string set =
      "---\n{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s, namespace: team}, spec: {replicas: "
      "0, "
      "template: {metadata: {labels: {app: s}}, spec: {containers: [{name: c, image: i}]}}}}\n";
  EXPECT_FALSE(ends("controllerrevisions", "", set));
  EXPECT_FALSE(ends("controllerrevisions", "  objectSelector: {matchLabels: {app: s}}\n", set));
  EXPECT_TRUE(ends("controllerrevisions", "  objectSelector: {matchLabels: {app: x}}\n", set));
  EXPECT_TRUE(ends("controllerrevisions"));
  const std::string hashed =
      "  objectSelector: {matchExpressions: [{key: controller.kubernetes.io/hash, operator: Exists}]}\n";
  EXPECT_FALSE(ends("controllerrevisions", hashed, set));
  EXPECT_TRUE(
      ends("controllerrevisions", "  objectSelector: {matchLabels: {controller-revision-hash: x}}\n", set));
  // https://kubernetes.io/docs/tasks/manage-daemon/rollback-daemon-set/#understanding-daemonset-revisions
  EXPECT_FALSE(ends("controllerrevisions",
                    "  objectSelector: {matchExpressions: [{key: controller-revision-hash, operator: "
                    "Exists}]}\n",
                    "---\n{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d, namespace: team}, spec: "
                    "{template: {metadata: {labels: {app: d}}, spec: {containers: [{name: c, image: "
                    "i}]}}}}\n"));
  const std::string service =
      "---\n{apiVersion: v1, kind: Service, metadata: {name: s, namespace: team}, spec: {selector: {a: "
      "b}}}\n";
  EXPECT_FALSE(ends("endpoints", "", service));
  EXPECT_TRUE(ends("endpoints"));
}

// syncBatch() of the kubelet's status manager writes the status before it deletes the Pod.
TEST(Webhooks, AreAskedAboutTheStatusByWhichANodeEndsAPod) {
  const std::string pod = "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: team}}\n";
  EXPECT_FALSE(ends("pods/status", "", pod, "UPDATE"));
  EXPECT_FALSE(ends("*/*", "", pod, "UPDATE"));
  EXPECT_TRUE(ends("pods", "", pod, "UPDATE"));
  EXPECT_TRUE(ends("pods/status", "", pod, "CREATE"));
}

// The volume controller releases a volume in its status once its claim is gone; pv-protection goes by that
// (isBeingUsed()). One that no claim has is Available, and goes by an UPDATE of itself.
TEST(Webhooks, AreAskedAboutTheStatusByWhichABoundVolumeIsReleased) {
  const auto endsWith = [](const std::string& resources, const std::string& more,
                           const std::string& claim = "") {
    World world(
        "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v, finalizers: "
        "[kubernetes.io/pv-protection]}" +
        more + "}\n" + claim + deadWebhook("UPDATE", resources));
    if (!claim.empty()) world.deletes("persistentvolumeclaims/x/c");
    world.deletes("persistentvolumes/v");
    world.settle();
    return !world.present("persistentvolumes/v");
  };
  const std::string claim =
      "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: x}, spec: "
      "{volumeName: v}}\n";
  EXPECT_FALSE(endsWith("persistentvolumes/status", "", claim));
  EXPECT_FALSE(endsWith("persistentvolumes/status", ", status: {phase: Bound}"));
  EXPECT_TRUE(endsWith("persistentvolumes/status", ""));
  EXPECT_TRUE(endsWith("persistentvolumes/status", ", status: {phase: Available}"));
  EXPECT_TRUE(endsWith("persistentvolumes/status", ", status: {phase: Released}", claim));
  EXPECT_FALSE(endsWith("persistentvolumes", ""));
  EXPECT_TRUE(endsWith("persistentvolumes/scale", "", claim));
}

// Events expire after an hour (--event-ttl of kube-apiserver).
TEST(Unwritten, EventsKeepNothing) {
  EXPECT_TRUE(ends("events", "", "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: team}}\n"));
}

TEST(Unwritten, OfANamespaceThatTerminatesAlreadyMayBeGone) {
  World world(
      "{apiVersion: v1, kind: Namespace, metadata: {name: team, deletionTimestamp: "
      "'2026-11-01T10:00:00Z'}}\n" +
      deadWebhook("DELETE", "configmaps"));
  world.settle();
  EXPECT_THAT(world.left(), testing::ElementsAre(kLeftover));
}

TEST(Unwritten, GoesOnceTheWebhookAnswersOrIsGone) {
  World gone(kTeam + deadWebhook("DELETE", "configmaps"));
  gone.deletes("namespaces/team");
  gone.deletes(kLeftover);
  gone.settle();
  EXPECT_THAT(gone.left(), IsEmpty());
  const std::string backend =
      "---\n{apiVersion: v1, kind: Service, metadata: {name: gone, namespace: gone}, spec: {selector: {app: "
      "hook}}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: hook, namespace: gone, labels: {app: "
      "hook}}}\n";
  World answered(kTeam + deadWebhook("DELETE", "configmaps") + backend);
  answered.deletes("namespaces/team");
  answered.settle();
  EXPECT_FALSE(answered.present("namespaces/team"));
  World former(kTeam + deadWebhook("DELETE", "configmaps") + backend);
  former.deletes("pods/gone/hook");
  former.settle();
  former.deletes("namespaces/team");
  former.settle();
  EXPECT_TRUE(former.terminating("namespaces/team"));
}

// https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-tracking-with-finalizers
TEST(Unwritten, ThePodsOfAJobCarryItsFinalizerWhereAWebhookIsAskedAboutIt) {
  const auto carried = [](const std::string& operations, const std::string& document) {
    World world(document + deadWebhook(operations, "pods"));
    for (const SlotInfo& info : world.model().slots)
      if (info.kind == SlotKind::Pod) return world.finalizers(kube::toString(info.key));
    return std::vector<std::string>{"no Pod"};
  };
  const std::string job = "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: x}}\n";
  EXPECT_THAT(carried("UPDATE", job), testing::ElementsAre("batch.kubernetes.io/job-tracking"));
  EXPECT_THAT(carried("DELETE", job), IsEmpty());
  const std::string ofDump = "{apiVersion: v1, kind: Pod, metadata: {name: j-1, namespace: x, uid: u";
  const std::string owner =
      ", ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: v, controller: true}]}}\n";
  EXPECT_THAT(carried("UPDATE", job + "---\n" + ofDump + owner), IsEmpty()) << "it has finished";
  EXPECT_THAT(carried("UPDATE", ofDump + ", finalizers: [batch.kubernetes.io/job-tracking]}}\n"),
              testing::ElementsAre("batch.kubernetes.io/job-tracking"))
      << "its Job is gone";
}

}  // namespace
}  // namespace lastout::cluster

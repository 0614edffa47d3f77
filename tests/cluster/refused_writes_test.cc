// Webhooks that nobody answers refuse the writes of Kubernetes' own controllers, too (docs/semantics.md, "The
// rules", other people's webhooks).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cluster/transition.h"
#include "tests/cluster/manifests.h"
#include "tests/cluster/world.h"

namespace lastout::cluster {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

// An owner, and what it owns and, deleted in the foreground, waits for.
constexpr const char* kOwnerAndOwned = R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: owner, namespace: x}}
---
apiVersion: v1
kind: Secret
metadata:
  name: owned
  namespace: x
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: "1", blockOwnerDeletion: true}]
)";

TEST(RefusedWrites, TheGarbageCollectorsDeletes) {
  World world(kOwnerAndOwned + deadWebhook("DELETE", "secrets"));
  world.deletes("configmaps/x/owner");
  world.perform(Kind::CollectorDelete, "secrets/x/owned");
  EXPECT_EQ(world.log().back(), "collector denied secrets/x/owned: InternalError");
  world.deletes(kLeftover);
  world.settle();
  EXPECT_FALSE(world.present("secrets/x/owned"));
}

TEST(RefusedWrites, TheEndOfAForegroundDeletion) {
  World world(kOwnerAndOwned + deadWebhook("UPDATE", "configmaps"));
  world.deletes("configmaps/x/owner", PropagationPolicy::Foreground);
  world.settle();
  EXPECT_FALSE(world.present("secrets/x/owned")) << "nobody is asked about Secrets";
  EXPECT_THAT(world.finalizers("configmaps/x/owner"), ElementsAre("foregroundDeletion"));
  world.deletes(kLeftover);
  world.settle();
  EXPECT_FALSE(world.present("configmaps/x/owner"));
}

// The owner is let go when each of its dependents has been written.
TEST(RefusedWrites, TheDependentsThatAreToBeOrphaned) {
  World world(kOwnerAndOwned + deadWebhook("UPDATE", "secrets"));
  world.deletes("configmaps/x/owner", PropagationPolicy::Orphan);
  world.settle();
  EXPECT_THAT(world.finalizers("configmaps/x/owner"), ElementsAre("orphan"));
  world.deletes(kLeftover);
  world.settle();
  EXPECT_THAT(world.left(), Not(Contains("configmaps/x/owner")));
  EXPECT_THAT(world.left(), Contains("secrets/x/owned"));
}

// One owner of two waits in the foreground for an object from which nobody can strike it.
TEST(RefusedWrites, TheOwnersThatAreToBeStruck) {
  World world(R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: going, namespace: x}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: staying, namespace: x}}
---
apiVersion: v1
kind: Secret
metadata:
  name: owned
  namespace: x
  ownerReferences:
  - {apiVersion: v1, kind: ConfigMap, name: going, uid: "1", blockOwnerDeletion: true}
  - {apiVersion: v1, kind: ConfigMap, name: staying, uid: "2"}
)" + deadWebhook("UPDATE", "secrets"));
  world.deletes("configmaps/x/going", PropagationPolicy::Foreground);
  world.settle();
  EXPECT_TRUE(world.terminating("configmaps/x/going"));
  world.deletes(kLeftover);
  world.settle();
  EXPECT_FALSE(world.present("configmaps/x/going"));
  EXPECT_TRUE(world.present("secrets/x/owned"));
}

constexpr const char* kNamespaceWithContent = R"(
{apiVersion: v1, kind: Namespace, metadata: {name: x, labels: {team: a}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}
)";

TEST(RefusedWrites, TheNamespaceControllersDeletes) {
  World world(kNamespaceWithContent + deadWebhook("DELETE", "configmaps"));
  world.deletes("namespaces/x");
  world.perform(Kind::NamespaceDelete, "configmaps/x/a");
  EXPECT_EQ(world.log().back(), "lifecycle denied configmaps/x/a: InternalError");
  EXPECT_TRUE(world.terminating("namespaces/x"));
}

// PUT /api/v1/namespaces/x/finalize is an UPDATE of a subresource.
TEST(RefusedWrites, TheEndOfANamespace) {
  for (const char* finalize : {"namespaces/finalize", "namespaces/*", "*/finalize", "*/*"}) {
    World world(kNamespaceWithContent + deadWebhook("UPDATE", finalize));
    world.deletes("namespaces/x");
    world.settle();
    EXPECT_THAT(world.left(), Contains("namespaces/x")) << finalize;
    EXPECT_FALSE(world.present("configmaps/x/a")) << finalize;
    world.deletes(kLeftover);
    world.settle();
    EXPECT_FALSE(world.present("namespaces/x")) << finalize;
  }
  for (const std::string& other :
       {deadWebhook("UPDATE", "namespaces"),
        deadWebhook(
            "UPDATE", "*",
            "  namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, "
            "values: [kube-system]}]}\n"),
        deadWebhook("UPDATE", "namespaces/status"), deadWebhook("CREATE", "*/*"),
        deadWebhook("UPDATE", "*/*", "  namespaceSelector: {matchLabels: {team: b}}\n"),
        deadWebhook("UPDATE", "*/*", "  objectSelector: {matchLabels: {team: b}}\n"),
        deadWebhook("UPDATE", "*/*", "  failurePolicy: Ignore\n")}) {
    World world(kNamespaceWithContent + other);
    world.deletes("namespaces/x");
    world.settle();
    EXPECT_FALSE(world.present("namespaces/x")) << other;
  }
}

// kube-controller-manager ends when it cannot renew its Lease in kube-system.
TEST(RefusedWrites, TheLeaseOfTheControllerManager) {
  for (const char* resource : {"leases", "*", "*/*"}) {
    World world(kNamespaceWithContent + deadWebhook("UPDATE", resource));
    world.deletes("namespaces/x");
    world.settle();
    EXPECT_THAT(world.left(), Contains("namespaces/x")) << resource;
    world.deletes(kLeftover);
    world.settle();
    EXPECT_FALSE(world.present("namespaces/x")) << resource;
  }
}

// The clean-up of a CRD writes customresourcedefinitions/status.
TEST(RefusedWrites, TheEndOfACrd) {
  World refused(things() + deadWebhook("UPDATE", "customresourcedefinitions/status"));
  refused.deletes("crd/things.example.com");
  refused.settle();
  EXPECT_FALSE(refused.present("things.example.com/t")) << "its clean-up is asked about by nobody";
  EXPECT_TRUE(refused.terminating("crd/things.example.com"));
  World other(things() + deadWebhook("UPDATE", "customresourcedefinitions"));
  other.deletes("crd/things.example.com");
  other.settle();
  EXPECT_FALSE(other.present("crd/things.example.com"));
}

TEST(RefusedWrites, TheProtectionOfClaimsAndVolumes) {
  constexpr const char* kStorage = R"(
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: x}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: disk}}
)";
  World world(kStorage + deadWebhook("UPDATE", "persistentvolumeclaims", "", "MutatingWebhookConfiguration"));
  for (const char* storage : {"persistentvolumeclaims/x/data", "persistentvolumes/disk"})
    world.deletes(storage);
  world.settle();
  EXPECT_TRUE(world.terminating("persistentvolumeclaims/x/data"));
  EXPECT_FALSE(world.present("persistentvolumes/disk"));
  World volumes(kStorage + deadWebhook("UPDATE", "persistentvolumes"));
  volumes.deletes("persistentvolumes/disk");
  volumes.settle();
  EXPECT_TRUE(volumes.terminating("persistentvolumes/disk"));
}

// The node ends a Pod that has stopped by a DELETE.
TEST(RefusedWrites, TheNodesReportOfAPod) {
  World late(
      "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: x, deletionTimestamp: "
      "'2026-11-01T10:00:00Z'}}\n" +
      deadWebhook("DELETE", "pods"));
  late.settle();
  EXPECT_TRUE(late.terminating("pods/x/p"));
  late.deletes(kLeftover);
  late.settle();
  EXPECT_FALSE(late.present("pods/x/p"));
}

// A workload gets no new Pod, or one that is never Ready.
TEST(RefusedWrites, TheReplacementOfAPod) {
  const auto isReady = [](const World& world) {
    return Transition(world.machine(), world.state(), nullptr).hasReadyPod(world.slot(kDeployment));
  };
  const auto pod = [](const World& world) {
    const std::vector<std::string> left = world.left();
    const auto found = std::ranges::find_if(left, [](const auto& name) { return name.starts_with("pods/"); });
    return found == left.end() ? std::string() : *found;
  };
  for (const auto& [operations, resources] :
       {std::pair("CREATE", "pods"), std::pair("CREATE", "pods/binding"), std::pair("UPDATE", "pods/status"),
        std::pair("CREATE", "serviceaccounts/token"), std::pair("CREATE, UPDATE", "*/*")}) {
    World world(kProvider + deadWebhook(operations, resources));
    ASSERT_TRUE(isReady(world)) << "what runs goes on running";
    world.deletes(pod(world));
    world.settle();
    EXPECT_FALSE(isReady(world)) << operations << " " << resources;
    // Where a webhook is asked about pods/status, its node cannot end the former one.
    EXPECT_EQ(pod(world).empty(), resources == std::string_view("pods"));
    world.deletes(kLeftover);
    world.settle();
    EXPECT_TRUE(isReady(world)) << operations << " " << resources;
  }
  World labelled(kProvider +
                 deadWebhook("CREATE", "pods/binding", "  objectSelector: {matchLabels: {app: c}}\n"));
  labelled.deletes(pod(labelled));
  labelled.settle();
  EXPECT_TRUE(isReady(labelled)) << "a Binding has no labels";
}

TEST(RefusedWrites, TheAgentsFinalizers) {
  const WorldOptions options{.works = {"w: configmaps/x/a"}};
  World world("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}\n" +
                  deadWebhook("UPDATE", "manifestworks"),
              options);
  world.deletes("manifestworks.work.open-cluster-management.io/hub/w");
  world.settle();
  EXPECT_THAT(world.left(), ElementsAre("manifestworks.work.open-cluster-management.io/hub/w", kLeftover));
  World spoke("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}\n" +
                  deadWebhook("UPDATE", "appliedmanifestworks"),
              options);
  spoke.deletes("manifestworks.work.open-cluster-management.io/hub/w");
  spoke.settle();
  EXPECT_FALSE(spoke.present("configmaps/x/a"));
  EXPECT_TRUE(spoke.terminating("manifestworks.work.open-cluster-management.io/hub/w"));
}

// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/: configurations
// of webhooks are exempt.
TEST(RefusedWrites, NoneOfWebhookConfigurations) {
  World world(kNamespaceWithContent + deadWebhook("'*'", "*/*"));
  world.deletes("namespaces/x");
  EXPECT_EQ(world.log().back(), "client denied namespaces/x: InternalError");
  world.deletes(kLeftover);
  EXPECT_FALSE(world.present(kLeftover));
}

}  // namespace
}  // namespace lastout::cluster

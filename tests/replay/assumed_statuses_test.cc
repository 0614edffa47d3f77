// Statuses, and owners, that tell of something that is in no file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replay/play.h"

namespace lastout::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> deleting(const std::string& what, const std::string& documents) {
  return toldAssumptions(
      scenario("\n  guard: false\n  steps:\n    - delete: [" + what + "]\n", "---\n" + documents));
}

// pv-protection keeps what is Bound: https://kubernetes.io/docs/concepts/storage/persistent-volumes/
TEST(ToldByStatuses, ABoundVolumeWithoutItsClaim) {
  const auto volume = [](const std::string& phase) {
    return "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v, finalizers: "
           "[kubernetes.io/pv-protection]}, spec: {claimRef: {namespace: app, name: c}}, status: {phase: " +
           phase + "}}\n";
  };
  EXPECT_THAT(deleting("persistentvolumes/v", volume("Bound")),
              ElementsAre("persistentvolumes/v: no claim uses persistentvolumes/v any more: its phase is "
                          "Bound, and no file has persistentvolumeclaims/app/c"));
  EXPECT_THAT(deleting("persistentvolumes/v", volume("Released")), IsEmpty());
  const std::string claim =
      "---\n{apiVersion: v1, kind: Namespace, metadata: {name: app}}\n---\n"
      "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: app}, spec: {volumeName: "
      "v}}\n";
  EXPECT_THAT(deleting("persistentvolumes/v, persistentvolumeclaims/app/c", volume("Bound") + claim),
              IsEmpty());
}

std::string spaceWith(const std::string& condition, const std::string& message,
                      const std::string& status = "'True'") {
  return "{apiVersion: v1, kind: Namespace, metadata: {name: app, deletionTimestamp: "
         "'2026-01-01T00:00:00Z'}, "
         "status: {phase: Terminating, conditions: [{type: " +
         condition + ", status: " + status + ", message: '" + message + "'}]}}\n";
}

// The messages are those of tests/recordings/kubernetes-1.36/rest/111-get-namespace-with-remaining-pod-and-
// finalizer.json.
TEST(ToldByStatuses, ANamespaceThatSaysWhyItDoesNotEnd) {
  const auto of = [](const std::string& documents) { return deleting("namespace/app", documents); };
  const std::string failing = "Discovery failed for some groups, 1 failing";
  EXPECT_THAT(of(spaceWith("NamespaceDeletionDiscoveryFailure", failing)),
              ElementsAre("namespaces/app: the condition NamespaceDeletionDiscoveryFailure of namespaces/app "
                          "does not hold any more: " +
                          failing));
  EXPECT_THAT(of(spaceWith("NamespaceDeletionDiscoveryFailure", failing, "'False'")), IsEmpty());
  EXPECT_THAT(of(spaceWith("NamespaceDeletionContentFailure", "x")),
              ElementsAre(HasSubstr("NamespaceDeletionContentFailure")));
}

TEST(ToldByStatuses, ANamespaceThatCountsMoreThanTheFilesHave) {
  const std::string remaining =
      "Some resources are remaining: configmaps. has 1 resource instances, secrets. has 1 resource instances";
  const std::string finalizers =
      "Some content in the namespace has finalizers remaining: x.io/f in 1 resource instances";
  const auto object = [](const std::string& kind) {
    return "---\n{apiVersion: v1, kind: " + kind +
           ", metadata: {name: a, namespace: app, finalizers: [x.io/f]}}\n";
  };
  const auto of = [](const std::string& documents) { return deleting("namespace/app", documents); };
  EXPECT_THAT(of(spaceWith("NamespaceContentRemaining", remaining) + object("ConfigMap") + object("Secret")),
              IsEmpty());
  EXPECT_THAT(of(spaceWith("NamespaceContentRemaining", remaining) + object("ConfigMap")),
              ElementsAre(HasSubstr("NamespaceContentRemaining of namespaces/app does not hold any more: ")));
  EXPECT_THAT(of(spaceWith("NamespaceFinalizersRemaining", finalizers) + object("Secret")), IsEmpty());
  EXPECT_THAT(of(spaceWith("NamespaceFinalizersRemaining", finalizers)),
              ElementsAre(HasSubstr("NamespaceFinalizersRemaining")));
}

TEST(ToldByStatuses, ACrdWithObjectsThatNoFileHas) {
  const auto crd = [](const std::string& reason) {
    return "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
           "things.x.io, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: "
           "[customresourcecleanup.apiextensions.k8s.io]}, spec: {group: x.io, scope: Cluster, names: {kind: "
           "Thing, plural: things}, versions: [{name: v1, served: true, storage: true}]}, status: "
           "{conditions: [{type: Terminating, status: 'True', reason: " +
           reason + "}]}}\n";
  };
  const std::string thing = "---\n{apiVersion: x.io/v1, kind: Thing, metadata: {name: t}}\n";
  const auto of = [](const std::string& documents) {
    return deleting("customresourcedefinitions/things.x.io", documents);
  };
  EXPECT_THAT(of(crd("InstanceDeletionCheck")), ElementsAre(HasSubstr("the condition Terminating of")));
  EXPECT_THAT(of(crd("InstanceDeletionCheck") + thing), IsEmpty());
  EXPECT_THAT(of(crd("InstanceDeletionFailed") + thing), ElementsAre(HasSubstr("the condition Terminating")));
}

std::string podOf(const std::string& more = "") {
  return "{apiVersion: v1, kind: Namespace, metadata: {name: app}}\n---\n"
         "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: app, finalizers: "
         "[kubernetes.io/pvc-protection]}}\n---\n"
         "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: app, labels: {a: b}, ownerReferences: "
         "[{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u, controller: true}]}, spec: {containers: "
         "[{name: c}], volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]}}\n" +
         more;
}

TEST(AbsentOwners, AreNamedWhereSomethingWaitsForWhatTheyOwn) {
  const std::string named =
      "pods/app/p: replicasets.apps/app/r, an owner of pods/app/p, is gone: no file has it, and the garbage "
      "collector deletes what it owned";
  EXPECT_THAT(deleting("persistentvolumeclaims/app/c", podOf()), ElementsAre(named));
  EXPECT_THAT(deleting("persistentvolumeclaims/app/c, pods/app/p", podOf()), ElementsAre(named))
      << "the ReplicaSet replaces the Pod";
  EXPECT_THAT(deleting("pods/app/p", podOf()), IsEmpty());
  EXPECT_THAT(deleting("namespace/app", podOf()), IsEmpty()) << "the ReplicaSet would go as well";
  const std::string set =
      "---\n{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r, namespace: app, uid: u}, spec: "
      "{replicas: 1}}\n";
  EXPECT_THAT(deleting("persistentvolumeclaims/app/c", podOf(set)), IsEmpty());
}

// A webhook that nobody answers, and that the garbage collector would take away.
TEST(AbsentOwners, AreNamedWhereWhatTheyOwnActs) {
  EXPECT_THAT(
      deleting("persistentvolumeclaims/app/c, pods/app/p",
               podOf("---\n{apiVersion: admissionregistration.k8s.io/v1, kind: "
                     "ValidatingWebhookConfiguration, metadata: {name: h, ownerReferences: [{apiVersion: "
                     "rbac.authorization.k8s.io/v1, kind: ClusterRole, name: r, uid: u}]}, webhooks: [{name: "
                     "h.x.io, clientConfig: {service: {namespace: gone, name: gone}}, rules: [{apiGroups: "
                     "[''], apiVersions: [v1], operations: [DELETE], resources: [pods]}]}]}\n")),
      ElementsAre(HasSubstr("replicasets.apps/app/r"),
                  HasSubstr("/r, an owner of "
                            "validatingwebhookconfigurations/h, is gone")));
}

}  // namespace
}  // namespace lastout::replay

// The embedded cluster sends the AdmissionReviews that Kubernetes 1.36 sent for the same requests, as
// tests/recordings/kubernetes-1.36/admission/README.md tells them, and docs/fidelity.md says so.
#include <gtest/gtest.h>

#include "tests/fidelity/reviews_fixture.h"

namespace lastout::testing {
namespace {

using simulator::Json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kDistributor = "The recorded control plane's distributor adds this ConfigMap.";
constexpr const char* kAskedTwice =
    "The object is not marked deleted yet. What was recorded is the second review of one DELETE: no node ran "
    "the Pod, so the API server marked it and took it away, and asked for each. Here such a Pod goes half a "
    "second after it was marked, unasked.";
constexpr const char* kPodStays =
    "Here a Pod takes half a second to go even where no node runs it: it is still counted, as one that "
    "terminates or not yet at all.";
constexpr const char* kOlderReplicaSet =
    "The recorded controller counted by the ReplicaSet as it had been before it scaled it, and wrote again "
    "once it saw the new one. Here it sees what it wrote.";
constexpr const char* kFewerSteps = "The recorded controller wrote its status in one step more.";
constexpr const char* kReleased =
    "The recorded controller saw that its ReplicaSet was released, or gone, before the Deployment went, and "
    "wrote its status once more. Here the Deployment goes in one step with that.";
constexpr const char* kConditionsBefore =
    "The conditions are there already: while its Pods go, which here takes half a second, the namespace "
    "controller tells that it waits.";
constexpr const char* kAskedAgain =
    "The object is not marked deleted yet. The recorded namespace controller deleted the collection again "
    "and again while something was left in it; here it leaves alone what terminates.";

const ReviewDifferences& differences136() {
  static const ReviewDifferences kDifferences = {
      {3, {kNotSent, kDistributor}},
      {16, {"remove /object/status/unavailableReplicas", kOlderReplicaSet}},
      {18,
       {"remove /oldObject/metadata/deletionGracePeriodSeconds, remove "
        "/oldObject/metadata/deletionTimestamp, "
        "replace /oldObject/metadata/generation",
        kAskedTwice}},
      {19,
       {"replace /oldObject/status/conditions/0/message, replace /oldObject/status/conditions/0/reason, "
        "replace /oldObject/status/conditions/0/status, replace /oldObject/status/conditions/0/type, replace "
        "/oldObject/status/conditions/1/message, replace /oldObject/status/conditions/1/reason, replace "
        "/oldObject/status/conditions/1/type, replace /oldObject/status/observedGeneration",
        kFewerSteps}},
      {21, {"replace /object/status/terminatingReplicas", kPodStays}},
      {22, {"replace /object/status/terminatingReplicas", kPodStays}},
      {25, {"add /object/status/unavailableReplicas", kOlderReplicaSet}},
      {29, {"add /oldObject/status/unavailableReplicas", kOlderReplicaSet}},
      {34,
       {"remove /object/status/fullyLabeledReplicas, replace /object/status/replicas, replace "
        "/object/status/terminatingReplicas",
        kPodStays}},
      {36,
       {"remove /oldObject/metadata/deletionGracePeriodSeconds, remove "
        "/oldObject/metadata/deletionTimestamp, "
        "replace /oldObject/metadata/generation",
        kAskedTwice}},
      {37, {"replace /oldObject/status/observedGeneration", kPodStays}},
      {38,
       {"remove /object/status/fullyLabeledReplicas, replace /object/status/replicas, replace "
        "/object/status/terminatingReplicas, remove /oldObject/status/fullyLabeledReplicas, replace "
        "/oldObject/status/replicas, replace /oldObject/status/terminatingReplicas",
        kPodStays}},
      {39,
       {"replace /object/status/terminatingReplicas, replace /oldObject/status/observedGeneration, replace "
        "/oldObject/status/replicas, replace /oldObject/status/terminatingReplicas, add "
        "/oldObject/status/fullyLabeledReplicas",
        kPodStays}},
      {42,
       {"replace /object/status/terminatingReplicas, replace /oldObject/status/terminatingReplicas, add "
        "/oldObject/status/replicas, add /oldObject/status/updatedReplicas",
        kPodStays}},
      {43,
       {"replace /object/status/terminatingReplicas, replace /oldObject/status/terminatingReplicas",
        kPodStays}},
      {44,
       {"replace /object/status/terminatingReplicas, add /object/status/unavailableReplicas, add "
        "/oldObject/status/replicas, add /oldObject/status/updatedReplicas",
        kReleased}},
      {45,
       {"replace /object/status/terminatingReplicas, replace /oldObject/status/terminatingReplicas",
        kPodStays}},
      {46,
       {"replace /object/status/terminatingReplicas, add /object/status/unavailableReplicas, replace "
        "/oldObject/status/terminatingReplicas, add /oldObject/status/unavailableReplicas",
        kReleased}},
      {58,
       {"replace /object/status/observedGeneration, replace /oldObject/status/observedGeneration",
        kReleased}},
      {59,
       {"add /object/status/replicas, add /object/status/unavailableReplicas, add "
        "/object/status/updatedReplicas, replace /oldObject/status/observedGeneration",
        kReleased}},
      {61,
       {"add /object/status/replicas, add /object/status/unavailableReplicas, add "
        "/object/status/updatedReplicas, add /oldObject/status/replicas, add "
        "/oldObject/status/unavailableReplicas, add /oldObject/status/updatedReplicas",
        kReleased}},
      {64,
       {"remove /oldObject/metadata/deletionGracePeriodSeconds, remove "
        "/oldObject/metadata/deletionTimestamp, "
        "replace /oldObject/metadata/generation",
        kAskedTwice}},
      {78,
       {"remove /oldObject/metadata/deletionGracePeriodSeconds, remove "
        "/oldObject/metadata/deletionTimestamp, "
        "replace /oldObject/metadata/generation",
        kAskedTwice}},
      {87,
       {"remove /oldObject/data, remove /oldObject/metadata/annotations, replace /oldObject/metadata/name, "
        "add /oldObject/metadata/finalizers",
        kDistributor}},
      {90, {"add /oldObject/status/conditions", kConditionsBefore}},
      {91,
       {"remove /oldObject/metadata/deletionGracePeriodSeconds, remove /oldObject/metadata/deletionTimestamp",
        kAskedAgain}},
      {92,
       {"remove /oldObject/metadata/deletionGracePeriodSeconds, remove /oldObject/metadata/deletionTimestamp",
        kAskedAgain}},
  };
  return kDifferences;
}

class Reviews136 : public ReviewsTest {
 protected:
  Reviews136() : ReviewsTest("kubernetes-1.36", kube::KubernetesVersion::V1_36, differences136()) {}

  void workload();
  void orphans();
  void namespaceGoes();
  void definition();

  void scale(int replicas) {
    expect(200, "PATCH", kDeployments + "/web/scale", {{"spec", {{"replicas", replicas}}}}, kMerge);
    settle();
  }
};

void Reviews136::workload() {
  expect(201, "POST", "/api/v1/namespaces" + kCreated, asWritten(recorded(1)["object"]));
  settle();
  reviewed(1, 4);
  createDeployment(5);
  reviewed(5, 12);
  expect(200, "PATCH", kDeployments + "/web?fieldManager=kubectl-label",
         {{"metadata", {{"labels", {{"k", "v"}}}}}}, kMerge);
  settle();
  reviewed(13, 13);
  scale(0);
  reviewed(14, 22);
  scale(1);
  reviewed(23, 29);
  deleteInForeground(30);
  reviewed(31, 46);
}

void Reviews136::orphans() {
  createDeployment(47);
  reviewed(47, 54);
  expect(200, "DELETE", kDeployments + "/web", {{"propagationPolicy", "Orphan"}});
  settle();
  reviewed(55, 61);
  deleteReplicaSets();
  reviewed(62, 64);
}

void Reviews136::namespaceGoes() {
  const std::string maps = "/api/v1/namespaces/demo/configmaps";
  const auto hold = [&](const Json& finalizers) {
    expect(200, "PATCH", maps + "/cm?fieldManager=kubectl-patch",
           {{"metadata", {{"finalizers", finalizers}}}}, kMerge);
  };
  expect(201, "POST", maps + kCreated, asWritten(recorded(65)["object"]));
  createDeployment(66);
  expect(201, "POST", "/api/v1/namespaces/demo/secrets" + kCreated, asWritten(recorded(74)["object"]));
  hold({"x.dev/hold"});
  reviewed(65, 75);
  deleteByUid("/api/v1/namespaces/demo");
  pass(seconds(15));
  reviewed(76, 92);
  hold(nullptr);
  pass(seconds(30));
  reviewed(93, 95);
}

void Reviews136::definition() {
  const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  expect(201, "POST", definitions + kApplied, asWritten(recorded(96)["object"]));
  settle();
  deleteByUid(definitions + "/warmresources.my.crd.group");
  reviewed(96, 97);
}

TEST_F(Reviews136, AreSentForTheSameRequests) {
  workload();
  orphans();
  namespaceGoes();
  definition();
  expectPage(&fidelity::PageParts::reviews136);
}

}  // namespace
}  // namespace lastout::testing

// Which Pods use a claim: also those that have run to their end, which no controller takes away, and not
// those that wait for a Node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replay/play.h"

namespace lastout::replay {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kClaim =
    "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default, "
    "finalizers: "
    "[kubernetes.io/pvc-protection]}}\n";

// `owner`: {kind, apiVersion}, always called "w".
std::string podOf(const std::string& owner, const std::string& name, const std::string& phase) {
  return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name +
         ", namespace: default, labels: {a: b}, ownerReferences: [{" + owner +
         ", name: w, uid: u, controller: true}]}, spec: {nodeName: n, containers: [{name: c}], volumes: "
         "[{name: "
         "v, persistentVolumeClaim: {claimName: data}}]}, status: {phase: " +
         phase + "}}\n";
}

std::string workload(const std::string& owner, const std::string& spec, const std::string& status = "") {
  return "---\n{" + owner +
         ", metadata: {name: w, namespace: default, uid: u}, spec: {selector: {matchLabels: {a: b}}, "
         "template: "
         "{metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}" +
         spec + "}, status: {" + status + "}}\n";
}

// A workload whose Pods mount the claim.
std::string mounting(const std::string& owner, const std::string& spec = "", const std::string& status = "") {
  return "---\n{" + owner +
         ", metadata: {name: w, namespace: default, uid: u}, spec: {selector: {matchLabels: {a: b}}, "
         "template: "
         "{metadata: "
         "{labels: {a: b}}, spec: {containers: [{name: c}], volumes: [{name: v, persistentVolumeClaim: "
         "{claimName: data}}]}}" +
         spec + "}, status: {" + status + "}}\n";
}

const std::string kJob = "apiVersion: batch/v1, kind: Job";
const std::string kReplicaSet = "apiVersion: apps/v1, kind: ReplicaSet";
const std::string kStatefulSet = "apiVersion: apps/v1, kind: StatefulSet";
const std::string kComplete = "conditions: [{type: Complete, status: 'True'}]";

ScenarioReport afterDeletionOf(const std::string& what, const std::string& documents) {
  return play(
      scenario("\n  guard: false\n  steps:\n    - {delete: [" + what + "], propagationPolicy: Background}\n",
               kClaim + documents));
}

// The Job controller deletes the active Pods of a Job that has ended, and no others.
TEST(ClaimUsers, FinishedPodsOfAJobStayAndUseTheirClaim) {
  for (const std::string& status : {kComplete, std::string("conditions: [{type: Failed, status: 'True'}]")}) {
    const std::string documents = workload(kJob, "", status) + podOf(kJob, "w-x", "Succeeded");
    const ScenarioReport report = afterDeletionOf("pvc/data", documents);
    EXPECT_THAT(inOneLine(report), StartsWith("stuck"));
    ASSERT_FALSE(report.leftovers.empty());
    EXPECT_THAT(report.leftovers.front().reasons, Contains(HasSubstr("pods/default/w-x")));
    EXPECT_THAT(inOneLine(afterDeletionOf("pvc/data, job/w", documents)), StartsWith("empty"));
    EXPECT_THAT(inOneLine(afterDeletionOf("pvc/data, pod/w-x", documents)), StartsWith("empty"));
  }
  EXPECT_THAT(inOneLine(afterDeletionOf("pvc/data",
                                        workload(kJob, ", suspend: true") + podOf(kJob, "w-x", "Failed"))),
              StartsWith("stuck"))
      << "suspended";
}

// The one that failed does not take the place of the one that runs.
TEST(ClaimUsers, FinishedPodsAreNotThoseThatAJobRuns) {
  const ScenarioReport report =
      afterDeletionOf("pvc/data", workload(kJob, "", "active: 1") + podOf(kJob, "w-x", "Failed") +
                                      podOf(kJob, "w-y", "Running"));
  ASSERT_FALSE(report.leftovers.empty());
  EXPECT_THAT(report.leftovers.front().reasons,
              ElementsAre("it waits until it is mounted no more by pods/default/w-x and pods/default/w-y"));
}

// FilterActivePods() of the ReplicaSet controller: it does not count what has finished, and leaves it alone.
TEST(ClaimUsers, FinishedPodsOfAReplicaSetStayWhenItIsScaledDown) {
  const std::string evicted = podOf(kReplicaSet, "w-x", "Failed");
  EXPECT_THAT(inOneLine(afterDeletionOf("pvc/data", workload(kReplicaSet, ", replicas: 0") + evicted)),
              StartsWith("stuck"));
  EXPECT_THAT(inOneLine(afterDeletionOf("pvc/data, rs/w", workload(kReplicaSet, ", replicas: 0") + evicted)),
              StartsWith("empty"));
}

// Both delete such a Pod, and make another.
TEST(ClaimUsers, FinishedPodsOfStatefulSetsAndDaemonSetsAreReplaced) {
  for (const std::string& owner : {kStatefulSet, std::string("apiVersion: apps/v1, kind: DaemonSet")}) {
    const std::string documents = mounting(owner) + podOf(owner, "w-0", "Failed");
    const ScenarioReport report = afterDeletionOf("pvc/data, pod/w-0", documents);
    EXPECT_THAT(inOneLine(report), StartsWith("empty")) << owner;
    EXPECT_THAT(told(report),
                Contains(AllOf(HasSubstr("workload controller"), HasSubstr("creates pods/default/w-"))))
        << owner;
  }
}

// Its containers have ended, and the kubelet's DELETE is still to come.
TEST(ClaimUsers, AFinishedPodThatTerminatesGoes) {
  std::string pod = podOf(kJob, "w-x", "Failed");
  pod.insert(pod.find("namespace: default"), "deletionTimestamp: '2026-01-01T00:00:00Z', ");
  const std::string failed = "conditions: [{type: Failed, status: 'True'}]";
  EXPECT_THAT(inOneLine(afterDeletionOf("pvc/data", workload(kJob, "", failed) + pod)), StartsWith("empty"));
}

// It makes two more Pods at most, and none under the name of one that has finished.
TEST(ClaimUsers, AJobMakesNoMorePodsThanItHasLeft) {
  const std::string spec = ", completions: 3, parallelism: 3";
  const ScenarioReport report = afterDeletionOf(
      "pvc/data", mounting(kJob, spec, "succeeded: 2, active: 1") + podOf(kJob, "w-1", "Succeeded") +
                      podOf(kJob, "w-2", "Succeeded") + podOf(kJob, "w-3", "Running"));
  ASSERT_FALSE(report.leftovers.empty());
  EXPECT_THAT(report.leftovers.front().reasons,
              ElementsAre("it waits until it is mounted no more by pods/default/w-3, pods/default/w-1 and "
                          "pods/default/w-2"));
}

constexpr const char* kClaimThenPods =
    "\n  guard: false\n  steps: [{delete: pvc/default/data}, {delete: pods/default/*, at: 20s}]\n";

// How a StatefulSet's volume is replaced: first its claim is deleted, then the Pod.
// createPersistentVolumeClaims() fails as long as the claim terminates, and no Pod is made.
TEST(ClaimUsers, AStatefulSetMakesNoPodWhileItsClaimTerminates) {
  std::string spec = kClaimThenPods;
  spec.replace(spec.find("default/data"), std::string_view("default/data").size(), "default/v-w-0");
  const std::string set = workload(kStatefulSet, ", volumeClaimTemplates: [{metadata: {name: v}, spec: {}}]");
  EXPECT_THAT(inOneLine(play(scenario(spec, set))), StartsWith("empty"));
}

// The scheduler leaves a Pod alone whose claim is being deleted (its plugin VolumeBinding), and a claim is
// used by Pods with a Node.
TEST(ClaimUsers, ANewPodGetsNoNodeWhileItsClaimTerminates) {
  for (const std::string& owner : {kReplicaSet, std::string("apiVersion: apps/v1, kind: Deployment")}) {
    EXPECT_THAT(inOneLine(play(scenario(kClaimThenPods, kClaim + mounting(owner)))), StartsWith("empty"));
    const std::string claimAlone = "\n  guard: false\n  steps: [{delete: pvc/default/data}]\n";
    EXPECT_THAT(inOneLine(play(scenario(claimAlone, kClaim + mounting(owner)))), StartsWith("stuck"))
        << "a Pod that runs uses it";
  }
}

// So that a controller whose claim hangs does not come back.
TEST(ClaimUsers, APodWithoutNodeDoesNoWork) {
  std::string held = kClaim;
  held.insert(held.find("kubernetes.io/pvc-protection"), "example.com/keep, ");
  const ScenarioReport report = play(scenario(
      "\n  guard: false\n  steps: [{delete: pvc/default/data}, {delete: pods/default/*, at: 20s}, {delete: "
      "configmaps/default/a, at: 40s}]\n  controllers:\n    - {name: op, removes: {finalizer: example.com/f, "
      "from: configmaps}, runsIn: deployments/default/w}\n",
      held + mounting("apiVersion: apps/v1, kind: Deployment") +
          "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default, finalizers: "
          "[example.com/f]}}\n"));
  std::string told;
  for (const Leftover& left : report.leftovers)
    for (const std::string& reason : left.reasons) told += left.object + ": " + reason + "\n";
  EXPECT_THAT(told,
              HasSubstr("configmaps/default/a: finalizer example.com/f is for controller op to remove, and "
                        "deployments/default/w, where it runs, has no Ready Pod, whose Pods get no Node "
                        "while persistentvolumeclaims/default/data terminates"));
}

}  // namespace
}  // namespace lastout::replay

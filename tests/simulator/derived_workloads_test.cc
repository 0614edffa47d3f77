// What workload controllers create and write, held against recorded objects.
#include "simulator/derived_workloads.h"

#include <gtest/gtest.h>

#include "simulator/defaults.h"
#include "simulator/metadata.h"
#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

const std::string kNow = "2026-11-21T01:45:25Z";
const TypeRules kCreatedPods{{"", "pods"}, "Pod"};

// What the API server makes of a controller's create.
Json stored(const TypeRules& rules, Json object) {
  const auto none = [](const Json& /*service*/) { return std::string(); };
  return completeOnCreate(
      rules, prepareForCreate(rules, std::move(object), {"u", kNow, [](uint32_t) { return 0; }}), none);
}

Json withoutStatus(Json object) {
  object.erase("status");
  return object;
}

TEST(Deployment, CreatesTheRecordedReplicaSet) {
  const Json deployment = recordedReview("03-create-deployments-admin")["object"];
  const Json recorded = recordedReview("04-create-replicasets-deployment-controller")["object"];
  const Json created = stored({{"apps", "replicasets"}, "ReplicaSet", false, true, true},
                              replicaSetOf(deployment, "web-6978d74884", 1));
  EXPECT_EQ(anonymous(created), anonymous(recorded));

  const Json later = recordedReview("33-delete-deployments-collection-admin")["oldObject"];
  EXPECT_EQ(
      anonymous(replicaSetOf(later, "finalizer-deployment-684f49d577", 1))["metadata"]["annotations"],
      recordedReview("34-delete-replicasets-generic-garbage-collector-background")["oldObject"]["metadata"]
                                                                                  ["annotations"]);
}

TEST(Deployment, PassesItsAnnotationsAndReplicasOn) {
  const Json review = recordedReview("10-update-replicasets-deployment-controller");
  Json deployment = recordedReview("09-update-deployments-admin")["object"];
  deployment["metadata"]["annotations"]["a"] = "b";
  EXPECT_EQ(followingReplicaSet(deployment, review["oldObject"]), review["object"]);
}

TEST(Deployment, SaysWhichReplicaSetItHasCreated) {
  const Json review = recordedReview("05-update-deployments-status-deployment-controller");
  EXPECT_EQ(withNewReplicaSet(review["oldObject"], "web-6978d74884", 1, kNow), review["object"]);
}

TEST(Deployment, StatusFollowsItsPods) {
  Json deployment = recordedReview("05-update-deployments-status-deployment-controller")["object"];
  deployment = observedDeployment(deployment, "web-6978d74884", {1, 0, 0, 1}, kNow);
  EXPECT_EQ(deployment["status"], recordedReview("09-update-deployments-admin")["object"]["status"]);
  EXPECT_EQ(observedDeployment(deployment, "web-6978d74884", {1, 0, 0, 1}, "2026-11-21T01:45:29Z"),
            deployment)
      << "nothing has happened";
}

TEST(Deployment, StatusOfOneThatIsDeletedInTheForegroundLosesItsPods) {
  Json deployment = recordedReview("14-delete-deployments-admin-foreground")["oldObject"];
  const Json after = recordedReview("18-update-deployments-generic-garbage-collector")["object"];
  deployment["metadata"]["generation"] = after["metadata"]["generation"];
  EXPECT_EQ(observedDeployment(deployment, "web-6978d74884", {0, 0, 0, 0}, "2026-11-21T01:45:29Z")["status"],
            after["status"]);
}

TEST(Deployment, StatusBecomesAvailableAndThenComplete) {
  // As in rest/: created, its Pod not ready; scaled to nothing; then another template.
  const Json scaled = recordedAnswer("077-patch-strategic-containers");
  Json deployment = recordedAnswer("072-create-deployment");
  deployment = withNewReplicaSet(deployment, "fg-cb7768cbd", 1, "2026-11-21T02:47:03Z");
  deployment = observedDeployment(deployment, "fg-cb7768cbd", {1, 0, 0, 1}, "2026-11-21T02:47:03Z");
  deployment["metadata"]["generation"] = 2;
  deployment["spec"]["replicas"] = 0;
  deployment = observedDeployment(deployment, "fg-cb7768cbd", {1, 0, 0, 1}, "2026-11-21T02:47:04Z");
  EXPECT_EQ(deployment["status"], scaled["status"]);

  deployment["metadata"]["generation"] = 3;
  deployment = withNewReplicaSet(deployment, "fg-66c5d7cfdd", 2, "2026-11-21T02:47:04Z");
  deployment = observedDeployment(deployment, "fg-66c5d7cfdd", {}, "2026-11-21T02:47:04Z");
  const Json complete = recordedAnswer("079-delete-deployment-foreground");
  EXPECT_EQ(deployment["status"], complete["status"]);
  EXPECT_EQ(deployment["metadata"]["annotations"], complete["metadata"]["annotations"]);
}

TEST(Deployment, StatusOfOneWhoseReadyPodsAreThere) {
  const Json recorded = storyObject("guarded", 2);
  Json deployment = recorded;
  deployment["status"] = Json::object();
  deployment =
      observedDeployment(deployment, "finalizer-deployment-7fd58b5979", {1, 1, 1, 1}, "2026-11-21T02:39:43Z");
  EXPECT_EQ(deployment, recorded);
}

TEST(Deployment, HasRoomForMorePodsAsItsStrategySays) {
  Json deployment = recordedAnswer("072-create-deployment");
  const auto most = [&deployment] {
    const Json replicaSet = replicaSetOf(deployment, "fg-1", 1);
    return replicaSet["metadata"]["annotations"]["deployment.kubernetes.io/max-replicas"];
  };
  deployment["spec"]["replicas"] = 10;
  EXPECT_EQ(most(), "13");
  deployment["spec"]["strategy"]["rollingUpdate"]["maxSurge"] = 1;
  EXPECT_EQ(most(), "11");
  deployment["spec"]["strategy"] = {{"type", "Recreate"}};
  EXPECT_EQ(most(), "10");
}

TEST(ReplicaSet, StatusIsTheRecordedOne) {
  const Json before = recordedReview("07-update-replicasets-status-replicaset-controller")["object"];
  EXPECT_EQ(observedReplicaSet(withoutStatus(before), {}), before);
  const Json after = recordedReview("10-update-replicasets-deployment-controller")["object"];
  EXPECT_EQ(observedReplicaSet(withoutStatus(after), {1, 0, 0, 1}), after);
  const Json terminating = recordedReview("17-update-replicasets-generic-garbage-collector")["object"];
  EXPECT_EQ(observedReplicaSet(withoutStatus(terminating), {1, 0, 0, 1}), terminating);
  const Json ready = storyObject("guarded", 3);
  EXPECT_EQ(observedReplicaSet(withoutStatus(ready), {1, 1, 1, 1}), ready);
}

TEST(ReplicaSet, CreatesTheRecordedPod) {
  const Json replicaSet = recordedReview("04-create-replicasets-deployment-controller")["object"];
  Json recorded = recordedReview("06-create-pods-replicaset-controller")["object"];
  Json pod = stored(kCreatedPods, podOfReplicaSet(replicaSet));
  EXPECT_EQ(pod["metadata"]["name"], "web-6978d74884-bbbbb");
  pod["metadata"]["name"] = recorded["metadata"]["name"];
  EXPECT_EQ(anonymous(pod), anonymous(recorded));
}

// The times that the recording's pretended node leaves out.
Json withTimes(Json recorded, const Json& pod) {
  recorded["status"]["startTime"] = pod["status"]["startTime"];
  recorded["status"]["podIP"] = podIpOf(std::string(pod["metadata"]["uid"]));
  recorded["status"]["podIPs"] = Json::array({Json{{"ip", recorded["status"]["podIP"]}}});
  for (Json& condition : recorded["status"]["conditions"])
    condition["lastTransitionTime"] = "2026-11-21T02:39:43Z";
  return recorded;
}

TEST(Pod, BecomesReadyAsRecorded) {
  const Json recorded = storyObject("guarded", 1);
  Json pod = recorded;
  pod["status"] = {{"phase", "Pending"}, {"qosClass", "BestEffort"}};
  const std::string now = "2026-11-21T02:39:43Z";
  pod = readyPod(pod, now);
  EXPECT_EQ(pod, withTimes(recorded, pod));
  EXPECT_EQ(readyPod(pod, "2026-11-21T02:40:00Z"), pod);
}

TEST(Pod, SaysThatItsContainersHaveEnded) {
  const Json pod = stoppedPod(storyObject("guarded", 1), "2026-11-21T02:39:57Z");
  EXPECT_EQ(pod["status"]["conditions"][0]["status"], "False");
  EXPECT_EQ(pod["status"]["conditions"][0]["message"], "containers with unready status: [c]");
  EXPECT_EQ(pod["status"]["containerStatuses"][0]["ready"], false);
  EXPECT_EQ(pod["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"],
            "2026-11-21T02:39:57Z");
  EXPECT_EQ(pod["status"]["phase"], "Running");
  EXPECT_EQ(stoppedPod(pod, "2026-11-21T02:40:00Z"), pod);
}

TEST(StatefulSet, NumbersItsPods) {
  Json set = recordedAnswer("072-create-deployment");
  set["kind"] = "StatefulSet";
  set["spec"]["serviceName"] = "db";
  const Json pod = podOfStatefulSet(set, 2, "fg-5d4");
  EXPECT_EQ(pod["metadata"]["name"], "fg-2");
  EXPECT_EQ(pod["metadata"]["labels"], (Json{{"a", "fg"},
                                             {"controller-revision-hash", "fg-5d4"},
                                             {"statefulset.kubernetes.io/pod-name", "fg-2"}}));
  EXPECT_EQ(pod["spec"]["hostname"], "fg-2");
  EXPECT_EQ(pod["spec"]["subdomain"], "db");
  EXPECT_EQ(pod["metadata"]["ownerReferences"][0]["kind"], "StatefulSet");
  EXPECT_EQ(
      observedStatefulSet(set, "fg-5d4", {3, 2, 2, 3})["status"],
      Json::parse(R"({"observedGeneration": 1, "replicas": 3, "readyReplicas": 2, "availableReplicas": 2,
                            "currentReplicas": 3, "updatedReplicas": 3, "currentRevision": "fg-5d4",
                            "updateRevision": "fg-5d4", "collisionCount": 0})"));
}

TEST(DaemonSet, TiesItsPodsToTheirNodes) {
  Json set = recordedAnswer("072-create-deployment");
  set["kind"] = "DaemonSet";
  const Json pod = podOfDaemonSet(set, "n1", "5d4");
  const Json term = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
                       ["nodeSelectorTerms"][0];
  EXPECT_EQ(term["matchFields"][0]["values"], Json::array({"n1"}));
  EXPECT_EQ(pod["metadata"]["labels"]["controller-revision-hash"], "5d4");
  EXPECT_EQ(observedDaemonSet(set, 1, {1, 0, 0, 1})["status"],
            Json::parse(R"({"observedGeneration": 1, "currentNumberScheduled": 1, "desiredNumberScheduled": 1,
                            "numberMisscheduled": 0, "numberReady": 0, "updatedNumberScheduled": 1,
                            "numberUnavailable": 1})"));
}

TEST(Workloads, OfTheWrongShapeHarmNobody) {
  for (const char* text :
       {"7", "[]", "{}", R"({"metadata": 1, "spec": 2, "status": 3})",
        R"({"metadata": {"annotations": 1, "name": 2}, "spec": {"template": 1, "selector": [],
            "replicas": 99999999999999, "strategy": {"type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": "999999999999999999999%", "maxUnavailable": {}}}},
            "status": {"conditions": [1, {"type": 2}]}})",
        R"({"spec": {"template": {"metadata": {"labels": []}, "spec": {"tolerations": 4}}, "containers": [1]},
            "status": {"conditions": {"type": "Ready"}}})"}) {
    const Json odd = Json::parse(text);
    replicaSetOf(odd, "", 1);
    followingReplicaSet(odd, odd);
    withNewReplicaSet(odd, "r", 1, kNow);
    observedDeployment(odd, "r", {1, 1, 1, 1}, kNow);
    observedDaemonSet(observedStatefulSet(observedReplicaSet(odd, {}), "r", {}), 1, {});
    podOfReplicaSet(odd);
    podOfStatefulSet(odd, 0, "r");
    podOfDaemonSet(odd, "n", "r");
    stoppedPod(readyPod(odd, kNow), kNow);
  }
}

}  // namespace
}  // namespace lastout::simulator

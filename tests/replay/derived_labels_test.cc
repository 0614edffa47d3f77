// The labels of what controllers make and no file has, by which webhooks select it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replay/play.h"

namespace lastout::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kTeam = "---\n{apiVersion: v1, kind: Namespace, metadata: {name: team}}\n";

// Nobody answers it. `selector`: a term of matchExpressions.
std::string refusing(const std::string& selector, const std::string& resource = "pods",
                     const std::string& operation = "DELETE") {
  return "---\n{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: "
         "{name: h}, webhooks: [{name: h.example.com, clientConfig: {service: {namespace: gone, name: "
         "hook}}, "
         "objectSelector: {matchExpressions: [" +
         selector + "]}, rules: [{apiGroups: ['*'], apiVersions: ['*'], operations: [" + operation +
         "], resources: [" + resource + "]}]}]}\n";
}

std::string running(const std::string& kind, const std::string& more = "",
                    const std::string& labels = "app: d") {
  const char* version = kind == "Job" ? "batch/v1" : "apps/v1";
  return "---\n{apiVersion: " + std::string(version) + ", kind: " + kind +
         ", metadata: {name: d, namespace: team}, spec: {selector: {matchLabels: {app: d}}, template: "
         "{metadata: "
         "{labels: {" +
         labels + "}}, spec: {containers: [{name: c}]}}" + more + "}}\n";
}

std::string endOfTeam(const std::string& documents, const std::string& version = "1.36") {
  return inOneLine(play(
      scenario("\n  guard: false\n  kubernetes: '" + version + "'\n  steps: [{delete: namespace/team}]\n",
               kTeam + documents)));
}

const std::string kOfApp = "{key: app, operator: In, values: [d]}";

TEST(DerivedLabels, OfPodsAreThoseOfTheirTemplate) {
  for (const char* kind : {"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"}) {
    EXPECT_THAT(endOfTeam(running(kind) + refusing(kOfApp)), StartsWith("stuck")) << kind;
    EXPECT_THAT(endOfTeam(running(kind) + refusing("{key: app, operator: In, values: [e]}")),
                StartsWith("empty"))
        << kind;
    EXPECT_THAT(endOfTeam(running(kind, "", "app: d, inject: 'false'") +
                          refusing("{key: inject, operator: NotIn, values: ['false']}")),
                StartsWith("empty"))
        << kind;
  }
}

// Which Pods a step brings is known by the template, too.
TEST(DerivedLabels, OfPodsThatAreMadeLater) {
  const auto refused = [](const std::string& labels) {
    return inOneLine(play(scenario(
        "\n  guard: false\n  steps:\n    - scale: {object: deployments/team/d, replicas: 1}\n    - {delete: "
        "configmaps/team/c, at: 20s}\n  controllers:\n    - {name: op, removes: {finalizer: example.com/f, "
        "from: "
        "configmaps}, runsIn: deployments/team/d}\n",
        kTeam + running("Deployment", ", replicas: 0", labels) +
            refusing("{key: inject, operator: In, values: ['true']}", "pods", "CREATE") +
            "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: team, finalizers: "
            "[example.com/f]}}\n")));
  };
  EXPECT_THAT(refused("inject: 'true'"), StartsWith("stuck"));
  EXPECT_THAT(refused("app: d"), StartsWith("empty"));
}

// https://kubernetes.io/docs/reference/labels-annotations-taints/
TEST(DerivedLabels, ControllersAddTheirOwn) {
  const auto exists = [](const std::string& label) {
    return refusing("{key: " + label + ", operator: Exists}");
  };
  const auto is = [](const std::string& label, const std::string& value) {
    return refusing("{key: " + label + ", operator: In, values: ['" + value + "']}");
  };
  EXPECT_THAT(endOfTeam(running("Deployment") + exists("pod-template-hash")), StartsWith("stuck"));
  EXPECT_THAT(endOfTeam(running("ReplicaSet") + exists("pod-template-hash")), StartsWith("empty"));
  for (const char* kind : {"StatefulSet", "DaemonSet"})
    EXPECT_THAT(endOfTeam(running(kind) + exists("controller-revision-hash")), StartsWith("stuck")) << kind;
  EXPECT_THAT(endOfTeam(running("StatefulSet") + is("statefulset.kubernetes.io/pod-name", "d-0")),
              StartsWith("stuck"));
  EXPECT_THAT(endOfTeam(running("Job") + is("job-name", "d")), StartsWith("stuck"));
  const std::string ofIndex = running("StatefulSet") + is("apps.kubernetes.io/pod-index", "0");
  EXPECT_THAT(endOfTeam(ofIndex), StartsWith("stuck"));
  EXPECT_THAT(endOfTeam(ofIndex, "1.26"), StartsWith("empty")) << "it came in 1.28";
}

TEST(DerivedLabels, OfReplicaSetsAndClaims) {
  EXPECT_THAT(endOfTeam(running("Deployment") + refusing(kOfApp, "replicasets")), StartsWith("stuck"));
  const std::string set = running("StatefulSet", ", volumeClaimTemplates: [{metadata: {name: v}, spec: {}}]");
  EXPECT_THAT(endOfTeam(set + refusing(kOfApp, "persistentvolumeclaims")), StartsWith("stuck"))
      << "those of the selector";
}

// spec.ordinals.start (KEP-3335).
TEST(DerivedLabels, AStatefulSetCountsItsPodsFromItsFirst) {
  const std::string set = running(
      "StatefulSet", ", ordinals: {start: 5}, volumeClaimTemplates: [{metadata: {name: v}, spec: {}}]");
  const ScenarioReport report =
      play(scenario("\n  guard: false\n  steps: [{delete: pvc/team/v-d-5}]\n", kTeam + set));
  ASSERT_FALSE(report.leftovers.empty());
  EXPECT_THAT(report.leftovers.front().reasons, ElementsAre(HasSubstr("pods/team/d-5")));
}

// A Service may select one Pod of a StatefulSet, by the label that has its name.
TEST(DerivedLabels, OnePodOfAStatefulSetMayBeBehindAService) {
  const auto input = [](int replicas, const std::string& pod, const std::string& port = "8443") {
    return scenario(
        "\n  guard: false\n  steps: [{delete: configmaps/team/c}]\n",
        kTeam + running("StatefulSet", ", replicas: " + std::to_string(replicas)) +
            "---\n{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: team}, spec: {selector: "
            "{statefulset.kubernetes.io/pod-name: " +
            pod + "}, ports: [{port: 443, targetPort: " + port +
            "}]}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: team}}\n"
            "---\n{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, "
            "metadata: {name: h}, webhooks: [{name: h.example.com, clientConfig: {service: {namespace: team, "
            "name: hook}}, rules: [{apiGroups: [''], apiVersions: ['*'], operations: [DELETE], resources: "
            "[configmaps]}]}]}\n");
  };
  const auto deleted = [&](int replicas, const std::string& pod, const std::string& port = "8443") {
    return inOneLine(play(input(replicas, pod, port)));
  };
  EXPECT_THAT(deleted(1, "d-0"), StartsWith("empty"));
  EXPECT_THAT(toldAssumptions(input(1, "d-0")),
              ElementsAre(HasSubstr("h/h.example.com allows what it is asked")));
  EXPECT_THAT(deleted(2, "d-1"), StartsWith("empty"));
  EXPECT_THAT(deleted(1, "d-1"), StartsWith("stuck"));
  EXPECT_THAT(deleted(1, "e-0"), StartsWith("stuck"));
  EXPECT_THAT(deleted(1, "d-0", "https"), StartsWith("stuck")) << "no container has that port";
}

}  // namespace
}  // namespace lastout::replay

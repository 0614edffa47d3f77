// Rights that go, of aggregated API servers, of the control plane and of network plug-ins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replay/play.h"

namespace lastout::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kApp = "---\n{apiVersion: v1, kind: Namespace, metadata: {name: app}}\n";

std::string account(const std::string& space, const std::string& name) {
  return "---\n{apiVersion: v1, kind: ServiceAccount, metadata: {name: " + name + ", namespace: " + space +
         "}}\n";
}

std::string clusterBinding(const std::string& name, const std::string& role, const std::string& space,
                           const std::string& ofAccount) {
  return "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: '" +
         name + "'}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: '" + role +
         "'}, subjects: [{kind: ServiceAccount, name: " + ofAccount + ", namespace: " + space + "}]}\n";
}

// Deletes the Namespace app, and what `more` names.
std::vector<std::string> deletingApp(const std::string& documents, const std::string& more = "") {
  return toldAssumptions(
      scenario("\n  guard: false\n  steps:\n    - delete: [namespace/app" + more + "]\n", kApp + documents));
}

std::string apiServer() {
  return "---\n{apiVersion: v1, kind: Namespace, metadata: {name: mon}}\n" + account("mon", "metrics") +
         clusterBinding("metrics:delegator", "system:auth-delegator", "mon", "metrics") +
         "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: metrics, namespace: mon}, spec: "
         "{replicas: 1, selector: {matchLabels: {a: m}}, template: {metadata: {labels: {a: m}}, spec: "
         "{serviceAccountName: metrics, containers: [{name: c}]}}}}\n---\n"
         "{apiVersion: v1, kind: Service, metadata: {name: metrics, namespace: mon}, spec: {selector: {a: "
         "m}, ports: [{port: 443}]}}\n---\n"
         "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.metrics.k8s.io}, "
         "spec: {group: metrics.k8s.io, version: v1, service: {namespace: mon, name: metrics}}}\n";
}

// https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/: an extension API server
// asks the API server whether each request is allowed, and needs system:auth-delegator for that.
TEST(GoingRights, OfAnAggregatedApiServer) {
  EXPECT_THAT(deletingApp(apiServer()), IsEmpty());
  EXPECT_THAT(deletingApp(apiServer(), ", 'clusterrolebindings/metrics:delegator'"),
              ElementsAre("clusterrolebindings/metrics:delegator: apiservices/v1.metrics.k8s.io answers "
                          "without clusterrolebindings/metrics:delegator, by which "
                          "deployments/mon/metrics acts"));
  EXPECT_THAT(deletingApp(apiServer(), ", serviceaccounts/mon/metrics"),
              ElementsAre(HasSubstr("answers without serviceaccounts/mon/metrics")));
}

// API servers reconcile these roles at start-up alone:
// https://kubernetes.io/docs/reference/access-authn-authz/rbac/#auto-reconciliation
TEST(GoingRights, OfTheControlPlane) {
  const std::string name = "system:controller:namespace-controller";
  EXPECT_THAT(deletingApp(clusterBinding(name, name, "kube-system", "namespace-controller"),
                          ", 'clusterrolebindings/" + name + "'"),
              ElementsAre(HasSubstr("Kubernetes works without clusterrolebindings/" + name)));
  EXPECT_THAT(deletingApp(clusterBinding("system:metrics-server", "system:metrics-server", "mon", "m"),
                          ", 'clusterrolebindings/system:metrics-server'"),
              IsEmpty());
}

std::string networkPlugin(const std::string& path) {
  return "---\n{apiVersion: v1, kind: Namespace, metadata: {name: net}}\n" + account("net", "node") +
         account("net", "plugin") + account("net", "other") +
         clusterBinding("plugin", "plugin", "net", "plugin") + clusterBinding("node", "node", "net", "node") +
         clusterBinding("other", "other", "net", "other") +
         "---\n{apiVersion: v1, kind: Pod, metadata: {name: o, namespace: net}, spec: {serviceAccountName: "
         "other, containers: [{name: c}]}}\n"
         "---\n{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: node, namespace: net}, spec: "
         "{selector: {matchLabels: {a: n}}, template: {metadata: {labels: {a: n}}, spec: {hostNetwork: true, "
         "serviceAccountName: node, containers: [{name: c}], volumes: [{name: v, hostPath: {path: " +
         path + "}}]}}}}\n";
}

std::string podInApp(const std::string& spec = "") {
  return "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: app}, spec: {" + spec +
         "containers: [{name: c}]}}\n";
}

// A kubelet removes a Pod once its sandbox is stopped, and stopping it calls the plug-in with DEL.
TEST(GoingRights, OfANetworkPlugin) {
  const std::string plugin = networkPlugin("/opt/cni/bin");
  EXPECT_THAT(deletingApp(plugin + podInApp()), IsEmpty());
  EXPECT_THAT(deletingApp(plugin + podInApp(), ", clusterrolebindings/plugin"),
              ElementsAre("clusterrolebindings/plugin: the network plug-in daemonsets/net/node takes down "
                          "the networks of pods/app/p without clusterrolebindings/plugin: a kubelet ends no "
                          "Pod before that"));
  EXPECT_THAT(deletingApp(plugin + podInApp(), ", clusterrolebindings/node"),
              ElementsAre(HasSubstr("without clusterrolebindings/node")));
  EXPECT_THAT(deletingApp(plugin + podInApp(), ", clusterrolebindings/other"), IsEmpty())
      << "a workload acts by that";
  EXPECT_THAT(deletingApp(plugin + podInApp(), ", daemonsets/net/node"),
              ElementsAre(HasSubstr("the networks of pods/app/p before it goes")));
  EXPECT_THAT(deletingApp(plugin + podInApp("hostNetwork: true, "), ", daemonsets/net/node"), IsEmpty());
  EXPECT_THAT(deletingApp(plugin, ", daemonsets/net/node"), IsEmpty()) << "no Pod goes but its own";
  EXPECT_THAT(deletingApp(networkPlugin("/var/log") + podInApp(), ", daemonsets/net/node"), IsEmpty());
}

}  // namespace
}  // namespace lastout::replay

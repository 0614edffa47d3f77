// What deploy/ says: the chart and the kustomize base are one, every right has a reason, and the image has
// what the program needs.
#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>

#include "criticalservice/dependencies.h"
#include "tests/deploy/chart.h"
#include "tests/support/program.h"

namespace lastout::deploy {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;

constexpr const char* kChart = "deploy/helm/lastout";
constexpr const char* kHookRights = "deploy/helm/lastout/templates/uninstall-rbac.yaml";

std::string nameOf(const Json& object) {
  return object["kind"].get<std::string>() + "/" + object["metadata"].value("namespace", "") + "/" +
         object["metadata"]["name"].get<std::string>();
}

std::map<std::string, Json> byName(const std::vector<Json>& objects) {
  std::map<std::string, Json> named;
  for (const Json& object : objects) EXPECT_TRUE(named.emplace(nameOf(object), object).second);
  return named;
}

Json defaultValues() { return documentsIn(textOf(std::string(kChart) + "/values.yaml")).at(0); }

// Each leaf of the values by its pointer.
std::vector<std::string> leavesOf(const Json& values) {
  std::vector<std::string> leaves;
  const Json flat = values.flatten();
  for (const auto& [pointer, value] : flat.items()) leaves.push_back(pointer);
  return leaves;
}

// What Helm makes only while it removes the others: `lastout uninstall`, and its rights.
bool isHook(const Json& object) {
  return object["metadata"].contains("annotations") &&
         object["metadata"]["annotations"].contains("helm.sh/hook");
}

std::vector<Json> hooksOf(std::vector<Json> chart) {
  std::erase_if(chart, [](const Json& object) { return !isHook(object); });
  return chart;
}

std::vector<Json> withoutHooks(std::vector<Json> chart) {
  std::erase_if(chart, isHook);
  return chart;
}

Json hookJob(const Json& values) {
  return byName(hooksOf(rendered(kChart, values)))["Job/lastout/lastout-uninstall"];
}

TEST(Chart, IsTheKustomizeBase) {
  const testing::Ran ran = testing::shell("kubectl kustomize deploy");
  ASSERT_EQ(ran.exitCode, 0) << ran.out;
  const auto base = byName(documentsIn(ran.out));
  const auto chart = byName(withoutHooks(rendered(kChart, defaultValues())));
  EXPECT_EQ(base.size(), 28U);
  for (const auto& [name, object] : base) {
    ASSERT_TRUE(chart.contains(name)) << name;
    EXPECT_EQ(chart.at(name), object) << name;
  }
  EXPECT_EQ(chart.size(), base.size());
}

TEST(Chart, UsesEveryValue) {
  const Json values = defaultValues();
  const auto before = rendered(kChart, values);
  for (const std::string& leaf : leavesOf(values)) {
    Json other = values;
    Json& value = other[Json::json_pointer(leaf)];
    value = value.is_number()    ? Json(value.get<int>() + 7)
            : value.is_boolean() ? Json(!value.get<bool>())
                                 : Json(value.get<std::string>() + "9");
    EXPECT_NE(rendered(kChart, other), before) << leaf << " changes nothing";
  }
}

TEST(Deploy, IsOfTheProgramsVersion) {
  const std::string version = testing::lastout({"--version"}).out;
  const Json chart = documentsIn(textOf(std::string(kChart) + "/Chart.yaml")).at(0);
  EXPECT_EQ("lastout " + chart["version"].get<std::string>() + "\n", version);
  EXPECT_EQ(chart["appVersion"], chart["version"]);
  EXPECT_EQ(defaultValues()["image"]["tag"], chart["version"]);
}

TEST(Deploy, HasAReasonForEveryRight) {
  for (const char* file : {"deploy/rbac.yaml", kHookRights}) {
    std::istringstream text(textOf(file));
    std::string before;
    for (std::string line; std::getline(text, line); before = line) {
      if (line.starts_with("  - apiGroups:")) {
        EXPECT_THAT(before, StartsWith("  # ")) << line;
      }
    }
  }
}

// "create secrets", "patch leases.coordination.k8s.io/lastout": what a rule allows beside reading.
std::vector<std::string> writesOf(const Json& rule) {
  std::vector<std::string> writes;
  if (rule.contains("nonResourceURLs")) {
    EXPECT_EQ(rule["verbs"], Json{"get"}) << rule;
    return writes;
  }
  for (const std::string verb : rule["verbs"]) {
    if (verb == "get" || verb == "list" || verb == "watch") continue;
    for (const std::string group : rule["apiGroups"]) {
      for (const std::string resource : rule["resources"]) {
        const std::string write = verb + " " + resource + (group.empty() ? "" : "." + group);
        for (const std::string name : rule.value("resourceNames", Json{""}))
          writes.push_back(write + (name.empty() ? "" : "/" + name));
      }
    }
  }
  return writes;
}

// No wildcard; and whatever it may write stands here.
TEST(Deploy, AsksForNoMoreThanItNames) {
  std::vector<std::string> anywhere;
  std::vector<std::string> later;                          // what was deferred
  std::map<std::string, std::vector<std::string>> within;  // by namespace
  for (const Json& object : documentsIn(textOf("deploy/rbac.yaml"))) {
    for (const Json& rule : object.value("rules", Json::array())) {
      EXPECT_THAT(rule.dump(), Not(HasSubstr("*")));
      std::vector<std::string>& writes = object["kind"] == "Role" ? within[object["metadata"]["namespace"]]
                                         : nameOf(object).starts_with("ClusterRole//lastout-carries-out-")
                                             ? later
                                             : anywhere;
      std::ranges::copy(writesOf(rule), std::back_inserter(writes));
    }
  }
  EXPECT_THAT(anywhere, UnorderedElementsAre(
                            "patch criticalservices/status.lastout.dev",
                            "patch validatingwebhookconfigurations.admissionregistration.k8s.io/lastout",
                            "delete validatingwebhookconfigurations.admissionregistration.k8s.io/lastout",
                            "create validatingwebhookconfigurations.admissionregistration.k8s.io",
                            "create tokenreviews.authentication.k8s.io",
                            "create subjectaccessreviews.authorization.k8s.io",
                            "patch appliedmanifestworks.work.open-cluster-management.io",
                            "patch daemonsets.apps", "patch deployments.apps", "patch statefulsets.apps"));
  EXPECT_THAT(
      later,
      UnorderedElementsAre(
          "delete daemonsets.apps", "delete deployments.apps", "delete replicasets.apps",
          "delete statefulsets.apps", "delete cronjobs.batch", "delete jobs.batch", "delete namespaces",
          "delete replicationcontrollers", "delete criticalservices.lastout.dev", "delete configmaps",
          "delete persistentvolumeclaims", "delete secrets", "delete serviceaccounts", "delete services",
          "delete clusterrolebindings.rbac.authorization.k8s.io",
          "delete clusterroles.rbac.authorization.k8s.io", "delete rolebindings.rbac.authorization.k8s.io",
          "delete roles.rbac.authorization.k8s.io"));
  EXPECT_THAT(within["lastout"], UnorderedElementsAre("patch leases.coordination.k8s.io/lastout",
                                                      "create leases.coordination.k8s.io",
                                                      "patch secrets/lastout-tls", "create secrets"));
  EXPECT_THAT(within["default"], UnorderedElementsAre("patch leases.coordination.k8s.io/lastout-sentinel",
                                                      "delete leases.coordination.k8s.io/lastout-sentinel",
                                                      "create leases.coordination.k8s.io", "create events"));
  EXPECT_EQ(within.size(), 2U);
}

// "ClusterRole lastout", "Role lastout in default".
std::string roleNamed(const std::string& kind, const std::string& name, const Json& metadata) {
  return kind + " " + name +
         (metadata.contains("namespace") ? " in " + metadata["namespace"].get<std::string>() : "");
}

// Each role of lastout's own is given to its service account, and no other role is given to anybody.
TEST(Deploy, BindsItsRolesToItsServiceAccount) {
  const std::vector<Json> objects = documentsIn(textOf("deploy/rbac.yaml"));
  const Json account = documentsIn(textOf("deploy/service-account.yaml")).at(0)["metadata"];
  std::vector<std::string> roles;
  std::vector<std::string> bound;
  for (const Json& object : objects) {
    const std::string kind = object["kind"];
    if (kind.ends_with("Role"))
      roles.push_back(roleNamed(kind, object["metadata"]["name"], object["metadata"]));
    if (!kind.ends_with("RoleBinding")) continue;
    EXPECT_EQ(
        object["subjects"],
        (Json{{{"kind", "ServiceAccount"}, {"name", account["name"]}, {"namespace", account["namespace"]}}}));
    EXPECT_EQ(object["roleRef"]["apiGroup"], "rbac.authorization.k8s.io");
    EXPECT_EQ(kind, object["roleRef"]["kind"].get<std::string>() + "Binding");
    bound.push_back(roleNamed(object["roleRef"]["kind"], object["roleRef"]["name"], object["metadata"]));
  }
  EXPECT_THAT(
      bound, UnorderedElementsAre("ClusterRole lastout", "ClusterRole lastout-reads",
                                  "ClusterRole lastout-finds-dependencies", "ClusterRole lastout-carries-out",
                                  "ClusterRole lastout-keeps-works", "ClusterRole lastout-holds-providers",
                                  "Role lastout in lastout", "Role lastout in default"));
  EXPECT_THAT(roles, IsSupersetOf(bound));
  EXPECT_THAT(roles, IsSupersetOf({"ClusterRole lastout-providers", "ClusterRole lastout-reader",
                                   "ClusterRole lastout-carries-out-built-in",
                                   "ClusterRole lastout-carries-out-dependencies"}));
  const Json pod = documentsIn(textOf("deploy/deployment.yaml")).at(0)["spec"]["template"]["spec"];
  EXPECT_EQ(pod["serviceAccountName"], account["name"]);
}

// "get secrets": what a ClusterRole allows.
std::vector<std::string> rightsOf(const std::string& role) {
  std::vector<std::string> rights;
  const Json found = byName(documentsIn(textOf("deploy/rbac.yaml"))).at("ClusterRole//" + role);
  for (const Json& rule : found["rules"]) {
    for (const std::string verb : rule["verbs"]) {
      for (const std::string resource : rule["resources"])
        rights.push_back(verb + " " +
                         toString(kube::GroupResource{rule["apiGroups"][0].get<std::string>(), resource}));
    }
  }
  return rights;
}

// Of Secrets and ConfigMaps it may get those alone that it was told of by name.
TEST(Deploy, MayFindAndDeleteWhatProvidersNeed) {
  using criticalservice::DependencyFinder;
  std::vector<kube::GroupResource> types = DependencyFinder::types();
  std::ranges::copy(DependencyFinder::neededTypes(), std::back_inserter(types));
  std::vector<std::string> reads;
  std::vector<std::string> carriesOut{"get secrets", "delete secrets", "get configmaps", "delete configmaps"};
  for (const kube::GroupResource& type : types) {
    for (const char* verb : {"get ", "list ", "watch "}) reads.push_back(verb + toString(type));
    if (type.resource == "apiservices") continue;  // they go before the provider
    for (const char* verb : {"get ", "delete "}) carriesOut.push_back(verb + toString(type));
  }
  for (const char* verb : {"get ", "list ", "watch "})
    reads.push_back(verb + toString(criticalservice::kControllerRevisions));
  EXPECT_THAT(rightsOf("lastout-finds-dependencies"), UnorderedElementsAreArray(reads));
  for (const std::string verb : {"get ", "list ", "watch "})
    EXPECT_THAT(rightsOf("lastout-providers"), Contains(verb + "replicasets.apps"));
  for (const std::string verb : {"get ", "list ", "watch "})
    EXPECT_THAT(rightsOf("lastout"), Contains(verb + toString(kube::crdType()))) << "who converts what";
  EXPECT_THAT(rightsOf("lastout-carries-out-dependencies"), UnorderedElementsAreArray(carriesOut));
}

// Kubernetes keeps these rules; a list of ours, even an empty one, would replace them at each kubectl apply.
TEST(Deploy, LeavesAggregatedRulesToKubernetes) {
  int count = 0;
  for (const Json& object : documentsIn(textOf("deploy/rbac.yaml"))) {
    if (!object.contains("aggregationRule")) continue;
    EXPECT_FALSE(object.contains("rules")) << object;
    ++count;
  }
  EXPECT_EQ(count, 2);
}

TEST(Deploy, KeepsTheLastReplica) {
  const Json budget = documentsIn(textOf("deploy/disruption-budget.yaml")).at(0)["spec"];
  EXPECT_EQ(budget["minAvailable"], 1);
  EXPECT_FALSE(budget.contains("maxUnavailable")) << "of one replica it would be all";
}

TEST(Deploy, SaysNothingThatTheProgramDoesNotTake) {
  const Json pod = documentsIn(textOf("deploy/deployment.yaml")).at(0)["spec"]["template"]["spec"];
  auto arguments = pod["containers"][0]["args"].get<std::vector<std::string>>();
  arguments.insert(arguments.end(), {"--kubeconfig", "/nowhere/config"});
  const testing::Ran ran = testing::lastout(arguments);
  EXPECT_THAT(ran.err, HasSubstr("/nowhere/config")) << "as far as this its arguments are understood";
}

void expectConfined(const Json& pod) {
  EXPECT_EQ(pod["securityContext"]["runAsNonRoot"], true);
  EXPECT_EQ(pod["securityContext"]["seccompProfile"], (Json{{"type", "RuntimeDefault"}}));
  for (const char* ofTheHost : {"hostNetwork", "hostPID", "hostIPC", "volumes", "initContainers"})
    EXPECT_FALSE(pod.contains(ofTheHost)) << ofTheHost;
  EXPECT_EQ(pod["containers"].size(), 1U);
  const Json& context = pod["containers"][0]["securityContext"];
  EXPECT_FALSE(context.contains("privileged"));
  EXPECT_EQ(context["readOnlyRootFilesystem"], true);
  EXPECT_EQ(context["allowPrivilegeEscalation"], false);
  EXPECT_EQ(context["capabilities"], (Json{{"drop", {"ALL"}}}));
  const std::string user = pod["securityContext"]["runAsUser"].dump();
  EXPECT_THAT(textOf("deploy/Dockerfile"), HasSubstr("USER " + user + ":" + user));
}

// The image has nothing else: no shell, no `sleep`.
void expectTheProgramAlone(const Json& pod) {
  for (const Json& container : pod["containers"]) {
    for (const char* runs : {"command", "lifecycle"}) EXPECT_FALSE(container.contains(runs)) << runs;
    for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"})
      EXPECT_FALSE(container.contains(probe) && container[probe].contains("exec")) << probe;
  }
}

TEST(Deploy, RunsTheProgramAlone) {
  expectTheProgramAlone(documentsIn(textOf("deploy/deployment.yaml")).at(0)["spec"]["template"]["spec"]);
  expectTheProgramAlone(hookJob(defaultValues())["spec"]["template"]["spec"]);
}

TEST(Deploy, AnswersUntilApiServersAskAnotherReplica) {
  const Json pod = documentsIn(textOf("deploy/deployment.yaml")).at(0)["spec"]["template"]["spec"];
  EXPECT_THAT(pod["containers"][0]["args"], ::testing::Contains("--shutdown-delay=5s"));
  EXPECT_GT(pod["terminationGracePeriodSeconds"], 5 + 10) << "and 10 s for what is under way then";
}

TEST(Deploy, RunsConfined) {
  expectConfined(documentsIn(textOf("deploy/deployment.yaml")).at(0)["spec"]["template"]["spec"]);
  expectConfined(hookJob(defaultValues())["spec"]["template"]["spec"]);
  EXPECT_EQ(documentsIn(textOf("deploy/namespace.yaml"))
                .at(0)["metadata"]["labels"]["pod-security.kubernetes.io/enforce"],
            "restricted");
}

// Helm makes hooks by their weights, waits for the Job, and then removes all of them, in whatever order. What
// a failed one has left is replaced by the next.
TEST(Hook, HasItsRightsBeforeItRuns) {
  const std::vector<Json> hooks = hooksOf(rendered(kChart, defaultValues()));
  EXPECT_EQ(hooks.size(), 8U);
  for (const Json& hook : hooks) {
    const Json& annotations = hook["metadata"]["annotations"];
    EXPECT_EQ(annotations["helm.sh/hook"], "pre-delete") << nameOf(hook);
    EXPECT_EQ(annotations["helm.sh/hook-delete-policy"], "before-hook-creation,hook-succeeded");
    EXPECT_EQ(annotations["helm.sh/hook-weight"], hook["kind"] == "Job" ? "0" : "-5") << nameOf(hook);
  }
  const Json pod = hookJob(defaultValues())["spec"]["template"]["spec"];
  const auto named = byName(hooks);
  EXPECT_TRUE(named.contains("ServiceAccount/lastout/" + pod["serviceAccountName"].get<std::string>()));
  for (const Json& hook : hooks) {
    if (!hook.contains("subjects")) continue;
    EXPECT_EQ(
        hook["subjects"],
        (Json{{{"kind", "ServiceAccount"}, {"name", pod["serviceAccountName"]}, {"namespace", "lastout"}}}));
    const std::string space = hook["metadata"].value("namespace", "");
    EXPECT_TRUE(named.contains(hook["roleRef"]["kind"].get<std::string>() + "/" + space + "/" +
                               hook["roleRef"]["name"].get<std::string>()))
        << hook;
  }
}

TEST(Hook, IsTheSameProgramAsTheDeployment) {
  Json values = defaultValues();
  values["image"] = {{"repository", "my.registry/lastout"}, {"tag", "7"}};
  const Json container = hookJob(values)["spec"]["template"]["spec"]["containers"][0];
  const Json deployment = byName(rendered(kChart, values))["Deployment/lastout/lastout"];
  EXPECT_EQ(container["image"], "my.registry/lastout:7");
  EXPECT_EQ(container["image"], deployment["spec"]["template"]["spec"]["containers"][0]["image"]);
  auto arguments = container["args"].get<std::vector<std::string>>();
  arguments.insert(arguments.end(), {"--kubeconfig", "/nowhere/config"});
  EXPECT_THAT(testing::lastout(arguments).err, HasSubstr("/nowhere/config"))
      << "as far as this its arguments are understood";
}

// Whoever says helm uninstall has not said that a teardown may go on unguarded.
TEST(Hook, GivesNoTeardownUpUnasked) {
  const auto saysYes = [](const Json& values) {
    std::vector<std::string> said;
    const Json job = hookJob(values);
    for (const std::string argument : job["spec"]["template"]["spec"]["containers"][0]["args"]) {
      if (argument.starts_with("--yes")) said.push_back(argument);
    }
    return said;
  };
  Json values = defaultValues();
  EXPECT_EQ(saysYes(values), std::vector<std::string>{"--yes=false"});
  values["uninstall"]["dropsDeferredDeletions"] = true;
  EXPECT_EQ(saysYes(values), std::vector<std::string>{"--yes=true"});
}

// Each attempt has its timeout, 20 s for the Lease, and 20 s to start.
TEST(Hook, EndsAllItsAttemptsBeforeItsDeadline) {
  const Json job = hookJob(defaultValues())["spec"];
  const Json arguments = job["template"]["spec"]["containers"][0]["args"];
  EXPECT_THAT(arguments.get<std::vector<std::string>>(), Contains("--timeout=80s"));
  EXPECT_LE((job["backoffLimit"].get<int>() + 1) * (80 + 20 + 20), job["activeDeadlineSeconds"].get<int>());
}

// It waits for Pods with the Deployment's label to be gone, and the Service sends reviews to them.
TEST(Hook, IsTakenForNoReplica) {
  const Json labels = hookJob(defaultValues())["spec"]["template"]["metadata"]["labels"];
  const Json service = documentsIn(textOf("deploy/service.yaml")).at(0)["spec"]["selector"];
  const Json deployment =
      documentsIn(textOf("deploy/deployment.yaml")).at(0)["spec"]["selector"]["matchLabels"];
  for (const Json& selector : {service, deployment}) {
    for (const auto& [label, value] : selector.items()) EXPECT_NE(labels.value(label, ""), value);
  }
}

TEST(Hook, AsksForNoMoreThanItNames) {
  std::map<std::string, std::vector<std::string>> within;  // by namespace
  for (const Json& object : documentsIn(textOf(kHookRights))) {
    for (const Json& rule : object.value("rules", Json::array())) {
      EXPECT_THAT(rule.dump(), Not(HasSubstr("*")));
      std::ranges::copy(writesOf(rule),
                        std::back_inserter(within[object["metadata"].value("namespace", "")]));
    }
  }
  EXPECT_THAT(within[""], UnorderedElementsAre(
                              "delete validatingwebhookconfigurations.admissionregistration.k8s.io/lastout",
                              "patch criticalservices/status.lastout.dev",
                              "patch appliedmanifestworks.work.open-cluster-management.io",
                              "patch daemonsets.apps", "patch deployments.apps", "patch statefulsets.apps"));
  EXPECT_THAT(within["lastout"], UnorderedElementsAre("delete deployments.apps/lastout",
                                                      "delete leases.coordination.k8s.io/lastout",
                                                      "delete secrets/lastout-tls"));
  EXPECT_THAT(within["default"], UnorderedElementsAre("delete leases.coordination.k8s.io/lastout",
                                                      "delete leases.coordination.k8s.io/lastout-sentinel"));
  EXPECT_EQ(within.size(), 3U);
}

}  // namespace
}  // namespace lastout::deploy

// What deploy/ says: the chart and the kustomize base are one, every right has a reason, and the image has
// what the program needs.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "criticalservice/dependencies.h"
#include "kube/well_known.h"
#include "protection/profiles.h"
#include "tests/deploy/chart.h"
#include "tests/support/program.h"

namespace lastout::deploy {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;

constexpr const char* kChart = "deploy/helm/lastout";
constexpr const char* kComponents[] = {"applies-profiles", "carries-out-dependencies", "holds-policies",
                                       "holds-providers",  "keeps-admission-policies", "keeps-works",
                                       "labels-policies",  "replays-deletions"};
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

std::map<std::string, Json> kustomized(const std::string& folder) {
  const testing::Ran ran = testing::shell("kubectl kustomize " + folder);
  EXPECT_EQ(ran.exitCode, 0) << ran.out;
  return byName(documentsIn(ran.out));
}

void expectEqual(const std::map<std::string, Json>& base, const std::map<std::string, Json>& chart) {
  for (const auto& [name, object] : base) {
    ASSERT_TRUE(chart.contains(name)) << name;
    EXPECT_EQ(chart.at(name), object) << name;
  }
  EXPECT_EQ(chart.size(), base.size());
}

TEST(Chart, IsTheKustomizeBase) {
  const auto base = kustomized("deploy");
  EXPECT_EQ(base.size(), 54U);
  expectEqual(base, byName(withoutHooks(rendered(kChart, defaultValues()))));
}

// What the overlay makes that has deploy/, these components, separated by spaces, and these patches.
std::map<std::string, Json> overlay(const std::string& components, const std::string& patches) {
  std::string pattern = (fs::temp_directory_path() / "lastout-overlay-XXXXXX").string();
  const fs::path folder = mkdtemp(pattern.data());
  const std::string deploy = fs::relative("deploy", fs::canonical(folder)).string();
  std::string named;
  std::istringstream words(components);
  for (std::string one; words >> one;)
    named += (named.empty() ? "\"" : ", \"") + deploy + "/components/" + one + "\"";
  std::ofstream(folder / "kustomization.yaml") << R"({"resources": [")" << deploy << R"("], "components": [)"
                                               << named << R"(], "patches": [)" << patches << "]}";
  auto objects = kustomized(folder.string());
  fs::remove_all(folder);
  return objects;
}

// The patch that adds an argument to the Deployment; of an empty name, to both.
std::string addingArgument(const std::string& deployment, const std::string& argument) {
  return R"({"target": {"kind": "Deployment")" +
         (deployment.empty() ? "" : R"(, "name": ")" + deployment + "\"") +
         R"(}, "patch": "[{\"op\": \"add\", \"path\": \"/spec/template/spec/containers/0/args/-\", \"value\": \")" +
         argument + R"(\"}]"})";
}

// What docs/install.md says of an overlay, and of the values that do the same.
TEST(Chart, HasTheComponentsAsValues) {
  const auto without = [](const std::string& kind, const std::string& name) {
    return R"({"patch": "{$patch: delete, apiVersion: rbac.authorization.k8s.io/v1, kind: )" + kind +
           ", metadata: {name: " + name + R"(}}"})";
  };
  Json values = defaultValues();
  values["holdsProviders"] = true;
  expectEqual(overlay("holds-providers", ""), byName(withoutHooks(rendered(kChart, values))));
  values = defaultValues();
  values["holdsPolicies"] = true;
  expectEqual(overlay("holds-policies", ""), byName(withoutHooks(rendered(kChart, values))));
  values = defaultValues();
  values["keepsAdmissionPolicies"] = true;
  expectEqual(overlay("keeps-admission-policies", ""), byName(withoutHooks(rendered(kChart, values))));
  values = defaultValues();
  values["policyCluster"] = true;
  expectEqual(overlay("policy-cluster", ""), byName(withoutHooks(rendered(kChart, values))));
  values = defaultValues();
  values["labelsPolicies"] = true;
  expectEqual(overlay("labels-policies", ""), byName(withoutHooks(rendered(kChart, values))));
  values = defaultValues();
  values["replaysDeletions"] = "configmaps,buckets.example.com";
  expectEqual(
      overlay("replays-deletions", addingArgument("", "--replay-deletions=configmaps,buckets.example.com")),
      byName(withoutHooks(rendered(kChart, values))));
  values = defaultValues();
  values["profiles"] = {"karmada", "dbops"};
  expectEqual(overlay("applies-profiles", addingArgument("lastout-controller", "--profile=karmada") + "," +
                                              addingArgument("lastout-controller", "--profile=dbops")),
              byName(withoutHooks(rendered(kChart, values))));
  values = defaultValues();
  values["protectsItself"] = true;
  expectEqual(overlay("protects-itself", ""), byName(withoutHooks(rendered(kChart, values))));
  values = defaultValues();
  values["keepsWorks"] = false;
  values["carriesOutDependencies"] = false;
  expectEqual(overlay("", without("ClusterRole", "lastout-keeps-works") + "," +
                              without("ClusterRoleBinding", "lastout-keeps-works") + "," +
                              without("ClusterRole", "lastout-carries-out-dependencies")),
              byName(withoutHooks(rendered(kChart, values))));
}

// Whatever else is asked for. What `helm uninstall` makes for itself has no label that would be in its way.
TEST(Chart, LabelsEveryObjectThatItHas) {
  const auto labelOf = [](const Json& object) {
    return object["metadata"].value("labels", Json::object()).value("orkestra.io/deletion-protection", "");
  };
  Json values = defaultValues();
  for (const std::string& leaf : leavesOf(values)) {
    Json& value = values[Json::json_pointer(leaf)];
    if (value.is_boolean()) value = true;
  }
  values["profiles"] = {"orkestra"};
  values["replaysDeletions"] = "configmaps";
  const auto chart = rendered(kChart, values);
  for (const Json& object : withoutHooks(chart)) EXPECT_EQ(labelOf(object), "true") << nameOf(object);
  for (const Json& object : hooksOf(chart)) EXPECT_EQ(labelOf(object), "") << nameOf(object);
  for (const auto& [name, object] : overlay("holds-policies labels-policies protects-itself", ""))
    EXPECT_EQ(labelOf(object), "true") << name;
  for (const auto& [name, object] : kustomized("deploy")) {
    EXPECT_EQ(labelOf(object), "") << name;
    EXPECT_THAT(object.dump(), Not(HasSubstr("--own-labels"))) << name;
  }
}

// For Kubernetes before 1.30.
TEST(Chart, AndTheKustomizeBaseCanDoWithoutPolicies) {
  Json values = defaultValues();
  values["validatingAdmissionPolicies"] = false;
  const auto chart = byName(withoutHooks(rendered(kChart, values)));
  const testing::Ran ran = testing::shell(
      "folder=$(mktemp -d -p .) && trap 'rm -r \"$folder\"' EXIT && echo '{\"resources\": [\"../deploy\"], "
      "\"components\": [\"../deploy/components/without-admission-policies\"]}' > "
      "\"$folder/kustomization.yaml\" && "
      "kubectl kustomize \"$folder\"");
  ASSERT_EQ(ran.exitCode, 0) << ran.out;
  EXPECT_EQ(byName(documentsIn(ran.out)), chart);
  EXPECT_EQ(chart.size(), 38U);
  for (const auto& [name, object] : chart) EXPECT_THAT(name, Not(HasSubstr("AdmissionPolic")));
}

TEST(Chart, UsesEveryValue) {
  const Json values = defaultValues();
  const auto before = rendered(kChart, values);
  for (const std::string& leaf : leavesOf(values)) {
    Json other = values;
    Json& value = other[Json::json_pointer(leaf)];
    value = value.is_number()    ? Json(value.get<int>() + 7)
            : value.is_boolean() ? Json(!value.get<bool>())
            : value.is_array()   ? Json::array({"karmada"})
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
  std::vector<std::string> files{"deploy/rbac.yaml", kHookRights};
  for (const std::string component : kComponents)
    files.push_back("deploy/components/" + component + "/rbac.yaml");
  for (const std::string& file : files) {
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

// All roles and bindings, those of the components among them.
std::vector<Json> allRights() {
  std::vector<Json> objects = documentsIn(textOf("deploy/rbac.yaml"));
  for (const std::string component : kComponents) {
    for (Json& object : documentsIn(textOf("deploy/components/" + component + "/rbac.yaml")))
      objects.push_back(std::move(object));
  }
  return objects;
}

// The rules of a role, an aggregated one's being those of the ClusterRoles that it selects.
std::vector<Json> rulesOf(const Json& role, const std::map<std::string, Json>& objects) {
  const Json own = role.value("rules", Json::array());
  std::vector<Json> rules(own.begin(), own.end());
  if (!role.contains("aggregationRule")) return rules;
  const Json label = role["aggregationRule"]["clusterRoleSelectors"][0]["matchLabels"];
  for (const auto& [name, other] : objects) {
    const Json labels = other["metadata"].value("labels", Json::object());
    if (!labels.contains(label.begin().key())) continue;
    for (const Json& rule : other["rules"]) rules.push_back(rule);
  }
  return rules;
}

using WritesByNamespace = std::map<std::string, std::vector<std::string>>;

// What these roles and bindings let the account write, by the namespace; "": anywhere.
WritesByNamespace writesOfAccount(const std::string& account, const std::map<std::string, Json>& objects) {
  WritesByNamespace writes;
  for (const auto& [name, binding] : objects) {
    if (!binding.contains("subjects")) continue;
    const auto& subjects = binding["subjects"];
    const bool isBound =
        std::ranges::any_of(subjects, [&](const Json& subject) { return subject["name"] == account; });
    if (!isBound) continue;
    const std::string space = binding["metadata"].value("namespace", "");
    const Json& role = objects.at(binding["roleRef"]["kind"].get<std::string>() + "/" + space + "/" +
                                  binding["roleRef"]["name"].get<std::string>());
    for (const Json& rule : rulesOf(role, objects))
      std::ranges::copy(writesOf(rule), std::back_inserter(writes[space]));
  }
  return writes;
}

TEST(Deploy, NamesNoWildcard) {
  for (const Json& object : allRights()) {
    for (const Json& rule : object.value("rules", Json::array()))
      EXPECT_THAT(rule.dump(), Not(HasSubstr("*")));
  }
}

// docs/security.md: writing is for those to whom a cluster administrator gives it.
TEST(Deploy, LetsKubernetesOwnRolesReadItsTypesAndWriteNothing) {
  const std::string prefix = "rbac.authorization.k8s.io/aggregate-to-";
  std::map<std::string, std::vector<std::string>> reads;  // by the role that gets them
  for (const Json& object : allRights()) {
    const Json labels = object["metadata"].value("labels", Json::object());
    for (const auto& [label, value] : labels.items()) {
      if (!label.starts_with(prefix)) continue;
      for (const Json& rule : object["rules"]) {
        EXPECT_THAT(writesOf(rule), ::testing::IsEmpty()) << object["metadata"]["name"];
        EXPECT_EQ(rule["apiGroups"], Json{"lastout.dev"});
        for (const std::string resource : rule["resources"])
          reads[label.substr(prefix.size())].push_back(resource);
      }
    }
  }
  for (const char* role : {"view", "edit", "admin"})
    EXPECT_THAT(reads[role], UnorderedElementsAre("criticalservices", "deletionpolicies")) << role;
}

// docs/security.md: whoever has its token can change, create or delete nothing else.
TEST(Deploy, GivesTheWebhookStatusEventsAndQuestions) {
  WritesByNamespace writes = writesOfAccount("lastout-webhook", byName(allRights()));
  EXPECT_THAT(writes[""], UnorderedElementsAre("patch criticalservices/status.lastout.dev",
                                               "create tokenreviews.authentication.k8s.io",
                                               "create subjectaccessreviews.authorization.k8s.io"));
  EXPECT_THAT(writes["default"], UnorderedElementsAre("create events"));
  EXPECT_THAT(writes["lastout"], ::testing::IsEmpty());
  EXPECT_EQ(writes.size(), 3U);
}

// What keeps the policies of all profiles.
std::vector<std::string> writesOnPolicies() {
  std::vector<std::string> writes{"create deletionpolicies.lastout.dev"};
  for (const protection::Profile& profile : protection::profiles()) {
    const auto policies = protection::parseProfile(profile.name);
    if (!policies) {
      ADD_FAILURE() << profile.name;
      continue;
    }
    for (const protection::DeletionPolicy& policy : *policies)
      writes.push_back("patch deletionpolicies.lastout.dev/" + policy.meta.name);
  }
  return writes;
}

// Whatever the controller may write without a component that is to be asked for stands here: nothing of
// workloads, and no ValidatingAdmissionPolicy, such as those that hold it to this.
TEST(Deploy, GivesTheControllerNoMoreThanItNames) {
  WritesByNamespace writes = writesOfAccount("lastout-controller", kustomized("deploy"));
  EXPECT_THAT(writes[""],
              UnorderedElementsAre(
                  "patch criticalservices/status.lastout.dev", "create tokenreviews.authentication.k8s.io",
                  "create subjectaccessreviews.authorization.k8s.io",
                  "patch validatingwebhookconfigurations.admissionregistration.k8s.io/lastout",
                  "delete validatingwebhookconfigurations.admissionregistration.k8s.io/lastout",
                  "create validatingwebhookconfigurations.admissionregistration.k8s.io",
                  "patch deletionpolicies/status.lastout.dev",
                  "patch appliedmanifestworks.work.open-cluster-management.io", "delete daemonsets.apps",
                  "delete deployments.apps", "delete replicasets.apps", "delete statefulsets.apps",
                  "delete cronjobs.batch", "delete jobs.batch", "delete namespaces",
                  "delete replicationcontrollers", "delete criticalservices.lastout.dev", "delete configmaps",
                  "delete persistentvolumeclaims", "delete secrets", "delete serviceaccounts",
                  "delete services", "delete clusterrolebindings.rbac.authorization.k8s.io",
                  "delete clusterroles.rbac.authorization.k8s.io",
                  "delete rolebindings.rbac.authorization.k8s.io", "delete roles.rbac.authorization.k8s.io"));
  EXPECT_THAT(writes["lastout"], UnorderedElementsAre("patch leases.coordination.k8s.io/lastout",
                                                      "create leases.coordination.k8s.io",
                                                      "patch secrets/lastout-tls", "create secrets"));
  EXPECT_THAT(writes["default"], UnorderedElementsAre("patch leases.coordination.k8s.io/lastout-sentinel",
                                                      "delete leases.coordination.k8s.io/lastout-sentinel",
                                                      "create leases.coordination.k8s.io", "create events"));
  EXPECT_EQ(writes.size(), 3U);
}

// What a component that is not part of deploy/ lets the controller write besides.
TEST(Deploy, GivesTheControllerNoMoreByAComponentThanThatNames) {
  const auto writesBy = [](const std::string& component) {
    WritesByNamespace writes = writesOfAccount(
        "lastout-controller", byName(documentsIn(textOf("deploy/components/" + component + "/rbac.yaml"))));
    EXPECT_EQ(writes.size(), 1U) << component;
    return writes[""];
  };
  EXPECT_THAT(
      writesBy("holds-providers"),
      UnorderedElementsAre("patch daemonsets.apps", "patch deployments.apps", "patch statefulsets.apps"));
  EXPECT_THAT(writesBy("keeps-admission-policies"),
              UnorderedElementsAre("create validatingadmissionpolicies.admissionregistration.k8s.io",
                                   "update validatingadmissionpolicies.admissionregistration.k8s.io",
                                   "delete validatingadmissionpolicies.admissionregistration.k8s.io",
                                   "create validatingadmissionpolicybindings.admissionregistration.k8s.io",
                                   "update validatingadmissionpolicybindings.admissionregistration.k8s.io",
                                   "delete validatingadmissionpolicybindings.admissionregistration.k8s.io"));
  EXPECT_THAT(writesBy("applies-profiles"), UnorderedElementsAreArray(writesOnPolicies()));
  for (const char* component : {"holds-policies", "labels-policies", "replays-deletions"})
    EXPECT_THAT(writesBy(component), UnorderedElementsAre("create events"));
}

// The default options go with the default rights; the component has others for both.
TEST(Deploy, RunsPoliciesWhereItsRightsReach) {
  const auto expectPolicies = [](const std::map<std::string, Json>& objects, const std::string& place) {
    for (const std::string role : {"webhook", "controller"}) {
      const Json pod = objects.at("Deployment/lastout/lastout-" + role)["spec"]["template"]["spec"];
      EXPECT_THAT(pod["containers"][0]["args"].get<std::vector<std::string>>(),
                  Contains("--policies=" + place))
          << role;
    }
  };
  expectPolicies(kustomized("deploy"), "webhook");
  Json values = defaultValues();
  values["keepsAdmissionPolicies"] = true;
  expectPolicies(byName(withoutHooks(rendered(kChart, values))), "apiserver");
}

// A component that is not part of deploy/, and gives no right on other objects but these: users give them in
// ClusterRoles of their own.
void expectNothingUntilAsked(const std::string& component, const std::string& option,
                             const std::vector<std::string>& given = {"create events"}) {
  for (const auto& [name, object] : kustomized("deploy")) {
    EXPECT_THAT(name, Not(HasSubstr(component)));
    EXPECT_THAT(object.dump(), Not(HasSubstr(option))) << name;
  }
  const auto rights = byName(documentsIn(textOf("deploy/components/" + component + "/rbac.yaml")));
  std::vector<std::string> writes;
  for (const Json& rule : rulesOf(rights.at("ClusterRole//lastout-" + component), rights))
    std::ranges::copy(writesOf(rule), std::back_inserter(writes));
  EXPECT_THAT(writes, UnorderedElementsAreArray(given));
}

TEST(Deploy, LabelsNothingUntilItIsAskedTo) {
  expectNothingUntilAsked("labels-policies", "--label-policies");
}

TEST(Deploy, ReplaysNoDeletionUntilItIsAskedTo) {
  expectNothingUntilAsked("replays-deletions", "--replay-deletions=");
}

TEST(Deploy, AppliesNoProfileUntilItIsAskedTo) {
  expectNothingUntilAsked("applies-profiles", "--profile=", writesOnPolicies());
}

TEST(Deploy, HoldsNothingUntilItIsAskedTo) {
  expectNothingUntilAsked("holds-policies", "--hold-policies");
  for (const auto& [name, object] : kustomized("deploy")) {
    for (const Json& rule : object.value("rules", Json::array())) {
      for (const std::string& write : writesOf(rule)) {
        EXPECT_THAT(write, Not(::testing::MatchesRegex("(patch|update) .*\\.apps"))) << name;
      }
    }
  }
}

// Each role of lastout's own is given to its accounts, and no other role is given to anybody.
TEST(Deploy, BindsItsRolesToItsServiceAccounts) {
  std::vector<std::string> accounts;
  for (const Json& account : documentsIn(textOf("deploy/service-account.yaml"))) {
    EXPECT_EQ(account["metadata"]["namespace"], "lastout");
    accounts.push_back(account["metadata"]["name"]);
  }
  EXPECT_THAT(accounts, UnorderedElementsAre("lastout-webhook", "lastout-controller"));
  std::vector<std::string> bound;
  for (const Json& object : allRights()) {
    const std::string kind = object["kind"];
    if (!kind.ends_with("RoleBinding")) continue;
    EXPECT_EQ(object["roleRef"]["apiGroup"], "rbac.authorization.k8s.io");
    EXPECT_EQ(kind, object["roleRef"]["kind"].get<std::string>() + "Binding");
    std::string line = object["roleRef"]["name"];
    if (object["metadata"].contains("namespace"))
      line += " in " + object["metadata"]["namespace"].get<std::string>();
    for (const Json& subject : object["subjects"]) {
      EXPECT_EQ(subject["kind"], "ServiceAccount");
      EXPECT_EQ(subject["namespace"], "lastout");
      line += (subject == object["subjects"][0] ? ": " : ", ") + subject["name"].get<std::string>();
    }
    bound.push_back(line);
  }
  EXPECT_THAT(
      bound,
      UnorderedElementsAre(
          "lastout-webhook: lastout-webhook, lastout-controller", "lastout-controller: lastout-controller",
          "lastout-reads: lastout-webhook, lastout-controller",
          "lastout-finds-dependencies: lastout-webhook, lastout-controller",
          "lastout-carries-out: lastout-controller", "lastout-applies-profiles: lastout-controller",
          "lastout-keeps-works: lastout-controller", "lastout-keeps-admission-policies: lastout-controller",
          "lastout-holds-policies: lastout-controller", "lastout-holds-providers: lastout-controller",
          "lastout-labels-policies: lastout-controller", "lastout-replays-deletions: lastout-controller",
          "lastout-webhook in lastout: lastout-webhook", "lastout-controller in lastout: lastout-controller",
          "lastout-webhook in default: lastout-webhook, lastout-controller",
          "lastout-controller in default: lastout-controller"));
  for (const std::string role : {"webhook", "controller"}) {
    const Json pod = documentsIn(textOf("deploy/" + role + ".yaml")).at(0)["spec"]["template"]["spec"];
    EXPECT_EQ(pod["serviceAccountName"], "lastout-" + role);
  }
}

// API servers and people reach the ports that there are; reviews reach those Pods alone that listen for them.
TEST(Deploy, LetsNobodyReachOtherPorts) {
  const auto ports = [](const Json& pod) {
    std::vector<std::string> names;
    for (const Json& port : pod["containers"][0]["ports"]) names.push_back(port["name"]);
    return names;
  };
  std::map<std::string, std::vector<std::string>> open;  // by the component
  for (const Json& policy : documentsIn(textOf("deploy/network-policy.yaml"))) {
    const Json& spec = policy["spec"];
    EXPECT_EQ(spec["policyTypes"], (Json{"Ingress", "Egress"}));
    EXPECT_EQ(spec["ingress"].size(), 1U);
    for (const Json& rule : spec["egress"]) EXPECT_FALSE(rule["ports"].empty());
    const std::string component = spec["podSelector"]["matchLabels"]["app.kubernetes.io/component"];
    for (const Json& port : spec["ingress"][0]["ports"]) open[component].push_back(port["port"]);
  }
  for (const std::string role : {"webhook", "controller"}) {
    const Json deployment = documentsIn(textOf("deploy/" + role + ".yaml")).at(0)["spec"];
    EXPECT_EQ(deployment["template"]["metadata"]["labels"]["app.kubernetes.io/component"], role);
    EXPECT_EQ(open.at(role), ports(deployment["template"]["spec"]));
  }
  EXPECT_EQ(open.at("webhook"), (std::vector<std::string>{"review", "answers"}));
  EXPECT_EQ(open.at("controller"), std::vector<std::string>{"answers"});
  EXPECT_EQ(documentsIn(textOf("deploy/service.yaml")).at(0)["spec"]["ports"][0]["targetPort"], "review");
}

// "get secrets": what a ClusterRole allows.
std::vector<std::string> rightsOf(const std::string& role) {
  std::vector<std::string> rights;
  const Json found = byName(allRights()).at("ClusterRole//" + role);
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
  std::vector<std::string> runsDeferredDeletions{"get secrets", "delete secrets", "get configmaps",
                                                 "delete configmaps"};
  for (const kube::GroupResource& type : types) {
    for (const char* verb : {"get ", "list ", "watch "}) reads.push_back(verb + toString(type));
    if (type.resource == "apiservices") continue;  // they go before the provider
    for (const char* verb : {"get ", "delete "}) runsDeferredDeletions.push_back(verb + toString(type));
  }
  for (const char* verb : {"get ", "list ", "watch "})
    reads.push_back(verb + toString(kube::kControllerRevisions));
  EXPECT_THAT(rightsOf("lastout-finds-dependencies"), UnorderedElementsAreArray(reads));
  for (const std::string verb : {"get ", "list ", "watch "})
    EXPECT_THAT(rightsOf("lastout-providers"), Contains(verb + "replicasets.apps"));
  for (const std::string verb : {"get ", "list ", "watch "})
    EXPECT_THAT(rightsOf("lastout-webhook"), Contains(verb + toString(kube::kCustomResourceDefinitions)))
        << "who converts what";
  EXPECT_THAT(rightsOf("lastout-carries-out-dependencies"), UnorderedElementsAreArray(runsDeferredDeletions));
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
  for (const std::string role : {"webhook", "controller"}) {
    const Json pod = documentsIn(textOf("deploy/" + role + ".yaml")).at(0)["spec"]["template"]["spec"];
    auto arguments = pod["containers"][0]["args"].get<std::vector<std::string>>();
    EXPECT_THAT(arguments, Contains("--roles=" + role));
    arguments.insert(arguments.end(), {"--kubeconfig", "/nowhere/config"});
    const testing::Ran ran = testing::lastout(arguments);
    EXPECT_THAT(ran.err, HasSubstr("/nowhere/config")) << "as far as this its arguments are understood";
  }
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
  for (const char* file : {"deploy/webhook.yaml", "deploy/controller.yaml"})
    expectTheProgramAlone(documentsIn(textOf(file)).at(0)["spec"]["template"]["spec"]);
  expectTheProgramAlone(hookJob(defaultValues())["spec"]["template"]["spec"]);
}

TEST(Deploy, AnswersUntilApiServersAskAnotherReplica) {
  const Json pod = documentsIn(textOf("deploy/webhook.yaml")).at(0)["spec"]["template"]["spec"];
  EXPECT_THAT(pod["containers"][0]["args"], ::testing::Contains("--shutdown-delay=5s"));
  EXPECT_GT(pod["terminationGracePeriodSeconds"], 5 + 10) << "and 10 s for what is under way then";
}

TEST(Deploy, RunsConfined) {
  for (const char* file : {"deploy/webhook.yaml", "deploy/controller.yaml"})
    expectConfined(documentsIn(textOf(file)).at(0)["spec"]["template"]["spec"]);
  expectConfined(hookJob(defaultValues())["spec"]["template"]["spec"]);
  EXPECT_EQ(documentsIn(textOf("deploy/namespace.yaml"))
                .at(0)["metadata"]["labels"]["pod-security.kubernetes.io/enforce"],
            "restricted");
}

// Helm makes hooks by their weights, waits for the Job, and then removes all of them, in whatever order. What
// a failed one has left is replaced by the next.
TEST(Hook, HasItsRightsBeforeItRuns) {
  const std::vector<Json> hooks = hooksOf(rendered(kChart, defaultValues()));
  EXPECT_EQ(hooks.size(), 10U);
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

TEST(Hook, IsTheSameProgramAsTheDeployments) {
  Json values = defaultValues();
  values["image"] = {{"repository", "my.registry/lastout"}, {"tag", "7"}};
  const Json container = hookJob(values)["spec"]["template"]["spec"]["containers"][0];
  EXPECT_EQ(container["image"], "my.registry/lastout:7");
  for (const std::string role : {"webhook", "controller"}) {
    const Json deployment = byName(rendered(kChart, values))["Deployment/lastout/lastout-" + role];
    EXPECT_EQ(container["image"], deployment["spec"]["template"]["spec"]["containers"][0]["image"]);
  }
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

// It waits for Pods with the Deployments' label to be gone, and the Service sends reviews to them.
TEST(Hook, IsTakenForNoReplica) {
  const Json labels = hookJob(defaultValues())["spec"]["template"]["metadata"]["labels"];
  const Json service = documentsIn(textOf("deploy/service.yaml")).at(0)["spec"]["selector"];
  const Json deployment = documentsIn(textOf("deploy/webhook.yaml")).at(0)["spec"]["selector"]["matchLabels"];
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
                              "delete validatingadmissionpolicies.admissionregistration.k8s.io",
                              "delete validatingadmissionpolicybindings.admissionregistration.k8s.io",
                              "patch criticalservices/status.lastout.dev",
                              "patch appliedmanifestworks.work.open-cluster-management.io",
                              "patch daemonsets.apps", "patch deployments.apps", "patch statefulsets.apps"));
  EXPECT_THAT(
      within["lastout"],
      UnorderedElementsAre("delete deployments.apps/lastout", "delete deployments.apps/lastout-controller",
                           "delete deployments.apps/lastout-webhook",
                           "delete leases.coordination.k8s.io/lastout", "delete secrets/lastout-tls"));
  EXPECT_THAT(within["default"], UnorderedElementsAre("delete leases.coordination.k8s.io/lastout",
                                                      "delete leases.coordination.k8s.io/lastout-sentinel"));
  EXPECT_EQ(within.size(), 3U);
}

}  // namespace
}  // namespace lastout::deploy

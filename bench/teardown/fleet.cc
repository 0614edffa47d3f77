#include "bench/teardown/fleet.h"

#include <algorithm>
#include <map>
#include <random>

#include "kube/well_known.h"

namespace lastout::bench {
namespace {

using kube::ObjectKey;

constexpr int kShortest = 4;  // a controller takes so many seconds
constexpr int kLongest = 20;
constexpr int kChain = 3;  // so many providers go one after the other
constexpr int kInstanceWorks = 5;
constexpr int kTenants = 2;  // of these works have a namespace of their own
constexpr const char* kSharedNamespace = "tenants";

const kube::GroupResource kDeployments{"apps", "deployments"};

std::string groupOf(const Operator& one) { return one.name + ".example.com"; }
std::string finalizerOf(const Operator& one) { return groupOf(one) + "/cleanup"; }

Json manifest(const std::string& apiVersion, const std::string& kind, const std::string& namespaceName,
              const std::string& name) {
  Json object = {{"apiVersion", apiVersion},
                 {"kind", kind},
                 {"metadata", {{"name", name}, {"labels", {{kFleetLabel, "teardown"}}}}}};
  if (!namespaceName.empty()) object["metadata"]["namespace"] = namespaceName;
  return object;
}

// It is no work's, and stays.
Json sharedNamespace() {
  return {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", kSharedNamespace}}}};
}

void add(FleetWork& work, const kube::GroupResource& type, Json object) {
  work.applied.push_back({type, object["metadata"].value("namespace", ""), object["metadata"]["name"]});
  work.manifests.push_back(std::move(object));
}

void addNamespace(FleetWork& work, const std::string& name) {
  add(work, {"", "namespaces"}, manifest("v1", "Namespace", "", name));
}

void addClaim(FleetWork& work, const Operator& one) {
  Json claim = manifest("v1", "PersistentVolumeClaim", one.name, "data");
  claim["spec"] = {{"accessModes", {"ReadWriteOnce"}}, {"resources", {{"requests", {{"storage", "1Gi"}}}}}};
  add(work, {"", "persistentvolumeclaims"}, std::move(claim));
}

Json deployment(const Operator& one) {
  Json object = manifest("apps/v1", "Deployment", one.name, one.name);
  const Json labels = {{"app", one.name}};
  const Json settings = {{"configMapRef", {{"name", "settings"}}}};
  const Json container = {
      {"name", "controller"}, {"image", "example.com/operator:1"}, {"envFrom", {settings}}};
  const Json volumes = Json::array({{{"name", "data"}, {"persistentVolumeClaim", {{"claimName", "data"}}}},
                                    {{"name", "credentials"}, {"secret", {{"secretName", "credentials"}}}}});
  const Json pod = {{"serviceAccountName", "controller"}, {"containers", {container}}, {"volumes", volumes}};
  object["spec"] = {{"replicas", 1},
                    {"selector", {{"matchLabels", labels}}},
                    {"template", {{"metadata", {{"labels", labels}}}, {"spec", pod}}}};
  return object;
}

Json criticalService(const Operator& one, const FleetOptions& options) {
  const auto provider = [](const std::string& name) -> Json {
    return {{"group", "apps"}, {"resource", "deployments"}, {"namespace", name}, {"name", name}};
  };
  const Json carriers = {
      {"group", groupOf(one)}, {"resource", "widgets"}, {"finalizerName", finalizerOf(one)}};
  const Json crd = {{"group", "apiextensions.k8s.io"},
                    {"resource", "customresourcedefinitions"},
                    {"name", "widgets." + groupOf(one)}};
  Json criteria = Json::array({{{"type", "Finalizer"}, {"finalizer", carriers}},
                               {{"type", "SpecificResource"}, {"specificResource", crd}}});
  if (!one.goesAfter.empty())
    criteria.push_back({{"type", "SpecificResource"}, {"specificResource", provider(one.goesAfter)}});
  Json object = manifest("lastout.dev/v1alpha1", "CriticalService", "", one.name);
  object["spec"] = {{"provider", provider(one.name)}, {"criteria", criteria}};
  if (!options.deferral.empty()) object["spec"]["deferredDeletions"] = options.deferral;
  if (!options.dependencies.empty()) object["spec"]["guard"]["dependencies"] = options.dependencies;
  return object;
}

FleetWork definitionWork(const Operator& one) {
  Json crd = manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets." + groupOf(one));
  crd["spec"] = {{"group", groupOf(one)},
                 {"scope", "Namespaced"},
                 {"names", {{"kind", "Widget"}, {"plural", "widgets"}}},
                 {"versions", Json::array({{{"name", "v1"},
                                            {"served", true},
                                            {"storage", true},
                                            {"schema", {{"openAPIV3Schema", {{"type", "object"}}}}}}})}};
  FleetWork work{one.name + "-crd", {}, {}};
  add(work, kube::kCustomResourceDefinitions, std::move(crd));
  return work;
}

FleetWork providerWork(const Operator& one, const FleetOptions& options) {
  FleetWork work{one.name + "-provider", {}, {}};
  addNamespace(work, one.name);
  if (one.hasClaim) addClaim(work, one);
  add(work, kDeployments, deployment(one));
  add(work, {"lastout.dev", "criticalservices"}, criticalService(one, options));
  return work;
}

FleetWork accessWork(const Operator& one) {
  const std::string group = "rbac.authorization.k8s.io";
  Json role = manifest(group + "/v1", "ClusterRole", "", one.name);
  role["rules"] = Json::array({{{"apiGroups", {groupOf(one)}}, {"resources", {"*"}}, {"verbs", {"*"}}}});
  Json binding = manifest(group + "/v1", "ClusterRoleBinding", "", one.name);
  binding["roleRef"] = {{"apiGroup", group}, {"kind", "ClusterRole"}, {"name", one.name}};
  binding["subjects"] =
      Json::array({{{"kind", "ServiceAccount"}, {"namespace", one.name}, {"name", "controller"}}});
  FleetWork work{one.name + "-access", {}, {}};
  add(work, {"", "serviceaccounts"}, manifest("v1", "ServiceAccount", one.name, "controller"));
  add(work, {group, "clusterroles"}, std::move(role));
  add(work, {group, "clusterrolebindings"}, std::move(binding));
  return work;
}

FleetWork instanceWork(const Operator& one, int number) {
  const std::string name = one.name + "-instances-" + std::to_string(number);
  const bool ofItsOwn = number < kTenants;
  FleetWork work{name, {}, {}};
  if (ofItsOwn) addNamespace(work, name);
  for (int i = ofItsOwn ? 1 : 0; i < 2; ++i) {
    Json widget = manifest(groupOf(one) + "/v1", "Widget", ofItsOwn ? name : kSharedNamespace,
                           name + "-" + std::to_string(i));
    widget["metadata"]["finalizers"] = {finalizerOf(one)};
    add(work, {groupOf(one), "widgets"}, std::move(widget));
  }
  return work;
}

Operator makeOperator(int number, int takes, const FleetOptions& options) {
  const auto nameOf = [](int of) { return "operator-" + std::to_string(of); };
  Operator one;
  one.name = nameOf(number);
  one.takes = std::chrono::seconds(takes);
  one.hasClaim = number % 2 == 0;
  if (number % kChain != 0) one.goesAfter = nameOf(number - 1);
  one.provider = {kDeployments, one.name, one.name};
  one.works = {definitionWork(one), providerWork(one, options), accessWork(one)};
  FleetWork secret{one.name + "-secret", {}, {}};
  add(secret, {"", "secrets"}, manifest("v1", "Secret", one.name, "credentials"));
  FleetWork storage{one.name + "-storage", {}, {}};
  add(storage, {"", "configmaps"}, manifest("v1", "ConfigMap", one.name, "settings"));
  if (!one.hasClaim) addClaim(storage, one);
  one.works.push_back(std::move(secret));
  one.works.push_back(std::move(storage));
  for (int i = 0; i < kInstanceWorks; ++i) one.works.push_back(instanceWork(one, i));
  for (const FleetWork& work : one.works) {
    for (const ObjectKey& object : work.applied) {
      if (object.type == kube::kCustomResourceDefinitions || object.type.group == groupOf(one))
        one.awaited.push_back(object);
    }
  }
  if (!one.goesAfter.empty()) one.awaited.push_back({kDeployments, one.goesAfter, one.goesAfter});
  return one;
}

}  // namespace

Fleet makeFleet(const FleetOptions& options) {
  std::mt19937 random(options.seed);
  Fleet fleet;
  for (int i = 0; i < options.operators; ++i) {
    const int takes = kShortest + static_cast<int>(random() % (kLongest - kShortest + 1));
    fleet.operators.push_back(makeOperator(i, takes, options));
  }
  return fleet;
}

std::string fileOf(const Fleet& fleet) {
  Json controllers = Json::array();
  // CRDs by themselves, too: the agent of `lastout up` applies nothing of a type that is not there yet.
  std::string works = "---\n" + sharedNamespace().dump() + "\n";
  for (const Operator& one : fleet.operators) {
    const std::string provider = "deployments.apps/" + one.name + "/" + one.name;
    controllers.push_back(
        {{"name", one.name},
         {"runsIn", provider},
         {"removes", {{"finalizer", finalizerOf(one)}, {"from", "widgets." + groupOf(one)}}},
         {"takes", std::to_string(one.takes.count()) + "ms"}});
    works += "---\n" + one.works.front().manifests.front().dump() + "\n";
    for (const FleetWork& work : one.works) {
      Json object =
          manifest("work.open-cluster-management.io/v1", "ManifestWork", kWorksNamespace, work.name);
      object["spec"] = {{"workload", {{"manifests", work.manifests}}}};
      works += "---\n" + object.dump() + "\n";
    }
  }
  const Json scenario = {{"apiVersion", "lastout.dev/v1alpha1"},
                         {"kind", "Scenario"},
                         {"metadata", {{"name", "teardown"}}},
                         {"spec", {{"controllers", controllers}}}};
  return scenario.dump() + "\n" + works;
}

// The agent deletes what a work applied one after the other. A CRD is polled, and a Namespace waits twice:
// for its content to be deleted, and to be gone.
Milliseconds longestPath(const Fleet& fleet, const cluster::Timing& timing) {
  std::map<std::string, Milliseconds> providerGone;
  Milliseconds longest{0};
  for (const Operator& one : fleet.operators) {
    Milliseconds awaitedGone{0};
    for (const FleetWork& work : one.works) {
      if (work.applied.back().type.resource != "widgets") continue;
      const auto calls = static_cast<int64_t>(work.applied.size());
      awaitedGone = std::max(awaitedGone, timing.agentReact + calls * timing.agentCall + one.takes);
    }
    Milliseconds& gone = providerGone[one.name];
    gone = awaitedGone + timing.crdPoll;
    if (!one.goesAfter.empty()) gone = std::max(gone, providerGone.at(one.goesAfter));
    longest = std::max(longest, gone + 2 * timing.namespaceStart);
  }
  return longest;
}

}  // namespace lastout::bench

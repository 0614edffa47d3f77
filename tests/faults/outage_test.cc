// What an outage of lastout costs: the table in docs/operations.md, request by request, at an API server that
// nobody answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kube/parse.h"
#include "tests/faults/fault_world.h"
#include "tests/support/shipped_policies.h"

namespace lastout::testing {
namespace {

using simulator::Json;

constexpr const char* kOutageHeading = "## While no replica answers";
constexpr const char* kDeletionPolicies = "/apis/lastout.dev/v1alpha1/deletionpolicies";
constexpr const char* kInShop = "/api/v1/namespaces/shop/configmaps";
constexpr const char* kOutageServices = "/apis/lastout.dev/v1alpha1/criticalservices";
constexpr const char* kDefinitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kPolicies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
constexpr const char* kPolicyBindings =
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
constexpr const char* kRoles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
constexpr const char* kBindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";

// A request, as the documentation names it.
struct OutageRequest {
  std::string words;
  std::string method;
  std::string path;
  Json body = nullptr;
};

std::vector<std::pair<std::string, std::string>> tableInDocumentation() {
  std::ifstream page("docs/operations.md");
  std::vector<std::pair<std::string, std::string>> rows;
  bool isThere = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) isThere = line == kOutageHeading;
    if (!isThere || !line.starts_with("| ") || line.starts_with("| request")) continue;
    const size_t bar = line.find(" | ");
    rows.emplace_back(line.substr(2, bar - 2), line.substr(bar + 3, line.size() - bar - 5));
  }
  return rows;
}

std::string inNamespace(const std::string& space, const std::string& rest) {
  return (rest.starts_with("deployments") ? "/apis/apps/v1/namespaces/" : "/api/v1/namespaces/") + space +
         "/" + rest;
}

class OutageTest : public ::testing::Test {
 public:
  ~OutageTest() override { EXPECT_EQ(world.judge.complaints(), "") << world.logged(); }

  void createDeployment(const std::string& space, const std::string& name, const std::string& account = "") {
    Json deployment = FaultWorld::provider();
    deployment["metadata"]["name"] = name;
    deployment["spec"]["template"]["metadata"]["labels"]["of"] = name;
    if (!account.empty()) deployment["spec"]["template"]["spec"]["serviceAccountName"] = account;
    world.create(inNamespace(space, "deployments"), deployment);
  }
  void createRole(const std::string& name, const std::string& account) {
    world.create(kRoles, FaultWorld::named("rbac.authorization.k8s.io/v1", "ClusterRole", name));
    Json binding = FaultWorld::named("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", name);
    binding["roleRef"] = {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", name}};
    binding["subjects"] = {{{"kind", "ServiceAccount"}, {"namespace", "app"}, {"name", account}}};
    world.create(kBindings, binding);
  }
  // A CRD of a type of its own, `engines` for one, and an object of it.
  void createType(const std::string& plural) {
    Json definition = FaultWorld::definition();
    definition["metadata"]["name"] = plural + ".my.crd.group";
    definition["spec"]["names"] = {{"kind", "K" + plural}, {"plural", plural}};
    world.create(kDefinitionsPath, definition);
    world.create("/apis/my.crd.group/v1/" + plural,
                 FaultWorld::named("my.crd.group/v1", "K" + plural, "one"));
  }
  void createServices() {
    Json service = FaultWorld::service();
    service["spec"]["guard"]["scaleToZero"] = true;
    Json ofCustomResource = FaultWorld::service();
    ofCustomResource["metadata"]["name"] = "of-engine";
    ofCustomResource["spec"]["provider"] = {
        {"group", "my.crd.group"}, {"resource", "engines"}, {"name", "one"}};
    Json givenUp = FaultWorld::service();
    givenUp["metadata"]["name"] = "given-up";
    givenUp["spec"]["provider"]["name"] = "given-up";
    givenUp["spec"]["deletionIntent"] = "OrphanResources";
    for (const Json& each : {ofCustomResource, givenUp, service}) world.create(kOutageServices, each);
  }
  void createDefinitionIn(const char* file) {
    const auto definition = kube::readFile(file);
    world.create(kDefinitionsPath, kube::toJson(kube::parseYaml(*definition, "").value().front()));
  }
  // About ConfigMaps in namespace shop.
  static Json deletionPolicy(const std::string& name, const Json& labels, const Json& protectingCase) {
    Json policy = FaultWorld::named("lastout.dev/v1alpha1", "DeletionPolicy", name);
    const Json type = {{"group", ""}, {"resource", "configmaps"}};
    policy["spec"] = {{"objects", Json::array({{{"resources", {type}}, {"namespaces", {"shop"}}}})},
                      {"when", Json::array({protectingCase})}};
    if (!labels.is_null()) policy["spec"]["objects"][0]["labelSelector"] = {{"matchLabels", labels}};
    return policy;
  }
  // One needs other objects to be known, one the request alone.
  void createDeletionPolicies() {
    const Json children = {
        {"group", "my.crd.group"}, {"resource", "coolresources"}, {"field", "spec.config"}};
    world.create(kDeletionPolicies,
                 deletionPolicy("referred-to", {{"of", "engines"}}, {{"children", Json::array({children})}}));
    world.create(kDeletionPolicies,
                 deletionPolicy("labelled", nullptr, {{"label", "example.com/kept"}, {"values", {"true"}}}));
    const std::vector<std::pair<const char*, Json>> maps{{"of-engines", {{"of", "engines"}}},
                                                         {"of-nothing", {{"of", "nothing"}}},
                                                         {"kept", {{"example.com/kept", "true"}}}};
    for (const auto& [name, labels] : maps) {
      Json map = FaultWorld::named("v1", "ConfigMap", name);
      map["metadata"]["labels"] = labels;
      world.create(kInShop, map);
    }
    for (const char* name : {"referred-to", "labelled"})
      world.waitUntil(name + std::string(" is enforced"),
                      [&] { return isTrue(kDeletionPolicies + ("/" + std::string(name)), "Enforced"); });
  }
  void createAll() {
    for (const char* file : {"deploy/crd/criticalservices.yaml", "deploy/crd/deletionpolicies.yaml"})
      createDefinitionIn(file);
    world.createDefinition();
    for (const char* space : {"app", "other", "third", "shop"})
      world.create("/api/v1/namespaces", FaultWorld::named("v1", "Namespace", space));
    for (const char* account : {"acts", "idle"})
      world.create(inNamespace("app", "serviceaccounts"), FaultWorld::named("v1", "ServiceAccount", account));
    createRole("used", "acts");
    createRole("unused", "idle");
    createDeployment("app", "provider", "acts");
    for (const char* name : {"another", "given-up"}) createDeployment("app", name);
    for (const char* name : {"provider", "another"}) createDeployment("other", name);
    for (const char* space : {"kube-system", "lastout"}) createDeployment(space, "any");
    createType("engines");
    createType("wheels");
    world.createInstance("instance-0");
    world.create("/apis/my.crd.group/v1/engines", FaultWorld::named("my.crd.group/v1", "Kengines", "two"));
    createServices();
    createDeletionPolicies();
  }
  bool isTrue(const std::string& path, const std::string& type) {
    const Json object = world.get(path);
    const Json* conditions = simulator::at(object, {"status", "conditions"});
    return conditions != nullptr && std::ranges::any_of(*conditions, [&](const Json& condition) {
             return condition["type"] == type && condition["status"] == "True";
           });
  }
  // The last of what is guarded has been found, too.
  bool isNamed(const std::string& webhook) {
    const Json configuration = world.get(kFaultWebhook);
    const Json* webhooks = simulator::at(configuration, {"webhooks"});
    return webhooks != nullptr &&
           std::ranges::any_of(*webhooks, [&](const Json& one) { return one["name"] == webhook; });
  }

  // As deploy/ installs them.
  void createPolicies() {
    for (const Json& each : shippedPolicies()) {
      const bool isBinding = each["kind"] == "ValidatingAdmissionPolicyBinding";
      world.create(isBinding ? kPolicyBindings : kPolicies, each);
    }
  }

  static std::vector<OutageRequest> requests();
  std::string outcomeOf(const OutageRequest& request) {
    const auto response = world.ask(request.method, request.path, request.body);
    if (response.status < 300) return "allowed";
    if (response.body.find("failed calling webhook") != std::string::npos) return "denied";
    if (response.body.find("ValidatingAdmissionPolicy 'lastout-") != std::string::npos)
      return "denied, by a policy";
    return std::to_string(response.status) + " " + response.body;
  }

  FaultWorld world;
};

std::vector<OutageRequest> OutageTest::requests() {
  const Json scaled = {{"spec", {{"replicas", 0}}}};
  const Json labelled = {{"metadata", {{"labels", {{"a", "b"}}}}}};
  const Json written = {{"status", {{"note", "a"}}}};
  Json service = FaultWorld::service();
  service["metadata"]["name"] = "new";
  const auto crd = [](const std::string& name) { return kDefinitionsPath + ("/" + name); };
  return {
      {"DELETE of a provider", "DELETE", kFaultProvider},
      {"DELETE of another Deployment in its namespace", "DELETE", inNamespace("app", "deployments/another")},
      {"DELETE of a Deployment of the same name in another namespace", "DELETE",
       inNamespace("other", "deployments/provider")},
      {"DELETE of a provider whose CriticalService says `OrphanResources`", "DELETE",
       inNamespace("app", "deployments/given-up")},
      {"DELETE of a provider that is a custom resource", "DELETE", "/apis/my.crd.group/v1/engines/one"},
      {"DELETE of another custom resource of its type", "DELETE", "/apis/my.crd.group/v1/engines/two"},
      {"DELETE of an object that a criterion names", "DELETE",
       "/apis/my.crd.group/v1/coolresources/instance-0"},
      {"UPDATE or scaling of a provider whose CriticalService says `scaleToZero`", "PATCH",
       std::string(kFaultProvider) + "/scale", scaled},
      {"UPDATE or scaling of a provider whose CriticalService says `scaleToZero`", "PATCH", kFaultProvider,
       labelled},
      {"UPDATE or scaling of another Deployment, UPDATE of a namespace", "PATCH",
       inNamespace("other", "deployments/another/scale"), scaled},
      {"UPDATE or scaling of another Deployment, UPDATE of a namespace", "PATCH", kFaultNamespace, labelled},
      {"DELETE of the namespace of a provider", "DELETE", kFaultNamespace},
      {"DELETE of another namespace", "DELETE", "/api/v1/namespaces/third"},
      {"DELETE of the CustomResourceDefinition of CriticalServices, or of a provider's type", "DELETE",
       crd("criticalservices.lastout.dev")},
      {"DELETE of the CustomResourceDefinition of CriticalServices, or of a provider's type", "DELETE",
       crd("engines.my.crd.group")},
      {"DELETE of another CustomResourceDefinition", "DELETE", crd("wheels.my.crd.group")},
      {"DELETE of what a provider needs: its ServiceAccount, a ClusterRole", "DELETE",
       inNamespace("app", "serviceaccounts/acts")},
      {"DELETE of what a provider needs: its ServiceAccount, a ClusterRole", "DELETE",
       kRoles + std::string("/used")},
      {"DELETE of another ServiceAccount or ClusterRole", "DELETE",
       inNamespace("app", "serviceaccounts/idle")},
      {"DELETE of another ServiceAccount or ClusterRole", "DELETE", kRoles + std::string("/unused")},
      {"CREATE, UPDATE or DELETE of a CriticalService", "POST", kOutageServices, service},
      {"CREATE, UPDATE or DELETE of a CriticalService", "PATCH", kFaultService, labelled},
      {"CREATE, UPDATE or DELETE of a CriticalService", "DELETE", kFaultService},
      {"UPDATE of a CriticalService's status", "PATCH", kFaultService + std::string("/status"), written},
      {"DELETE in kube-system, or in lastout's own namespace", "DELETE",
       inNamespace("kube-system", "deployments/any")},
      {"DELETE in kube-system, or in lastout's own namespace", "DELETE",
       inNamespace("lastout", "deployments/any")},
      {"DELETE of lastout's own namespace", "DELETE", "/api/v1/namespaces/lastout"},
      {"DELETE of all Deployments in a namespace without a provider", "DELETE",
       inNamespace("other", "deployments")},
      {"DELETE of all Deployments in the namespace of a provider", "DELETE",
       inNamespace("app", "deployments")},
      {"DELETE of an object that a DeletionPolicy asks lastout about", "DELETE",
       kInShop + std::string("/of-engines")},
      {"DELETE of another object of its type", "DELETE", kInShop + std::string("/of-nothing")},
      {"DELETE of the namespace that a DeletionPolicy names", "DELETE", "/api/v1/namespaces/shop"},
      {"DELETE of an object that a DeletionPolicy protects in the API server", "DELETE",
       kInShop + std::string("/kept")},
      {"CREATE, UPDATE or DELETE of a DeletionPolicy", "POST", kDeletionPolicies,
       deletionPolicy("new", nullptr, {{"label", "example.com/new"}, {"values", {"true"}}})},
      {"CREATE, UPDATE or DELETE of a DeletionPolicy", "PATCH",
       kDeletionPolicies + std::string("/referred-to"), labelled},
      {"CREATE, UPDATE or DELETE of a DeletionPolicy", "DELETE",
       kDeletionPolicies + std::string("/labelled")},
      {"DELETE of the Lease `lastout-sentinel`, by which lastout probes", "DELETE",
       "/apis/coordination.k8s.io/v1/namespaces/default/leases/lastout-sentinel"},
      {"DELETE of lastout's webhook configuration", "DELETE", kFaultWebhook},
  };
}

TEST_F(OutageTest, DeniesWhatTheDocumentationSaysAndNothingElse) {
  world.replica().serve();
  createAll();
  for (const char* service : {"guard", "of-engine"})
    world.waitUntil(service + std::string(" is enforced with all that it guards"), [&] {
      return isNamed("clusterroles.rbac.authorization.k8s.io.lastout.dev") &&
             isNamed("engines.my.crd.group.lastout.dev") &&
             isTrue(kOutageServices + std::string("/") + service, "Enforced");
    });
  world.replica().kill();
  createPolicies();
  std::vector<std::pair<std::string, std::string>> rows;
  for (const OutageRequest& request : requests()) {
    const std::string outcome = outcomeOf(request);
    if (!rows.empty() && rows.back().first == request.words) {
      EXPECT_EQ(outcome, rows.back().second) << request.method << " " << request.path;
    } else {
      rows.emplace_back(request.words, outcome);
    }
  }
  std::string table;
  for (const auto& [words, outcome] : rows) table += "| " + words + " | " + outcome + " |\n";
  EXPECT_EQ(rows, tableInDocumentation()) << "the table of " << kOutageHeading << " is\n" << table;
}

}  // namespace
}  // namespace lastout::testing

// An API server takes all that is shipped, and all that lastout makes while it runs, without a warning: by
// create, and by server-side apply twice.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "criticalservice/critical_service.h"
#include "kube/resource_map.h"
#include "kube/well_known.h"
#include "protection/cel.h"
#include "protection/profiles.h"
#include "server/webhook/webhook_configuration.h"
#include "tests/deploy/chart.h"
#include "tests/simulator/cluster_fixture.h"

namespace lastout::deploy {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

constexpr const char* kApply = "application/apply-patch+yaml";

std::string text(const Json& object, const char* key) { return object["metadata"].value(key, ""); }

// The path of the type's objects.
std::string collectionOf(const Json& object) {
  const std::string apiVersion = object["apiVersion"];
  const size_t slash = apiVersion.find('/');
  const std::string group = slash == std::string::npos ? "" : apiVersion.substr(0, slash);
  const kube::ResourceType* type =
      kube::ResourceMap::builtIn().findKind(group, object["kind"].get<std::string>());
  if (type == nullptr) {
    ADD_FAILURE() << "what is " << object["kind"] << " of " << group << "?";
    return "";
  }
  const std::string space =
      type->namespaced ? "/namespaces/" + object["metadata"].value("namespace", "lastout") : "";
  return (group.empty() ? "/api/v1" : "/apis/" + apiVersion) + space + "/" + type->type.resource;
}

bool isObject(const Json& document) {
  return document.is_object() && document.contains("kind") && document["kind"] != "Kustomization" &&
         document["kind"] != "Component";
}

// The objects of all files below the folder that are no template of Helm's.
std::vector<Json> objectsBelow(const std::string& folder) {
  std::vector<Json> objects;
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".yaml" && entry.path().string().find("/helm/") == std::string::npos)
      files.push_back(entry.path());
  std::ranges::sort(files);
  for (const fs::path& file : files)
    for (Json& document : documentsIn(textOf(file.string())))
      if (isObject(document)) objects.push_back(std::move(document));
  return objects;
}

class Accepted : public testing::ClusterTest {
 protected:
  Accepted() { createNamespace("lastout"); }

  void expectTaken(const std::string& how, int least, const simulator::ExchangeResponse& answer,
                   const Json& object) {
    const std::string which = how + " " + object["kind"].get<std::string>() + " " + text(object, "name");
    EXPECT_TRUE(answer.status == least || answer.status == 200) << which << "\n"
                                                                << answer.body.substr(0, 2'000);
    EXPECT_THAT(answer.warnings, IsEmpty()) << which;
  }

  // By create, as a dry run, and by server-side apply, by the same manager again and without a conflict.
  void expectAccepted(const std::vector<Json>& objects) {
    EXPECT_FALSE(objects.empty());
    for (const Json& object : objects) {
      const std::string path = collectionOf(object);
      const std::string its = path + "/" + text(object, "name") + "?fieldManager=installer";
      if (send("GET", path + "/" + text(object, "name")).status == 404)
        expectTaken("create", 201, send("POST", path + "?dryRun=All&fieldValidation=Strict", object), object);
      expectTaken("apply", 201, send("PATCH", its, object, kApply), object);
      expectTaken("apply again", 200, send("PATCH", its, object, kApply), object);
    }
  }
};

void add(std::vector<Json>& all, const std::vector<nlohmann::ordered_json>& objects) {
  for (const nlohmann::ordered_json& object : objects) all.push_back(Json::parse(object.dump()));
}

TEST_F(Accepted, AllOfDeployIs) { expectAccepted(objectsBelow("deploy")); }

TEST_F(Accepted, TheChartIsWithAllItsValues) {
  Json values = documentsIn(textOf("deploy/helm/lastout/values.yaml")).at(0);
  expectAccepted(rendered("deploy/helm/lastout", values));
  for (auto& [key, value] : values.items())
    if (value.is_boolean()) value = true;
  expectAccepted(rendered("deploy/helm/lastout", values));
}

TEST_F(Accepted, EachProfileIsAndWhatIsMadeOfIt) {
  std::vector<Json> made;
  for (const protection::Profile& profile : protection::profiles()) {
    SCOPED_TRACE(std::string(profile.name));
    std::vector<Json> manifests = documentsIn(std::string(profile.text));
    expectAccepted(manifests);
    const auto policies = protection::parseProfile(profile.name);
    ASSERT_TRUE(policies);
    for (const protection::DeletionPolicy& policy : *policies) {
      add(made, protection::admissionPoliciesOf(policy, protection::PolicyMode::ApiServer));
      add(made, protection::admissionPoliciesOf(policy, protection::PolicyMode::Webhook));
    }
  }
  expectAccepted(made);
}

// Names of 253 characters, as many as one object that an API server stores can list.
server::WebhookConfiguration configurationOf(size_t objects, server::WebhookScope scope) {
  server::WebhookConfiguration configuration;
  configuration.address.serviceNamespace = "lastout";
  configuration.address.serviceName = "lastout";
  configuration.address.authorities = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  configuration.ownNamespace = "lastout";
  configuration.scope = scope;
  for (size_t i = 0; i < objects; ++i) {
    std::string name = "n" + std::to_string(i) + ".";
    while (name.size() < 253) name += 'a';
    const kube::ObjectKey provider{kube::kDeployments, "namespace-" + std::to_string(i % 50), name};
    configuration.objects.deleted.insert(provider);
    configuration.objects.deleted.insert({kube::kClusterRoles, "", "it's \"" + name.substr(6)});
    configuration.objects.deleted.insert({kube::kNamespaces, "", provider.namespaceName});
    configuration.objects.scaled.insert(provider);
    configuration.objects.providers.insert(provider.type);
  }
  return configuration;
}

TEST_F(Accepted, TheWebhookConfigurationIsOfAnySize) {
  for (const server::WebhookScope scope : {server::WebhookScope::Objects, server::WebhookScope::Types})
    for (const size_t objects : {0, 1, 50, 900, 5'000})
      expectAccepted(std::vector<Json>{server::toJson(configurationOf(objects, scope))});
}

TEST_F(Accepted, ASetOfObjectsCannotBeApplied) {
  Json definition = documentsIn(textOf("deploy/crd/criticalservices.yaml")).at(0);
  definition["metadata"]["name"] = "oldservices.example.com";
  definition["spec"]["group"] = "example.com";
  definition["spec"]["names"] = {{"plural", "oldservices"}, {"kind", "OldService"}};
  Json& criteria = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
                             ["properties"]["criteria"];
  criteria["x-kubernetes-list-type"] = "set";
  expect(201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  Json service = documentsIn(textOf("deploy/example/criticalservice.yaml")).at(0);
  service["apiVersion"] = "example.com/v1alpha1";
  service["kind"] = "OldService";
  const std::string path = "/apis/example.com/v1alpha1/oldservices";
  const Json refused =
      expect(500, "PATCH", path + "/" + text(service, "name") + "?fieldManager=a", service, kApply);
  EXPECT_THAT(
      refused["message"].get<std::string>(),
      ::testing::HasSubstr(".spec.criteria: associative list without keys has an element that's a map type"));
  expect(201, "POST", path, service);
}

// The rule stands in for what a set of objects would refuse.
TEST_F(Accepted, ACriterionStandsOnce) {
  Json service = documentsIn(textOf("deploy/example/criticalservice.yaml")).at(0);
  Json& criteria = service["spec"]["criteria"];
  criteria.push_back(criteria[0]);
  const Json refused = expect(422, "POST", collectionOf(service), service);
  EXPECT_EQ(refused["details"]["causes"][0]["field"], "spec.criteria");
  EXPECT_EQ(refused["details"]["causes"][0]["message"],
            "Invalid value: \"array\": each criterion stands once");
  // These name the same, and are not alike.
  criteria.back()["finalizer"]["namespaces"] = {{"names", {"a"}}};
  Json one = {{"type", "SpecificResource"}, {"specificResource", {{"resource", "secrets"}, {"name", "s"}}}};
  for (const char* space : {"a", "b"}) {
    one["specificResource"]["namespace"] = space;
    criteria.push_back(one);
  }
  expect(201, "POST", collectionOf(service), service);
  service["spec"]["provider"]["name"] = "another";
  service["metadata"]["resourceVersion"] =
      expect(200, "GET", collectionOf(service) + "/" + text(service, "name"))["metadata"]["resourceVersion"];
  EXPECT_EQ(expect(422, "PUT", collectionOf(service) + "/" + text(service, "name"),
                   service)["details"]["causes"][0]["field"],
            "spec.provider");
}

}  // namespace
}  // namespace lastout::deploy

// What deploy/ ships, as the program knows it, and what counts as another than that.
#include "server/check/shipped_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "kube/parse.h"

namespace lastout::server {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Json = nlohmann::json;

std::string fileContent(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

const kube::Object& shippedObject(std::string_view kind, std::string_view name) {
  for (const ShippedFile& file : shippedFiles()) {
    const auto found = std::ranges::find_if(
        file.objects, [&](const kube::Object& one) { return one.kind == kind && one.meta.name == name; });
    if (found != file.objects.end()) return *found;
  }
  ADD_FAILURE() << "nothing is shipped as " << kind << " " << name;
  return shippedFiles().front().objects.front();
}

Json contentOf(std::string_view kind, std::string_view name) {
  return kube::toJson(shippedObject(kind, name).content);
}

// Without what to do, where that is to apply it again.
std::string problemOf(std::string_view kind, std::string_view name, const Json& standing) {
  std::string problem = problemWith(shippedObject(kind, name), kube::fromJson(standing));
  if (const std::string_view advice = kApplyAgain; problem.ends_with(advice))
    problem.resize(problem.size() - advice.size());
  return problem;
}

std::vector<const ShippedFile*> filesCalled(std::initializer_list<std::string_view> names) {
  std::vector<const ShippedFile*> files;
  for (const ShippedFile& file : shippedFiles())
    if (std::ranges::find(names, file.name) != names.end()) files.push_back(&file);
  return files;
}

// A file that is added to deploy/ is checked, too.
TEST(ShippedFiles, AreThoseOfTheKustomization) {
  std::set<std::string> shipped;
  for (const ShippedFile& file : shippedFiles()) shipped.emplace(file.name);
  std::set<std::string> onDisk;
  const auto documents =
      kube::parseYaml(fileContent("deploy/kustomization.yaml"), "deploy/kustomization.yaml");
  ASSERT_TRUE(documents);
  for (const kube::Value& resource : kube::listAt(documents->front(), {"resources"}))
    onDisk.insert("deploy/" + *resource.asString());
  for (const auto& entry : std::filesystem::directory_iterator("deploy/components"))
    if (const auto file = entry.path() / "rbac.yaml"; exists(file)) onDisk.insert(file.string());
  EXPECT_EQ(shipped, onDisk);
  for (const ShippedFile& file : shippedFiles()) EXPECT_THAT(file.objects, Not(IsEmpty())) << file.name;
}

TEST(ProblemWithShipped, NothingThatTheServerOrAnOperatorAdds) {
  Json role = contentOf("ClusterRole", "lastout-webhook");
  role["metadata"]["labels"]["argocd.argoproj.io/instance"] = "lastout";
  role["metadata"]["uid"] = "u";
  EXPECT_EQ(problemOf("ClusterRole", "lastout-webhook", role), "");
  Json reads = contentOf("ClusterRole", "lastout-reads");
  reads["rules"] = contentOf("ClusterRole", "lastout-providers")["rules"];
  EXPECT_EQ(problemOf("ClusterRole", "lastout-reads", reads), "") << "its rules are aggregated";
  Json network = contentOf("NetworkPolicy", "lastout-webhook");
  network["spec"]["egress"][0]["ports"].push_back({{"port", 7443}});
  EXPECT_EQ(problemOf("NetworkPolicy", "lastout-webhook", network), "");
}

TEST(ProblemWithShipped, AWiderRightAndAMissingOne) {
  Json role = contentOf("ClusterRole", "lastout-webhook");
  const std::string all = std::to_string(role["rules"].size());
  role["rules"][2]["verbs"].push_back("delete");
  EXPECT_EQ(problemOf("ClusterRole", "lastout-webhook", role), "rules[2].verbs has 4 items instead of 3");
  role = contentOf("ClusterRole", "lastout-webhook");
  role["rules"][2]["resourceNames"] = {"one"};
  EXPECT_EQ(problemOf("ClusterRole", "lastout-webhook", role), "rules[2].resourceNames is set");
  role["rules"].erase(2);
  EXPECT_EQ(problemOf("ClusterRole", "lastout-webhook", role),
            "rules has " + std::to_string(role["rules"].size()) + " items instead of " + all);
}

TEST(ProblemWithShipped, APolicyThatSaysSomethingElse) {
  Json policy = contentOf("ValidatingAdmissionPolicy", "lastout-configuration");
  policy["spec"]["matchConstraints"]["matchPolicy"] = "Equivalent";
  policy["spec"]["matchConstraints"]["objectSelector"] = Json::object();
  policy["spec"]["matchConstraints"]["resourceRules"][0]["scope"] = "*";
  EXPECT_EQ(problemOf("ValidatingAdmissionPolicy", "lastout-configuration", policy), "");
  policy["status"] = {{"typeChecking",
                       {{"expressionWarnings", Json::array({{{"fieldRef", "spec.validations[0].expression"},
                                                             {"warning", "undefined field 'x'"}}})}}}};
  EXPECT_EQ(problemOf("ValidatingAdmissionPolicy", "lastout-configuration", policy),
            "the API server warns about spec.validations[0].expression: undefined field 'x'");
  policy["spec"]["validations"][1]["expression"] = "true";
  EXPECT_EQ(problemOf("ValidatingAdmissionPolicy", "lastout-configuration", policy),
            "spec.validations[1].expression differs");
  policy = contentOf("ValidatingAdmissionPolicy", "lastout-configuration");
  policy["spec"]["paramKind"] = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
  EXPECT_EQ(problemOf("ValidatingAdmissionPolicy", "lastout-configuration", policy), "spec.paramKind is set")
      << "its binding may allow what has no parameters";
  policy["spec"].erase("paramKind");
  policy["spec"]["matchConstraints"]["objectSelector"]["matchLabels"]["a"] = "b";
  EXPECT_EQ(problemOf("ValidatingAdmissionPolicy", "lastout-configuration", policy),
            "spec.matchConstraints.objectSelector is set");
  policy["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_EQ(problemOf("ValidatingAdmissionPolicy", "lastout-configuration", policy), "is being deleted");
}

TEST(ProblemWithShipped, OfADeploymentWhatItRunsAndWhetherItDoes) {
  Json deployment = contentOf("Deployment", "lastout-webhook");
  EXPECT_EQ(problemOf("Deployment", "lastout-webhook", deployment), "has no condition Available yet");
  deployment["status"]["conditions"] = Json::array({{{"type", "Available"}, {"status", "True"}}});
  Json& pod = deployment["spec"]["template"]["spec"];
  Json& container = pod["containers"][0];
  deployment["spec"]["replicas"] = 5;
  pod["priorityClassName"] = "high";
  container["image"] = "my.registry/lastout:0.1.0";
  container["resources"] = Json::object();
  container["args"].push_back("--policy-cluster=control-plane=/x");
  EXPECT_EQ(problemOf("Deployment", "lastout-webhook", deployment), "");
  deployment["status"]["conditions"][0] = {{"type", "Available"},
                                           {"status", "False"},
                                           {"reason", "MinimumReplicasUnavailable"},
                                           {"message", "Deployment does not have minimum availability."}};
  EXPECT_EQ(
      problemOf("Deployment", "lastout-webhook", deployment),
      "Available is False (MinimumReplicasUnavailable): Deployment does not have minimum availability.; "
      "kubectl describe deployments.apps/lastout-webhook -n lastout");
  container["args"][1] = "--roles=controller";
  EXPECT_THAT(problemWith(shippedObject("Deployment", "lastout-webhook"), kube::fromJson(deployment)),
              ::testing::EndsWith("; apply deploy/ again, or run helm upgrade"));
  EXPECT_EQ(problemOf("Deployment", "lastout-webhook", deployment),
            "does not run lastout serve with --roles=webhook");
  pod["serviceAccountName"] = "default";
  EXPECT_EQ(problemOf("Deployment", "lastout-webhook", deployment),
            "spec.template.spec.serviceAccountName differs");
}

TEST(ProblemWithShipped, OfACrdWhetherItIsEstablished) {
  Json crd = contentOf("CustomResourceDefinition", "deletionpolicies.lastout.dev");
  crd["status"]["conditions"] = Json::array({{{"type", "Established"}, {"status", "True"}}});
  EXPECT_EQ(problemOf("CustomResourceDefinition", "deletionpolicies.lastout.dev", crd), "");
  crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"].erase("spec");
  EXPECT_EQ(problemOf("CustomResourceDefinition", "deletionpolicies.lastout.dev", crd),
            "spec.versions[0].schema.openAPIV3Schema.properties.spec is missing");
}

TEST(RightsOfAnAccount, AreThoseOfItsRolesAndOfTheAggregatedOnes) {
  std::vector<std::string> words;
  const auto files = filesCalled({"deploy/rbac.yaml"});
  ASSERT_THAT(files, SizeIs(1));
  for (const admission::NeededRight& right : rightsOf("lastout-webhook", files))
    words.push_back(toString(right));
  EXPECT_THAT(words, ::testing::IsSupersetOf(
                         {"list criticalservices.lastout.dev", "patch criticalservices/status.lastout.dev",
                          "get secrets/lastout/lastout-tls", "create events in namespace default",
                          "watch statefulsets.apps", "create subjectaccessreviews.authorization.k8s.io"}));
  EXPECT_THAT(words, Not(Contains(::testing::StartsWith("delete "))));
  words.clear();
  for (const admission::NeededRight& right :
       rightsOf("lastout-controller",
                filesCalled({"deploy/rbac.yaml", "deploy/components/carries-out-dependencies/rbac.yaml"})))
    words.push_back(toString(right));
  EXPECT_THAT(words, ::testing::IsSupersetOf({"delete deployments.apps", "delete secrets",
                                              "patch leases.coordination.k8s.io/lastout/lastout",
                                              "create leases.coordination.k8s.io in namespace lastout"}));
  EXPECT_THAT(rightsOf("lastout-webhook", {}), IsEmpty());
}

}  // namespace
}  // namespace lastout::server

// Admission policies and RBAC in the embedded cluster.
#include <gmock/gmock.h>

#include "simulator/user.h"
#include "tests/simulator/webhook_fixture.h"

namespace lastout::testing {
namespace {

using simulator::ExchangeRequest;
using simulator::ExchangeResponse;
using simulator::Json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kRegistration = "/apis/admissionregistration.k8s.io/v1/";
const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1/";

simulator::EmbeddedOptions withRbac() {
  simulator::EmbeddedOptions options;
  options.rbac = true;
  return options;
}

class PolicyCluster : public WebhookClusterTest {
 public:
  PolicyCluster() : WebhookClusterTest(withRbac()) {}

  // A policy, and a binding of the same name, for a group's resource.
  void createPolicy(const std::string& name, const std::string& group, const std::string& resource,
                    const Json& validation, const std::string& action = "Deny") {
    const Json rule = {
        {"operations", {"*"}}, {"apiGroups", {group}}, {"apiVersions", {"*"}}, {"resources", {resource}}};
    expect(201, "POST", kRegistration + "validatingadmissionpolicies",
           {{"apiVersion", "admissionregistration.k8s.io/v1"},
            {"kind", "ValidatingAdmissionPolicy"},
            {"metadata", {{"name", name}}},
            {"spec",
             {{"matchConstraints", {{"resourceRules", Json::array({rule})}}},
              {"validations", Json::array({validation})}}}});
    expect(201, "POST", kRegistration + "validatingadmissionpolicybindings",
           {{"apiVersion", "admissionregistration.k8s.io/v1"},
            {"kind", "ValidatingAdmissionPolicyBinding"},
            {"metadata", {{"name", name}}},
            {"spec", {{"policyName", name}, {"validationActions", Json::array({action})}}}});
  }

  ExchangeResponse as(const std::string& user, const std::string& method, const std::string& path,
                      const Json& body = nullptr) {
    ExchangeRequest request;
    request.method = method;
    request.path = path;
    request.user = {user, "", {"system:authenticated"}, {}};
    if (!body.is_null()) request.body = simulator::toText(body);
    return cluster.handle(request);
  }

  // Lets a user do that to configmaps and secrets of the namespace default.
  void allow(const std::string& user, const std::vector<std::string>& verbs) {
    const Json rule = {{"verbs", verbs}, {"apiGroups", {""}}, {"resources", {"configmaps", "secrets"}}};
    expect(201, "POST", kRbac + "namespaces/default/roles",
           {{"apiVersion", "rbac.authorization.k8s.io/v1"},
            {"kind", "Role"},
            {"metadata", {{"name", user}}},
            {"rules", Json::array({rule})}});
    expect(201, "POST", kRbac + "namespaces/default/rolebindings",
           {{"apiVersion", "rbac.authorization.k8s.io/v1"},
            {"kind", "RoleBinding"},
            {"metadata", {{"name", user}}},
            {"roleRef", {{"kind", "Role"}, {"name", user}}},
            {"subjects", Json::array({{{"kind", "User"}, {"name", user}}})}});
  }
};

TEST_F(PolicyCluster, AreStoredWithTheirDefaultsAndAreInForceAtOnce) {
  createPolicy("no-secrets", "", "secrets", {{"expression", "false"}, {"message", "no secrets here"}});
  const Json policy = expect(200, "GET", kRegistration + "validatingadmissionpolicies/no-secrets");
  EXPECT_EQ(policy["spec"]["failurePolicy"], "Fail");
  EXPECT_EQ(policy["spec"]["matchConstraints"]["matchPolicy"], "Equivalent");
  EXPECT_EQ(policy["spec"]["matchConstraints"]["resourceRules"][0]["scope"], "*");
  EXPECT_EQ(policy["metadata"]["generation"], 1);
  const Json denied = expect(422, "POST", "/api/v1/namespaces/default/secrets",
                             {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", "s"}}}});
  EXPECT_EQ(denied["message"],
            "secrets \"s\" is forbidden: ValidatingAdmissionPolicy 'no-secrets' with binding 'no-secrets' "
            "denied request: "
            "no secrets here");
  EXPECT_EQ(denied["reason"], "Invalid");
  expect(200, "DELETE", kRegistration + "validatingadmissionpolicybindings/no-secrets");
  expect(201, "POST", "/api/v1/namespaces/default/secrets",
         {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", "s"}}}});
}

TEST_F(PolicyCluster, WithAMistakeAreNotStored) {
  const Json answer = expect(422, "POST", kRegistration + "validatingadmissionpolicybindings",
                             {{"apiVersion", "admissionregistration.k8s.io/v1"},
                              {"kind", "ValidatingAdmissionPolicyBinding"},
                              {"metadata", {{"name", "b"}}},
                              {"spec", {{"policyName", "p"}, {"validationActions", {"Deny", "Warn"}}}}});
  EXPECT_THAT(std::string(answer["message"]), AllOf(HasSubstr("spec.validationActions: Invalid value: "),
                                                    HasSubstr(": must not contain both Deny and Warn")));
  expect(404, "GET", kRegistration + "validatingadmissionpolicybindings/b");
}

TEST_F(PolicyCluster, SeeWhatMutatingWebhooksMadeAndComeBeforeValidatingOnes) {
  std::vector<std::string> asked;
  mutate("configmaps", "CREATE", [&](const Json&) {
    asked.emplace_back("mutating");
    return patch(Json::parse(R"([{"op": "add", "path": "/data", "value": {"from": "webhook"}}])"));
  });
  validate("configmaps", "CREATE", [&](const Json&) {
    asked.emplace_back("validating");
    return WebhookClusterTest::allow();
  });
  createPolicy("p", "", "configmaps", {{"expression", "object.data.from != 'webhook'"}, {"message", "seen"}});
  EXPECT_THAT(std::string(expect(422, "POST", kMaps, configMap("a"))["message"]),
              HasSubstr("denied request: seen"));
  EXPECT_THAT(asked, ElementsAre("mutating"));
}

TEST_F(PolicyCluster, CoverWebhookConfigurationsAndAreNoPrisonOfTheirOwn) {
  createPolicy("locked", "admissionregistration.k8s.io", "*",
               {{"expression", "false"}, {"message", "locked"}});
  const Json configuration = {{"apiVersion", "admissionregistration.k8s.io/v1"},
                              {"kind", "ValidatingWebhookConfiguration"},
                              {"metadata", {{"name", "w"}}}};
  expect(422, "POST", kRegistration + "validatingwebhookconfigurations", configuration);
  expect(200, "DELETE", kRegistration + "validatingadmissionpolicies/locked");
  expect(201, "POST", kRegistration + "validatingwebhookconfigurations", configuration);
}

TEST_F(PolicyCluster, AreNotReviewedByWebhooks) {
  validate("*", "*", [](const Json&) { return deny("nothing goes"); });
  createPolicy("p", "", "configmaps", {{"expression", "true"}});
}

TEST_F(PolicyCluster, WarnWhereTheBindingSaysSo) {
  createPolicy("p", "", "configmaps", {{"expression", "false"}, {"message", "unusual"}}, "Warn");
  const ExchangeResponse response = send("POST", kMaps, configMap("a"));
  EXPECT_EQ(response.status, 201);
  EXPECT_THAT(response.warnings,
              ElementsAre("Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p': unusual"));
}

TEST_F(PolicyCluster, AreAskedAboutEachObjectOfACollection) {
  expect(201, "POST", kMaps, configMap("a"));
  createPolicy(
      "p", "", "configmaps",
      {{"expression", "oldObject == null || oldObject.metadata.name != 'a'"}, {"message", "a stays"}});
  const Json denied = expect(422, "DELETE", kMaps);
  EXPECT_EQ(denied["message"],
            "configmaps \"Unknown\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied "
            "request: a stays");
  expect(422, "DELETE", kMaps + "/a");
}

TEST_F(PolicyCluster, CountDryRunsAndControllersToo) {
  createPolicy(
      "p", "", "serviceaccounts",
      {{"expression",
        "request.userInfo.username != 'system:serviceaccount:kube-system:service-account-controller'"}});
  createNamespace("new");
  pass(std::chrono::seconds(5));
  expect(404, "GET", "/api/v1/namespaces/new/serviceaccounts/default");
}

// --- RBAC

TEST_F(PolicyCluster, UsersMayDoWhatRolesAllow) {
  EXPECT_EQ(as("jane", "GET", kMaps).status, 403);
  allow("jane", {"create", "list"});
  EXPECT_EQ(as("jane", "GET", kMaps).status, 200);
  EXPECT_EQ(as("jane", "POST", kMaps, configMap("a")).status, 201);
  const ExchangeResponse denied = as("jane", "DELETE", kMaps + "/a");
  EXPECT_EQ(denied.status, 403);
  EXPECT_THAT(denied.body,
              HasSubstr(R"(configmaps \"a\" is forbidden: User \"jane\" cannot delete resource)"));
  EXPECT_EQ(send("DELETE", kMaps + "/a").status, 200) << "a member of system:masters may";
  expect(200, "DELETE", kRbac + "namespaces/default/rolebindings/jane");
  EXPECT_EQ(as("jane", "GET", kMaps).status, 403);
}

TEST_F(PolicyCluster, ReviewsOfAccessAnswerByTheSameRules) {
  allow("jane", {"delete"});
  const auto mayDelete = [this](const std::string& resource) -> bool {
    const Json review = {
        {"spec",
         {{"user", "jane"},
          {"resourceAttributes", {{"verb", "delete"}, {"resource", resource}, {"namespace", "default"}}}}}};
    return expect(201, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                  review)["status"]["allowed"];
  };
  EXPECT_TRUE(mayDelete("configmaps"));
  EXPECT_FALSE(mayDelete("pods"));
}

TEST_F(PolicyCluster, PoliciesAskTheAuthorizerForTheUserOfTheRequest) {
  createPolicy(
      "p", "", "configmaps",
      {{"expression",
        "authorizer.group('').resource('secrets').namespace('default').name('s').check('delete').allowed()"},
       {"message", "who writes this must be allowed to delete the secret s"},
       {"reason", "Forbidden"}});
  allow("jane", {"create"});
  allow("joe", {"create", "delete"});
  const ExchangeResponse denied = as("jane", "POST", kMaps, configMap("a"));
  EXPECT_EQ(denied.status, 403);
  EXPECT_THAT(denied.body, HasSubstr("who writes this must be allowed to delete the secret s"));
  EXPECT_EQ(as("joe", "POST", kMaps, configMap("a")).status, 201);
}

TEST_F(PolicyCluster, ARoleInANamespaceAllowsToDeleteThatNamespace) {
  createNamespace("team");
  const Json rule = {{"verbs", {"delete"}}, {"apiGroups", {""}}, {"resources", {"namespaces"}}};
  expect(201, "POST", kRbac + "namespaces/team/roles",
         {{"apiVersion", "rbac.authorization.k8s.io/v1"},
          {"kind", "Role"},
          {"metadata", {{"name", "owner"}}},
          {"rules", Json::array({rule})}});
  expect(201, "POST", kRbac + "namespaces/team/rolebindings",
         {{"apiVersion", "rbac.authorization.k8s.io/v1"},
          {"kind", "RoleBinding"},
          {"metadata", {{"name", "owner"}}},
          {"roleRef", {{"kind", "Role"}, {"name", "owner"}}},
          {"subjects", Json::array({{{"kind", "User"}, {"name", "jane"}}})}});
  EXPECT_EQ(as("jane", "DELETE", "/api/v1/namespaces/default").status, 403);
  EXPECT_EQ(as("jane", "DELETE", "/api/v1/namespaces/team").status, 200);
}

}  // namespace
}  // namespace lastout::testing

// AdmissionPolicy: only a policy that denies what it is about, wherever that is, counts as enforced.
#include "server/webhook/admission_policy.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kube/well_known.h"
#include "server/check/shipped_objects.h"
#include "tests/support/server_world.h"
#include "tests/support/shipped_policies.h"

namespace lastout::server {
namespace {

using lastout::testing::Json;

const std::string kPolicyName(kDeleteWhenFreePolicy);
constexpr const char* kPolicies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
constexpr const char* kPolicyBindings =
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

Json policyObject() { return lastout::testing::shippedPolicy(kPolicyName); }

Json bindingObject() {
  return kube::toJson(shippedObject({kube::kValidatingAdmissionPolicyBindings, "", kPolicyName}).content);
}

class AdmissionPolicyTest : public lastout::testing::ServerWorld {
 public:
  bool isEnforced() {
    AdmissionPolicy policy(access, kPolicyName, [](Level, const std::string&) {});
    const auto found = policy.look();
    EXPECT_TRUE(found) << found.error();
    return found && *found;
  }
  bool isEnforcedWith(const Json& policy, const Json& binding) {
    create(kPolicies, policy);
    create(kPolicyBindings, binding);
    return isEnforced();
  }
};

TEST_F(AdmissionPolicyTest, IsEnforcedWithABindingThatDenies) {
  EXPECT_FALSE(isEnforced());
  create(kPolicies, policyObject());
  EXPECT_FALSE(isEnforced()) << "nothing binds it";
  create(kPolicyBindings, bindingObject());
  EXPECT_TRUE(isEnforced());
  remove(std::string(kPolicyBindings) + "/" + kPolicyName);
  EXPECT_FALSE(isEnforced());
}

TEST_F(AdmissionPolicyTest, IsNotWhereItsErrorsAreIgnored) {
  Json policy = policyObject();
  policy["spec"]["failurePolicy"] = "Ignore";
  EXPECT_FALSE(isEnforcedWith(policy, bindingObject()));
}

// An exception for some namespaces or objects, and whoever may patch these could have them deleted.
TEST_F(AdmissionPolicyTest, IsNotWhereItIsAboutLessOrSaysSomethingElse) {
  const std::vector<Json> changes = {
      {{"matchConstraints", {{"namespaceSelector", {{"matchLabels", {{"a", "b"}}}}}}}},
      {{"matchConstraints", {{"objectSelector", {{"matchLabels", {{"a", "b"}}}}}}}},
      {{"matchConstraints",
        {{"excludeResourceRules", Json::array({{{"apiGroups", {""}},
                                                {"apiVersions", {"*"}},
                                                {"operations", {"*"}},
                                                {"resources", {"secrets"}}}})}}}},
      {{"matchConstraints",
        {{"resourceRules", Json::array({{{"apiGroups", {"apps"}},
                                         {"apiVersions", {"*"}},
                                         {"operations", {"CREATE", "UPDATE"}},
                                         {"resources", {"*/*"}}}})}}}},
      {{"matchConstraints",
        {{"resourceRules", Json::array({{{"apiGroups", {"*"}},
                                         {"apiVersions", {"*"}},
                                         {"operations", {"UPDATE"}},
                                         {"resources", {"*/*"}}}})}}}},
      {{"matchConstraints",
        {{"resourceRules", Json::array({{{"apiGroups", {"*"}},
                                         {"apiVersions", {"*"}},
                                         {"operations", {"*"}},
                                         {"resources", {"*"}}}})}}}},
      {{"matchConditions", Json::array({{{"name", "never"}, {"expression", "false"}}})}},
      {{"variables", Json::array({{{"name", "name"}, {"expression", "'own'"}},
                                  {{"name", "objectNamespace"}, {"expression", "''"}}})}},
      {{"validations", Json::array({{{"expression", "true"}}})}},
  };
  create(kPolicyBindings, bindingObject());
  for (const Json& change : changes) {
    Json policy = policyObject();
    policy["spec"].merge_patch(change);
    create(kPolicies, policy);
    EXPECT_FALSE(isEnforced()) << change;
    remove(kPolicies + ("/" + kPolicyName));
  }
  create(kPolicies, policyObject());
  EXPECT_TRUE(isEnforced());
}

TEST_F(AdmissionPolicyTest, IsNotWhereItOnlyWarns) {
  Json binding = bindingObject();
  binding["spec"]["validationActions"] = {"Warn", "Audit"};
  EXPECT_FALSE(isEnforcedWith(policyObject(), binding));
}

TEST_F(AdmissionPolicyTest, IsNotWhereItHoldsForSomeObjectsAlone) {
  Json binding = bindingObject();
  binding["spec"]["matchResources"]["objectSelector"]["matchLabels"]["some"] = "label";
  EXPECT_FALSE(isEnforcedWith(policyObject(), binding));
}

TEST_F(AdmissionPolicyTest, IsNotByTheBindingOfAnother) {
  Json binding = bindingObject();
  binding["spec"]["policyName"] = "another";
  EXPECT_FALSE(isEnforcedWith(policyObject(), binding));
}

TEST_F(AdmissionPolicyTest, IsNotWhileItTerminates) {
  Json policy = policyObject();
  policy["metadata"]["finalizers"] = {"example.com/waits"};
  ASSERT_TRUE(isEnforcedWith(policy, bindingObject()));
  remove(std::string(kPolicies) + "/" + kPolicyName);
  EXPECT_FALSE(isEnforced());
}

}  // namespace
}  // namespace lastout::server

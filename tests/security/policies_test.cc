// deploy/'s policies: each attack ends in a denial with a sentence, what is permitted goes on, and no
// validation is there for nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/security/policy_world.h"

namespace lastout::security {
namespace {

using ::testing::HasSubstr;

TEST(Policies, RefuseEachAttackWithASentence) {
  PolicyWorld world;
  for (const Attempt& attack : attacks()) {
    const simulator::ExchangeResponse answer = world.attempt(attack);
    const Json status = Json::parse(answer.body, nullptr, false);
    EXPECT_EQ(answer.status / 100, 4) << attack.title << "\n" << answer.body;
    EXPECT_THAT(std::string(simulator::stringAt(status, {"message"})), HasSubstr("denied request: "))
        << attack.title;
    EXPECT_THAT(std::string(simulator::stringAt(status, {"message"})), HasSubstr(attack.words))
        << attack.title;
  }
}

TEST(Policies, PermitWhatIsPermitted) {
  PolicyWorld world;
  for (const Attempt& attempt : permitted()) {
    const simulator::ExchangeResponse answer = world.attempt(attempt);
    EXPECT_EQ(answer.status / 100, 2) << attempt.title << "\n" << answer.body;
  }
}

// With one validation less, an attack comes through that all of them stop.
TEST(Policies, EachValidationStopsAnAttack) {
  const std::vector<Json> shipped = testing::shippedPolicies();
  for (size_t i = 0; i < shipped.size(); ++i) {
    const Json validations = shipped[i]["spec"].value("validations", Json::array());
    for (size_t k = 0; k < validations.size(); ++k) {
      std::vector<Json> weakened = shipped;
      weakened[i]["spec"]["validations"][k]["expression"] = "true";
      PolicyWorld world(weakened);
      int through = 0;
      for (const Attempt& attack : attacks()) through += world.attempt(attack).status / 100 == 2 ? 1 : 0;
      EXPECT_GT(through, 0) << shipped[i]["metadata"]["name"] << " without validation " << k;
    }
  }
}

// Each condition leaves somebody out who is permitted something.
TEST(Policies, EachConditionLetsSomethingThrough) {
  const std::vector<Json> shipped = testing::shippedPolicies();
  for (size_t i = 0; i < shipped.size(); ++i) {
    const Json conditions = shipped[i]["spec"].value("matchConditions", Json::array());
    for (size_t k = 0; k < conditions.size(); ++k) {
      std::vector<Json> widened = shipped;
      widened[i]["spec"]["matchConditions"].erase(k);
      // It may be in the way of what this world is made of.
      PolicyWorld world;
      for (const char* path : {kPolicies, kPolicyBindings}) world.expect(200, "DELETE", path);
      for (const Json& policy : widened)
        world.expect(201, "POST",
                     policy["kind"] == "ValidatingAdmissionPolicyBinding" ? kPolicyBindings : kPolicies,
                     policy);
      int refused = 0;
      for (const Attempt& attempt : permitted()) refused += world.attempt(attempt).status / 100 == 4 ? 1 : 0;
      EXPECT_GT(refused, 0) << shipped[i]["metadata"]["name"] << " without condition " << k;
    }
  }
}

TEST(Policies, AreOutOfTheWayWithoutTheirBinding) {
  PolicyWorld world;
  const std::string configuration = std::string(kConfigurations) + "/lastout";
  EXPECT_EQ(world.send("DELETE", configuration).status, 403);
  world.expect(200, "DELETE", std::string(kPolicyBindings) + "/lastout-configuration");
  EXPECT_EQ(world.send("DELETE", configuration).status, 200);
}

// A deleted namespace takes the configuration that it owns along: the garbage collector may.
TEST(Policies, LetTheConfigurationGoWithItsNamespace) {
  PolicyWorld world;
  const Json space = world.expect(200, "GET", "/api/v1/namespaces/lastout");
  const Json owner = {
      {"apiVersion", "v1"}, {"kind", "Namespace"}, {"name", "lastout"}, {"uid", space["metadata"]["uid"]}};
  const Json owned = {{"metadata", {{"ownerReferences", Json::array({owner})}}}};
  const Attempt given{"",
                      "system:serviceaccount:lastout:lastout-controller",
                      "PATCH",
                      std::string(kConfigurations) + "/lastout",
                      simulator::toText(owned),
                      ""};
  EXPECT_EQ(world.attempt(given, false).status, 200);
  world.expect(200, "DELETE", std::string(kPolicyBindings) + "/lastout-installation");
  world.expect(200, "DELETE", "/api/v1/namespaces/lastout");
  world.pass(std::chrono::minutes(2));
  EXPECT_EQ(world.send("GET", std::string(kConfigurations) + "/lastout").status, 404);
}

}  // namespace
}  // namespace lastout::security

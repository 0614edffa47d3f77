// A cluster with RBAC, the policies of deploy/, and people who may do some things and not others. No lastout
// runs: what is refused is so without it.
#pragma once

#include <string>
#include <vector>

#include "tests/simulator/cluster_fixture.h"
#include "tests/support/shipped_policies.h"

namespace lastout::security {

using simulator::Json;

inline constexpr const char* kPolicies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
inline constexpr const char* kPolicyBindings =
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
inline constexpr const char* kConfigurations =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
inline constexpr const char* kServices = "/apis/lastout.dev/v1alpha1/criticalservices";

// One write of somebody's, as a dry run.
struct Attempt {
  std::string title;
  std::string user;  // whose token it comes with: policy_world.cc lists them
  std::string method;
  std::string path;
  std::string body;   // YAML; empty: none
  std::string words;  // of its refusal; empty: it is permitted
};

class PolicyWorld : public testing::ClusterTest {
 public:
  // With these policies, and all that policy_world.cc lists.
  explicit PolicyWorld(const std::vector<Json>& policies = testing::shippedPolicies());
  void TestBody() override {}

  // Does it, with the user's own token. PATCH: a merge patch.
  simulator::ExchangeResponse attempt(const Attempt& attempt, bool isDryRun = true);

 private:
  simulator::Users users_;
};

// What is refused, and what is not: attacks.cc.
const std::vector<Attempt>& attacks();
const std::vector<Attempt>& permitted();

}  // namespace lastout::security

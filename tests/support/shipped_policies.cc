#include "tests/support/shipped_policies.h"

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "kube/parse.h"
#include "tests/support/stop.h"

namespace lastout::testing {

std::vector<nlohmann::json> shippedPolicies() {
  std::ifstream file("deploy/validating-admission-policies.yaml");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto documents = kube::parseYaml(text, "policies");
  if (!documents || documents->empty()) stop("deploy/validating-admission-policies.yaml cannot be read");
  std::vector<nlohmann::json> policies;
  for (const kube::Value& document : *documents) policies.emplace_back(kube::toJson(document));
  return policies;
}

nlohmann::json shippedPolicy(std::string_view name) {
  for (nlohmann::json& policy : shippedPolicies()) {
    if (policy["kind"] == "ValidatingAdmissionPolicy" && policy["metadata"]["name"] == name)
      return std::move(policy);
  }
  stop("deploy/validating-admission-policies.yaml has no policy " + std::string(name));
}

}  // namespace lastout::testing

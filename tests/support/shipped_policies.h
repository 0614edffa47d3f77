// The ValidatingAdmissionPolicies and their bindings of deploy/, as `kubectl apply` sends them.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace lastout::testing {

// All of them, in their order. What cannot be read ends the test program.
std::vector<nlohmann::json> shippedPolicies();
// The policy of that name, without its binding; ends the test program when there is none.
nlohmann::json shippedPolicy(std::string_view name);

}  // namespace lastout::testing

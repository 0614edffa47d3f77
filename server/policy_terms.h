// What a ValidatingAdmissionPolicy has to say so that lastout relies on it.
#pragma once

#include <string_view>
#include <vector>

#include "kube/value.h"

namespace lastout::server {

// Its expressions, each as it is written, in their order.
struct PolicyTerms {
  std::string_view name;
  std::vector<std::string_view> conditions;   // spec.matchConditions
  std::vector<std::string_view> variables;    // spec.variables
  std::vector<std::string_view> validations;  // spec.validations
};

// Only those may set the annotation lastout.dev/delete-when-free who may delete the object. As it stands in
// deploy/validating-admission-policies.yaml.
const PolicyTerms& deleteWhenFreeTerms();

// Whether the policy is about every write of every object, its errors deny, and its expressions are these.
bool says(const kube::Value& policy, const PolicyTerms& terms);

}  // namespace lastout::server

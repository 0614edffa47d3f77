// cel: what a DeletionPolicy says of a request alone, as a ValidatingAdmissionPolicy with its binding: API
// servers (Kubernetes 1.30 or later) evaluate it themselves, also while lastout is down.
// https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protection/policy.h"

namespace lastout::protection {

// On both objects: the name of the policy that they are made of.
inline constexpr std::string_view kMadeOfLabel = "lastout.dev/deletion-policy";

// The names of what is made: "lastout-policy-" or "lastout-force-" and the policy's.
std::string admissionPolicyName(const DeletionPolicy& policy);
std::string forcePolicyName(const DeletionPolicy& policy);

// Returns ValidatingAdmissionPolicies, each followed by its ValidatingAdmissionPolicyBinding of the same
// name: one denies what judge() does with Part::Local; of a policy that holds, another lets only those force
// or confirm a deletion who may delete the object. Empty: the policy has no such part. Each says in its
// labels that lastout made it. An expression can fail only where a field on the path of a FieldTest is no
// map; then the policy's failurePolicy counts.
std::vector<nlohmann::ordered_json> admissionPoliciesOf(const DeletionPolicy& policy);

// The literal of a string in CEL, whatever it holds (UTF-8).
std::string celLiteral(std::string_view text);

}  // namespace lastout::protection

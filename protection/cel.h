// cel: what a DeletionPolicy says of a request alone, as a ValidatingAdmissionPolicy with its binding: API
// servers (Kubernetes 1.30 or later) evaluate it themselves, also while lastout is down.
// https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protection/policy.h"

namespace lastout::protection {

// On both objects: the name of the policy that they are made of.
inline constexpr std::string_view kMadeOfLabel = "lastout.dev/deletion-policy";

// The name of both objects: "lastout-policy-" and the policy's.
std::string admissionPolicyName(const DeletionPolicy& policy);

// Returns the ValidatingAdmissionPolicy and its ValidatingAdmissionPolicyBinding, in this order, which deny
// what judge() does with Part::Local; then the two of force_guard.h. Empty: the policy has no such part. Each
// says in its labels that lastout made it. No expression in them can fail, whatever the object holds.
std::vector<nlohmann::ordered_json> admissionPoliciesOf(const DeletionPolicy& policy);

// The two objects of that name, which say in their labels which policy they are made of.
std::vector<nlohmann::ordered_json> withBinding(const DeletionPolicy& policy, const std::string& name,
                                                nlohmann::ordered_json spec);

// Whether the test holds for `object`: "object" or "oldObject".
std::string celOfKey(const KeyTest& test, std::string_view object);

// The literal of a string in CEL, whatever it holds (UTF-8).
std::string celLiteral(std::string_view text);

}  // namespace lastout::protection

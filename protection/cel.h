// cel: what a DeletionPolicy says of a request alone, as a ValidatingAdmissionPolicy with its binding: API
// servers (Kubernetes 1.30 or later) evaluate it themselves, also while lastout is down.
// https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protection/placement.h"
#include "protection/policy.h"

namespace lastout::protection {

// On both objects: the name of the policy that they are made of.
inline constexpr std::string_view kMadeOfLabel = "lastout.dev/deletion-policy";

inline constexpr std::string_view kOwnNamePrefix = "lastout-";  // of all that are lastout's own
// The names of what is made: one of these prefixes and the policy's name.
inline constexpr std::string_view kAdmissionPolicyPrefix = "lastout-policy-";
inline constexpr std::string_view kForceGuardPrefix = "lastout-force-";
std::string admissionPolicyName(const DeletionPolicy& policy);
std::string forceGuardName(const DeletionPolicy& policy);
// Returns the name of the policy that an object of this name is made of: names with these prefixes are
// lastout's, whatever their labels say. Empty: it is somebody else's.
std::string policyOfMade(std::string_view name);

// Returns ValidatingAdmissionPolicies, each followed by its ValidatingAdmissionPolicyBinding of the same
// name: one denies what judge() does with Part::Local, the other is that of force_guard.h. Empty: the policy
// has no such part. With PolicyMode::Webhook it is the guard of force_guard.h alone: only an API server knows
// what a user may do. An expression can fail only where a field on the path of a FieldTest is no map; then
// the policy's failurePolicy counts.
std::vector<nlohmann::ordered_json> admissionPoliciesOf(const DeletionPolicy& policy,
                                                        PolicyMode mode = PolicyMode::ApiServer);

// The two objects of that name, which say in their labels that lastout made them, and of which policy; and,
// where that holds objects, by which finalizer (kHoldFinalizerAnnotation).
std::vector<nlohmann::ordered_json> withBinding(const DeletionPolicy& policy, const std::string& name,
                                                nlohmann::ordered_json spec);

// Whether a DELETE can be denied although the policy holds: another operator deletes the object by itself, or
// the object does not terminate and has no finalizer of the policy; and nothing forces its deletion.
std::string celOfNotHeld(const Hold& hold);

// The literal of a string in CEL, whatever it holds (UTF-8).
std::string celLiteral(std::string_view text);

}  // namespace lastout::protection

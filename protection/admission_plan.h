// Plans the writes that make the API server's ValidatingAdmissionPolicies match the DeletionPolicies. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "protection/placement.h"
#include "protection/policy.h"

namespace lastout::protection {

// A ValidatingAdmissionPolicy or a binding that stands and was made of a DeletionPolicy, as its name says.
struct StandingAdmissionPolicy {
  bool isBinding = false;
  std::string name;
  std::string uid;
  std::string resourceVersion;
  nlohmann::ordered_json object;  // all of it
};

struct AdmissionPolicyAction {
  enum class Kind : uint8_t { Create, Replace, Delete };
  Kind kind = Kind::Create;
  bool isBinding = false;
  std::string name;
  std::string policy;  // the DeletionPolicy that it is made of
  // What is to stand, with the uid and resourceVersion that are replaced; of a Delete those alone, as
  // metadata.
  nlohmann::ordered_json object;
};

// Returns the writes that make the existing objects match the policies, in order: creates a policy before its
// binding, and deletes a binding before its policy, so that no request meets half of them. Leaves correct
// objects alone, with the fields that the API server fills in. Empty: all objects are correct.
std::vector<AdmissionPolicyAction> planAdmissionPolicies(const std::vector<DeletionPolicy>& policies,
                                                         const std::vector<StandingAdmissionPolicy>& standing,
                                                         PolicyMode mode = PolicyMode::ApiServer);

// True if the object, as it stands, does what it was made to do, whatever the API server fills in.
bool standsAsMade(const nlohmann::ordered_json& made, const nlohmann::ordered_json& standing);

}  // namespace lastout::protection

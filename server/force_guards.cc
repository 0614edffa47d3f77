#include "server/force_guards.h"

#include <nlohmann/json.hpp>

#include "protection/admission_plan.h"
#include "protection/force_guard.h"

namespace lastout::server {
namespace {

constexpr const char* kRegistration = "admissionregistration.k8s.io";

// As Kubernetes 1.30 serves them; an older one has no such object.
kube::ResourceType servedTypeOf(bool isBinding) {
  if (isBinding)
    return {{kRegistration, "validatingadmissionpolicybindings"},
            "ValidatingAdmissionPolicyBinding",
            "v1",
            "validatingadmissionpolicybinding",
            {},
            false,
            true};
  return {{kRegistration, "validatingadmissionpolicies"},
          "ValidatingAdmissionPolicy",
          "v1",
          "validatingadmissionpolicy",
          {},
          false,
          true};
}

}  // namespace

std::string ForceGuards::problemOf(const protection::DeletionPolicy& policy) const {
  for (const nlohmann::ordered_json& made : protection::forceGuardOf(policy))
    if (std::string problem = problemOf(made); !problem.empty()) return problem;
  return "";
}

std::string ForceGuards::problemOf(const nlohmann::ordered_json& made) const {
  const auto kind = made["kind"].get<std::string>();
  const auto name = made["metadata"]["name"].get<std::string>();
  const std::string guard = kind + " " + name + ", by which API servers check who sets it, ";
  const auto read = client_.get(servedTypeOf(kind.ends_with("Binding")), {{}, "", name});
  if (!read) return guard + "cannot be read: " + read.error().why;
  if (!*read || (*read)->meta.deletionTimestamp)
    return guard +
           "is not there: lastout creates it where it may, and Kubernetes has such policies from 1.30 on; "
           "requires: Nothing in the DeletionPolicy does without";
  if (protection::standsAsMade(made, kube::toJson((*read)->content))) return "";
  return guard +
         "is not as lastout makes it: the condition Enforced of the DeletionPolicy says what keeps "
         "lastout from putting it back";
}

}  // namespace lastout::server

#include "server/controllers/force_guards.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "kube/resource_map.h"
#include "kube/well_known.h"
#include "protection/admission_plan.h"
#include "protection/force_guard.h"

namespace lastout::server {
namespace {

// An API server older than Kubernetes 1.30 has no object of these types.
const kube::ResourceType& guardTypeOf(std::string_view kind) {
  static const kube::ResourceMap kTypes = kube::ResourceMap::builtIn();
  return *kTypes.findKind(kube::kAdmissionRegistrationGroup, kind);
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
  const kube::ResourceType& type = guardTypeOf(kind);
  const std::string guard = kind + " " + name + ", by which API servers check who sets it, ";
  const auto read = client_.get(type, {type.type, "", name});
  if (!read) return guard + "cannot be read: " + read.error().why;
  if (!*read || (*read)->meta.deletionTimestamp)
    return guard +
           "is not there: lastout creates it where it may (the component keeps-admission-policies of "
           "deploy/), and "
           "Kubernetes has such policies from 1.30 on; "
           "requires: Nothing in the DeletionPolicy does without";
  if (protection::standsAsMade(made, kube::toJson((*read)->content))) return "";
  return guard +
         "is not as lastout makes it: the condition Enforced of the DeletionPolicy says what keeps "
         "lastout from putting it back";
}

}  // namespace lastout::server

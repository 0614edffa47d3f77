#include "simulator/mutation.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kube/well_known.h"
#include "simulator/builtin_checks.h"
#include "simulator/contents.h"
#include "simulator/defaults.h"
#include "simulator/field_error.h"
#include "simulator/names.h"
#include "simulator/scale.h"
#include "simulator/schema_rules.h"
#include "simulator/validating_admission_policies.h"
#include "simulator/webhooks.h"

namespace lastout::simulator {
std::string_view toString(Mutation::Operation operation) {
  switch (operation) {
    case Mutation::Operation::Create:
      return "CREATE";
    case Mutation::Operation::Update:
      return "UPDATE";
    case Mutation::Operation::Delete:
      break;
  }
  return "DELETE";
}

namespace {

// Whether it is still an object of its type, in its namespace.
ApiResult<void> matchMutated(const Mutation& mutation, Json& object) {
  const std::string space(stringAt(object, {"metadata", "namespace"}));
  auto matched = matchTarget(*mutation.type, {mutation.key.namespaceName, ""}, object);
  if (matched) return {};
  const bool isMoved = !space.empty() && space != mutation.key.namespaceName;
  if (isMoved || matched.error().code != 400) return matched;
  return tl::unexpected(internalError(matched.error().message));
}

// A name that was generated stays.
ApiResult<Json> mutatedCreation(Mutation& mutation, Json object) {
  const std::string_view name = stringAt(object, {"metadata", "name"});
  if (name.empty() && !stringAt(object, {"metadata", "generateName"}).empty())
    object["metadata"]["name"] = mutation.key.name;
  if (auto dropped = refuseResourceVersion(object); !dropped)
    return tl::unexpected(std::move(dropped.error()));
  const Birth birth{std::string(stringAt(mutation.after, {"metadata", "uid"})),
                    std::string(stringAt(mutation.after, {"metadata", "creationTimestamp"})),
                    [](uint32_t) { return 0U; }};
  return completed(*mutation.type, std::move(object), birth);
}

ApiResult<Json> mutatedUpdate(const Mutation& mutation, Json object) {
  const ServedType& type = *mutation.type;
  const Json& before = mutation.before->object();
  const std::string_view uid = stringAt(object, {"metadata", "uid"});
  if (!uid.empty() && uid != stringAt(before, {"metadata", "uid"}))
    return tl::unexpected(uidIsImmutable(type, mutation.key.name, uid));
  const std::string_view version = givenVersion(object);
  if (version.empty() && !type.builtIn) return tl::unexpected(noVersionGiven(type, mutation.key.name));
  if (!version.empty() && version != std::to_string(mutation.before->version()))
    return tl::unexpected(modified(type.type, mutation.key.name));
  const std::string_view subresource = mutation.shown ? "" : std::string_view(mutation.subresource);
  auto prepared = prepareForUpdate(rulesOf(type), before, std::move(object), subresource);
  if (!prepared) return tl::unexpected(std::move(prepared.error()));
  if (!prepared->changed) return before;
  if (!type.builtIn) return std::move(prepared->object);
  return completeOnUpdate(rulesOf(type), before, std::move(prepared->object));
}

}  // namespace

ApiError noVersionGiven(const ServedType& type, std::string_view name) {
  return invalid(type.kind, type.type.group, name,
                 {{"FieldValueInvalid", "Invalid value: 0x0: must be specified for an update",
                   "metadata.resourceVersion"}});
}

ApiError uidIsImmutable(const ServedType& type, std::string_view name, std::string_view uid) {
  return invalid(type.kind, type.type.group, name,
                 {invalidField("metadata.uid", std::string(uid), "field is immutable")});
}

ApiResult<void> fitToSchema(const ServedType& type, FieldValidation mode, std::string_view name, Json& object,
                            std::vector<std::string>& warnings) {
  if (type.builtIn) return checkBuiltIn(type, name, object);
  auto unknown = decodeBySchema(type, mode, object);
  if (!unknown) return tl::unexpected(std::move(unknown.error()));
  warnings.insert(warnings.end(), unknown->begin(), unknown->end());
  const std::vector<StatusCause> problems = schemaProblems(type.schema, object);
  if (!problems.empty()) return tl::unexpected(invalid(type.kind, type.type.group, name, problems));
  return {};
}

ApiResult<std::vector<std::string>> checkContent(const ServedType& type, const Json& object,
                                                 const Json* old) {
  std::vector<std::string> warnings;
  const bool isDefinition = type.type == kube::kCustomResourceDefinitions;
  if (isDefinition)
    if (auto served = servedTypesOf(object); !served) return tl::unexpected(std::move(served.error()));
  const std::vector<StatusCause> problems = isDefinition   ? definitionProblems(object)
                                            : type.builtIn ? fieldProblems(type.type, object)
                                                           : ruleProblems(type.schema, object, old);
  if (!problems.empty())
    return tl::unexpected(
        invalid(type.kind, type.type.group, stringAt(object, {"metadata", "name"}), problems));
  if (isPolicyKind(type.kind)) return checkPolicyOrBinding(object);
  if (type.type == kube::kMutatingAdmissionPolicies) {
    warnings.emplace_back("this server stores MutatingAdmissionPolicies and does not evaluate them");
  } else if (type.type.group == kube::kAdmissionRegistrationGroup) {
    auto webhooks = checkConfiguration(object);
    if (!webhooks) return tl::unexpected(std::move(webhooks.error()));
    for (Webhook& webhook : *webhooks) std::ranges::move(webhook.warnings, std::back_inserter(warnings));
  }
  return warnings;
}

ApiResult<void> acceptMutated(Mutation& mutation, Json object) {
  const ServedType& type = *mutation.type;
  if (mutation.shown) {  // a Scale: of it, only the replicas
    auto scaled = withScale(mutation.after, object);
    if (!scaled) return tl::unexpected(std::move(scaled.error()));
    object = std::move(*scaled);
  }
  if (auto matched = matchMutated(mutation, object); !matched) return matched;
  std::vector<std::string> unheard;
  if (auto fits = fitToSchema(type, FieldValidation::Ignore, mutation.key.name, object, unheard); !fits) {
    if (fits.error().code == 400) return tl::unexpected(internalError(fits.error().message));
    return fits;
  }
  auto accepted = mutation.before == nullptr ? mutatedCreation(mutation, std::move(object))
                                             : mutatedUpdate(mutation, std::move(object));
  if (!accepted) return tl::unexpected(std::move(accepted.error()));
  if (const auto problems = metadataProblems(type, *accepted); !problems.empty())
    return tl::unexpected(invalid(type.kind, type.type.group, mutation.key.name, problems));
  const Json* old = mutation.before == nullptr ? nullptr : &mutation.before->object();
  if (auto checked = checkContent(type, *accepted, old); !checked)
    return tl::unexpected(std::move(checked.error()));
  mutation.after = std::move(*accepted);
  mutation.key.name = stringAt(mutation.after, {"metadata", "name"});
  mutation.isMutated = true;
  if (mutation.shown) mutation.shown->after = scaleOf(mutation.after);
  return {};
}

}  // namespace lastout::simulator

// Writing: create, update, patch, and their subresources.
#include <mutex>
#include <utility>

#include "apiserver/api.h"
#include "apiserver/builtin_checks.h"
#include "apiserver/contents.h"
#include "apiserver/decode.h"
#include "apiserver/defaults.h"
#include "apiserver/names.h"
#include "apiserver/patch.h"
#include "apiserver/scale.h"
#include "apiserver/schema.h"
#include "apiserver/strategic_merge.h"

namespace lastout::apiserver {
namespace {

RequestTarget requestTargetOf(const Target& target) { return {target.namespaceName, target.name}; }

// Fields that a custom type's schema does not know go, or are refused; what the schema says is checked.
ApiResult<void> fitToSchema(const ServedType& type, const WriteOptions& options, std::string_view name,
                            Json& object, std::vector<std::string>& warnings) {
  if (type.builtIn) return checkBuiltIn(type, name, object);
  const FieldValidation mode =
      options.fieldValidation.empty()
          ? FieldValidation::Warn  // rest/052
          : parseFieldValidation(options.fieldValidation).value_or(FieldValidation::Ignore);
  auto unknown = decodeBySchema(type, mode, object);
  if (!unknown) return tl::unexpected(std::move(unknown.error()));
  warnings.insert(warnings.end(), unknown->begin(), unknown->end());
  const std::vector<Cause> problems = schemaProblems(type.schema, object);
  if (!problems.empty()) return tl::unexpected(invalid(type.kind, type.type.group, name, problems));
  return {};
}

// What a type's own strategy checks beyond its fields.
ApiResult<void> checkContent(const ServedType& type, const Json& object) {
  if (type.type == kube::crdType()) {
    if (auto served = servedTypesOf(object); !served) return tl::unexpected(std::move(served.error()));
  } else if (type.type.group == "admissionregistration.k8s.io") {
    if (auto webhooks = checkConfiguration(object); !webhooks)
      return tl::unexpected(std::move(webhooks.error()));
  }
  return {};
}

// Why the object cannot come into being now, in the API server's words.
ApiError refusedCreation(const ControlPlane& plane, const ServedType& type, const kube::ObjectKey& key,
                         std::string_view why) {
  const RecordRef space = plane.storage.find({{"", "namespaces"}, "", key.namespaceName});
  if (why == "AlreadyExists") return alreadyExists(key.type, key.name);
  if (why == "MethodNotAllowed") {
    return {405,
            "MethodNotAllowed",
            "create not allowed while custom resource definition is terminating",
            {{"group", key.type.group}, {"kind", type.kind}}};
  }
  if (why == "NotFound" && !key.namespaceName.empty() && space == nullptr)
    return notFound({"", "namespaces"}, key.namespaceName);
  if (why == "Forbidden") {
    ApiError error = forbidden(
        key.type, key.name,
        "unable to create new content in namespace " + key.namespaceName + " because it is being terminated");
    error.details["causes"] =
        Json::array({{{"reason", "NamespaceTerminating"},
                      {"message", "namespace " + key.namespaceName + " is being terminated"},
                      {"field", "metadata.namespace"}}});
    return error;
  }
  return notFound(key.type, key.name);
}

ApiError noVersionGiven(const ServedType& type, std::string_view name) {
  return invalid(type.kind, type.type.group, name,
                 {{"FieldValueInvalid", "Invalid value: 0x0: must be specified for an update",
                   "metadata.resourceVersion"}});
}

// A body's resourceVersion and uid must be those of what is stored.
ApiResult<void> checkIdentity(const ServedType& type, const Record& before, const Json& object) {
  const std::string_view version = stringAt(object, {"metadata", "resourceVersion"});
  if (version.empty() && !type.builtIn) return tl::unexpected(noVersionGiven(type, before.key().name));
  if (!version.empty() && version != std::to_string(before.version()))
    return tl::unexpected(modified(type.type, before.key().name));
  const std::string_view uid = stringAt(object, {"metadata", "uid"});
  const std::string_view actual = stringAt(before.object(), {"metadata", "uid"});
  if (uid.empty() || uid == actual) return {};
  return tl::unexpected(conflict(type.type, before.key().name,
                                 "Precondition failed: UID in precondition: " + std::string(uid) +
                                     ", UID in object meta: " + std::string(actual)));
}

ApiResult<Json> patched(PatchType patchType, const ServedType& type, const Json& object, const Json& patch,
                        const ApplyRequest& request) {
  switch (patchType) {
    case PatchType::Json:
      return jsonPatch(object, patch);
    case PatchType::Merge:
      return mergePatch(object, patch);
    case PatchType::Strategic:
      return strategicMerge(type.type, object, patch);
    case PatchType::Apply:
      break;
  }
  return applyPatch(object, patch, request);
}

}  // namespace

ApiResult<HttpResponse> Api::create(Call& call) {
  const auto options = parseWriteOptions(call.http.query);
  if (!options) return tl::unexpected(options.error());
  auto body = decodeBody(call.http.body, call.http.contentType, call.type->kind);
  if (!body) return tl::unexpected(std::move(body.error()));
  if (auto matched = matchTarget(*call.type, requestTargetOf(call.target), *body); !matched)
    return tl::unexpected(std::move(matched.error()));
  if (call.type->storageVersionHash.empty()) return answerReview(call, std::move(*body));
  return createObject(call, std::move(*body), *options);
}

ApiResult<HttpResponse> Api::createObject(Call& call, Json object, const WriteOptions& options) {
  if (auto dropped = refuseResourceVersion(object); !dropped)
    return tl::unexpected(std::move(dropped.error()));
  const bool named = !stringAt(object, {"metadata", "name"}).empty();
  const std::string name(stringAt(object, {"metadata", "name"}));
  if (const auto problems = metadataProblems(*call.type, object, named); !problems.empty())
    return tl::unexpected(invalid(call.type->kind, call.type->type.group, name, problems));
  if (auto fits = fitToSchema(*call.type, options, name, object, call.warnings); !fits)
    return tl::unexpected(std::move(fits.error()));
  const bool serverSide = call.http.method == "PATCH";
  auto stored = perform(call, [&]() -> ApiResult<Prepared> {
    Mutation mutation;
    mutation.operation = Mutation::Operation::Create;
    mutation.type = call.type;
    mutation.after = completed(plane_, *call.type, object);
    mutation.key = {call.type->type, call.target.namespaceName,
                    std::string(stringAt(mutation.after, {"metadata", "name"}))};
    if (const char* why = plane_.live.refusesCreation(mutation.key, serverSide))
      return tl::unexpected(refusedCreation(plane_, *call.type, mutation.key, why));
    if (auto checked = checkContent(*call.type, mutation.after); !checked)
      return tl::unexpected(std::move(checked.error()));
    mutation.options = options.asGiven("CreateOptions");
    mutation.nameIsKnown = named;
    mutation.dryRun = options.dryRun;
    mutation.user = call.http.user;
    return Prepared{std::move(mutation), nullptr};
  });
  if (!stored) return tl::unexpected(std::move(stored.error()));
  return answerWith(201, *call.type, *stored, call.view);
}

ApiResult<HttpResponse> Api::answerReview(Call& call, Json review) {
  const std::string& resource = call.type->type.resource;
  const UserInfo& asking = call.http.user;
  auto answer = resource == "tokenreviews"           ? answerTokenReview(users_, std::move(review))
                : resource == "subjectaccessreviews" ? answerSubjectAccessReview(users_, std::move(review))
                : resource == "selfsubjectrulesreviews"
                    ? answerSelfSubjectRulesReview(users_, asking, std::move(review))
                    : answerSelfSubjectAccessReview(users_, asking, std::move(review));
  if (!answer) return tl::unexpected(std::move(answer.error()));
  return answerWith(201, *call.type, *answer, call.view);
}

ApiResult<HttpResponse> Api::update(Call& call) {
  const auto options = parseWriteOptions(call.http.query);
  if (!options) return tl::unexpected(options.error());
  auto body = decodeBody(call.http.body, call.http.contentType, call.type->kind);
  if (!body) return tl::unexpected(std::move(body.error()));
  const bool scales = call.target.subresource == "scale";
  if (!scales) {
    if (auto matched = matchTarget(*call.type, requestTargetOf(call.target), *body); !matched)
      return tl::unexpected(std::move(matched.error()));
  }
  auto stored = perform(call, [&]() -> ApiResult<Prepared> {
    const RecordRef before = plane_.storage.find(call.key());
    if (before == nullptr) return tl::unexpected(notFound(call.type->type, call.target.name));
    if (scales) return prepareScale(call, before, *body, *options);
    return prepareUpdate(call, before, *body, *options);
  });
  if (!stored) return tl::unexpected(std::move(stored.error()));
  return answerWith(200, *call.type, scales ? scaleOf(*stored) : *stored, call.view);
}

ApiResult<HttpResponse> Api::patch(Call& call) {
  const auto options = parseWriteOptions(call.http.query);
  if (!options) return tl::unexpected(options.error());
  const auto patchType = parsePatchType(call.http.contentType, call.type->type);
  if (!patchType) return tl::unexpected(patchType.error());
  const auto body = decodePatch(call.http.body, *patchType);
  if (!body) return tl::unexpected(body.error());
  const ApplyRequest apply{call.target.name, options->fieldManager};
  const bool scales = call.target.subresource == "scale";
  bool isNew = false;
  auto stored = perform(call, [&]() -> ApiResult<Prepared> {
    const RecordRef before = plane_.storage.find(call.key());
    isNew = before == nullptr && *patchType == PatchType::Apply && call.target.subresource.empty();
    if (isNew) return Prepared{std::nullopt, nullptr};
    if (before == nullptr) return tl::unexpected(notFound(call.type->type, call.target.name));
    const Json old = scales ? scaleOf(before->object()) : before->object();
    auto object = patched(*patchType, *call.type, old, *body, apply);
    if (!object) return tl::unexpected(std::move(object.error()));
    if (scales) return prepareScale(call, before, *object, *options);
    if (auto matched = matchTarget(*call.type, requestTargetOf(call.target), *object); !matched)
      return tl::unexpected(std::move(matched.error()));
    return prepareUpdate(call, before, std::move(*object), *options);
  });
  if (!stored) return tl::unexpected(std::move(stored.error()));
  if (!isNew) return answerWith(200, *call.type, scales ? scaleOf(*stored) : *stored, call.view);
  auto object = applyPatch(nullptr, *body, apply);
  if (!object) return tl::unexpected(std::move(object.error()));
  if (auto matched = matchTarget(*call.type, requestTargetOf(call.target), *object); !matched)
    return tl::unexpected(std::move(matched.error()));
  return createObject(call, std::move(*object), *options);
}

ApiResult<Api::Prepared> Api::prepareUpdate(Call& call, const RecordRef& before, Json object,
                                            const WriteOptions& options) {
  const ServedType& type = *call.type;
  if (auto same = checkIdentity(type, *before, object); !same) return tl::unexpected(std::move(same.error()));
  if (const auto problems = metadataProblems(type, object); !problems.empty())
    return tl::unexpected(invalid(type.kind, type.type.group, call.target.name, problems));
  call.warnings.clear();  // of an earlier attempt
  if (auto fits = fitToSchema(type, options, call.target.name, object, call.warnings); !fits)
    return tl::unexpected(std::move(fits.error()));
  auto prepared =
      prepareForUpdate(rulesOf(type), before->object(), std::move(object), call.target.subresource);
  if (!prepared) return tl::unexpected(std::move(prepared.error()));
  Json after = type.builtIn ? completeOnUpdate(type.type, before->object(), std::move(prepared->object))
                            : std::move(prepared->object);
  if (!prepared->changed) return Prepared{std::nullopt, before->object()};
  if (auto checked = checkContent(type, after); !checked) return tl::unexpected(std::move(checked.error()));
  Mutation mutation;
  mutation.operation = Mutation::Operation::Update;
  mutation.type = call.type;
  mutation.key = before->key();
  mutation.subresource = call.target.subresource;
  mutation.before = before;
  mutation.after = std::move(after);
  mutation.options = options.asGiven("UpdateOptions");
  mutation.dryRun = options.dryRun;
  mutation.user = call.http.user;
  return Prepared{std::move(mutation), nullptr};
}

// A review shows the Scale, not the workload (admission/11).
ApiResult<Api::Prepared> Api::prepareScale(Call& call, const RecordRef& before, const Json& scale,
                                           const WriteOptions& options) {
  auto object = withScale(before->object(), scale);
  if (!object) return tl::unexpected(std::move(object.error()));
  const std::string_view version = stringAt(scale, {"metadata", "resourceVersion"});
  if (!version.empty() && version != std::to_string(before->version()))
    return tl::unexpected(modified(call.type->type, call.target.name));
  const std::string subresource = std::exchange(call.target.subresource, "");
  auto prepared = prepareUpdate(call, before, std::move(*object), options);
  call.target.subresource = subresource;
  if (!prepared || !prepared->mutation) return prepared;
  Mutation& mutation = *prepared->mutation;
  mutation.subresource = subresource;
  mutation.shown =
      Mutation::Shown{"autoscaling", "v1", "Scale", scaleOf(before->object()), scaleOf(mutation.after)};
  return prepared;
}

}  // namespace lastout::apiserver

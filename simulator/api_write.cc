// Writing: create, update, patch, and their subresources.
#include <algorithm>
#include <iterator>
#include <utility>

#include "kube/well_known.h"
#include "simulator/api.h"
#include "simulator/contents.h"
#include "simulator/decode.h"
#include "simulator/defaults.h"
#include "simulator/mutation.h"
#include "simulator/names.h"
#include "simulator/patch.h"
#include "simulator/scale.h"
#include "simulator/schema.h"

namespace lastout::simulator {
namespace {

RequestTarget requestTargetOf(const Target& target) { return {target.namespaceName, target.name}; }

FieldValidation validationOf(const WriteOptions& options) {
  if (options.fieldValidation.empty()) return FieldValidation::Warn;  // rest/052
  return parseFieldValidation(options.fieldValidation).value_or(FieldValidation::Ignore);
}

// A body's resourceVersion and uid must be those of what is stored. `isWhole`: the client sent all of it
// (PUT), and thereby said which object it means; of a patch the uid is a field like others.
ApiResult<void> checkIdentity(const ServedType& type, const StoredRecord& before, const Json& object,
                              bool isWhole) {
  const std::string_view version = givenVersion(object);
  if (version.empty() && !type.builtIn) return tl::unexpected(noVersionGiven(type, before.key().name));
  if (!version.empty() && version != std::to_string(before.version()))
    return tl::unexpected(modified(type.type, before.key().name));
  const std::string_view uid = stringAt(object, {"metadata", "uid"});
  const std::string_view actual = stringAt(before.object(), {"metadata", "uid"});
  if (uid.empty() || uid == actual) return {};
  if (!isWhole) return tl::unexpected(uidIsImmutable(type, before.key().name, uid));
  return tl::unexpected(conflict(type.type, before.key().name,
                                 "Precondition failed: UID in precondition: " + std::string(uid) +
                                     ", UID in object meta: " + std::string(actual)));
}

// API servers track each field's owner by the schema, and answer so when they cannot.
ApiResult<Json> applied(const ServedType& type, const Json& object, const Json& patch,
                        const ApplyRequest& request) {
  for (const auto& [which, value] : {std::pair("patch", &patch), std::pair("live", &object)}) {
    const auto list = unmergeableSet(type.schema, *value);
    if (!list) continue;
    const std::string_view space = stringAt(*value, {"metadata", "namespace"});
    return tl::unexpected(ApiError{500, "",
                                   "failed to create typed " + std::string(which) + " object (" +
                                       std::string(space) + "/" + std::string(request.name) + "; " +
                                       type.apiVersion() + ", Kind=" + type.kind + "): " + *list +
                                       ": associative list without keys has an element that's a map type",
                                   nullptr});
  }
  return applyPatch(object, patch, request);
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
  return applied(type, object, patch, request);
}

}  // namespace

ApiResult<ExchangeResponse> Api::create(Call& call) {
  const auto options = parseWriteOptions("CreateOptions", call.http.query);
  if (!options) return tl::unexpected(options.error());
  auto body = decodeBody(call.http.body, call.http.contentType, call.type->kind);
  if (!body) return tl::unexpected(std::move(body.error()));
  if (auto matched = matchTarget(*call.type, requestTargetOf(call.target), *body); !matched)
    return tl::unexpected(std::move(matched.error()));
  if (call.type->storageVersionHash.empty()) return answerReview(call, std::move(*body));
  auto stored =
      perform(call, call.key(), [&](const RecordRef&) { return prepareCreate(call, *body, *options); });
  if (!stored) return tl::unexpected(std::move(stored.error()));
  return answerWith(201, *call.type, *stored, call.view);
}

ApiResult<Mutation> Api::prepareCreate(Call& call, Json object, const WriteOptions& options) const {
  if (auto dropped = refuseResourceVersion(object); !dropped)
    return tl::unexpected(std::move(dropped.error()));
  const bool named = !stringAt(object, {"metadata", "name"}).empty();
  const std::string name(stringAt(object, {"metadata", "name"}));
  if (const auto problems = metadataProblems(*call.type, object, named); !problems.empty())
    return tl::unexpected(invalid(call.type->kind, call.type->type.group, name, problems));
  if (auto fits = fitToSchema(*call.type, validationOf(options), name, object, call.warnings); !fits)
    return tl::unexpected(std::move(fits.error()));
  Mutation mutation;
  mutation.operation = Mutation::Operation::Create;
  mutation.type = call.type;
  mutation.after = completed(plane_, *call.type, std::move(object));
  mutation.key = {call.type->type, call.target.namespaceName,
                  std::string(stringAt(mutation.after, {"metadata", "name"}))};
  auto checked = checkContent(*call.type, mutation.after, nullptr);
  if (!checked) return tl::unexpected(std::move(checked.error()));
  std::ranges::move(*checked, std::back_inserter(call.warnings));
  mutation.options = options.asGiven("CreateOptions");
  mutation.nameIsKnown = named;
  mutation.dryRun = options.dryRun;
  mutation.isApplied = call.http.method == "PATCH";
  mutation.user = call.http.user;
  return mutation;
}

ApiResult<ExchangeResponse> Api::answerReview(Call& call, Json review) {
  const std::string& resource = call.type->type.resource;
  const UserInfo& asking = call.http.user;
  auto answer = resource == "tokenreviews" ? answerTokenReview(users_, std::move(review))
                : resource == "localsubjectaccessreviews"
                    ? answerLocalSubjectAccessReview(users_, call.target.namespaceName, std::move(review))
                : resource == "subjectaccessreviews" ? answerSubjectAccessReview(users_, std::move(review))
                : resource == "selfsubjectrulesreviews"
                    ? answerSelfSubjectRulesReview(users_, asking, std::move(review))
                    : answerSelfSubjectAccessReview(users_, asking, std::move(review));
  if (!answer) return tl::unexpected(std::move(answer.error()));
  return answerWith(201, *call.type, *answer, call.view);
}

ApiResult<ExchangeResponse> Api::update(Call& call) {
  const auto options = parseWriteOptions("UpdateOptions", call.http.query);
  if (!options) return tl::unexpected(options.error());
  auto body = decodeBody(call.http.body, call.http.contentType, call.type->kind);
  if (!body) return tl::unexpected(std::move(body.error()));
  const bool scales = call.target.subresource == "scale";
  if (!scales) {
    if (auto matched = matchTarget(*call.type, requestTargetOf(call.target), *body); !matched)
      return tl::unexpected(std::move(matched.error()));
  }
  auto stored = perform(call, call.key(), [&](const RecordRef& before) -> ApiResult<Mutation> {
    if (before == nullptr) return tl::unexpected(notFound(call.type->type, call.target.name));
    if (scales) return prepareScale(call, before, *body, *options);
    return prepareUpdate(call, before, *body, *options);
  });
  if (!stored) return tl::unexpected(std::move(stored.error()));
  return answerWith(200, *call.type, scales ? scaleOf(*stored) : *stored, call.view);
}

ApiResult<ExchangeResponse> Api::patch(Call& call) {
  const auto options = parseWriteOptions("PatchOptions", call.http.query);
  if (!options) return tl::unexpected(options.error());
  const auto patchType = parsePatchType(call.http.contentType, call.type->type);
  if (!patchType) return tl::unexpected(patchType.error());
  const auto body = decodePatch(call.http.body, *patchType);
  if (!body) return tl::unexpected(body.error());
  const ApplyRequest apply{call.target.name, options->fieldManager};
  const bool scales = call.target.subresource == "scale";
  bool isNew = false;
  auto stored = perform(call, call.key(), [&](const RecordRef& before) -> ApiResult<Mutation> {
    isNew = before == nullptr && *patchType == PatchType::Apply && call.target.subresource.empty();
    if (before == nullptr && !isNew) return tl::unexpected(notFound(call.type->type, call.target.name));
    if (isNew) {
      if (auto allowed = authorize(call, "create"); !allowed)
        return tl::unexpected(std::move(allowed.error()));
    }
    const Json old = isNew ? Json() : scales ? scaleOf(before->object()) : before->object();
    auto object = patched(*patchType, *call.type, old, *body, apply);
    if (!object) return tl::unexpected(std::move(object.error()));
    if (scales) return prepareScale(call, before, *object, *options);
    if (auto matched = matchTarget(*call.type, requestTargetOf(call.target), *object); !matched)
      return tl::unexpected(std::move(matched.error()));
    if (isNew) return prepareCreate(call, std::move(*object), *options);
    return prepareUpdate(call, before, std::move(*object), *options);
  });
  if (!stored) return tl::unexpected(std::move(stored.error()));
  return answerWith(isNew ? 201 : 200, *call.type, scales ? scaleOf(*stored) : *stored, call.view);
}

ApiResult<Mutation> Api::prepareUpdate(Call& call, const RecordRef& before, Json object,
                                       const WriteOptions& options) const {
  const ServedType& type = *call.type;
  if (auto same = checkIdentity(type, *before, object, call.http.method == "PUT"); !same)
    return tl::unexpected(std::move(same.error()));
  if (const auto problems = metadataProblems(type, object); !problems.empty())
    return tl::unexpected(invalid(type.kind, type.type.group, call.target.name, problems));
  if (auto fits = fitToSchema(type, validationOf(options), call.target.name, object, call.warnings); !fits)
    return tl::unexpected(std::move(fits.error()));
  auto prepared =
      prepareForUpdate(rulesOf(type), before->object(), std::move(object), call.target.subresource);
  if (!prepared) return tl::unexpected(std::move(prepared.error()));
  Json after = type.builtIn ? completeOnUpdate(rulesOf(type), before->object(), std::move(prepared->object))
                            : std::move(prepared->object);
  if (!prepared->changed) after = before->object();  // reviewed all the same
  auto checked = checkContent(type, after, &before->object());
  if (!checked) return tl::unexpected(std::move(checked.error()));
  std::ranges::move(*checked, std::back_inserter(call.warnings));
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
  return mutation;
}

// A review shows the Scale, not the workload (admission/11).
ApiResult<Mutation> Api::prepareScale(Call& call, const RecordRef& before, const Json& scale,
                                      const WriteOptions& options) const {
  auto object = withScale(before->object(), scale);
  if (!object) return tl::unexpected(std::move(object.error()));
  const std::string_view version = givenVersion(scale);
  if (!version.empty() && version != std::to_string(before->version()))
    return tl::unexpected(modified(call.type->type, call.target.name));
  const std::string subresource = std::exchange(call.target.subresource, "");
  auto mutation = prepareUpdate(call, before, std::move(*object), options);
  call.target.subresource = subresource;
  if (!mutation) return mutation;
  mutation->subresource = subresource;
  mutation->shown =
      Mutation::Shown{"autoscaling", "v1", "Scale", scaleOf(before->object()), scaleOf(mutation->after)};
  return mutation;
}

}  // namespace lastout::simulator

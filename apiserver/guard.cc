#include "apiserver/guard.h"

#include <utility>

#include "admission/scaling.h"
#include "admission/service_changes.h"
#include "criticalservice/critical_service.h"
#include "kube/object.h"
#include "protection/cel.h"
#include "protection/policy.h"

namespace lastout::apiserver {
namespace {

ApiError denialBecause(const std::string& why, Json causes) {
  return {403,
          "Forbidden",
          std::string("admission webhook \"") + kGuardName + "\" denied the request: " + why,
          {{"causes", std::move(causes)}}};
}

ApiError denialOf(const admission::Explanation& explanation) {
  Json causes = Json::array();
  for (const admission::Cause& cause : explanation.causes) {
    Json item = {{"reason", cause.reason}, {"message", cause.message}};
    if (!cause.field.empty()) item["field"] = cause.field;
    causes.push_back(std::move(item));
  }
  return denialBecause(explanation.message, std::move(causes));
}

ApiError denialOf(const kube::Errors& errors) {
  Json causes = Json::array();
  for (const kube::Error& error : errors)
    causes.push_back({{"reason", "FieldValueInvalid"}, {"message", error.message}});
  return denialBecause(admission::joinedMessages(errors), std::move(causes));
}

// What is stored was checked before: metadata that cannot be read is none that orders anything.
std::optional<kube::Object> objectOf(const kube::ObjectKey& key, const Json& stored) {
  kube::Object object;
  object.key = key;
  object.content = kube::fromJson(stored);
  const kube::Value* metadata = object.content.find("metadata");
  if (metadata == nullptr) return std::nullopt;
  auto meta = kube::parseMeta(*metadata, "");
  if (!meta) return std::nullopt;
  object.meta = std::move(*meta);
  return object;
}

bool writes(const Mutation& mutation, const kube::GroupResource& type) {
  return mutation.operation != Mutation::Operation::Delete && mutation.key.type == type &&
         mutation.subresource.empty();
}

// The objects that API servers enforce a policy by.
std::vector<Json> enforcing(const protection::DeletionPolicy& policy) {
  std::vector<Json> made;
  for (const auto& object : protection::admissionPoliciesOf(policy)) made.emplace_back(object);
  return made;
}

// What is wrong with a DeletionPolicy.
kube::Errors policyProblems(const Json& stored, const kube::ResourceMap& types) {
  const auto object = kube::parseObject(kube::fromJson(stored), "", types);
  if (!object) return {object.error()};
  auto policy = protection::parsePolicy(*object);
  if (!policy) return std::move(policy.error());
  kube::Errors problems;
  for (const Json& one : enforcing(*policy)) {
    if (const auto checked = checkPolicyOrBinding(one); !checked)
      problems.push_back({checked.error().message, {}, {}});
  }
  return problems;
}

}  // namespace

Guard::Guard(ControlPlane& plane) : types_(plane.types) {
  view_.understandBy(criticalservice::knownTypes(types_.resources()));
  plane.observe([this](const Write& write) { take(write); });
}

// Of a CriticalService that cannot be understood the view guards the provider.
void Guard::take(const Write& write) {
  const kube::ObjectKey& key = write.record->key();
  const Json& object = write.record->object();
  const bool isPolicy = key.type == protection::deletionPolicyType();
  if (isPolicy) takeBack(key.name);
  if (write.kind == Write::Kind::Deleted) {
    view_.remove(key);
  } else if (key.type == criticalservice::criticalServiceType()) {
    if (auto service = kube::parseObject(kube::fromJson(object), "", types_.resources()))
      view_.guard(std::move(*service));
  } else if (const std::optional<kube::Object> told = objectOf(key, object)) {
    view_.tell(*told);
    if (isPolicy) enforce(*told);
  }
  // What it defines is served by now, or no longer.
  if (key.type == kube::crdType()) view_.understandAgain(kube::definedBy(key.name).group);
}

// Its content was checked before it was stored, by a guard that was there from the beginning.
void Guard::enforce(const kube::Object& policy) {
  kube::Object named = policy;
  named.apiVersion = protection::kPolicyApiVersion;
  named.kind = protection::kPolicyKind;
  const auto parsed = protection::parsePolicy(named);
  if (!parsed) return;
  for (const Json& one : enforcing(*parsed)) static_cast<void>(policies_.put(one));
}

void Guard::takeBack(const std::string& policy) {
  protection::DeletionPolicy named;
  named.meta.name = policy;
  for (const std::string& name : {protection::admissionPolicyName(named), protection::forceGuardName(named)})
    for (const char* kind : {"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"})
      policies_.remove(kind, name);
}

// What is wrong with a CriticalService, or with what becomes of it.
kube::Errors Guard::problemsOf(const Mutation& mutation) const {
  const auto after = kube::parseObject(kube::fromJson(mutation.after), "", types_.resources());
  if (!after) return {after.error()};
  std::optional<kube::Object> before;
  if (mutation.before != nullptr) {
    if (auto read = kube::parseObject(kube::fromJson(mutation.before->object()), "", types_.resources()))
      before = std::move(*read);
  }
  return admission::serviceProblems(
      view_, types_.resources(), {}, before ? &*before : nullptr, *after,
      [this](const criticalservice::Criterion& criterion) { return view_.isMet(criterion); });
}

std::optional<ApiResult<void>> Guard::review(const Mutation& mutation) const {
  const bool isService = writes(mutation, criticalservice::criticalServiceType());
  if (isService || writes(mutation, protection::deletionPolicyType())) {
    const kube::Errors problems =
        isService ? problemsOf(mutation) : policyProblems(mutation.after, types_.resources());
    if (problems.empty()) return ApiResult<void>();
    return tl::unexpected(denialOf(problems));
  }
  const bool deletes = mutation.operation == Mutation::Operation::Delete;
  if (!deletes && !scalesGuarded(mutation)) return std::nullopt;
  const admission::Decision decision = view_.decide(mutation.key);
  if (decision.allowed) return ApiResult<void>();
  admission::Explanation explanation = view_.explain(mutation.key, decision);
  if (!deletes) explanation.message.insert(0, admission::kScalingIsGuarded);
  return tl::unexpected(denialOf(explanation));
}

bool Guard::scalesGuarded(const Mutation& mutation) const {
  const bool mayScale = mutation.subresource.empty() || mutation.subresource == "scale";
  return mutation.operation == Mutation::Operation::Update && mayScale && view_.guardsScaling(mutation.key) &&
         admission::scalesToZero(kube::fromJson(mutation.before->object()), kube::fromJson(mutation.after));
}

}  // namespace lastout::apiserver

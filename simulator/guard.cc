#include "simulator/guard.h"

#include <utility>

#include "admission/scaling.h"
#include "admission/service_changes.h"
#include "criticalservice/critical_service.h"
#include "kube/well_known.h"
#include "protection/policy.h"

namespace lastout::simulator {
namespace {

ApiError denialBecause(const std::string& webhook, int code, const std::string& why, Json causes) {
  return {code,
          code == 409 ? "Conflict" : "Forbidden",
          "admission webhook \"" + webhook + "\" denied the request: " + why,
          {{"causes", std::move(causes)}}};
}

ApiError denialOf(const kube::Errors& errors) {
  Json causes = Json::array();
  for (const kube::Error& error : errors)
    causes.push_back({{"reason", "FieldValueInvalid"}, {"message", error.message}});
  return denialBecause(kGuardName, 403, admission::joinedMessages(errors), std::move(causes));
}

bool writes(const Mutation& mutation, const kube::GroupResource& type) {
  return mutation.operation != Mutation::Operation::Delete && mutation.key.type == type &&
         mutation.subresource.empty();
}

}  // namespace

EmbeddedGuard::EmbeddedGuard(ControlPlane& plane)
    : types_(plane.types), policies_(plane.types, plane.storage) {
  view_.understandBy(criticalservice::knownTypes(types_.resources()));
  plane.observe([this](const Write& write) { take(write); });
}

// Of a CriticalService that cannot be understood the view guards the provider.
void EmbeddedGuard::take(const Write& write) {
  const kube::ObjectKey& key = write.record->key();
  const Json& object = write.record->object();
  policies_.take(write);
  if (write.kind == Write::Kind::Deleted) {
    view_.remove(key);
  } else if (key.type == criticalservice::criticalServiceType()) {
    if (auto service = kube::parseObject(kube::fromJson(object), "", types_.resources()))
      view_.guard(std::move(*service));
  } else if (const std::optional<kube::Object> told = objectOf(key, object)) {
    view_.tell(*told);
  }
  // What it defines is served by now, or no longer.
  if (key.type == kube::kCustomResourceDefinitions) view_.understandAgain(kube::definedBy(key.name).group);
}

// What is wrong with a CriticalService, or with what becomes of it.
kube::Errors EmbeddedGuard::problemsOf(const Mutation& mutation) const {
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

std::optional<ApiResult<void>> EmbeddedGuard::review(const Mutation& mutation) {
  const bool isService = writes(mutation, criticalservice::criticalServiceType());
  if (isService || writes(mutation, protection::deletionPolicyType())) {
    const kube::Errors problems =
        isService ? problemsOf(mutation) : policyProblems(mutation.after, types_.resources());
    if (problems.empty()) return ApiResult<void>();
    return tl::unexpected(lastout::simulator::denialOf(problems));
  }
  const std::vector<protection::Denial> protections = policies_.judge(mutation);
  const bool deletes = mutation.operation == Mutation::Operation::Delete;
  const bool isDecided = deletes || scalesGuarded(mutation);
  if (!isDecided && protections.empty()) return std::nullopt;
  admission::Explanation explanation;
  if (isDecided) {
    const admission::Decision decision = view_.decide(mutation.key);
    if (!decision.allowed) explanation = view_.explain(mutation.key, decision);
    if (!decision.allowed && !deletes) explanation.message.insert(0, admission::kScalingIsGuarded);
  }
  if (explanation.message.empty() && protections.empty()) return ApiResult<void>();
  return tl::unexpected(denialOf(std::move(explanation), protections));
}

// What CriticalServices say comes first, then each policy.
ApiError EmbeddedGuard::denialOf(admission::Explanation explanation,
                                 const std::vector<protection::Denial>& protections) const {
  const bool isOfPolicies = explanation.message.empty();
  int code = isOfPolicies ? protections.front().code : 403;
  std::string webhook = isOfPolicies ? policies_.webhookNameOf(protections.front().policy) : "";
  Json causes = Json::array();
  for (const admission::DenialCause& cause : explanation.causes) {
    Json item = {{"reason", cause.reason}, {"message", cause.message}};
    if (!cause.field.empty()) item["field"] = cause.field;
    causes.push_back(std::move(item));
  }
  std::string& message = explanation.message;
  for (const protection::Denial& one : protections) {
    if (one.code != code) code = 403;
    if (policies_.webhookNameOf(one.policy) != webhook) webhook.clear();
    message += (message.empty() ? "" : "; ") + one.message;
    causes.push_back({{"reason", one.isUncertain ? "ProtectionUnknown" : "Protected"},
                      {"message", one.reason},
                      {"field", fieldOf(one)}});
  }
  return denialBecause(webhook.empty() ? kGuardName : webhook, code, message, std::move(causes));
}

bool EmbeddedGuard::scalesGuarded(const Mutation& mutation) const {
  const bool mayScale = mutation.subresource.empty() || mutation.subresource == "scale";
  return mutation.operation == Mutation::Operation::Update && mayScale && view_.guardsScaling(mutation.key) &&
         admission::scalesToZero(kube::fromJson(mutation.before->object()), kube::fromJson(mutation.after));
}

}  // namespace lastout::simulator

#include "apiserver/guard.h"

#include <utility>

#include "criticalservice/critical_service.h"
#include "kube/object.h"

namespace lastout::apiserver {
namespace {

constexpr const char* kWebhookName = "deletions.lastout.dev";

ApiError refusalOf(const admission::Explanation& explanation) {
  Json causes = Json::array();
  for (const admission::Cause& cause : explanation.causes) {
    Json item = {{"reason", cause.reason}, {"message", cause.message}};
    if (!cause.field.empty()) item["field"] = cause.field;
    causes.push_back(std::move(item));
  }
  return {
      403,
      "Forbidden",
      std::string("admission webhook \"") + kWebhookName + "\" denied the request: " + explanation.message,
      {{"causes", std::move(causes)}}};
}

// What is stored was checked before: metadata that cannot be read is none that orders anything.
std::optional<kube::ObjectMeta> metaOf(const Json& object) {
  const Json* metadata = at(object, {"metadata"});
  if (metadata == nullptr) return std::nullopt;
  auto meta = kube::parseMeta(kube::fromJson(*metadata), "");
  if (!meta) return std::nullopt;
  return std::move(*meta);
}

}  // namespace

Guard::Guard(ControlPlane& plane) : types_(plane.types), view_(plane.types.resources()) {
  plane.observe([this](const Write& write) { take(write); });
}

// The plane serves what a CRD defines before it tells of the CRD. A CriticalService that cannot be understood
// guards nothing.
void Guard::take(const Write& write) {
  const kube::ObjectKey& key = write.record->key();
  const Json& object = write.record->object();
  if (write.kind == Write::Kind::Deleted) {
    view_.remove(key);
  } else if (key.type == criticalservice::criticalServiceType()) {
    if (auto service = kube::parseObject(kube::fromJson(object), "", types_.resources()))
      view_.guard(std::move(*service));
  } else if (const std::optional<kube::ObjectMeta> meta = metaOf(object)) {
    view_.upsert(key.type, *meta);
  }
  if (key.type == kube::crdType()) view_.typesChanged();
}

std::optional<ApiError> Guard::refusal(const Mutation& mutation) const {
  if (mutation.operation != Mutation::Operation::Delete) return std::nullopt;
  const admission::Decision decision = view_.decide(mutation.key);
  if (decision.allowed) return std::nullopt;
  return refusalOf(view_.explain(mutation.key, decision));
}

}  // namespace lastout::apiserver

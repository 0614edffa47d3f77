#include "apiserver/guard.h"

#include <utility>

#include "admission/explain.h"
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

Guard::Guard(ControlPlane& plane) : types_(plane.types), index_(graph_) {
  know(criticalservice::criticalServiceType());
  plane.observe([this](const Write& write) { take(write); });
}

// The embedded cluster is known completely, whatever the type.
graph::TypeId Guard::know(const kube::GroupResource& type) {
  const graph::TypeId id = graph_.internType(type);
  graph_.setKnowledge(id, graph::Knowledge::Synced);
  return id;
}

void Guard::take(const Write& write) {
  const kube::ObjectKey& key = write.record->key();
  if (key.type == criticalservice::criticalServiceType()) takeService(write);
  if (write.kind == Write::Kind::Deleted) {
    graph_.remove(key);
  } else if (const std::optional<kube::ObjectMeta> meta = metaOf(write.record->object())) {
    graph_.upsert(know(key.type), *meta);
  }
}

void Guard::takeService(const Write& write) {
  if (write.kind == Write::Kind::Deleted) {
    index_.remove(graph_, write.record->key().name);
    return;
  }
  const auto object = kube::parseObject(kube::fromJson(write.record->object()), "", types_.resources());
  if (!object) return;
  const auto service = criticalservice::parse(*object, types_.resources());
  if (!service) return;  // it guards nothing, as it says nothing that can be understood
  index_.put(graph_, *service, types_.resources());
  know(service->provider.type);
  for (const criticalservice::Criterion& criterion : service->criteria)
    know(criticalservice::typeOf(criterion));
}

std::optional<ApiError> Guard::refusal(const Mutation& mutation) const {
  if (mutation.operation != Mutation::Operation::Delete) return std::nullopt;
  const admission::Decision decision =
      admission::decide(admission::GraphFacts(graph_, index_), index_.rules(), index_.stakes(mutation.key));
  if (decision.allowed) return std::nullopt;
  return refusalOf(admission::explain(graph_, index_, mutation.key, decision));
}

}  // namespace lastout::apiserver

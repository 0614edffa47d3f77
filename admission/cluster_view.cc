#include "admission/cluster_view.h"

#include <utility>

#include "criticalservice/critical_service.h"

namespace lastout::admission {

ClusterView::ClusterView(const kube::ResourceMap& types, std::string ownNamespace)
    : types_(types), index_(graph_, std::move(ownNamespace)) {
  know(criticalservice::criticalServiceType());
}

// All is told: what was not is not there.
graph::TypeId ClusterView::know(const kube::GroupResource& type) {
  const graph::TypeId id = graph_.internType(type);
  graph_.setKnowledge(id, graph::Knowledge::Synced);
  return id;
}

void ClusterView::upsert(const kube::GroupResource& type, const kube::ObjectMeta& meta) {
  graph_.upsert(know(type), meta);
}

tl::expected<void, kube::Errors> ClusterView::guard(kube::Object service) {
  upsert(service.key.type, service.meta);
  const std::string name = service.key.name;
  return put(services_.insert_or_assign(name, std::move(service)).first->second);
}

tl::expected<void, kube::Errors> ClusterView::put(const kube::Object& service) {
  auto parsed = criticalservice::parse(service, types_);
  if (!parsed) return tl::unexpected(std::move(parsed.error()));
  index_.put(graph_, *parsed, types_);
  know(parsed->provider.type);
  for (const criticalservice::Criterion& criterion : parsed->criteria)
    know(criticalservice::typeOf(criterion));
  return {};
}

void ClusterView::remove(const kube::ObjectKey& key) {
  graph_.remove(key);
  if (key.type != criticalservice::criticalServiceType()) return;
  index_.remove(graph_, key.name);
  services_.erase(key.name);
}

void ClusterView::typesChanged() {
  for (const auto& [name, service] : services_) put(service);
}

Decision ClusterView::decide(const kube::ObjectKey& key) const {
  return admission::decide(GraphFacts(graph_, index_), index_.rules(), index_.stakes(key));
}

bool ClusterView::isMet(const criticalservice::Criterion& criterion) const {
  const auto condition = graph_.findCondition(criticalservice::conditionOf(criterion));
  return !condition || graph_.holders(*condition) == 0;
}

Explanation ClusterView::explain(const kube::ObjectKey& key, const Decision& decision) const {
  return admission::explain(graph_, index_, key, decision);
}

}  // namespace lastout::admission

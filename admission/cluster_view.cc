#include "admission/cluster_view.h"

#include <algorithm>
#include <utility>

#include "criticalservice/critical_service.h"

namespace lastout::admission {

ClusterView::ClusterView(const kube::ResourceMap& types, std::string ownNamespace, Told told)
    : types_(types), told_(told), index_(graph_, std::move(ownNamespace)) {
  intern(criticalservice::criticalServiceType());
}

graph::TypeId ClusterView::intern(const kube::GroupResource& type) {
  const graph::TypeId id = graph_.internType(type);
  if (told_ == Told::Everything) graph_.setKnowledge(id, graph::Knowledge::Synced);
  return id;
}

void ClusterView::know(const kube::GroupResource& type, graph::Knowledge knowledge) {
  graph_.setKnowledge(intern(type), knowledge);
}

void ClusterView::forget(const kube::GroupResource& type) {
  const auto id = graph_.findType(type);
  if (!id) return;
  graph_.setKnowledge(*id, graph::Knowledge::Unknown);
  std::vector<kube::ObjectKey> gone;
  gone.reserve(graph_.objectCount(*id));
  for (uint32_t slot = 0; slot < graph_.objectSlots(); ++slot) {
    const graph::ObjectId object{slot};
    if (graph_.isLive(object) && graph_.isPresent(object) && graph_.object(object).type == *id)
      gone.push_back(graph_.key(object));
  }
  for (const kube::ObjectKey& key : gone) remove(key);
}

void ClusterView::upsert(const kube::GroupResource& type, const kube::ObjectMeta& meta) {
  graph_.upsert(intern(type), meta);
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
  intern(parsed->provider.type);
  for (const criticalservice::Criterion& criterion : parsed->criteria)
    intern(criticalservice::typeOf(criterion));
  return {};
}

void ClusterView::remove(const kube::ObjectKey& key, std::string_view uid) {
  if (const auto object = graph_.find(key); object && !uid.empty() && graph_.uid(*object) != uid) return;
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
  if (!condition) return told_ == Told::Everything;
  return graph_.holders(*condition) == 0 && believable(graph_.knowledge(*condition));
}

Explanation ClusterView::explain(const kube::ObjectKey& key, const Decision& decision,
                                 std::string_view detail) const {
  return admission::explain(graph_, index_, key, decision, detail);
}

std::vector<graph::Condition> ClusterView::toConfirm(const kube::ObjectKey& key) const {
  std::vector<graph::Condition> conditions;
  forEachToConfirm(GraphFacts(graph_, index_), index_.rules(), index_.stakes(key),
                   [&](uint32_t /*stake*/, uint32_t condition) {
                     conditions.push_back(graph_.condition(graph::ConditionId{condition}));
                   });
  std::ranges::sort(conditions);
  conditions.erase(std::unique(conditions.begin(), conditions.end()), conditions.end());
  return conditions;
}

// On copies: the watch of its type may know more by now, and would not tell that it is gone.
Explanation ClusterView::explainWith(const Seen& seen, const kube::ObjectKey& key) const {
  graph::Graph graph = graph_.snapshot();
  const GuardIndex index = index_;
  graph.upsert(graph.internType(seen.type), seen.meta);
  const Decision decision = admission::decide(GraphFacts(graph, index), index.rules(), index.stakes(key));
  if (decision.allowed) return {};
  return admission::explain(graph, index, key, decision);
}

std::vector<const criticalservice::CriticalService*> ClusterView::services() const {
  std::vector<const criticalservice::CriticalService*> services;
  services.reserve(services_.size());
  for (const auto& [name, object] : services_) {
    if (const auto* understood = service(name)) services.push_back(understood);
  }
  return services;
}

const criticalservice::CriticalService* ClusterView::service(std::string_view name) const {
  const uint32_t number = index_.find(name);
  return number == graph::kNone ? nullptr : &index_.service(number);
}

}  // namespace lastout::admission

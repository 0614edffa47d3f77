#include "admission/cluster_view.h"

#include <algorithm>
#include <utility>

#include "admission/put_off.h"
#include "criticalservice/critical_service.h"

namespace lastout::admission {

namespace {

std::vector<graph::Condition> conditionsToConfirm(const graph::Graph& graph, const GuardIndex& index,
                                                  const kube::ObjectKey& key) {
  std::vector<graph::Condition> conditions;
  forEachToConfirm(GraphFacts(graph, index), index.rules(), index.stakes(key),
                   [&](uint32_t /*stake*/, uint32_t condition) {
                     conditions.push_back(graph.condition(graph::ConditionId{condition}));
                   });
  std::ranges::sort(conditions);
  conditions.erase(std::unique(conditions.begin(), conditions.end()), conditions.end());
  return conditions;
}

Judged judged(const graph::Graph& graph, const GuardIndex& index, const kube::ObjectKey& key) {
  Judged result{admission::decide(GraphFacts(graph, index), index.rules(), index.stakes(key)), {}, {}};
  if (!result.decision.allowed) {
    result.explanation = admission::explain(graph, index, key, result.decision);
  } else if (result.decision.guarded) {
    result.toConfirm = conditionsToConfirm(graph, index, key);
  }
  return result;
}

}  // namespace

ClusterView::ClusterView(std::string ownNamespace, Told told)
    : told_(told), index_(graph_, std::move(ownNamespace)) {
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
  for (const graph::ObjectId object : graph_.objectsOf(*id)) gone.push_back(graph_.key(object));
  for (const kube::ObjectKey& key : gone) remove(key);
}

void ClusterView::upsert(const kube::GroupResource& type, const kube::ObjectMeta& meta) {
  graph_.upsert(intern(type), meta);
}

tl::expected<void, kube::Errors> ClusterView::guard(kube::Object service) {
  upsert(service.key.type, service.meta);
  const auto parsed = criticalservice::parseStanding(service);
  services_.insert_or_assign(service.key.name, std::move(service));
  if (!parsed) return tl::unexpected(parsed.error());
  index_.put(graph_, *parsed, builtIn_);
  intern(parsed->provider.type);
  for (const criticalservice::Criterion& criterion : parsed->criteria)
    intern(criticalservice::typeOf(criterion));
  return {};
}

void ClusterView::remove(const kube::ObjectKey& key, std::string_view uid) {
  if (const auto object = graph_.find(key); object && !uid.empty() && !graph_.hasUid(*object, uid)) return;
  graph_.remove(key);
  if (key.type != criticalservice::criticalServiceType()) return;
  index_.remove(graph_, key.name);
  services_.erase(key.name);
}

Decision ClusterView::decide(const kube::ObjectKey& key) const {
  return admission::decide(GraphFacts(graph_, index_), index_.rules(), index_.stakes(key));
}

bool ClusterView::guardsScaling(const kube::ObjectKey& key) const {
  if (!believable(graph_.knowledge(index_.allServices()))) return true;
  return std::ranges::any_of(index_.stakes(key), [this](const Stake& stake) {
    return stake.role == Role::Provider && index_.service(stake.service).guardsScaling;
  });
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

// What was seen is put into copies: the watch of its type may know more by now, and would not tell that it is
// gone.
Judged ClusterView::judge(const kube::ObjectKey& key, std::span<const Seen> seen) const {
  if (seen.empty()) return judged(graph_, index_, key);
  graph::Graph graph = graph_.snapshot();
  const GuardIndex index = index_;
  for (const Seen& object : seen) graph.upsert(graph.internType(object.type), object.meta);
  return judged(graph, index, key);
}

std::vector<uint32_t> ClusterView::remembering(const kube::ObjectKey& key) const {
  std::vector<uint32_t> numbers;
  for (const Stake& stake : index_.stakes(key)) {
    const bool isItself = criticalservice::keyOf(index_.service(stake.service)) == key;
    if (remembers(stake.role, isItself)) numbers.push_back(stake.service);
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

std::vector<const criticalservice::CriticalService*> ClusterView::services() const {
  std::vector<const criticalservice::CriticalService*> services;
  services.reserve(index_.size());
  for (uint32_t number = 0; number < index_.rules().services.size(); ++number) {
    if (index_.exists(number)) services.push_back(&index_.service(number));
  }
  std::ranges::sort(services, {}, [](const auto* service) { return std::string_view(service->meta.name); });
  return services;
}

const criticalservice::CriticalService* ClusterView::service(std::string_view name) const {
  const uint32_t number = index_.find(name);
  return number == graph::kNone ? nullptr : &index_.service(number);
}

}  // namespace lastout::admission

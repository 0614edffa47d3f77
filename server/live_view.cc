#include "server/live_view.h"

#include <algorithm>
#include <set>
#include <utility>

#include "criticalservice/critical_service.h"

namespace lastout::server {
namespace {

using ClientState = client::Knowledge::State;
using graph::Knowledge;

const kube::GroupResource kNamespaces{"", "namespaces"};

const std::vector<kube::GroupResource>& alwaysWatched() {
  static const std::vector<kube::GroupResource> kTypes{criticalservice::criticalServiceType(),
                                                       kube::crdType(), kNamespaces};
  return kTypes;
}

}  // namespace

LiveView::LiveView(LiveViewOptions options)
    : options_(std::move(options)), view_(types_, options_.ownNamespace, admission::Told::WhatIsWatched) {}

// --- what the cluster tells

void LiveView::upsert(const kube::ResourceType& type, client::StreamedObject object) {
  const kube::Object told = client::toObject(std::move(object), type);
  const std::unique_lock lock(mutex_);
  if (type.type == criticalservice::criticalServiceType()) {
    view_.guard(told);  // what cannot be understood guards what it guarded before
  } else {
    view_.upsert(type.type, told.meta);
  }
}

void LiveView::remove(const kube::GroupResource& type, const client::Removed& object) {
  const std::unique_lock lock(mutex_);
  view_.remove({type, object.namespaceName, object.name}, object.uid);
}

void LiveView::know(const kube::GroupResource& type, const client::Knowledge& knowledge, TimePoint now) {
  const std::unique_lock lock(mutex_);
  watched_[type] = knowledge;
  settle(type, now);
}

void LiveView::discovered(client::Discovery discovery, TimePoint now) {
  const std::unique_lock lock(mutex_);
  discovery_ = std::move(discovery);
  isDiscovered_ = true;
  types_ = discovery_.types;
  view_.typesChanged();
  settleAll(now);
}

void LiveView::forget(const kube::GroupResource& type) {
  const std::unique_lock lock(mutex_);
  watched_.erase(type);
  view_.forget(type);
}

void LiveView::tick(TimePoint now) {
  const std::unique_lock lock(mutex_);
  settleAll(now);
}

// --- how well a type is known

Knowledge LiveView::standingOf(const kube::GroupResource& type, const client::Knowledge& knowledge,
                               TimePoint now) const {
  switch (knowledge.state) {
    case ClientState::Synced:
      return Knowledge::Synced;
    case ClientState::Stale:
      if (!knowledge.listed) return Knowledge::Unknown;
      return now - knowledge.asOf <= options_.allowedAge ? Knowledge::Synced : Knowledge::Stale;
    case ClientState::Forbidden:
      return Knowledge::Forbidden;
    case ClientState::NotServed:
      return standingOfUnserved(type);
    case ClientState::NeverSynced:
      break;
  }
  return Knowledge::Unknown;
}

// A type is not there when discovery of its whole group says so, and no CRD defines it. A built-in type does
// not go: it is away. That of an API server behind the API server is not told from one whose CRD is gone.
Knowledge LiveView::standingOfUnserved(const kube::GroupResource& type) const {
  if (!isDiscovered_ || discovery_.gapIn(type.group) != nullptr || discovery_.find(type) != nullptr)
    return Knowledge::Unserved;
  const kube::ResourceType* known = types_.find(type);
  if (known != nullptr && known->builtIn) return Knowledge::Unserved;
  const graph::Graph& graph = view_.graph();
  const auto definitions = graph.findType(kube::crdType());
  if (!definitions || graph.knowledge(*definitions) != Knowledge::Synced) return Knowledge::Unserved;
  return graph.find(kube::crdKey(type)) ? Knowledge::Unserved : Knowledge::Absent;
}

void LiveView::settle(const kube::GroupResource& type, TimePoint now) {
  const auto found = watched_.find(type);
  view_.know(type, found == watched_.end() ? standingOfUnserved(type) : standingOf(type, found->second, now));
}

// CRDs before the others, which may depend on them.
void LiveView::settleAll(TimePoint now) {
  settle(kube::crdType(), now);
  for (const kube::GroupResource& type : wantedNow()) settle(type, now);
}

// --- what follows from it

std::vector<kube::GroupResource> LiveView::wantedNow() const {
  std::set<kube::GroupResource> types(alwaysWatched().begin(), alwaysWatched().end());
  for (const criticalservice::CriticalService* service : view_.services()) {
    types.insert(service->provider.type);
    for (const criticalservice::Criterion& criterion : service->criteria)
      types.insert(criticalservice::typeOf(criterion));
  }
  return {types.begin(), types.end()};
}

std::vector<kube::GroupResource> LiveView::wanted() const {
  const std::shared_lock lock(mutex_);
  return wantedNow();
}

bool LiveView::isReady() const {
  return std::ranges::all_of(alwaysWatched(), [this](const kube::GroupResource& type) {
    return admission::believable(knowledge(type));
  });
}

std::optional<kube::ResourceType> LiveView::find(const kube::GroupResource& type) const {
  const std::shared_lock lock(mutex_);
  const client::ServedType* served = discovery_.find(type);
  if (served == nullptr || !served->canList || !served->canWatch) return std::nullopt;
  return served->type;
}

Knowledge LiveView::knowledge(const kube::GroupResource& type) const {
  const std::shared_lock lock(mutex_);
  const auto id = view_.graph().findType(type);
  return id ? view_.graph().knowledge(*id) : Knowledge::Unknown;
}

std::vector<TypeStanding> LiveView::standings() const {
  const std::shared_lock lock(mutex_);
  std::vector<TypeStanding> standings;
  for (const kube::GroupResource& type : wantedNow()) {
    TypeStanding standing{type, Knowledge::Unknown, 0, {}};
    if (const auto id = view_.graph().findType(type)) {
      standing.knowledge = view_.graph().knowledge(*id);
      standing.objects = view_.graph().objectCount(*id);
    }
    if (const auto found = watched_.find(type); found != watched_.end()) standing.why = found->second.why;
    standings.push_back(std::move(standing));
  }
  return standings;
}

Judged LiveView::judge(const kube::ObjectKey& key) const {
  const std::shared_lock lock(mutex_);
  Judged judged{view_.decide(key), {}, {}};
  if (!judged.decision.allowed) {
    judged.explanation = view_.explain(key, judged.decision);
  } else if (judged.decision.guarded) {
    judged.toConfirm = view_.toConfirm(key);
  }
  return judged;
}

admission::Explanation LiveView::unconfirmed(const kube::ObjectKey& key, std::string_view why) const {
  const std::shared_lock lock(mutex_);
  admission::Decision decision = view_.decide(key);
  if (decision.allowed) {
    decision.allowed = false;
    decision.reason = admission::Reason::Unconfirmed;
  }
  return view_.explain(key, decision, why);
}

admission::Explanation LiveView::explainWith(const admission::Seen& seen, const kube::ObjectKey& key) const {
  const std::shared_lock lock(mutex_);
  return view_.explainWith(seen, key);
}

void LiveView::inspect(const std::function<void(const admission::ClusterView& view,
                                                const kube::ResourceMap& types)>& read) const {
  const std::shared_lock lock(mutex_);
  read(view_, types_);
}

}  // namespace lastout::server

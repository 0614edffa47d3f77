#include "server/watch/live_view.h"

#include <algorithm>
#include <set>
#include <utility>

#include "admission/guards.h"
#include "admission/service_changes.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/dependencies.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"

namespace lastout::server {
namespace {

using ClientState = client::SyncStatus::State;
using graph::Knowledge;

// What a broken watch told gets too old by itself: looked at as often as this.
constexpr std::chrono::milliseconds kSettleAfter{1'000};
// For a type that can be neither listed nor told to be out of reach: it may wait for what is torn down, such
// as the webhook that converts its objects.
constexpr std::chrono::milliseconds kLongestWait{60'000};

const std::vector<kube::GroupResource>& alwaysWatched() {
  static const std::vector<kube::GroupResource> kTypes{criticalservice::criticalServiceType(),
                                                       kube::kCustomResourceDefinitions, kube::kNamespaces};
  return kTypes;
}

// There is something of the type that a work which is kept, and is being deleted, goes after.
bool isHoldingAWork(const graph::Graph& graph, const kube::GroupResource& type) {
  return std::ranges::any_of(objectsOf(graph, type),
                             [&](graph::ObjectId object) { return isOfKeptWork(graph, object); });
}

// What `known` asks for besides, because of what its provider converts, nobody wrote.
bool asksForTheSame(const criticalservice::CriticalService& known,
                    const criticalservice::CriticalService& written) {
  return known.provider == written.provider &&
         criticalservice::writtenCriteria(known) == criticalservice::writtenCriteria(written) &&
         known.intent == written.intent && known.enforcement == written.enforcement &&
         known.guardsScaling == written.guardsScaling && known.dependencies == written.dependencies;
}

}  // namespace

LiveView::LiveView(LiveViewOptions options)
    : options_(std::move(options)),
      problems_(options_.log),
      view_(options_.ownNamespace, admission::ViewScope::WhatIsWatched) {
  view_.understandBy(
      {.isThere = [this](const auto& type) LASTOUT_REQUIRES_SHARED(mutex_) { return isThere(type); },
       .wasThere = [this](const auto& type) LASTOUT_REQUIRES_SHARED(mutex_) { return wasThere(type); },
       .isDefined =
           [this](const auto& type) LASTOUT_REQUIRES_SHARED(mutex_) {
             return defined_.contains(type) || view_.graph().find(kube::crdKey(type)).has_value();
           },
       .isCertain = [this](const auto& type) LASTOUT_REQUIRES_SHARED(mutex_) { return isCertain(type); },
       .isNamespaced = [this](const auto& type) LASTOUT_REQUIRES_SHARED(mutex_) -> std::optional<bool> {
         if (const kube::ResourceType* known = types_.find(type)) return known->namespaced;
         const auto former = scopes_.find(type);
         return former == scopes_.end() ? std::nullopt : std::optional(former->second);
       },
       .isServed = [this](std::string_view group) LASTOUT_REQUIRES_SHARED(mutex_) { return isServed(group); },
       .all = [this]() LASTOUT_REQUIRES_SHARED(mutex_) { return typesThere(); }});
  const auto note = [this](admission::Weakening news)
                        LASTOUT_REQUIRES(mutex_) { weakened_.push_back(std::move(news)); };
  if (options_.weakened) view_.observe(note);
}

// --- which types there are, for criteria to be understood

bool LiveView::isThere(const kube::GroupResource& type) const {
  const kube::ResourceType* known = types_.find(type);
  return (known != nullptr && known->builtIn) || discovery_.find(type) != nullptr ||
         view_.graph().find(kube::crdKey(type));
}

bool LiveView::wasThere(const kube::GroupResource& type) const {
  return defined_.contains(type) || undefined_.contains(type);
}

// All CRDs are known, and all that is served of the group.
bool LiveView::isCertain(const kube::GroupResource& type) const {
  return isDiscovered_ && discovery_.gapIn(type.group) == nullptr &&
         standing(kube::kCustomResourceDefinitions) == Knowledge::Synced;
}

bool LiveView::isServed(std::string_view group) const {
  if (discovery_.gapIn(group) != nullptr) return true;
  return std::ranges::any_of(typesThere(),
                             [&](const kube::GroupResource& type) { return type.group == group; });
}

std::vector<kube::GroupResource> LiveView::typesThere() const {
  std::vector<kube::GroupResource> types;
  for (const kube::ResourceType& type : types_.types()) {
    if (type.builtIn || discovery_.find(type.type) != nullptr) types.push_back(type.type);
  }
  for (const graph::ObjectId definition : objectsOf(view_.graph(), kube::kCustomResourceDefinitions))
    types.push_back(kube::definedBy(view_.graph().name(definition)));
  return types;
}

// A type's CRD came or went.
void LiveView::redefined(const kube::GroupResource& type) {
  if (view_.graph().findType(type)) settle(type, settledAt_);
  view_.understandAgain(type.group);
}

// --- what the cluster tells

void LiveView::upsert(const kube::ResourceType& type, client::StreamedObject object, TimePoint now) {
  const kube::Object told = client::toObject(std::move(object), type);
  if (type.type == criticalservice::criticalServiceType()) return guard(told);
  kube::WriterLock lock(mutex_);
  note(told, now);
  const std::vector<admission::Weakening> weakened = std::exchange(weakened_, {});
  lock.unlock();
  tellOfWeakening(weakened);
}

void LiveView::guard(const kube::Object& told) {
  kube::WriterLock lock(mutex_);
  const auto guarded = view_.guard(told);
  const criticalservice::CriticalService* service = view_.service(told.key.name);
  const bool guards = service != nullptr;
  const bool isBlind =
      guards && !service->notUnderstood.empty() && service->meta.resourceVersion == told.meta.resourceVersion;
  const std::vector<admission::Weakening> weakened = std::exchange(weakened_, {});
  lock.unlock();
  tellOfWeakening(weakened);
  problems_.note(told.key.name, guarded ? ""
                                        : kube::toString(told.key) + " cannot be understood, and " +
                                              (isBlind  ? "its provider stays until it can be: "
                                               : guards ? "guards what it guarded before: "
                                                        : "guards nothing: ") +
                                              admission::joinedMessages(guarded.error()));
}

void LiveView::note(const kube::Object& told, TimePoint now) {
  const bool isNew = !view_.graph().find(told.key);
  if (told.content.isNull())
    view_.upsert(told.key.type, told.meta);
  else
    view_.tell(told);
  finalizerAges_.note(told.key, told.meta, now);
  if (told.key.type == manifestwork::appliedManifestWorkType())
    recorded_[told.key.name] = manifestwork::recordedObjects(told.content);
  if (told.key.type != kube::kCustomResourceDefinitions) return;
  const kube::GroupResource defined = kube::definedBy(told.key.name);
  defined_.insert(defined);
  undefined_.erase(defined);
  if (isNew) redefined(defined);
}

void LiveView::tellOfWeakening(const std::vector<admission::Weakening>& news) const {
  for (const admission::Weakening& one : news) options_.weakened(one);
}

void LiveView::remove(const kube::GroupResource& type, const client::Removed& object) {
  if (type == criticalservice::criticalServiceType()) problems_.note(object.name, "");
  const kube::WriterLock lock(mutex_);
  view_.remove({type, object.namespaceName, object.name}, object.uid);
  finalizerAges_.remove({type, object.namespaceName, object.name});
  if (type == manifestwork::appliedManifestWorkType()) recorded_.erase(object.name);
  if (type != kube::kCustomResourceDefinitions) return;
  const kube::GroupResource defined = kube::definedBy(object.name);
  scopes_.erase(defined);
  redefined(defined);
}

void LiveView::know(const kube::GroupResource& type, const client::SyncStatus& knowledge, TimePoint now) {
  const kube::WriterLock lock(mutex_);
  watched_[type] = knowledge;
  settle(type, now);
  if (type == kube::kCustomResourceDefinitions) view_.understandAgain();
}

void LiveView::discovered(client::Discovery discovery, TimePoint now) {
  const kube::WriterLock lock(mutex_);
  discovery_ = std::move(discovery);
  isDiscovered_ = true;
  types_ = discovery_.types;
  const auto isCertain = [this](const auto& one) LASTOUT_REQUIRES(mutex_) {
    return discovery_.gapIn(one.first.group) == nullptr;
  };
  std::erase_if(scopes_, isCertain);
  for (const auto& [type, served] : discovery_.served) scopes_[type] = served.type.namespaced;
  settleAll(now);
  view_.understandAgain();
  if (standing(kube::kCustomResourceDefinitions) != Knowledge::Synced) return;
  for (const auto& [type, served] : discovery_.served) {
    if (!defined_.contains(type)) undefined_.insert(type);
  }
  forgetDefinitions();
}

// Of a type whose CRD is gone, that is not served any more, and that nobody names, nothing is to be kept.
void LiveView::forgetDefinitions() {
  const std::vector<kube::GroupResource> wanted = wantedNow();
  std::erase_if(defined_, [&](const kube::GroupResource& type) LASTOUT_REQUIRES_SHARED(mutex_) {
    return discovery_.find(type) == nullptr && discovery_.gapIn(type.group) == nullptr &&
           !view_.graph().find(kube::crdKey(type)) && !std::ranges::binary_search(wanted, type);
  });
}

void LiveView::forget(const kube::GroupResource& type, TimePoint now) {
  const kube::WriterLock lock(mutex_);
  watched_.erase(type);
  view_.forget(type);
  finalizerAges_.forget(type);
  settleAll(now);
}

void LiveView::tick(TimePoint now) {
  const kube::WriterLock lock(mutex_);
  settleAll(now);
}

// --- how well a type is known

Knowledge LiveView::standingOf(const kube::GroupResource& type, const client::SyncStatus& knowledge,
                               TimePoint now) const {
  const bool isServed = discovery_.find(type) != nullptr;
  const bool isRead = knowledge.state == ClientState::Synced;
  if (!isRead && hasLostItsCrd(type) && (!isServed || knowledge.state == ClientState::NotServed))
    return Knowledge::Absent;
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

// A CRD defined the type, is seen to be gone, and the API server has no other way to serve it. What reading
// the type answers proves nothing then: 403 comes before 404, and a watch may end before or after its CRD.
bool LiveView::hasLostItsCrd(const kube::GroupResource& type) const {
  if (!isDiscovered_ || discovery_.gapIn(type.group) != nullptr) return false;
  const kube::ResourceType* known = types_.find(type);
  if (known != nullptr && known->builtIn) return false;
  return standing(kube::kCustomResourceDefinitions) == Knowledge::Synced &&
         !view_.graph().find(kube::crdKey(type)) && wasEverDefined(type);
}

// True if this process has seen a CRD of the type, or if every CriticalService that names the type has it in
// status.seenTypes: one status alone must not decide for other CriticalServices. (For a second after its CRD
// is gone discovery still names a type; a process that starts then must not take it for an aggregated one.)
bool LiveView::wasEverDefined(const kube::GroupResource& type) const {
  if (defined_.contains(type)) return true;
  bool isNamed = false;
  for (const criticalservice::CriticalService* service : view_.services()) {
    const bool names = std::ranges::any_of(
        service->criteria, [&](const auto& criterion) { return criticalservice::typeOf(criterion) == type; });
    if (names && !service->seenTypes.contains(type)) return false;
    isNamed = isNamed || names;
  }
  return isNamed;
}

// For about a second after the end of its CRD discovery still names a type. One that can be read is served by
// an API server behind the API server.
bool LiveView::isLeavingDiscovery(const kube::GroupResource& type) const {
  if (discovery_.find(type) == nullptr || !hasLostItsCrd(type)) return false;
  const auto watched = watched_.find(type);
  return watched == watched_.end() || watched->second.state != ClientState::Synced;
}

// A type is not there when discovery of its whole group says so, and no CRD defines it. What was served
// without a CRD, built in or by an API server behind the API server, does not go: it is away.
Knowledge LiveView::standingOfUnserved(const kube::GroupResource& type) const {
  if (!isDiscovered_ || discovery_.find(type) != nullptr) return Knowledge::Unknown;  // until it is listed
  if (discovery_.gapIn(type.group) != nullptr) return Knowledge::Unserved;
  const kube::ResourceType* known = types_.find(type);
  const bool isBuiltIn = known != nullptr && known->builtIn;
  const bool isAggregated = undefined_.contains(type) && !wasEverDefined(type);
  if (isBuiltIn || isAggregated || standing(kube::kCustomResourceDefinitions) != Knowledge::Synced)
    return Knowledge::Unserved;
  return view_.graph().find(kube::crdKey(type)) ? Knowledge::Unserved : Knowledge::Absent;
}

void LiveView::settle(const kube::GroupResource& type, TimePoint now) {
  const auto found = watched_.find(type);
  view_.know(type, found == watched_.end() ? standingOfUnserved(type) : standingOf(type, found->second, now));
  noteReadiness(now);
}

// Whoever answers before it knows what providers need would allow what it is to deny a moment later.
void LiveView::noteReadiness(TimePoint now) {
  const auto isBelievable = [this](const kube::GroupResource& type)
                                LASTOUT_REQUIRES_SHARED(mutex_) { return graph::believable(standing(type)); };
  const bool isKnown = std::ranges::all_of(alwaysWatched(), isBelievable);
  if (isKnown && !knownSince_) knownSince_ = now;
  if (isKnown && !hasReadDependencies_)
    hasReadDependencies_ = !isUndecided() || now - *knownSince_ >= kLongestWait;
  isReady_ = isKnown && hasReadDependencies_;
}

// Of something that tells what providers need it is not known yet how well it can be known.
bool LiveView::isUndecided() const {
  const auto isUnknown = [this](const kube::GroupResource& type)
                             LASTOUT_REQUIRES_SHARED(mutex_) { return standing(type) == Knowledge::Unknown; };
  return std::ranges::any_of(view_.services(), [&](const criticalservice::CriticalService* service) {
    return std::ranges::any_of(criticalservice::typesToRead(*service), isUnknown);
  });
}

// CRDs before the others, which may depend on them.
void LiveView::settleAll(TimePoint now) {
  settledAt_ = now;
  settle(kube::kCustomResourceDefinitions, now);
  for (const kube::GroupResource& type : wantedNow()) settle(type, now);
}

// --- what follows from it

std::vector<kube::GroupResource> LiveView::wantedNow() const {
  std::set<kube::GroupResource> types(alwaysWatched().begin(), alwaysWatched().end());
  for (const criticalservice::CriticalService* service : view_.services()) {
    for (kube::GroupResource& type : admission::followedTypes(*service)) types.insert(std::move(type));
  }
  for (const kube::GroupResource& type : options_.alsoFollowed) {
    if (discovery_.find(type) != nullptr) types.insert(type);
  }
  for (const auto& [type, known] : watched_) {
    if (!types.contains(type) && isHoldingAWork(view_.graph(), type)) types.insert(type);
  }
  return {types.begin(), types.end()};
}

std::vector<kube::GroupResource> LiveView::wanted() const {
  const kube::ReaderLock lock(mutex_);
  return wantedNow();
}

std::set<kube::GroupResource> LiveView::wantedWithReferences() const {
  const kube::ReaderLock lock(mutex_);
  // CRDs from the beginning: if the watch began again with the first CriticalService that needs references,
  // no CRD would be known for a moment, and lastout would not be ready.
  std::set<kube::GroupResource> types{manifestwork::appliedManifestWorkType(),
                                      kube::kCustomResourceDefinitions};
  for (const criticalservice::CriticalService* service : view_.services()) {
    for (kube::GroupResource& type : criticalservice::typesToRead(*service)) types.insert(std::move(type));
  }
  return types;
}

std::optional<kube::ResourceType> LiveView::find(const kube::GroupResource& type) const {
  const kube::ReaderLock lock(mutex_);
  const client::DiscoveredType* served = discovery_.find(type);
  if (served == nullptr || !served->canList || !served->canWatch) return std::nullopt;
  return served->type;
}

Knowledge LiveView::standing(const kube::GroupResource& type) const {
  return knowledgeOf(view_.graph(), type);
}

Knowledge LiveView::knowledge(const kube::GroupResource& type) const {
  const kube::ReaderLock lock(mutex_);
  return standing(type);
}

void LiveView::forEachServed(const std::function<void(const client::DiscoveredType& served)>& visit) const {
  const kube::ReaderLock lock(mutex_);
  for (const auto& [type, served] : discovery_.served) visit(served);
}

std::optional<std::string> LiveView::gapIn(const std::string& group) const {
  const kube::ReaderLock lock(mutex_);
  if (!isDiscovered_) return "it has not been found out yet";
  if (group == "*")
    return discovery_.gaps.empty() ? std::nullopt : std::optional(discovery_.gaps.front().why);
  const client::DiscoveryGap* gap = discovery_.gapIn(group);
  return gap == nullptr ? std::nullopt : std::optional(gap->why);
}

bool LiveView::isAbsent(const kube::GroupResource& type) const {
  const kube::ReaderLock lock(mutex_);
  return standingOfUnserved(type) == Knowledge::Absent;
}

bool LiveView::isFollowed(const kube::GroupResource& type) const {
  const kube::ReaderLock lock(mutex_);
  const auto found = watched_.find(type);
  return found != watched_.end() && found->second.state == ClientState::Synced;
}

bool LiveView::wasDefined(const kube::GroupResource& type) const {
  const kube::ReaderLock lock(mutex_);
  return discovery_.gapIn(type.group) == nullptr && wasEverDefined(type);
}

uint32_t LiveView::objectCount(const kube::GroupResource& type) const {
  const kube::ReaderLock lock(mutex_);
  const auto id = view_.graph().findType(type);
  return id ? view_.graph().objectCount(*id) : 0;
}

std::vector<kube::GroupResource> LiveView::awaited() const {
  const kube::ReaderLock lock(mutex_);
  std::vector<kube::GroupResource> types = wantedNow();
  std::erase_if(types, [this](const kube::GroupResource& type) LASTOUT_REQUIRES_SHARED(mutex_) {
    const Knowledge known = standing(type);
    if (known == Knowledge::Unserved || isLeavingDiscovery(type)) return false;
    // A type may go between two answers of discovery, which leaves a gap.
    if (!graph::believable(known) && discovery_.gapIn(type.group) != nullptr) return false;
    // What answers 404 although discovery has it: that is older.
    const auto watched = watched_.find(type);
    const bool isGone = watched != watched_.end() && watched->second.state == ClientState::NotServed;
    return known != Knowledge::Unknown || (discovery_.find(type) != nullptr && !isGone);
  });
  return types;
}

std::vector<TypeStanding> LiveView::standings() const {
  const kube::ReaderLock lock(mutex_);
  std::vector<TypeStanding> standings;
  for (const kube::GroupResource& type : wantedNow()) {
    TypeStanding one{type, standing(type), 0, {}};
    if (const auto id = view_.graph().findType(type)) one.objects = view_.graph().objectCount(*id);
    if (const auto found = watched_.find(type); found != watched_.end()) one.why = found->second.why;
    standings.push_back(std::move(one));
  }
  return standings;
}

size_t LiveView::remembered() const {
  const kube::ReaderLock lock(mutex_);
  return defined_.size() + undefined_.size();
}

admission::PreliminaryVerdict LiveView::judge(const kube::ObjectKey& key, TimePoint now,
                                              std::span<const admission::ObservedObject> seen,
                                              admission::DeletionEffect deletionEffect) {
  {
    const kube::ReaderLock lock(mutex_);
    if (now - settledAt_ < kSettleAfter) return view_.judge(key, seen, deletionEffect);
  }
  tick(now);
  const kube::ReaderLock lock(mutex_);
  return view_.judge(key, seen, deletionEffect);
}

bool LiveView::isHeldBy(const kube::ObjectKey& key, std::string_view uid, TimePoint now) const {
  const kube::ReaderLock lock(mutex_);
  return finalizerAges_.isOlderThan(now - options_.holdsAfter, key, uid);
}

admission::Explanation LiveView::unconfirmed(const kube::ObjectKey& key, std::string_view why,
                                             admission::DeletionEffect deletionEffect) const {
  const kube::ReaderLock lock(mutex_);
  admission::Decision decision = view_.decide(key, deletionEffect);
  if (decision.allowed) {
    decision.allowed = false;
    decision.reason = admission::Reason::Unconfirmed;
  }
  return view_.explain(key, decision, why);
}

std::string LiveView::untoldGuard(const kube::ObjectKey& key,
                                  const std::vector<kube::Object>& services) const {
  const kube::ReaderLock lock(mutex_);
  for (const kube::Object& object : services) {
    const auto told = view_.toldServices().find(object.key.name);
    if (told != view_.toldServices().end() &&
        told->second.meta.resourceVersion == object.meta.resourceVersion)
      continue;
    const auto service = criticalservice::parseStanding(object);
    if (!service) continue;  // not even its provider can be read: it guards what it guarded before
    const criticalservice::CriticalService* known = view_.service(object.key.name);
    if (known != nullptr && asksForTheSame(*known, *service)) continue;
    const auto guards =
        admission::guardsOf(*service, types_, options_.ownNamespace, view_.dependenciesOf(*service));
    if (std::ranges::find(guards, key, &admission::Guard::object) != guards.end()) return object.key.name;
  }
  return {};
}

void LiveView::inspect(const std::function<void(const admission::ClusterView& view,
                                                const kube::ResourceMap& types)>& read) const {
  const kube::ReaderLock lock(mutex_);
  read(view_, types_);
}

void LiveView::inspectWorks(const std::function<void(const ViewOfWorks& works)>& read) const {
  const kube::ReaderLock lock(mutex_);
  read(works());
}

}  // namespace lastout::server

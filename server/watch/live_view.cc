#include "server/watch/live_view.h"

#include <algorithm>
#include <utility>

#include "admission/service_changes.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/dependencies.h"
#include "kube/patterns.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"

namespace lastout::server {
namespace {

using ClientState = client::SyncStatus::State;
using graph::Knowledge;

// For a type that can be neither listed nor told to be out of reach: it may wait for what is torn down, such
// as the webhook that converts its objects.
constexpr std::chrono::milliseconds kLongestWait{60'000};

// The type is among them; of a pattern: one that it means is.
template <class Types>
bool isAnyOf(const Types& types, const kube::GroupResource& named) {
  return std::ranges::any_of(types,
                             [&](const kube::GroupResource& type) { return kube::meansType(named, type); });
}

bool namesFields(const criticalservice::CriticalService& service) {
  return std::ranges::any_of(service.criteria, [](const criticalservice::Criterion& criterion) {
    return std::holds_alternative<criticalservice::ReferenceCriterion>(criterion);
  });
}

bool namesGroups(const criticalservice::CriticalService& service) {
  return std::ranges::any_of(service.criteria, [](const criticalservice::Criterion& criterion) {
    return kube::isTypePattern(criticalservice::typeOf(criterion));
  });
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
             return isAnyOf(defined_, type) || view_.graph().find(kube::crdKey(type)).has_value();
           },
       .isCertain = [this](const auto& type) LASTOUT_REQUIRES_SHARED(mutex_) { return isCertain(type); },
       .isNamespaced = [this](const auto& type) LASTOUT_REQUIRES_SHARED(mutex_) -> std::optional<bool> {
         if (const kube::ResourceType* known = types_.find(type)) return known->namespaced;
         const auto former = scopes_.find(type);
         return former == scopes_.end() ? std::nullopt : std::optional(former->second);
       },
       .isServed = [this](std::string_view group) LASTOUT_REQUIRES_SHARED(mutex_) { return isServed(group); },
       .all = [this]() LASTOUT_REQUIRES_SHARED(mutex_) { return typesThere(); },
       .kindOf =
           [this](const auto& type) LASTOUT_REQUIRES_SHARED(mutex_) {
             const kube::ResourceType* known = types_.find(type);
             return known == nullptr ? std::string() : known->kind;
           }});
  const auto note = [this](admission::Weakening news)
                        LASTOUT_REQUIRES(mutex_) { weakened_.push_back(std::move(news)); };
  if (options_.weakened) view_.observe(note);
}

// --- which types there are, for criteria to be understood

bool LiveView::isThere(const kube::GroupResource& type) const {
  if (kube::isTypePattern(type)) return isAnyOf(typesThere(), type);
  const kube::ResourceType* known = types_.find(type);
  return (known != nullptr && known->builtIn) || discovery_.find(type) != nullptr ||
         view_.graph().find(kube::crdKey(type));
}

bool LiveView::wasThere(const kube::GroupResource& type) const {
  return isAnyOf(defined_, type) || isAnyOf(undefined_, type);
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
  const bool isMeant = std::ranges::any_of(
      patternsNow(), [&](const kube::GroupResource& pattern) { return kube::meansType(pattern, type); });
  if (isMeant || view_.graph().findType(type)) settle(type, settledAt_);
  view_.understandAgain(type.group);
}

// --- what the cluster tells

void LiveView::upsert(const kube::ResourceType& type, client::StreamedObject object, TimePoint now) {
  const bool isRead = object.unread.empty();
  kube::Object told = client::toObject(std::move(object), type);
  if (type.type == criticalservice::criticalServiceType()) return guard(told);
  kube::WriterLock lock(mutex_);
  told.meta.references = criticalservice::referencesOf(told, keptFields_);
  if (isRead || !view_.graph().find(told.key)) note(told, now);
  const std::vector<admission::Weakening> weakened = std::exchange(weakened_, {});
  lock.unlock();
  tellOfWeakening(weakened);
}

void LiveView::guard(const kube::Object& told) {
  kube::WriterLock lock(mutex_);
  const criticalservice::CriticalService* former = view_.service(told.key.name);
  const bool askedBefore = former != nullptr && namesFields(*former);
  const auto guarded = view_.guard(told);
  const criticalservice::CriticalService* service = view_.service(told.key.name);
  if (askedBefore)
    noteFields();
  else if (service != nullptr)
    criticalservice::addFields(*service, askedFields_);
  const bool guards = service != nullptr;
  const bool isBlind =
      guards && !service->notUnderstood.empty() && service->meta.resourceVersion == told.meta.resourceVersion;
  // Nobody may have followed the types of its groups until now, so what was known of these no longer counts.
  if (guards && (namesGroups(*service) || namesFields(*service))) settleAll(settledAt_);
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
  if (told.content.isNull() || fieldsAlone_.contains(told.key.type))
    view_.upsert(told.key.type, told.meta);
  else
    view_.tell(told);
  finalizerAges_.note(told.key, told.meta, now);
  if (told.key.type == manifestwork::appliedManifestWorkType() && !told.content.isNull())
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
  if (type == criticalservice::criticalServiceType() && !askedFields_.empty()) noteFields();
  finalizerAges_.remove({type, object.namespaceName, object.name});
  if (type == manifestwork::appliedManifestWorkType()) recorded_.erase(object.name);
  if (type != kube::kCustomResourceDefinitions) return;
  const kube::GroupResource defined = kube::definedBy(object.name);
  scopes_.erase(defined);
  redefined(defined);
}

// Collects again all fields that criteria ask about.
void LiveView::noteFields() {
  askedFields_.clear();
  for (const criticalservice::CriticalService* service : view_.services())
    criticalservice::addFields(*service, askedFields_);
}

bool LiveView::keepFields(const kube::GroupResource& type, bool alone) {
  const kube::WriterLock lock(mutex_);
  keptFields_.erase(type);
  fieldsAlone_.erase(type);
  const auto asked = askedFields_.find(type);
  if (asked == askedFields_.end()) return false;
  keptFields_.insert(*asked);
  if (alone) fieldsAlone_.insert(type);
  return true;
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
  keptFields_.erase(type);
  fieldsAlone_.erase(type);
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
  if (!isDiscovered_ || discovery_.mayServeMore(type.group)) return false;
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
    const bool names = std::ranges::any_of(service->criteria, [&](const auto& criterion) {
      return kube::meansType(criticalservice::typeOf(criterion), type);
    });
    if (names && !service->seenTypes.contains(type)) return false;
    isNamed = isNamed || names;
  }
  return isNamed;
}

// For a moment after the end of its CRD what discovery said before still names a type. One that can be read
// is served by an API server behind the API server.
bool LiveView::isLeavingDiscovery(const kube::GroupResource& type) const {
  if (discovery_.find(type) == nullptr || !hasLostItsCrd(type)) return false;
  const auto watched = watched_.find(type);
  return watched == watched_.end() || watched->second.state != ClientState::Synced;
}

// A type is not there when discovery of its whole group says so, and no CRD defines it. What was served
// without a CRD, built in or by an API server behind the API server, does not go: it is away.
Knowledge LiveView::standingOfUnserved(const kube::GroupResource& type) const {
  if (!isDiscovered_ || discovery_.find(type) != nullptr) return Knowledge::Unknown;  // until it is listed
  if (hasLostItsCrd(type)) return Knowledge::Absent;
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
  Knowledge knowledge =
      found == watched_.end() ? standingOfUnserved(type) : standingOf(type, found->second, now);
  if (knowledge == Knowledge::Synced && lacksFieldsNow(type)) knowledge = Knowledge::Unknown;
  view_.know(type, knowledge);
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
  const std::vector<kube::GroupResource> wanted = wantedNow();
  for (const kube::GroupResource& type : wanted) settle(type, now);
  for (const kube::GroupResource& pattern : patternsNow()) {
    view_.forgetOthers(pattern, wanted);
    view_.know(pattern, isCertain(pattern) ? Knowledge::Synced : Knowledge::Unknown);
  }
}

}  // namespace lastout::server

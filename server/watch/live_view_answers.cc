// The answers of LiveView.
#include <algorithm>
#include <set>
#include <utility>

#include "admission/guards.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/dependencies.h"
#include "kube/patterns.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"
#include "server/controllers/dependency_standing.h"
#include "server/watch/live_view.h"
#include "server/watch/unknown_types.h"

namespace lastout::server {
namespace {

using ClientState = client::SyncStatus::State;
using graph::Knowledge;

// What a broken watch told gets too old by itself: looked at as often as this.
constexpr std::chrono::milliseconds kSettleAfter{1'000};

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

const std::vector<kube::GroupResource>& alwaysWatched() {
  static const std::vector<kube::GroupResource> kTypes{criticalservice::criticalServiceType(),
                                                       kube::kCustomResourceDefinitions, kube::kNamespaces};
  return kTypes;
}

std::vector<kube::GroupResource> LiveView::wantedNow() const {
  std::set<kube::GroupResource> types(alwaysWatched().begin(), alwaysWatched().end());
  for (const criticalservice::CriticalService* service : view_.services()) {
    for (kube::GroupResource& type : admission::followedTypes(*service)) types.insert(std::move(type));
  }
  if (const auto patterns = patternsNow(); !patterns.empty()) {
    std::erase_if(types, [](const kube::GroupResource& type) { return kube::isTypePattern(type); });
    std::vector<kube::GroupResource> mayBeThere = typesThere();
    mayBeThere.insert(mayBeThere.end(), undefined_.begin(), undefined_.end());  // those that are away, too
    for (const kube::GroupResource& type : mayBeThere) {
      const client::DiscoveredType* served = discovery_.find(type);
      const bool hasObjects = served == nullptr || (served->canList && served->canWatch);
      const bool isMeant = std::ranges::any_of(
          patterns, [&](const kube::GroupResource& pattern) { return kube::meansType(pattern, type); });
      if (hasObjects && isMeant) types.insert(type);
    }
  }
  for (const kube::GroupResource& type : options_.alsoFollowed) {
    if (discovery_.find(type) != nullptr) types.insert(type);
  }
  for (const auto& [type, known] : watched_) {
    if (!types.contains(type) && isHoldingAWork(view_.graph(), type)) types.insert(type);
  }
  return {types.begin(), types.end()};
}

std::set<kube::GroupResource> LiveView::patternsNow() const {
  std::set<kube::GroupResource> patterns;
  for (const criticalservice::CriticalService* service : view_.services()) {
    for (const criticalservice::Criterion& criterion : service->criteria) {
      const kube::GroupResource& type = criticalservice::typeOf(criterion);
      if (kube::isTypePattern(type)) patterns.insert(type);
    }
  }
  return patterns;
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

bool LiveView::lacksFields(const kube::GroupResource& type) const {
  const kube::ReaderLock lock(mutex_);
  return lacksFieldsNow(type);
}

bool LiveView::lacksFieldsNow(const kube::GroupResource& type) const {
  const auto asked = askedFields_.find(type);
  if (asked == askedFields_.end()) return false;
  const auto kept = keptFields_.find(type);
  return kept == keptFields_.end() || !std::ranges::includes(kept->second, asked->second);
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
  return !discovery_.mayServeMore(type.group) && wasEverDefined(type);
}

uint32_t LiveView::objectCount(const kube::GroupResource& type, std::string_view namespaceName) const {
  const kube::ReaderLock lock(mutex_);
  const graph::Graph& graph = view_.graph();
  const auto id = graph.findType(type);
  if (!id) return 0;
  return namespaceName.empty() ? graph.objectCount(*id) : graph.objectCount(*id, namespaceName);
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
  for (const kube::GroupResource& pattern : patternsNow())
    if (discovery_.gapIn(pattern.group) != nullptr) types.push_back(pattern);
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

// Where a type may not be read by any process, what is found without it is all that is guarded.
std::optional<std::string> LiveView::whyMayBeNeeded(const kube::ObjectKey& key) const {
  const kube::ReaderLock lock(mutex_);
  for (const criticalservice::CriticalService* service : view_.services()) {
    if (!criticalservice::couldNeed(*service, key)) continue;
    const auto list = criticalservice::typesToRead(*service);
    std::set<kube::GroupResource> types(list.begin(), list.end());
    const auto told = view_.toldServices().find(service->meta.name);
    const kube::Value* known = told == view_.toldServices().end()
                                   ? nullptr
                                   : kube::statusCondition(told->second.content, kDependenciesKnown);
    if (known == nullptr || kube::textAt(*known, {"status"}) != "True")
      std::erase_if(types, [this](const kube::GroupResource& type) LASTOUT_REQUIRES_SHARED(mutex_) {
        return standing(type) == Knowledge::Forbidden;
      });
    if (const auto unknown = unknownTypesAmong(view_.graph(), types))
      return criticalservice::nameInWords(service->meta.name) + "'s provider may need it, as " +
             unknown->message;
  }
  return std::nullopt;
}

admission::Explanation LiveView::unconfirmed(const kube::ObjectKey& key, std::string_view why,
                                             admission::DeletionEffect deletionEffect) const {
  const kube::ReaderLock lock(mutex_);
  admission::Verdict verdict = view_.decide(key, deletionEffect);
  if (verdict.allowed) {
    verdict.allowed = false;
    verdict.reason = admission::Reason::Unconfirmed;
  }
  return view_.explain(key, verdict, why);
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

#include "admission/cluster_view.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "admission/deferral.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/provider_types.h"
#include "graph/blockers.h"
#include "kube/patterns.h"
#include "kube/well_known.h"

namespace lastout::admission {

namespace {

// Returns the types that tell which Services select the Pods of the CriticalService's provider.
std::vector<kube::GroupResource> typesOfServing(const criticalservice::CriticalService& service) {
  std::vector<kube::GroupResource> types{kube::kServices, service.provider.type};
  if (const auto earlier = criticalservice::typeOfEarlierTemplates(service.provider.type))
    types.push_back(*earlier);
  return types;
}

bool isOfConversion(const criticalservice::Criterion& criterion) {
  return std::holds_alternative<criticalservice::InstancesCriterion>(criterion);
}

// Adds what to read to confirm that nothing holds the condition. Of a pattern: which types it means, and each
// of them.
void addReads(const graph::Graph& graph, graph::Condition condition, std::vector<graph::Condition>& reads) {
  if (!kube::isTypePattern(condition.type)) {
    reads.push_back(std::move(condition));
    return;
  }
  graph::Condition types;
  types.kind = graph::Condition::Kind::Instances;
  types.type = condition.type;
  reads.push_back(std::move(types));
  for (const graph::TypeId type : graph::typesMeantBy(graph, condition.type)) {
    condition.type = graph.type(type);
    reads.push_back(condition);
  }
}

std::vector<graph::Condition> conditionsToConfirm(const graph::Graph& graph, const GuardIndex& index,
                                                  const kube::ObjectKey& key, DeletionEffect deletionEffect) {
  std::vector<graph::Condition> conditions;
  forEachToConfirm(
      GraphFacts(graph, index), index.rules(), index.guardEntries(key),
      [&](uint32_t /*guard entry*/, uint32_t condition) {
        addReads(graph, graph.condition(graph::ConditionId{condition}), conditions);
      },
      deletionEffect);
  std::ranges::sort(conditions);
  conditions.erase(std::unique(conditions.begin(), conditions.end()), conditions.end());
  return conditions;
}

PreliminaryVerdict judged(const graph::Graph& graph, const GuardIndex& index, const kube::ObjectKey& key,
                          DeletionEffect deletionEffect) {
  PreliminaryVerdict result{
      admission::decide(GraphFacts(graph, index), index.rules(), index.guardEntries(key), deletionEffect),
      {},
      {}};
  if (!result.verdict.allowed || result.verdict.held)
    result.explanation = admission::explain(graph, index, key, result.verdict);
  if (result.verdict.allowed && result.verdict.guarded)
    result.toConfirm = conditionsToConfirm(graph, index, key, deletionEffect);
  return result;
}

}  // namespace

ClusterView::ClusterView(std::string ownNamespace, ViewScope told)
    : told_(told), index_(graph_, std::move(ownNamespace)) {
  intern(criticalservice::criticalServiceType());
}

graph::TypeId ClusterView::intern(const kube::GroupResource& type) {
  const graph::TypeId id = graph_.internType(type);
  if (told_ == ViewScope::Everything) graph_.setKnowledge(id, graph::Knowledge::Synced);
  return id;
}

void ClusterView::know(const kube::GroupResource& type, graph::Knowledge knowledge) {
  const graph::TypeId id = intern(type);
  const bool wasBelievable = believable(graph_.knowledge(id));
  graph_.setKnowledge(id, knowledge);
  if (believable(knowledge) != wasBelievable) putFinding(type);
}

// Puts the CriticalServices again whose converted types are found by objects of this type.
void ClusterView::putFinding(const kube::GroupResource& type) {
  for (const auto& [space, names] : servicesOf_) {
    for (const std::string& name : names) {
      const criticalservice::CriticalService& service = index_.service(index_.find(name));
      const std::vector<kube::GroupResource> types = typesOfServing(service);
      if (criticalservice::findsDependencies(service) && std::ranges::find(types, type) != types.end())
        put(service);
    }
  }
}

bool ClusterView::isBelievable(const kube::GroupResource& type) const {
  const auto id = graph_.findType(type);
  return id ? believable(graph_.knowledge(*id)) : told_ == ViewScope::Everything;
}

void ClusterView::forget(const kube::GroupResource& type) {
  const auto id = graph_.findType(type);
  if (!id) return;
  know(type, graph::Knowledge::Unknown);
  std::vector<kube::ObjectKey> gone;
  for (const graph::ObjectId object : graph_.objectsOf(*id)) gone.push_back(graph_.key(object));
  for (const kube::ObjectKey& key : gone) remove(key);
  graph_.forgetType(*id);
}

void ClusterView::forgetOthers(const kube::GroupResource& pattern,
                               const std::vector<kube::GroupResource>& wanted) {
  for (const graph::TypeId type : graph::typesMeantBy(graph_, pattern)) {
    const kube::GroupResource meant = graph_.type(type);
    if (!std::ranges::binary_search(wanted, meant)) forget(meant);
  }
}

void ClusterView::upsert(const kube::GroupResource& type, const kube::ObjectMeta& meta) {
  graph_.upsert(intern(type), meta);
  const kube::ObjectKey key{type, meta.namespaceName, meta.name};
  noteHeld(key, meta);
  note(annotated_, key, meta);
  putServicesOf(key);
  putServicesThatNeed(key);
}

// Puts the CriticalServices of this provider again: its owner may have changed.
void ClusterView::putServicesOf(const kube::ObjectKey& provider) {
  const auto found = servicesOf_.find(provider.namespaceName);
  if (found == servicesOf_.end()) return;
  for (const std::string& name : found->second) {
    const criticalservice::CriticalService& service = index_.service(index_.find(name));
    if (service.provider == provider) put(service);
  }
}

void ClusterView::noteAwaited(const std::string& service, const criticalservice::Needed& needed) {
  for (auto& [object, services] : awaiting_) services.erase(service);
  std::erase_if(awaiting_, [](const auto& one) { return one.second.empty(); });
  for (const kube::ObjectKey& object : needed.awaited) awaiting_[object].insert(service);
}

// Puts those CriticalServices again that began or ceased to wait for an object that their providers need.
void ClusterView::putServicesThatNeed(const kube::ObjectKey& object) {
  std::set<std::string> changed;
  const criticalservice::Carries carries = criticalservice::carriesIn(graph_);
  for (const GuardEntry& guardEntry : index_.guardEntries(object)) {
    const criticalservice::CriticalService& service = index_.service(guardEntry.service);
    const bool isNeeded = std::ranges::binary_search(index_.dependencies(guardEntry.service), object, {},
                                                     &criticalservice::Dependency::object);
    if (isNeeded && criticalservice::isAwaited(service, object, carries)) changed.insert(service.meta.name);
  }
  if (const auto found = awaiting_.find(object); found != awaiting_.end()) {
    std::ranges::copy_if(found->second, std::inserter(changed, changed.end()), [&](const std::string& name) {
      return !criticalservice::isAwaited(index_.service(index_.find(name)), object, carries);
    });
  }
  for (const std::string& name : changed) put(index_.service(index_.find(name)));
}

void ClusterView::noteHeld(const kube::ObjectKey& key, const kube::ObjectMeta& meta) {
  if (!criticalservice::canBeHeld(key.type)) return;
  if (kube::hasFinalizer(meta, kube::kCriteriaFinalizer))
    held_.insert(key);
  else
    held_.erase(key);
}

void ClusterView::tell(const kube::Object& object) {
  upsert(object.key.type, object.meta);
  if (weakened_) tellOfRole(object);
  changed_ = object.key;
  findAgain(finder_.put(object));
  changed_.reset();
}

// Returns the number of the CriticalService if its provider is not told of any more: its dependencies, which
// go after the provider, and its converted types then stay as they were put last. nullopt: they are found.
std::optional<uint32_t> ClusterView::lastKnown(const criticalservice::CriticalService& service) const {
  const uint32_t number = index_.find(service.meta.name);
  if (!criticalservice::findsDependencies(service) || finder_.knows(service.provider) ||
      number == graph::kNone)
    return std::nullopt;
  const criticalservice::CriticalService& former = index_.service(number);
  const bool isSame = former.provider == service.provider && criticalservice::findsDependencies(former);
  return isSame ? std::optional(number) : std::nullopt;
}

void ClusterView::understandBy(criticalservice::KnownCriterionTypes types) {
  types_ = std::move(types);
  understandAgain();
}

criticalservice::CriticalService ClusterView::understood(criticalservice::CriticalService service) const {
  if (!types_) return service;
  if (const criticalservice::CriticalService* known = ClusterView::service(service.meta.name))
    service.seenTypes.insert(known->seenTypes.begin(), known->seenTypes.end());
  criticalservice::understand(service, *types_);
  return service;
}

void ClusterView::understandAgain(std::string_view group) {
  if (!types_) return;
  std::vector<criticalservice::CriticalService> changed;
  for (const criticalservice::CriticalService* service : services()) {
    if (!group.empty() && !criticalservice::namesGroup(*service, group)) continue;
    criticalservice::CriticalService now = understood(*service);
    if (now.criteria != service->criteria || now.seenTypes != service->seenTypes ||
        now.providerDoubt != service->providerDoubt || now.dependencyDoubts != service->dependencyDoubts)
      changed.push_back(std::move(now));
  }
  for (criticalservice::CriticalService& service : changed) put(std::move(service));
}

void ClusterView::put(criticalservice::CriticalService service) {
  service = understood(service);
  const auto last = lastKnown(service);
  const bool isCertain = std::ranges::all_of(
      typesOfServing(service), [this](const kube::GroupResource& type) { return isBelievable(type); });
  service = finder_.withConverted(std::move(service), isCertain);
  criticalservice::Needed found = needsOf(service);
  noteLeftOut(service.meta.name, found);
  noteAwaited(service.meta.name, found);
  if (last)
    reliances_.erase(service.meta.name);  // another provider of its name relies on something else
  else if (weakened_)
    noteLoss(service, found);
  Dependencies needed = std::move(found.guarded);
  if (last) needed = index_.dependencies(*last);
  if (last) {
    const std::vector<criticalservice::Criterion>& former = index_.service(*last).criteria;
    std::ranges::copy_if(former, std::back_inserter(service.criteria), [&](const auto& criterion) {
      return isOfConversion(criterion) &&
             std::ranges::find(service.criteria, criterion) == service.criteria.end();
    });
  }
  for (criticalservice::Dependency& dependency : needed)
    dependency.ownsProvider = dependency.ownsProvider || owns(dependency.object, service.provider);
  for (const criticalservice::Criterion& criterion : service.criteria) {
    if (isOfConversion(criterion)) intern(criticalservice::typeOf(criterion));
  }
  index_.put(graph_, service, kube::ResourceMap::builtIn(), std::move(needed));
}

// --- changes that take something away

bool ClusterView::isUnmet(const criticalservice::CriticalService& service) const {
  return graph_.find(service.provider) &&
         std::ranges::any_of(service.criteria, [this](const criticalservice::Criterion& criterion) {
           return !isMet(criterion);
         });
}

// Remembers what the service's provider relies on now, and tells what the current change has taken away from
// it. An object that is known to be gone is no loss.
void ClusterView::noteLoss(const criticalservice::CriticalService& service,
                           const criticalservice::Needed& needed) {
  const Reliance now = relianceOf(service, needed, finder_.apisOf(service));
  Reliance& known = reliances_[service.meta.name];
  Reliance former = std::exchange(known, now);
  if (!changed_ || !isUnmet(index_.service(index_.find(service.meta.name)))) return;
  std::erase_if(former.needed,
                [this](const kube::ObjectKey& object) { return graph::isKnownToBeGone(graph_, object); });
  std::erase_if(former.converted, [this](const kube::GroupResource& type) {
    return isMet(criticalservice::InstancesCriterion{type});
  });
  if (std::string lost = lostOf(former, now); !lost.empty())
    weakened_({Weakening::Kind::Dependency, service.meta.name, service.meta.uid, *changed_, std::move(lost)});
}

// Called before the finder is told of the role, so that it still knows the former one.
void ClusterView::tellOfRole(const kube::Object& role) {
  const std::span<const GuardEntry> guardEntries = index_.guardEntries(role.key);
  const bool isNeeded = std::ranges::any_of(
      guardEntries, [](const GuardEntry& one) { return one.guardedAs == GuardedAs::Dependency; });
  if (!isNeeded || !finder_.allowsLess(role)) return;
  for (const GuardEntry& guardEntry : guardEntries) {
    const criticalservice::CriticalService& service = index_.service(guardEntry.service);
    const Dependencies& needed = index_.dependencies(guardEntry.service);
    const auto found = std::ranges::find(needed, role.key, &criticalservice::Dependency::object);
    if (guardEntry.guardedAs != GuardedAs::Dependency || found == needed.end() || !isUnmet(service)) continue;
    weakened_({Weakening::Kind::Dependency, service.meta.name, service.meta.uid, role.key,
               "it allows less than before (" + found->why + ")"});
  }
}

// Called before `now`, as it was written, is put.
void ClusterView::tellOf(const criticalservice::CriticalService& former,
                         const criticalservice::CriticalService& now) {
  if (!isUnmet(former)) return;
  std::string text;
  for (const std::string& weaker : weakerThan(former, now)) text += (text.empty() ? "" : "; ") + weaker;
  if (!text.empty())
    weakened_({Weakening::Kind::CriticalService, now.meta.name, now.meta.uid, criticalservice::keyOf(now),
               std::move(text)});
}

void ClusterView::noteLeftOut(const std::string& service, const criticalservice::Needed& needed) {
  size_t count = 0;
  for (const criticalservice::TooMany& kind : needed.tooMany) count += kind.found - kind.guarded;
  if (count == 0)
    leftOut_.erase(service);
  else
    leftOut_[service] = count;
}

size_t ClusterView::leftOutDependencies() const {
  size_t count = 0;
  for (const auto& [service, leftOut] : leftOut_) count += leftOut;
  return count;
}

// True if the provider names the object as its owner.
bool ClusterView::owns(const kube::ObjectKey& object, const kube::ObjectKey& provider) const {
  const auto owned = graph_.find(provider);
  if (!owned || (!object.namespaceName.empty() && object.namespaceName != provider.namespaceName))
    return false;
  return std::ranges::any_of(graph_.owners(*owned), [&](const graph::OwnerView& owner) {
    if (owner.object) return graph_.key(*owner.object) == object;
    return criticalservice::means(
        {std::string(kube::groupOf(owner.apiVersion)), std::string(owner.kind), std::string(owner.name)},
        object);
  });
}

void ClusterView::forgetPlace(const criticalservice::CriticalService& service) {
  const auto place = servicesOf_.find(service.provider.namespaceName);
  place->second.erase(service.meta.name);
  if (place->second.empty()) servicesOf_.erase(place);
}

// Finds again what the providers in these namespaces need.
void ClusterView::findAgain(const std::set<std::string>& namespaces) {
  const auto findIn = [this](const std::set<std::string>& names) {
    for (const std::string& name : names) put(index_.service(index_.find(name)));
  };
  if (namespaces.contains(criticalservice::kEveryNamespace)) {
    for (const auto& [space, names] : servicesOf_) findIn(names);
    return;
  }
  for (const std::string& space : namespaces) {
    if (const auto found = servicesOf_.find(space); found != servicesOf_.end()) findIn(found->second);
  }
}

tl::expected<void, kube::Errors> ClusterView::guard(kube::Object service) {
  upsert(service.key.type, service.meta);
  const auto parsed = criticalservice::parseStanding(service);
  services_.insert_or_assign(service.key.name, std::move(service));
  if (!parsed) return tl::unexpected(parsed.error());
  if (const auto* former = ClusterView::service(parsed->meta.name)) {
    if (weakened_) tellOf(*former, *parsed);
    forgetPlace(*former);
  }
  servicesOf_[parsed->provider.namespaceName].insert(parsed->meta.name);
  put(*parsed);
  intern(parsed->provider.type);
  for (const criticalservice::Criterion& criterion : parsed->criteria)
    intern(criticalservice::typeOf(criterion));
  if (!parsed->notUnderstood.empty()) return tl::unexpected(parsed->notUnderstood);
  return {};
}

void ClusterView::remove(const kube::ObjectKey& key, std::string_view uid) {
  if (const auto object = graph_.find(key); object && !uid.empty() && !graph_.hasUid(*object, uid)) return;
  graph_.remove(key);
  held_.erase(key);
  annotated_.erase(key);
  findAgain(finder_.remove(key));
  if (key.type != criticalservice::criticalServiceType()) return;
  if (const auto* former = service(key.name)) forgetPlace(*former);
  index_.remove(graph_, key.name);
  services_.erase(key.name);
  leftOut_.erase(key.name);
  noteAwaited(key.name, {});
  reliances_.erase(key.name);
}

Verdict ClusterView::decide(const kube::ObjectKey& key, DeletionEffect deletionEffect) const {
  return admission::decide(GraphFacts(graph_, index_), index_.rules(), index_.guardEntries(key),
                           deletionEffect);
}

bool ClusterView::guardsScaling(const kube::ObjectKey& key) const {
  if (!believable(graph_.knowledge(index_.allServices()))) return true;
  return std::ranges::any_of(index_.guardEntries(key), [this](const GuardEntry& guardEntry) {
    return guardEntry.guardedAs == GuardedAs::Provider && index_.service(guardEntry.service).guardsScaling;
  });
}

bool ClusterView::isMet(const criticalservice::Criterion& criterion) const {
  const auto condition = graph_.findCondition(criticalservice::conditionOf(criterion));
  if (!condition) return told_ == ViewScope::Everything;
  return graph::isMet(graph_, *condition);
}

Explanation ClusterView::explain(const kube::ObjectKey& key, const Verdict& verdict,
                                 std::string_view detail) const {
  return admission::explain(graph_, index_, key, verdict, detail);
}

// Puts the seen objects into copies: the watch of their type may know more by now, and would not tell that
// they are gone.
PreliminaryVerdict ClusterView::judge(const kube::ObjectKey& key, std::span<const ObservedObject> seen,
                                      DeletionEffect deletionEffect) const {
  if (seen.empty()) return judged(graph_, index_, key, deletionEffect);
  graph::Graph graph = graph_.snapshot();
  const GuardIndex index = index_;
  for (const ObservedObject& object : seen) {
    graph.upsert(graph.internType(object.type), object.meta);
    // A type that nobody has listed yet.
    if (object.type == kube::kCustomResourceDefinitions) graph.internType(kube::definedBy(object.meta.name));
  }
  return judged(graph, index, key, deletionEffect);
}

std::vector<uint32_t> ClusterView::servicesRecording(const kube::ObjectKey& key) const {
  std::vector<uint32_t> numbers;
  for (const GuardEntry& guardEntry : index_.guardEntries(key)) {
    const bool isItself = guardEntry.guardedAs == GuardedAs::Service &&
                          criticalservice::keyOf(index_.service(guardEntry.service)) == key;
    if (recordsDeferral(guardEntry.guardedAs, isItself)) numbers.push_back(guardEntry.service);
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

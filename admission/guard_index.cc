#include "admission/guard_index.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "graph/hash.h"
#include "kube/invariant.h"
#include "kube/well_known.h"

namespace lastout::admission {
namespace {

size_t sizeClass(uint32_t count) { return static_cast<size_t>(std::bit_width(count - 1)); }

bool sameSpec(const criticalservice::CriticalService& a, const criticalservice::CriticalService& b) {
  return a.provider == b.provider && a.criteria == b.criteria && a.intent == b.intent &&
         a.enforcement == b.enforcement;
}

// Parts of a key hold no NUL, so that a list's key is its four parts with NULs between.
std::string joined(const KeyView& key) {
  std::string text;
  text.reserve(key.group.size() + key.resource.size() + key.namespaceName.size() + key.name.size() + 3);
  text.append(key.name).append(1, '\0').append(key.namespaceName).append(1, '\0');
  text.append(key.resource).append(1, '\0').append(key.group);
  return text;
}

// As memcmp() == 0; the parts of a key are so short that the call would cost more than the comparison.
bool sameBytes(const char* a, const char* b, size_t size) {
  if (size < 8) return size == 0 || graph::shortWord(a, size) == graph::shortWord(b, size);
  uint64_t left = 0;
  uint64_t right = 0;
  for (size_t at = 0; at + 8 < size; at += 8) {
    std::memcpy(&left, a + at, 8);
    std::memcpy(&right, b + at, 8);
    if (left != right) return false;
  }
  std::memcpy(&left, a + size - 8, 8);
  std::memcpy(&right, b + size - 8, 8);
  return left == right;
}

// Whether joined(key) is `text`.
bool isJoined(std::string_view text, const KeyView& key) {
  const size_t size = key.name.size() + key.namespaceName.size() + key.resource.size() + key.group.size() + 3;
  if (text.size() != size) return false;
  const char* at = text.data();
  for (const std::string_view part : {key.name, key.namespaceName, key.resource, key.group}) {
    if (!sameBytes(at, part.data(), part.size())) return false;
    at += part.size();
    if (at != text.data() + size && *at++ != '\0') return false;
  }
  return true;
}

// The group hardly ever tells two objects apart whose other parts are the same; comparing does.
uint32_t hashOf(const KeyView& key) {
  return graph::finishHash(
      graph::hashText(graph::hashText(graph::hashText(0, key.resource), key.namespaceName), key.name));
}

}  // namespace

KeyView viewOf(const kube::ObjectKey& key) {
  return {key.type.group, key.type.resource, key.namespaceName, key.name};
}

uint32_t CriteriaPool::allocate(std::vector<uint32_t>& storage, uint32_t count) {
  if (count == 0) return 0;
  const size_t sizes = sizeClass(count);
  if (free_.size() <= sizes) free_.resize(sizes + 1);
  if (!free_[sizes].empty()) {
    const uint32_t first = free_[sizes].back();
    free_[sizes].pop_back();
    return first;
  }
  const auto first = static_cast<uint32_t>(storage.size());
  storage.resize(storage.size() + (size_t{1} << sizes));
  return first;
}

void CriteriaPool::release(uint32_t first, uint32_t count) {
  if (count > 0) free_[sizeClass(count)].push_back(first);
}

void GuardEntries::push(const GuardEntry& guardEntry) {
  if (many_.empty() && count_ < few_.size()) {
    few_[count_++] = guardEntry;
    return;
  }
  if (many_.empty()) many_.assign(few_.begin(), few_.end());
  many_.push_back(guardEntry);
}

void GuardEntries::pop() {
  if (many_.empty()) {
    LASTOUT_INVARIANT(count_ > 0);
    --count_;
    return;
  }
  many_.pop_back();
  if (many_.size() > few_.size()) return;
  count_ = static_cast<uint32_t>(many_.size());
  std::copy(many_.begin(), many_.end(), few_.begin());
  many_.clear();
}

GuardIndex::GuardIndex(graph::Graph& graph, std::string ownNamespace)
    : ownNamespace_(std::move(ownNamespace)) {
  graph::Condition condition;
  condition.kind = graph::Condition::Kind::Instances;
  condition.type = criticalservice::criticalServiceType();
  allServices_ = graph.addCondition(condition);
  if (ownNamespace_.empty()) return;
  const kube::ObjectKey home = kube::namespaceKey(ownNamespace_);
  graph.require(home, allServices_, {home, ""});
}

uint32_t GuardIndex::put(graph::Graph& graph, const criticalservice::CriticalService& service,
                         const kube::ResourceMap& types, Dependencies dependencies) {
  const auto found = numbers_.find(service.meta.name);
  uint32_t number = 0;
  if (found != numbers_.end()) {
    number = found->second;
    Slot& slot = slots_[number];
    if (sameSpec(slot.service, service) && slot.dependencies == dependencies) {
      slot.service = service;
      return number;
    }
    discard(graph, number);
  } else {
    number = takeNumber();
    numbers_.emplace(service.meta.name, number);
  }
  slots_[number].service = service;
  slots_[number].dependencies = std::move(dependencies);
  decided_[number] = {true, service.intent, service.enforcement};
  compile(graph, number);
  const std::vector<Guard> guards = guardsOf(service, types, ownNamespace_, slots_[number].dependencies);
  for (const Guard& guard : guards) addGuardEntry(guard, number);
  order(graph, number, guards);
  return number;
}

bool GuardIndex::remove(graph::Graph& graph, std::string_view name) {
  const auto found = numbers_.find(name);
  if (found == numbers_.end()) return false;
  const uint32_t number = found->second;
  discard(graph, number);
  slots_[number] = Slot{};
  decided_[number] = DecidedFields{};
  numbers_.erase(found);
  freeNumbers_.push_back(number);
  return true;
}

uint32_t GuardIndex::takeNumber() {
  if (!freeNumbers_.empty()) {
    const uint32_t number = freeNumbers_.back();
    freeNumbers_.pop_back();
    return number;
  }
  slots_.emplace_back();
  decided_.emplace_back();
  rules_.services.emplace_back();
  return static_cast<uint32_t>(slots_.size() - 1);
}

// Interns the service's conditions, each held by the service itself: decide() needs them although no edge may
// use them.
void GuardIndex::compile(graph::Graph& graph, uint32_t number) {
  const criticalservice::CriticalService& service = slots_[number].service;
  ServiceRule& rule = rules_.services[number];
  rule.provider = static_cast<uint32_t>(graph.addCondition(criticalservice::providerCondition(service)));
  rule.criterionCount = static_cast<uint32_t>(service.criteria.size());
  rule.firstCriterion = criteriaPool_.allocate(rules_.criteria, rule.criterionCount);
  for (uint32_t i = 0; i < rule.criterionCount; ++i) {
    rules_.criteria[rule.firstCriterion + i] =
        static_cast<uint32_t>(graph.addCondition(criticalservice::conditionOf(service.criteria[i])));
  }
}

// Takes back all that put() did, but for the number.
void GuardIndex::discard(graph::Graph& graph, uint32_t number) {
  graph.withdraw(criticalservice::keyOf(slots_[number].service));
  removeGuardEntries(number);
  ServiceRule& rule = rules_.services[number];
  graph.releaseCondition(graph::ConditionId{rule.provider});
  for (uint32_t i = 0; i < rule.criterionCount; ++i) {
    graph.releaseCondition(graph::ConditionId{rules_.criteria[rule.firstCriterion + i]});
  }
  criteriaPool_.release(rule.firstCriterion, rule.criterionCount);
  rule = ServiceRule{};
}

// The edges, as far as the intent orders anything (docs/verdicts.md).
void GuardIndex::order(graph::Graph& graph, uint32_t number, const std::vector<Guard>& guards) {
  using criticalservice::DeletionIntent;
  const criticalservice::CriticalService& service = slots_[number].service;
  const kube::ObjectKey origin = criticalservice::keyOf(service);
  const ServiceRule& rule = rules_.services[number];
  for (const Guard& guard : guards) {
    if (guard.guardedAs == GuardedAs::Service && service.intent == DeletionIntent::Ordered) {
      graph.require(guard.object, graph::ConditionId{rule.provider}, {origin, "spec.provider"});
    }
    if (guard.guardedAs == GuardedAs::Dependency && service.intent != DeletionIntent::OrphanResources) {
      graph.require(guard.object, graph::ConditionId{rule.provider},
                    {origin, std::string(criticalservice::kDependenciesField)});
    }
    const bool waitsForCriteria =
        guard.guardedAs == GuardedAs::Provider || guard.guardedAs == GuardedAs::ProviderAncestor;
    if (!waitsForCriteria || service.intent == DeletionIntent::OrphanResources) continue;
    for (uint32_t i = 0; i < rule.criterionCount; ++i) {
      graph.require(guard.object, graph::ConditionId{rules_.criteria[rule.firstCriterion + i]},
                    {origin, criticalservice::fieldOf(service, i)});
    }
  }
}

uint32_t GuardIndex::findList(const KeyView& key, uint32_t hash) const {
  return listOf_.find(hash, [&](uint32_t list) { return isJoined(lists_[list].key, key); });
}

void GuardIndex::addGuardEntry(const Guard& guard, uint32_t number) {
  const KeyView key = viewOf(guard.object);
  const uint32_t hash = hashOf(key);
  uint32_t list = findList(key, hash);
  if (list == graph::kNone) {
    if (freeLists_.empty()) {
      list = static_cast<uint32_t>(lists_.size());
      lists_.emplace_back();
    } else {
      list = freeLists_.back();
      freeLists_.pop_back();
    }
    lists_[list].key = joined(key);
    lists_[list].hash = hash;
    listOf_.insert(hash, list);
  }
  GuardEntries& guardEntries = lists_[list].guardEntries;
  slots_[number].places.push_back({list, static_cast<uint32_t>(guardEntries.size())});
  guardEntries.push({guard.guardedAs, number});
}

// The last guard entry of a list takes the place of the removed one, so that each costs the same however long
// the list is.
void GuardIndex::removeGuardEntries(uint32_t number) {
  std::vector<Place>& places = slots_[number].places;
  while (!places.empty()) {
    const Place place = places.back();
    places.pop_back();
    GuardEntryList& list = lists_[place.list];
    const auto last = static_cast<uint32_t>(list.guardEntries.size() - 1);
    if (place.position != last) {
      list.guardEntries[place.position] = list.guardEntries[last];
      for (Place& moved : slots_[list.guardEntries[last].service].places) {
        if (moved.list == place.list && moved.position == last) moved.position = place.position;
      }
    }
    list.guardEntries.pop();
    if (list.guardEntries.size() > 0) continue;
    listOf_.erase(list.hash, place.list);
    list = GuardEntryList{};
    freeLists_.push_back(place.list);
  }
}

std::span<const GuardEntry> GuardIndex::guardEntries(const KeyView& key) const {
  const uint32_t list = findList(key, hashOf(key));
  if (list == graph::kNone) return {};
  return lists_[list].guardEntries.all();
}

std::span<const GuardEntry> GuardIndex::guardEntries(const kube::ObjectKey& key) const {
  return guardEntries(viewOf(key));
}

uint32_t GuardIndex::find(std::string_view name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? graph::kNone : found->second;
}

bool GraphFacts::awaitsOwned(uint32_t condition) const {
  std::array<graph::ObjectId, 1> holder{};
  if (graph_.someHolders(graph::ConditionId{condition}, holder) == 0) return false;
  return graph_.isTerminating(holder[0]) &&
         std::ranges::equal(graph_.finalizers(holder[0]), std::array{kube::kForegroundFinalizer});
}

DeletionEffect deletionEffectOf(const graph::Graph& graph, graph::ObjectId object,
                                RequestedPropagation asked) {
  bool isHeld = false;
  bool waitsForDependents = false;
  for (const std::string_view finalizer : graph.finalizers(object)) {
    isHeld = isHeld || finalizer == kube::kCriteriaFinalizer;
    waitsForDependents = waitsForDependents || finalizer == kube::kForegroundFinalizer;
  }
  return deletionEffectOf(isHeld, waitsForDependents, asked);
}

}  // namespace lastout::admission

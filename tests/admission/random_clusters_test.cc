// decide() on the live graph against the document's own words, over thousands of random clusters that change
// all the time: objects, CriticalServices and what is known of types come and go in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "admission/decide.h"
#include "admission/explain.h"
#include "admission/guard_index.h"
#include "criticalservice/understanding.h"
#include "kube/object_references.h"
#include "tests/admission/types.h"
#include "tests/support/by_the_document.h"

namespace lastout::admission {
namespace {

using criticalservice::Criterion;
using criticalservice::CriticalService;
using criticalservice::DeletionIntent;
using criticalservice::FinalizerCriterion;
using criticalservice::InstancesCriterion;
using criticalservice::SpecificResourceCriterion;
using graph::Knowledge;
using testing::PlainBlocker;
using testing::PlainCluster;
using testing::PlainObject;
using testing::PlainVerdict;

#ifdef LASTOUT_SANITIZED
constexpr int kRuns = 500;  // of each of the four tests below
#else
constexpr int kRuns = 6000;
#endif
constexpr int kChanges = 40;

const kube::GroupResource kServices = criticalservice::criticalServiceType();
const kube::GroupResource kEngines{"example.com", "engines"};
const kube::GroupResource kThings{"example.com", "things"};
const kube::GroupResource kConfigMaps{"", "configmaps"};

// Those that come and go; and names that somebody may have meant for them.
const std::vector<kube::GroupResource> kCustom{kEngines, kThings};
const std::vector<kube::GroupResource> kMisspelt{
    {"example.com", "thing"}, {"exmaple.com", "things"}, {"example.com", "pods"}};

// One cluster, twice: as plain lists, and as the live graph with its index.
class Twin {
 public:
  explicit Twin(uint32_t seed)
      : random_(seed),
        plain_{.ownNamespace = seed % 2 == 0 ? "n0" : ""},
        index_(graph_, plain_.ownNamespace) {
    // Most are small, so that everything meets everything; some hold up to 200 objects.
    if (seed % 16 == 0) wide_ = 12;
    if (chance(2)) {
      plain_.types = testing::PlainTypes{{{kServices, false},
                                          {kNamespaces, false},
                                          {kCrds, false},
                                          {kDeployments, true},
                                          {kConfigMaps, true}},
                                         {}};
      for (const kube::GroupResource& type : kCustom) {
        if (chance(2)) plain_.types->namespaced[type] = type == kEngines;
      }
    }
    for (size_t i = 0; i < 10 * wide_; ++i) upsert(anyPlainObject());
    for (const kube::GroupResource& type :
         {kServices, kNamespaces, kCrds, kDeployments, kEngines, kThings, kConfigMaps}) {
      if (!chance(6)) know(type, Knowledge::Synced);
    }
  }

  void change();
  void compare(const kube::ObjectKey& key);
  void compare(const kube::ObjectKey& key, DeletionEffect deletionEffect);
  std::vector<kube::ObjectKey> keys() const;
  void removeEverything();

 private:
  size_t below(size_t limit) { return random_() % limit; }
  bool chance(size_t oneIn) { return below(oneIn) == 0; }
  template <class T>
  const T& oneOf(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

  kube::ObjectKey anyObject();
  std::vector<std::string> anyFinalizers();
  PlainObject anyPlainObject();
  void addReference(CriticalService& service);
  kube::ObjectKey anyProvider();
  CriticalService anyService();
  void upsert(const PlainObject& object);
  void remove(const kube::ObjectKey& key);
  void know(const kube::GroupResource& type, Knowledge knowledge);
  void put(const CriticalService& service);
  void comeOrGo(const kube::GroupResource& type);
  criticalservice::KnownCriterionTypes knownTypes() const;
  Criterion anyCriterion();
  void removeService(const std::string& name);

  std::mt19937 random_;
  size_t wide_ = 1;  // how many times as many objects there may be as names in keys()
  PlainCluster plain_;
  kube::ResourceMap types_ = kube::ResourceMap::builtIn();
  graph::Graph graph_;
  GuardIndex index_;
};

std::string numbered(const char* prefix, size_t number) { return prefix + std::to_string(number); }

kube::ObjectKey Twin::anyProvider() {
  return {chance(3) ? kEngines : kDeployments, numbered("n", below(3)), numbered("p", below(3))};
}

kube::ObjectKey Twin::anyObject() {
  switch (below(6)) {
    case 0:
      return {kThings, "", numbered("t", below(8 * wide_))};
    case 1:
      return {kConfigMaps, numbered("n", below(3)), numbered("c", below(3 * wide_))};
    case 2:
      return {
          kCrds, "",
          oneOf<std::string>({"things.example.com", "engines.example.com", "criticalservices.lastout.dev"})};
    case 3:
      return {kNamespaces, "", numbered("n", below(3))};
    default:
      return anyProvider();
  }
}

std::vector<std::string> Twin::anyFinalizers() {
  std::vector<std::string> finalizers;
  for (size_t i = 0; i < 3; ++i) {
    if (chance(3)) finalizers.push_back(numbered("example.com/f", i));
  }
  return finalizers;
}

// By a field with a namespace beside it, or by one without; of what is in namespaces and of what is not.
kube::ReferenceFields fieldsOf(bool withNamespace) {
  if (!withNamespace) return {*kube::parseFieldPath("spec.name"), std::nullopt, std::nullopt};
  return {*kube::parseFieldPath("spec.ref.name"), kube::parseFieldPath("spec.ref.namespace"),
          kube::parseFieldPath("spec.ref.kind")};
}

PlainObject Twin::anyPlainObject() {
  PlainObject object{anyObject(), anyFinalizers(), chance(3)};
  if (object.key.type == kNamespaces && chance(2)) object.labels = {{"tenant", chance(2) ? "a" : "b"}};
  if (chance(2)) object.names.push_back({"spec.name", "", "", "", "", numbered("p", below(3))});
  if (chance(2))
    object.names.push_back({"spec.ref.name", "spec.ref.namespace", "spec.ref.kind",
                            oneOf<std::string>({"", "Engine", "Deployment"}),
                            chance(2) ? "" : numbered("n", below(3)), numbered("p", below(3))});
  return object;
}

kube::Value contentOf(const PlainObject& object) {
  kube::Value::Map spec;
  for (const testing::PlainReference& one : object.names) {
    if (one.namespaceField.empty()) {
      spec.push_back({"name", {}, {one.name, {}}});
      continue;
    }
    kube::Value::Map reference;
    for (const auto& [key, text] :
         {std::pair("name", one.name), {"namespace", one.namespaceName}, {"kind", one.kind}})
      reference.push_back({key, {}, {text, {}}});
    spec.push_back({"ref", {}, {std::move(reference), {}}});
  }
  kube::Value::Map content;
  content.push_back({"spec", {}, {std::move(spec), {}}});
  return {std::move(content), {}};
}

void Twin::addReference(CriticalService& service) {
  criticalservice::ReferenceCriterion criterion{
      oneOf<kube::GroupResource>({kThings, kConfigMaps}),
      {fieldsOf(chance(2)), service.provider, service.provider.type == kEngines ? "Engine" : "Deployment"},
      chance(3)};
  service.criteria.emplace_back(std::move(criterion));
}

Criterion Twin::anyCriterion() {
  const bool metIfNotInstalled = chance(3);
  const bool isWrong = chance(5);
  if (chance(2)) {
    return FinalizerCriterion{isWrong
                                  ? oneOf(kMisspelt)
                                  : oneOf<kube::GroupResource>({kThings, kConfigMaps, kEngines, kNamespaces}),
                              numbered("example.com/f", below(3)), metIfNotInstalled};
  }
  if (chance(4)) return InstancesCriterion{oneOf<kube::GroupResource>({kThings, kConfigMaps})};
  if (!isWrong) return SpecificResourceCriterion{anyObject(), metIfNotInstalled};
  // A CRD's name, a type, or a scope that is none.
  switch (below(3)) {
    case 0:
      return SpecificResourceCriterion{
          {kCrds, "", oneOf<std::string>({"things", "thing.example.com", "things.exmaple.com"})},
          metIfNotInstalled};
    case 1:
      return SpecificResourceCriterion{{oneOf(kMisspelt), "", "t0"}, metIfNotInstalled};
    default:
      return SpecificResourceCriterion{
          {oneOf<kube::GroupResource>({kThings, kEngines, kConfigMaps}), chance(2) ? "n0" : "", "t0"},
          metIfNotInstalled};
  }
}

criticalservice::KnownCriterionTypes Twin::knownTypes() const {
  const std::map<kube::GroupResource, bool>& there = plain_.types->namespaced;
  return {.isThere = [&there](const kube::GroupResource& type) { return there.contains(type); },
          .wasThere = [](const kube::GroupResource&) { return false; },
          .isDefined = [&there](const kube::GroupResource& type) { return there.contains(type); },
          .isCertain = [](const kube::GroupResource&) { return true; },
          .isNamespaced = [&there](const kube::GroupResource& type) -> std::optional<bool> {
            const auto found = there.find(type);
            return found == there.end() ? std::nullopt : std::optional(found->second);
          },
          .isServed =
              [&there](std::string_view group) {
                return std::ranges::any_of(there, [&](const auto& one) { return one.first.group == group; });
              },
          .all = [] { return std::vector<kube::GroupResource>(); },
          .kindOf =
              [](const kube::GroupResource& type) {
                return std::string(type == kEngines ? "Engine" : "Deployment");
              }};
}

// Its CRD does: what every CriticalService's criteria mean is looked at again.
void Twin::comeOrGo(const kube::GroupResource& type) {
  if (!plain_.types) return;
  if (plain_.types->namespaced.erase(type) == 0) {
    plain_.types->namespaced[type] = type == kEngines;
    for (const CriticalService& service : plain_.services)
      plain_.types->seenBy[service.meta.name].insert(type);
  }
  for (const CriticalService& service : plain_.services) {
    const uint32_t number = index_.find(service.meta.name);
    CriticalService again = index_.service(number);
    criticalservice::understand(again, knownTypes());
    index_.put(graph_, again, types_, index_.dependencies(number));
  }
}

CriticalService Twin::anyService() {
  CriticalService service;
  service.meta.name = numbered("s", below(5));
  service.provider = anyProvider();
  service.intent =
      oneOf<DeletionIntent>({DeletionIntent::Ordered, DeletionIntent::Ordered,
                             DeletionIntent::BestEffortDeletion, DeletionIntent::OrphanResources});
  const bool canBeHeld = service.provider.type == kDeployments;
  if (canBeHeld && !chance(3)) service.enforcement = criticalservice::EnforcementMode::Hold;
  const size_t count = 1 + below(3);
  for (size_t i = 0; i < count; ++i) {
    Criterion criterion = anyCriterion();
    if (auto* finalizer = std::get_if<FinalizerCriterion>(&criterion); finalizer != nullptr && chance(3))
      finalizer->scope = oneOf<kube::NamespaceScope>(
          {kube::NamespaceScope::outside(service.provider.namespaceName),
           kube::NamespaceScope::within({service.provider.namespaceName}),
           kube::NamespaceScope::selectedBy("tenant in (a)"),
           kube::NamespaceScope::selectedBy("kubernetes.io/metadata.name in (n1)")});
    if (auto* finalizer = std::get_if<FinalizerCriterion>(&criterion); finalizer != nullptr && chance(4))
      finalizer->finalizerName = "example.com/f*";
    if (std::ranges::count(service.criteria, criterion) == 0) service.criteria.push_back(criterion);
  }
  if (chance(3)) addReference(service);
  return service;
}

void Twin::upsert(const PlainObject& object) {
  std::erase_if(plain_.objects, [&](const PlainObject& other) { return other.key == object.key; });
  plain_.objects.push_back(object);
  kube::ObjectMeta meta;
  meta.namespaceName = object.key.namespaceName;
  meta.name = object.key.name;
  meta.uid = kube::toString(object.key) + std::to_string(below(3));
  meta.finalizers = object.finalizers;
  meta.labels.insert(object.labels.begin(), object.labels.end());
  meta.references =
      kube::referencesIn(contentOf(object), object.key.namespaceName, {fieldsOf(false), fieldsOf(true)});
  if (object.terminating) meta.deletionTimestamp = 1;
  graph_.upsert(graph_.internType(object.key.type), meta);
}

void Twin::remove(const kube::ObjectKey& key) {
  std::erase_if(plain_.objects, [&](const PlainObject& object) { return object.key == key; });
  graph_.remove(key);
}

void Twin::know(const kube::GroupResource& type, Knowledge knowledge) {
  plain_.knowledge[type] = knowledge;
  graph_.setKnowledge(graph_.internType(type), knowledge);
}

void Twin::put(const CriticalService& service) {
  std::erase_if(plain_.services,
                [&](const CriticalService& other) { return other.meta.name == service.meta.name; });
  plain_.services.push_back(service);
  Dependencies needs;
  for (size_t count = below(3); count > 0; --count) {
    const kube::ObjectKey object{kConfigMaps, numbered("n", below(3)), numbered("c", below(3))};
    if (std::ranges::count(needs, object, &criticalservice::Dependency::object) == 0)
      needs.push_back({object, "chosen", chance(4)});
  }
  plain_.needs[service.meta.name] = needs;
  CriticalService understood = service;
  if (plain_.types) {
    std::set<kube::GroupResource>& seen = plain_.types->seenBy[service.meta.name];
    seen.clear();
    for (const auto& [type, namespaced] : plain_.types->namespaced) seen.insert(type);
    criticalservice::understand(understood, knownTypes());
  }
  index_.put(graph_, understood, types_, needs);
}

void Twin::removeService(const std::string& name) {
  std::erase_if(plain_.services, [&](const CriticalService& other) { return other.meta.name == name; });
  index_.remove(graph_, name);
}

void Twin::change() {
  switch (below(9)) {
    case 8:
      comeOrGo(oneOf(kCustom));
      break;
    case 0:
      put(anyService());
      break;
    case 1:
      removeService(numbered("s", below(5)));
      break;
    case 2:
      know(oneOf<kube::GroupResource>({kNamespaces, kCrds, kDeployments, kEngines, kThings, kConfigMaps}),
           static_cast<Knowledge>(below(7)));
      break;
    case 3:
      know(kServices, chance(4) ? Knowledge::Stale : Knowledge::Synced);
      break;
    case 4:
      remove(anyObject());
      break;
    default:
      upsert(anyPlainObject());
  }
}

std::vector<kube::ObjectKey> Twin::keys() const {
  std::vector<kube::ObjectKey> all;
  for (size_t i = 0; i < 3; ++i) {
    all.push_back({kNamespaces, "", numbered("n", i)});
    for (size_t k = 0; k < 3; ++k) {
      all.push_back({kDeployments, numbered("n", i), numbered("p", k)});
      all.push_back({kEngines, numbered("n", i), numbered("p", k)});
    }
  }
  for (size_t i = 0; i < 5; ++i) all.push_back({kServices, "", numbered("s", i)});
  for (const char* const crd :
       {"things.example.com", "engines.example.com", "criticalservices.lastout.dev"}) {
    all.push_back({kCrds, "", crd});
  }
  all.push_back({kThings, "", "t0"});
  return all;
}

void Twin::compare(const kube::ObjectKey& key) {
  ASSERT_NO_FATAL_FAILURE(compare(key, DeletionEffect::Ending));
  ASSERT_NO_FATAL_FAILURE(compare(key, DeletionEffect::Held));
}

void Twin::compare(const kube::ObjectKey& key, DeletionEffect deletionEffect) {
  const GraphFacts facts(graph_, index_);
  const std::span<const GuardEntry> guardEntries = index_.guardEntries(key);
  const Verdict verdict = decide(facts, index_.rules(), guardEntries, deletionEffect);
  const PlainVerdict expected = verdictByTheDocument(plain_, key, deletionEffect);
  ASSERT_EQ(verdict.allowed, expected.allowed) << kube::toString(key);
  ASSERT_EQ(verdict.reason == Reason::ServicesUnknown, !expected.servicesKnown) << kube::toString(key);
  if (expected.servicesKnown) {
    std::vector<PlainBlocker> found;
    const auto add = [&](uint32_t guardEntry, uint32_t criterion, Reason reason) {
      const bool isCriterion = reason == Reason::CriterionUnmet || reason == Reason::CriterionUnknown;
      found.push_back({index_.service(guardEntries[guardEntry].service).meta.name,
                       isCriterion ? static_cast<int>(criterion) : -1, reason});
      return true;
    };
    forEachBlocker(facts, index_.rules(), guardEntries, add, deletionEffect);
    std::ranges::sort(found);
    ASSERT_EQ(found, expected.blockers) << kube::toString(key);
    ASSERT_EQ(verdict.unmet, found.size());
    ASSERT_EQ(verdict.guarded, expected.guarded) << kube::toString(key);
    ASSERT_EQ(verdict.held, expected.held) << kube::toString(key);
  }
  const Explanation explanation = explain(graph_, index_, key, verdict);
  ASSERT_LE(explanation.message.size(), kLongestMessage);
  if (!verdict.held) {
    ASSERT_EQ(explanation.causes.empty(), verdict.allowed) << explanation.message;
  }
}

void Twin::removeEverything() {
  for (size_t i = 0; i < 5; ++i) removeService(numbered("s", i));
  ASSERT_EQ(index_.size(), 0u);
  ASSERT_EQ(graph_.conditionCount(), 1u) << "but for the one that all CriticalServices hold";
  for (const kube::ObjectKey& key : keys()) ASSERT_TRUE(index_.guardEntries(key).empty());
}

void runAll(uint32_t firstSeed) {
  for (uint32_t seed = firstSeed; seed < firstSeed + kRuns; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Twin twin(seed);
    const std::vector<kube::ObjectKey> keys = twin.keys();
    for (int i = 0; i < kChanges; ++i) {
      twin.change();
      ASSERT_NO_FATAL_FAILURE(twin.compare(keys[(seed + static_cast<uint32_t>(i) * 7) % keys.size()]));
    }
    for (const kube::ObjectKey& key : keys) ASSERT_NO_FATAL_FAILURE(twin.compare(key));
    ASSERT_NO_FATAL_FAILURE(twin.removeEverything());
  }
}

TEST(RandomClusters, FirstQuarter) { runAll(0); }
TEST(RandomClusters, SecondQuarter) { runAll(1'000'000); }
TEST(RandomClusters, ThirdQuarter) { runAll(2'000'000); }
TEST(RandomClusters, LastQuarter) { runAll(3'000'000); }

}  // namespace
}  // namespace lastout::admission

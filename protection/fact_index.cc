#include "protection/fact_index.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>
#include <utility>

#include "kube/messages.h"
#include "kube/well_known.h"
#include "protection/keeper_name.h"

namespace lastout::protection {
namespace {

bool namesAny(const AncestorTest& test, const kube::Labels& labels) {
  return labels.contains(test.nameLabel) || labels.contains(test.kindLabel) ||
         labels.contains(test.versionLabel) || labels.contains(test.groupLabel);
}

const std::string* labelIn(const kube::Labels& labels, const std::string& key) {
  const auto found = labels.find(key);
  return found == labels.end() || found->second.empty() ? nullptr : &found->second;
}

std::string inWords(const kube::ObjectKey& key) {
  return key.type.resource + "/" + (key.namespaceName.empty() ? "" : key.namespaceName + "/") + key.name;
}

template <class Item>
bool has(const std::vector<Item>& items, const Item& item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

template <class Item>
void addOnce(std::vector<Item>& items, const Item& item) {
  if (!has(items, item)) items.push_back(item);
}

Count countIn(const TypeFacts& facts, const std::vector<std::string>& groups, const kube::ObjectKey& kept) {
  Count count;
  const ObjectName* first = nullptr;
  for (const std::string& name : groups) {
    const TypeFacts::Group* const group = facts.group(name);
    if (group == nullptr) continue;
    count.objects += static_cast<uint32_t>(group->size());
    const ObjectName* const candidate = (*group->begin())->name;
    if (first == nullptr || *candidate < *first) first = candidate;
  }
  if (first != nullptr) count.first = keeperName(facts.kind(), first->namespaceName, first->name, kept);
  return count;
}

Count countChildren(const TypeFacts& facts, const ChildrenTest& test, const Request& request) {
  if (test.by == ChildrenTest::By::OwnerReference && request.meta->uid.empty())
    return {0, {}, "the object has no uid"};
  return countIn(facts, childrenGroups(test, request.object, request.meta->uid), request.object);
}

bool isRemote(const DeletionPolicy& policy) {
  return policy.listedBy ||
         std::any_of(policy.when.begin(), policy.when.end(), [](const Case& one) { return !one.isLocal(); });
}

}  // namespace

std::string toString(const ClusterType& type) { return toString(type.type) + onCluster(type.cluster); }

std::string inWords(const AncestorTest& test, const kube::ObjectKey& ancestor) {
  return toString(ancestor) + onCluster(test.cluster);
}

AncestorState standingOf(const AncestorTest& test, const kube::ObjectKey& key, const kube::Object* found) {
  using Kind = AncestorState::Kind;
  if (found == nullptr || found->meta.deletionTimestamp) return {Kind::Gone, inWords(test, key)};
  return {test.field.holds(found->content) ? Kind::Protects : Kind::Frees, inWords(test, key)};
}

Count childrenAmong(const std::vector<kube::Object>& read, const ChildrenTest& test, const Request& request) {
  Questions questions;
  questions.children.push_back(test);
  TypeFacts facts(std::move(questions), 0);
  for (const kube::Object& object : read) facts.upsert(object);
  return countChildren(facts, test, request);
}

Count activeAmong(const std::vector<kube::Object>& read, Activity activity, const Request& request) {
  Questions questions;
  questions.activePods = activity == Activity::Pods;
  questions.boundClaims = activity == Activity::BoundClaims;
  questions.instances = activity == Activity::Instances;
  TypeFacts facts(std::move(questions), 0);
  for (const kube::Object& object : read) facts.upsert(object);
  return countIn(facts,
                 {activity == Activity::Instances ? instancesGroup() : activityGroup(request.object.name)},
                 request.object);
}

FactIndex::FactIndex(FindKind findKind) : findKind_(std::move(findKind)) {}

// --- what is asked, of which types

void FactIndex::setPolicies(const std::vector<DeletionPolicy>& policies) {
  policies_.clear();
  std::copy_if(policies.begin(), policies.end(), std::back_inserter(policies_), isRemote);
  ancestorKinds_.clear();
  definitions_.clear();
  const AllQuestions all = questions();
  for (const kube::GroupResource& type : {kube::kNamespaces, kube::kCustomResourceDefinitions}) {
    const auto known = types_.find(type);
    const auto asked = all.find(type);
    if (known == types_.end() || asked == all.end() || known->second->questions() != asked->second) continue;
    known->second->forEach([&](const FactEntry& entry) { note(type, entry.name->name, &entry.kept.labels); });
  }
  plan();
}

void FactIndex::wantAncestors(const ClusterType& type) {
  if (ancestorTypes_.size() < kMostAncestorTypes && ancestorTypes_.insert(type).second) plan();
}

FactIndex::AllQuestions FactIndex::questions() const {
  AllQuestions all;
  for (const DeletionPolicy& policy : policies_) {
    if (policy.listedBy) addOnce(all[policy.listedBy->type].listers, *policy.listedBy);
    for (const Case& one : policy.when) ask(one, all);
  }
  for (const std::string& definition : definitions_) all[kube::definedBy(definition)].instances = true;
  return all;
}

void FactIndex::ask(const Case& one, AllQuestions& all) const {
  for (const ChildrenTest& test : one.children) addOnce(all[test.type].children, test);
  if (one.activity == Activity::Pods) all[kube::kPods].activePods = true;
  if (one.activity == Activity::BoundClaims) all[kube::kPersistentVolumeClaims].boundClaims = true;
  if (one.activity == Activity::Instances) all[kube::kCustomResourceDefinitions].definitions = true;
  if (!one.ancestor) return;
  const std::string& cluster = one.ancestor->cluster;
  for (const ClusterType& type : ancestorTypes_)
    if (type.cluster == cluster) addOnce(all[type].fields, one.ancestor->field);
  size_t types = 0;
  for (const KindName& name : ancestorKinds_) {
    if (name.cluster != cluster) continue;
    const auto served = findKind_(cluster, name.group, name.kind);
    if (!served || served->namespaced) continue;
    addOnce(all[{cluster, served->type}].fields, one.ancestor->field);
    if (++types >= kMostAncestorTypes) break;
  }
  if (!one.ancestor->orOfNamespace) return;
  for (const std::string* key : {&one.ancestor->nameLabel, &one.ancestor->kindLabel,
                                 &one.ancestor->versionLabel, &one.ancestor->groupLabel})
    addOnce(all[kube::kNamespaces].namespaceLabels, *key);
}

// What is asked of a type changes only together with its generation, so that whoever tells it begins again.
void FactIndex::plan() {
  AllQuestions all = questions();
  for (auto type = types_.begin(); type != types_.end();)
    type = all.contains(type->first) ? std::next(type) : types_.erase(type);
  for (auto& [type, questions] : all) {
    std::unique_ptr<TypeFacts>& facts = types_[type];
    if (!facts || facts->questions() != questions)
      facts = std::make_unique<TypeFacts>(std::move(questions), ++generation_);
  }
}

std::vector<WantedType> FactIndex::wanted() const {
  std::vector<WantedType> all;
  all.reserve(types_.size());
  for (const auto& [type, facts] : types_)
    all.push_back({type.type, facts->questions().needContent(), facts->generation(), type.cluster});
  std::sort(all.begin(), all.end(), [](const WantedType& a, const WantedType& b) {
    return std::tie(a.cluster, a.type) < std::tie(b.cluster, b.type);
  });
  return all;
}

// --- what watches tell

TypeFacts* FactIndex::toldOf(const ClusterType& type, uint64_t generation) {
  const auto found = types_.find(type);
  return found == types_.end() || found->second->generation() != generation ? nullptr : found->second.get();
}

void FactIndex::upsert(const kube::Object& object, uint64_t generation, const std::string& cluster) {
  TypeFacts* const facts = toldOf({cluster, object.key.type}, generation);
  if (facts == nullptr) return;
  facts->upsert(object);
  if (cluster.empty() && note(object.key.type, object.key.name, &object.meta.labels)) plan();
}

void FactIndex::remove(const kube::ObjectKey& key, std::string_view uid, uint64_t generation,
                       const std::string& cluster) {
  TypeFacts* const facts = toldOf({cluster, key.type}, generation);
  if (facts == nullptr || !facts->remove(key, uid)) return;
  if (cluster.empty() && note(key.type, key.name, nullptr)) plan();
}

void FactIndex::know(const ClusterType& type, std::string whyNot, uint64_t generation) {
  if (TypeFacts* const facts = toldOf(type, generation)) facts->know(std::move(whyNot));
}

void FactIndex::absent(const kube::GroupResource& type) {
  const auto found = types_.find(type);
  if (found == types_.end()) return;
  found->second = std::make_unique<TypeFacts>(found->second->questions(), ++generation_);
  found->second->know("");
}

// Takes in what an object makes the index want besides; `labels`: nullptr: it is gone. True if that changed.
bool FactIndex::note(const kube::GroupResource& type, const std::string& name, const kube::Labels* labels) {
  if (type == kube::kNamespaces) return labels != nullptr && noteAncestors(*labels);
  if (type != kube::kCustomResourceDefinitions) return false;
  const bool counts = labels != nullptr && countsInstancesOf(name, *labels);
  return counts ? definitions_.insert(name).second : definitions_.erase(name) > 0;
}

bool FactIndex::noteAncestors(const kube::Labels& labels) {
  bool isNew = false;
  for (const DeletionPolicy& policy : policies_) {
    for (const Case& one : policy.when) {
      if (!one.ancestor || !one.ancestor->orOfNamespace) continue;
      const std::string* group = labelIn(labels, one.ancestor->groupLabel);
      const std::string* kind = labelIn(labels, one.ancestor->kindLabel);
      if (group == nullptr || kind == nullptr || ancestorKinds_.size() >= kMostAncestorKinds) continue;
      isNew = ancestorKinds_.insert({one.ancestor->cluster, *group, *kind}).second || isNew;
    }
  }
  return isNew;
}

// As far as the labels of the CRD tell: its annotations and fields are not known here.
bool FactIndex::countsInstancesOf(const std::string& definition, const kube::Labels& labels) const {
  kube::ObjectMeta meta;
  meta.labels = labels;
  const auto mayCount = [&](const Case& one) {
    const bool mayHold =
        !one.key || one.key->place == KeyTest::MetadataField::Annotation || one.key->holds(meta);
    return one.activity == Activity::Instances && mayHold;
  };
  return std::any_of(policies_.begin(), policies_.end(), [&](const DeletionPolicy& policy) {
    return concerns(policy, {kube::kCustomResourceDefinitions, "", definition}, labels) &&
           std::any_of(policy.when.begin(), policy.when.end(), mayCount);
  });
}

// --- Facts

// A type that is followed for other questions alone does not answer this one.
template <class Asks>
const TypeFacts* FactIndex::known(const ClusterType& type, const Asks& asks,
                                  std::optional<std::string>& unknown) const {
  const auto found = types_.find(type);
  if (found == types_.end() || !asks(found->second->questions()))
    unknown = toString(type) + " is not followed";
  else if (!found->second->whyNot().empty())
    unknown = toString(type) + ": " + found->second->whyNot();
  else
    return found->second.get();
  return nullptr;
}

Count FactIndex::children(const ChildrenTest& test, const Request& request) const {
  Count count;
  const auto asks = [&](const Questions& questions) { return has(questions.children, test); };
  const TypeFacts* const facts = known(test.type, asks, count.unknown);
  return facts == nullptr ? count : countChildren(*facts, test, request);
}

Count FactIndex::active(Activity activity, const Request& request) const {
  const kube::ObjectKey& object = request.object;
  Count count;
  const auto countOf = [&](const kube::GroupResource& type, bool Questions::*asked, std::string group) {
    const TypeFacts* const facts = known(
        type, [&](const Questions& questions) { return questions.*asked; }, count.unknown);
    return facts == nullptr ? count : countIn(*facts, {std::move(group)}, object);
  };
  switch (activity) {
    case Activity::Pods:
    case Activity::BoundClaims:
      if (object.type != kube::kNamespaces) return {0, {}, "only a Namespace has them"};
      return activity == Activity::Pods
                 ? countOf(kube::kPods, &Questions::activePods, activityGroup(object.name))
                 : countOf(kube::kPersistentVolumeClaims, &Questions::boundClaims,
                           activityGroup(object.name));
    case Activity::Instances:
      if (object.type != kube::kCustomResourceDefinitions)
        return {0, {}, "only a CustomResourceDefinition has them"};
      return countOf(kube::definedBy(object.name), &Questions::instances, instancesGroup());
    case Activity::Replicas:
      return {0, {}, "the object itself tells"};
  }
  return count;
}

NamedAncestor FactIndex::namedBy(const AncestorTest& test, const kube::Labels& labels) const {
  using Kind = AncestorState::Kind;
  for (const std::string* key : {&test.nameLabel, &test.kindLabel, &test.versionLabel, &test.groupLabel})
    if (labelIn(labels, *key) == nullptr) return {std::nullopt, {Kind::Incomplete, *key}};
  const std::string& kind = *labelIn(labels, test.kindLabel);
  const std::string& group = *labelIn(labels, test.groupLabel);
  const auto served = findKind_(test.cluster, group, kind);
  if (!served) return {std::nullopt, {Kind::Unknown, served.error()}};
  if (served->namespaced)
    return {
        std::nullopt,
        {Kind::Unknown, kind + " of group " + group + onCluster(test.cluster) + " is not cluster-scoped"}};
  return {kube::ObjectKey{served->type, "", *labelIn(labels, test.nameLabel)}, {}};
}

NamedAncestor FactIndex::nameAncestor(const AncestorTest& test, const Request& request,
                                      const kube::Labels* namespaceLabels) const {
  using Kind = AncestorState::Kind;
  if (namesAny(test, request.meta->labels)) return namedBy(test, request.meta->labels);
  const std::string& spaceName = request.object.namespaceName;
  if (!test.orOfNamespace || spaceName.empty() || request.object.type == kube::kNamespaces) return {};
  if (namespaceLabels != nullptr)
    return namesAny(test, *namespaceLabels) ? namedBy(test, *namespaceLabels) : NamedAncestor();
  std::optional<std::string> unknown;
  const auto asks = [&](const Questions& questions) {
    return has(questions.namespaceLabels, test.nameLabel);
  };
  const TypeFacts* const spaces = known(kube::kNamespaces, asks, unknown);
  if (spaces == nullptr) return {std::nullopt, {Kind::Unknown, *unknown}};
  const FactEntry* const space = spaces->find("", spaceName);
  if (space == nullptr) return {std::nullopt, {}, true};
  return namesAny(test, space->kept.labels) ? namedBy(test, space->kept.labels) : NamedAncestor();
}

AncestorState FactIndex::ancestor(const AncestorTest& test, const Request& request) const {
  NamedAncestor named = nameAncestor(test, request);
  return named.key ? ancestorAt(test, *named.key) : std::move(named.state);
}

AncestorState FactIndex::ancestorAt(const AncestorTest& test, const kube::ObjectKey& ancestor) const {
  using Kind = AncestorState::Kind;
  std::optional<std::string> unknown;
  const auto asks = [&](const Questions& questions) { return has(questions.fields, test.field); };
  const TypeFacts* const facts = known({test.cluster, ancestor.type}, asks, unknown);
  if (facts == nullptr) return {Kind::Unknown, *unknown};
  const FactEntry* const found = facts->find("", ancestor.name);
  const std::string words = inWords(test, ancestor);
  if (found == nullptr || found->terminating) return {Kind::Gone, words};
  const std::vector<FieldTest>& fields = facts->questions().fields;
  const auto field = std::find(fields.begin(), fields.end(), test.field);
  return {found->kept.fields[static_cast<size_t>(field - fields.begin())] ? Kind::Protects : Kind::Frees,
          words};
}

ListedKinds FactIndex::listedKinds(const ListedBy& listedBy) const {
  const auto found = types_.find(listedBy.type);
  if (found == types_.end() || !has(found->second->questions().listers, listedBy)) return {};
  const TypeFacts& facts = *found->second;
  std::set<ListedKind> kinds;
  facts.forEach(
      [&](const FactEntry& entry) { kinds.insert(entry.kept.kinds.begin(), entry.kept.kinds.end()); });
  return {{kinds.begin(), kinds.end()}, facts.whyNot().empty()};
}

std::vector<std::string> FactIndex::listedInVain(const kube::Object& lister) const {
  std::vector<std::string> kinds;
  const auto found = types_.find(lister.key.type);
  if (found == types_.end() || lister.key.namespaceName.empty()) return kinds;
  Questions confined;
  for (const ListedBy& by : found->second->questions().listers)
    if (by.in != ListedIn::AnyNamespace) confined.listers.push_back(by);
  if (confined.listers.empty()) return kinds;
  for (const ListedKind& kind : keptOf(confined, lister).kinds) {
    if (!kind.apiGroup) continue;
    if (const auto served = findKind_("", *kind.apiGroup, kind.kind); served && !served->namespaced)
      addOnce(kinds, kind.kind);
  }
  return kinds;
}

std::vector<std::string> FactIndex::listedIn(const kube::Object& lister,
                                             const std::vector<std::string>& namespaces) const {
  std::vector<std::string> spaces;
  const auto facts = types_.find(lister.key.type);
  const FactEntry* const entry =
      facts == types_.end() ? nullptr : facts->second->find(lister.key.namespaceName, lister.key.name);
  if (entry == nullptr) return spaces;
  std::copy_if(namespaces.begin(), namespaces.end(), std::back_inserter(spaces), [&](const auto& space) {
    const auto& kinds = entry->kept.kinds;
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](const ListedKind& kind) { return kind.namespaceName == space; });
  });
  return spaces;
}

bool FactIndex::isNew(const kube::GroupResource& type) const {
  const auto found = types_.find(type);
  return found == types_.end() || found->second->isNew();
}

namespace {

// Gathers the objects that list one.
class ListersFound {
 public:
  ListersFound(const TypeFacts& facts, const kube::ObjectMeta& meta)
      : facts_(facts), meta_(meta), controller_(controllerOf(meta)) {}

  const std::string& controller() const { return controller_; }
  void takeAll(const std::string& group) {
    take(group, [](const FactEntry&) { return true; });
  }
  void takeSelecting(const std::string& group) {
    take(group, [&](const FactEntry& entry) {
      return std::any_of(entry.kept.selectors.begin(), entry.kept.selectors.end(),
                         [&](const LabelledSelector& one) { return one.group == group && selects(one); });
    });
  }
  const std::set<const FactEntry*, TypeFacts::ByName>& all() const { return found_; }

 private:
  bool selects(const LabelledSelector& selector) const {
    if (!selector.controller.empty() && selector.controller != controller_) return false;
    return std::all_of(selector.labels.begin(), selector.labels.end(), [&](const auto& wanted) {
      const auto label = meta_.labels.find(wanted.first);
      return label != meta_.labels.end() && label->second == wanted.second;
    });
  }
  // Those of one group come in the order of their names: the first of all is among those that are taken.
  template <class Counts>
  void take(const std::string& group, const Counts& counts) {
    const TypeFacts::Group* const entries = facts_.group(group);
    if (entries == nullptr) return;
    uint32_t taken = 0;
    for (const FactEntry* entry : *entries) {
      if (!counts(*entry)) continue;
      found_.insert(entry);
      if (++taken >= kMostCountedListers) return;
    }
  }

  const TypeFacts& facts_;
  const kube::ObjectMeta& meta_;
  const std::string controller_;
  std::set<const FactEntry*, TypeFacts::ByName> found_;
};

}  // namespace

// An object is in as many groups as there are ways to leave something open; each is looked up.
Listers FactIndex::listers(const ListedBy& listedBy, const Request& request) const {
  Listers listers;
  const auto asks = [&](const Questions& questions) { return has(questions.listers, listedBy); };
  const TypeFacts* const facts = known(listedBy.type, asks, listers.unknown);
  if (facts == nullptr) return listers;
  const kube::ObjectKey& object = request.object;
  if (const FactEntry* tooMuch = facts->listsTooMuch(object.namespaceName)) {
    listers.unknown = inWords({listedBy.type, tooMuch->name->namespaceName, tooMuch->name->name}) +
                      " lists more than " + std::to_string(kMostListed) + " objects, or " +
                      std::to_string(kMostKinds) + " kinds of objects";
    return listers;
  }
  ListersFound found(*facts, *request.meta);
  const std::array<const std::string*, 2> groups{&object.type.group, nullptr};
  const std::array<const std::string*, 2> spaces{&object.namespaceName, nullptr};
  for (const std::string* group : groups) {
    for (const std::string* space : spaces) {
      const ListedPlace place{group, request.kind, space};
      for (const std::string* name : {&object.name, static_cast<const std::string*>(nullptr)})
        found.takeAll(listedGroup(listedBy, place, name));
      for (const auto& [key, value] : request.meta->labels)
        found.takeSelecting(listedGroup(listedBy, place, key, value));
      if (listedBy.matchController && !found.controller().empty())
        found.takeSelecting(controlledGroup(listedBy, place, found.controller()));
    }
  }
  if (found.all().empty()) return listers;
  const FactEntry& first = **found.all().begin();
  const std::vector<ListedBy>& asked = facts->questions().listers;
  listers.count = std::min(static_cast<uint32_t>(found.all().size()), kMostCountedListers);
  listers.first = inWords({listedBy.type, first.name->namespaceName, first.name->name});
  listers.name = first.name->name;
  listers.namespaceName = first.name->namespaceName;
  const auto which = static_cast<size_t>(std::find(asked.begin(), asked.end(), listedBy) - asked.begin());
  listers.because = first.kept.because[which];
  listers.replays = std::any_of(found.all().begin(), found.all().end(),
                                [&](const FactEntry* entry) { return entry->kept.replays[which]; });
  return listers;
}

FactIndex::FindKind kindsAmong(std::function<const kube::ResourceMap&()> types) {
  return [types = std::move(types)](const std::string& cluster, std::string_view group,
                                    std::string_view kind) -> tl::expected<ServedKind, std::string> {
    if (!cluster.empty()) return tl::unexpected("cluster " + cluster + " is not known here");
    const kube::ResourceType* type = types().findKind(group, kind);
    if (type != nullptr) return ServedKind{type->type, type->namespaced};
    return tl::unexpected("the cluster serves no kind " + kube::printable(kind) + " of group " +
                          kube::printable(group));
  };
}

}  // namespace lastout::protection

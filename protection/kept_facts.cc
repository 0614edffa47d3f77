#include "protection/kept_facts.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <utility>

#include "kube/messages.h"
#include "kube/value.h"

namespace lastout::protection {
namespace {

// What kind of group a name is of; its first byte.
enum class GroupKind : char {
  Children = 'c',
  ClusterChildren = 'C',
  Dependents = 'o',
  Activity = 'a',
  Instances = 'i',
  Listed = 'l',
  ListedByLabel = 'L',
  ListedByController = 'O',
};

// Each part stands behind its length, so that no two lists of parts make one name.
void add(std::string& name, std::string_view part) {
  const auto size = static_cast<uint32_t>(part.size());
  for (unsigned shift = 0; shift < 32; shift += 8) name += static_cast<char>((size >> shift) & 255U);
  name += part;
}

void add(std::string& name, const FieldPath& path) {
  name += static_cast<char>(path.keys.size());  // bounded by the parser
  for (const std::string& key : path.keys) add(name, key);
}

void add(std::string& name, const std::optional<FieldPath>& path) {
  name += path ? '+' : '-';
  if (path) add(name, *path);
}

void addAny(std::string& name, const std::string* part) {
  name += part == nullptr ? '*' : '=';
  if (part != nullptr) add(name, *part);
}

std::string begin(GroupKind kind) {
  std::string name;
  name.reserve(128);
  return name += static_cast<char>(kind);
}

void addTest(std::string& name, const ChildrenTest& test) {
  name += static_cast<char>('0' + static_cast<int>(test.by));
  add(name, test.name);
  add(name, test.namespaceName);
  add(name, test.label);
}

std::string beginListed(GroupKind kind, const ListedBy& listedBy, const ListedPlace& place) {
  std::string name = begin(kind);
  add(name, listedBy.entries);
  add(name, listedBy.selectors);
  add(name, listedBy.apiVersion);
  add(name, listedBy.kind);
  for (const auto* path : {&listedBy.namespaceName, &listedBy.name, &listedBy.names, &listedBy.matchLabels,
                           &listedBy.matchNamespace, &listedBy.matchController})
    add(name, *path);
  name += static_cast<char>('0' + static_cast<int>(listedBy.in));
  addAny(name, place.apiGroup);
  add(name, place.kind);
  addAny(name, place.namespaceName);
  return name;
}

void keepChild(const ChildrenTest& test, const kube::Object& object, KeptFacts& kept) {
  for (const ParentReference& parent : parentsOf(test, object))
    for (std::string& group : groupsOf(test, parent)) kept.groups.push_back(std::move(group));
}

// The items of a list, or the one that stands in its place; nothing where there is neither.
std::vector<const kube::Value*> itemsAt(const FieldPath& path, const kube::Value& in) {
  std::vector<const kube::Value*> items;
  const kube::Value* found = path.in(in);
  if (found == nullptr) return items;
  if (found->asMap() != nullptr) return {found};
  if (const kube::Value::List* list = found->asList())
    for (const kube::Value& item : *list) items.push_back(&item);
  return items;
}

void addTexts(const std::optional<FieldPath>& path, const kube::Value& in, std::vector<std::string>& texts) {
  const kube::Value* found = path ? path->in(in) : nullptr;
  if (found == nullptr) return;
  if (const std::string* text = found->asString(); text != nullptr && !text->empty()) texts.push_back(*text);
  if (const kube::Value::List* list = found->asList())
    for (const kube::Value& item : *list)
      if (const std::string* text = item.asString(); text != nullptr && !text->empty())
        texts.push_back(*text);
}

kube::Labels labelsAt(const std::optional<FieldPath>& path, const kube::Value& in) {
  kube::Labels labels;
  const kube::Value* found = path ? path->in(in) : nullptr;
  if (found == nullptr || found->asMap() == nullptr) return labels;
  for (const kube::Member& member : *found->asMap())
    if (const std::string* text = member.value.asString()) labels.emplace(member.key, *text);
  return labels;
}

bool isTrueAt(const std::optional<FieldPath>& path, const kube::Value& in) {
  const kube::Value* found = path ? path->in(in) : nullptr;
  return found != nullptr && found->asBool() != nullptr && *found->asBool();
}

// What one object lists too much of.
struct TooMuch {
  bool objects = false;
  bool kinds = false;
  bool any() const { return objects || kinds; }
};

// Keeps what one object lists.
class Listing {
 public:
  Listing(const ListedBy& by, const kube::Object& object, KeptFacts& kept, TooMuch& tooMuch)
      : by_(by), object_(object), kept_(kept), tooMuch_(tooMuch) {}

  void keep() {
    for (const kube::Value* entry : itemsAt(by_.entries, object_.content))
      for (const kube::Value* selector : itemsAt(by_.selectors, *entry)) keep(*entry, *selector);
  }

  // Adds the namespaces that it is about; empty: any, and none.
  void addSpaces(std::set<std::string>& spaces) const {
    for (const kube::Value* entry : itemsAt(by_.entries, object_.content))
      for (const kube::Value* selector : itemsAt(by_.selectors, *entry))
        if (auto space = spaceIn(*selector, !namesIn(*entry, *selector).empty()))
          spaces.insert(std::move(*space));
  }

 private:
  std::vector<std::string> namesIn(const kube::Value& entry, const kube::Value& selector) const {
    std::vector<std::string> names;
    addTexts(by_.name, selector, names);
    addTexts(by_.names, selector, names);
    if (&entry != &selector) addTexts(by_.names, entry, names);
    return names;
  }

  void keep(const kube::Value& entry, const kube::Value& selector) {
    const std::vector<std::string> names = namesIn(entry, selector);
    const std::string_view version = by_.apiVersion.textIn(selector);
    const std::string group = kube::groupOf(version);
    const std::optional<std::string> space = spaceIn(selector, !names.empty());
    if (!space) return;
    const ListedPlace place{version.empty() ? nullptr : &group, by_.kind.textIn(selector),
                            space->empty() ? nullptr : &*space};
    if (place.kind.empty()) return;
    keepKind({version.empty() ? std::nullopt : std::optional(group), std::string(place.kind), *space});
    for (const std::string& name : names) add(listedGroup(by_, place, &name));
    if (names.empty()) keepSelecting(selector, place);
  }

  // The namespace that a selector is about; empty: any, and none; nullopt: it protects nothing.
  std::optional<std::string> spaceIn(const kube::Value& selector, bool hasNames) const {
    const auto& path = !hasNames && by_.matchNamespace ? by_.matchNamespace : by_.namespaceName;
    std::string space(path ? path->textIn(selector) : std::string_view());
    const std::string& own = object_.key.namespaceName;
    if (by_.in == ListedIn::AnyNamespace || own.empty()) return space;
    if (space.empty()) return own;
    if (by_.in == ListedIn::OwnNamespace && space != own) return std::nullopt;
    return space;
  }

  void keepSelecting(const kube::Value& selector, const ListedPlace& place) {
    kube::Labels labels = labelsAt(by_.matchLabels, selector);
    std::string controller;
    if (isTrueAt(by_.matchController, selector)) {
      controller = controllerOf(object_.meta);
      if (controller.empty()) return;  // no object has the same
    }
    if (labels.empty() && controller.empty()) return add(listedGroup(by_, place, nullptr));
    std::string group = labels.empty()
                            ? controlledGroup(by_, place, controller)
                            : listedGroup(by_, place, labels.begin()->first, labels.begin()->second);
    add(group);
    kept_.selectors.push_back({std::move(group), std::move(labels), std::move(controller)});
  }

  void keepKind(ListedKind kind) {
    if (std::find(kept_.kinds.begin(), kept_.kinds.end(), kind) != kept_.kinds.end()) return;
    tooMuch_.kinds = tooMuch_.kinds || kept_.kinds.size() >= kMostKinds;
    if (!tooMuch_.kinds) kept_.kinds.push_back(std::move(kind));
  }

  void add(std::string group) {
    tooMuch_.objects = tooMuch_.objects || kept_.groups.size() >= kMostListed;
    if (!tooMuch_.objects) kept_.groups.push_back(std::move(group));
  }

  const ListedBy& by_;
  const kube::Object& object_;
  KeptFacts& kept_;
  TooMuch& tooMuch_;
};

void keepListed(const std::vector<ListedBy>& listers, const kube::Object& object, KeptFacts& kept) {
  TooMuch tooMuch;
  for (const ListedBy& by : listers) Listing(by, object, kept, tooMuch).keep();
  if (!tooMuch.any()) return;
  std::set<std::string> spaces;
  for (const ListedBy& by : listers) Listing(by, object, kept, tooMuch).addSpaces(spaces);
  kept.listsTooMuchIn.assign(spaces.begin(), spaces.end());
  if (!tooMuch.kinds) return;
  kept.kinds.clear();
  if (spaces.size() > kMostKinds) spaces = {""};
  for (const std::string& space : spaces) kept.kinds.push_back({std::nullopt, "", space});
}

constexpr size_t kMostBecauseBytes = 1'024;

// The sentence with the fields of the object in it; empty: one of them is missing, or no text.
std::string filledIn(const FieldSentence& sentence, const kube::Value& object) {
  std::string text;
  for (const FieldPiece& piece : sentence) {
    const std::string_view value = piece.field ? piece.field->textIn(object) : std::string_view(piece.text);
    if (value.empty()) return "";
    text += piece.field ? kube::printable(value) : std::string(value);
  }
  return kube::atMost(std::move(text), kMostBecauseBytes);
}

std::string becauseOf(const ListedBy& by, const kube::Object& object) {
  for (const FieldSentence& sentence : by.because)
    if (std::string text = filledIn(sentence, object.content); !text.empty()) return text;
  return "";
}

bool isActivePod(const kube::Object& pod) {
  return !pod.meta.deletionTimestamp && !kube::isFinalPhase(kube::textAt(pod.content, {"status", "phase"}));
}

bool isBoundClaim(const kube::Object& claim) {
  return !claim.meta.deletionTimestamp && kube::textAt(claim.content, {"status", "phase"}) == "Bound";
}

}  // namespace

bool ListedKind::matches(const kube::ResourceType& type) const {
  return (kind.empty() || kind == type.kind) && (!apiGroup || *apiGroup == type.type.group);
}

bool Questions::needContent() const {
  return activePods || boundClaims || !listers.empty() || !fields.empty() ||
         std::any_of(children.begin(), children.end(),
                     [](const ChildrenTest& test) { return test.by == ChildrenTest::By::Field; });
}

KeptFacts keptOf(const Questions& questions, const kube::Object& object) {
  KeptFacts kept;
  for (const ChildrenTest& test : questions.children) keepChild(test, object, kept);
  keepListed(questions.listers, object, kept);
  for (const ListedBy& by : questions.listers) {
    kept.because.push_back(becauseOf(by, object));
    kept.replays.push_back(isTrueAt(by.replay, object.content));
  }
  for (const FieldTest& test : questions.fields) kept.fields.push_back(test.holds(object.content));
  if (questions.definitions) kept.labels = object.meta.labels;
  for (const std::string& key : questions.namespaceLabels) {
    const auto found = object.meta.labels.find(key);
    if (found != object.meta.labels.end()) kept.labels.emplace(*found);
  }
  if ((questions.activePods && isActivePod(object)) || (questions.boundClaims && isBoundClaim(object)))
    kept.groups.push_back(activityGroup(object.key.namespaceName));
  if (questions.instances && !object.meta.deletionTimestamp) kept.groups.push_back(instancesGroup());
  std::sort(kept.groups.begin(), kept.groups.end());
  kept.groups.erase(std::unique(kept.groups.begin(), kept.groups.end()), kept.groups.end());
  return kept;
}

std::vector<ParentReference> parentsOf(const ChildrenTest& test, const kube::Object& child) {
  std::vector<ParentReference> parents;
  if (test.by == ChildrenTest::By::OwnerReference) {
    for (const kube::OwnerReference& owner : child.meta.ownerReferences)
      if (!owner.uid.empty()) parents.push_back({owner.uid, {}, {}, false});
    return parents;
  }
  const std::string& own = child.key.namespaceName;
  std::string_view name;
  std::string_view other;
  if (test.by == ChildrenTest::By::Label) {
    const auto label = child.meta.labels.find(test.label);
    if (label != child.meta.labels.end()) name = label->second;
  } else {
    name = test.name.textIn(child.content);
    if (test.namespaceName) other = test.namespaceName->textIn(child.content);
  }
  if (!name.empty())
    parents.push_back(
        {{}, std::string(other.empty() ? own : other), std::string(name), other.empty() && !own.empty()});
  return parents;
}

std::vector<std::string> groupsOf(const ChildrenTest& test, const ParentReference& parent) {
  if (!parent.uid.empty()) return {dependentsGroup(parent.uid)};
  std::vector<std::string> groups{childrenGroup(test, parent.namespaceName, parent.name)};
  if (parent.orClusterScoped) groups.push_back(clusterChildrenGroup(test, parent.name));
  return groups;
}

std::vector<std::string> childrenGroups(const ChildrenTest& test, const kube::ObjectKey& parent,
                                        std::string_view uid) {
  if (test.by == ChildrenTest::By::OwnerReference)
    return uid.empty() ? std::vector<std::string>() : std::vector{dependentsGroup(uid)};
  std::vector<std::string> groups{childrenGroup(test, parent.namespaceName, parent.name)};
  if (parent.namespaceName.empty()) groups.push_back(clusterChildrenGroup(test, parent.name));
  return groups;
}

std::string childrenGroup(const ChildrenTest& test, std::string_view parentNamespace,
                          std::string_view parentName) {
  std::string name = begin(GroupKind::Children);
  addTest(name, test);
  add(name, parentNamespace);
  add(name, parentName);
  return name;
}

std::string clusterChildrenGroup(const ChildrenTest& test, std::string_view parentName) {
  std::string name = begin(GroupKind::ClusterChildren);
  addTest(name, test);
  add(name, parentName);
  return name;
}

std::string dependentsGroup(std::string_view ownerUid) {
  return begin(GroupKind::Dependents).append(ownerUid);
}

std::string activityGroup(std::string_view namespaceName) {
  return begin(GroupKind::Activity).append(namespaceName);
}

std::string instancesGroup() { return begin(GroupKind::Instances); }

std::string listedGroup(const ListedBy& listedBy, const ListedPlace& place, const std::string* name) {
  std::string group = beginListed(GroupKind::Listed, listedBy, place);
  addAny(group, name);
  return group;
}

std::string listedGroup(const ListedBy& listedBy, const ListedPlace& place, const std::string& labelKey,
                        const std::string& labelValue) {
  std::string group = beginListed(GroupKind::ListedByLabel, listedBy, place);
  add(group, labelKey);
  add(group, labelValue);
  return group;
}

std::string controlledGroup(const ListedBy& listedBy, const ListedPlace& place,
                            const std::string& controllerUid) {
  std::string group = beginListed(GroupKind::ListedByController, listedBy, place);
  add(group, controllerUid);
  return group;
}

std::string controllerOf(const kube::ObjectMeta& meta) {
  const auto found = std::find_if(meta.ownerReferences.begin(), meta.ownerReferences.end(),
                                  [](const kube::OwnerReference& owner) { return owner.controller; });
  return found == meta.ownerReferences.end() ? "" : found->uid;
}

}  // namespace lastout::protection

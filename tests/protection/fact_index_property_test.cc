// Random objects that come, change and go, under policies that change: the index says what a search through
// all objects says.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "tests/protection/told_index.h"
#include "tests/support/seed.h"

namespace lastout::protection {
namespace {

using Kind = AncestorState::Kind;
using kube::Object;

constexpr const char* kAskingPolicies[] = {
    R"(  objects: [{resources: [{group: "*", resource: "*"}]}]
  when:
  - ancestor:
      {groupLabel: o/group, versionLabel: o/version, kindLabel: o/kind, nameLabel: o/name,
       field: {path: spec.on, whenAbsent: Protected}}
)",
    R"(  objects: [{resources: [{group: "*", resource: "*"}]}]
  when:
  - ancestor:
      {groupLabel: o/group, versionLabel: o/version, kindLabel: o/kind, nameLabel: o/name, orOfNamespace: false,
       field: {path: spec.mode, equals: hard}}
)",
    R"(  objects: [{resources: [{group: "*", resource: "*"}]}]
  when:
  - children:
    - {group: t.io, resource: things, field: spec.ref.name, namespaceField: spec.ref.namespace}
    - {group: t.io, resource: things, field: spec.ref.name}
    - {group: t.io, resource: things, label: t.io/of}
    - {group: t.io, resource: things, ownerReference: true}
    - {group: "", resource: pods, label: t.io/of}
)",
    R"(  objects: [{resources: [{group: "*", resource: "*"}]}]
  when:
  - {label: t.io/protect, active: Pods}
  - {label: t.io/protect, active: Instances}
)",
    R"(  listedBy:
    {group: t.io, resource: lists, entries: spec.entries, selectors: select, apiVersion: apiVersion, kind: kind,
     namespace: namespace, name: name, names: names, matchLabels: labels}
)",
    R"(  listedBy:
    {group: t.io, resource: things, selectors: spec.uses, apiVersion: apiVersion, kind: kind, name: name,
     matchLabels: labels, in: OwnNamespace}
)",
};

// --- the objects

class World {
 public:
  explicit World(uint32_t seed) : random_(seed) {}

  uint32_t below(uint32_t count) { return std::uniform_int_distribution<uint32_t>(0, count - 1)(random_); }
  bool oneIn(uint32_t count) { return below(count) == 0; }
  std::string pick(std::initializer_list<const char*> words) {
    return *(words.begin() + below(words.size()));
  }

  std::string object() {
    switch (below(6)) {
      case 0:
        return written("v1", "Namespace", "", pick({"n1", "n2"}), "{}");
      case 1:
        return written("t.io/v1", "Owner", "", pick({"a", "b"}),
                       pick({"{}", "{on: true}", "{on: false}", "{on: 1, mode: hard}", "{mode: soft}"}));
      case 2:
        return written("v1", "Pod", pick({"n1", "n2"}), pick({"a", "b", "c"}), "{}") +
               pick({"", "status: {phase: Running}\n", "status: {phase: Failed}\n",
                     "status: {phase: Succeeded}\n"});
      case 3:
        return written("t.io/v1", "Listing", "", pick({"a", "b"}), list());
      case 4:
        return written("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "things.t.io",
                       "{group: t.io, names: {plural: things, kind: Thing}, scope: Namespaced, versions: "
                       "[{name: v1, served: true, storage: true}]}");
      default:
        return written("t.io/v1", "Thing", pick({"n1", "n2"}), pick({"a", "b", "c", "d"}), thing());
    }
  }

 private:
  std::string written(const std::string& apiVersion, const std::string& kind, const std::string& space,
                      const std::string& name, const std::string& spec) {
    std::string text = "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: " + name +
                       ", uid: u-" + kind + "-" + space + "-" + name + pick({"-1", "-2"}) + ", labels: {" +
                       labels() + "}";
    if (!space.empty()) text += ", namespace: " + space;
    if (oneIn(5)) text += ", deletionTimestamp: 2026-01-01T00:00:00Z";
    if (oneIn(3))
      text +=
          ", ownerReferences: [{apiVersion: v1, kind: Namespace, name: n1, uid: u-Namespace--n1-1}, "
          "{apiVersion: "
          "t.io/v1, kind: Thing, name: a, uid: u-Thing-n1-a-1}]";
    return text + "}\nspec: " + spec + "\n";
  }

  std::string labels() {
    std::string text;
    if (oneIn(2)) {
      if (!oneIn(9)) text += "o/group: t.io, ";
      if (!oneIn(9)) text += oneIn(9) ? "o/version: \"\", " : "o/version: v1, ";
      if (!oneIn(9)) text += "o/kind: " + pick({"Owner", "Owner", "Owner", "Thing", "Nothing"}) + ", ";
      if (!oneIn(9)) text += "o/name: " + pick({"a", "b", "c"}) + ", ";
    }
    if (oneIn(2)) text += "t.io/of: " + pick({"a", "b", "n1"}) + ", ";
    if (oneIn(2)) text += "t.io/protect: \"\", ";
    if (oneIn(2)) text += "app: " + pick({"web", "db"}) + ", ";
    if (oneIn(3)) text += "tier: front, ";
    return text;
  }

  std::string selector(bool withNames) {
    std::string text =
        "{apiVersion: " + pick({"t.io/v1", "v1", "v2"}) + ", kind: " + pick({"Thing", "Pod", "Owner"});
    if (oneIn(2)) text += ", namespace: " + pick({"n1", "n2", "\"\""});
    if (oneIn(3)) text += ", name: " + pick({"a", "b", "\"\""});
    if (withNames && oneIn(3)) text += ", names: [" + pick({"", "a", "b, c"}) + "]";
    if (oneIn(3)) text += ", labels: {" + pick({"", "app: web", "app: web, tier: front"}) + "}";
    return text + "}";
  }
  std::string list() {
    std::string text = "{entries: [";
    for (uint32_t i = below(3); i > 0; --i) {
      text += "{select: " + (oneIn(3) ? selector(true) : "[" + selector(true) + ", " + selector(true) + "]");
      text += oneIn(2) ? ", names: [" + pick({"", "a", "c, d"}) + "]}, " : "}, ";
    }
    return text + "]}";
  }
  std::string thing() {
    std::string text = "{";
    if (oneIn(2))
      text += "ref: {name: " + pick({"a", "b", "\"\"", "7"}) +
              pick({"", ", namespace: n1", ", namespace: \"\""}) + "}, ";
    if (oneIn(2)) text += "uses: " + selector(false);
    return text + "}";
  }

  std::mt19937 random_;
};

// --- what a search says, by the words of policy.h

class Search {
 public:
  Search(const std::vector<Object>& objects, const kube::ResourceMap& types)
      : objects_(objects), types_(types) {}

  AncestorState ancestor(const AncestorTest& test, const Object& of) const {
    const Object* named = hasAny(test, of.meta.labels) ? &of : nullptr;
    if (named == nullptr && test.orOfNamespace && !of.key.namespaceName.empty())
      for (const Object& one : objects_)
        if (one.kind == "Namespace" && one.key.name == of.key.namespaceName && hasAny(test, one.meta.labels))
          named = &one;
    if (named == nullptr) return {Kind::NotManaged, ""};
    for (const std::string& key : {test.nameLabel, test.kindLabel, test.versionLabel, test.groupLabel})
      if (label(*named, key).empty()) return {Kind::Incomplete, key};
    const kube::ResourceType* type =
        types_.findKind(label(*named, test.groupLabel), label(*named, test.kindLabel));
    if (type == nullptr || type->namespaced) return {Kind::Unknown, ""};
    for (const Object& one : objects_)
      if (one.key.type == type->type && one.key.name == label(*named, test.nameLabel) &&
          !one.meta.deletionTimestamp)
        return {test.field.holds(one.content) ? Kind::Protects : Kind::Frees, toString(one.key)};
    return {Kind::Gone, toString(kube::ObjectKey{type->type, "", label(*named, test.nameLabel)})};
  }

  Count children(const ChildrenTest& test, const Object& of) const {
    return counted(of, [&](const Object& one) { return one.key.type == test.type && refers(test, one, of); });
  }

  Count active(Activity activity, const Object& of) const {
    return counted(of, [&](const Object& one) {
      if (one.meta.deletionTimestamp) return false;
      if (activity == Activity::Instances)
        return one.key.type.resource + "." + one.key.type.group == of.key.name;
      const std::string phase(FieldPath{{"status", "phase"}}.textIn(one.content));
      return one.kind == "Pod" && one.key.namespaceName == of.key.name && phase != "Failed" &&
             phase != "Succeeded";
    });
  }

  Listers listers(const ListedBy& by, const Object& of) const {
    Listers found;
    const Object* smallest = nullptr;
    for (const Object& one : objects_) {
      if (one.key.type != by.type || !lists(by, one, of)) continue;
      ++found.count;
      if (smallest == nullptr || one.key < smallest->key) smallest = &one;
    }
    if (smallest == nullptr) return found;
    const std::string& space = smallest->key.namespaceName;
    found.first = smallest->key.type.resource + "/" + (space.empty() ? "" : space + "/") + smallest->key.name;
    return found;
  }

 private:
  static std::string label(const Object& of, const std::string& key) {
    const auto found = of.meta.labels.find(key);
    return found == of.meta.labels.end() ? "" : found->second;
  }
  static bool hasAny(const AncestorTest& test, const kube::Labels& labels) {
    return labels.count(test.nameLabel) + labels.count(test.kindLabel) + labels.count(test.versionLabel) +
               labels.count(test.groupLabel) >
           0;
  }
  static bool refers(const ChildrenTest& test, const Object& child, const Object& parent) {
    if (test.by == ChildrenTest::By::OwnerReference)
      return std::any_of(child.meta.ownerReferences.begin(), child.meta.ownerReferences.end(),
                         [&](const kube::OwnerReference& owner) { return owner.uid == parent.meta.uid; });
    const bool byLabel = test.by == ChildrenTest::By::Label;
    const std::string name =
        byLabel ? label(child, test.label) : std::string(test.name.textIn(child.content));
    std::string space(test.namespaceName ? test.namespaceName->textIn(child.content) : std::string_view());
    if (name != parent.key.name) return false;
    if (parent.key.namespaceName.empty()) return space.empty();
    return (space.empty() ? child.key.namespaceName : space) == parent.key.namespaceName;
  }
  template <class Counts>
  Count counted(const Object& of, const Counts& counts) const {
    Count count;
    const Object* first = nullptr;
    for (const Object& one : objects_) {
      if (!counts(one)) continue;
      ++count.objects;
      if (first == nullptr || one.key < first->key) first = &one;
    }
    if (first == nullptr) return count;
    const std::string& space = first->key.namespaceName;
    const std::string& home = of.kind == "Namespace" ? of.key.name : of.key.namespaceName;
    count.first = first->kind + "/" + (space.empty() || space == home ? "" : space + "/") + first->key.name;
    return count;
  }

  static std::vector<kube::Value> items(const FieldPath& path, const kube::Value& in) {
    const kube::Value* found = path.in(in);
    if (found == nullptr) return {};
    return found->asList() != nullptr ? *found->asList() : std::vector<kube::Value>{*found};
  }
  static bool lists(const ListedBy& by, const Object& lister, const Object& of) {
    for (const kube::Value& entry : items(by.entries, lister.content))
      for (const kube::Value& selector : items(by.selectors, entry))
        if (selects(by, entry, selector, lister, of)) return true;
    return false;
  }
  static bool selects(const ListedBy& by, const kube::Value& entry, const kube::Value& selector,
                      const Object& lister, const Object& of) {
    if (kube::groupOf(by.apiVersion.textIn(selector)) != of.key.type.group) return false;
    if (by.kind.textIn(selector) != of.kind) return false;
    if (by.in == ListedIn::OwnNamespace && lister.key.namespaceName != of.key.namespaceName) return false;
    if (by.namespaceName) {
      const std::string_view space = by.namespaceName->textIn(selector);
      if (!space.empty() && space != of.key.namespaceName) return false;
    }
    std::vector<std::string_view> names;
    if (by.name && !by.name->textIn(selector).empty()) names.push_back(by.name->textIn(selector));
    for (const kube::Value* place : {&selector, &entry}) {
      const kube::Value* list = by.names ? by.names->in(*place) : nullptr;
      if (list == nullptr) continue;
      for (const kube::Value& name : *list->asList()) names.push_back(*name.asString());
    }
    if (!names.empty()) return std::find(names.begin(), names.end(), of.key.name) != names.end();
    const kube::Value* labels = by.matchLabels ? by.matchLabels->in(selector) : nullptr;
    if (labels == nullptr) return true;
    return std::all_of(labels->asMap()->begin(), labels->asMap()->end(), [&](const kube::Member& wanted) {
      return label(of, wanted.key) == *wanted.value.asString();
    });
  }

  const std::vector<Object>& objects_;
  const kube::ResourceMap& types_;
};

// --- both, told the same

class Histories : public ::testing::Test {
 public:
  // Tells all objects of each type of which other things are asked now.
  void follow() {
    for (bool isNew = true; isNew;) {
      isNew = false;
      for (const WantedType& wanted : told.index.wanted()) {
        if (followed[wanted.type] == wanted.generation) continue;
        followed[wanted.type] = wanted.generation;
        isNew = true;
        for (const Object& object : objects)
          if (object.key.type == wanted.type) told.index.upsert(object, wanted.generation);
        told.index.know(wanted.type, "", wanted.generation);
      }
    }
  }
  void upsert(const Object& object) {
    const auto same = std::find_if(objects.begin(), objects.end(),
                                   [&](const Object& one) { return one.key == object.key; });
    const std::string former = same == objects.end() ? object.meta.uid : same->meta.uid;
    if (same == objects.end())
      objects.push_back(object);
    else
      *same = object;
    told.tell(object);
    if (former != object.meta.uid) told.remove(object.key, former);  // told late
  }
  void remove(size_t index) {
    const Object gone = objects[index];
    objects.erase(objects.begin() + static_cast<std::ptrdiff_t>(index));
    told.remove(gone.key, gone.meta.uid);
  }
  void usePolicies(World& world) {
    policies.clear();
    for (const char* text : kAskingPolicies)
      if (!world.oneIn(3)) policies.push_back(policyOf(text));
    told.index.setPolicies(policies);
  }

  void compare(const Object& of, bool isThere) {
    const AskedAbout asked(of);
    const Search search(objects, told.types);
    for (const DeletionPolicy& policy : policies) {
      if (policy.listedBy) {
        const Listers said = told.index.listers(*policy.listedBy, asked.request);
        const Listers found = search.listers(*policy.listedBy, of);
        EXPECT_EQ(said.first, found.first);
        EXPECT_EQ(said.count, found.count);
        EXPECT_FALSE(said.unknown);
      }
      for (const Case& one : policy.when) compare(one, asked, search, isThere);
    }
  }

  void compare(const Case& one, const AskedAbout& asked, const Search& search, bool isThere) {
    const Object& of = asked.object;
    const Request& request = asked.request;
    if (one.ancestor) {
      const AncestorState said = told.index.ancestor(*one.ancestor, request);
      const AncestorState found = search.ancestor(*one.ancestor, of);
      const bool isFollowed =
          said.kind != Kind::Unknown || said.detail.find("not followed") == std::string::npos;
      if (isFollowed) {
        EXPECT_EQ(said.kind, found.kind) << said.detail;
        if (found.kind != Kind::Unknown) {
          EXPECT_EQ(said.detail, found.detail);
        }
        ++kinds[found.kind];
      } else {
        told.index.wantAncestors(kube::GroupResource{"t.io", "owners"});
        follow();
      }
    }
    for (const ChildrenTest& test : one.children)
      compare(told.index.children(test, request), search.children(test, of));
    const bool mayHave =
        of.kind == (one.activity == Activity::Pods ? "Namespace" : "CustomResourceDefinition");
    // Instances are counted of a CRD that the index was told of as it is.
    const bool isTold = one.activity == Activity::Pods || isThere;
    if (one.activity && mayHave && isTold && one.key->holds(of.meta))
      compare(told.index.active(*one.activity, request), search.active(*one.activity, of));
  }
  void compare(const Count& said, const Count& found) {
    EXPECT_FALSE(said.unknown) << *said.unknown;
    EXPECT_EQ(said.objects, found.objects);
    EXPECT_EQ(said.first, found.first);
    counted += found.objects;
  }

  ToldIndex told{definitionText("t.io", "owners", "Owner", false) +
                 definitionText("t.io", "things", "Thing", true) +
                 definitionText("t.io", "lists", "Listing", false)};
  std::vector<Object> objects;
  std::vector<DeletionPolicy> policies;
  std::map<kube::GroupResource, uint64_t> followed;
  std::map<Kind, size_t> kinds;
  size_t counted = 0;
};

TEST_F(Histories, TheIndexSaysWhatASearchSays) {
  const uint32_t seed = testing::seed();
  SCOPED_TRACE(testing::howToRepeat(seed));
  World world(seed);
  constexpr int kSteps = 1'500;
  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    if (step % 50 == 0) usePolicies(world);
    if (!objects.empty() && world.oneIn(4))
      remove(world.below(static_cast<uint32_t>(objects.size())));
    else
      upsert(testing::object(world.object(), told.types));
    follow();
    compare(testing::object(world.object(), told.types), false);  // mostly one that is not there
    for (const Object& object : objects) compare(object, true);
    follow();
  }
  EXPECT_GT(counted, 0U);
  for (const Kind kind :
       {Kind::Protects, Kind::Frees, Kind::Gone, Kind::Incomplete, Kind::Unknown, Kind::NotManaged})
    EXPECT_GT(kinds[kind], 0U) << static_cast<int>(kind) << " was never met";
}

}  // namespace
}  // namespace lastout::protection

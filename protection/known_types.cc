#include "protection/known_types.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kube/messages.h"
#include "kube/value.h"

namespace lastout::protection {
namespace {

constexpr size_t kMostUnknown = 10;  // sentences in one

using Schema = kube::Value;

// The children of an object's or a list's schema.
const Schema* memberOf(const Schema& schema, std::string_view name) {
  return schema.at({"properties", name});
}
const Schema* itemsOf(const Schema& schema) { return schema.find("items"); }

bool isSet(const Schema& schema, std::string_view flag) {
  const Schema* value = schema.find(flag);
  return value != nullptr && value->asBool() != nullptr && *value->asBool();
}

// Any field may be below, as far as the schema says.
bool isOpen(const Schema& schema) {
  return isSet(schema, "x-kubernetes-preserve-unknown-fields") ||
         isSet(schema, "x-kubernetes-embedded-resource");
}

// The way that a path goes through a schema.
struct Walked {
  const Schema* schema = nullptr;  // at its end; nullptr: it is not there, or the schema is open before it
  std::string problem;             // why it is not there; empty: it may be
};

Walked walk(const Schema& root, const FieldPath& path, const std::string& before) {
  Walked walked{&root, ""};
  std::string at = before;
  bool isTop = before.empty();
  for (const std::string& key : path.keys) {
    // The API server gives these to every object.
    if (std::exchange(isTop, false) && (key == "metadata" || key == "apiVersion" || key == "kind")) return {};
    if (const Schema* next = memberOf(*walked.schema, key)) {
      walked.schema = next;
    } else if (const Schema* any = walked.schema->find("additionalProperties");
               any != nullptr && any->asMap()) {
      walked.schema = any;
    } else if (isOpen(*walked.schema) || any != nullptr) {
      return {};
    } else if (itemsOf(*walked.schema) != nullptr) {
      return {nullptr, "has a list in " + at + ", which no field path enters"};
    } else {
      std::vector<std::string_view> names;
      const Schema* properties = walked.schema->find("properties");
      const kube::Value::Map* members = properties == nullptr ? nullptr : properties->asMap();
      if (members != nullptr) std::ranges::transform(*members, std::back_inserter(names), &kube::Member::key);
      return {nullptr, "has no field " + at + (at.empty() ? "" : ".") + key + kube::didYouMean(key, names)};
    }
    at += (at.empty() ? "" : ".") + key;
  }
  return walked;
}

// A list, or one map: the schema of what is in it.
const Schema* oneOf(const Schema* schema) {
  return schema == nullptr || itemsOf(*schema) == nullptr ? schema : itemsOf(*schema);
}

// Compares a policy with the types of a cluster.
class Comparison {
 public:
  Comparison(const DeletionPolicy& policy, const KnownTypes& known) : policy_(policy), known_(known) {}

  std::vector<std::string> compare() {
    for (const Selection& selection : policy_.objects)
      for (const ResourcePattern& pattern : selection.resources) compareObjects(pattern);
    for (const Case& one : policy_.when)
      for (const ChildrenTest& test : one.children) compareChildren(test);
    if (policy_.listedBy) compareLister(*policy_.listedBy);
    return std::move(sentences_);
  }

 private:
  // How one served version fails; empty: it does not.
  using Check = std::function<std::string(const Schema& schema)>;

  void compareObjects(const ResourcePattern& pattern) {
    if (isMissing("spec.objects", pattern)) return;
    const kube::GroupResource type{pattern.group, pattern.resource};
    for (const Case& one : policy_.when) {
      if (!one.field) continue;
      // A request of any version is judged by the object in that version.
      forEachVersion(type, [&](const std::string& version, const Schema& schema) {
        const std::string problem = walk(schema, one.field->path, "").problem;
        if (!problem.empty()) add("spec.when: " + toString(type) + " " + version + " " + problem);
        return problem.empty();
      });
    }
  }

  void compareChildren(const ChildrenTest& test) {
    if (isMissing("spec.when.children", {test.type.group, test.type.resource})) return;
    if (test.by != ChildrenTest::By::Field) return;
    for (const FieldPath* path : {&test.name, test.namespaceName ? &*test.namespaceName : nullptr})
      if (path != nullptr)
        compareAny("spec.when.children", test.type,
                   [&](const Schema& schema) { return walk(schema, *path, "").problem; });
  }

  void compareLister(const ListedBy& lister) {
    if (isMissing("spec.listedBy", {lister.type.group, lister.type.resource})) return;
    for (const FieldPath* path : {&lister.apiVersion, &lister.kind})
      compareAny("spec.listedBy", lister.type,
                 [&](const Schema& schema) { return problemInLister(schema, lister, *path); });
  }

  static std::string problemInLister(const Schema& schema, const ListedBy& lister, const FieldPath& last) {
    Walked walked{&schema, ""};
    std::string at;
    for (const FieldPath* path : {&lister.entries, &lister.selectors, &last}) {
      walked = walk(*walked.schema, *path, at);
      if (walked.schema == nullptr) return walked.problem;
      walked.schema = oneOf(walked.schema);
      if (!path->keys.empty()) at += (at.empty() ? "" : ".") + toString(*path);
    }
    return "";
  }

  // Says how the newest version fails, if every one does.
  void compareAny(const char* where, const kube::GroupResource& type, const Check& check) {
    std::string first;
    bool isThere = false;
    forEachVersion(type, [&](const std::string& version, const Schema& schema) {
      const std::string problem = check(schema);
      if (problem.empty()) isThere = true;
      if (first.empty() && !problem.empty())
        first = std::string(where) + ": " + toString(type) + " " + version + " " + problem;
      return !isThere;
    });
    if (!isThere && !first.empty()) add(first);
  }

  // As long as `visit` returns true.
  void forEachVersion(
      const kube::GroupResource& type,
      const std::function<bool(const std::string& version, const Schema& schema)>& visit) const {
    const kube::Value* definition = known_.definitionOf(type);
    if (definition == nullptr) return;
    for (const kube::Value& version : kube::listAt(*definition, {"spec", "versions"})) {
      const Schema* schema = version.at({"schema", "openAPIV3Schema"});
      if (schema == nullptr || !isSet(version, "served")) continue;
      if (!visit(kube::textAt(version, {"name"}), *schema)) return;
    }
  }

  bool isMissing(const char* where, const ResourcePattern& pattern) {
    if (!known_.isMissing(pattern)) return false;
    const std::string type = toString(kube::GroupResource{pattern.group, pattern.resource});
    add(std::string(where) + ": the cluster serves no " + kube::printable(type) + meant(pattern));
    return true;
  }

  // The type of that name in another group, or else the nearest.
  std::string meant(const ResourcePattern& pattern) const {
    const auto sameName = std::ranges::find(known_.served, pattern.resource, &kube::GroupResource::resource);
    if (sameName != known_.served.end()) return "; did you mean \"" + toString(*sameName) + "\"?";
    const std::vector<std::string> names = kube::wordsOf(known_.served);
    return kube::didYouMean(toString(kube::GroupResource{pattern.group, pattern.resource}),
                            {names.begin(), names.end()});
  }

  void add(std::string sentence) {
    if (std::ranges::find(sentences_, sentence) == sentences_.end())
      sentences_.push_back(std::move(sentence));
  }

  const DeletionPolicy& policy_;
  const KnownTypes& known_;
  std::vector<std::string> sentences_;
};

}  // namespace

std::vector<std::string> unknownTypes(const DeletionPolicy& policy, const KnownTypes& known) {
  return Comparison(policy, known).compare();
}

std::set<kube::GroupResource> typesWithFields(const DeletionPolicy& policy) {
  std::set<kube::GroupResource> types;
  const bool readsFields =
      std::ranges::any_of(policy.when, [](const Case& one) { return one.field.has_value(); });
  for (const Selection& selection : policy.objects)
    for (const ResourcePattern& pattern : selection.resources)
      if (readsFields && pattern.group != "*" && pattern.resource != "*")
        types.insert({pattern.group, pattern.resource});
  for (const Case& one : policy.when)
    for (const ChildrenTest& test : one.children)
      if (test.by == ChildrenTest::By::Field) types.insert(test.type);
  if (policy.listedBy) types.insert(policy.listedBy->type);
  return types;
}

std::string joinedUnknown(const std::vector<std::string>& sentences) {
  std::string text;
  for (size_t i = 0; i < std::min(sentences.size(), kMostUnknown); ++i)
    text += (i == 0 ? "" : text.ends_with('?') ? " " : ". ") + sentences[i];
  if (sentences.size() > kMostUnknown)
    text += (text.ends_with('?') ? " And " : ". And ") + std::to_string(sentences.size() - kMostUnknown) +
            " more";
  return text;
}

}  // namespace lastout::protection

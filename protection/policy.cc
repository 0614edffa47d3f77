#include "protection/policy.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kube/well_known.h"

namespace lastout::protection {
namespace {

bool has(const std::vector<std::string>& list, const std::string& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

std::string wanted(const FieldTest::Wanted& value) {
  if (const bool* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const int64_t* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  return std::get<std::string>(value);
}

std::string_view toString(Activity activity) {
  static constexpr std::array<std::string_view, 4> kNames{"active Pods", "bound claims", "instances",
                                                          "replicas"};
  return kNames[static_cast<size_t>(activity)];
}

}  // namespace

kube::GroupResource deletionPolicyType() { return {std::string(kube::kLastoutGroup), "deletionpolicies"}; }

const kube::ResourceType& deletionPolicyResource() {
  return *kube::ResourceMap::builtIn().find(deletionPolicyType());
}

bool ResourcePattern::matches(const kube::GroupResource& type) const {
  return (group == "*" || group == type.group) && (resource == "*" || resource == type.resource);
}

bool Selection::matches(const kube::ObjectKey& object, const kube::Labels& objectLabels) const {
  return std::any_of(resources.begin(), resources.end(),
                     [&](const ResourcePattern& pattern) { return pattern.matches(object.type); }) &&
         (namespaces.empty() || has(namespaces, object.namespaceName)) &&
         (names.empty() || has(names, object.name)) && labels.matches(objectLabels);
}

const std::string* KeyTest::valueIn(const kube::ObjectMeta& meta) const {
  const kube::Labels& map = place == MetadataField::Label ? meta.labels : meta.annotations;
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

bool KeyTest::holds(const kube::ObjectMeta& meta) const {
  const std::string* value = valueIn(meta);
  return value != nullptr && (values.empty() || has(values, *value));
}

std::string nameOf(const KeyTest& test) {
  return (test.place == KeyTest::MetadataField::Label ? "label " : "annotation ") + test.key;
}

std::string toString(const KeyTest& test) {
  std::string text = nameOf(test);
  for (size_t i = 0; i < test.values.size(); ++i) text += (i == 0 ? ": " : " or ") + test.values[i];
  return text;
}

bool FieldTest::holds(const kube::Value& object) const {
  const kube::Value* value = path.in(object);
  if (value == nullptr) return whenAbsent;
  if (const bool* truth = std::get_if<bool>(&equals)) return value->asBool() && *value->asBool() == *truth;
  if (const int64_t* number = std::get_if<int64_t>(&equals))
    return value->asInteger() && *value->asInteger() == *number;
  return value->asString() && *value->asString() == std::get<std::string>(equals);
}

std::string toString(const FieldTest& test) { return toString(test.path) + ": " + wanted(test.equals); }

bool Case::isLocal() const {
  return !ancestor && children.empty() && (!activity || *activity == Activity::Replicas);
}

std::string onCluster(const std::string& cluster) { return cluster.empty() ? "" : " on cluster " + cluster; }

std::string toString(const Case& one) {
  std::vector<std::string> parts;
  if (one.key) parts.push_back(toString(*one.key));
  if (one.field) parts.push_back(toString(*one.field));
  if (one.ancestor)
    parts.push_back("an ancestor" + onCluster(one.ancestor->cluster) + " with " +
                    toString(one.ancestor->field));
  if (one.activity) parts.emplace_back(toString(*one.activity));
  if (!one.children.empty()) {
    std::string children;
    for (const ChildrenTest& test : one.children)
      children += (children.empty() ? "" : ", ") + kube::toString(test.type);
    parts.push_back("children of " + children);
  }
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", and ") + part;
  return text;
}

std::string toString(const ReportPlace& place) {
  return place.annotation.empty() ? "condition " + place.condition : "annotation " + place.annotation;
}

std::string_view DeletionWord::of(const kube::ObjectMeta& meta, const kube::Value& content) const {
  std::string_view word;
  if (field) word = field->textIn(content);
  if (const auto found = meta.annotations.find(annotation); found != meta.annotations.end())
    word = found->second;
  return word.empty() ? std::string_view(byDefault) : word;
}

std::string_view toString(Block block) {
  static constexpr std::array<std::string_view, 3> kNames{"Delete", "Orphan", "Unprotect"};
  return kNames[static_cast<size_t>(block)];
}

std::map<kube::GroupResource, bool> typesOfChildren(const DeletionPolicy& policy) {
  std::map<kube::GroupResource, bool> types;
  for (const Case& one : policy.when)
    for (const ChildrenTest& test : one.children)
      types[test.type] =
          types[test.type] || test.namespaceName || test.by == ChildrenTest::By::OwnerReference;
  return types;
}

bool DeletionPolicy::keepsWhatProtects(const Case* one) const {
  if (one != nullptr && one->key) return true;
  const auto byLabels = [](const Selection& selection) { return !selection.labels.requirements.empty(); };
  return std::any_of(objects.begin(), objects.end(), byLabels) ||
         std::any_of(exceptObjects.begin(), exceptObjects.end(), byLabels);
}

bool DeletionPolicy::blocksAny(Block block) const {
  return std::find(blocks.begin(), blocks.end(), block) != blocks.end();
}

}  // namespace lastout::protection

#include "tests/protection/plain_policy.h"

#include <algorithm>

namespace lastout::testing {
namespace {

using Texts = std::vector<std::string>;

// Few words, so that policies and objects meet. Some need quoting in CEL.
const Texts kKeys{"example.com/protect", "example.com/allow", "it", "in"};
const Texts kValues{"Always", "true", "", "x"};
const Texts kNamespaces{"shop", "o-ne", ""};
const Texts kNames{"web", "db"};
const Texts kUsers{"jane", "system:serviceaccount:kube-system:namespace-controller"};
const std::string kHeldBy = "example.com/held";
const std::string kOthers = "example.com/operator";
const Texts kSubresources{"status", "finalize"};
const Texts kFinalizers{kHeldBy, kOthers, "example.com/its"};
const Texts kGroups{"people", "system:masters"};
const std::map<std::string, Texts> kFields{
    {"protected", {"true", "false"}}, {"mode", {"Keep", "Drop"}}, {"for", {"1", "2"}}, {"a-b", {"true"}}};
struct Type {
  const char* group;
  const char* resource;
  const char* kind;
};
const std::vector<Type> kTypes{{"", "configmaps", "ConfigMap"},
                               {"apps", "deployments", "Deployment"},
                               {"", "namespaces", "Namespace"},
                               {"example.com", "widgets", "Widget"}};

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

std::string listOf(const Texts& texts) {
  std::string list = "[";
  for (const std::string& text : texts) list += (list.size() > 1 ? ", " : "") + quoted(text);
  return list + "]";
}

bool has(const Texts& list, const std::string& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

Texts some(Dice& dice, const Texts& from) {
  Texts made;
  for (const std::string& text : from)
    if (dice.oneIn(2)) made.push_back(text);
  return made;
}

PlainKey drawKey(Dice& dice) {
  return {dice.oneIn(2), dice.pick(kKeys), dice.oneIn(2) ? Texts() : some(dice, kValues)};
}

std::string fieldNameOf(Dice& dice) {
  auto field = kFields.begin();
  std::advance(field, dice.below(static_cast<uint32_t>(kFields.size())));
  return field->first;
}

PlainCase drawCase(Dice& dice) {
  PlainCase one;
  const uint32_t what = dice.oneIn(4) ? 1 + dice.below(7) : 1U << dice.below(3);
  if ((what & 1U) != 0) one.key = drawKey(dice);
  if ((what & 2U) != 0) {
    const std::string name = fieldNameOf(dice);
    one.field = {name, dice.pick(kFields.at(name)), dice.oneIn(2)};
  }
  one.replicas = (what & 4U) != 0;
  return one;
}

PlainSelection drawSelection(Dice& dice) {
  PlainSelection made{"*", "*", {}, {}, "", "", ""};
  if (dice.oneIn(3)) {
    const Type& type = kTypes[dice.below(static_cast<uint32_t>(kTypes.size()))];
    made.group = dice.oneIn(4) ? "*" : type.group;
    made.resource = dice.oneIn(4) ? "*" : type.resource;
  }
  if (dice.oneIn(5)) made.namespaces = {dice.pick(kNamespaces)};
  if (dice.oneIn(5)) made.names = {dice.pick(kNames)};
  if (dice.oneIn(4)) {
    made.labelOp = dice.pick(Texts{"In", "NotIn", "Exists", "DoesNotExist"});
    made.labelKey = dice.pick(kKeys);
    made.labelValue = dice.pick(kValues);
  }
  return made;
}

std::string yamlOf(const PlainSelection& selection) {
  std::string text =
      "resources: [{group: " + quoted(selection.group) + ", resource: " + quoted(selection.resource) + "}]";
  if (!selection.namespaces.empty()) text += ", namespaces: " + listOf(selection.namespaces);
  if (!selection.names.empty()) text += ", names: " + listOf(selection.names);
  if (!selection.labelOp.empty()) {
    text += ", labelSelector: {matchExpressions: [{key: " + quoted(selection.labelKey) +
            ", operator: " + selection.labelOp;
    if (selection.labelOp.ends_with("In")) text += ", values: [" + quoted(selection.labelValue) + "]";
    text += "}]}";
  }
  return "{" + text + "}";
}

std::string yamlOf(const PlainKey& key) {
  return std::string(key.isLabel ? "label: " : "annotation: ") + quoted(key.key) +
         (key.values.empty() ? "" : ", values: " + listOf(key.values));
}

std::string yamlOf(const PlainCase& one) {
  Texts parts;
  if (one.key) parts.push_back(yamlOf(*one.key));
  if (one.field)
    parts.push_back("field: {path: spec." + one.field->name + ", equals: " + one.field->equals +
                    ", whenAbsent: " + (one.field->whenAbsent ? "Protected" : "Unprotected") + "}");
  if (one.replicas) parts.emplace_back("active: Replicas");
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return "{" + text + "}";
}

template <class T>
std::string yamlList(const std::string& name, const std::vector<T>& items) {
  if (items.empty()) return "";
  std::string text = "  " + name + ":\n";
  for (const T& item : items) text += "  - " + yamlOf(item) + "\n";
  return text;
}

std::string yamlList(const std::string& name, const std::vector<PlainKey>& keys) {
  if (keys.empty()) return "";
  std::string text = "  " + name + ":\n";
  for (const PlainKey& key : keys) text += "  - {" + yamlOf(key) + "}\n";
  return text;
}

const std::string* valueIn(const PlainObject& object, const PlainKey& key) {
  const auto& map = key.isLabel ? object.labels : object.annotations;
  const auto found = map.find(key.key);
  return found == map.end() ? nullptr : &found->second;
}

bool holds(const PlainKey& key, const PlainObject& object) {
  const std::string* value = valueIn(object, key);
  return value != nullptr && (key.values.empty() || has(key.values, *value));
}

bool holds(const PlainCase& one, const PlainObject& object) {
  if (one.key && !holds(*one.key, object)) return false;
  if (one.field) {
    const auto found = object.spec.find(one.field->name);
    if (found == object.spec.end() ? !one.field->whenAbsent : found->second != one.field->equals)
      return false;
  }
  if (!one.replicas) return true;
  const auto replicas = object.spec.find("replicas");
  return replicas == object.spec.end() || replicas->second != "0";
}

bool selects(const PlainSelection& selection, const PlainObject& object) {
  if (selection.group != "*" && selection.group != object.group) return false;
  if (selection.resource != "*" && selection.resource != object.resource) return false;
  if (!selection.namespaces.empty() && !has(selection.namespaces, object.namespaceName)) return false;
  if (!selection.names.empty() && !has(selection.names, object.name)) return false;
  if (selection.labelOp.empty()) return true;
  const auto found = object.labels.find(selection.labelKey);
  const bool isThere = found != object.labels.end();
  if (selection.labelOp == "Exists") return isThere;
  if (selection.labelOp == "DoesNotExist") return !isThere;
  const bool isIn = isThere && found->second == selection.labelValue;
  return (selection.labelOp == "In") == isIn;
}

// A DELETE, because a finalizer keeps the object, or somebody forces it.
bool accepts(const PlainHold& hold, const PlainObject& object) {
  if (hold.force && holds(*hold.force, object)) return true;
  if (hold.hasOthers && has(object.finalizers, kOthers)) return false;
  return object.terminates || has(object.finalizers, kHeldBy);
}

PlainObject drawObject(Dice& dice) {
  const Type& type = kTypes[dice.below(static_cast<uint32_t>(kTypes.size()))];
  const bool isNamespace = std::string(type.resource) == "namespaces";
  PlainObject object{type.group,
                     type.resource,
                     type.kind,
                     isNamespace ? "" : dice.pick(Texts{"shop", "o-ne"}),
                     dice.pick(kNames),
                     {},
                     {},
                     {},
                     dice.oneIn(4),
                     some(dice, kFinalizers)};
  for (const std::string& key : kKeys) {
    if (dice.oneIn(2)) object.labels[key] = dice.pick(kValues);
    if (dice.oneIn(2)) object.annotations[key] = dice.pick(kValues);
  }
  for (const auto& [name, values] : kFields)
    if (dice.oneIn(2)) object.spec[name] = dice.pick(values);
  if (dice.oneIn(2)) object.spec["replicas"] = dice.pick(Texts{"0", "1", "3"});
  return object;
}

void change(Dice& dice, PlainObject& object) {
  for (const std::string& key : kKeys) {
    for (auto* map : {&object.labels, &object.annotations}) {
      if (dice.oneIn(3)) (*map)[key] = dice.pick(kValues);
      if (dice.oneIn(3)) map->erase(key);
    }
  }
}

}  // namespace

std::string PlainObject::yaml() const {
  std::string text = "apiVersion: " + (group.empty() ? "v1" : group + "/v1") + "\nkind: " + kind +
                     "\nmetadata:\n  name: " + name + "\n";
  if (!namespaceName.empty()) text += "  namespace: " + namespaceName + "\n";
  if (terminates) text += "  deletionTimestamp: \"2026-01-01T00:00:00Z\"\n";
  if (!finalizers.empty()) text += "  finalizers: " + listOf(finalizers) + "\n";
  const auto map = [&text](const char* key, const std::map<std::string, std::string>& values) {
    if (values.empty()) return;
    text += std::string("  ") + key + ":\n";
    for (const auto& [name, value] : values) text += "    " + name + ": " + quoted(value) + "\n";
  };
  map("labels", labels);
  map("annotations", annotations);
  if (!spec.empty()) text += "spec:\n";
  for (const auto& [name, value] : spec) text += "  " + name + ": " + value + "\n";
  return text;
}

std::string PlainPolicy::spec() const {
  std::string text = yamlList("objects", objects) + yamlList("exceptObjects", except) +
                     yamlList("when", when) + yamlList("overrides", overrides) +
                     yamlList("exemptions", exemptions);
  Texts blocks;
  if (blocksDelete) blocks.emplace_back("Delete");
  if (blocksOrphan) blocks.emplace_back("Orphan");
  if (blocksUnprotect) blocks.emplace_back("Unprotect");
  text += "  blocks: " + listOf(blocks) + "\n";
  if (!exemptUsers.empty() || !exemptGroups.empty())
    text += "  exempt: {users: " + listOf(exemptUsers) + ", groups: " + listOf(exemptGroups) + "}\n";
  if (skipTerminating) text += "  skipTerminating: true\n";
  if (!hold) return text;
  text += "  enforcement: Hold\n  hold:\n    finalizer: " + kHeldBy + "\n";
  if (hold->hasOthers) text += "    finalizersOfOthers: [" + kOthers + "]\n";
  if (hold->force) text += "    force: {" + yamlOf(*hold->force) + ", requires: Nothing}\n";
  return text;
}

bool PlainPolicy::denies(const PlainRequest& request) const {
  const PlainObject& object = request.before;
  const auto isSelected = [this](const PlainObject& one) {
    const auto selectsIt = [&one](const PlainSelection& selection) { return selects(selection, one); };
    return std::any_of(objects.begin(), objects.end(), selectsIt) &&
           std::none_of(except.begin(), except.end(), selectsIt);
  };
  const auto anyKey = [](const std::vector<PlainKey>& keys, const PlainObject& one) {
    return std::any_of(keys.begin(), keys.end(), [&](const PlainKey& key) { return holds(key, one); });
  };
  if (!isSelected(object) || (skipTerminating && object.terminates) || has(exemptUsers, request.user))
    return false;
  for (const std::string& group : request.groups)
    if (has(exemptGroups, group)) return false;
  if (!request.isUpdate) {
    if (!blocksDelete && !(blocksOrphan && request.orphans)) return false;
    if (anyKey(overrides, object) || (hold && accepts(*hold, object))) return false;
    return when.empty() ||
           std::any_of(when.begin(), when.end(), [&](const PlainCase& one) { return holds(one, object); });
  }
  if (!blocksUnprotect || anyKey(exemptions, request.after)) return false;
  if (when.empty()) return !isSelected(request.after);
  return std::any_of(when.begin(), when.end(), [&](const PlainCase& one) {
    if (!holds(one, object)) return false;
    if (!isSelected(request.after)) return true;
    if (!one.key) return false;
    const std::string* after = valueIn(request.after, *one.key);
    return after == nullptr || *after != *valueIn(object, *one.key);
  });
}

PlainPolicy drawPolicy(Dice& dice) {
  PlainPolicy policy;
  for (uint32_t i = 1 + dice.below(2); i > 0; --i) policy.objects.push_back(drawSelection(dice));
  if (dice.oneIn(3)) policy.except.push_back(drawSelection(dice));
  for (uint32_t i = 1 + dice.below(2); i > 0; --i) policy.when.push_back(drawCase(dice));
  const uint32_t blocks = 1 + dice.below(7);
  policy.blocksDelete = (blocks & 1U) != 0;
  policy.blocksOrphan = (blocks & 2U) != 0;
  policy.blocksUnprotect = (blocks & 4U) != 0;
  if (dice.oneIn(3)) policy.overrides.push_back(drawKey(dice));
  if (dice.oneIn(3)) policy.exemptions.push_back(drawKey(dice));
  if (dice.oneIn(4)) policy.exemptUsers.push_back(dice.pick(kUsers));
  if (dice.oneIn(4)) policy.exemptGroups.push_back(dice.pick(kGroups));
  policy.skipTerminating = dice.oneIn(4);
  const bool holds = dice.oneIn(4);
  if (holds) {
    policy.hold = PlainHold{dice.oneIn(2), std::nullopt};
    if (dice.oneIn(2)) policy.hold->force = drawKey(dice);
    if (policy.hold->force) policy.hold->force->isLabel = false;
    policy.blocksDelete = true;
    policy.blocksOrphan = policy.blocksUnprotect = false;
    // Each type is named.
    for (PlainSelection& selection : policy.objects) {
      const Type& type = kTypes[dice.below(static_cast<uint32_t>(kTypes.size()))];
      selection.group = type.group;
      selection.resource = type.resource;
    }
  }
  if (!holds && dice.oneIn(5)) policy.when.clear();
  // What is protected at all times must be narrow, as must what is protected because it lacks something.
  const bool needsPresence = std::all_of(policy.when.begin(), policy.when.end(), [](const PlainCase& one) {
    return one.key || (one.field && !one.field->whenAbsent);
  });
  if (policy.when.empty() || !needsPresence)
    for (PlainSelection& selection : policy.objects) selection.names = {dice.pick(kNames)};
  return policy;
}

PlainRequest drawRequest(Dice& dice) {
  PlainRequest request;
  request.isUpdate = dice.oneIn(2);
  if (request.isUpdate && dice.oneIn(3)) request.subresource = dice.pick(kSubresources);
  request.orphans = !request.isUpdate && dice.oneIn(3);
  request.user = dice.pick(kUsers);
  request.groups = some(dice, kGroups);
  request.before = drawObject(dice);
  request.after = request.before;
  if (request.isUpdate) change(dice, request.after);
  return request;
}

}  // namespace lastout::testing

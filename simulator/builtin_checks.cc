#include "simulator/builtin_checks.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string>

#include "kube/encoding.h"
#include "kube/well_known.h"
#include "simulator/field_error.h"
#include "simulator/json.h"

namespace lastout::simulator {
namespace {

// What a field holds, in Go's words; null stands for an absent one.
enum class FieldContent { Texts, Bytes, Count };

struct CheckedField {
  const kube::GroupResource* type;
  std::string_view parent;  // empty: none
  std::string_view name;
  FieldContent content;
  std::string_view goField;
};

constexpr std::array<CheckedField, 7> kCheckedFields = {{
    {&kube::kConfigMaps, "", "binaryData", FieldContent::Bytes, "ConfigMap.binaryData"},
    {&kube::kConfigMaps, "", "data", FieldContent::Texts, "ConfigMap.data"},
    {&kube::kSecrets, "", "data", FieldContent::Bytes, "Secret.data"},
    {&kube::kSecrets, "", "stringData", FieldContent::Texts, "Secret.stringData"},
    {&kube::kDeployments, "spec", "replicas", FieldContent::Count, "DeploymentSpec.spec.replicas"},
    {&kube::kReplicaSets, "spec", "replicas", FieldContent::Count, "ReplicaSetSpec.spec.replicas"},
    {&kube::kStatefulSets, "spec", "replicas", FieldContent::Count, "StatefulSetSpec.spec.replicas"},
}};

ApiResult<void> checkTexts(const ServedType& type, const CheckedField& field, const Json& value) {
  const bool isBytes = field.content == FieldContent::Bytes;
  const auto fail = [&](const Json& found, std::string_view wanted) {
    return tl::unexpected(undecodable(type.kind, type.version, goKind(found), field.goField, wanted));
  };
  if (!value.is_object()) return fail(value, isBytes ? "map[string][]uint8" : "map[string]string");
  for (const Json& text : value) {
    if (text.is_null()) continue;
    if (!text.is_string()) return fail(text, isBytes ? "[]uint8" : "string");
    if (isBytes && !kube::fromBase64(text.get_ref<const std::string&>()))
      return tl::unexpected(badRequest(type.kind + " in version \"" + type.version +
                                       "\" cannot be handled as a " + type.kind + ": illegal base64 data"));
  }
  return {};
}

ApiResult<void> checkCount(const ServedType& type, std::string_view name, const CheckedField& field,
                           const Json& value) {
  const bool fits = value.is_number_integer() && value <= std::numeric_limits<int32_t>::max() &&
                    value >= std::numeric_limits<int32_t>::min();
  if (!fits) {
    const std::string found = value.is_number() ? "number " + value.dump() : std::string(goKind(value));
    return tl::unexpected(undecodable(type.kind, type.version, found, field.goField, "int32"));
  }
  if (value >= 0) return {};
  return tl::unexpected(invalid(type.kind, type.type.group, name,
                                {invalidField(std::string(field.parent) + "." + std::string(field.name),
                                              value, "must be greater than or equal to 0")}));
}

}  // namespace

ApiResult<void> checkBuiltIn(const ServedType& type, std::string_view name, const Json& object) {
  for (const CheckedField& field : kCheckedFields) {
    if (*field.type != type.type) continue;
    const Json* value =
        field.parent.empty() ? at(object, {field.name}) : at(object, {field.parent, field.name});
    if (value == nullptr || value->is_null()) continue;
    auto checked = field.content == FieldContent::Count ? checkCount(type, name, field, *value)
                                                        : checkTexts(type, field, *value);
    if (!checked) return checked;
  }
  return {};
}

namespace {

// Values as the API server prints them: in Go's notation.
std::string goText(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string goTexts(const std::vector<std::string>& texts) {
  std::string list = "[]string{";
  for (size_t i = 0; i < texts.size(); ++i) list += (i > 0 ? ", " : "") + goText(texts[i]);
  return list + "}";
}

std::string goLabels(const Json* labels) {
  if (labels == nullptr || !labels->is_object()) return "map[string]string(nil)";
  std::string text = "map[string]string{";
  for (const auto& [key, value] : labels->items()) {
    if (text.back() != '{') text += ", ";
    text += goText(key) + ":" + goText(stringAt(value, {}));
  }
  return text + "}";
}

std::string goRequirement(const Json& requirement) {
  std::vector<std::string> values;
  const Json* list = at(requirement, {"values"});
  if (list != nullptr && list->is_array()) {
    for (const Json& value : *list) values.emplace_back(stringAt(value, {}));
  }
  return "v1.LabelSelectorRequirement{Key:" + goText(stringAt(requirement, {"key"})) +
         ", Operator:" + goText(stringAt(requirement, {"operator"})) +
         ", Values:" + (values.empty() ? "[]string(nil)" : goTexts(values)) + "}";
}

std::string goSelector(const Json& selector) {
  const Json* expressions = at(selector, {"matchExpressions"});
  std::string requirements = "[]v1.LabelSelectorRequirement(nil)";
  if (expressions != nullptr && expressions->is_array() && !expressions->empty()) {
    requirements = "[]v1.LabelSelectorRequirement{";
    for (const Json& expression : *expressions) {
      if (requirements.back() != '{') requirements += ", ";
      requirements += goRequirement(expression);
    }
    requirements += "}";
  }
  return "v1.LabelSelector{MatchLabels:" + goLabels(at(selector, {"matchLabels"})) +
         ", MatchExpressions:" + requirements + "}";
}

StatusCause immutableField(std::string_view field, const std::string& value) {
  return {"FieldValueInvalid", "Invalid value: " + value + ": field is immutable", std::string(field)};
}

void checkIdentity(const Json& old, const Json& object, std::vector<StatusCause>& causes) {
  for (const std::string_view key : {"name", "namespace"}) {
    const std::string_view now = stringAt(object, {"metadata", key});
    if (now != stringAt(old, {"metadata", key}))
      causes.push_back(immutableField("metadata." + std::string(key), goText(now)));
  }
}

// A terminating object's finalizers only become fewer.
void checkFinalizers(const Json& old, const Json& object, std::vector<StatusCause>& causes) {
  if (!isTerminating(old)) return;
  std::set<std::string> added;
  const std::vector<std::string> before = finalizersOf(old);
  for (std::string& finalizer : finalizersOf(object)) {
    if (std::ranges::find(before, finalizer) == before.end()) added.insert(std::move(finalizer));
  }
  if (added.empty()) return;
  causes.push_back({"FieldValueForbidden",
                    "Forbidden: no new finalizers can be added if the object is being deleted, found new "
                    "finalizers " +
                        goTexts({added.begin(), added.end()}),
                    "metadata.finalizers"});
}

void checkSelector(const Json& old, const Json& object, std::vector<StatusCause>& causes) {
  const Json* before = at(old, {"spec", "selector"});
  const Json* now = at(object, {"spec", "selector"});
  if (before == nullptr || (now != nullptr && *before == *now)) return;
  causes.push_back(immutableField("spec.selector", now == nullptr ? "null" : goSelector(*now)));
}

void checkStatefulSet(const Json& old, const Json& object, std::vector<StatusCause>& causes) {
  const auto fixed = [](const Json& statefulSet) {
    const Json* spec = at(statefulSet, {"spec"});
    Json rest = spec == nullptr ? Json::object() : *spec;
    for (const char* key : {"replicas", "template", "updateStrategy", "minReadySeconds",
                            "persistentVolumeClaimRetentionPolicy"})
      drop(rest, key);
    return rest;
  };
  if (fixed(old) == fixed(object)) return;
  causes.push_back({"FieldValueForbidden",
                    "Forbidden: updates to statefulset spec for fields other than 'replicas', 'template', "
                    "'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are "
                    "forbidden",
                    "spec"});
}

}  // namespace

std::vector<StatusCause> forbiddenChanges(const TypeRules& rules, const Json& old, const Json& object,
                                          std::string_view subresource) {
  std::vector<StatusCause> causes;
  for (int check = 0; check < 2; ++check) {
    checkIdentity(old, object, causes);
    checkFinalizers(old, object, causes);
  }
  if (rules.type.group != kube::kAppsGroup || !subresource.empty()) return causes;
  if (rules.type.resource == "statefulsets") {
    checkStatefulSet(old, object, causes);
  } else {
    checkSelector(old, object, causes);
  }
  return causes;
}

}  // namespace lastout::simulator

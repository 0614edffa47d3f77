#include "simulator/immutable.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "kube/well_known.h"
#include "simulator/json_edit.h"

namespace lastout::simulator {
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

Cause immutableField(std::string_view field, const std::string& value) {
  return {"FieldValueInvalid", "Invalid value: " + value + ": field is immutable", std::string(field)};
}

void checkIdentity(const Json& old, const Json& object, std::vector<Cause>& causes) {
  for (const std::string_view key : {"name", "namespace"}) {
    const std::string_view now = stringAt(object, {"metadata", key});
    if (now != stringAt(old, {"metadata", key}))
      causes.push_back(immutableField("metadata." + std::string(key), goText(now)));
  }
}

// A terminating object's finalizers only become fewer.
void checkFinalizers(const Json& old, const Json& object, std::vector<Cause>& causes) {
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

void checkSelector(const Json& old, const Json& object, std::vector<Cause>& causes) {
  const Json* before = at(old, {"spec", "selector"});
  const Json* now = at(object, {"spec", "selector"});
  if (before == nullptr || (now != nullptr && *before == *now)) return;
  causes.push_back(immutableField("spec.selector", now == nullptr ? "null" : goSelector(*now)));
}

void checkStatefulSet(const Json& old, const Json& object, std::vector<Cause>& causes) {
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

std::vector<Cause> forbiddenChanges(const TypeRules& rules, const Json& old, const Json& object,
                                    std::string_view subresource) {
  std::vector<Cause> causes;
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

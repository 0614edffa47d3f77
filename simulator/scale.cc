#include "simulator/scale.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "simulator/json.h"

namespace lastout::simulator {
namespace {

using SelectorPart = std::pair<std::string, std::string>;  // key, text

std::string requirementText(const Json& requirement) {
  const std::string key(stringAt(requirement, {"key"}));
  const std::string_view op = stringAt(requirement, {"operator"});
  if (op == "Exists") return key;
  if (op == "DoesNotExist") return "!" + key;
  std::vector<std::string> values;
  const Json* list = at(requirement, {"values"});
  if (list != nullptr && list->is_array()) {
    for (const Json& value : *list) values.emplace_back(stringAt(value, {}));
  }
  std::ranges::sort(values);
  std::string text = key + (op == "NotIn" ? " notin (" : " in (");
  for (size_t i = 0; i < values.size(); ++i) text += (i > 0 ? "," : "") + values[i];
  return text + ")";
}

}  // namespace

std::string selectorText(const Json& selector) {
  std::vector<SelectorPart> requirements;
  const Json* labels = at(selector, {"matchLabels"});
  if (labels != nullptr && labels->is_object()) {
    for (const auto& [key, value] : labels->items())
      requirements.emplace_back(key, key + "=" + std::string(stringAt(value, {})));
  }
  const Json* expressions = at(selector, {"matchExpressions"});
  if (expressions != nullptr && expressions->is_array()) {
    for (const Json& expression : *expressions)
      requirements.emplace_back(stringAt(expression, {"key"}), requirementText(expression));
  }
  std::ranges::stable_sort(requirements, {}, &SelectorPart::first);
  std::string text;
  for (const auto& [key, requirement] : requirements) text += (text.empty() ? "" : ",") + requirement;
  return text;
}

Json scaleOf(const Json& workload) {
  Json metadata = Json::object();
  const Json* from = at(workload, {"metadata"});
  for (const char* key : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (from != nullptr) copyKey(*from, metadata, key);
  }
  Json spec = Json::object();
  setUnlessZero(spec, "replicas", integerAt(workload, {"spec", "replicas"}));
  Json status = {{"replicas", integerAt(workload, {"status", "replicas"})}};
  const Json* selector = at(workload, {"spec", "selector"});
  std::string text = selector == nullptr ? "" : selectorText(*selector);
  if (!text.empty()) status["selector"] = std::move(text);
  return {{"kind", "Scale"},
          {"apiVersion", "autoscaling/v1"},
          {"metadata", std::move(metadata)},
          {"spec", std::move(spec)},
          {"status", std::move(status)}};
}

ApiResult<Json> withScale(Json workload, const Json& scale) {
  const Json* wanted = at(scale, {"spec", "replicas"});
  const bool isAbsent = wanted == nullptr || wanted->is_null();
  const int64_t replicas = isAbsent ? 0 : integerAt(scale, {"spec", "replicas"}, -1);
  Json* spec = objectIn(workload, "spec");
  if (replicas < 0 || replicas > std::numeric_limits<int32_t>::max() || spec == nullptr) {
    const std::string value =
        wanted == nullptr ? "null" : wanted->dump(-1, ' ', false, Json::error_handler_t::replace);
    return tl::unexpected(
        invalid("Scale", "autoscaling", stringAt(workload, {"metadata", "name"}),
                {{"FieldValueInvalid", "Invalid value: " + value + ": must be greater than or equal to 0",
                  "spec.replicas"}}));
  }
  (*spec)["replicas"] = replicas;
  return workload;
}

}  // namespace lastout::simulator

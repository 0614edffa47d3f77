#include "simulator/conditions.h"

#include <algorithm>
#include <utility>

namespace lastout::simulator {

Json conditionJson(const Condition& condition, std::string_view now) {
  return {{"type", condition.type},
          {"status", condition.isTrue ? "True" : "False"},
          {"lastTransitionTime", now},
          {"reason", condition.reason},
          {"message", condition.message}};
}

const Json* findCondition(const Json& status, std::string_view type) {
  const Json* conditions = at(status, {"conditions"});
  if (conditions == nullptr || !conditions->is_array()) return nullptr;
  const auto found = std::ranges::find_if(
      *conditions, [type](const Json& condition) { return stringAt(condition, {"type"}) == type; });
  return found == conditions->end() ? nullptr : &*found;
}

Json& setCondition(Json& conditions, const Condition& condition, std::string_view now) {
  if (!conditions.is_array()) conditions = Json::array();
  Json wanted = conditionJson(condition, now);
  for (Json& present : conditions) {
    if (stringAt(present, {"type"}) != condition.type) continue;
    const std::string_view since = stringAt(present, {"lastTransitionTime"});
    if (stringAt(present, {"status"}) == stringAt(wanted, {"status"}) && !since.empty())
      wanted["lastTransitionTime"] = std::string(since);
    present = std::move(wanted);
    return present;
  }
  conditions.push_back(std::move(wanted));
  return conditions.back();
}

}  // namespace lastout::simulator

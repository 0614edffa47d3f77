// Conditions: the entries of status.conditions that controllers write.
#pragma once

#include <string>
#include <string_view>

#include "simulator/json.h"

namespace lastout::simulator {

struct Condition {
  std::string type;
  bool isTrue = false;
  std::string reason;
  std::string message;
};

// {type, status, reason, message, lastTransitionTime}.
Json conditionJson(const Condition& condition, std::string_view now);
// The condition of that type among status.conditions; nullptr when there is none.
const Json* findCondition(const Json& status, std::string_view type);
// Puts a condition into `conditions` (made a list when it is none) where the one of its type stands, or at
// the end. lastTransitionTime changes only with the condition's status. Returns the entry.
Json& setCondition(Json& conditions, const Condition& condition, std::string_view now);

}  // namespace lastout::simulator

#include "kube/text_at.h"

#include <algorithm>

namespace lastout::kube {

const std::string& textAt(const Value& value, std::initializer_list<std::string_view> path) {
  static const std::string kNone;
  const Value* found = value.at(path);
  return found == nullptr || found->asString() == nullptr ? kNone : *found->asString();
}

const Value::List& listAt(const Value& value, std::initializer_list<std::string_view> path) {
  static const Value::List kNone;
  const Value* found = value.at(path);
  return found == nullptr || found->asList() == nullptr ? kNone : *found->asList();
}

const Value* statusCondition(const Value& object, std::string_view type) {
  const Value::List& conditions = listAt(object, {"status", "conditions"});
  const auto found = std::ranges::find_if(
      conditions, [&](const Value& condition) { return textAt(condition, {"type"}) == type; });
  return found == conditions.end() ? nullptr : &*found;
}

}  // namespace lastout::kube

#include "kube/text_at.h"

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

}  // namespace lastout::kube

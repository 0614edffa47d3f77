// listAt: the list along a path of keys, for who takes a missing one, and what is no list, for empty.
#pragma once

#include <initializer_list>
#include <string_view>

#include "kube/value.h"

namespace lastout::server {

// As Value::at(). What it refers to is part of `value`, or lives for ever.
inline const kube::Value::List& listAt(const kube::Value& value,
                                       std::initializer_list<std::string_view> path) {
  static const kube::Value::List kNone;
  const kube::Value* found = value.at(path);
  return found == nullptr || found->asList() == nullptr ? kNone : *found->asList();
}

}  // namespace lastout::server

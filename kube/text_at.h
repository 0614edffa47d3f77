// textAt, listAt: the string or the list along a path of keys, for who takes a missing one, and what is of
// another type, for empty; and the conditions of a status, read so.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "kube/value.h"

namespace lastout::kube {

// As Value::at(): textAt(object, {"metadata", "uid"}). What it refers to is part of `value`, or lives for
// ever.
const std::string& textAt(const Value& value, std::initializer_list<std::string_view> path);
const Value::List& listAt(const Value& value, std::initializer_list<std::string_view> path);

// Returns the entry of status.conditions of that type; nullptr: there is none.
const Value* statusCondition(const Value& object, std::string_view type);

}  // namespace lastout::kube

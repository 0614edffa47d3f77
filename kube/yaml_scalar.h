// What a plain YAML scalar means: the 1.2 core schema (https://yaml.org/spec/1.2.2/#103-core-schema).
// Internal to kube/.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/value.h"

namespace lastout::kube {

// null, a boolean, an integer, a number, or the text itself as a string. Integers beyond int64 become
// doubles. Nothing for what no double or no JSON can hold: numbers that are too large, .inf and .nan.
std::optional<Value::Data> resolvePlainScalar(std::string_view text);

// Returns the key of a map that such a value stands for, as kubectl reads it: a number or a boolean is its
// own text, "0x10" is "16". nullopt: null is no key.
std::optional<std::string> mapKey(Value::Data data);

}  // namespace lastout::kube

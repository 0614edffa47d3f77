// CelNode: what a compiled expression consists of, and what it takes to compile one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_set>
#include <vector>

#include "apiserver/json.h"

namespace lastout::apiserver {

// What is known of a value before there is one. Dynamic: nothing.
enum class CelType : uint8_t { Dynamic, Bool, Text, Null, List, Map };

struct CelNode {
  enum class Kind : uint8_t { Constant, List, Variable, Field, Has, In, Plus, Equal, Unequal, And, Or, Not };
  Kind kind = Kind::Constant;
  CelType type = CelType::Dynamic;
  std::string name;  // of the variable or the field
  Json value;        // of a Constant; of a List, when all its items are constants
  std::vector<CelNode>
      operands;  // in their order; of Field and Has the map; of List the items, unless constant
  std::unordered_set<std::string>
      texts;           // In a constant list of strings: these, instead of its second operand
  bool isSet = false;  // In: `texts` is used
};

struct CelProgram {
  CelNode root;
  bool usesRequest = false;
};

// Fails as CelExpression::compile does; the root is of type Bool.
tl::expected<CelProgram, std::string> parseCel(std::string_view text);

}  // namespace lastout::apiserver

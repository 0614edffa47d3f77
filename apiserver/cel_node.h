// CelNode: what a compiled expression consists of, and what it takes to compile one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_set>
#include <vector>

#include "apiserver/cel.h"
#include "apiserver/json.h"

namespace lastout::apiserver {

enum class CelFunction : uint8_t {
  Size,
  StartsWith,
  EndsWith,
  Contains,
  // Of `authorizer`. A builder's call returns the next step; allowed() a boolean.
  RequestResource,
  Path,
  Group,
  Resource,
  Subresource,
  Namespace,
  Name,
  Check,
  Allowed
};

struct CelNode {
  enum class Kind : uint8_t {
    Constant,
    List,
    Variable,  // object, oldObject, request or authorizer
    Defined,   // a field of `variables`
    Local,     // the name that a macro binds
    Field,
    Index,
    Has,
    In,
    Plus,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    And,
    Or,
    Not,
    Ternary,
    Call,
    All,  // macros: operands are the list and the body
    Exists,
    Filter,
    Transform
  };
  Kind kind = Kind::Constant;
  CelType type = CelType::Dynamic;
  std::string name;  // of the variable, the field, or what a macro binds
  Json value;        // of a Constant; of a List, when all its items are constants
  std::vector<CelNode>
      operands;  // in their order; of Field and Has the map; of List the items, unless constant
  std::unordered_set<std::string>
      texts;           // In a constant list of strings: these, instead of its second operand
  bool isSet = false;  // In: `texts` is used
  CelFunction function = CelFunction::Size;  // of a Call, whose operands are the receiver and the arguments
};

// A step from `authorizer` to its answer; no value that is stored, compared or listed.
constexpr bool isAccess(CelType type) { return type >= CelType::Authorizer; }

struct CelProgram {
  CelNode root;
  bool usesRequest = false;
};

// Fails as CelExpression::compile does; the root is of the environment's type.
tl::expected<CelProgram, std::string> parseCel(std::string_view text, const CelEnvironment& environment);

}  // namespace lastout::apiserver

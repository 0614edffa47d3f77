// CelNode: a node of a compiled expression; and the parser that makes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_set>
#include <vector>

#include "simulator/cel.h"
#include "simulator/cel_lexer.h"
#include "simulator/json.h"

namespace lastout::simulator {

enum class CelFunction : uint8_t {
  Size,
  StartsWith,
  EndsWith,
  Contains,
  // Functions of `authorizer` and its steps. Each returns the next step; allowed() returns a boolean.
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
    Transform,
    Beyond  // a whole expression that is not evaluated; `name` says why
  };
  Kind kind = Kind::Constant;
  CelType type = CelType::Dynamic;
  std::string name;  // of the variable, of the field, or that a macro binds
  Json value;        // of a Constant; of a List, when all its items are constants
  // In their order. Field and Has: the map; List: the items, unless all are constants.
  std::vector<CelNode> operands;
  // In: a constant list of strings, instead of the second operand.
  std::unordered_set<std::string> texts;
  bool isSet = false;                        // In: `texts` is used
  CelFunction function = CelFunction::Size;  // of a Call, whose operands are the receiver and the arguments
};

// True for a step from `authorizer` to its answer, which cannot be stored, compared or listed.
constexpr bool isAccess(CelType type) { return type >= CelType::Authorizer; }

struct CelProgram {
  CelNode root;
  bool usesRequest = false;
};

// Returns the nodes of the expression; the root is of the environment's type. Fails as
// CelExpression::compile() does.
tl::expected<CelProgram, CelProblem> parseCel(std::string_view text, const CelEnvironment& environment);

}  // namespace lastout::simulator

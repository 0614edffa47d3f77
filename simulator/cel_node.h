// CelNode: a node of an expression, as the parser makes it and the checker completes it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_set>
#include <vector>

#include "simulator/cel.h"
#include "simulator/cel_lexer.h"
#include "simulator/json.h"

namespace lastout::simulator {

// The functions that are evaluated.
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
    MapLiteral,  // operands: keys and values in turn
    Word,        // an identifier, until the checker knows what it names
    Variable,    // object, oldObject, request, authorizer, self or oldSelf
    Defined,     // a field of `variables`
    Local,       // the name that a macro binds
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
    Operator,  // that is not evaluated; `name` is its function ("_*_")
    Call,
    All,  // macros: operands are the list and the body
    Exists,
    ExistsOne,
    Filter,
    Transform,
    Macro,  // that is not evaluated; `name` says which
    Beyond  // a whole expression that is not evaluated; `name` says why
  };
  Kind kind = Kind::Constant;
  CelType type;
  std::string name;  // of the word, of the field, of the function, or that a macro binds
  Json value;        // of a Constant; of a List, when all its items are constants
  // In their order. Field and Has: the map; List: the items, unless all are constants.
  std::vector<CelNode> operands;
  std::vector<std::string> names;  // of a Macro: what it binds
  size_t at = 0;                   // where it begins, for messages
  bool isOptional = false;         // Field, Index: of ".?" or "[?"
  bool hasReceiver = false;        // Call: the first operand stands before the name
  // In: a constant list of strings, instead of the second operand.
  std::unordered_set<std::string> texts;
  bool isSet = false;                        // In: `texts` is used
  CelFunction function = CelFunction::Size;  // of a Call, whose operands are the receiver and the arguments
};

// True for a step from `authorizer` to its answer, which cannot be stored, compared or listed here.
inline bool isAccess(const CelType& type) { return type.kind == CelKind::Access; }

struct CelProgram {
  CelNode root;
  std::set<std::string, std::less<>> uses;  // the names of values, such as "request"
  std::string beyond;  // what it needs that is not evaluated here; empty: it is evaluated
};

CelNode celNode(CelNode::Kind kind, CelType type, std::string name = {});

// Returns the nodes of the expression; the root is of the environment's type. Fails with the API server's
// words for an expression that does not compile.
tl::expected<CelProgram, std::string> compileCel(std::string_view text, const CelEnvironment& environment);

}  // namespace lastout::simulator

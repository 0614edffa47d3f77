#include "simulator/cel_parser.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "kube/messages.h"

namespace lastout::simulator {

struct CelOperator {
  std::string_view sign;
  CelNode::Kind kind;
};

namespace {

// Where a macro stands for a call: its name, and how many names and expressions follow.
struct CelMacro {
  std::string_view name;
  size_t names;
  size_t expressions;
  CelNode::Kind kind;
};

constexpr std::array<CelMacro, 20> kMacros = {{
    {"all", 1, 1, CelNode::Kind::All},
    {"exists", 1, 1, CelNode::Kind::Exists},
    {"exists_one", 1, 1, CelNode::Kind::ExistsOne},
    {"existsOne", 1, 1, CelNode::Kind::ExistsOne},
    {"filter", 1, 1, CelNode::Kind::Filter},
    {"map", 1, 1, CelNode::Kind::Transform},
    {"map", 1, 2, CelNode::Kind::Macro},
    {"all", 2, 1, CelNode::Kind::Macro},
    {"exists", 2, 1, CelNode::Kind::Macro},
    {"exists_one", 2, 1, CelNode::Kind::Macro},
    {"existsOne", 2, 1, CelNode::Kind::Macro},
    {"transformList", 2, 1, CelNode::Kind::Macro},
    {"transformList", 2, 2, CelNode::Kind::Macro},
    {"transformMap", 2, 1, CelNode::Kind::Macro},
    {"transformMap", 2, 2, CelNode::Kind::Macro},
    {"transformMapEntry", 2, 1, CelNode::Kind::Macro},
    {"transformMapEntry", 2, 2, CelNode::Kind::Macro},
    {"optMap", 1, 1, CelNode::Kind::Macro},
    {"optFlatMap", 1, 1, CelNode::Kind::Macro},
    {"sortBy", 1, 1, CelNode::Kind::Macro},
}};

constexpr std::array<CelOperator, 7> kRelations = {{{"==", CelNode::Kind::Equal},
                                                    {"!=", CelNode::Kind::Unequal},
                                                    {"in", CelNode::Kind::In},
                                                    {"<", CelNode::Kind::Less},
                                                    {"<=", CelNode::Kind::LessOrEqual},
                                                    {">", CelNode::Kind::Greater},
                                                    {">=", CelNode::Kind::GreaterOrEqual}}};
constexpr std::array<CelOperator, 2> kSums = {{{"+", CelNode::Kind::Plus}, {"-", CelNode::Kind::Operator}}};
constexpr std::array<CelOperator, 3> kProducts = {
    {{"*", CelNode::Kind::Operator}, {"/", CelNode::Kind::Operator}, {"%", CelNode::Kind::Operator}}};

CelNode constantOf(CelToken token) {
  CelNode made = celNode(CelNode::Kind::Constant, token.type);
  made.value = std::move(token.value);
  made.at = token.at;
  return made;
}

template <class... Operands>
CelNode nodeOf(CelNode::Kind kind, size_t at, std::string name = {}, Operands... operands) {
  CelNode made = celNode(kind, CelKind::Dynamic, std::move(name));
  made.at = at;
  (made.operands.push_back(std::move(operands)), ...);
  return made;
}

// With the sign 2^63 is an integer; without it the checker's type says so.
bool isLeastInteger(const CelNode& node) {
  return node.kind == CelNode::Kind::Constant && node.type.kind == CelKind::Integer &&
         node.value.is_number_unsigned() && node.value == uint64_t{1} << 63U;
}

}  // namespace

CelNode celNode(CelNode::Kind kind, CelType type, std::string name) {
  CelNode node;
  node.kind = kind;
  node.type = std::move(type);
  node.name = std::move(name);
  return node;
}

void celTooDeep() { throw CelProblem{"expression recursion limit exceeded: " + std::to_string(kDeepestCel)}; }

std::string celDottedName(const CelNode& node) {
  if (node.kind == CelNode::Kind::Word) return node.name;
  if (node.kind != CelNode::Kind::Field || node.isOptional) return {};
  const std::string before = celDottedName(node.operands[0]);
  return before.empty() ? before : before + "." + node.name;
}

bool isCelReserved(std::string_view word) {
  static const std::set<std::string_view> kReserved = {
      "as",       "break",   "const",  "continue", "else", "false", "for",
      "function", "if",      "import", "in",       "let",  "loop",  "namespace",
      "null",     "package", "return", "true",     "var",  "void",  "while"};
  return kReserved.contains(word);
}

bool isCelIdentifier(std::string_view text) {
  const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && isLetter(text.front()) && !isCelReserved(text) &&
         std::ranges::all_of(text, [&](char c) { return isLetter(c) || (c >= '0' && c <= '9'); });
}

CelParser::Level::Level(int& depth) : depth_(depth) {
  if (++depth_ > kDeepestCel) celTooDeep();
}

CelNode CelParser::parse() {
  CelNode root = expression();
  if (token_.kind != CelToken::Kind::End) unexpected();
  return root;
}

CelToken CelParser::take() { return std::exchange(token_, lexer_.next()); }

bool CelParser::isAt(std::string_view symbol) const {
  return (token_.kind == CelToken::Kind::Symbol || token_.kind == CelToken::Kind::Word) &&
         token_.text == symbol;
}

bool CelParser::takeIf(std::string_view symbol) {
  if (!isAt(symbol)) return false;
  take();
  return true;
}

void CelParser::expect(std::string_view symbol) {
  if (!takeIf(symbol)) unexpected();
}

void CelParser::unexpected() const {
  const std::string what = token_.kind == CelToken::Kind::End ? "the end"
                           : token_.kind == CelToken::Kind::Constant
                               ? token_.value.dump(-1, ' ', false, Json::error_handler_t::replace)
                               : kube::inQuotes(token_.text);
  throw CelProblem{"Syntax error: " + what + lexer_.place(token_.at) + " is not expected"};
}

CelNode CelParser::expression() {
  const Level level(depth_);
  CelNode condition = disjunction();
  if (!isAt("?")) return condition;
  CelNode made = nodeOf(CelNode::Kind::Ternary, take().at, "_?_:_", std::move(condition));
  made.operands.push_back(disjunction());
  expect(":");
  made.operands.push_back(expression());
  return made;
}

// Reads a chain of one operator into one node with all its operands, so that a long chain is not deep.
CelNode CelParser::chain(const char* symbol, CelNode::Kind kind, CelNode (CelParser::*operand)()) {
  CelNode first = (this->*operand)();
  if (!isAt(symbol)) return first;
  CelNode made = nodeOf(kind, token_.at, "_" + std::string(symbol) + "_", std::move(first));
  while (takeIf(symbol)) made.operands.push_back((this->*operand)());
  return made;
}

CelNode CelParser::disjunction() { return chain("||", CelNode::Kind::Or, &CelParser::conjunction); }

CelNode CelParser::conjunction() { return chain("&&", CelNode::Kind::And, &CelParser::relation); }

// Reads operators of one rank, from the left.
CelNode CelParser::ranked(std::span<const CelOperator> operators, CelNode left,
                          CelNode (CelParser::*operand)()) {
  for (int steps = 1;; ++steps) {
    const auto found =
        std::ranges::find_if(operators, [this](const CelOperator& one) { return isAt(one.sign); });
    if (found == operators.end()) return left;
    if (steps > kDeepestCel) celTooDeep();
    const CelToken sign = take();
    left = nodeOf(found->kind, sign.at, sign.text == "in" ? "@in" : "_" + sign.text + "_", std::move(left),
                  (this->*operand)());
  }
}

CelNode CelParser::relation() { return ranked(kRelations, sum(), &CelParser::sum); }

CelNode CelParser::sum() {
  return ranked(kSums, chain("+", CelNode::Kind::Plus, &CelParser::product), &CelParser::product);
}

CelNode CelParser::product() { return ranked(kProducts, unary(), &CelParser::unary); }

CelNode CelParser::unary() {
  if (!isAt("!") && !isAt("-")) {
    CelNode node = member();
    if (isLeastInteger(node)) throw CelProblem{"Syntax error: invalid int literal" + lexer_.place(node.at)};
    return node;
  }
  const Level level(depth_);
  const CelToken sign = take();
  if (sign.text == "-") return negation(sign.at);
  return nodeOf(CelNode::Kind::Not, sign.at, "!_", unary());
}

// Reads what is behind "-": a number is a constant with its sign.
CelNode CelParser::negation(size_t at) {
  const bool isNumber = token_.kind == CelToken::Kind::Constant &&
                        (token_.type == CelKind::Integer || token_.type == CelKind::Double);
  CelNode operand = isNumber ? member() : unary();
  if (operand.kind == CelNode::Kind::Constant && isNumber) {
    if (operand.type.kind == CelKind::Double)
      operand.value = -operand.value.get<double>();
    else
      operand.value = isLeastInteger(operand) ? INT64_MIN : -operand.value.get<int64_t>();
    return operand;
  }
  return nodeOf(CelNode::Kind::Operator, at, "-_", std::move(operand));
}

CelNode CelParser::primary() {
  const Level level(depth_);
  const size_t at = token_.at;
  if (token_.kind == CelToken::Kind::Constant) return constantOf(take());
  if (takeIf(".")) return primary();  // a name from the top, as every name here is
  if (token_.kind == CelToken::Kind::Word) return word(take());
  if (takeIf("[")) return list(at);
  if (takeIf("{")) return map(at);
  expect("(");
  CelNode inner = expression();
  expect(")");
  return inner;
}

// Reads what may be optional: "?" before an item of a list, or an entry of a map.
CelNode CelParser::element(bool isOptional, size_t at) {
  CelNode value = expression();
  return isOptional ? nodeOf(CelNode::Kind::Macro, at, "?", std::move(value)) : value;
}

CelNode CelParser::list(size_t at) {
  CelNode made = nodeOf(CelNode::Kind::List, at);
  while (!isAt("]")) {
    const size_t begin = token_.at;
    made.operands.push_back(element(takeIf("?"), begin));
    if (!takeIf(",")) break;
  }
  expect("]");
  return made;
}

CelNode CelParser::map(size_t at) {
  CelNode made = nodeOf(CelNode::Kind::MapLiteral, at);
  while (!isAt("}")) {
    const size_t begin = token_.at;
    const bool isOptional = takeIf("?");
    made.operands.push_back(expression());
    expect(":");
    made.operands.push_back(element(isOptional, begin));
    if (!takeIf(",")) break;
  }
  expect("}");
  return made;
}

CelNode CelParser::member() {
  CelNode node = primary();
  for (int steps = 1; isAt(".") || isAt("["); ++steps) {
    if (steps > kDeepestCel) celTooDeep();
    const size_t at = token_.at;
    if (takeIf("[")) {
      node = item(std::move(node), at);
    } else {
      take();
      const bool isOptional = takeIf("?");
      const std::string name = selector();
      node = !isOptional && isAt("(") ? call(std::move(node), name, at)
                                      : field(std::move(node), name, isOptional, at);
    }
  }
  return node;
}

// Reads the word behind a "."; most of those that CEL keeps for itself may stand there.
std::string CelParser::selector() {
  static constexpr auto kLiterals = std::to_array<std::string_view>({"in", "true", "false", "null"});
  if (token_.kind != CelToken::Kind::Word || std::ranges::find(kLiterals, token_.text) != kLiterals.end())
    unexpected();
  return take().text;
}

CelNode CelParser::field(CelNode of, std::string name, bool isOptional, size_t at) {
  CelNode made = nodeOf(CelNode::Kind::Field, at, std::move(name), std::move(of));
  made.isOptional = isOptional;
  return made;
}

CelNode CelParser::item(CelNode of, size_t at) {
  const bool isOptional = takeIf("?");
  CelNode made = nodeOf(CelNode::Kind::Index, at, isOptional ? "_[?_]" : "_[_]", std::move(of), expression());
  made.isOptional = isOptional;
  expect("]");
  return made;
}

CelNode CelParser::word(const CelToken& name) {
  if (name.text == "true" || name.text == "false") {
    CelNode made = celNode(CelNode::Kind::Constant, CelKind::Bool);
    made.value = name.text == "true";
    return made;
  }
  if (name.text == "null") return celNode(CelNode::Kind::Constant, CelKind::Null);
  if (isCelReserved(name.text))
    throw CelProblem{"Syntax error: reserved identifier: " + name.text + lexer_.place(name.at)};
  if (!isAt("(")) return nodeOf(CelNode::Kind::Word, name.at, name.text);
  CelNode made = nodeOf(CelNode::Kind::Call, name.at, name.text);
  made.operands = arguments();
  if (name.text != "has" || made.operands.size() != 1) return made;
  CelNode tested = std::move(made.operands[0]);
  if (tested.kind != CelNode::Kind::Field || tested.isOptional)
    throw CelProblem{"invalid argument to has() macro" + lexer_.place(name.at)};
  tested.kind = CelNode::Kind::Has;
  return tested;
}

std::vector<CelNode> CelParser::arguments() {
  std::vector<CelNode> made;
  expect("(");
  while (!isAt(")")) {
    made.push_back(expression());
    if (!takeIf(",")) break;
  }
  expect(")");
  return made;
}

CelNode CelParser::call(CelNode receiver, const std::string& name, size_t at) {
  std::vector<CelNode> given = arguments();
  const auto* const macro = std::ranges::find_if(kMacros, [&](const CelMacro& one) {
    return one.name == name && one.names + one.expressions == given.size();
  });
  const bool isMacro = macro != kMacros.end();
  CelNode made = nodeOf(isMacro ? macro->kind : CelNode::Kind::Call, at, name, std::move(receiver));
  made.hasReceiver = true;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!isMacro || i >= macro->names) {
      made.operands.push_back(std::move(given[i]));
      continue;
    }
    if (given[i].kind != CelNode::Kind::Word)
      throw CelProblem{"argument must be a simple name" + lexer_.place(given[i].at)};
    made.names.push_back(given[i].name);
  }
  return made;
}

}  // namespace lastout::simulator

#include "simulator/cel_parser.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kube/messages.h"

namespace lastout::simulator {
namespace {

bool isKnownType(CelType type) { return type != CelType::Dynamic; }

}  // namespace

std::string nameOf(CelType type) {
  static constexpr std::array<const char*, 12> kNames = {"dyn",
                                                         "bool",
                                                         "int",
                                                         "string",
                                                         "null",
                                                         "list(dyn)",
                                                         "map(string, dyn)",
                                                         "kubernetes.authorization.Authorizer",
                                                         "kubernetes.authorization.PathCheck",
                                                         "kubernetes.authorization.GroupCheck",
                                                         "kubernetes.authorization.ResourceCheck",
                                                         "kubernetes.authorization.Decision"};
  return kNames.at(static_cast<size_t>(type));
}

CelNode celNode(CelNode::Kind kind, CelType type, std::string name) {
  CelNode node;
  node.kind = kind;
  node.type = type;
  node.name = std::move(name);
  return node;
}

void celTooDeep() { throw CelProblem{"expression recursion limit exceeded: " + std::to_string(kDeepestCel)}; }

CelParser::Level::Level(int& depth) : depth_(depth) {
  if (++depth_ > kDeepestCel) celTooDeep();
}

CelProgram CelParser::parse() {
  CelProgram program;
  program.root = expression();
  if (token_.kind != CelToken::Kind::End) unexpected();
  if (isKnownType(environment_.result) && program.root.type != environment_.result)
    throw CelProblem{"must evaluate to " + nameOf(environment_.result)};
  program.usesRequest = usesRequest_;
  return program;
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
  const std::string what = token_.kind == CelToken::Kind::End ? "the end" : kube::inQuotes(token_.text);
  throw CelProblem{"Syntax error: " + what + lexer_.place(token_.at) + " is not expected"};
}

void CelParser::unsupportedFunction(const std::string& name, size_t at) const {
  celBeyond("the function " + kube::inQuotes(name) + lexer_.place(at));
}

void CelParser::noOverload(const char* function, std::initializer_list<CelType> types, size_t at) const {
  std::string list;
  for (const CelType type : types) list += (list.empty() ? "" : ", ") + nameOf(type);
  throw CelProblem{"found no matching overload for '" + std::string(function) + "' applied to '(" + list +
                   ")'" + lexer_.place(at)};
}

void CelParser::want(CelType type, const CelNode& node, const char* function, size_t at) const {
  if (node.type != type && isKnownType(node.type)) noOverload(function, {node.type}, at);
}

CelNode CelParser::expression() {
  const Level level(depth_);
  const size_t at = token_.at;
  CelNode condition = disjunction();
  if (!takeIf("?")) return condition;
  want(CelType::Bool, condition, "_?_:_", at);
  CelNode ifTrue = disjunction();
  expect(":");
  CelNode ifFalse = expression();
  const bool isMixed = ifTrue.type != ifFalse.type;
  const bool areKnown = isKnownType(ifTrue.type) && isKnownType(ifFalse.type);
  if (isMixed && (areKnown || isAccess(ifTrue.type) || isAccess(ifFalse.type)))
    noOverload("_?_:_", {condition.type, ifTrue.type, ifFalse.type}, at);
  CelNode made = celNode(CelNode::Kind::Ternary, isMixed ? CelType::Dynamic : ifTrue.type);
  made.operands.push_back(std::move(condition));
  made.operands.push_back(std::move(ifTrue));
  made.operands.push_back(std::move(ifFalse));
  return made;
}

// Reads a chain of one operator into one node with all its operands, so that a long chain is not deep.
CelNode CelParser::chain(const char* symbol, const char* function, CelNode::Kind kind,
                         CelNode (CelParser::*operand)()) {
  const size_t at = token_.at;
  CelNode first = (this->*operand)();
  if (!isAt(symbol)) return first;
  CelNode made = celNode(kind, CelType::Bool);
  made.operands.push_back(std::move(first));
  while (takeIf(symbol)) made.operands.push_back((this->*operand)());
  for (const CelNode& each : made.operands) want(CelType::Bool, each, function, at);
  return made;
}

CelNode CelParser::disjunction() { return chain("||", "_||_", CelNode::Kind::Or, &CelParser::conjunction); }

CelNode CelParser::conjunction() { return chain("&&", "_&&_", CelNode::Kind::And, &CelParser::relation); }

CelNode CelParser::relation() {
  static constexpr std::array<std::string_view, 7> kSigns = {"==", "!=", "in", "<", "<=", ">", ">="};
  CelNode left = sum();
  for (int relations = 1; std::ranges::any_of(kSigns, [this](std::string_view sign) { return isAt(sign); });
       ++relations) {
    if (relations > kDeepestCel) celTooDeep();
    const CelToken sign = take();
    CelNode right = sum();
    left = related(sign, std::move(left), std::move(right));
  }
  return left;
}

CelNode CelParser::related(const CelToken& sign, CelNode left, CelNode right) const {
  if (sign.text == "in") return membership(std::move(left), std::move(right), sign.at);
  if (sign.text == "==" || sign.text == "!=") return equality(sign, std::move(left), std::move(right));
  return order(sign, std::move(left), std::move(right));
}

CelNode CelParser::equality(const CelToken& sign, CelNode left, CelNode right) const {
  const bool isEqual = sign.text == "==";
  const bool areKnown = isKnownType(left.type) && isKnownType(right.type);
  if ((areKnown && left.type != right.type) || isAccess(left.type) || isAccess(right.type))
    noOverload(isEqual ? "_==_" : "_!=_", {left.type, right.type}, sign.at);
  CelNode made = celNode(isEqual ? CelNode::Kind::Equal : CelNode::Kind::Unequal, CelType::Bool);
  made.operands.push_back(std::move(left));
  made.operands.push_back(std::move(right));
  return made;
}

CelNode CelParser::order(const CelToken& sign, CelNode left, CelNode right) const {
  const auto hasOrder = [](CelType type) {
    return type == CelType::Dynamic || type == CelType::Integer || type == CelType::Text;
  };
  const bool areKnown = isKnownType(left.type) && isKnownType(right.type);
  if ((areKnown && left.type != right.type) || !hasOrder(left.type) || !hasOrder(right.type))
    noOverload(("_" + sign.text + "_").c_str(), {left.type, right.type}, sign.at);
  const CelNode::Kind kind = sign.text == "<"    ? CelNode::Kind::Less
                             : sign.text == "<=" ? CelNode::Kind::LessOrEqual
                             : sign.text == ">"  ? CelNode::Kind::Greater
                                                 : CelNode::Kind::GreaterOrEqual;
  CelNode made = celNode(kind, CelType::Bool);
  made.operands.push_back(std::move(left));
  made.operands.push_back(std::move(right));
  return made;
}

CelNode CelParser::membership(CelNode left, CelNode right, size_t at) const {
  const bool isIn =
      right.type == CelType::Dynamic || right.type == CelType::List || right.type == CelType::Map;
  if (!isIn || isAccess(left.type)) noOverload("@in", {left.type, right.type}, at);
  CelNode made = celNode(CelNode::Kind::In, CelType::Bool);
  made.operands.push_back(std::move(left));
  made.isSet = right.kind == CelNode::Kind::List && right.value.is_array() &&
               std::ranges::all_of(right.value, [](const Json& item) { return item.is_string(); });
  if (made.isSet) {
    if (isKnownType(made.operands[0].type) && made.operands[0].type != CelType::Text && !right.value.empty())
      noOverload("@in", {made.operands[0].type, right.type}, at);
    for (const Json& item : right.value) made.texts.insert(item.get_ref<const std::string&>());
  } else {
    made.operands.push_back(std::move(right));
  }
  return made;
}

// Reads a sum of texts, of lists, or of integers.
CelNode CelParser::sum() {
  const size_t at = token_.at;
  CelNode first = unary();
  if (!isAt("+")) return first;
  CelNode made = celNode(CelNode::Kind::Plus, CelType::Dynamic);
  made.operands.push_back(std::move(first));
  while (takeIf("+")) made.operands.push_back(unary());
  for (const CelNode& each : made.operands) {
    const bool hasSum = each.type == CelType::Dynamic || each.type == CelType::Text ||
                        each.type == CelType::List || each.type == CelType::Integer;
    if (!hasSum || (isKnownType(made.type) && isKnownType(each.type) && made.type != each.type))
      noOverload("_+_", {made.operands[0].type, each.type}, at);
    if (isKnownType(each.type)) made.type = each.type;
  }
  return made;
}

CelNode CelParser::unary() {
  if (!isAt("!")) return member();
  const Level level(depth_);
  const size_t at = take().at;
  CelNode made = celNode(CelNode::Kind::Not, CelType::Bool);
  made.operands.push_back(unary());
  want(CelType::Bool, made.operands[0], "!_", at);
  return made;
}

CelNode CelParser::primary() {
  const Level level(depth_);
  if (token_.kind == CelToken::Kind::Text) {
    CelNode text = celNode(CelNode::Kind::Constant, CelType::Text);
    text.value = take().text;
    return text;
  }
  if (token_.kind == CelToken::Kind::Number) {
    CelNode number = celNode(CelNode::Kind::Constant, CelType::Integer);
    number.value = static_cast<int64_t>(std::stoll(take().text));
    return number;
  }
  if (token_.kind == CelToken::Kind::Word) return word(take());
  if (takeIf("[")) return list();
  expect("(");
  CelNode inner = expression();
  expect(")");
  return inner;
}

CelNode CelParser::list() {
  CelNode made = celNode(CelNode::Kind::List, CelType::List);
  made.value = Json::array();
  std::vector<CelNode> items;
  while (!isAt("]")) {
    const size_t at = token_.at;
    items.push_back(expression());
    if (isAccess(items.back().type)) celBeyond("a list of " + nameOf(items.back().type) + lexer_.place(at));
    if (!takeIf(",")) break;
  }
  expect("]");
  const auto isConstant = [](const CelNode& item) { return item.kind == CelNode::Kind::Constant; };
  if (std::ranges::all_of(items, isConstant)) {
    for (CelNode& item : items) made.value.push_back(std::move(item.value));
  } else {
    made.value = nullptr;
    made.operands = std::move(items);
  }
  return made;
}

tl::expected<CelProgram, CelProblem> parseCel(std::string_view text, const CelEnvironment& environment) {
  if (const size_t length = celCharactersIn(text); length > kLongestCel)
    return tl::unexpected(CelProblem{"expression code point size exceeds limit: size: " +
                                     std::to_string(length) + ", limit " + std::to_string(kLongestCel)});
  try {
    return CelParser(text, environment).parse();
  } catch (CelProblem& problem) {
    return tl::unexpected(std::move(problem));
  }
}

}  // namespace lastout::simulator

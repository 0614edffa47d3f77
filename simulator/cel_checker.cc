#include "simulator/cel_checker.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <optional>

#include "kube/messages.h"

namespace lastout::simulator {
namespace {

// The functions that are evaluated, by their names; those of `authorizer` for its steps alone.
constexpr std::array<std::pair<std::string_view, CelFunction>, 12> kEvaluated = {
    {{"size", CelFunction::Size},
     {"startsWith", CelFunction::StartsWith},
     {"endsWith", CelFunction::EndsWith},
     {"contains", CelFunction::Contains},
     {"path", CelFunction::Path},
     {"group", CelFunction::Group},
     {"resource", CelFunction::Resource},
     {"subresource", CelFunction::Subresource},
     {"namespace", CelFunction::Namespace},
     {"name", CelFunction::Name},
     {"check", CelFunction::Check},
     {"allowed", CelFunction::Allowed}}};

constexpr std::string_view kNamespaceObject = "namespaceObject";
constexpr std::string_view kAuthorizer = "@Authorizer";
constexpr std::string_view kResourceCheck = "@ResourceCheck";

bool isEvaluatedConstant(const CelType& type) {
  return type.kind == CelKind::Bool || type.kind == CelKind::Integer || type.kind == CelKind::Text ||
         type.kind == CelKind::Null;
}

const CelNames& namesOfAdmission() {
  static const CelNames kNames = {{"object", {}},
                                  {"oldObject", {}},
                                  {"request", celTypeOf("*AdmissionRequest")},
                                  {std::string(kNamespaceObject), celTypeOf("*Namespace")}};
  return kNames;
}

std::string operandTypes(const std::vector<CelNode>& operands, size_t first) {
  std::string text;
  for (size_t i = first; i < operands.size(); ++i) text += (i > first ? ", " : "") + nameOf(operands[i].type);
  return "(" + text + ")";
}

int depthOf(const CelType& type) {
  int deepest = 0;
  for (const CelType& part : type.of) deepest = std::max(deepest, depthOf(part));
  return deepest + 1;
}

// True for a regular expression that RE2, the API server's, too, compiles.
bool isRegularExpression(const std::string& text) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  return re2::RE2(text, options).ok();
}

// True for "1h30m", "-1.5s", "0".
bool isDurationText(std::string_view text) {
  static const re2::RE2 kForm(R"([-+]?(0|((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+))");
  return re2::RE2::FullMatch(text, kForm);
}

// True for a time of RFC 3339, each part within its range.
bool isTimestampText(std::string_view text) {
  static const re2::RE2 kForm(
      R"(\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))");
  return re2::RE2::FullMatch(text, kForm);
}

}  // namespace

void CelChecker::notEvaluated(const std::string& what, const CelNode& node) {
  if (beyond_.empty()) beyond_ = what + parser_.place(node.at) + " is not supported";
}

void CelChecker::fail(const std::string& why, const CelNode& node) const {
  throw CelProblem{why + parser_.place(node.at)};
}

void CelChecker::noOverload(const CelNode& node, std::string_view function) const {
  const std::string receiver = node.hasReceiver ? nameOf(node.operands[0].type) + "." : "";
  fail("found no matching overload for '" + std::string(function) + "' applied to '" + receiver +
           operandTypes(node.operands, node.hasReceiver ? 1 : 0) + "'",
       node);
}

CelType CelChecker::resultOf(const CelNode& node, std::string_view function) const {
  std::optional<CelType> result;
  for (const CelSignature& signature : *celSignatures(function)) {
    if (signature.hasReceiver != node.hasReceiver || signature.arguments.size() != node.operands.size())
      continue;
    CelNames bindings;
    bool fits = true;
    for (size_t i = 0; fits && i < node.operands.size(); ++i)
      fits = isAssignable(signature.arguments[i], node.operands[i].type, bindings);
    if (!fits) continue;
    const CelType one = bound(signature.result, bindings);
    result = !result || *result == one ? one : CelType();
  }
  if (!result) noOverload(node, function);
  return *result;
}

void CelChecker::holdsNoAccess(const CelNode& node) {
  if (node.kind == CelNode::Kind::Ternary &&
      isAccess(node.operands[1].type) == isAccess(node.operands[2].type))
    return;
  for (const CelNode& operand : node.operands)
    if (isAccess(operand.type)) notEvaluated("the use of " + nameOf(operand.type), node);
}

// Checks a chain of one operator, as if it were written with parentheses from the left.
CelType CelChecker::foldedOver(const CelNode& node) const {
  CelNode step;
  step.at = node.at;
  step.operands.push_back(celNode(CelNode::Kind::Constant, node.operands[0].type));
  for (size_t i = 1; i < node.operands.size(); ++i) {
    step.operands.resize(1);
    step.operands.push_back(celNode(CelNode::Kind::Constant, node.operands[i].type));
    step.operands[0].type = resultOf(step, node.name);
  }
  return step.operands[0].type;
}

void CelChecker::check(CelNode& node) {
  switch (node.kind) {
    case CelNode::Kind::Word:
      return word(node);
    case CelNode::Kind::Field:
    case CelNode::Kind::Has:
      return field(node);
    case CelNode::Kind::Call:
      return call(node);
    case CelNode::Kind::All:
    case CelNode::Kind::Exists:
    case CelNode::Kind::ExistsOne:
    case CelNode::Kind::Filter:
    case CelNode::Kind::Transform:
    case CelNode::Kind::Macro:
      return macro(node);
    default:
      break;
  }
  for (CelNode& operand : node.operands) check(operand);
  holdsNoAccess(node);
  switch (node.kind) {
    case CelNode::Kind::Constant:
      if (!isEvaluatedConstant(node.type)) notEvaluated("a value of type " + nameOf(node.type), node);
      return;
    case CelNode::Kind::List:
      return list(node);
    case CelNode::Kind::MapLiteral:
      return map(node);
    case CelNode::Kind::Index:
      return index(node);
    case CelNode::Kind::In:
      return membership(node);
    case CelNode::Kind::Operator:
      node.type = resultOf(node, node.name);
      return notEvaluated("the operator " + node.name, node);
    case CelNode::Kind::Plus:
    case CelNode::Kind::And:
    case CelNode::Kind::Or:
      node.type = foldedOver(node);
      return;
    default:
      node.type = resultOf(node, node.name);
  }
}

void CelChecker::word(CelNode& node) {
  const auto local = std::find_if(locals_.rbegin(), locals_.rend(),
                                  [&node](const auto& one) { return one.first == node.name; });
  if (local != locals_.rend()) {
    node.kind = CelNode::Kind::Local;
    node.type = local->second;
    return;
  }
  uses_.insert(node.name);
  const CelNames& names = environment_.names != nullptr ? *environment_.names : namesOfAdmission();
  if (const auto found = names.find(node.name); found != names.end()) {
    node.kind = CelNode::Kind::Variable;
    node.type = found->second;
    if (node.name == kNamespaceObject) notEvaluated(kube::inQuotes(node.name), node);
  } else if (node.name == "authorizer" && environment_.hasAuthorizer) {
    node.kind = CelNode::Kind::Variable;
    node.type = celTypeOf(kAuthorizer);
    if (!environment_.asksAuthorizer) notEvaluated(kube::inQuotes(node.name), node);
  } else if (node.name == "params" && environment_.hasParameters) {
    node.kind = CelNode::Kind::Variable;
  } else if (node.name == "variables" && environment_.variables != nullptr) {
    node.type = {CelKind::Object, "kubernetes.variables"};
    notEvaluated("\"variables\" as a whole", node);
  } else if (isCelTypeName(node.name)) {
    node.type = CelKind::Type;
    notEvaluated("the type " + node.name, node);
  } else {
    fail("undeclared reference to '" + kube::printable(node.name) + "'", node);
  }
}

// Words with dots that are one name. False: it is a field of something.
bool CelChecker::dottedName(CelNode& node) {
  const CelNode& of = node.operands[0];
  const std::string name = celDottedName(node);
  if (name == "authorizer.requestResource" && environment_.hasAuthorizer) {
    if (!environment_.asksAuthorizer) notEvaluated("\"authorizer\"", node);
    node = celNode(CelNode::Kind::Call, celTypeOf(kResourceCheck));
    node.function = CelFunction::RequestResource;
    return true;
  }
  if (of.kind == CelNode::Kind::Word && of.name == "variables" && environment_.variables != nullptr &&
      node.kind == CelNode::Kind::Field && !node.isOptional) {
    const auto found = environment_.variables->find(node.name);
    if (found == environment_.variables->end()) fail("undefined field '" + node.name + "'", node);
    node = celNode(CelNode::Kind::Defined, found->second, node.name);
    return true;
  }
  if (!isCelTypeName(name)) return false;
  node.type = CelKind::Type;
  notEvaluated("the type " + name, node);
  return true;
}

void CelChecker::field(CelNode& node) {
  if (dottedName(node)) return;
  check(node.operands[0]);
  const CelType& of = node.operands[0].type;
  const bool isWithin = of.kind == CelKind::Optional;
  CelType found = fieldOf(isWithin ? of.of[0] : of, node);
  node.type = node.isOptional || isWithin ? CelType::optional(std::move(found)) : std::move(found);
  if (node.isOptional || isWithin) notEvaluated("an optional field", node);
  if (node.kind == CelNode::Kind::Has) node.type = CelKind::Bool;
}

CelType CelChecker::fieldOf(const CelType& type, const CelNode& node) const {
  if (type.kind == CelKind::Dynamic) return {};
  if (type.kind == CelKind::Map) return type.of[1];
  if (type.kind != CelKind::Object)
    fail("type '" + nameOf(type) + "' does not support field selection", node);
  if (type.name == "kubernetes.variables") {
    const auto found = environment_.variables->find(node.name);
    if (found != environment_.variables->end()) return found->second;
  }
  const CelObjects& objects = environment_.objects != nullptr ? *environment_.objects : celRequestObjects();
  const auto object = objects.find(type.name);
  if (object != objects.end()) {
    const auto found = object->second.find(node.name);
    if (found != object->second.end()) return found->second;
  }
  fail("undefined field '" + node.name + "'", node);
}

void CelChecker::index(CelNode& node) {
  node.type = resultOf(node, node.name);
  if (node.isOptional || node.operands[0].type.kind == CelKind::Optional)
    notEvaluated("an optional item", node);
}

// The type of all that is in a list or map so far, with the next.
CelType CelChecker::joined(const CelType& one, const CelNode& next) const {
  if (!isAssignable(one, next.type) && !isAssignable(next.type, one))
    fail("expected type '" + nameOf(one) + "' but found '" + nameOf(next.type) + "'", next);
  return mostGeneral(one, next.type);
}

void CelChecker::list(CelNode& node) {
  CelType item = node.operands.empty() ? CelType() : node.operands[0].type;
  for (const CelNode& operand : node.operands) item = joined(item, operand);
  node.type = CelType::list(std::move(item));
  const auto isConstant = [](const CelNode& one) { return one.kind == CelNode::Kind::Constant; };
  if (!std::ranges::all_of(node.operands, isConstant)) return;
  node.value = Json::array();
  for (CelNode& operand : node.operands) node.value.push_back(std::move(operand.value));
  node.operands.clear();
}

void CelChecker::map(CelNode& node) {
  CelType key = node.operands.empty() ? CelType() : node.operands[0].type;
  CelType value = node.operands.empty() ? CelType() : node.operands[1].type;
  for (size_t i = 0; i < node.operands.size(); i += 2) {
    key = joined(key, node.operands[i]);
    value = joined(value, node.operands[i + 1]);
  }
  if (!key.of.empty()) key = {};  // or types could double at each step
  node.type = CelType::map(std::move(key), std::move(value));
  notEvaluated("a map", node);
}

void CelChecker::membership(CelNode& node) {
  node.type = resultOf(node, "@in");
  CelNode& many = node.operands[1];
  node.isSet = many.kind == CelNode::Kind::List && many.value.is_array() &&
               std::ranges::all_of(many.value, [](const Json& item) { return item.is_string(); });
  if (!node.isSet) return;
  for (const Json& item : many.value) node.texts.insert(item.get_ref<const std::string&>());
  node.operands.pop_back();
}

void CelChecker::call(CelNode& node) {
  if (node.hasReceiver) {
    const std::string before = celDottedName(node.operands[0]);
    if (!before.empty() && celSignatures(before + "." + node.name) != nullptr) {
      node.name = before + "." + node.name;
      node.hasReceiver = false;
      node.operands.erase(node.operands.begin());
    }
  }
  const auto* const signatures = celSignatures(node.name);
  if (signatures == nullptr) fail("undeclared reference to '" + kube::printable(node.name) + "'", node);
  for (CelNode& operand : node.operands) check(operand);
  node.type = resultOf(node, node.name);
  checkLiterals(node);
  const auto* const known =
      std::ranges::find(kEvaluated, node.name, [](const auto& one) { return one.first; });
  const bool isOfSteps = !signatures->front().arguments.empty() && isAccess(signatures->front().arguments[0]);
  if (known == kEvaluated.end() || (isOfSteps && !isAccess(node.operands[0].type)))
    return notEvaluated("the function " + kube::inQuotes(node.name), node);
  node.function = known->second;
}

// Literals are looked at before anything is evaluated.
void CelChecker::checkLiterals(const CelNode& node) const {
  const size_t place = node.hasReceiver ? 1 : node.operands.size() - 1;
  if (node.operands.size() <= place || node.operands[place].kind != CelNode::Kind::Constant ||
      !node.operands[place].value.is_string())
    return;
  const auto& text = node.operands[place].value.get_ref<const std::string&>();
  const bool isPattern = node.name == "matches" || node.name == "find" || node.name == "findAll";
  const bool isGood = isPattern                  ? isRegularExpression(text)
                      : node.name == "duration"  ? isDurationText(text)
                      : node.name == "timestamp" ? isTimestampText(text)
                                                 : true;
  if (!isGood) fail("invalid " + node.name + " argument", node.operands[place]);
}

// Returns the types of the names that a macro binds, in their order.
std::vector<CelType> CelChecker::ranged(const CelNode& node) const {
  const CelType& many = node.operands[0].type;
  switch (many.kind) {
    case CelKind::Dynamic:
      return {node.names.size(), CelType()};
    case CelKind::Map:
      return many.of;
    case CelKind::List:
      return node.names.size() == 2 ? std::vector<CelType>{CelKind::Integer, many.of[0]} : many.of;
    case CelKind::Optional:
      return {node.names.size(), many.of[0]};
    default:
      fail("expression of type '" + nameOf(many) + "' cannot be range of a comprehension", node);
  }
}

// A macro has the types of a function of what it ranges over and of its expressions.
void CelChecker::macro(CelNode& node) {
  check(node.operands[0]);
  const std::vector<CelType> types = node.names.empty() ? std::vector<CelType>() : ranged(node);
  for (size_t i = 0; i < node.names.size(); ++i) locals_.emplace_back(node.names[i], types[i]);
  for (size_t i = 1; i < node.operands.size(); ++i) check(node.operands[i]);
  locals_.resize(locals_.size() - node.names.size());
  holdsNoAccess(node);
  node.type = resultOf(node, "@" + node.name);
  if (node.kind == CelNode::Kind::Macro) notEvaluated("the macro " + kube::inQuotes(node.name), node);
  if (!node.names.empty()) node.name = node.names[0];
}

tl::expected<CelProgram, std::string> compileCel(std::string_view text, const CelEnvironment& environment) {
  if (const size_t length = celCharactersIn(text); length > kLongestCel)
    return tl::unexpected("compilation failed: expression code point size exceeds limit: size: " +
                          std::to_string(length) + ", limit " + std::to_string(kLongestCel));
  try {
    CelParser parser(text);
    CelProgram program;
    program.root = parser.parse();
    CelChecker checker(parser, environment);
    checker.check(program.root);
    if (environment.result.kind != CelKind::Dynamic && program.root.type != environment.result)
      return tl::unexpected("must evaluate to " + nameOf(environment.result) + " but got " +
                            nameOf(program.root.type));
    if (depthOf(program.root.type) > kDeepestCel) program.root.type = {};  // variables could nest without end
    program.uses = checker.uses();
    program.beyond = checker.beyond();
    return program;
  } catch (CelProblem& problem) {
    return tl::unexpected("compilation failed: " + problem.words);
  }
}

}  // namespace lastout::simulator

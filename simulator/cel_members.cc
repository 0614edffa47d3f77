// CelParser's names, fields, items, functions and macros.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <utility>

#include "kube/messages.h"
#include "simulator/cel_parser.h"

namespace lastout::simulator {
namespace {

// The fields of `request` that API servers declare: AdmissionRequest without its objects and its uid.
bool isFieldOfRequest(const std::vector<std::string>& path) {
  static constexpr std::array<std::string_view, 12> kFields = {
      "kind", "resource",  "subResource", "requestKind", "requestResource", "requestSubResource",
      "name", "namespace", "operation",   "userInfo",    "dryRun",          "options"};
  if (std::ranges::find(kFields, path.front()) == kFields.end()) return false;
  const auto isOneOf = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), path[1]) != names.end();
  };
  if (path.size() < 2 || path.front() == "options") return true;
  if (path.front() == "userInfo") return isOneOf({"username", "uid", "groups", "extra"});
  if (path.front() == "kind" || path.front() == "requestKind") return isOneOf({"group", "version", "kind"});
  if (path.front() == "resource" || path.front() == "requestResource")
    return isOneOf({"group", "version", "resource"});
  return false;
}

CelType typeOfRequestField(std::string_view field) {
  static constexpr std::array<std::string_view, 5> kTexts = {"subResource", "requestSubResource", "name",
                                                             "namespace", "operation"};
  if (field == "dryRun") return CelType::Bool;
  return std::ranges::find(kTexts, field) != kTexts.end() ? CelType::Text : CelType::Dynamic;
}

// A function of a receiver, with one text or nothing.
struct CelSignature {
  std::string_view name;
  CelType receiver;
  bool takesText;
  CelFunction function;
  CelType result;
};

constexpr std::array<CelSignature, 12> kFunctions = {{
    {"startsWith", CelType::Text, true, CelFunction::StartsWith, CelType::Bool},
    {"endsWith", CelType::Text, true, CelFunction::EndsWith, CelType::Bool},
    {"contains", CelType::Text, true, CelFunction::Contains, CelType::Bool},
    {"path", CelType::Authorizer, true, CelFunction::Path, CelType::PathCheck},
    {"group", CelType::Authorizer, true, CelFunction::Group, CelType::GroupCheck},
    {"resource", CelType::GroupCheck, true, CelFunction::Resource, CelType::ResourceCheck},
    {"subresource", CelType::ResourceCheck, true, CelFunction::Subresource, CelType::ResourceCheck},
    {"namespace", CelType::ResourceCheck, true, CelFunction::Namespace, CelType::ResourceCheck},
    {"name", CelType::ResourceCheck, true, CelFunction::Name, CelType::ResourceCheck},
    {"check", CelType::ResourceCheck, true, CelFunction::Check, CelType::Decision},
    {"check", CelType::PathCheck, true, CelFunction::Check, CelType::Decision},
    {"allowed", CelType::Decision, false, CelFunction::Allowed, CelType::Bool},
}};

std::optional<CelNode::Kind> macroNamed(std::string_view name) {
  if (name == "all") return CelNode::Kind::All;
  if (name == "exists") return CelNode::Kind::Exists;
  if (name == "filter") return CelNode::Kind::Filter;
  if (name == "map") return CelNode::Kind::Transform;
  return std::nullopt;
}

// Names that API servers declare: values, the libraries of functions, and types.
bool isDeclaredElsewhere(std::string_view name) {
  static constexpr std::array<std::string_view, 26> kNames = {"params",   "namespaceObject",
                                                              "cel",      "math",
                                                              "strings",  "sets",
                                                              "lists",    "base64",
                                                              "optional", "ip",
                                                              "cidr",     "format",
                                                              "regex",    "int",
                                                              "uint",     "double",
                                                              "string",   "bool",
                                                              "bytes",    "list",
                                                              "map",      "type",
                                                              "dyn",      "timestamp",
                                                              "duration", "null_type"};
  return std::ranges::find(kNames, name) != kNames.end();
}

bool isMany(CelType type) {
  return type == CelType::Dynamic || type == CelType::List || type == CelType::Map;
}

}  // namespace

CelNode CelParser::member() {
  CelNode node = primary();
  std::vector<std::string> path;
  bool isOfRequest = node.kind == CelNode::Kind::Variable && node.name == "request";
  for (int steps = 1; isAt(".") || isAt("["); ++steps) {
    if (steps > kDeepestCel) celTooDeep();
    if (isAt("[")) {
      isOfRequest = false;
      node = item(std::move(node));
      continue;
    }
    const size_t at = take().at;
    if (isAt("?")) celBeyond("an optional field" + lexer_.place(at));
    if (token_.kind != CelToken::Kind::Word) unexpected();
    const std::string name = take().text;
    if (isAt("(")) {
      isOfRequest = false;
      node = call(std::move(node), name, at);
      continue;
    }
    path.push_back(name);
    node = field(std::move(node), name, at);
    if (!isOfRequest) continue;
    if (!isFieldOfRequest(path)) throw CelProblem{"undefined field '" + name + "'" + lexer_.place(at)};
    if (path.size() == 1) node.type = typeOfRequestField(name);
  }
  return node;
}

CelNode CelParser::item(CelNode node) {
  const size_t at = take().at;
  if (isAt("?")) celBeyond("an optional item" + lexer_.place(at));
  CelNode key = expression();
  expect("]");
  const bool fits =
      isMany(node.type) && !isAccess(key.type) &&
      (node.type != CelType::List || key.type == CelType::Integer || key.type == CelType::Dynamic);
  if (!fits) noOverload("_[_]", {node.type, key.type}, at);
  CelNode made = celNode(CelNode::Kind::Index, CelType::Dynamic);
  made.operands.push_back(std::move(node));
  made.operands.push_back(std::move(key));
  return made;
}

CelNode CelParser::field(CelNode node, const std::string& name, size_t at) const {
  if (node.kind == CelNode::Kind::Variable && node.name == "variables") {
    const auto found = environment_.variables->find(name);
    if (found == environment_.variables->end())
      throw CelProblem{"undefined field '" + name + "'" + lexer_.place(at)};
    return celNode(CelNode::Kind::Defined, found->second, name);
  }
  if (node.type == CelType::Authorizer && name == "requestResource") {
    CelNode made = celNode(CelNode::Kind::Call, CelType::ResourceCheck);
    made.function = CelFunction::RequestResource;
    return made;
  }
  if (node.type != CelType::Dynamic && node.type != CelType::Map)
    throw CelProblem{"type '" + nameOf(node.type) + "'" + lexer_.place(at) +
                     " does not support field selection"};
  CelNode made = celNode(CelNode::Kind::Field, CelType::Dynamic, name);
  made.operands.push_back(std::move(node));
  return made;
}

CelNode CelParser::call(CelNode receiver, const std::string& name, size_t at) {
  const auto isNamed = [&name](const CelSignature& one) { return one.name == name; };
  const auto kind = macroNamed(name);
  if (!kind && name != "size" && std::ranges::none_of(kFunctions, isNamed)) unsupportedFunction(name, at);
  expect("(");
  if (kind) return macro(std::move(receiver), *kind, at);
  std::optional<CelNode> argument;
  if (!isAt(")")) argument = expression();
  expect(")");
  if (name == "size" && !argument) return sizeOf(std::move(receiver), at);
  const auto fits = [&](const CelSignature& one) {
    const bool isOf =
        receiver.type == one.receiver || (one.receiver == CelType::Text && receiver.type == CelType::Dynamic);
    const bool takes = argument && (argument->type == CelType::Text || argument->type == CelType::Dynamic);
    return isNamed(one) && isOf && (one.takesText ? takes : !argument);
  };
  const auto* const found = std::ranges::find_if(kFunctions, fits);
  if (found == kFunctions.end())
    throw CelProblem{"found no matching overload for '" + name + "' applied to '" + nameOf(receiver.type) +
                     ".(" + (argument ? nameOf(argument->type) : "") + ")'" + lexer_.place(at)};
  CelNode made = celNode(CelNode::Kind::Call, found->result);
  made.function = found->function;
  made.operands.push_back(std::move(receiver));
  if (argument) made.operands.push_back(std::move(*argument));
  return made;
}

// Behind "(": the name for each item, and what is asked of it.
CelNode CelParser::macro(CelNode many, CelNode::Kind kind, size_t at) {
  if (!isMany(many.type))
    throw CelProblem{"expression of type '" + nameOf(many.type) + "' cannot be range of a comprehension" +
                     lexer_.place(at)};
  if (token_.kind != CelToken::Kind::Word) unexpected();
  const bool makesList = kind == CelNode::Kind::Filter || kind == CelNode::Kind::Transform;
  CelNode made = celNode(kind, makesList ? CelType::List : CelType::Bool, take().text);
  expect(",");
  locals_.push_back(made.name);
  CelNode body = expression();
  locals_.pop_back();
  if (isAt(",")) celBeyond("a macro with two names or two expressions" + lexer_.place(at));
  expect(")");
  if (kind != CelNode::Kind::Transform) want(CelType::Bool, body, "_&&_", at);
  if (isAccess(body.type)) celBeyond("a list of " + nameOf(body.type) + lexer_.place(at));
  made.operands.push_back(std::move(many));
  made.operands.push_back(std::move(body));
  return made;
}

CelNode CelParser::sizeOf(CelNode of, size_t at) const {
  if (!isMany(of.type) && of.type != CelType::Text) noOverload("size", {of.type}, at);
  CelNode made = celNode(CelNode::Kind::Call, CelType::Integer);
  made.function = CelFunction::Size;
  made.operands.push_back(std::move(of));
  return made;
}

CelNode CelParser::word(const CelToken& name) {
  if (name.text == "true" || name.text == "false") {
    CelNode made = celNode(CelNode::Kind::Constant, CelType::Bool);
    made.value = name.text == "true";
    return made;
  }
  if (name.text == "null") return celNode(CelNode::Kind::Constant, CelType::Null);
  if (isAt("(")) return function(name);
  if (std::ranges::find(locals_, name.text) != locals_.end())
    return celNode(CelNode::Kind::Local, CelType::Dynamic, name.text);
  usesRequest_ = usesRequest_ || name.text == "request";
  if (name.text == "object" || name.text == "oldObject" || name.text == "request")
    return celNode(CelNode::Kind::Variable, CelType::Dynamic, name.text);
  if (name.text == "authorizer" && environment_.hasAuthorizer)
    return celNode(CelNode::Kind::Variable, CelType::Authorizer, name.text);
  if (name.text == "variables" && environment_.variables != nullptr && isAt("."))
    return celNode(CelNode::Kind::Variable, CelType::Map, name.text);
  if (isDeclaredElsewhere(name.text) || (name.text == "authorizer" && environment_.variables == nullptr))
    celBeyond(kube::inQuotes(name.text) + lexer_.place(name.at));
  throw CelProblem{"undeclared reference to '" + kube::printable(name.text) + "'" + lexer_.place(name.at) +
                   "; " + kSupportedCel};
}

// has() and size(), the functions without a receiver.
CelNode CelParser::function(const CelToken& name) {
  if (name.text != "has" && name.text != "size") unsupportedFunction(name.text, name.at);
  expect("(");
  CelNode made = expression();
  expect(")");
  if (name.text == "size") return sizeOf(std::move(made), name.at);
  if (made.kind != CelNode::Kind::Field)
    throw CelProblem{"invalid argument to has() macro" + lexer_.place(name.at)};
  made.kind = CelNode::Kind::Has;
  made.type = CelType::Bool;
  return made;
}

}  // namespace lastout::simulator

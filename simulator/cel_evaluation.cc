#include "simulator/cel_evaluation.h"

#include <algorithm>

namespace lastout::simulator {
namespace {

const Json kNullValue = nullptr;

tl::unexpected<std::string> noSuchOverload() { return tl::unexpected<std::string>("no such overload"); }

CelResult asResult(CelTruth truth) {
  if (!truth) return tl::unexpected(std::move(truth.error()));
  return CelValue(Json(*truth));
}

// Binds a name while it is alive.
class Binding {
 public:
  using Locals = std::vector<std::pair<std::string_view, const Json*>>;
  Binding(Locals& locals, std::string_view name, const Json* value) : locals_(locals) {
    locals_.emplace_back(name, value);
  }
  ~Binding() { locals_.pop_back(); }
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;

 private:
  Locals& locals_;
};

// Where a function of an authorizer puts its argument; nullptr: it has none to put anywhere.
std::string* attributeNamed(CelFunction function, AccessAttributes& wanted) {
  switch (function) {
    case CelFunction::Path:
      return &wanted.path;
    case CelFunction::Group:
      return &wanted.group;
    case CelFunction::Resource:
      return &wanted.resource;
    case CelFunction::Subresource:
      return &wanted.subresource;
    case CelFunction::Namespace:
      return &wanted.namespaceName;
    case CelFunction::Name:
      return &wanted.name;
    case CelFunction::Check:
      return &wanted.verb;
    default:
      return nullptr;
  }
}

}  // namespace

CelValue::CelValue(const Json* there) : there_(there == nullptr ? &kNullValue : there) {}

CelResult CelEvaluation::result(const CelNode& root) {
  CelResult result = value(root);
  if (isTooCostly_) return tl::unexpected<std::string>("operation cancelled: actual cost limit exceeded");
  return result;
}

CelResult CelEvaluation::value(const CelNode& node) {
  switch (node.kind) {
    case CelNode::Kind::Constant:
      return CelValue(&node.value);
    case CelNode::Kind::List:
      return list(node);
    case CelNode::Kind::Variable:
      return variable(node.name);
    case CelNode::Kind::Defined:
      return defined(node);
    case CelNode::Kind::Local:
      return CelValue(std::find_if(locals_.rbegin(), locals_.rend(), [&node](const auto& local) {
                        return local.first == node.name;
                      })->second);
    case CelNode::Kind::Field:
      return field(node);
    case CelNode::Kind::Index:
      return item(node);
    case CelNode::Kind::Plus:
      return sum(node);
    case CelNode::Kind::Ternary:
      return chosen(node);
    case CelNode::Kind::Call:
      return call(node);
    case CelNode::Kind::Filter:
      return filtered(node);
    case CelNode::Kind::Transform:
      return transformed(node);
    case CelNode::Kind::Beyond:
      return tl::unexpected("lastout up does not evaluate this expression: " + node.name);
    default:
      return asResult(truth(node));
  }
}

CelTruth CelEvaluation::truth(const CelNode& node) {
  switch (node.kind) {
    case CelNode::Kind::And:
      return connected(node, false);
    case CelNode::Kind::Or:
      return connected(node, true);
    case CelNode::Kind::Not:
      return truth(node.operands[0]).map([](bool holds) { return !holds; });
    case CelNode::Kind::Equal:
      return areEqual(node);
    case CelNode::Kind::Unequal:
      return areEqual(node).map([](bool holds) { return !holds; });
    case CelNode::Kind::Less:
    case CelNode::Kind::LessOrEqual:
    case CelNode::Kind::Greater:
    case CelNode::Kind::GreaterOrEqual:
      return isOrdered(node);
    case CelNode::Kind::In:
      return isIn(node);
    case CelNode::Kind::Has:
      return has(node);
    case CelNode::Kind::All:
      return quantified(node, false);
    case CelNode::Kind::Exists:
      return quantified(node, true);
    case CelNode::Kind::ExistsOne:
      return isOne(node);
    default:
      break;
  }
  const auto found = value(node);
  if (!found) return tl::unexpected(found.error());
  if (!found->get().is_boolean()) return noSuchOverload();
  return found->get().get<bool>();
}

CelResult CelEvaluation::variable(const std::string& name) const {
  const CelVariables& variables = run_.variables();
  if (name == "object" || name == "self") return CelValue(variables.object);
  if (name == "oldObject" || name == "oldSelf") return CelValue(variables.oldObject);
  if (name == "request") return CelValue(variables.request);
  if (name == "params") return CelValue(variables.parameter);
  return CelValue(CelAccess{});
}

CelResult CelEvaluation::defined(const CelNode& node) {
  const CelResult& known = run_.variable(node.name);
  if (!known || isAccess(node.type)) return known;
  return CelValue(&known->get());
}

CelResult CelEvaluation::list(const CelNode& node) {
  if (node.value.is_array()) return CelValue(&node.value);
  Json made = Json::array();
  for (const CelNode& operand : node.operands) {
    auto item = value(operand);
    if (!item) return item;
    made.push_back(item->get());
  }
  return CelValue(std::move(made));
}

CelResult CelEvaluation::field(const CelNode& node) {
  auto map = value(node.operands[0]);
  if (!map) return map;
  if (!map->get().is_object()) return noSuchOverload();
  const auto found = map->get().find(node.name);
  if (found == map->get().end()) return tl::unexpected("no such key: " + node.name);
  return map->partOf(*found);
}

CelResult CelEvaluation::item(const CelNode& node) {
  auto many = value(node.operands[0]);
  if (!many) return many;
  auto key = value(node.operands[1]);
  if (!key) return key;
  const Json& wanted = key->get();
  if (many->get().is_object() && wanted.is_string()) {
    const auto found = many->get().find(wanted.get_ref<const std::string&>());
    if (found == many->get().end()) return tl::unexpected("no such key: " + wanted.get<std::string>());
    return many->partOf(*found);
  }
  if (!many->get().is_array() || !wanted.is_number_integer()) return noSuchOverload();
  const auto index = wanted.get<int64_t>();
  if (index < 0 || index >= static_cast<int64_t>(many->get().size()))
    return tl::unexpected("index out of bounds: " + std::to_string(index));
  return many->partOf(many->get()[static_cast<size_t>(index)]);
}

CelTruth CelEvaluation::has(const CelNode& node) {
  auto map = value(node.operands[0]);
  if (!map) return tl::unexpected(std::move(map.error()));
  if (!map->get().is_object()) return noSuchOverload();
  return map->get().contains(node.name);
}

// Joins texts or lists, or adds integers: all operands are of the first one's type.
CelResult CelEvaluation::sum(const CelNode& node) {
  auto first = value(node.operands[0]);
  if (!first) return first;
  Json made = first->get();
  for (size_t i = 1; i < node.operands.size(); ++i) {
    auto next = value(node.operands[i]);
    if (!next) return next;
    const Json& part = next->get();
    if (made.is_string() && part.is_string())
      made.get_ref<std::string&>() += part.get_ref<const std::string&>();
    else if (made.is_array() && part.is_array())
      made.insert(made.end(), part.begin(), part.end());
    else if (!made.is_number_integer() || !part.is_number_integer())
      return noSuchOverload();
    else if (int64_t total = 0; !__builtin_add_overflow(made.get<int64_t>(), part.get<int64_t>(), &total))
      made = total;
    else
      return tl::unexpected<std::string>("integer overflow");
  }
  return CelValue(std::move(made));
}

CelTruth CelEvaluation::areEqual(const CelNode& node) {
  auto left = value(node.operands[0]);
  auto right = left ? value(node.operands[1]) : left;
  if (!right) return tl::unexpected(std::move(right.error()));
  return left->get() == right->get();
}

CelTruth CelEvaluation::isOrdered(const CelNode& node) {
  const auto left = value(node.operands[0]);
  const auto right = left ? value(node.operands[1]) : left;
  if (!right) return tl::unexpected(right.error());
  const Json& a = left->get();
  const Json& b = right->get();
  const bool areAlike = (a.is_string() && b.is_string()) || (a.is_boolean() && b.is_boolean());
  if (!areAlike && !(a.is_number() && b.is_number())) return noSuchOverload();
  if (node.kind == CelNode::Kind::Less) return a < b;
  if (node.kind == CelNode::Kind::LessOrEqual) return a <= b;
  return node.kind == CelNode::Kind::Greater ? a > b : a >= b;
}

CelTruth CelEvaluation::isIn(const CelNode& node) {
  auto item = value(node.operands[0]);
  if (!item) return tl::unexpected(std::move(item.error()));
  if (node.isSet)
    return item->get().is_string() && node.texts.contains(item->get().get_ref<const std::string&>());
  auto many = value(node.operands[1]);
  if (!many) return tl::unexpected(std::move(many.error()));
  if (many->get().is_object() && item->get().is_string())
    return many->get().contains(item->get().get_ref<const std::string&>());
  if (!many->get().is_array()) return noSuchOverload();
  return std::ranges::find(many->get(), item->get()) != many->get().end();
}

// `decisive` decides, whatever another operand's error is.
CelTruth CelEvaluation::connected(const CelNode& node, bool decisive) {
  CelTruth all = !decisive;
  for (const CelNode& operand : node.operands) {
    auto holds = truth(operand);
    if (holds && *holds == decisive) return decisive;
    if (!holds && all) all = std::move(holds);
  }
  return all;
}

CelResult CelEvaluation::chosen(const CelNode& node) {
  auto condition = truth(node.operands[0]);
  if (!condition) return tl::unexpected(std::move(condition.error()));
  return value(node.operands[*condition ? 1 : 2]);
}

CelResult CelEvaluation::size(const Json& of) const {
  if (of.is_string()) return CelValue(Json(celCharactersIn(of.get_ref<const std::string&>())));
  if (!of.is_array() && !of.is_object()) return noSuchOverload();
  return CelValue(Json(of.size()));
}

CelResult CelEvaluation::call(const CelNode& node) {
  if (node.function == CelFunction::RequestResource)
    return CelValue(CelAccess{run_.variables().authorizer->requestResource});
  auto receiver = value(node.operands[0]);
  if (!receiver) return receiver;
  if (node.function == CelFunction::Size) return size(receiver->get());
  if (node.function == CelFunction::Allowed) return CelValue(Json(receiver->access().allowed));
  auto argument = value(node.operands[1]);
  if (!argument) return argument;
  if (!argument->get().is_string()) return noSuchOverload();
  auto text = argument->get().get<std::string>();
  if (isAccess(node.operands[0].type)) return access(node.function, receiver->access(), std::move(text));
  if (!receiver->get().is_string()) return noSuchOverload();
  const std::string_view of = receiver->get().get_ref<const std::string&>();
  if (node.function == CelFunction::StartsWith) return CelValue(Json(of.starts_with(text)));
  if (node.function == CelFunction::EndsWith) return CelValue(Json(of.ends_with(text)));
  return CelValue(Json(of.find(text) != std::string_view::npos));
}

CelResult CelEvaluation::access(CelFunction function, CelAccess access, std::string text) {
  AccessAttributes& wanted = access.wanted;
  if (std::string* attribute = attributeNamed(function, wanted)) *attribute = std::move(text);
  if (function != CelFunction::Check) return CelValue(std::move(access));
  cost_ += kCostOfCheck;
  isTooCostly_ = isTooCostly_ || cost_ > kMostCostOfExpression || !run_.pay(kCostOfCheck);
  access.allowed = !isTooCostly_ && run_.variables().authorizer->mayDo(wanted);
  return CelValue(std::move(access));
}

CelResult CelEvaluation::itemsOf(const CelNode& node) {
  auto many = value(node.operands[0]);
  if (!many || many->get().is_array()) return many;
  if (!many->get().is_object()) return noSuchOverload();
  Json keys = Json::array();
  for (const auto& [key, item] : many->get().items()) keys.push_back(key);
  return CelValue(std::move(keys));
}

// As connected(), over the items.
CelTruth CelEvaluation::quantified(const CelNode& node, bool decisive) {
  const auto items = itemsOf(node);
  if (!items) return tl::unexpected(items.error());
  CelTruth all = !decisive;
  for (const Json& item : items->get()) {
    const Binding binding(locals_, node.name, &item);
    auto holds = truth(node.operands[1]);
    if (holds && *holds == decisive) return decisive;
    if (!holds && all) all = std::move(holds);
  }
  return all;
}

CelTruth CelEvaluation::isOne(const CelNode& node) {
  const auto found = filtered(node);
  if (!found) return tl::unexpected(found.error());
  return found->get().size() == 1;
}

CelResult CelEvaluation::filtered(const CelNode& node) {
  const auto items = itemsOf(node);
  if (!items) return items;
  Json made = Json::array();
  for (const Json& item : items->get()) {
    const Binding binding(locals_, node.name, &item);
    const auto holds = truth(node.operands[1]);
    if (!holds) return tl::unexpected(holds.error());
    if (*holds) made.push_back(item);
  }
  return CelValue(std::move(made));
}

CelResult CelEvaluation::transformed(const CelNode& node) {
  const auto items = itemsOf(node);
  if (!items) return items;
  Json made = Json::array();
  for (const Json& item : items->get()) {
    const Binding binding(locals_, node.name, &item);
    auto result = value(node.operands[1]);
    if (!result) return result;
    made.push_back(result->get());
  }
  return CelValue(std::move(made));
}

}  // namespace lastout::simulator

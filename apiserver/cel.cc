#include "apiserver/cel.h"

#include <algorithm>
#include <utility>

#include "apiserver/cel_node.h"
#include "kube/quoting.h"

namespace lastout::apiserver {
namespace {

const Json kNullValue = nullptr;
constexpr size_t kShownCel = 400;  // bytes of an expression in an error; printable() shows fewer

// What an expression comes to: a value that lies somewhere, or one that was made.
class CelValue {
 public:
  explicit CelValue(const Json* there) : there_(there == nullptr ? &kNullValue : there) {}
  explicit CelValue(Json made) : made_(std::move(made)) {}
  const Json& get() const { return there_ != nullptr ? *there_ : made_; }

 private:
  const Json* there_ = nullptr;
  Json made_;
};

using CelResult = tl::expected<CelValue, std::string>;

tl::unexpected<std::string> noSuchOverload() { return tl::unexpected<std::string>("no such overload"); }

class CelEvaluation {
 public:
  explicit CelEvaluation(const CelVariables& variables) : variables_(variables) {}

  CelResult value(const CelNode& node) const {
    switch (node.kind) {
      case CelNode::Kind::Constant:
        return CelValue(&node.value);
      case CelNode::Kind::List:
        return list(node);
      case CelNode::Kind::Variable:
        return CelValue(variable(node.name));
      case CelNode::Kind::Field:
        return field(node);
      case CelNode::Kind::Plus:
        return sum(node);
      default:
        break;
    }
    auto held = truth(node);
    if (!held) return tl::unexpected(std::move(held.error()));
    return CelValue(Json(*held));
  }

  tl::expected<bool, std::string> truth(const CelNode& node) const {
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
      case CelNode::Kind::In:
        return isIn(node);
      case CelNode::Kind::Has:
        return has(node);
      default:
        break;
    }
    auto found = value(node);
    if (!found) return tl::unexpected(std::move(found.error()));
    if (!found->get().is_boolean()) return noSuchOverload();
    return found->get().get<bool>();
  }

 private:
  const Json* variable(const std::string& name) const {
    if (name == "object") return variables_.object;
    return name == "oldObject" ? variables_.oldObject : variables_.request;
  }

  CelResult list(const CelNode& node) const {
    if (node.value.is_array()) return CelValue(&node.value);
    Json made = Json::array();
    for (const CelNode& operand : node.operands) {
      auto item = value(operand);
      if (!item) return item;
      made.push_back(item->get());
    }
    return CelValue(std::move(made));
  }

  CelResult field(const CelNode& node) const {
    auto map = value(node.operands[0]);
    if (!map) return map;
    if (!map->get().is_object()) return noSuchOverload();
    const auto found = map->get().find(node.name);
    if (found == map->get().end()) return tl::unexpected("no such key: " + node.name);
    return CelValue(&*found);  // what is made holds no maps
  }

  tl::expected<bool, std::string> has(const CelNode& node) const {
    auto map = value(node.operands[0]);
    if (!map) return tl::unexpected(std::move(map.error()));
    if (!map->get().is_object()) return noSuchOverload();
    return map->get().contains(node.name);
  }

  CelResult sum(const CelNode& node) const {
    std::string made;
    for (const CelNode& operand : node.operands) {
      auto part = value(operand);
      if (!part) return part;
      if (!part->get().is_string()) return noSuchOverload();
      made += part->get().get_ref<const std::string&>();
    }
    return CelValue(Json(std::move(made)));
  }

  tl::expected<bool, std::string> areEqual(const CelNode& node) const {
    auto left = value(node.operands[0]);
    auto right = left ? value(node.operands[1]) : left;
    if (!right) return tl::unexpected(std::move(right.error()));
    return left->get() == right->get();
  }

  tl::expected<bool, std::string> isIn(const CelNode& node) const {
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
  tl::expected<bool, std::string> connected(const CelNode& node, bool decisive) const {
    tl::expected<bool, std::string> all = !decisive;
    for (const CelNode& operand : node.operands) {
      auto holds = truth(operand);
      if (holds && *holds == decisive) return decisive;
      if (!holds && all) all = std::move(holds);
    }
    return all;
  }

  const CelVariables& variables_;
};

}  // namespace

CelExpression::CelExpression(std::string text, std::shared_ptr<const CelNode> root, bool usesRequest)
    : text_(std::move(text)), root_(std::move(root)), usesRequest_(usesRequest) {}

tl::expected<CelExpression, std::string> CelExpression::compile(std::string_view text) {
  auto program = parseCel(text);
  if (!program) return tl::unexpected(std::move(program.error()));
  return CelExpression(std::string(text.substr(0, kShownCel)),
                       std::make_shared<const CelNode>(std::move(program->root)), program->usesRequest);
}

tl::expected<bool, std::string> CelExpression::test(const CelVariables& variables) const {
  auto holds = CelEvaluation(variables).truth(*root_);
  if (holds) return holds;
  return tl::unexpected("expression '" + kube::printable(text_) +
                        "' resulted in error: " + kube::printable(holds.error()));
}

}  // namespace lastout::apiserver

#include "simulator/schema_rules.h"

#include <utility>

#include "simulator/cel_parser.h"
#include "simulator/field_error.h"
#include "simulator/schema.h"

namespace lastout::simulator {
namespace {

// Fields as rules see them: by their names in CEL. Keys of maps stay as they are. `schema` may be nullptr.
Json forRules(const Json* schema, const Json& value) {
  if (value.is_array()) {
    Json made = Json::array();
    for (const Json& item : value)
      made.push_back(forRules(schema == nullptr ? nullptr : at(*schema, {"items"}), item));
    return made;
  }
  if (!value.is_object()) return value;
  const bool hasFields = schema != nullptr && at(*schema, {"properties"}) != nullptr;
  Json made = Json::object();
  for (const auto& [key, member] : value.items())
    if (!member.is_null())
      made[hasFields ? celFieldName(key).value_or(key) : key] =
          forRules(schema == nullptr ? nullptr : memberSchema(*schema, key), member);
  return made;
}

class RuleCheck {
 public:
  std::vector<StatusCause> causes;

  void visit(const Json& schema, const Json& value, const Json* old, const std::string& path) {
    if (value.is_null() || causes.size() >= kMostCauses) return;
    const Json* rules = at(schema, {"x-kubernetes-validations"});
    if (rules != nullptr && rules->is_array()) check(schema, *rules, value, old, path);
    if (const Json* items = at(schema, {"items"}); items != nullptr && value.is_array())
      for (size_t i = 0; i < value.size(); ++i)
        visit(*items, value[i], nullptr, path + "[" + std::to_string(i) + "]");
    if (!value.is_object()) return;
    for (const auto& [key, member] : value.items()) {
      const Json* known = memberSchema(schema, key);
      const Json* former = old == nullptr ? nullptr : at(*old, {key});
      if (known != nullptr) visit(*known, member, former, path.empty() ? key : path + "." + key);
    }
  }

 private:
  struct CompiledRule {
    const Json* rule;
    CelExpression expression;
  };

  // Each schema's rules are compiled once, however many values have it.
  const std::vector<CompiledRule>& compiled(const Json& schema, const Json& rules, bool isRoot) {
    const auto [place, isNew] = compiled_.try_emplace(&schema);
    if (!isNew) return place->second;
    const RuleEnvironment environment(schema, isRoot);
    for (const Json& rule : rules) {
      auto expression = CelExpression::compile(stringAt(rule, {"rule"}), environment.of(CelKind::Bool));
      if (expression && expression->beyond().empty())
        place->second.push_back({&rule, std::move(*expression)});
    }
    return place->second;
  }

  void check(const Json& schema, const Json& rules, const Json& value, const Json* old,
             const std::string& path) {
    const Json self = forRules(&schema, value);
    const Json oldSelf = old == nullptr ? Json() : forRules(&schema, *old);
    for (const auto& [rule, expression] : compiled(schema, rules, path.empty())) {
      if (old == nullptr && expression.uses("oldSelf")) continue;
      const auto holds = expression.test({.object = &self, .oldObject = &oldSelf});
      if (holds && *holds) continue;
      const std::string message(stringAt(*rule, {"message"}));
      const std::string why = !holds            ? holds.error()
                              : message.empty() ? "failed rule: " + std::string(stringAt(*rule, {"rule"}))
                                                : message;
      StatusCause cause =
          invalidField(path.empty() ? "<nil>" : path + std::string(stringAt(*rule, {"fieldPath"})),
                       std::string(stringAt(schema, {"type"})), why);
      if (const std::string_view reason = stringAt(*rule, {"reason"}); !reason.empty()) cause.reason = reason;
      causes.push_back(std::move(cause));
    }
  }

  std::map<const Json*, std::vector<CompiledRule>> compiled_;
};

}  // namespace

std::optional<std::string> celFieldName(std::string_view field) {
  if (isCelReserved(field)) return "__" + std::string(field) + "__";
  std::string made;
  for (size_t i = 0; i < field.size(); ++i) {
    const bool isDouble = field.substr(i).starts_with("__");
    made += isDouble          ? "__underscores__"
            : field[i] == '.' ? "__dot__"
            : field[i] == '-' ? "__dash__"
            : field[i] == '/' ? "__slash__"
                              : std::string(1, field[i]);
    if (isDouble) ++i;
  }
  return isCelIdentifier(made) ? std::optional(made) : std::nullopt;
}

RuleEnvironment::RuleEnvironment(const Json& schema, bool isRoot) {
  names_["self"] = names_["oldSelf"] = typeOf(schema, "self", isRoot);
}

CelEnvironment RuleEnvironment::of(CelType result) const {
  CelEnvironment made;
  made.result = std::move(result);
  made.names = &names_;
  made.objects = &objects_;
  return made;
}

CelType RuleEnvironment::typeOf(const Json& schema, const std::string& name, bool isRoot) {
  const std::string_view type = stringAt(schema, {"type"});
  const std::string_view format = stringAt(schema, {"format"});
  if (trueAt(schema, {"x-kubernetes-int-or-string"})) return {};
  if (type == "boolean") return CelKind::Bool;
  if (type == "integer") return CelKind::Integer;
  if (type == "number") return CelKind::Double;
  if (type == "string")
    return format == "byte"                            ? CelKind::Bytes
           : format == "date" || format == "date-time" ? CelKind::Timestamp
           : format == "duration"                      ? CelKind::Duration
                                                       : CelKind::Text;
  if (type == "array") {
    const Json* items = at(schema, {"items"});
    return CelType::list(items == nullptr ? CelType() : typeOf(*items, name + ".@item", false));
  }
  if (type != "object") return {};
  const Json* properties = at(schema, {"properties"});
  if (const Json* values = at(schema, {"additionalProperties"}); properties == nullptr && values != nullptr)
    return CelType::map(CelKind::Text, typeOf(*values, name + ".@value", false));
  CelNames fields;
  if (properties != nullptr && properties->is_object())
    for (const auto& [key, property] : properties->items())
      if (const auto field = celFieldName(key)) fields[*field] = typeOf(property, name + "." + key, false);
  if (isRoot || trueAt(schema, {"x-kubernetes-embedded-resource"})) {
    fields["apiVersion"] = fields["kind"] = CelKind::Text;
    objects_[name + ".metadata"] = {{"name", CelKind::Text}, {"generateName", CelKind::Text}};
    fields["metadata"] = {CelKind::Object, name + ".metadata"};
  }
  objects_[name] = std::move(fields);
  return {CelKind::Object, name};
}

std::vector<StatusCause> ruleProblems(const Json& schema, const Json& object, const Json* old) {
  RuleCheck all;
  all.visit(schema, object, old, "");
  return std::move(all.causes);
}

}  // namespace lastout::simulator

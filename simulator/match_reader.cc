#include "simulator/match_reader.h"

#include <algorithm>
#include <set>

#include "kube/names.h"
#include "kube/quoting.h"

namespace lastout::simulator {
namespace {

constexpr size_t kMostConditions = 64;  // of one webhook or policy

}  // namespace

void MatchReader::required(const std::string& field, std::string_view why) {
  causes_->push_back(
      {"FieldValueRequired", why.empty() ? "Required value" : "Required value: " + std::string(why), field});
}

void MatchReader::wrong(const std::string& field, std::string_view value, std::string_view why) {
  causes_->push_back(
      {"FieldValueInvalid", "Invalid value: " + kube::inQuotes(value) + ": " + std::string(why), field});
}

void MatchReader::forbidden(const std::string& field, std::string_view why) {
  causes_->push_back({"FieldValueForbidden", "Forbidden: " + std::string(why), field});
}

void MatchReader::duplicate(const std::string& field, std::string_view value) {
  causes_->push_back({"FieldValueDuplicate", "Duplicate value: " + kube::inQuotes(value), field});
}

void MatchReader::tooMany(const std::string& field, size_t count, size_t most) {
  causes_->push_back(
      {"FieldValueTooMany",
       "Too many: " + std::to_string(count) + ": must have at most " + std::to_string(most) + " items",
       field});
}

void MatchReader::notSupported(const std::string& field, std::string_view value,
                               std::initializer_list<std::string_view> supported) {
  std::string list;
  for (const std::string_view each : supported) list += (list.empty() ? "" : ", ") + kube::inQuotes(each);
  causes_->push_back({"FieldValueNotSupported",
                      "Unsupported value: " + kube::inQuotes(value) + ": supported values: " + list, field});
}

std::string MatchReader::word(kube::Fields& fields, std::string_view key,
                              std::initializer_list<std::string_view> choices, std::string_view ifAbsent) {
  const auto given = fields.string(key);
  if (!given) return std::string(ifAbsent);
  if (std::find(choices.begin(), choices.end(), *given) == choices.end())
    notSupported(fields.pathOf(key), *given, choices);
  return *given;
}

kube::RuleWithOperations MatchReader::readRule(kube::Fields& fields) {
  kube::RuleWithOperations rule = kube::readRule(fields);
  const auto checkList = [this, &fields](std::string_view key, const std::vector<std::string>& words) {
    if (words.empty()) required(fields.pathOf(key));
  };
  checkList("operations", rule.operations);
  checkList("apiGroups", rule.groups);
  checkList("apiVersions", rule.versions);
  checkList("resources", rule.resources);
  const auto scopes = {std::string_view("*"), std::string_view("Cluster"), std::string_view("Namespaced")};
  if (std::ranges::find(scopes, rule.scope) == scopes.end())
    notSupported(fields.pathOf("scope"), rule.scope, scopes);
  for (size_t i = 0; i < rule.operations.size(); ++i) {
    static const std::set<std::string, std::less<>> kKnown = {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"};
    if (!kKnown.contains(rule.operations[i]))
      notSupported(fields.pathOf("operations") + "[" + std::to_string(i) + "]", rule.operations[i],
                   {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"});
  }
  return rule;
}

kube::LabelSelector MatchReader::readSelector(kube::Fields& fields, std::string_view key) {
  const kube::Value* given = fields.map(key);
  if (given == nullptr) return {};
  auto selector = kube::parseSelector(*given, "");
  if (selector) return std::move(*selector);
  wrong(fields.pathOf(key), "", selector.error().message);
  return {};
}

std::optional<CelExpression> MatchReader::readExpression(kube::Fields& fields, std::string_view key,
                                                         const CelEnvironment& environment, bool isRequired) {
  const std::string text = fields.string(key).value_or("");
  if (text.find_first_not_of(" \t\n\r") == std::string::npos) {
    if (isRequired) required(fields.pathOf(key));
    return std::nullopt;
  }
  auto expression = CelExpression::compile(text, environment);
  if (expression) return std::move(*expression);
  wrong(fields.pathOf(key), text, "compilation failed: " + expression.error());
  return std::nullopt;
}

std::vector<MatchCondition> MatchReader::readConditions(kube::Fields& fields,
                                                        const CelEnvironment& environment) {
  std::vector<MatchCondition> conditions;
  auto items = fields.items("matchConditions");
  if (items.size() > kMostConditions) {
    tooMany(fields.pathOf("matchConditions"), items.size(), kMostConditions);
    return conditions;
  }
  for (kube::Fields& item : items) {
    const std::string name = item.string("name").value_or("");
    if (name.empty()) {
      required(item.pathOf("name"));
    } else if (!kube::isQualifiedName(name)) {
      wrong(item.pathOf("name"), name,
            "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with "
            "an alphanumeric character");
    } else if (std::ranges::find(conditions, name, &MatchCondition::name) != conditions.end()) {
      duplicate(item.pathOf("name"), name);
    }
    if (auto expression = readExpression(item, "expression", environment))
      conditions.push_back({name, std::move(*expression)});
  }
  return conditions;
}

}  // namespace lastout::simulator

#include "simulator/match_resources.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "kube/messages.h"
#include "kube/names.h"
#include "kube/well_known.h"
#include "simulator/selection.h"

namespace lastout::simulator {
namespace {

// A Namespace is selected by its own labels: those it is to get, and, when it is deleted or one of its
// subresources is written, those it has.
kube::Labels namespaceLabelsOf(const ReviewRequest& request) {
  if (request.type != kube::kNamespaces) return request.namespaceLabels;
  const bool changesItself = request.subresource.empty() && request.object != nullptr;
  const Json* its = changesItself ? request.object : request.oldObject;
  return its != nullptr ? labelsOf(*its) : kube::Labels();
}

bool matchesObject(const kube::LabelSelector& selector, const ReviewRequest& request) {
  if (selector.requirements.empty()) return true;
  const auto selects = [&selector](const Json* object) {
    return object != nullptr && matches(selector, *object);
  };
  return selects(request.object) || selects(request.oldObject);
}

}  // namespace

kube::Labels labelsOf(const Json& object) {
  kube::Labels labels;
  const Json* found = at(object, {"metadata", "labels"});
  if (found == nullptr || !found->is_object()) return labels;
  for (const auto& [key, value] : found->items())
    if (value.is_string()) labels.emplace(key, value.get<std::string>());
  return labels;
}

bool matches(const kube::MatchResources& resources, const ReviewRequest& request) {
  const kube::AdmissionAttributes attributes{.operation = request.operation,
                                             .type = request.type,
                                             .version = request.version,
                                             .subresource = request.subresource,
                                             .namespaceName = request.namespaceName,
                                             .name = request.name};
  return kube::matchesRules(resources, attributes) &&
         (resources.namespaceSelector.requirements.empty() ||
          kube::matchesNamespace(resources, attributes, namespaceLabelsOf(request))) &&
         matchesObject(resources.objectSelector, request);
}

tl::expected<bool, std::string> allHold(const std::vector<MatchCondition>& conditions, CelRun& run) {
  std::string problems;
  for (const MatchCondition& condition : conditions) {
    const auto holds = run.test(condition.expression);
    if (holds && !*holds) return false;
    if (!holds) problems += (problems.empty() ? "" : ", ") + holds.error();
  }
  if (problems.empty()) return true;
  return tl::unexpected(std::move(problems));
}

namespace {

constexpr const char* kAny = "*";

// The groups and resources of the rules; without rules all of them.
std::set<kube::GroupResource> typesOf(const std::vector<kube::RuleWithOperations>& rules) {
  if (rules.empty()) return {{kAny, kAny}};
  std::set<kube::GroupResource> types;
  for (const kube::RuleWithOperations& rule : rules)
    for (const std::string& group : rule.groups)
      for (const std::string& resource : rule.resources)
        types.insert({group, resource.substr(0, resource.find('/'))});
  return types;
}

// The key of a label without which the selector matches nothing; nullptr: it may match without any.
const std::string* neededLabel(const kube::LabelSelector& selector) {
  using Operator = kube::SelectorRequirement::Operator;
  const auto needs = [](const kube::SelectorRequirement& requirement) {
    return requirement.op == Operator::In || requirement.op == Operator::Exists;
  };
  const auto found = std::ranges::find_if(selector.requirements, needs);
  return found == selector.requirements.end() ? nullptr : &found->key;
}

std::set<std::string> labelKeysOf(const ReviewRequest& request) {
  std::set<std::string> keys;
  for (const Json* object : {request.object, request.oldObject}) {
    if (object == nullptr) continue;
    for (const auto& [key, value] : labelsOf(*object)) keys.insert(key);
  }
  return keys;
}

}  // namespace

void MatchIndex::add(const kube::MatchResources& resources, size_t position) {
  const std::string* label = neededLabel(resources.objectSelector);
  for (const kube::GroupResource& type : typesOf(resources.rules)) {
    Positions& positions = byType_[type];
    (label == nullptr ? positions.ofAll : positions.ofLabelled[*label]).push_back(position);
  }
}

std::vector<size_t> MatchIndex::candidates(const ReviewRequest& request) const {
  std::vector<size_t> found;
  const std::set<std::string> labels = labelKeysOf(request);
  const auto take = [&found](const std::vector<size_t>& positions) {
    found.insert(found.end(), positions.begin(), positions.end());
  };
  for (const std::string& group : {request.type.group, std::string(kAny)}) {
    for (const std::string& resource : {request.type.resource, std::string(kAny)}) {
      const auto positions = byType_.find({group, resource});
      if (positions == byType_.end()) continue;
      take(positions->second.ofAll);
      for (const std::string& label : labels)
        if (const auto labelled = positions->second.ofLabelled.find(label);
            labelled != positions->second.ofLabelled.end())
          take(labelled->second);
    }
  }
  std::sort(found.begin(), found.end());  // several of the types may be of one
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

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
  auto expression = CelExpression::accept(text, environment);
  if (expression && !expression->beyond().empty())
    unevaluated_.push_back({fields.pathOf(key), std::string(expression->beyond()), isRequired});
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

std::vector<std::string> MatchReader::warnings(bool failureIsIgnored) const {
  const std::string consequence = failureIsIgnored
                                      ? "it fails for every request, and failurePolicy Ignore leaves it out"
                                      : "it fails for every request, and failurePolicy Fail denies that";
  std::vector<std::string> sentences;
  for (const Unevaluated& each : unevaluated_)
    sentences.push_back(each.field + ": lastout up does not evaluate this expression (" + each.why +
                        "): " + (each.isRequired ? consequence : "denials have the message instead"));
  return sentences;
}

}  // namespace lastout::simulator

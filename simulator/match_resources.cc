#include "simulator/match_resources.h"

#include <algorithm>
#include <set>
#include <string_view>

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

std::string MatchReader::word(kube::Fields& fields, std::string_view key,
                              const std::vector<std::string>& choices, std::string_view ifAbsent) {
  const auto given = fields.string(key);
  if (!given) return std::string(ifAbsent);
  if (std::ranges::find(choices, *given) == choices.end())
    add(notSupported(fields.pathOf(key), *given, choices));
  return *given;
}

// "*" stands for all, and alone.
void MatchReader::checkWords(const std::string& path, const std::vector<std::string>& words,
                             std::string_view what) {
  if (words.empty()) add(requiredField(path));
  if (words.size() > 1 && std::ranges::find(words, kAny) != words.end())
    add(invalidField(path, words, "if '*' is present, must not specify other " + std::string(what)));
}

void MatchReader::checkResources(const std::string& path, const std::vector<std::string>& resources) {
  if (resources.empty()) add(requiredField(path));
  std::set<std::string, std::less<>> ofAny;    // subresources of "*"
  std::set<std::string, std::less<>> withAll;  // resources with all subresources
  bool hasPlain = false;
  for (size_t i = 0; i < resources.size(); ++i) {
    const std::string place = path + "[" + std::to_string(i) + "]";
    const std::string& each = resources[i];
    const size_t slash = each.find('/');
    if (each.empty()) add(requiredField(place));
    if (slash == std::string::npos) {
      if (!each.empty()) hasPlain = each != kAny;
      continue;
    }
    const std::string resource = each.substr(0, slash);
    const std::string subresource = each.substr(slash + 1);
    if (withAll.contains(resource))
      add(invalidField(place, each, "if '" + resource + "/*' is present, must not specify " + each));
    if (ofAny.contains(subresource))
      add(invalidField(place, each, "if '*/" + subresource + "' is present, must not specify " + each));
    if (subresource == kAny) withAll.insert(resource);
    if (resource == kAny) ofAny.insert(subresource);
  }
  const auto has = [&resources](std::string_view one) {
    return std::ranges::find(resources, one) != resources.end();
  };
  if (resources.size() > 1 && has("*/*"))
    add(invalidField(path, resources, "if '*/*' is present, must not specify other resources"));
  if (has(kAny) && hasPlain)
    add(invalidField(path, resources,
                     "if '*' is present, must not specify other resources without subresources"));
}

kube::RuleWithOperations MatchReader::readRule(kube::Fields& fields) {
  kube::RuleWithOperations rule = kube::readRule(fields);
  checkWords(fields.pathOf("operations"), rule.operations, "operations");
  for (size_t i = 0; i < rule.operations.size(); ++i) {
    static const std::vector<std::string> kKnown = {kAny, "CONNECT", "CREATE", "DELETE", "UPDATE"};
    if (std::ranges::find(kKnown, rule.operations[i]) == kKnown.end())
      add(notSupported(fields.pathOf("operations") + "[" + std::to_string(i) + "]", rule.operations[i],
                       kKnown));
  }
  checkWords(fields.pathOf("apiGroups"), rule.groups, "API groups");
  checkWords(fields.pathOf("apiVersions"), rule.versions, "API versions");
  for (size_t i = 0; i < rule.versions.size(); ++i)
    if (rule.versions[i].empty())
      add(requiredField(fields.pathOf("apiVersions") + "[" + std::to_string(i) + "]"));
  checkResources(fields.pathOf("resources"), rule.resources);
  static const std::vector<std::string> kScopes = {kAny, "Cluster", "Namespaced"};
  if (std::ranges::find(kScopes, rule.scope) == kScopes.end())
    add(notSupported(fields.pathOf("scope"), rule.scope, kScopes));
  return rule;
}

kube::LabelSelector MatchReader::readSelector(kube::Fields& fields, std::string_view key) {
  const kube::Value* given = fields.map(key);
  if (given == nullptr) return {};
  const size_t before = causes_->size();
  addSelectorProblems(fields.pathOf(key), kube::toSortedJson(*given), *causes_);
  if (causes_->size() > before) return {};
  auto selector = kube::parseSelector(*given, "");
  if (selector) return std::move(*selector);
  add(invalidField(fields.pathOf(key), "", selector.error().message));
  return {};
}

std::optional<CelExpression> MatchReader::readExpression(kube::Fields& fields, std::string_view key,
                                                         const CelEnvironment& environment, bool isRequired,
                                                         std::string_view whyRequired) {
  const std::string text = fields.string(key).value_or("");
  if (text.find_first_not_of(" \t\n\r") == std::string::npos) {
    if (isRequired)
      add(requiredField(fields.pathOf(key), whyRequired));
    else if (!text.empty())
      add(invalidField(fields.pathOf(key), text, "must be non-empty if specified"));
    return std::nullopt;
  }
  auto expression = CelExpression::compile(text, environment);
  if (!expression) {
    add(invalidField(fields.pathOf(key), text, expression.error()));
    return std::nullopt;
  }
  if (!expression->beyond().empty())
    unevaluated_.push_back({fields.pathOf(key), std::string(expression->beyond()), isRequired});
  return std::move(*expression);
}

std::vector<MatchCondition> MatchReader::readConditions(kube::Fields& fields,
                                                        const CelEnvironment& environment) {
  std::vector<MatchCondition> conditions;
  auto items = fields.items("matchConditions");
  if (items.size() > kMostConditions) {
    add(tooMany(fields.pathOf("matchConditions"), items.size(), kMostConditions));
    return conditions;
  }
  std::set<std::string, std::less<>> names;
  for (kube::Fields& item : items) {
    auto expression = readExpression(item, "expression", environment);
    const std::string name = item.string("name").value_or("");
    if (name.empty()) {
      add(requiredField(item.pathOf("name")));
    } else {
      for (const std::string& problem : qualifiedNameProblems(name))
        add(invalidField(item.pathOf("name"), name, problem));
      if (!names.insert(name).second) add(duplicateField(item.pathOf("name"), name));
    }
    if (expression) conditions.push_back({name, std::move(*expression)});
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

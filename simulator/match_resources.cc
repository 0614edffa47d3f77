#include "simulator/match_resources.h"

#include <algorithm>

#include "simulator/field_selector.h"

namespace lastout::simulator {
namespace {

bool matchesOne(const std::vector<std::string>& patterns, std::string_view word) {
  return std::ranges::any_of(
      patterns, [word](const std::string& pattern) { return pattern == "*" || pattern == word; });
}

// "*" is any type without its subresources, "*/*" with them.
bool matchesResourceRule(const std::vector<std::string>& patterns, const ReviewRequest& request) {
  return std::ranges::any_of(patterns, [&request](std::string_view pattern) {
    const size_t slash = pattern.find('/');
    const std::string_view resource = pattern.substr(0, slash);
    const std::string_view subresource =
        slash == std::string_view::npos ? std::string_view() : pattern.substr(slash + 1);
    return (resource == "*" || resource == request.type.resource) &&
           (subresource == "*" || subresource == request.subresource);
  });
}

bool isOfNamespaces(const ReviewRequest& request) {
  return request.type.group.empty() && request.type.resource == "namespaces";
}

bool matchesScope(std::string_view scope, const ReviewRequest& request) {
  if (scope == "*") return true;
  const bool namespaced = !isOfNamespaces(request) && !request.namespaceName.empty();
  return (scope == "Namespaced") == namespaced;
}

bool matchesName(const std::vector<std::string>& names, const ReviewRequest& request) {
  return std::ranges::find(names, request.name) != names.end();
}

bool matchesRule(const RuleWithOperations& rule, const ReviewRequest& request) {
  return matchesScope(rule.scope, request) && matchesOne(rule.operations, request.operation) &&
         matchesOne(rule.groups, request.type.group) && matchesOne(rule.versions, request.version) &&
         matchesResourceRule(rule.resources, request) &&
         (rule.names.empty() || matchesName(rule.names, request));
}

// A Namespace is selected by its own labels: those it is to get, and, when it is deleted or one of its
// subresources is written, those it has.
bool matchesNamespace(const kube::LabelSelector& selector, const ReviewRequest& request) {
  if (selector.requirements.empty()) return true;
  if (!isOfNamespaces(request))
    return request.namespaceName.empty() || selector.matches(request.namespaceLabels);
  const bool changesItself = request.subresource.empty() && request.object != nullptr;
  const Json* its = changesItself ? request.object : request.oldObject;
  return its != nullptr ? matches(selector, *its) : selector.matches({});
}

bool matchesObject(const kube::LabelSelector& selector, const ReviewRequest& request) {
  if (selector.requirements.empty()) return true;
  const auto selects = [&selector](const Json* object) {
    return object != nullptr && matches(selector, *object);
  };
  return selects(request.object) || selects(request.oldObject);
}

bool matchesOneRule(const std::vector<RuleWithOperations>& rules, const ReviewRequest& request) {
  return std::ranges::any_of(
      rules, [&request](const RuleWithOperations& rule) { return matchesRule(rule, request); });
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

bool matches(const MatchResources& resources, const ReviewRequest& request) {
  return (resources.rules.empty() || matchesOneRule(resources.rules, request)) &&
         !matchesOneRule(resources.excluded, request) &&
         matchesNamespace(resources.namespaceSelector, request) &&
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

}  // namespace lastout::simulator

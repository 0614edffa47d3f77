#include "kube/match_resources.h"

#include <algorithm>

#include "kube/well_known.h"

namespace lastout::kube {
namespace {

bool matchesOne(const std::vector<std::string>& patterns, std::string_view word) {
  return std::ranges::any_of(
      patterns, [word](const std::string& pattern) { return pattern == "*" || pattern == word; });
}

// "*" is any type without its subresources, "*/*" with them.
bool matchesResource(const std::vector<std::string>& patterns, const AdmissionAttributes& request) {
  return std::ranges::any_of(patterns, [&request](std::string_view pattern) {
    const size_t slash = pattern.find('/');
    const std::string_view resource = pattern.substr(0, slash);
    const std::string_view subresource =
        slash == std::string_view::npos ? std::string_view() : pattern.substr(slash + 1);
    return (resource == "*" || resource == request.type.resource) &&
           (subresource == "*" || subresource == request.subresource);
  });
}

// A Namespace is cluster-scoped, whatever the request says of its namespace.
bool matchesScope(std::string_view scope, const AdmissionAttributes& request) {
  if (scope == "*") return true;
  const bool namespaced = request.type != kNamespaces && !request.namespaceName.empty();
  return (scope == "Namespaced") == namespaced;
}

bool matchesRule(const RuleWithOperations& rule, const AdmissionAttributes& request) {
  return matchesScope(rule.scope, request) && matchesOne(rule.operations, request.operation) &&
         matchesOne(rule.groups, request.type.group) &&
         (request.version.empty() || matchesOne(rule.versions, request.version)) &&
         matchesResource(rule.resources, request) &&
         (rule.names.empty() || std::ranges::find(rule.names, request.name) != rule.names.end());
}

bool matchesOneRule(const std::vector<RuleWithOperations>& rules, const AdmissionAttributes& request) {
  return std::ranges::any_of(
      rules, [&request](const RuleWithOperations& rule) { return matchesRule(rule, request); });
}

}  // namespace

RuleWithOperations readRule(Fields& fields) {
  RuleWithOperations rule;
  rule.operations = fields.strings("operations");
  rule.groups = fields.strings("apiGroups");
  rule.versions = fields.strings("apiVersions");
  rule.resources = fields.strings("resources");
  rule.scope = fields.string("scope").value_or("*");
  return rule;
}

bool matchesRules(const MatchResources& resources, const AdmissionAttributes& request) {
  return (resources.rules.empty() || matchesOneRule(resources.rules, request)) &&
         !matchesOneRule(resources.excluded, request);
}

bool matchesNamespace(const MatchResources& resources, const AdmissionAttributes& request,
                      const Labels& labels) {
  return (request.type != kNamespaces && request.namespaceName.empty()) ||
         resources.namespaceSelector.matches(labels);
}

}  // namespace lastout::kube

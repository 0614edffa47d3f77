#include "server/policy_terms.h"

#include <algorithm>
#include <string>

#include "kube/text_at.h"
#include "server/list_at.h"

namespace lastout::server {
namespace {

bool contains(const kube::Value& value, std::string_view list, std::string_view word) {
  return std::ranges::any_of(listAt(value, {list}), [&](const kube::Value& each) {
    return each.asString() != nullptr && *each.asString() == word;
  });
}

bool isEmpty(const kube::Value* value) {
  if (value == nullptr || value->isNull()) return true;
  if (value->asMap() != nullptr) return value->asMap()->empty();
  return value->asList() != nullptr && value->asList()->empty();
}

bool isAboutEverything(const kube::Value& rule) {
  const std::string scope = kube::textAt(rule, {"scope"});
  const bool isOfWrites = contains(rule, "operations", "*") ||
                          (contains(rule, "operations", "CREATE") && contains(rule, "operations", "UPDATE"));
  return isOfWrites && contains(rule, "apiGroups", "*") && contains(rule, "apiVersions", "*") &&
         contains(rule, "resources", "*/*") && isEmpty(rule.find("resourceNames")) &&
         (scope.empty() || scope == "*");
}

bool isAboutEveryWrite(const kube::Value& policy) {
  const kube::Value* constraints = policy.at({"spec", "matchConstraints"});
  if (constraints == nullptr) return false;
  for (const char* narrower : {"namespaceSelector", "objectSelector", "excludeResourceRules"}) {
    if (!isEmpty(constraints->find(narrower))) return false;
  }
  return std::ranges::any_of(listAt(*constraints, {"resourceRules"}), isAboutEverything);
}

bool areThese(const kube::Value::List& parts, const std::vector<std::string_view>& expressions) {
  return std::ranges::equal(parts, expressions, {},
                            [](const kube::Value& part) { return kube::textAt(part, {"expression"}); });
}

}  // namespace

const PolicyTerms& deleteWhenFreeTerms() {
  static const PolicyTerms kTerms{
      "lastout-delete-when-free",
      {R"(object != null && has(object.metadata) && has(object.metadata.annotations) &&
'lastout.dev/delete-when-free' in object.metadata.annotations)",
       R"(oldObject == null || !has(oldObject.metadata) || !has(oldObject.metadata.annotations) ||
!('lastout.dev/delete-when-free' in oldObject.metadata.annotations) ||
object.metadata.annotations['lastout.dev/delete-when-free'] !=
  oldObject.metadata.annotations['lastout.dev/delete-when-free'])"},
      {"has(request.name) ? request.name : ''", "has(request.namespace) ? request.namespace : ''"},
      {R"(authorizer.group(request.resource.group).resource(request.resource.resource).namespace(variables.namespace)
  .name(variables.name).check('delete').allowed())"}};
  return kTerms;
}

bool says(const kube::Value& policy, const PolicyTerms& terms) {
  return kube::textAt(policy, {"spec", "failurePolicy"}) != "Ignore" && isAboutEveryWrite(policy) &&
         areThese(listAt(policy, {"spec", "matchConditions"}), terms.conditions) &&
         areThese(listAt(policy, {"spec", "variables"}), terms.variables) &&
         areThese(listAt(policy, {"spec", "validations"}), terms.validations);
}

}  // namespace lastout::server

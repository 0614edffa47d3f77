#include "protection/force_guard.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "kube/value.h"
#include "protection/cel.h"
#include "protection/cel_parts.h"

namespace lastout::protection {
namespace {

using kube::OrderedJson;

constexpr const char* kCreates = "request.operation == 'CREATE'";
// Empty for a cluster-scoped object, whose children can be in any namespace: that checks all of them.
constexpr const char* kInNamespace = ".namespace(variables.objectNamespace)";

std::string setsForce(const Force& force) {
  return "(" + celOf(force.key, kNew) + ") && (" + kCreates + " || !(" + celOf(force.key, kOld) + "))";
}

std::string setsConfirmation(const std::string& annotation) {
  const KeyTest test{KeyTest::MetadataField::Annotation, annotation, {}};
  const std::string value = ".metadata.annotations[" + celLiteral(annotation) + "]";
  return "(" + celOf(test, kNew) + ") && (" + kCreates + " || !(" + celOf(test, kOld) + " && object" + value +
         " == oldObject" + value + "))";
}

// `where`: the namespace and the name that are checked. Without a namespace: all of them.
std::string mayDelete(const std::string& type, const std::string& where) {
  return "authorizer" + type + where + ".check('delete').allowed()";
}

OrderedJson validation(const std::string& expression, const std::string& message) {
  return {{"expression", expression}, {"message", message}, {"reason", "Forbidden"}};
}

OrderedJson guardRules(const DeletionPolicy& policy) {
  OrderedJson rules = OrderedJson::array();
  std::set<kube::GroupResource> seen;
  for (const Selection& selection : policy.objects) {
    for (const ResourcePattern& pattern : selection.resources) {
      if (!seen.insert({pattern.group, pattern.resource}).second) continue;
      rules.push_back({{"apiGroups", {pattern.group}},
                       {"apiVersions", {"*"}},
                       {"operations", {"CREATE", "UPDATE"}},
                       {"resources", {pattern.resource, pattern.resource + "/*"}},
                       {"scope", "*"}});
    }
  }
  return rules;
}

}  // namespace

std::vector<OrderedJson> forceGuardOf(const DeletionPolicy& policy) {
  if (!policy.hold || !policy.hold->force || !policy.hold->force->requiresDelete) return {};
  const Hold& hold = *policy.hold;
  const bool confirms = !hold.confirmAnnotation.empty();
  const std::string& force = hold.force->key.key;
  std::string sets = setsForce(*hold.force);
  if (confirms) sets = "(" + sets + ") || (" + setsConfirmation(hold.confirmAnnotation) + ")";
  OrderedJson variables = {
      {{"name", "objectNamespace"},
       {"expression", "has(object.metadata.namespace) ? object.metadata.namespace : ''"}},
      {{"name", "name"}, {"expression", "has(object.metadata.name) ? object.metadata.name : ''"}}};
  OrderedJson validations = OrderedJson::array();
  validations.push_back(
      validation(mayDelete(".group(request.resource.group).resource(request.resource.resource)",
                           std::string(kInNamespace) + ".name(variables.name)"),
                 "whoever sets annotation " + force + (confirms ? " or " + hold.confirmAnnotation : "") +
                     " must be allowed to delete the object"));
  if (confirms) {
    variables.push_back({{"name", "confirms"}, {"expression", setsConfirmation(hold.confirmAnnotation)}});
    for (const auto& [type, isAnywhere] : typesOfChildren(policy))
      validations.push_back(validation(
          "!variables.confirms || " +
              mayDelete(".group(" + celLiteral(type.group) + ").resource(" + celLiteral(type.resource) + ")",
                        isAnywhere ? "" : kInNamespace),
          "whoever sets annotation " + hold.confirmAnnotation + " must be allowed to delete " +
              toString(type) + (isAnywhere ? " in all namespaces" : "") + ", which go with the object"));
  }
  OrderedJson spec{
      {"failurePolicy", "Fail"},
      {"matchConstraints", {{"matchPolicy", "Equivalent"}, {"resourceRules", guardRules(policy)}}},
      {"matchConditions", {{{"name", "sets-an-annotation"}, {"expression", sets}}}},
      {"variables", std::move(variables)},
      {"validations", std::move(validations)}};
  return withBinding(policy, forceGuardName(policy), std::move(spec));
}

}  // namespace lastout::protection

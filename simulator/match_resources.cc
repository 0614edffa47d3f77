#include "simulator/match_resources.h"

#include "kube/well_known.h"
#include "simulator/field_selector.h"

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

}  // namespace lastout::simulator

// MatchResources: which requests a webhook, a policy or a policy's binding concerns.
#pragma once

#include <string>
#include <vector>

#include "kube/selector.h"
#include "simulator/admission_review.h"
#include "simulator/cel.h"
#include "simulator/json.h"

namespace lastout::simulator {

struct RuleWithOperations {
  std::vector<std::string> operations;
  std::vector<std::string> groups;
  std::vector<std::string> versions;
  std::vector<std::string> resources;  // "pods", "pods/*", "*/status", "*", "*/*"
  std::string scope = "*";             // "Cluster", "Namespaced"
  // Of policies; none: any. A request that names no object, as in a deletecollection, matches no name.
  std::vector<std::string> names;
};

struct MatchResources {
  std::vector<RuleWithOperations> rules;
  std::vector<RuleWithOperations> excluded;  // of policies
  kube::LabelSelector namespaceSelector;
  kube::LabelSelector objectSelector;
};

// A further condition for a request to be sent, or to be validated.
struct MatchCondition {
  std::string name;
  CelExpression expression;
};

// metadata.labels, as selectors look at them.
kube::Labels labelsOf(const Json& object);

// Whether one of the rules (where there are any), none of the excluded ones, and both selectors match.
bool matches(const MatchResources& resources, const ReviewRequest& request);

// Whether every condition holds. One that is false decides; otherwise fails with the words of all that cannot
// be evaluated. https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
// #matching-requests-matchconditions
tl::expected<bool, std::string> allHold(const std::vector<MatchCondition>& conditions, CelRun& run);

}  // namespace lastout::simulator

// Whether a webhook, a policy or a policy's binding concerns a request: kube::MatchResources and further
// conditions.
#pragma once

#include <string>
#include <vector>

#include "kube/match_resources.h"
#include "kube/object.h"
#include "simulator/admission_review.h"
#include "simulator/cel.h"
#include "simulator/json.h"

namespace lastout::simulator {

// A further condition for a request to be sent, or to be validated.
struct MatchCondition {
  std::string name;
  CelExpression expression;
};

// metadata.labels, as selectors look at them.
kube::Labels labelsOf(const Json& object);

// Whether one of the rules (where there are any), none of the excluded ones, and both selectors match.
bool matches(const kube::MatchResources& resources, const ReviewRequest& request);

// Whether every condition holds. One that is false decides; otherwise fails with the words of all that cannot
// be evaluated. https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
// #matching-requests-matchconditions
tl::expected<bool, std::string> allHold(const std::vector<MatchCondition>& conditions, CelRun& run);

}  // namespace lastout::simulator

#include "protection/replay_plan.h"

#include <algorithm>

namespace lastout::protection {

ReplayPlan planReplay(const ReplayFacts& facts) {
  using Action = ReplayPlan::Action;
  if (!facts.isAsked) return {};
  if (facts.isGuarded) return {Action::Look, kLookAtAnnotationAgain};
  if (!facts.doubt) return {Action::Look, kLookAtDoubtAgain};
  if (!facts.doubt->empty()) return {Action::Ignore, kLookAtAnnotationAgain};
  if (!facts.isListed) return {Action::Delete, std::nullopt};
  const std::chrono::seconds left(std::max<int64_t>(facts.until - facts.now, 1));
  return {Action::Wait, std::min(left, kLookAtAnnotationAgain)};
}

bool isListed(const std::vector<const DeletionPolicy*>& policies, const Request& request,
              const Facts& facts) {
  return std::any_of(policies.begin(), policies.end(), [&](const DeletionPolicy* policy) {
    if (!policy->listedBy || !concerns(*policy, request.object, request.meta->labels)) return false;
    const Listers listers = facts.listers(*policy->listedBy, request);
    return listers.unknown || listers.count > 0;
  });
}

}  // namespace lastout::protection

#include "protection/policy_set.h"

#include <algorithm>
#include <utility>

namespace lastout::protection {
namespace {

bool isOfAny(const DeletionPolicy& policy) {
  return policy.listedBy || std::ranges::any_of(policy.objects, [](const Selection& selection) {
           return std::ranges::any_of(selection.resources, [](const ResourcePattern& pattern) {
             return pattern.group == "*" || pattern.resource == "*";
           });
         });
}

}  // namespace

PolicySet::PolicySet(std::vector<DeletionPolicy> policies) : policies_(std::move(policies)) {
  for (size_t i = 0; i < policies_.size(); ++i) {
    if (isOfAny(policies_[i])) {
      ofAny_.push_back(i);
      continue;
    }
    for (const Selection& selection : policies_[i].objects) {
      for (const ResourcePattern& pattern : selection.resources) {
        std::vector<size_t>& those = ofType_[{pattern.group, pattern.resource}];
        if (those.empty() || those.back() != i) those.push_back(i);
      }
    }
  }
}

std::vector<const DeletionPolicy*> PolicySet::about(const kube::GroupResource& type) const {
  std::vector<size_t> those = ofAny_;
  if (const auto found = ofType_.find(type); found != ofType_.end())
    those.insert(those.end(), found->second.begin(), found->second.end());
  std::ranges::sort(those);
  std::vector<const DeletionPolicy*> policies;
  policies.reserve(those.size());
  for (const size_t one : those) policies.push_back(&policies_[one]);
  return policies;
}

}  // namespace lastout::protection

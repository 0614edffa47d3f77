// PolicySet: DeletionPolicies by the types that they may be about.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "kube/object_key.h"
#include "protection/policy.h"

namespace lastout::protection {

// Does not change: any number of threads may read it.
class PolicySet {
 public:
  explicit PolicySet(std::vector<DeletionPolicy> policies);
  PolicySet(const PolicySet&) = delete;
  PolicySet& operator=(const PolicySet&) = delete;

  const std::vector<DeletionPolicy>& all() const { return policies_; }
  // Returns those whose types include this one, and all that go by what other objects list; in the order of
  // all().
  std::vector<const DeletionPolicy*> about(const kube::GroupResource& type) const;

 private:
  std::vector<DeletionPolicy> policies_;
  std::unordered_map<kube::GroupResource, std::vector<size_t>> ofType_;
  std::vector<size_t> ofAny_;  // with a "*" among their types, or listedBy
};

}  // namespace lastout::protection

// ImpliedProtection: a Namespace stays while a protected object is in it, and a CRD while one of its
// instances is protected (docs/decisions/implied-namespaces.md).
#pragma once

#include <vector>

#include "protection/evaluate.h"
#include "server/review/policy_reads.h"
#include "server/watch/live_view.h"
#include "server/watch/policy_view.h"

namespace lastout::server {

// Objects of one type that one review goes through, and other objects that it reads for their sake.
inline constexpr size_t kMostImpliedObjects = 5'000;
inline constexpr size_t kMostImpliedReads = 256;

// Objects of the type hold others: it is that of Namespaces, or of CRDs.
bool mayHoldProtected(const kube::GroupResource& type);

// Keeps references to all of its arguments.
class ImpliedProtection {
 public:
  ImpliedProtection(const LiveView& live, PolicyView& view, const PolicyReads& reads)
      : live_(live), view_(view), reads_(reads) {}

  // For each policy that protects an object in the Namespace, or an instance of the CRD, that is to be
  // deleted, one denial, which names one such object; or which type could not be read until `deadline`. An
  // ancestor that would let one of them go is read once more.
  std::vector<protection::Denial> judge(const PolicySet& policies, const protection::Request& request,
                                        TimePoint deadline) const;
  // The same of what does not keep it from being deleted, but from being gone: what policies hold in it once
  // their DELETE was accepted; and, where they ignore a Namespace, objects in it that the controller that
  // empties it may not delete. Up to protection::kMostHeldTold objects of each policy.
  std::vector<protection::Denial> holds(const PolicySet& policies, const protection::Request& request,
                                        TimePoint deadline) const;

 private:
  const LiveView& live_;
  PolicyView& view_;
  const PolicyReads& reads_;
};

}  // namespace lastout::server

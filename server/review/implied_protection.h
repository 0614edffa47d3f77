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

// Returns true if the type is Namespaces or CRDs, whose objects contain others.
bool mayHoldProtected(const kube::GroupResource& type);

// What policies say to one request.
struct PolicyVerdict {
  std::vector<protection::Denial> denials;  // empty: no policy blocks it
  // For each policy with namespaces: Imply which types lastout may not list, so that what the policy protects
  // among their objects is not known, and does not keep the Namespace.
  std::vector<protection::Denial> unseen;
};

// Keeps references to all of its arguments.
class ImpliedProtection {
 public:
  ImpliedProtection(const LiveView& live, PolicyView& view, const PolicyReads& reads)
      : live_(live), view_(view), reads_(reads) {}

  // Returns one denial for each policy that protects an object in the Namespace, or an instance of the CRD,
  // that is to be deleted; it names one such object, or the type that could not be read until `deadline`.
  // Reads an ancestor that would free an object from the API server.
  PolicyVerdict judge(const PolicySet& policies, const protection::Request& request,
                      TimePoint deadline) const;
  // Returns a denial for each object that keeps an accepted deletion of the container from finishing: objects
  // in it that policies hold by a finalizer, and, if a policy ignores the Namespace or that is being deleted,
  // objects that the namespace controller may not delete. At most protection::kMostHeldTold objects of each
  // policy.
  std::vector<protection::Denial> holds(const PolicySet& policies, const protection::Request& request,
                                        TimePoint deadline) const;

 private:
  const LiveView& live_;
  PolicyView& view_;
  const PolicyReads& reads_;
};

}  // namespace lastout::server

// PolicyReviews: what DeletionPolicies say to a review, as far as the webhook judges them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admission/review.h"
#include "protection/evaluate.h"
#include "protection/placement.h"
#include "server/review/policy_reads.h"
#include "server/watch/live_view.h"
#include "server/watch/policy_view.h"

namespace lastout::server {

// Returns the denial of a DELETE of which nobody can say whether a policy blocks it.
protection::Denial protectionUnknown(const kube::ObjectKey& object, const std::string& why);

// Safe for any number of threads.
class PolicyReviews {
 public:
  // `live`: which types there are.
  PolicyReviews(const std::shared_ptr<client::Access>& access, const LiveView& live, PolicyView& view,
                protection::PolicyMode mode)
      : live_(live), view_(view), mode_(mode), reads_(access) {}

  // What a review has to keep of a request for judge().
  admission::Kept kept() const {
    return view_.mayHaveAny() ? admission::Kept::Objects : admission::Kept::Deletion;
  }
  // Each policy that blocks it, by name; empty: none does. Without a policy's name: whether one does cannot
  // be found out. Waits for the API server where other objects would let it pass (ConfirmedFacts), or a
  // Namespace or a CRD may hold protected objects, until `deadline`.
  std::vector<protection::Denial> judge(const admission::Review& review, TimePoint deadline) const;
  // What keeps the object by its finalizer once its DELETE was accepted, as far as is known; of a Namespace
  // or a CRD also what it holds, which is read until `deadline`.
  std::vector<protection::Denial> holds(const admission::Review& review, TimePoint deadline) const;
  // Ends what is under way; from now on nothing is read.
  void stop() { reads_.stop(); }

 private:
  struct Asked;
  using Policies = std::vector<const protection::DeletionPolicy*>;

  std::optional<Asked> understand(const admission::Review& review, std::string& problem) const;
  std::vector<protection::Denial> judgeAll(const Policies& policies, const protection::Request& request,
                                           TimePoint deadline) const;

  const LiveView& live_;
  PolicyView& view_;
  const protection::PolicyMode mode_;
  PolicyReads reads_;
};

}  // namespace lastout::server

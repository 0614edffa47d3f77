// PolicyReviewer: what DeletionPolicies say to a review, as far as the webhook judges them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admission/review.h"
#include "protection/evaluate.h"
#include "protection/placement.h"
#include "server/review/implied_protection.h"
#include "server/review/policy_reads.h"
#include "server/watch/live_view.h"
#include "server/watch/policy_view.h"

namespace lastout::server {

// Returns the denial of a DELETE if it is unknown whether a policy blocks it.
protection::Denial protectionUnknown(const kube::ObjectKey& object, const std::string& why);

// Safe for any number of threads.
class PolicyReviewer {
 public:
  // `live`: which types there are.
  PolicyReviewer(const std::shared_ptr<client::Access>& access, const LiveView& live, PolicyView& view,
                 protection::PolicyMode mode)
      : live_(live), view_(view), mode_(mode), reads_(access) {}

  // What a review has to keep of a request for judge().
  admission::Kept kept() const {
    return view_.mayHaveAny() ? admission::Kept::Objects : admission::Kept::Deletion;
  }
  // Returns a denial for each policy that blocks the request, by name. A denial without a policy's name: it
  // is unknown whether one does. Reads from the API server until `deadline` if other objects would allow the
  // request (ConfirmedFacts), or if a Namespace or a CRD may contain protected objects.
  PolicyVerdict judge(const admission::Review& review, TimePoint deadline) const;
  // Returns which policies hold the object by a finalizer once its DELETE is accepted, as far as is known;
  // for a Namespace or a CRD also the held objects in it, which are read until `deadline`.
  std::vector<protection::Denial> holds(const admission::Review& review, TimePoint deadline) const;
  // Returns what the writer of a DeletionPolicy should know although it is accepted: that lastout does not
  // understand it, or that it names types that the cluster does not serve. Empty for other requests.
  std::vector<std::string> warnings(const admission::Review& review) const;
  // Ends the reads under way; from now on reads fail.
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

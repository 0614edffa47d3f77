// ReviewHandler: answers the API server's AdmissionReviews: the verdicts on DELETEs, and the problems of a
// CriticalService that is written.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/review.h"
#include "admission/service_changes.h"
#include "net/http_message.h"
#include "server/controllers/deferred_deletion_store.h"
#include "server/review/authorization.h"
#include "server/review/confirmed_verdict.h"
#include "server/review/confirming_reads.h"
#include "server/review/current_services.h"
#include "server/review/policy_reviewer.h"
#include "server/watch/live_view.h"

namespace lastout::server {

struct ReviewHandlerOptions {
  // The code of a denied DELETE: 403, or 429 for people, whose kubectl then waits and retries by itself.
  // Users of the system, service accounts included, always get 403, because the wait would occupy a
  // controller's worker.
  int denyStatus = 403;
  bool auditOnly = false;  // verdicts are logged, and everything is allowed
  // For a whole review, whatever it waits for, and so less than the webhook's timeoutSeconds.
  std::chrono::milliseconds budget{3'500};
  // For reading the CriticalServices, which are few: a DELETE of an unguarded object does not wait long for a
  // slow API server, and the rest of the budget is left for the objects that criteria name.
  std::chrono::milliseconds servicesPatience{1'000};
  const PolicyReviewer* policies = nullptr;  // nullptr: no DeletionPolicies are followed
  bool personsCount = false;                 // of what is deferred, as of Requesters
  // Records denied deletions, and advises how to ask for them; nullptr: nothing is recorded.
  DeferredDeletionStore* deferredDeletions = nullptr;
};

// One verdict, for the log and the metrics.
struct ReviewResult {
  std::string uid;  // of the review
  admission::Operation operation = admission::Operation::Delete;
  kube::ObjectKey object;
  std::string user;
  bool dryRun = false;
  bool allowed = true;
  bool enforced = true;  // false: it was allowed all the same (auditOnly)
  admission::Reason reason = admission::Reason::NotGuarded;
  std::string message;     // of a denial
  uint64_t revision = 0;   // of the graph that a denial was found in
  bool confirmed = false;  // it was read once more from the API server
  std::chrono::microseconds took{0};
};

// Safe for any number of threads.
class ReviewHandler {
 public:
  using Observer = std::function<void(const ReviewResult& verdict)>;

  ReviewHandler(LiveView& view, ConfirmingReads& reads, CurrentServices& services, const ObjectRights& rights,
                ReviewHandlerOptions options, Observer observer);

  // The answer to a POST of an AdmissionReview: 200 with the verdict, or 400 or 413 for what is no review.
  net::HttpResponse answer(const net::HttpRequest& request) const;

 private:
  struct Outcome {
    bool allowed = true;
    admission::Reason reason = admission::Reason::NotGuarded;
    admission::Explanation explanation;  // of a denial
    std::vector<std::string> warnings;
    bool confirmed = false;  // it was read once more from the API server
  };

  Outcome judge(const admission::Review& review, TimePoint deadline) const;
  Outcome judgeDelete(const admission::Review& review, TimePoint deadline) const;
  std::vector<std::string> heldTooRecentlyWarning(const admission::Review& review,
                                                  admission::DeletionEffect deletionEffect) const;
  admission::DeletionEffect deletionEffectOf(const admission::Review& review, TimePoint now) const;
  Outcome judgeByWatch(const kube::ObjectKey& object, admission::DeletionEffect deletionEffect,
                       TimePoint deadline, std::optional<ConfirmingReads::Asked> asked = std::nullopt) const;
  // What the CriticalServices of the API server say about an object, beyond those that the watch has shown.
  struct Comparison {
    std::optional<std::string> missed;  // why the object must stay
    bool wereRead = false;              // by the API server's word, not by this replica's alone
  };
  Comparison compareWithServices(const kube::ObjectKey& object, TimePoint deadline) const;
  bool isMissing(const kube::ObjectKey& object, TimePoint deadline) const;
  Outcome judgeService(const admission::Review& review, TimePoint deadline) const;
  struct Written;
  Written look(const admission::Review& review) const;
  void confirmMet(const std::vector<criticalservice::Criterion>& givenUp, TimePoint deadline,
                  Outcome& outcome) const;
  // Returns the denial of a write for which the user lacks a right; nullopt: the user lacks none.
  std::optional<Outcome> lackOfRights(const admission::Review& review,
                                      const std::vector<admission::NeededRight>& rights,
                                      TimePoint deadline) const;
  Outcome judgeScaling(const admission::Review& review, TimePoint deadline) const;
  Outcome unconfirmed(const kube::ObjectKey& object, std::string_view why,
                      admission::DeletionEffect deletionEffect = admission::DeletionEffect::Ending) const;
  int codeFor(const admission::Review& review) const;
  admission::ReviewAnswer answerOf(const admission::Review& review, Outcome& outcome,
                                   const std::vector<protection::Denial>& protections,
                                   std::vector<std::string>& words) const;

  LiveView& view_;
  ConfirmingReads& reads_;
  CurrentServices& services_;
  const ObjectRights& rights_;
  mutable AllowedServices allowedServices_;
  const ReviewHandlerOptions options_;
  const Observer observer_;
};

}  // namespace lastout::server

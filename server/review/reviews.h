// Reviews: what lastout answers the API server: its verdicts on DELETEs, and what is wrong with a
// CriticalService.
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
#include "server/review/policy_reviews.h"
#include "server/watch/live_view.h"

namespace lastout::server {

struct ReviewsOptions {
  // Of a denied DELETE: 403, or 429 for people, whose kubectl then waits and asks again by itself. Users of
  // the system and service accounts are always answered 403: waiting would hold a controller's worker.
  int denyStatus = 403;
  bool auditOnly = false;  // verdicts are logged, and everything is allowed
  // For a whole review, whatever it waits for, and so less than the webhook's timeoutSeconds.
  std::chrono::milliseconds budget{3'500};
  // For reading the CriticalServices, which are few: what nobody guards does not wait long for an API server
  // that is slow, and the rest of the budget is left to what criteria name.
  std::chrono::milliseconds servicesPatience{1'000};
  const PolicyReviews* policies = nullptr;  // nullptr: no DeletionPolicies are followed
  bool personsCount = false;                // of what is deferred, as of Requesters
  // Remembers denied deletions, and tells how to ask for them; nullptr: nothing is remembered.
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
class Reviews {
 public:
  using Observer = std::function<void(const ReviewResult& verdict)>;

  Reviews(LiveView& view, ConfirmingReads& reads, CurrentServices& services, const ObjectRights& rights,
          ReviewsOptions options, Observer observer);

  // The answer to a POST of an AdmissionReview: 200 with the verdict, or 400 or 413 for what is no review.
  net::HttpResponse answer(const net::HttpRequest& request) const;

 private:
  struct Judgement {
    bool allowed = true;
    admission::Reason reason = admission::Reason::NotGuarded;
    admission::Explanation explanation;  // of a denial
    std::vector<std::string> warnings;
    bool confirmed = false;  // it was read once more from the API server
  };

  Judgement judge(const admission::Review& review, TimePoint deadline) const;
  Judgement judgeDelete(const admission::Review& review, TimePoint deadline) const;
  std::vector<std::string> warningsOfYouth(const admission::Review& review,
                                           admission::DeletionEffect deletionEffect) const;
  admission::DeletionEffect deletionEffectOf(const admission::Review& review, TimePoint now) const;
  Judgement judgeByWatch(const kube::ObjectKey& object, admission::DeletionEffect deletionEffect,
                         TimePoint deadline,
                         std::optional<ConfirmingReads::Asked> asked = std::nullopt) const;
  // What the CriticalServices say of an object that the watch has not told.
  struct Comparison {
    std::optional<std::string> missed;  // why the object must stay
    bool wereRead = false;              // by the API server's word, not by this replica's alone
  };
  Comparison compareWithServices(const kube::ObjectKey& object, TimePoint deadline) const;
  bool isMissing(const kube::ObjectKey& object, TimePoint deadline) const;
  Judgement judgeService(const admission::Review& review, TimePoint deadline) const;
  struct Written;
  Written look(const admission::Review& review) const;
  void confirmMet(const std::vector<criticalservice::Criterion>& givenUp, TimePoint deadline,
                  Judgement& judgement) const;
  // Why the user may not write it; nullopt: they may.
  std::optional<Judgement> lackOfRights(const admission::Review& review,
                                        const std::vector<admission::NeededRight>& rights,
                                        TimePoint deadline) const;
  Judgement judgeScaling(const admission::Review& review, TimePoint deadline) const;
  Judgement unconfirmed(const kube::ObjectKey& object, std::string_view why,
                        admission::DeletionEffect deletionEffect = admission::DeletionEffect::Ending) const;
  int statusFor(const admission::Review& review) const;
  admission::ReviewAnswer answerOf(const admission::Review& review, Judgement& judgement,
                                   const std::vector<protection::Denial>& protections,
                                   std::vector<std::string>& words) const;

  LiveView& view_;
  ConfirmingReads& reads_;
  CurrentServices& services_;
  const ObjectRights& rights_;
  mutable AllowedServices allowedServices_;
  const ReviewsOptions options_;
  const Observer observer_;
};

}  // namespace lastout::server

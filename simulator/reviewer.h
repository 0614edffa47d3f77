// Reviewer: asks the webhooks that a request concerns, and says whether it may go on.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tl/expected.hpp>
#include <vector>

#include "kube/locks.h"
#include "simulator/admission_review.h"
#include "simulator/json.h"
#include "simulator/policies.h"
#include "simulator/status.h"
#include "simulator/webhooks.h"

namespace lastout::simulator {

// Posts an AdmissionReview to a webhook, within its timeout (WebhookClient::post). Fails with the words that
// follow `failed to call webhook: `. Called by several threads at once.
using CallWebhook = std::function<tl::expected<WebhookResponse, std::string>(const Webhook& webhook,
                                                                             const std::string& body)>;

// Is given what mutating webhooks made of the object. What is stored of that, which the validating ones are
// shown then, or why it may not be; called by the thread that asks for the review.
using AcceptMutated = std::function<ApiResult<const Json*>(const Json& object)>;

// What policies say to the request once mutating webhooks are through.
using AskPolicies = std::function<PolicyVerdict(const ReviewRequest& request)>;

struct ReviewOutcome {
  std::optional<ApiError> denial;     // nullopt: go on
  std::optional<Json> object;         // what mutating webhooks made of the object; nullopt: unchanged
  std::vector<std::string> warnings;  // for warningHeader(), with a denial, too
  std::vector<std::string> asked;     // the names of the webhooks that were
};

// Safe for any number of threads; what is asked at once is bounded by `threads` and those that call review().
class Reviewer {
 public:
  // `webhooks` must outlive this. `newUid` makes the uid of one call and is called by several threads at
  // once.
  Reviewer(const Webhooks& webhooks, CallWebhook call, std::function<std::string()> newUid,
           size_t threads = 8);
  ~Reviewer();
  Reviewer(const Reviewer&) = delete;
  Reviewer& operator=(const Reviewer&) = delete;

  // Mutating webhooks are asked one after the other, each with what the former made of the object, then the
  // validating ones at the same time; of several that say no, the first in their order is answered with. A
  // webhook that cannot be called, or whose answer is none, is passed over or gives 500 (rest/102 to 104,
  // 110), as its failurePolicy says. A dry run that would need one that does not support it gives 400.
  // Without `accept`, whatever mutating webhooks made of the object goes on. What `policies` deny no
  // validating webhook is asked about.
  ReviewOutcome review(ReviewRequest request, const AcceptMutated& accept = {},
                       const AskPolicies& policies = {});

 private:
  struct Batch;  // of validating webhooks that one request asks

  tl::expected<WebhookAnswer, ApiError> ask(const Webhook& webhook, const ReviewRequest& request) const;
  tl::expected<WebhookAnswer, ApiError> askWhatever(const Webhook& webhook,
                                                    const ReviewRequest& request) const;
  void mutate(const Webhooks::List& webhooks, ReviewRequest& request, ReviewOutcome& outcome) const;
  void validate(const Webhooks::List& webhooks, const ReviewRequest& request, ReviewOutcome& outcome);
  void work();
  void help(Batch& batch) const;

  const Webhooks* webhooks_;
  CallWebhook call_;
  std::function<std::string()> newUid_;

  kube::Mutex mutex_;
  kube::ConditionVariable changed_;
  // One entry for each thread that a batch could use.
  std::deque<std::shared_ptr<Batch>> waiting_ LASTOUT_GUARDED_BY(mutex_);
  bool stopping_ LASTOUT_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace lastout::simulator

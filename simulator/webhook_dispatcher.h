// WebhookDispatcher: calls the webhooks that a request concerns, and returns whether the request is allowed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "net/worker_pool.h"
#include "simulator/admission_review.h"
#include "simulator/json.h"
#include "simulator/status.h"
#include "simulator/validating_admission_policies.h"
#include "simulator/webhooks.h"

namespace lastout::simulator {

// Posts an AdmissionReview to a webhook, within its timeout (WebhookClient::post). Fails with the words that
// follow `failed to call webhook: `. Called by several threads at once.
using CallWebhook = std::function<tl::expected<WebhookResponse, std::string>(const Webhook& webhook,
                                                                             const std::string& body)>;

// Returns what the API server would store of the object after mutating webhooks, which is what validating
// webhooks see; fails if that is not allowed. Called by the thread that calls review().
using AcceptMutated = std::function<ApiResult<const Json*>(const Json& object)>;

// Returns the verdict of policies on the request, after the mutating webhooks.
using AskPolicies = std::function<PolicyVerdict(const ReviewRequest& request)>;

struct ReviewOutcome {
  std::optional<ApiError> denial;     // nullopt: go on
  std::optional<Json> object;         // what mutating webhooks made of the object; nullopt: unchanged
  std::vector<std::string> warnings;  // for warningHeader(), with a denial, too
  std::vector<std::string> asked;     // the names of the webhooks that were
};

// Safe for any number of threads; what is asked at once is bounded by `threads` and those that call review().
class WebhookDispatcher {
 public:
  // `webhooks` must outlive this. `newUid` makes the uid of one call and is called by several threads at
  // once.
  WebhookDispatcher(const Webhooks& webhooks, CallWebhook call, std::function<std::string()> newUid,
                    size_t threads = 8);
  WebhookDispatcher(const WebhookDispatcher&) = delete;
  WebhookDispatcher& operator=(const WebhookDispatcher&) = delete;

  // Calls the mutating webhooks one after the other, each with the object that the former returned, then the
  // validating ones in parallel; if several deny, returns the denial of the first in their order. A webhook
  // that cannot be called, or that gives no valid answer, is ignored or gives 500 (rest/102 to 104, 110), as
  // its failurePolicy says. A dry run gives 400 if a webhook does not support dry runs. Without `accept`,
  // uses the object of the mutating webhooks as it is. Calls no validating webhook for a request that
  // `policies` denies.
  ReviewOutcome review(ReviewRequest request, const AcceptMutated& accept = {},
                       const AskPolicies& policies = {});

 private:
  struct Batch;  // of validating webhooks that one request asks

  tl::expected<WebhookAnswer, ApiError> ask(const Webhook& webhook, const ReviewRequest& request) const;
  tl::expected<WebhookAnswer, ApiError> askWhatever(const Webhook& webhook,
                                                    const ReviewRequest& request) const;
  void mutate(const Webhooks::List& webhooks, ReviewRequest& request, ReviewOutcome& outcome) const;
  void validate(const Webhooks::List& webhooks, const ReviewRequest& request, ReviewOutcome& outcome);
  void help(Batch& batch) const;

  const Webhooks* webhooks_;
  CallWebhook call_;
  std::function<std::string()> newUid_;

  const size_t threads_;
  net::WorkerPool helpers_;  // one job for each thread that a batch could use
};

}  // namespace lastout::simulator

#include "simulator/webhook_dispatcher.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "kube/locks.h"
#include "kube/messages.h"
#include "simulator/patch.h"

namespace lastout::simulator {
namespace {

using AskedAnswer = tl::expected<WebhookAnswer, ApiError>;

constexpr size_t kMostWaiting = 4'096;  // of what all reviews want help with; beyond that each helps itself

// Adds the warnings, and the denial when there is one. False: the review ends here.
bool takeAnswer(AskedAnswer& answer, ReviewOutcome& outcome) {
  if (!answer) {
    outcome.denial = std::move(answer.error());
    return false;
  }
  std::ranges::move(answer->warnings, std::back_inserter(outcome.warnings));
  outcome.denial = std::move(answer->denial);
  return !outcome.denial.has_value();
}

// The object as the webhook changes it.
ApiResult<Json> patchedBy(const Webhook& webhook, const ReviewRequest& request, const Json& patch) {
  if (request.object == nullptr)
    return tl::unexpected(internalError("admission webhook " + kube::inQuotes(webhook.name) +
                                        " attempted to modify the object, which is not supported for this "
                                        "operation"));
  auto patched = jsonPatch(*request.object, patch);
  if (!patched) return tl::unexpected(internalError(patched.error().message));
  return patched;
}

}  // namespace

// Whoever has a thread takes the next webhook. The request is looked at only by those who took one, and
// validate() waits for all of them, so a thread that comes late finds nothing to do and touches nothing.
struct WebhookDispatcher::Batch {
  std::vector<const Webhook*> webhooks;
  const ReviewRequest* request = nullptr;

  kube::Mutex mutex;
  kube::ConditionVariable finished;
  size_t taken LASTOUT_GUARDED_BY(mutex) = 0;
  size_t done LASTOUT_GUARDED_BY(mutex) = 0;
  std::vector<AskedAnswer> answers LASTOUT_GUARDED_BY(mutex);  // as many as webhooks
};

WebhookDispatcher::WebhookDispatcher(const Webhooks& webhooks, CallWebhook call,
                                     std::function<std::string()> newUid, size_t threads)
    : webhooks_(&webhooks),
      call_(std::move(call)),
      newUid_(std::move(newUid)),
      threads_(threads),
      helpers_(threads, kMostWaiting) {}

ReviewOutcome WebhookDispatcher::review(ReviewRequest request, const AcceptMutated& accept,
                                        const AskPolicies& policies) {
  const std::shared_ptr<const Webhooks::List> webhooks = webhooks_->snapshot();
  ReviewOutcome outcome;
  mutate(*webhooks, request, outcome);
  if (!outcome.denial && outcome.object && accept) {
    if (auto accepted = accept(*outcome.object))
      request.object = *accepted;
    else
      outcome.denial = std::move(accepted.error());
  }
  // By now a name that had to be generated is there (admission/06).
  if (request.name.empty() && request.operation == "CREATE" && request.object != nullptr)
    request.name = stringAt(*request.object, {"metadata", "name"});
  if (!outcome.denial && policies) {
    PolicyVerdict verdict = policies(request);
    std::ranges::move(verdict.warnings, std::back_inserter(outcome.warnings));
    outcome.denial = std::move(verdict.denial);
  }
  if (!outcome.denial) validate(*webhooks, request, outcome);
  return outcome;
}

tl::expected<WebhookAnswer, ApiError> WebhookDispatcher::ask(const Webhook& webhook,
                                                             const ReviewRequest& request) const {
  const std::string uid = newUid_();
  tl::expected<WebhookAnswer, std::string> answer;
  if (webhook.address.cannotTrust) {
    answer = tl::unexpected(
        std::string("could not get REST client: unable to load root certificates: unable to parse bytes as "
                    "PEM block"));
  } else if (const auto response = call_(webhook, toText(reviewBody(request, uid)))) {
    answer = readAnswer(*response, webhook.name, uid, webhook.mutating);
  } else {
    answer = tl::unexpected("failed to call webhook: " + response.error());
  }
  if (answer) return std::move(*answer);
  if (webhook.failureIsIgnored) return WebhookAnswer{};
  return tl::unexpected(
      internalError("failed calling webhook " + kube::inQuotes(webhook.name) + ": " + answer.error()));
}

// Neither a thread of the reviewer nor the controllers have anybody to throw to, and validate() waits for
// each answer.
tl::expected<WebhookAnswer, ApiError> WebhookDispatcher::askWhatever(const Webhook& webhook,
                                                                     const ReviewRequest& request) const {
  try {
    return ask(webhook, request);
  } catch (const std::exception& problem) {
    return tl::unexpected(internalError("failed calling webhook " + kube::inQuotes(webhook.name) + ": " +
                                        kube::printable(problem.what())));
  }
}

void WebhookDispatcher::mutate(const Webhooks::List& webhooks, ReviewRequest& request,
                               ReviewOutcome& outcome) const {
  for (const Webhook& webhook : webhooks.all) {
    if (!webhook.mutating) return;  // nor is any that comes after it
    const auto asked = isToBeAsked(webhook, request);
    if (!asked) {
      outcome.denial = asked.error();
      return;
    }
    if (!*asked) continue;
    outcome.asked.push_back(webhook.name);
    AskedAnswer answer = askWhatever(webhook, request);
    if (!takeAnswer(answer, outcome)) return;
    if (answer->patch.is_null()) continue;
    auto patched = patchedBy(webhook, request, answer->patch);
    if (!patched) {
      outcome.denial = std::move(patched.error());
      return;
    }
    outcome.object = std::move(*patched);
    request.object = &*outcome.object;
  }
}

void WebhookDispatcher::validate(const Webhooks::List& webhooks, const ReviewRequest& request,
                                 ReviewOutcome& outcome) {
  auto found = matching(webhooks, false, request);
  if (!found) {
    outcome.denial = std::move(found.error());
    return;
  }
  const auto batch = std::make_shared<Batch>();
  batch->webhooks = std::move(*found);
  batch->request = &request;
  {
    const kube::MutexLock lock(batch->mutex);
    batch->answers.resize(batch->webhooks.size());
  }
  for (const Webhook* webhook : batch->webhooks) outcome.asked.push_back(webhook->name);
  const size_t wanted = std::min(batch->webhooks.size(), threads_ + 1);
  for (size_t i = 1; i < wanted; ++i)
    if (!helpers_.add([this, batch] { help(*batch); })) break;
  help(*batch);  // this thread is one of them, so a review goes on although all others are busy
  kube::MutexLock lock(batch->mutex);
  batch->finished.wait(
      lock, [&batch]() LASTOUT_REQUIRES(batch->mutex) { return batch->done == batch->webhooks.size(); });
  bool goesOn = true;
  for (AskedAnswer& answer : batch->answers) {
    ReviewOutcome one;
    const bool allowed = takeAnswer(answer, one);
    std::ranges::move(one.warnings, std::back_inserter(outcome.warnings));
    if (goesOn && !allowed) outcome.denial = std::move(one.denial);
    goesOn = goesOn && allowed;
  }
}

void WebhookDispatcher::help(Batch& batch) const {
  kube::MutexLock lock(batch.mutex);
  while (batch.taken < batch.webhooks.size()) {
    const size_t mine = batch.taken++;
    lock.unlock();
    AskedAnswer answer = askWhatever(*batch.webhooks[mine], *batch.request);
    lock.lock();
    batch.answers[mine] = std::move(answer);
    if (++batch.done == batch.webhooks.size()) batch.finished.notifyAll();
  }
}

}  // namespace lastout::simulator

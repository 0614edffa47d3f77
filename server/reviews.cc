#include "server/reviews.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "admission/service_changes.h"
#include "criticalservice/critical_service.h"
#include "kube/parse.h"

namespace lastout::server {
namespace {

using admission::Operation;
using admission::Reason;
using std::chrono::microseconds;
using std::chrono::steady_clock;

constexpr int kRetryAfter = 5;  // seconds; client-go asks up to ten times
constexpr int kMostRounds = 3;  // of confirming reads, for what changes meanwhile

bool isService(const admission::Review& review) {
  return review.resource.type == criticalservice::criticalServiceType() &&
         review.resource.subresource.empty() &&
         (review.operation == Operation::Create || review.operation == Operation::Update);
}

tl::expected<kube::Object, kube::Errors> objectOf(std::string_view text, const kube::ResourceMap& types) {
  auto value = kube::parseJson(text, "");
  if (!value) return tl::unexpected(kube::Errors{std::move(value.error())});
  auto object = kube::parseObject(*value, "", types);
  if (!object) return tl::unexpected(kube::Errors{std::move(object.error())});
  return std::move(*object);
}

}  // namespace

Reviews::Reviews(const LiveView& view, ConfirmingReads& reads, ReviewsOptions options, Observer observer)
    : view_(view), reads_(reads), options_(std::move(options)), observer_(std::move(observer)) {}

admission::HttpResponse Reviews::answer(const admission::HttpRequest& request) const {
  const auto review = admission::parseReview(request.body);
  if (!review) return {review.error().status, "text/plain", review.error().message + "\n", {}};
  const Judgement judgement = judge(*review, request.begun + options_.budget);
  admission::ReviewAnswer answer{std::nullopt, judgement.warnings};
  if (!judgement.allowed) {
    const int code = statusFor(*review);
    answer.refusal = {code, judgement.explanation.message, judgement.explanation.causes,
                      code == 429 ? std::optional(kRetryAfter) : std::nullopt};
  }
  if (options_.auditOnly && answer.refusal) {
    answer.warnings.push_back("lastout only watches; it would deny this: " + judgement.explanation.message);
    answer.refusal.reset();
  }
  observer_({review->uid, review->operation, review->object, review->user.name, review->dryRun,
             judgement.allowed, judgement.allowed || !options_.auditOnly, judgement.reason,
             judgement.explanation.message, judgement.explanation.revision, judgement.confirmed,
             std::chrono::duration_cast<microseconds>(steady_clock::now() - request.begun)});
  return {200, "application/json", admission::answerText(review->uid, answer), {}};
}

int Reviews::statusFor(const admission::Review& review) const {
  const bool waits = review.operation == Operation::Delete && !review.user.name.starts_with("system:");
  return waits ? options_.denyStatus : 403;
}

Reviews::Judgement Reviews::judge(const admission::Review& review, TimePoint deadline) const {
  if (isService(review)) return judgeService(review);
  const bool deletes = review.operation == Operation::Delete && review.resource.subresource.empty();
  return deletes ? judgeDelete(review.object, deadline) : Judgement();
}

// Until all that the verdict rests on was read since it was asked for.
Reviews::Judgement Reviews::judgeDelete(const kube::ObjectKey& object, TimePoint deadline) const {
  std::vector<graph::Condition> confirmed;
  for (int round = 0; round < kMostRounds; ++round) {
    Judged judged = view_.judge(object);
    const admission::Decision& decision = judged.decision;
    if (!decision.allowed || !decision.guarded)
      return {decision.allowed, decision.reason, std::move(judged.explanation), {}, false};
    std::vector<graph::Condition> open;
    std::ranges::set_difference(judged.toConfirm, confirmed, std::back_inserter(open));
    if (open.empty()) return {true, decision.reason, {}, {}, true};
    for (const graph::Condition& condition : open) {
      if (auto denied = denialFor(object, condition, deadline)) return std::move(*denied);
    }
    confirmed = std::move(judged.toConfirm);
  }
  return unconfirmed(object, "what it depends on keeps changing");
}

std::optional<Reviews::Judgement> Reviews::denialFor(const kube::ObjectKey& object,
                                                     const graph::Condition& condition,
                                                     TimePoint deadline) const {
  const auto holder = reads_.holderOf(condition, deadline);
  if (!holder) return unconfirmed(object, holder.error().message);
  if (!*holder) return std::nullopt;
  auto explanation = view_.explainWith(**holder, object);
  if (explanation.message.empty()) return unconfirmed(object, "what keeps it changed while it was read");
  return Judgement{false, Reason::CriterionUnmet, std::move(explanation), {}, true};
}

Reviews::Judgement Reviews::unconfirmed(const kube::ObjectKey& object, std::string_view why) const {
  return {false, Reason::Unconfirmed, view_.unconfirmed(object, why), {}, false};
}

Reviews::Judgement Reviews::judgeService(const admission::Review& review) const {
  Judgement judgement;
  view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap& types) {
    const auto after = objectOf(review.newObject, types);
    kube::Errors problems;
    if (after) {
      const auto read = objectOf(review.oldObject, types);
      const kube::Object* before = read ? &*read : nullptr;
      problems = admission::serviceProblems(view, types, options_.ownNamespace, before, *after);
      for (const kube::Error& warning : admission::serviceWarnings(view, types, before, *after))
        judgement.warnings.push_back(warning.message);
    } else {
      problems = after.error();
    }
    judgement.allowed = problems.empty();
    judgement.explanation.message = admission::joinedMessages(problems);
  });
  return judgement;
}

}  // namespace lastout::server

#include "server/review/review_handler.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "admission/deletion_effect.h"
#include "admission/scaling.h"
#include "admission/service_changes.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/validation.h"
#include "kube/messages.h"
#include "kube/parse.h"
#include "kube/status_reason.h"
#include "protection/message.h"

namespace lastout::server {
namespace {

using admission::Operation;
using admission::Reason;
using std::chrono::microseconds;
using std::chrono::steady_clock;

constexpr int kForbidden = 403;
constexpr int kRetryAfter = 5;  // seconds; client-go asks up to ten times

bool isService(const admission::Review& review) {
  return review.object.type == criticalservice::criticalServiceType() && review.subresource.empty() &&
         (review.operation == Operation::Create || review.operation == Operation::Update);
}

tl::expected<kube::Object, kube::Errors> objectOf(std::string_view text, const kube::ResourceMap& types) {
  auto value = kube::parseJson(text, "");
  if (!value) return tl::unexpected(kube::Errors{std::move(value.error())});
  auto object = kube::parseObject(*value, "", types);
  if (!object) return tl::unexpected(kube::Errors{std::move(object.error())});
  return std::move(*object);
}

// One sentence with the advice at its end.
void addAdvice(std::string& message, const std::string& advice) {
  if (advice.empty()) return;
  if (message.ends_with('.')) message.pop_back();
  message += advice;
}

std::vector<std::string> warningsOf(const admission::PreliminaryVerdict& judged) {
  if (!judged.verdict.held) return {};
  return {judged.explanation.message};
}

}  // namespace

ReviewHandler::ReviewHandler(LiveView& view, ConfirmingReads& reads, CurrentServices& services,
                             const ObjectRights& rights, ReviewHandlerOptions options, Observer observer)
    : view_(view),
      reads_(reads),
      services_(services),
      rights_(rights),
      options_(options),
      observer_(std::move(observer)) {}

net::HttpResponse ReviewHandler::answer(const net::HttpRequest& request) const {
  const PolicyReviewer* const policies = options_.policies;
  auto review = admission::parseReview(request.body,
                                       policies == nullptr ? admission::Kept::Deletion : policies->kept());
  if (!review) return {review.error().status, "text/plain", review.error().message + "\n", {}};
  const TimePoint deadline = request.begun + options_.budget;
  Outcome outcome = judge(*review, deadline);
  DeferredDeletionStore* const store = options_.deferredDeletions;
  if (!outcome.allowed && !options_.auditOnly && review->operation == Operation::Delete && store != nullptr)
    outcome.explanation.message += store->recordAndAdvise(*review, deadline);
  PolicyVerdict protections;
  if (policies != nullptr) {
    protections = policies->judge(*review, deadline);
    for (std::string& warning : policies->warnings(*review)) outcome.warnings.push_back(std::move(warning));
  }
  std::vector<std::string> words;
  admission::ReviewAnswer answer = answerOf(*review, outcome, protections.denials, words);
  for (const protection::Denial& one : protections.unseen)
    if (!answer.refusal) answer.warnings.push_back(one.message);
  if (options_.auditOnly && answer.refusal) {
    answer.warnings.push_back("lastout only watches; it would deny this: " + outcome.explanation.message);
    answer.refusal.reset();
  }
  const auto took = std::chrono::duration_cast<microseconds>(steady_clock::now() - request.begun);
  std::string text = admission::answerText(review->uid, answer);
  observer_({std::move(review->uid), review->operation, std::move(review->object), std::move(review->user),
             review->dryRun, outcome.allowed, outcome.allowed || !options_.auditOnly, outcome.reason,
             std::move(outcome.explanation.message), outcome.explanation.revision, outcome.confirmed, took});
  return {200, "application/json", std::move(text), {}};
}

// The union: what CriticalServices say comes first, then each policy. Code 409 says that something is in use,
// and that alone; code 429 that another try may succeed, which a policy does not say. `words` are those of
// the causes.
admission::ReviewAnswer ReviewHandler::answerOf(const admission::Review& review, Outcome& outcome,
                                                const std::vector<protection::Denial>& protections,
                                                std::vector<std::string>& words) const {
  admission::ReviewAnswer answer{std::nullopt, outcome.warnings};
  if (outcome.allowed && protections.empty()) return answer;
  const bool onlyPoliciesDeny = outcome.allowed;
  int code = onlyPoliciesDeny ? protections.front().code : codeFor(review);
  if (onlyPoliciesDeny)
    outcome.reason = protections.front().isUncertain ? Reason::ProtectionUnknown : Reason::Protected;
  outcome.allowed = false;
  std::string& message = outcome.explanation.message;
  if (onlyPoliciesDeny) message.clear();
  const size_t told = std::min(protections.size(), admission::kMostCauses);
  words.reserve(told);
  for (size_t i = 0; i < told; ++i) {
    const protection::Denial& one = protections[i];
    if (one.code != code) code = kForbidden;
    words.push_back(fieldOf(one));
    outcome.explanation.causes.push_back(
        {toString(one.isUncertain ? Reason::ProtectionUnknown : Reason::Protected), one.reason,
         words.back()});
  }
  std::vector<std::string> messages;
  messages.reserve(protections.size());
  for (const protection::Denial& one : protections) messages.push_back(one.message);
  protection::addMessages(message, messages, told);
  const DeferredDeletionStore* const store = options_.deferredDeletions;
  if (onlyPoliciesDeny && store != nullptr &&
      std::ranges::any_of(protections, &protection::Denial::isReplayed))
    addAdvice(message, store->adviceToReplay(review));
  answer.refusal = {code, message, std::move(outcome.explanation.causes),
                    code == kube::kTooManyRequests ? std::optional(kRetryAfter) : std::nullopt};
  return answer;
}

int ReviewHandler::codeFor(const admission::Review& review) const {
  const bool waits = review.operation == Operation::Delete && !review.user.starts_with("system:");
  return waits ? options_.denyStatus : kForbidden;
}

ReviewHandler::Outcome ReviewHandler::judge(const admission::Review& review, TimePoint deadline) const {
  if (isService(review)) return judgeService(review, deadline);
  const std::string& subresource = review.subresource;
  if (review.operation == Operation::Delete && subresource.empty()) return judgeDelete(review, deadline);
  const bool mayScale =
      review.operation == Operation::Update && (subresource.empty() || subresource == "scale");
  return mayScale ? judgeScaling(review, deadline) : Outcome();
}

// What would deny the provider's deletion denies that it is scaled to zero.
ReviewHandler::Outcome ReviewHandler::judgeScaling(const admission::Review& review,
                                                   TimePoint deadline) const {
  const auto before = kube::parseJson(review.oldObject, "");
  const auto after = kube::parseJson(review.newObject, "");
  if (before && after && !admission::scalesToZero(*before, *after)) return {};
  const Comparison compared = compareWithServices(review.object, deadline);
  if (compared.missed) return unconfirmed(review.object, *compared.missed);
  bool guarded = false;
  view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap& /*types*/) {
    guarded = view.guardsScaling(review.object);
  });
  if (!guarded) return {};
  Outcome outcome = judgeByWatch(review.object, admission::DeletionEffect::Ending, deadline);
  outcome.confirmed = outcome.confirmed && compared.wereRead;
  if (!outcome.allowed) outcome.explanation.message.insert(0, admission::kScalingIsGuarded);
  return outcome;
}

// What would be allowed is judged once more when it is certain that the watch has told of all
// CriticalServices that there were when it was asked.
ReviewHandler::Outcome ReviewHandler::judgeDelete(const admission::Review& review, TimePoint deadline) const {
  const kube::ObjectKey& object = review.object;
  const admission::DeletionEffect deletionEffect = deletionEffectOf(review, steady_clock::now());
  admission::PreliminaryVerdict first = view_.judge(object, steady_clock::now(), {}, deletionEffect);
  if (!first.verdict.allowed)
    return {false, first.verdict.reason, std::move(first.explanation),
            heldTooRecentlyWarning(review, deletionEffect), false};
  if (const auto why = view_.whyMayBeNeeded(object)) return unconfirmed(object, *why, deletionEffect);
  auto asked = reads_.ask(std::move(first.toConfirm));  // goes on while CriticalServices are read
  const Comparison compared = compareWithServices(object, deadline);
  if (compared.missed) return unconfirmed(object, *compared.missed, deletionEffect);
  Outcome outcome = judgeByWatch(object, deletionEffect, deadline, std::move(asked));
  outcome.confirmed = outcome.confirmed && compared.wereRead;
  return outcome;
}

// Warns when the only reason for the denial is that lastout's finalizer was added moments ago.
std::vector<std::string> ReviewHandler::heldTooRecentlyWarning(
    const admission::Review& review, admission::DeletionEffect deletionEffect) const {
  const admission::Deletion& deletion = review.deletion;
  const admission::DeletionEffect later = admission::deletionEffectOf(
      deletion.isHeld, deletion.waitsForDependents, admission::requestedPropagationOf(deletion.policy));
  if (later == deletionEffect || !view_.judge(review.object, steady_clock::now(), {}, later).verdict.held)
    return {};
  return {
      "lastout holds " + toString(review.object) +
      " only once its finalizer has stood for a while (lastout serve --hold-after): try again in a minute"};
}

// Uses the object as the request has it, too, not only as the watch shows it: removing the finalizer changes
// the object, so the API server reviews the DELETE again.
admission::DeletionEffect ReviewHandler::deletionEffectOf(const admission::Review& review,
                                                          TimePoint now) const {
  const admission::Deletion& deletion = review.deletion;
  return admission::deletionEffectOf(deletion.isHeld && view_.isHeldBy(review.object, deletion.uid, now),
                                     deletion.waitsForDependents,
                                     admission::requestedPropagationOf(deletion.policy));
}

// Another replica may have heard of a CriticalService before this one. If the read fails, an object that this
// replica knows to be guarded stays; an unguarded one does not wait for a slow API server.
ReviewHandler::Comparison ReviewHandler::compareWithServices(const kube::ObjectKey& object,
                                                             TimePoint deadline) const {
  const auto services = services_.read(std::min(deadline, steady_clock::now() + options_.servicesPatience));
  const bool isFollowed = view_.isFollowed(criticalservice::criticalServiceType());
  if (!services && (!isFollowed || view_.judge(object, steady_clock::now()).verdict.guarded))
    return {services.error().message, false};
  const std::string name =
      view_.untoldGuard(object, services ? **services : allowedServices_.recent(steady_clock::now()));
  if (name.empty()) return {std::nullopt, services.has_value()};
  return {criticalservice::nameInWords(name) + " guards it since a moment ago, and is being read",
          services.has_value()};
}

ReviewHandler::Outcome ReviewHandler::judgeByWatch(const kube::ObjectKey& object,
                                                   admission::DeletionEffect deletionEffect,
                                                   TimePoint deadline,
                                                   std::optional<ConfirmingReads::Asked> asked) const {
  ConfirmedVerdict verdict =
      confirmedVerdict(view_, reads_, object, deletionEffect, deadline, std::move(asked));
  if (verdict.unconfirmed) return unconfirmed(object, *verdict.unconfirmed, deletionEffect);
  std::vector<std::string> warnings = warningsOf(verdict.judged);
  const admission::Verdict& judged = verdict.judged.verdict;
  return {judged.allowed, judged.reason,
          judged.allowed ? admission::Explanation() : std::move(verdict.judged.explanation),
          std::move(warnings), true};
}

ReviewHandler::Outcome ReviewHandler::unconfirmed(const kube::ObjectKey& object, std::string_view why,
                                                  admission::DeletionEffect deletionEffect) const {
  return {false, Reason::Unconfirmed, view_.unconfirmed(object, why, deletionEffect), {}, false};
}

// For a warning: where it cannot be found out soon, it is not.
bool ReviewHandler::isMissing(const kube::ObjectKey& object, TimePoint deadline) const {
  const auto found =
      reads_.holderOf(criticalservice::conditionOf(criticalservice::SpecificResourceCriterion{object}),
                      std::min(deadline, steady_clock::now() + options_.servicesPatience));
  return found && !*found;
}

// Who may not delete what is there is told nothing about it.
std::optional<ReviewHandler::Outcome> ReviewHandler::lackOfRights(
    const admission::Review& review, const std::vector<admission::NeededRight>& rights,
    TimePoint deadline) const {
  if (rights.empty()) return std::nullopt;
  const std::string user = kube::inQuotes(review.user);
  const auto lacking = rights_.lacking(&review.userInfo, rights, deadline);
  Outcome outcome;
  outcome.allowed = false;
  if (!lacking) {
    outcome.reason = Reason::Unconfirmed;
    outcome.explanation.message = "whether user " + user +
                                  " may do what this CriticalService has lastout do cannot be found out, so "
                                  "it is not written; try again: " +
                                  kube::printable(lacking.error().message);
    return outcome;
  }
  if (lacking->empty()) return std::nullopt;
  outcome.reason = Reason::Forbidden;
  outcome.explanation.message =
      "user " + user + " cannot " + lackingInWords(*lacking) +
      ", which this CriticalService needs its writer to be allowed: have it written by somebody who is, or "
      "grant " +
      user + " these rights";
  return outcome;
}

// A criterion that is given up because it is met is read once more, like what a DELETE rests on. Why one may
// not be given up goes to `outcome`.
void ReviewHandler::confirmMet(const std::vector<criticalservice::Criterion>& givenUp, TimePoint deadline,
                               Outcome& outcome) const {
  for (const criticalservice::Criterion& criterion : givenUp) {
    const auto holder = reads_.holderOf(criticalservice::conditionOf(criterion), deadline);
    outcome.confirmed = holder.has_value();
    if (holder && !*holder) continue;
    outcome.allowed = false;
    outcome.reason = holder ? Reason::CriterionUnmet : Reason::Unconfirmed;
    outcome.explanation.message =
        "the criterion " + toString(criterion) + " cannot be removed: " +
        (holder ? "the API server still has what keeps it from being met"
                : "that it is met could not be confirmed, as " + holder.error().message);
    return;
  }
}

// What a write of a CriticalService comes to by itself, beside what is known of the cluster.
struct ReviewHandler::Written {
  kube::Errors problems;
  std::vector<std::string> warnings;
  std::vector<admission::NeededRight> rights;       // that its writer needs
  std::vector<criticalservice::Criterion> givenUp;  // as they are met, as far as is known
  std::vector<admission::WarningIfAbsent> ifAbsent;
  std::optional<kube::Object> service;
};

ReviewHandler::Written ReviewHandler::look(const admission::Review& review) const {
  Written written;
  if (auto large = admission::tooLarge(review.oldObject, review.newObject)) {
    written.problems.push_back(std::move(*large));
    return written;
  }
  view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap& types) {
    auto after = objectOf(review.newObject, types);
    if (!after) {
      written.problems = std::move(after.error());
      return;
    }
    const auto read = objectOf(review.oldObject, types);
    const kube::Object* before = read ? &*read : nullptr;
    written.rights = admission::rightsToWrite(before, *after);
    written.problems = admission::serviceProblems(view, types, view_.ownNamespace(), before, *after,
                                                  [&](const criticalservice::Criterion& criterion) {
                                                    written.givenUp.push_back(criterion);
                                                    return view.isMet(criterion);
                                                  });
    for (kube::Error& warning :
         admission::serviceWarnings(view, types, before, *after, options_.personsCount, written.ifAbsent))
      written.warnings.push_back(std::move(warning.message));
    written.service = std::move(*after);
  });
  return written;
}

ReviewHandler::Outcome ReviewHandler::judgeService(const admission::Review& review,
                                                   TimePoint deadline) const {
  Written written = look(review);
  Outcome outcome;
  outcome.warnings = std::move(written.warnings);
  if (!written.problems.empty()) {
    outcome.allowed = false;
    outcome.reason = Reason::Invalid;
    outcome.explanation.message = admission::joinedMessages(written.problems);
    return outcome;
  }
  if (auto lack = lackOfRights(review, written.rights, deadline)) return std::move(*lack);
  confirmMet(written.givenUp, deadline, outcome);
  if (!outcome.allowed) return outcome;
  if (!review.dryRun) allowedServices_.add(std::move(*written.service), steady_clock::now());
  for (auto& [object, warning] : written.ifAbsent)
    if (isMissing(object, deadline)) outcome.warnings.push_back(std::move(warning));
  return outcome;
}

}  // namespace lastout::server

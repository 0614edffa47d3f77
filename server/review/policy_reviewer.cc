#include "server/review/policy_reviewer.h"

#include <algorithm>
#include <utility>

#include "admission/service_changes.h"
#include "kube/messages.h"
#include "kube/parse.h"
#include "kube/value.h"
#include "kube/well_known.h"
#include "server/review/confirmed_facts.h"
#include "server/watch/policy_types.h"

namespace lastout::server {
namespace {

using protection::Denial;

constexpr size_t kMostReads = 8;  // of other objects, for one object

// A label or an annotation that was there is gone or another one.
bool takesAway(const kube::ObjectMeta& before, const kube::ObjectMeta& after) {
  const auto lacks = [](const kube::Labels& old, const kube::Labels& now) {
    return std::ranges::any_of(old, [&](const auto& one) {
      const auto found = now.find(one.first);
      return found == now.end() || found->second != one.second;
    });
  };
  return lacks(before.labels, after.labels) || lacks(before.annotations, after.annotations);
}

bool isJudged(const admission::Review& review) {
  using admission::Operation;
  return !protection::isWayOut(review.object.type) &&
         (review.operation == Operation::Update ||
          (review.operation == Operation::Delete && review.subresource.empty()));
}

kube::Result<kube::ObjectMeta> metaOf(const kube::Value& object) {
  const kube::Value* metadata = object.find("metadata");
  if (metadata == nullptr) return tl::unexpected(kube::Error{"the object has no metadata", {}, {}});
  return kube::parseMeta(*metadata, "");
}

// A policy that is written; nullopt: the text is none.
std::optional<kube::Object> policyIn(std::string_view text) {
  auto content = kube::parseJson(text, "");
  if (!content) return std::nullopt;
  auto meta = metaOf(*content);
  if (!meta) return std::nullopt;
  const kube::ObjectKey key{protection::deletionPolicyType(), "", meta->name};
  return kube::Object{std::string(kube::kLastoutApiVersion),
                      std::string(protection::kPolicyKind),
                      key,
                      std::move(*meta),
                      std::move(*content),
                      {}};
}

}  // namespace

Denial protectionUnknown(const kube::ObjectKey& object, const std::string& why) {
  Denial denial;
  denial.isUncertain = true;
  denial.reason = why;
  denial.message = "whether a DeletionPolicy protects " + toString(object) + " cannot be found out: " + why;
  return denial;
}

// A review as policies look at it.
struct PolicyReviewer::Asked {
  kube::Value before;
  kube::ObjectMeta meta;
  std::optional<kube::ObjectMeta> newMeta;
  protection::Request request;  // without what points to the others
};

std::optional<PolicyReviewer::Asked> PolicyReviewer::understand(const admission::Review& review,
                                                                std::string& problem) const {
  Asked asked;
  const auto fail = [&](const std::string& why) {
    problem = "the request is not understood: " + kube::printable(why);
    return std::nullopt;
  };
  auto before = kube::parseJson(review.oldObject, "");
  if (!before) return fail(before.error().message);
  auto meta = metaOf(*before);
  if (!meta) return fail(meta.error().message);
  if (review.operation == admission::Operation::Update) {
    const auto after = kube::parseJson(review.newObject, "");
    if (!after) return fail(after.error().message);
    auto newMeta = metaOf(*after);
    if (!newMeta) return fail(newMeta.error().message);
    asked.newMeta = std::move(*newMeta);
    asked.request.operation = protection::PolicyOperation::Update;
  }
  asked.before = std::move(*before);
  asked.meta = std::move(*meta);
  asked.request.object = review.object;
  asked.request.kind = kube::textAt(asked.before, {"kind"});
  if (asked.request.kind.empty()) {
    const auto type = live_.find(review.object.type);
    asked.request.kind = type ? type->kind : review.object.type.resource;
  }
  asked.request.user = review.user;
  asked.request.groups = review.groups;
  asked.request.orphans = review.deletion.policy == "Orphan";
  return asked;
}

PolicyVerdict PolicyReviewer::judge(const admission::Review& review, TimePoint deadline) const {
  if (!isJudged(review) || !view_.mayHaveAny()) return {};
  const bool isDelete = review.operation == admission::Operation::Delete;
  if (const auto why = view_.whyUnknown()) {
    const std::string known = "DeletionPolicies are not known: " + *why;
    if (isDelete) return {{protectionUnknown(review.object, known)}, {}};
    std::string problem;
    const std::optional<Asked> asked = understand(review, problem);
    if (asked && !takesAway(asked->meta, *asked->newMeta)) return {};
    return {{protectionUnknown(review.object, asked ? known : problem)}, {}};
  }
  const std::shared_ptr<const PolicySet> policies = view_.policies();
  const Policies about = policies->about(review.object.type);
  const bool mayHold = isDelete && mayHoldProtected(review.object.type);
  if (about.empty() && !mayHold) return {};
  std::string problem;
  std::optional<Asked> asked = understand(review, problem);
  if (!asked) return {{protectionUnknown(review.object, problem)}, {}};
  asked->request.meta = &asked->meta;
  asked->request.content = &asked->before;
  if (asked->newMeta) asked->request.newMeta = &*asked->newMeta;
  std::vector<Denial> denials = judgeAll(about, asked->request, deadline);
  if (!mayHold) return {std::move(denials), {}};
  PolicyVerdict verdict = ImpliedProtection(live_, view_, reads_).judge(*policies, asked->request, deadline);
  verdict.denials.insert(verdict.denials.begin(), denials.begin(), denials.end());
  return verdict;
}

std::vector<Denial> PolicyReviewer::holds(const admission::Review& review, TimePoint deadline) const {
  std::vector<Denial> held;
  std::string problem;
  std::optional<Asked> asked = understand(review, problem);
  if (!asked) return held;  // judge() says so
  asked->request.meta = &asked->meta;
  asked->request.content = &asked->before;
  const std::shared_ptr<const PolicySet> policies = view_.policies();
  view_.inspect([&](const protection::FactIndex& index) {
    for (const protection::DeletionPolicy* policy : policies->about(review.object.type))
      if (auto one = protection::holdOf(*policy, asked->request, index)) held.push_back(std::move(*one));
  });
  if (!mayHoldProtected(review.object.type)) return held;
  const ImpliedProtection implied(live_, view_, reads_);
  for (Denial& one : implied.holds(*policies, asked->request, deadline)) held.push_back(std::move(one));
  return held;
}

// What to do comes first: API servers cut off what is long.
std::vector<std::string> PolicyReviewer::warnings(const admission::Review& review) const {
  if (review.object.type != protection::deletionPolicyType() || !review.subresource.empty()) return {};
  const std::optional<kube::Object> policy = policyIn(review.newObject);
  if (!policy) return {};
  const std::optional<kube::Object> before = policyIn(review.oldObject);
  if (before && admission::hasSameSpec(*before, *policy)) return {};
  const auto read = protection::parsePolicy(*policy);
  if (read) return missingTypes(live_, *read);
  std::vector<std::string> problems;
  for (const kube::Error& error : read.error())
    problems.push_back(error.message + "; until that is corrected lastout does not understand the policy");
  return problems;
}

// By what the watches told; then, where that lets it pass, once more by what is read.
std::vector<Denial> PolicyReviewer::judgeAll(const Policies& policies, const protection::Request& request,
                                             TimePoint deadline) const {
  std::vector<Denial> denials;
  ConfirmedFacts confirmed(live_, view_, reads_, {deadline, kMostReads, true});
  confirmed.judge([&](const protection::Facts& facts) {
    denials.clear();
    for (const protection::DeletionPolicy* policy : policies)
      if (auto denial = protection::judge(*policy, request, facts, webhookPartOf(*policy, mode_)))
        denials.push_back(std::move(*denial));
  });
  return denials;
}

}  // namespace lastout::server

#include "simulator/webhooks.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "kube/well_known.h"

namespace lastout::simulator {

// What is exempt is all of the group: configurations of webhooks, policies and their bindings. A webhook
// without rules is never asked.
bool concerns(const Webhook& webhook, const ReviewRequest& request) {
  return request.type.group != kube::kAdmissionRegistrationGroup && !webhook.matches.rules.empty() &&
         matches(webhook.matches, request);
}

ApiResult<bool> isToBeAsked(const Webhook& webhook, const ReviewRequest& request) {
  if (!concerns(webhook, request)) return false;
  const bool usesRequest = std::ranges::any_of(webhook.matchConditions, [](const MatchCondition& condition) {
    return condition.expression.uses("request");
  });
  const Json attributes = usesRequest ? attributesOf(request) : Json();
  const CelVariables variables{request.object, request.oldObject, &attributes};
  CelRun run(variables, nullptr);
  auto holds = allHold(webhook.matchConditions, run);
  if (holds) return *holds;
  if (webhook.failureIsIgnored) return false;
  return tl::unexpected(forbidden(request.type, request.name, holds.error()));
}

ApiResult<void> Webhooks::put(const Json& configuration) {
  auto webhooks = checkConfiguration(configuration);
  if (!webhooks) return tl::unexpected(std::move(webhooks.error()));
  const bool validates = stringAt(configuration, {"kind"}) == "ValidatingWebhookConfiguration";
  const kube::MutexLock lock(mutex_);
  configurations_.insert_or_assign({validates, std::string(stringAt(configuration, {"metadata", "name"}))},
                                   std::move(*webhooks));
  publish();
  return {};
}

void Webhooks::remove(std::string_view kind, std::string_view name) {
  const kube::MutexLock lock(mutex_);
  if (configurations_.erase({kind == "ValidatingWebhookConfiguration", std::string(name)}) > 0) publish();
}

std::shared_ptr<const Webhooks::List> Webhooks::snapshot() const {
  const kube::MutexLock lock(mutex_);
  return published_;
}

Webhooks::List::List(std::vector<Webhook> webhooks) : all(std::move(webhooks)) {
  for (size_t i = 0; i < all.size(); ++i) index.add(all[i].matches, i);
}

void Webhooks::publish() {
  std::vector<Webhook> all;
  for (const auto& [key, webhooks] : configurations_) std::ranges::copy(webhooks, std::back_inserter(all));
  published_ = std::make_shared<const List>(std::move(all));
}

ApiResult<std::vector<const Webhook*>> matching(const Webhooks::List& webhooks, bool mutating,
                                                const ReviewRequest& request) {
  std::vector<const Webhook*> found;
  for (const size_t position : webhooks.index.candidates(request)) {
    const Webhook& webhook = webhooks.all[position];
    if (webhook.mutating != mutating) continue;
    const auto asked = isToBeAsked(webhook, request);
    if (!asked) return tl::unexpected(asked.error());
    if (*asked) found.push_back(&webhook);
  }
  return found;
}

}  // namespace lastout::simulator

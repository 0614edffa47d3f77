#include "apiserver/webhooks.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace lastout::apiserver {
namespace {

constexpr std::string_view kRegistration = "admissionregistration.k8s.io";

bool matchesOne(const std::vector<std::string>& patterns, std::string_view word) {
  return std::ranges::any_of(
      patterns, [word](const std::string& pattern) { return pattern == "*" || pattern == word; });
}

// "*" is any type without its subresources, "*/*" with them.
bool matchesResourceRule(const std::vector<std::string>& patterns, const ReviewRequest& request) {
  return std::ranges::any_of(patterns, [&request](std::string_view pattern) {
    const size_t slash = pattern.find('/');
    const std::string_view resource = pattern.substr(0, slash);
    const std::string_view subresource =
        slash == std::string_view::npos ? std::string_view() : pattern.substr(slash + 1);
    return (resource == "*" || resource == request.type.resource) &&
           (subresource == "*" || subresource == request.subresource);
  });
}

bool isOfNamespaces(const ReviewRequest& request) {
  return request.type.group.empty() && request.type.resource == "namespaces";
}

bool matchesScope(std::string_view scope, const ReviewRequest& request) {
  if (scope == "*") return true;
  const bool namespaced = !isOfNamespaces(request) && !request.namespaceName.empty();
  return (scope == "Namespaced") == namespaced;
}

bool matchesRule(const WebhookRule& rule, const ReviewRequest& request) {
  return matchesScope(rule.scope, request) && matchesOne(rule.operations, request.operation) &&
         matchesOne(rule.groups, request.type.group) && matchesOne(rule.versions, request.version) &&
         matchesResourceRule(rule.resources, request);
}

// A Namespace is selected by its own labels: those it is to get, and, when it is deleted or one of its
// subresources is written, those it has.
bool matchesNamespace(const kube::LabelSelector& selector, const ReviewRequest& request) {
  if (selector.requirements.empty()) return true;
  if (!isOfNamespaces(request))
    return request.namespaceName.empty() || selector.matches(request.namespaceLabels);
  const bool changesItself = request.subresource.empty() && request.object != nullptr;
  const Json* its = changesItself ? request.object : request.oldObject;
  return selector.matches(its != nullptr ? labelsOf(*its) : kube::Labels());
}

bool matchesObject(const kube::LabelSelector& selector, const ReviewRequest& request) {
  if (selector.requirements.empty()) return true;
  const auto matches = [&selector](const Json* object) {
    return object != nullptr && selector.matches(labelsOf(*object));
  };
  return matches(request.object) || matches(request.oldObject);
}

bool isExempt(const ReviewRequest& request) {
  return request.type.group == kRegistration && (request.type.resource == "validatingwebhookconfigurations" ||
                                                 request.type.resource == "mutatingwebhookconfigurations");
}

}  // namespace

kube::Labels labelsOf(const Json& object) {
  kube::Labels labels;
  const Json* found = at(object, {"metadata", "labels"});
  if (found == nullptr || !found->is_object()) return labels;
  for (const auto& [key, value] : found->items())
    if (value.is_string()) labels.emplace(key, value.get<std::string>());
  return labels;
}

bool concerns(const Webhook& webhook, const ReviewRequest& request) {
  return !isExempt(request) &&
         std::ranges::any_of(webhook.rules,
                             [&request](const WebhookRule& rule) { return matchesRule(rule, request); }) &&
         matchesNamespace(webhook.namespaceSelector, request) &&
         matchesObject(webhook.objectSelector, request);
}

ApiResult<bool> isToBeAsked(const Webhook& webhook, const ReviewRequest& request) {
  if (!concerns(webhook, request)) return false;
  Json attributes;
  CelVariables variables{request.object, request.oldObject, &attributes};
  std::string problems;
  for (const MatchCondition& condition : webhook.matchConditions) {
    if (condition.expression.usesRequest() && attributes.is_null()) attributes = attributesOf(request);
    const auto holds = condition.expression.test(variables);
    if (holds && !*holds) return false;
    if (!holds) problems += (problems.empty() ? "" : ", ") + holds.error();
  }
  if (problems.empty()) return true;
  if (webhook.failureIsIgnored) return false;
  return tl::unexpected(forbidden(request.type, request.name, problems));
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

void Webhooks::publish() {
  auto list = std::make_shared<List>();
  for (const auto& [key, webhooks] : configurations_) std::ranges::copy(webhooks, std::back_inserter(*list));
  published_ = std::move(list);
}

ApiResult<std::vector<const Webhook*>> matching(const Webhooks::List& webhooks, bool mutating,
                                                const ReviewRequest& request) {
  std::vector<const Webhook*> found;
  for (const Webhook& webhook : webhooks) {
    if (webhook.mutating != mutating) continue;
    const auto asked = isToBeAsked(webhook, request);
    if (!asked) return tl::unexpected(asked.error());
    if (*asked) found.push_back(&webhook);
  }
  return found;
}

}  // namespace lastout::apiserver

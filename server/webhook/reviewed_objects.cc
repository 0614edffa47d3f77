#include "server/webhook/reviewed_objects.h"

#include <algorithm>
#include <iterator>

#include "kube/well_known.h"

namespace lastout::server {

namespace {

template <class T>
std::set<T> inBoth(const std::set<T>& a, const std::set<T>& b) {
  std::set<T> both;
  std::ranges::set_intersection(a, b, std::inserter(both, both.end()));
  return both;
}

bool has(const std::vector<WebhookEntry>& entries, const WebhookEntry& entry) {
  return std::ranges::find(entries, entry) != entries.end();
}

}  // namespace

void ReviewedObjects::add(const criticalservice::CriticalService& service, const kube::ResourceMap& types,
                          const admission::Dependencies& dependencies, std::string_view ownNamespace) {
  const bool isGivenUp = service.intent == criticalservice::DeletionIntent::OrphanResources;
  for (admission::Guard& guard : admission::guardsOf(service, types, ownNamespace, dependencies)) {
    if (guard.object.type == criticalservice::criticalServiceType()) continue;
    if (isGivenUp && guard.guardedAs != admission::GuardedAs::LastoutNamespace) continue;
    deleted.insert(std::move(guard.object));
  }
  if (isGivenUp || !admission::isReviewed(service.provider, ownNamespace)) return;
  providers.insert(service.provider.type);
  if (service.guardsScaling) scaled.insert(service.provider);
}

bool ReviewedObjects::covers(const ReviewedObjects& wanted) const {
  return std::ranges::includes(deleted, wanted.deleted) && std::ranges::includes(scaled, wanted.scaled) &&
         std::ranges::all_of(wanted.policies,
                             [this](const WebhookEntry& entry) { return has(policies, entry); });
}

ReviewedObjects ReviewedObjects::common(const ReviewedObjects& other) const {
  ReviewedObjects both{inBoth(deleted, other.deleted), inBoth(scaled, other.scaled),
                       inBoth(providers, other.providers)};
  std::ranges::copy_if(policies, std::back_inserter(both.policies),
                       [&](const WebhookEntry& entry) { return has(other.policies, entry); });
  return both;
}

std::string ReviewedObjects::toString() const {
  std::string text;
  for (const kube::GroupResource& type : providers) text += (text.empty() ? "" : ", ") + kube::toString(type);
  const bool needsMore = std::ranges::any_of(deleted, [this](const kube::ObjectKey& object) {
    return object.type != kube::kNamespaces && object.type != kube::kCustomResourceDefinitions &&
           !providers.contains(object.type);
  });
  return text + (needsMore ? " and what the provider needs" : "");
}

}  // namespace lastout::server

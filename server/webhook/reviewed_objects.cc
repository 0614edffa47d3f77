#include "server/webhook/reviewed_objects.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "kube/names.h"
#include "kube/well_known.h"
#include "protection/cel.h"

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

using Sizes = std::map<kube::ObjectKey, size_t>;  // bytes, by the place

void addNamed(Sizes& sizes, const kube::ObjectKey& object) {
  const std::string literal = literalOf(object);
  sizes[placeOf(object)] += literal.size() + 1 + static_cast<size_t>(std::ranges::count(literal, '\\'));
}

// First those in no namespace: to review them as a whole costs the whole cluster.
std::vector<std::pair<size_t, kube::ObjectKey>> smallestFirst(const Sizes& sizes) {
  std::vector<std::pair<size_t, kube::ObjectKey>> places;
  for (const auto& [place, bytes] : sizes) places.emplace_back(bytes, place);
  std::ranges::sort(places, {}, [](const auto& one) {
    return std::tuple(!one.second.namespaceName.empty(), one.first, one.second);
  });
  return places;
}

}  // namespace

kube::ObjectKey placeOf(const kube::ObjectKey& object) { return {object.type, object.namespaceName, ""}; }

std::string literalOf(const kube::ObjectKey& object) {
  const std::string& space = object.namespaceName;
  return protection::celLiteral(space.empty() ? object.name : space + "/" + object.name);
}

void ReviewedObjects::add(const criticalservice::CriticalService& service, const kube::ResourceMap& types,
                          const admission::Dependencies& dependencies, std::string_view ownNamespace) {
  const bool isGivenUp = service.intent == criticalservice::DeletionIntent::OrphanResources;
  Sizes sizes;
  for (admission::Guard& guard : admission::guardsOf(service, types, ownNamespace, dependencies)) {
    if (guard.object.type == criticalservice::criticalServiceType()) continue;
    if (isGivenUp && guard.guardedAs != admission::GuardedAs::LastoutNamespace) continue;
    if (kube::nameProblem(guard.object.type, guard.object.name)) continue;
    addNamed(sizes, guard.object);
    deleted.insert(std::move(guard.object));
  }
  size_t named = 0;
  for (const auto& [bytes, place] : smallestFirst(sizes)) {
    if ((named += bytes) > kMostNamedBytes) crowded.insert(place);
  }
  if (isGivenUp || !admission::isReviewed(service.provider, ownNamespace)) return;
  providers.insert(service.provider.type);
  if (service.guardsScaling) scaled.insert(service.provider);
}

Places ReviewedObjects::wider(Places whole, size_t bytes) const {
  if (!std::ranges::includes(whole, crowded)) {
    whole.insert(crowded.begin(), crowded.end());
    return whole;
  }
  Sizes sizes;
  for (const kube::ObjectKey& object : deleted) {
    if (!whole.contains(placeOf(object))) addNamed(sizes, object);
  }
  const auto places = smallestFirst(sizes);
  for (auto each = places.rbegin(); each != places.rend(); ++each) {
    const auto& [named, place] = *each;
    const size_t kept = place.namespaceName.size() + 3;  // in the selector, in quotes
    if (named <= kept) continue;
    whole.insert(place);
    if (bytes <= named - kept) break;
    bytes -= named - kept;
  }
  return whole;
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

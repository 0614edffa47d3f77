#include "server/reviewed_types.h"

#include <algorithm>
#include <iterator>

namespace lastout::server {
namespace {

const kube::GroupResource kEverySpace{"", "namespaces"};

template <class T>
std::set<T> inBoth(const std::set<T>& a, const std::set<T>& b) {
  std::set<T> both;
  std::ranges::set_intersection(a, b, std::inserter(both, both.end()));
  return both;
}

}  // namespace

void ReviewedTypes::add(const criticalservice::CriticalService& service,
                        const admission::Dependencies& dependencies, std::string_view ownNamespace) {
  providers.insert(service.provider.type);
  if (service.guardsScaling) scaled.insert(service.provider.type);
  for (const criticalservice::Dependency& dependency : dependencies) {
    const std::string& space = dependency.object.namespaceName;
    if (dependency.object.type == kEverySpace) continue;  // reviewed by itself
    if (!admission::isReviewed(dependency.object, ownNamespace)) continue;
    needed.insert(dependency.object.type);
    if (!space.empty()) neededIn.insert(space);
  }
}

std::set<kube::GroupResource> ReviewedTypes::everywhere() const {
  std::set<kube::GroupResource> types = providers;
  types.insert({kube::crdType(), criticalservice::criticalServiceType()});
  return types;
}

bool ReviewedTypes::covers(const ReviewedTypes& wanted) const {
  if (!std::ranges::includes(providers, wanted.providers)) return false;
  const std::set<kube::GroupResource> all = everywhere();
  const bool coversNamespaces = std::ranges::includes(neededIn, wanted.neededIn);
  return std::ranges::all_of(wanted.needed, [&](const kube::GroupResource& type) {
    return all.contains(type) || (needed.contains(type) && coversNamespaces);
  });
}

ReviewedTypes ReviewedTypes::common(const ReviewedTypes& other) const {
  return {inBoth(providers, other.providers), inBoth(scaled, other.scaled), "", inBoth(needed, other.needed),
          inBoth(neededIn, other.neededIn)};
}

std::string ReviewedTypes::toString() const {
  std::string text;
  for (const kube::GroupResource& type : providers) text += (text.empty() ? "" : ", ") + kube::toString(type);
  return text + (needed.empty() ? "" : " and what the provider needs");
}

}  // namespace lastout::server

#include "criticalservice/writing_rights.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "criticalservice/pod_needs.h"
#include "kube/value.h"
#include "kube/well_known.h"

namespace lastout::criticalservice {
namespace {

constexpr std::string_view kEveryAccount = "system:serviceaccounts";
constexpr std::string_view kEveryUser = "system:authenticated";

// The namespace whose RoleBindings count for a request for the object: a Namespace's own for itself.
const std::string& namespaceOfRequest(const kube::ObjectKey& object) {
  return object.type == kube::kNamespaces ? object.name : object.namespaceName;
}

}  // namespace

void WritingRights::put(const kube::Object& object) {
  const kube::GroupResource& type = object.key.type;
  if (!GrantedRights::isAbout(type) || !put_.insert(object.key).second) return;
  if (type == kube::kRoles || type == kube::kClusterRoles) {
    roles_.insert_or_assign(object.key, contentOf(object));
    return;
  }
  Binding binding{.key = object.key, .accounts = {}, .role = roleOfBinding(object)};
  forEachItem(object.content.find("subjects"), [&](const kube::Value& subject) {
    const std::string& name = kube::textAt(subject, {"name"});
    const bool isGroup = kube::textAt(subject, {"kind"}) == "Group";
    if (isGroup && (name == kEveryAccount || name == kEveryUser))
      binding.accounts.emplace();
    else if (auto account = accountOf(subject); account && !account->first.empty())
      binding.accounts.insert(std::move(*account));
  });
  bindings_.push_back(std::move(binding));
}

bool WritingRights::binds(const Binding& binding, const Account& account) {
  return binding.accounts.contains(account) || binding.accounts.contains({account.first, ""}) ||
         binding.accounts.contains({"", ""});
}

// The known ClusterRoles that a ClusterRole aggregates, in turn from others maybe: each once.
std::vector<kube::ObjectKey> WritingRights::partsOf(const kube::ObjectKey& role) const {
  std::vector<kube::ObjectKey> parts;
  std::set<kube::ObjectKey> seen{role};
  std::vector<kube::ObjectKey> next{role};
  while (!next.empty()) {
    const RoleContent& whole = roles_.at(next.back());
    next.pop_back();
    for (const auto& [key, other] : roles_) {
      if (key.type != kube::kClusterRoles || !collects(whole, other.labels) || !seen.insert(key).second)
        continue;
      parts.push_back(key);
      next.push_back(key);
    }
  }
  return parts;
}

// A role that is not known may grant anything. The other roles of Kubernetes, whose names begin with
// "system:", let nobody write to objects of custom types.
template <class Allow>
WritingRights::Ways WritingRights::waysBy(const Binding& binding, Allow allow) const {
  const auto role = roles_.find(binding.role);
  if (role == roles_.end()) return areAllKnown_ || isDefaultRole(binding.role) ? Ways{} : Ways{{binding.key}};
  Ways ways;
  const std::vector<kube::ObjectKey> parts = partsOf(binding.role);
  for (const kube::ObjectKey& part : parts) {
    if (allow(roles_.at(part).rules)) ways.push_back({binding.key, binding.role, part});
  }
  const bool mayHaveOtherParts = !role->second.aggregates.empty() && parts.empty();
  if (ways.empty() && (mayHaveOtherParts || allow(role->second.rules)))
    ways.push_back({binding.key, binding.role});
  return ways;
}

WritingRights::Ways WritingRights::toUpdate(const Account& account, const kube::ObjectKey& object) const {
  const auto allow = [&](const std::vector<RoleRule>& rules) { return allowUpdating(rules, object); };
  Ways found;
  for (const Binding& binding : bindings_) {
    const std::string& space = binding.key.namespaceName;
    if (!binds(binding, account) || (!space.empty() && space != namespaceOfRequest(object))) continue;
    Ways ways = waysBy(binding, allow);
    // A binding of all accounts is none of those that every object needs (DependencyFinder::rightsOf()).
    const bool isOfAll = binding.accounts.contains({"", ""});
    if (space.empty() && !ways.empty() && !isOfAll) return {};
    std::ranges::move(ways, std::back_inserter(found));
  }
  return found.empty() ? byAggregates(account, object) : found;
}

// Returns the RoleBindings to roles of Kubernetes that let write something: ClusterRoles that are not known
// may be aggregated into these.
WritingRights::Ways WritingRights::byAggregates(const Account& account, const kube::ObjectKey& object) const {
  Ways found;
  for (const Binding& binding : bindings_) {
    const auto role = roles_.find(binding.role);
    if (!binds(binding, account) || binding.key.namespaceName != namespaceOfRequest(object) ||
        binding.key.namespaceName.empty() || role == roles_.end() || role->second.aggregates.empty() ||
        !isDefaultRole(binding.role) || waysBy(binding, allowAnyWriting).empty())
      continue;
    found.push_back({binding.key, binding.role});
  }
  return found;
}

bool WritingRights::mayUpdate(const Account& account, const kube::ObjectKey& object) const {
  const auto allow = [&](const std::vector<RoleRule>& rules) { return allowUpdating(rules, object); };
  return std::ranges::any_of(bindings_, [&](const Binding& binding) {
    const std::string& space = binding.key.namespaceName;
    return binds(binding, account) && (space.empty() || space == namespaceOfRequest(object)) &&
           !waysBy(binding, allow).empty();
  });
}

bool WritingRights::dependsOnNames(const kube::GroupResource& type) const {
  return std::ranges::any_of(roles_,
                             [&](const auto& role) { return areAboutNames(role.second.rules, type); });
}

bool WritingRights::isBound(const Account& account) const {
  return std::ranges::any_of(bindings_,
                             [&](const Binding& binding) { return binding.accounts.contains(account); });
}

WritingRights::Ways WritingRights::toActIn(const Account& account, const std::string& namespaceName) const {
  Ways found;
  for (const Binding& binding : bindings_) {
    const std::string& space = binding.key.namespaceName;
    if (!binds(binding, account) || (!space.empty() && space != namespaceName)) continue;
    std::ranges::move(waysBy(binding, allowAnyWriting), std::back_inserter(found));
  }
  return found;
}

template <class HasRule>
std::optional<kube::ObjectKey> WritingRights::roleOf(const Account& account, const kube::ObjectKey& object,
                                                     HasRule hasRule) const {
  for (const Binding& binding : bindings_) {
    const std::string& space = binding.key.namespaceName;
    if (!binds(binding, account) || !roles_.contains(binding.role) ||
        (!space.empty() && space != namespaceOfRequest(object)))
      continue;
    std::vector<kube::ObjectKey> roles = partsOf(binding.role);
    roles.push_back(binding.role);
    const auto found = std::ranges::find_if(
        roles, [&](const kube::ObjectKey& role) { return hasRule(roles_.at(role).rules); });
    if (found != roles.end()) return *found;
  }
  return std::nullopt;
}

std::optional<kube::ObjectKey> WritingRights::roleForFinalizersOf(const Account& account,
                                                                  const kube::ObjectKey& object) const {
  return roleOf(account, object,
                [&](const std::vector<RoleRule>& rules) { return nameFinalizersOf(rules, object.type); });
}

std::optional<kube::ObjectKey> WritingRights::roleForUpdatesOf(const Account& account,
                                                               const kube::ObjectKey& object) const {
  return roleOf(account, object,
                [&](const std::vector<RoleRule>& rules) { return nameUpdatesOf(rules, object.type); });
}

kube::ObjectKey updatedToRemove(const kube::Object& object, const std::string& finalizer) {
  if (object.key.type != kube::kNamespaces) return object.key;
  const std::vector<std::string> ofSpec = textsAt(object.content, {"spec", "finalizers"});
  if (std::ranges::find(ofSpec, finalizer) == ofSpec.end()) return object.key;
  return {{"", "namespaces/finalize"}, "", object.key.name};
}

}  // namespace lastout::criticalservice

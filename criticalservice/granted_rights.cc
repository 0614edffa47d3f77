#include "criticalservice/granted_rights.h"

#include <algorithm>
#include <optional>

#include "criticalservice/pod_needs.h"
#include "kube/patterns.h"
#include "kube/value.h"
#include "kube/well_known.h"

namespace lastout::criticalservice {
namespace {

kube::ObjectKey clusterRoleKey(const std::string& name) { return {kube::kClusterRoles, "", name}; }

// As tokens of ServiceAccounts name their user, and the group of all in one namespace. The group of all
// ServiceAccounts is nobody's in particular.
constexpr std::string_view kUserOfAccount = "system:serviceaccount:";
constexpr std::string_view kGroupOfAccounts = "system:serviceaccounts:";

bool hasReadsLabel(const kube::Labels& labels) {
  const auto found = labels.find(kube::kReadsLabel);
  return found != labels.end() && found->second == "true";
}

}  // namespace

std::optional<GrantedRights::Account> accountOf(const kube::Value& subject) {
  const std::string& kind = kube::textAt(subject, {"kind"});
  const std::string& name = kube::textAt(subject, {"name"});
  if (kind == "ServiceAccount" && !name.empty())
    return GrantedRights::Account{kube::textAt(subject, {"namespace"}), name};
  if (kind == "Group" && name.starts_with(kGroupOfAccounts))
    return GrantedRights::Account{name.substr(kGroupOfAccounts.size()), ""};
  if (kind != "User" || !name.starts_with(kUserOfAccount)) return std::nullopt;
  const std::string account = name.substr(kUserOfAccount.size());
  const size_t colon = account.find(':');
  if (colon == std::string::npos || colon + 1 == account.size()) return std::nullopt;
  return GrantedRights::Account{account.substr(0, colon), account.substr(colon + 1)};
}

kube::ObjectKey roleOfBinding(const kube::Object& binding) {
  const bool isClusterRole = kube::textAt(binding.content, {"roleRef", "kind"}) == "ClusterRole";
  return {isClusterRole ? kube::kClusterRoles : kube::kRoles, isClusterRole ? "" : binding.key.namespaceName,
          kube::textAt(binding.content, {"roleRef", "name"})};
}

bool GrantedRights::isAbout(const kube::GroupResource& type) {
  return type == kube::kClusterRoles || type == kube::kRoles || type == kube::kRoleBindings ||
         type == kube::kClusterRoleBindings;
}

// Of a RoleBinding only what it gives to ServiceAccounts of its own namespace: others come and go without the
// provider, and must not wait for it.
GrantedRights::Binding GrantedRights::readBinding(const kube::Object& object) {
  Binding binding;
  binding.role = roleOfBinding(object);
  binding.createdAt = kube::textAt(object.content, {"metadata", "creationTimestamp"});
  forEachItem(object.content.find("subjects"), [&](const kube::Value& subject) {
    auto account = accountOf(subject);
    if (!account || account->first.empty()) return;
    const std::string& space = object.key.namespaceName;
    if (space.empty() || space == account->first) binding.accounts.insert(std::move(*account));
  });
  return binding;
}

// What a role allows matters where lastout reads by it.
bool GrantedRights::meansTheSame(const RoleContent& one, const RoleContent& other) {
  return one.labels == other.labels && one.aggregates == other.aggregates &&
         (!hasReadsLabel(one.labels) || one.rules == other.rules);
}

bool GrantedRights::allowsLess(const kube::Object& object) const {
  if (object.key.type == kube::kClusterRoles) {
    const auto known = clusterRoles_.find(object.key.name);
    return known != clusterRoles_.end() && !allowAll(rulesOf(object), known->second.rules);
  }
  const auto known = roles_.find(object.key);
  return known != roles_.end() && !allowAll(rulesOf(object), known->second);
}

std::set<std::string> GrantedRights::put(const kube::Object& object) {
  if (object.key.type == kube::kClusterRoles) return putClusterRole(object.key.name, contentOf(object));
  if (object.key.type == kube::kRoles) {
    roles_[object.key] = rulesOf(object);
    return {};
  }
  return putBinding(object.key, readBinding(object));
}

std::set<std::string> GrantedRights::remove(const kube::ObjectKey& key) {
  if (key.type == kube::kRoles) roles_.erase(key);
  if (key.type != kube::kClusterRoles) return removeBinding(key);
  std::set<std::string> concerned = concernedBy(key.name);
  clusterRoles_.erase(key.name);
  aggregating_.erase(key.name);
  return concerned;
}

std::set<std::string> GrantedRights::putBinding(const kube::ObjectKey& key, Binding binding) {
  if (const auto known = bindings_.find(key); known != bindings_.end() && known->second == binding) return {};
  std::set<std::string> concerned = removeBinding(key);
  if (binding.accounts.empty()) return concerned;
  for (const Account& account : binding.accounts) bindingsOf_[account].insert(key);
  bindingsTo_[binding.role].insert(key);
  addConcerned(binding, concerned);
  bindings_.emplace(key, std::move(binding));
  return concerned;
}

std::set<std::string> GrantedRights::removeBinding(const kube::ObjectKey& key) {
  const auto binding = bindings_.find(key);
  if (binding == bindings_.end()) return {};
  std::set<std::string> concerned;
  addConcerned(binding->second, concerned);
  const auto take = [&](auto& index, const auto& from) {
    const auto known = index.find(from);
    known->second.erase(key);
    if (known->second.empty()) index.erase(known);
  };
  for (const Account& account : binding->second.accounts) take(bindingsOf_, account);
  take(bindingsTo_, binding->second.role);
  bindings_.erase(binding);
  return concerned;
}

std::set<std::string> GrantedRights::putClusterRole(const std::string& name, RoleContent role) {
  const auto known = clusterRoles_.find(name);
  if (known != clusterRoles_.end() && meansTheSame(known->second, role)) {
    known->second = std::move(role);
    return {};
  }
  std::set<std::string> concerned = concernedBy(name);
  if (role.aggregates.empty())
    aggregating_.erase(name);
  else
    aggregating_.insert(name);
  clusterRoles_.insert_or_assign(name, std::move(role));
  concerned.merge(concernedBy(name));
  return concerned;
}

void GrantedRights::addConcerned(const Binding& binding, std::set<std::string>& namespaces) const {
  for (const Account& account : binding.accounts) namespaces.insert(account.first);
  if (isForReading(binding.role)) namespaces.insert(kEveryNamespace);
}

// It aggregates what lastout reads by.
bool GrantedRights::isForReading(const kube::ObjectKey& role) const {
  if (role.type != kube::kClusterRoles || !aggregating_.contains(role.name)) return false;
  return collects(clusterRoles_.at(role.name), {{std::string(kube::kReadsLabel), "true"}});
}

// By way of the ClusterRoles that aggregate it, and those that aggregate them.
std::set<std::string> GrantedRights::concernedBy(const std::string& clusterRole) const {
  std::set<std::string> concerned;
  const auto known = clusterRoles_.find(clusterRole);
  if (known == clusterRoles_.end()) return concerned;
  if (hasReadsLabel(known->second.labels) || isForReading(clusterRoleKey(clusterRole)))
    concerned.insert(kEveryNamespace);
  std::set<std::string> seen{clusterRole};
  std::vector<std::string> next{clusterRole};
  while (!next.empty()) {
    const std::string name = std::move(next.back());
    next.pop_back();
    const auto bound = bindingsTo_.find(clusterRoleKey(name));
    if (bound != bindingsTo_.end() && aggregating_.contains(name)) {
      for (const kube::ObjectKey& binding : bound->second) addConcerned(bindings_.at(binding), concerned);
    }
    for (const std::string& other : aggregating_) {
      if (collects(clusterRoles_.at(other), clusterRoles_.at(name).labels) && seen.insert(other).second)
        next.push_back(other);
    }
  }
  return concerned;
}

// Those that give it their rules, in turn from others maybe: each once.
std::vector<std::string> GrantedRights::aggregatedBy(const std::string& clusterRole) const {
  std::vector<std::string> found;
  std::set<std::string> seen{clusterRole};
  std::vector<std::string> next{clusterRole};
  while (!next.empty()) {
    const std::string name = std::move(next.back());
    next.pop_back();
    if (!aggregating_.contains(name)) continue;
    for (const auto& [other, role] : clusterRoles_) {
      if (!collects(clusterRoles_.at(name), role.labels) || !seen.insert(other).second) continue;
      found.push_back(other);
      next.push_back(other);
    }
  }
  return found;
}

std::vector<kube::ObjectKey> GrantedRights::oldestFirst(const std::set<kube::ObjectKey>& bindings) const {
  std::vector<kube::ObjectKey> sorted(bindings.begin(), bindings.end());
  std::ranges::stable_sort(sorted, {}, [&](const kube::ObjectKey& key) -> const std::string& {
    return bindings_.at(key).createdAt;
  });
  return sorted;
}

std::vector<Granted> GrantedRights::of(const Account& account) const {
  std::set<kube::ObjectKey> bound;
  for (const Account& subject : {account, Account{account.first, ""}}) {
    if (const auto found = bindingsOf_.find(subject); found != bindingsOf_.end())
      bound.insert(found->second.begin(), found->second.end());
  }
  std::vector<Granted> granted;
  for (const kube::ObjectKey& binding : oldestFirst(bound)) {
    const kube::ObjectKey& role = bindings_.at(binding).role;
    granted.push_back({binding, "binding of its ServiceAccount"});
    granted.push_back({role, "role of its ServiceAccount"});
    if (role.type != kube::kClusterRoles) continue;
    for (const std::string& part : aggregatedBy(role.name))
      granted.push_back(
          {clusterRoleKey(part), "part of ClusterRole " + role.name + " of its ServiceAccount"});
  }
  return granted;
}

std::vector<Granted> GrantedRights::forReading(const kube::GroupResource& type) const {
  const std::string why = "lastout reads " + toString(type) + " by it";
  std::vector<Granted> granted;
  for (const auto& [name, role] : clusterRoles_) {
    if (hasReadsLabel(role.labels) && areAbout(role.rules, type))
      granted.push_back({clusterRoleKey(name), why});
  }
  if (granted.empty()) return granted;
  std::set<kube::ObjectKey> bound;
  for (const std::string& name : aggregating_) {
    if (!isForReading(clusterRoleKey(name))) continue;
    granted.push_back({clusterRoleKey(name), why});
    if (const auto found = bindingsTo_.find(clusterRoleKey(name)); found != bindingsTo_.end())
      bound.insert(found->second.begin(), found->second.end());
  }
  std::erase_if(bound, [](const kube::ObjectKey& key) { return key.type != kube::kClusterRoleBindings; });
  for (const kube::ObjectKey& binding : oldestFirst(bound)) granted.push_back({binding, why});
  return granted;
}

}  // namespace lastout::criticalservice

#include "simulator/rbac.h"

#include <algorithm>

#include "simulator/match_resources.h"

namespace lastout::simulator {
namespace {

// Calls take(item) for each object of a list.
template <class Take>
void forEachItem(const Json& object, std::initializer_list<std::string_view> path, Take take) {
  const Json* list = at(object, path);
  if (list == nullptr || !list->is_array()) return;
  for (const Json& item : *list)
    if (item.is_object()) take(item);
}

// nullopt: it names objects, but none that can be.
std::optional<AccessRule> ruleOf(const Json& json) {
  AccessRule rule{.verbs = wordsAt(json, {"verbs"}),
                  .groups = wordsAt(json, {"apiGroups"}),
                  .resources = wordsAt(json, {"resources"}),
                  .names = wordsAt(json, {"resourceNames"}),
                  .namespaces = {},
                  .paths = wordsAt(json, {"nonResourceURLs"})};
  if (rule.names.empty()) return rule;
  std::erase(rule.names, "*");  // no wildcard in a role, and no object's name
  if (rule.names.empty()) return std::nullopt;
  return rule;
}

// What Kubernetes binds to controllers that the embedded cluster has.
const AccessRule* rightsOfController(const UserInfo& user) {
  static const AccessRule kOnEverything{
      .verbs = {"get", "list", "watch", "patch", "update", "delete", "deletecollection"},
      .groups = {"*"},
      .resources = {"*"},
      .names = {},
      .namespaces = {},
      .paths = {}};
  const bool has = user.username == controllerUser("generic-garbage-collector").username ||
                   user.username == controllerUser("namespace-controller").username;
  return has ? &kOnEverything : nullptr;
}

bool isBinding(const Json& object) { return stringAt(object, {"kind"}).ends_with("RoleBinding"); }

std::pair<std::string, std::string> keyOf(const Json& object) {
  return {std::string(stringAt(object, {"metadata", "namespace"})),
          std::string(stringAt(object, {"metadata", "name"}))};
}

}  // namespace

void Rbac::put(const Json& object) {
  const Key key = keyOf(object);
  const kube::MutexLock lock(mutex_);
  if (!isBinding(object)) {
    Role role;
    role.labels = labelsOf(object);
    forEachItem(object, {"rules"}, [&role](const Json& rule) {
      if (auto read = ruleOf(rule)) role.rules.push_back(std::move(*read));
    });
    forEachItem(object, {"aggregationRule", "clusterRoleSelectors"}, [&role](const Json& selector) {
      if (auto read = kube::parseSelector(kube::fromJson(selector), "")) role.aggregates.push_back(*read);
    });
    roles_.insert_or_assign(key, std::move(role));
    return;
  }
  Binding binding{stringAt(object, {"roleRef", "kind"}) == "ClusterRole",
                  std::string(stringAt(object, {"roleRef", "name"})),
                  {}};
  forEachItem(object, {"subjects"}, [&](const Json& subject) {
    std::string kind(stringAt(subject, {"kind"}));
    std::string name(stringAt(subject, {"name"}));
    if (kind == "ServiceAccount") {
      const std::string_view given = stringAt(subject, {"namespace"});
      const std::string space = given.empty() ? key.first : std::string(given);
      if (space.empty()) return;
      kind = "User";
      name = "system:serviceaccount:" + space + ":" + name;
    }
    binding.subjects.push_back({std::move(kind), std::move(name)});
  });
  bindings_.insert_or_assign(key, std::move(binding));
}

void Rbac::remove(const Json& object) {
  const kube::MutexLock lock(mutex_);
  if (isBinding(object))
    bindings_.erase(keyOf(object));
  else
    roles_.erase(keyOf(object));
}

bool Rbac::concerns(const Binding& binding, const UserInfo& user) {
  return std::ranges::any_of(binding.subjects, [&user](const Subject& subject) {
    if (subject.kind == "User") return subject.name == user.username;
    return subject.kind == "Group" && std::ranges::find(user.groups, subject.name) != user.groups.end();
  });
}

void Rbac::addRules(const Key& role, std::vector<const Role*>& seen, std::vector<AccessRule>& rules) const {
  const auto found = roles_.find(role);
  if (found == roles_.end() || std::ranges::find(seen, &found->second) != seen.end()) return;
  seen.push_back(&found->second);
  rules.insert(rules.end(), found->second.rules.begin(), found->second.rules.end());
  for (const kube::LabelSelector& selector : found->second.aggregates) {
    for (const auto& [key, other] : roles_)
      if (key.first.empty() && selector.matches(other.labels)) addRules(key, seen, rules);
  }
}

std::vector<AccessRule> Rbac::rulesIn(const UserInfo& user, std::string_view namespaceName) const {
  std::vector<AccessRule> rules;
  if (const AccessRule* own = rightsOfController(user)) rules.push_back(*own);
  std::vector<const Role*> seen;
  for (const auto& [key, binding] : bindings_) {
    const bool isHere = key.first.empty() || key.first == namespaceName;
    if (!isHere || !concerns(binding, user)) continue;
    addRules({binding.isClusterRole ? "" : key.first, binding.role}, seen, rules);
  }
  return rules;
}

bool Rbac::allows(const UserInfo& user, const AccessAttributes& wanted) const {
  const kube::MutexLock lock(mutex_);
  // Paths are the cluster's.
  return simulator::allows(rulesIn(user, wanted.path.empty() ? wanted.namespaceName : ""), wanted);
}

std::vector<AccessRule> Rbac::rulesFor(const UserInfo& user, std::string_view namespaceName) const {
  const kube::MutexLock lock(mutex_);
  return rulesIn(user, namespaceName);
}

}  // namespace lastout::simulator

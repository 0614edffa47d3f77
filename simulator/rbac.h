// Rbac: the roles and bindings that are stored, and what they allow to whom.
// https://kubernetes.io/docs/reference/access-authn-authz/rbac/
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/locks.h"
#include "kube/selector.h"
#include "simulator/json.h"
#include "simulator/user.h"

namespace lastout::simulator {

// Safe for any number of threads.
class Rbac {
 public:
  // Adds a Role, ClusterRole, RoleBinding or ClusterRoleBinding, or replaces the one of that name. What in it
  // is not understood allows nothing.
  void put(const Json& object);
  void remove(const Json& object);

  // Whether a rule of a role that is bound to the user, or to one of its groups, matches. A ClusterRole with
  // an aggregationRule has the rules of those that it selects, too. The garbage collector and the namespace
  // controller have their rights without a binding.
  bool allows(const UserInfo& user, const AccessAttributes& wanted) const;
  // All that matters in a namespace.
  std::vector<AccessRule> rulesFor(const UserInfo& user, std::string_view namespaceName) const;

 private:
  using Key = std::pair<std::string, std::string>;  // namespace ("" for the cluster's) and name
  struct Role {
    std::vector<AccessRule> rules;
    kube::Labels labels;
    std::vector<kube::LabelSelector> aggregates;
  };
  struct Subject {
    std::string kind;  // User, Group; a ServiceAccount is the User of its name
    std::string name;
  };
  struct Binding {
    bool isClusterRole = false;
    std::string role;
    std::vector<Subject> subjects;
  };

  static bool concerns(const Binding& binding, const UserInfo& user);
  void addRules(const Key& role, std::vector<const Role*>& seen, std::vector<AccessRule>& rules) const
      LASTOUT_REQUIRES(mutex_);
  std::vector<AccessRule> rulesIn(const UserInfo& user, std::string_view namespaceName) const
      LASTOUT_REQUIRES(mutex_);

  mutable kube::Mutex mutex_;
  std::map<Key, Role> roles_ LASTOUT_GUARDED_BY(mutex_);
  std::map<Key, Binding> bindings_ LASTOUT_GUARDED_BY(mutex_);
};

}  // namespace lastout::simulator

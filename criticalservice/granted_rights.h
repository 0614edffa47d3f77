// GrantedRights: the bindings and ClusterRoles by which ServiceAccounts act, and those by which lastout reads
// the types that criteria name (docs/concepts.md, "Dependencies").
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "criticalservice/role_rules.h"
#include "kube/object.h"

namespace lastout::criticalservice {

// In a set of namespaces: providers in all of them are concerned.
inline constexpr const char* kEveryNamespace = "*";

// An object that gives a right, and what it is to whoever needs that right.
struct Granted {
  kube::ObjectKey object;
  std::string why;
};

class GrantedRights {
 public:
  using Account = std::pair<std::string, std::string>;  // namespace and name; no name: each one in there

  // RoleBindings, ClusterRoleBindings, ClusterRoles and Roles.
  static bool isAbout(const kube::GroupResource& type);

  // Both return the namespaces of the accounts whose rights may have changed, or kEveryNamespace where
  // lastout's own may have. `object` is of a type that isAbout() names.
  std::set<std::string> put(const kube::Object& object);
  std::set<std::string> remove(const kube::ObjectKey& key);

  // The object is a role that allowed something when it was put last, and does not any more.
  bool allowsLess(const kube::Object& object) const;

  // The bindings of the account, the oldest first, each followed by its role and, of a ClusterRole with an
  // aggregationRule, the ClusterRoles that this selects.
  std::vector<Granted> of(const Account& account) const;
  // The ClusterRoles with kReadsLabel that name the type, or all types, in their rules; the ClusterRoles that
  // aggregate them, and the ClusterRoleBindings of these, the oldest first.
  std::vector<Granted> forReading(const kube::GroupResource& type) const;

 private:
  struct Binding {
    std::set<Account> accounts;
    kube::ObjectKey role;
    std::string createdAt;  // in RFC 3339, which sorts as text; empty: not known
    friend bool operator==(const Binding&, const Binding&) = default;
  };

  static Binding readBinding(const kube::Object& object);
  static bool meansTheSame(const RoleContent& one, const RoleContent& other);
  std::set<std::string> putBinding(const kube::ObjectKey& key, Binding binding);
  std::set<std::string> putClusterRole(const std::string& name, RoleContent role);
  std::set<std::string> removeBinding(const kube::ObjectKey& key);
  std::set<std::string> concernedBy(const std::string& clusterRole) const;
  void addConcerned(const Binding& binding, std::set<std::string>& namespaces) const;
  bool isForReading(const kube::ObjectKey& role) const;
  std::vector<std::string> aggregatedBy(const std::string& clusterRole) const;
  std::vector<kube::ObjectKey> oldestFirst(const std::set<kube::ObjectKey>& bindings) const;

  std::map<kube::ObjectKey, Binding> bindings_;
  std::map<Account, std::set<kube::ObjectKey>> bindingsOf_;
  std::map<kube::ObjectKey, std::set<kube::ObjectKey>> bindingsTo_;  // by role
  std::map<std::string, RoleContent> clusterRoles_;
  std::map<kube::ObjectKey, std::vector<RoleRule>> roles_;
  std::set<std::string> aggregating_;  // names of those that aggregate others
};

// Parts of bindings and roles, which WritingRights reads, too.
// The account that a binding's subject means; nullopt: nobody's in particular, or no ServiceAccount's.
std::optional<GrantedRights::Account> accountOf(const kube::Value& subject);
// The role that a RoleBinding or ClusterRoleBinding names.
kube::ObjectKey roleOfBinding(const kube::Object& binding);

}  // namespace lastout::criticalservice

// WritingRights: by which bindings a ServiceAccount may take the finalizers off an object, or delete objects
// in a namespace, as far as manifests show it (docs/semantics.md, "The rules").
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "criticalservice/default_roles.h"
#include "criticalservice/granted_rights.h"
#include "criticalservice/role_rules.h"
#include "kube/object.h"

namespace lastout::criticalservice {

class WritingRights {
 public:
  using Account = GrantedRights::Account;
  // Each grants the right while all of its objects are there: a binding, its role if that is known, and the
  // part of an aggregated role that has the rule.
  using Ways = std::vector<std::vector<kube::ObjectKey>>;

  // Of two of one name the first counts. Of other objects than bindings and roles nothing follows.
  void put(const kube::Object& object);

  // The ways by RoleBindings in the object's namespace. None: no RoleBinding there may grant it, or the
  // account may update the object by a ClusterRoleBinding, whatever becomes of that namespace.
  Ways toUpdate(const Account& account, const kube::ObjectKey& object) const;
  // True if some binding may let the account update the object, in its namespace or everywhere.
  bool mayUpdate(const Account& account, const kube::ObjectKey& object) const;
  // True if any role or binding was put.
  bool isAnyKnown() const { return !put_.empty(); }
  // The ways to change anything in the namespace as this account.
  Ways toActIn(const Account& account, const std::string& namespaceName) const;
  // Returns the role by which the account may update "<type>/finalizers", in some namespace or in all;
  // nullopt: no role that is known lets it.
  std::optional<kube::ObjectKey> roleForFinalizersOf(const Account& account,
                                                     const kube::GroupResource& type) const;

 private:
  struct Binding {
    kube::ObjectKey key;
    std::set<Account> accounts;  // "" and "": every ServiceAccount
    kube::ObjectKey role;
  };

  static bool binds(const Binding& binding, const Account& account);
  std::vector<kube::ObjectKey> partsOf(const kube::ObjectKey& role) const;
  template <class Allow>
  Ways waysBy(const Binding& binding, Allow allow) const;
  Ways byAggregates(const Account& account, const kube::ObjectKey& object) const;

  std::set<kube::ObjectKey> put_;  // bindings and roles
  std::vector<Binding> bindings_;
  // Roles and ClusterRoles; of Kubernetes' own those that were not put, too.
  std::map<kube::ObjectKey, RoleContent> roles_ = defaultRoles();
};

}  // namespace lastout::criticalservice

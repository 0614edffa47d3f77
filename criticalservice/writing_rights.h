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
  // Says that all roles are put: one that is not there gives nothing.
  void noteAllRolesAreKnown() { areAllKnown_ = true; }

  // The ways by RoleBindings in the object's namespace. None: no RoleBinding there may grant it, or the
  // account may update the object by a ClusterRoleBinding, whatever becomes of that namespace.
  Ways toUpdate(const Account& account, const kube::ObjectKey& object) const;
  // True if some binding may let the account update the object, in its namespace or everywhere.
  bool mayUpdate(const Account& account, const kube::ObjectKey& object) const;
  // True if some binding names the account itself, and not all accounts or those of its namespace alone.
  bool isBound(const Account& account) const;
  // True if a rule of some role is about objects of the type by their names; else a right holds for all of
  // them in one namespace.
  bool dependsOnNames(const kube::GroupResource& type) const;
  // True if any role or binding was put.
  bool isAnyKnown() const { return !put_.empty(); }
  // The ways to change anything in the namespace as this account.
  Ways toActIn(const Account& account, const std::string& namespaceName) const;
  // Returns the role by which the account may update "<type>/finalizers" where the object is; nullopt: no
  // role that is known lets it.
  std::optional<kube::ObjectKey> roleForFinalizersOf(const Account& account,
                                                     const kube::ObjectKey& object) const;
  // The same of the object, whose type the role names: nameUpdatesOf().
  std::optional<kube::ObjectKey> roleForUpdatesOf(const Account& account,
                                                  const kube::ObjectKey& object) const;

 private:
  struct Binding {
    kube::ObjectKey key;
    std::set<Account> accounts;  // "" and "": every ServiceAccount
    kube::ObjectKey role;
  };

  static bool binds(const Binding& binding, const Account& account);
  std::vector<kube::ObjectKey> partsOf(const kube::ObjectKey& role) const;
  template <class HasRule>
  std::optional<kube::ObjectKey> roleOf(const Account& account, const kube::ObjectKey& object,
                                        HasRule hasRule) const;
  template <class Allow>
  Ways waysBy(const Binding& binding, Allow allow) const;
  Ways byAggregates(const Account& account, const kube::ObjectKey& object) const;

  std::set<kube::ObjectKey> put_;  // bindings and roles
  std::vector<Binding> bindings_;
  // Roles and ClusterRoles; of Kubernetes' own those that were not put, too.
  std::map<kube::ObjectKey, RoleContent> roles_ = defaultRoles();
  bool areAllKnown_ = false;
};

// Returns what is updated to take the finalizer off the object: the object itself or, for one of
// spec.finalizers of a Namespace, its "namespaces/finalize" as if that were a type.
kube::ObjectKey updatedToRemove(const kube::Object& object, const std::string& finalizer);

}  // namespace lastout::criticalservice

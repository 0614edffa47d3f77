// RemoverFinder: which workloads remove which finalizers, as far as manifests tell. They cannot prove it;
// each finding says what it rests on.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "criticalservice/critical_service.h"
#include "criticalservice/finalizer_removers.h"
#include "criticalservice/writing_rights.h"
#include "kube/object.h"

namespace lastout::criticalservice {

// Keeps the pointers. For one thread at a time.
class RemoverFinder {
 public:
  using Objects = std::vector<const kube::Object*>;
  using OfType = std::pair<kube::GroupResource, std::string>;  // a finalizer on the objects of one type

  // `knowsAllRoles`: a role that is not among the objects does not exist.
  RemoverFinder(const Objects& objects, const kube::ResourceMap& types, bool knowsAllRoles = false);

  // Returns the removers of all finalizers that the objects carry, by type, finalizer and workload. Those of
  // builtInRemoverOf() have none here. Only the strongest evidence that there is counts, with each workload
  // to which it points:
  // 1. a CriticalService that names the finalizer and its provider, in the namespaces of its criterion;
  // 2. metadata.managedFields of an object, if the manager that set the finalizer has the name of exactly one
  //    workload, or of a container of one, and did not apply it. A name that many controllers have counts
  //    only for a workload that may update the object, as far as its roles are known. Where nothing has the
  //    manager's name, the one workload counts whose own name is a part of it, if it may update the object;
  // 3. a role by which the ServiceAccount of a workload may update "<type>/finalizers" where such an object
  //    is, if it may also update that object;
  // 4. a role that names the type, and lets the workload update such an object; of one of Kubernetes' own
  //    types, if it is the only one;
  //    of spec.finalizers of a Namespace, a role that names namespaces/finalize;
  // 5. as 3., without that right; 6. as 2., of a manager that applied it.
  std::vector<FinalizerRemover> all() const;
  // Returns the finalizers that all() leaves without a remover. `where`: the objects come from, in words.
  std::vector<UnremovedFinalizer> unremoved(std::string_view where) const;

  // Returns who removes a finalizer of that object; a role counts where it holds in the object's namespace.
  // The same for all objects of that type in that namespace, unless dependsOnNames().
  std::vector<FinalizerRemover> of(const kube::Object& object, const std::string& finalizer) const;
  // Returns the workloads that may set finalizers on the object, or remove what they have set: as 3. of
  // all(). None for Kubernetes' own types.
  std::vector<FinalizerRemover> settersOf(const kube::Object& object) const;
  // Returns where was looked for those of the object, and which workloads came close.
  std::string lookedFor(const kube::Object& object, const std::string& finalizer,
                        std::string_view where) const;
  bool dependsOnNames(const kube::GroupResource& type) const { return rights_.dependsOnNames(type); }
  // Returns true if a CriticalService says who removes it, whether that is among the objects or not.
  bool isOfService(const OfType& what) const;
  // Returns the ServiceAccount by which no role lets the workload update the object, although some binding
  // names it: "ns/name"; empty: it may, or its rights come from elsewhere.
  std::string accountWithoutRight(const kube::Object& workload, const kube::ObjectKey& object) const;

 private:
  struct Evidence {
    std::string text;
    bool isWeak = false;
    std::vector<kube::ObjectKey> setOn = {};
  };
  // Which managers set a finalizer, each with the objects on which it did.
  using Managers = std::map<std::string, Objects>;
  using Found = std::map<kube::ObjectKey, Evidence>;
  // How a finalizer was set. What applies manifests sets all that is in them, and does not remove it.
  enum class By : uint8_t { Update, Apply };

  void addCarrier(const kube::GroupResource& type, const kube::Object& object,
                  const std::vector<std::string>& finalizers);
  void addManagers(const OfType& what, const kube::Object& carrier);

  // Objects with a finalizer of which no CriticalService says who removes it, and the scope that they are in.
  struct Undeclared {
    Objects objects;
    kube::NamespaceScope scope;
  };

  Found find(const OfType& what, const Undeclared& about) const;
  // Returns those of representativesOf() that are in the scope of none of `declared`, which byServices()
  // returned.
  Undeclared undeclared(const OfType& what, const Objects& carriers,
                        const std::vector<FinalizerRemover>& declared) const;
  // Returns one of them for each namespace, where rights do not depend on names.
  Objects representativesOf(const OfType& what, const Objects& carriers) const;
  std::vector<FinalizerRemover> byServices(const OfType& what) const;
  Found byManagers(const OfType& what, By by, const kube::NamespaceScope& scope) const;
  Found byRoles(const OfType& what, const Objects& about, bool mayUpdate) const;
  Found byUpdates(const OfType& what, const Objects& about) const;
  template <class RoleFor>
  Found byRight(const OfType& what, const Objects& about, const std::string& right, RoleFor roleFor) const;
  static std::vector<FinalizerRemover> removersIn(const OfType& what, const Found& found);
  bool mayUpdate(const kube::Object& workload, const OfType& what, const Objects& about) const;
  Objects workloadsCalled(const std::string& manager, const kube::ObjectKey& object) const;

  std::string lookedFor(const OfType& what, const Objects& about, std::string_view where) const;
  void addNearServices(const OfType& what, std::vector<std::string>& clauses) const;
  void addNearManagers(const OfType& what, std::vector<std::string>& clauses) const;
  void addNearRoles(const OfType& what, const Objects& about, std::vector<std::string>& clauses) const;

  std::map<kube::ObjectKey, const kube::Object*> objects_;
  Objects workloads_;
  std::vector<CriticalService> services_;
  WritingRights rights_;
  std::map<std::string, Objects> called_;  // workloads, by their names and those of their containers
  std::map<OfType, Objects> carriers_;
  std::map<OfType, Managers> updated_;  // of those that are carried
  std::map<OfType, Managers> applied_;
};

}  // namespace lastout::criticalservice

// What a provider needs to work: found in its own manifest, and in those of the objects around it
// (docs/concepts.md, "Dependencies").
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "criticalservice/critical_service.h"
#include "kube/object.h"

namespace lastout::criticalservice {

// As many are found of one provider; what its Pods name comes first.
inline constexpr size_t kMostDependencies = 200;

// So many types that one provider converts are waited for, the first by name.
inline constexpr size_t kMostConverted = 32;

// Whether what the service's provider needs is to be found by itself.
inline bool findsDependencies(const CriticalService& service) {
  return service.dependencies.mode == DependencyMode::Auto &&
         service.intent != DeletionIntent::OrphanResources;
}

// Something that a provider needs.
struct Dependency {
  kube::ObjectKey object;
  std::string why;            // "volume certs", "Service of its Pods": what it is to the provider
  bool ownsProvider = false;  // the provider goes because it does, and not before it
  friend bool operator==(const Dependency&, const Dependency&) = default;
};

// An owner as ownerReferences name it.
struct OwnerName {
  std::string group;
  std::string kind;
  std::string name;
  friend bool operator==(const OwnerName&, const OwnerName&) = default;
};
// Whether that is this object, which may be one's owner by where it is. A kind that is not built in is told
// by how it begins, for its CRD may not be known: "Gateway", gateways.
bool means(const OwnerName& owner, const kube::ObjectKey& object);

// Keeps of objects what dependencies follow from, as they come, change and go; nothing else of them.
class DependencyFinder {
 public:
  // The types whose objects it is to be told of, beside those of providers and CRDs.
  static const std::vector<kube::GroupResource>& types();
  // Of these types providers need something, too, and it is known by its metadata whether that is there. Not
  // Secrets and ConfigMaps: who may list those may read all of them, so nobody knows which there are.
  static const std::vector<kube::GroupResource>& neededTypes();

  // Both answer the namespaces of the providers that may need something else by now: none where nothing has
  // changed. Of the object's content
  // what matters may be there, or all of it.
  std::set<std::string> put(const kube::Object& object);
  std::set<std::string> remove(const kube::ObjectKey& key);

  // It was told of this object, from which Pods are made.
  bool knows(const kube::ObjectKey& workload) const { return workloads_.contains(workload); }
  // What the service's provider needs, as spec.guard.dependencies has it; by object, each once. Not what a
  // criterion names, which goes before the provider, nor what no webhook is asked about.
  std::vector<Dependency> find(const CriticalService& service) const;
  // The same service; after the criteria in its manifest stands one for each type whose objects the API
  // server has its provider convert: as long as there are any, nobody can end the deletion of its CRD without
  // the provider. So where dependencies are found by themselves (findsDependencies()), and not for a type
  // that a criterion waits for together with its CRD, that is lastout's own, or that the provider or an owner
  // of it is of, which would wait for itself.
  // `isCertain`: it was told of all Services, and of the provider if that is there; otherwise each Service in
  // the provider's namespace that is not known to be somebody else's may be the provider's.
  CriticalService withConverted(CriticalService service, bool isCertain = true) const;
  // What the Pods of a workload act through: their ServiceAccount, its bindings, and their roles.
  std::vector<Dependency> rightsOf(const kube::ObjectKey& workload) const;

 private:
  using Name = std::pair<std::string, std::string>;  // namespace and name
  using Kind = std::pair<std::string, std::string>;  // group and kind

  struct Workload {
    std::vector<Dependency> needs;  // what its Pods name
    Name account;
    kube::Labels podLabels;
    std::vector<OwnerName> owners;
    friend bool operator==(const Workload&, const Workload&) = default;
  };
  struct Binding {
    std::set<Name> accounts;
    kube::ObjectKey role;
    friend bool operator==(const Binding&, const Binding&) = default;
  };

  // What the API server reaches by way of a Service: an API, or the conversion of a CRD's objects.
  struct Caller {
    Name service;
    Kind converted;  // of a CRD
    friend bool operator==(const Caller&, const Caller&) = default;
  };

  static Workload readWorkload(const kube::Object& object, const kube::Value& podTemplate);
  static Binding readBinding(const kube::Object& object);
  std::set<std::string> putService(const kube::ObjectKey& key, kube::Labels selector);
  std::set<std::string> putBinding(const kube::ObjectKey& key, Binding binding);
  static Caller readCaller(const kube::Object& object);
  std::set<std::string> putCaller(const kube::ObjectKey& key, Caller caller);
  void findRights(const Workload& workload, std::vector<Dependency>& found) const;
  void findAround(const Workload& workload, const kube::ObjectKey& provider,
                  std::vector<Dependency>& found) const;
  // The Service selects the workload's Pods, as far as that is known.
  bool mayStandBehind(const Name& service, const Workload* workload, bool isCertain) const;

  std::map<kube::ObjectKey, Workload> workloads_;
  std::map<kube::ObjectKey, Binding> bindings_;
  std::map<Name, std::set<kube::ObjectKey>> bindingsOf_;  // by ServiceAccount
  std::map<Name, kube::Labels> selectors_;                // of Services
  std::map<kube::ObjectKey, Caller> callers_;             // APIServices and CRDs
  std::map<Name, std::set<kube::ObjectKey>> callersOf_;   // by the Service that each calls
};

// The types whose objects a DependencyFinder is to be told of for the service's sake: its own, and that of
// the provider; none where dependencies are not found by itself.
std::vector<kube::GroupResource> typesToRead(const CriticalService& service);

// Whether what is found for the service by itself may have been such an object: by its type, and where it is.
bool couldNeed(const CriticalService& service, const kube::ObjectKey& object);

}  // namespace lastout::criticalservice

// What a provider needs to work: found in its own manifest, and in those of the objects around it
// (docs/concepts.md, "Dependencies").
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "criticalservice/critical_service.h"
#include "criticalservice/granted_rights.h"
#include "criticalservice/pod_needs.h"
#include "criticalservice/pod_templates.h"
#include "graph/graph.h"
#include "kube/object.h"

namespace lastout::criticalservice {

// Of one provider as many of each kind are guarded, so that a flood of one kind pushes out no other. The
// deletions of all of them fit into a status (kMostDeferredDeletions).
inline constexpr size_t kMostNamedByPods = 120;
inline constexpr size_t kMostClusterRights = 60;  // ClusterRoles and ClusterRoleBindings
inline constexpr size_t kMostNearRights = 30;     // Roles and RoleBindings
inline constexpr size_t kMostServices = 15;
// And of what gives lastout the right to read what criteria name.
inline constexpr size_t kMostForReading = 15;

// So many types that one provider converts are waited for, the first by name.
inline constexpr size_t kMostConverted = 32;

// Whether what the service's provider needs is to be found by itself.
inline bool findsDependencies(const CriticalService& service) {
  return service.dependencies.mode == DependencyMode::Auto &&
         service.intent != DeletionIntent::OrphanResources;
}

// A kind of dependencies of which there are more than are guarded.
struct TooMany {
  std::string_view what;  // in the plural
  size_t found = 0;
  size_t guarded = 0;
};

struct Needed {
  std::vector<Dependency> guarded;            // by object, each once
  std::vector<TooMany> tooMany;               // empty: all is guarded
  std::vector<kube::ObjectKey> leftOut = {};  // what is not
  std::vector<kube::ObjectKey> awaited = {};  // sorted: what carries a finalizer that a criterion waits for
};

// Returns true if the object is known to carry the finalizer, or one that a pattern means.
using Carries = std::function<bool(const kube::ObjectKey& object, const std::string& finalizer)>;
// Returns true if the criterion is about the object, as far as the graph knows which namespaces it selects.
bool isAboutIn(const graph::Graph& graph, const FinalizerCriterion& criterion, const kube::ObjectKey& object);
Carries carriesIn(const graph::Graph& graph);  // as far as the graph knows, which must outlive it

// Keeps of objects what dependencies follow from, as they come, change and go; nothing else of them.
class DependencyFinder {
 public:
  // The types whose objects it is to be told of, beside those of providers and CRDs.
  static const std::vector<kube::GroupResource>& types();
  // Of these types providers need something, too, and their metadata says whether that is there. Not
  // Secrets and ConfigMaps: who may list those may read all of them, so nobody knows which there are.
  static const std::vector<kube::GroupResource>& neededTypes();

  // Both return the namespaces of the providers that may need something else by now, or kEveryNamespace: none
  // where nothing has changed. Of the object's content what matters may be there, or all of it.
  std::set<std::string> put(const kube::Object& object);
  std::set<std::string> remove(const kube::ObjectKey& key);

  // The object is a role that allows less than when it was told of it last.
  bool allowsLess(const kube::Object& object) const { return rights_.allowsLess(object); }

  // It was told of this object, from which Pods are made.
  bool knows(const kube::ObjectKey& workload) const { return templates_.find(workload) != nullptr; }
  // What the service's provider needs, as spec.guard.dependencies has it, and, whatever that says, the rights
  // by which lastout reads what the criteria name. Not what keeps a criterion unmet, which goes before the
  // provider, nor what no webhook is asked about.
  Needed needs(const CriticalService& service, const Carries& carries) const;
  std::vector<Dependency> find(const CriticalService& service, const Carries& carries) const {
    return needs(service, carries).guarded;
  }
  // The APIServices that lead to the provider. They are no dependencies: left behind without one that
  // answers, each makes every namespace hang that is deleted.
  std::vector<std::string> apisOf(const CriticalService& service) const;
  // The same service; after the criteria in its manifest stands one for each type whose objects the API
  // server has its provider convert: as long as there are any, nobody can end the deletion of its CRD without
  // the provider. So where dependencies are found by themselves (findsDependencies()), and not for a type
  // that a criterion waits for together with its CRD, that is lastout's own, or that the provider or an owner
  // of it is of, which would wait for itself.
  // `isCertain`: it was told of all Services, of the provider if that is there, and of its earlier Pod
  // templates; otherwise each Service in the provider's namespace that is not known to be somebody else's may
  // be the provider's.
  CriticalService withConverted(CriticalService service, bool isCertain = true) const;
  // What the Pods of a workload act through: their ServiceAccount, its bindings, and their roles.
  std::vector<Dependency> rightsOf(const kube::ObjectKey& workload) const;
  // What they cannot start without: what they name, and the image pull secrets of their ServiceAccount.
  std::vector<Dependency> startingNeedsOf(const kube::ObjectKey& workload) const;

 private:
  using Name = std::pair<std::string, std::string>;  // namespace and name
  using Kind = std::pair<std::string, std::string>;  // group and kind

  // What the API server reaches by way of a Service: an API, or the conversion of a CRD's objects.
  struct Caller {
    Name service;
    Kind converted;  // of a CRD
    friend bool operator==(const Caller&, const Caller&) = default;
  };

  std::set<std::string> putService(const kube::ObjectKey& key, kube::Labels selector);
  std::set<std::string> putAccount(const kube::Object& object);
  static Caller readCaller(const kube::Object& object);
  std::set<std::string> putCaller(const kube::ObjectKey& key, Caller caller);
  void findStarting(const PodTemplate& podTemplate, std::vector<Dependency>& found) const;
  void findRights(const PodTemplate& podTemplate, std::vector<Dependency>& found) const;
  void findReading(const CriticalService& service, std::vector<Dependency>& found) const;
  // Calls visit(name) for each Service in the namespace that selects Pods of any of them.
  template <class Visit>
  void forEachServiceOf(const std::vector<const PodTemplate*>& running, const std::string& space,
                        Visit visit) const;
  // The Service selects Pods of any of them, as far as that is known.
  bool mayStandBehind(const Name& service, const std::vector<const PodTemplate*>& running,
                      bool isCertain) const;

  PodTemplates templates_;
  GrantedRights rights_;
  std::map<Name, std::vector<std::string>> pullSecrets_;  // of ServiceAccounts that have any
  std::map<Name, kube::Labels> selectors_;                // of Services
  std::map<kube::ObjectKey, Caller> callers_;             // APIServices and CRDs
  std::map<Name, std::set<kube::ObjectKey>> callersOf_;   // by the Service that each calls
};

// Returns true if the object keeps a Finalizer criterion of the service unmet: it goes before the provider.
bool isAwaited(const CriticalService& service, const kube::ObjectKey& object, const Carries& carries);

// What is listed, as it is listed; and what takes that along unasked: of a workload its namespace, with whose
// Pods it is as good as gone, of a custom resource its CRD.
std::vector<Dependency> listedDependencies(const CriticalService& service);

// The types whose objects a DependencyFinder is to be told of for the service's sake: its own, and that of
// the provider with that of its earlier Pod templates; where dependencies are not found by itself those that
// give lastout its rights to read.
std::vector<kube::GroupResource> typesToRead(const CriticalService& service);

// Whether what is found for the service by itself may have been such an object: by its type, and where it is.
bool couldNeed(const CriticalService& service, const kube::ObjectKey& object);

}  // namespace lastout::criticalservice

// ClusterView: what lastout knows of a cluster: the live graph and the guards in it, kept together.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "admission/decide.h"
#include "admission/delete_when_free.h"
#include "admission/explain.h"
#include "admission/guard_index.h"
#include "admission/weakening.h"
#include "criticalservice/understanding.h"
#include "graph/graph.h"
#include "kube/object.h"
#include "kube/resource_map.h"

namespace lastout::admission {

// Which part of the cluster the view is told about.
enum class ViewScope : uint8_t {
  Everything,     // every object of every type: what was not told is not there
  WhatIsWatched,  // some types, each known as well as know() says, and at first not at all
};

// An object that was seen elsewhere, and may be newer than what is known.
struct ObservedObject {
  kube::GroupResource type;
  kube::ObjectMeta meta;
};

// A verdict on a DELETE, before the confirming read.
struct PreliminaryVerdict {
  Verdict verdict;
  Explanation explanation;                  // of a denial, and of Reason::Held
  std::vector<graph::Condition> toConfirm;  // of an ALLOW of what is guarded: what to read, each once
};

// Threading: as graph::Graph's: one writer, and readers only while it does not write.
class ClusterView {
 public:
  // `ownNamespace`: as GuardIndex's.
  explicit ClusterView(std::string ownNamespace = {}, ViewScope told = ViewScope::Everything);
  ClusterView(const ClusterView&) = delete;
  ClusterView& operator=(const ClusterView&) = delete;

  // Decides from now on with `types` which criteria are understood; until the first call, all of them are.
  // Calls `types` whenever it reads a CriticalService.
  void understandBy(criticalservice::KnownCriterionTypes types);
  // Reads all CriticalServices again, because the types of this group (empty: of any group) have changed.
  void understandAgain(std::string_view group = {});
  // The service with the doubts that there are about its criteria, and with all types that were seen.
  criticalservice::CriticalService understood(criticalservice::CriticalService service) const;

  // Sets the function that is called for each change by which a provider loses a guard or a dependency while
  // its criteria are not known to be met. Only tell() and guard() call it, not forget() or remove(). It must
  // not call the view.
  void observe(std::function<void(Weakening news)> weakened) { weakened_ = std::move(weakened); }

  // Sets how well the objects of a type are known from now on. Not for ViewScope::Everything.
  void know(const kube::GroupResource& type, graph::Knowledge knowledge);
  // Forgets all objects of the type, which is no longer watched.
  void forget(const kube::GroupResource& type);
  // Forgets the types that match the pattern but are not in `wanted`, which is sorted.
  void forgetOthers(const kube::GroupResource& pattern, const std::vector<kube::GroupResource>& wanted);

  // Adds or updates the object in the graph. For a CriticalService call guard(), too.
  void upsert(const kube::GroupResource& type, const kube::ObjectMeta& meta);
  // Adds or updates an object with its content, from which the dependencies of providers are found
  // (criticalservice/dependencies.h).
  void tell(const kube::Object& object);
  // Adds or updates a CriticalService, and guards from now on what it names. Fails if it cannot be understood
  // (criticalservice::parseStanding()): then the provider is guarded by a criterion that is never met. If not
  // even the provider can be read, the former version stays in force.
  tl::expected<void, kube::Errors> guard(kube::Object service);
  // Removes the object. With a uid, does nothing if another object has the name by now.
  void remove(const kube::ObjectKey& key, std::string_view uid = {});

  Verdict decide(const kube::ObjectKey& key, DeletionEffect deletionEffect = DeletionEffect::Ending) const;
  // Returns true if the object is the provider of a CriticalService with spec.guard.scaleToZero, or if that
  // is not known.
  bool guardsScaling(const kube::ObjectKey& key) const;
  // What the service's provider needs, as far as was told.
  Dependencies dependenciesOf(const criticalservice::CriticalService& service) const {
    return needsOf(service).guarded;
  }
  // The same, with what there is too much of to be guarded, and the APIServices that lead to the provider.
  criticalservice::Needed needsOf(const criticalservice::CriticalService& service) const {
    return finder_.needs(service, criticalservice::carriesIn(graph_));
  }
  std::vector<std::string> apisOf(const criticalservice::CriticalService& service) const {
    return finder_.apisOf(service);
  }
  // How many dependencies are not guarded, of all services, since there are too many of their kind.
  size_t leftOutDependencies() const;
  // It is known that nothing keeps the criterion from holding now.
  bool isMet(const criticalservice::Criterion& criterion) const;
  // `detail`: as of admission::explain().
  Explanation explain(const kube::ObjectKey& key, const Verdict& verdict, std::string_view detail = {}) const;
  // decide(), its words, and what to confirm; as it would be if these objects were there, too.
  PreliminaryVerdict judge(const kube::ObjectKey& key, std::span<const ObservedObject> seen = {},
                           DeletionEffect deletionEffect = DeletionEffect::Ending) const;

  const graph::Graph& graph() const { return graph_; }
  const GuardIndex& guards() const { return index_; }
  // Returns the CriticalServices that record a deferred deletion of the object (admission/deferral.h): their
  // numbers in guards(), ascending.
  std::vector<uint32_t> servicesRecording(const kube::ObjectKey& key) const;
  // Those objects that can be providers and carry lastout's finalizer for them (kube::kCriteriaFinalizer).
  // Valid until the next change.
  const std::set<kube::ObjectKey>& heldObjects() const { return held_; }
  // Those objects that carry the annotation lastout.dev/delete-when-free, and are not being deleted. Valid
  // until the next change.
  const AnnotatedObjects& annotated() const { return annotated_; }
  // What a CriticalService was understood to say last, with the criteria that follow from what its provider
  // converts; nullptr: it never was. Valid until the next change.
  const criticalservice::CriticalService* service(std::string_view name) const;
  // Those that are understood, in the order of their names. Valid until the next change.
  std::vector<const criticalservice::CriticalService*> services() const;
  // All CriticalServices as they were told last, by name, understood or not. Valid until the next change.
  const std::map<std::string, kube::Object, std::less<>>& toldServices() const { return services_; }

 private:
  graph::TypeId intern(const kube::GroupResource& type);
  std::optional<uint32_t> lastKnown(const criticalservice::CriticalService& service) const;
  void put(criticalservice::CriticalService service);
  bool owns(const kube::ObjectKey& object, const kube::ObjectKey& provider) const;
  void forgetPlace(const criticalservice::CriticalService& service);
  void putFinding(const kube::GroupResource& type);
  bool isBelievable(const kube::GroupResource& type) const;
  void putServicesOf(const kube::ObjectKey& provider);
  void noteAwaited(const std::string& service, const criticalservice::Needed& needed);
  void putServicesThatNeed(const kube::ObjectKey& object);
  void noteLeftOut(const std::string& service, const criticalservice::Needed& needed);
  void noteHeld(const kube::ObjectKey& key, const kube::ObjectMeta& meta);
  void findAgain(const std::set<std::string>& namespaces);
  void noteLoss(const criticalservice::CriticalService& service, const criticalservice::Needed& needed);
  void tellOfRole(const kube::Object& role);
  void tellOf(const criticalservice::CriticalService& former, const criticalservice::CriticalService& now);
  bool isUnmet(const criticalservice::CriticalService& service) const;

  const ViewScope told_;
  std::optional<criticalservice::KnownCriterionTypes> types_;
  graph::Graph graph_;
  GuardIndex index_;
  criticalservice::DependencyFinder finder_;
  std::map<std::string, std::set<std::string>> servicesOf_;    // by the namespace of their providers
  std::map<std::string, kube::Object, std::less<>> services_;  // by name, as they were told
  std::map<std::string, size_t> leftOut_;  // dependencies, by the name of the service; none: nothing is
  // The services whose providers need the object and wait for it: it carries a finalizer of a criterion.
  std::map<kube::ObjectKey, std::set<std::string>> awaiting_;
  std::set<kube::ObjectKey> held_;
  std::function<void(Weakening)> weakened_;    // empty: nobody is told
  std::map<std::string, Reliance> reliances_;  // by the name of the service, where somebody is told
  std::optional<kube::ObjectKey> changed_;     // what is being told of
  AnnotatedObjects annotated_;
};

}  // namespace lastout::admission

#include "server/controllers/work_finalizer_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "admission/deferral.h"
#include "admission/guards.h"
#include "control/owner_now.h"
#include "graph/edges.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"

namespace lastout::server {
namespace {

using admission::ClusterView;
using control::Keeping;
using control::WorkNow;
using criticalservice::CriticalService;
using graph::Knowledge;
using graph::ObjectId;

// What the work's own finalizers say.
WorkNow workNow(const graph::Graph& graph, ObjectId work) {
  WorkNow now{.terminates = graph.isTerminating(work)};
  for (const std::string_view finalizer : graph.finalizers(work)) {
    const bool isOurs = finalizer == kube::kAppliedObjectsFinalizer;
    now.isKept = now.isKept || isOurs;
    now.isHeldByOthers = now.isHeldByOthers || !isOurs;
  }
  return now;
}

std::vector<ObjectId> worksIn(const graph::Graph& graph) {
  return objectsOf(graph, manifestwork::appliedManifestWorkType());
}

bool wantsDeferral(const CriticalService& service) { return admission::isDeferred(service.deferral, true); }

// What lastout knows beside the view of the works.
struct KnownOfWorks {
  const std::set<std::string>& refused;
  const AwaitedObjects& awaited;
  bool isUnsure = false;
  const PersonsDeletions& persons;
};

// A view, for the plan.
class FactsOfWorks {
 public:
  FactsOfWorks(const ViewOfWorks& works, const KnownOfWorks& known)
      : view_(works.view),
        graph_(works.view.graph()),
        types_(works.types),
        home_(works.ownNamespace),
        recorded_(works.recorded),
        known_(known) {
    for (const CriticalService* service : view_.services()) {
      addRecorded(*service);
      reviewed_.insert(service->provider.type);
      for (const criticalservice::Dependency& dependency : dependenciesOf(*service))
        reviewed_.insert(dependency.object.type);
      if (wantsDeferral(*service)) addGuarded(*service);
    }
    for (const CountingAnnotation& one : countingAnnotations(view_, known_.persons.annotations))
      ofPersons_.insert(one.annotated.uid);
    addLastouts();
  }

  WorkNow work(ObjectId work) const { return workNow(graph_, work); }
  bool isUnsure() const { return known_.isUnsure; }

  // Until its agent has asked for the deletion, the work's own record says that an object is there whose type
  // nobody follows, or may.
  bool recordsUnseen(ObjectId work) const {
    const auto found = recorded_.find(graph_.name(work));
    return found != recorded_.end() && std::ranges::any_of(found->second, [&](const kube::ObjectKey& key) {
             return !isBelieved(key.type) && isWanted(key);
           });
  }
  bool hasUnseenDeferredDeletions(ObjectId work) const {
    const auto found = unseen_.find(graph_.uid(work));
    return found != unseen_.end() && !std::ranges::includes(known_.refused, found->second);
  }
  template <class Holds>
  bool anyOwned(ObjectId work, Holds holds) const {
    if (graph_.isTerminating(work)) return std::ranges::any_of(graph_.dependents(work), holds);
    const auto found = named_.find(work);
    return found != named_.end() && std::ranges::any_of(found->second, holds);
  }

  bool isTerminating(ObjectId object) const { return graph_.isTerminating(object); }
  bool isLastouts(ObjectId object) const { return control::isLastouts(graph_.key(object), home_); }
  bool isGuarded(ObjectId object) const { return !view_.servicesRecording(graph_.key(object)).empty(); }
  bool isWanted(ObjectId object) const { return isWanted(graph_.key(object)); }
  bool isAwaited(ObjectId object) const {
    const kube::ObjectKey key = graph_.key(object);
    return control::isAwaited(key.type) || !view_.servicesRecording(key).empty() ||
           recordedUids_.contains(graph_.uid(object));
  }
  bool wasAwaited(ObjectId work, ObjectId object) const {
    const auto found = known_.awaited.find(graph_.uid(work));
    return found != known_.awaited.end() && found->second.contains(graph_.uid(object));
  }
  bool isReviewed(ObjectId object) const { return reviewed_.contains(graph_.key(object).type); }
  bool isForgotten(ObjectId work, ObjectId object) const {
    const auto found = recorded_.find(graph_.name(work));
    return found != recorded_.end() &&
           std::ranges::find(found->second, graph_.key(object)) == found->second.end();
  }
  bool isRefused(ObjectId object) const { return known_.refused.contains(graph_.uid(object)); }
  control::DeferralState deferralState(ObjectId object) const {
    control::DeferralFacts facts;
    if (ofPersons_.contains(graph_.uid(object))) facts.proof = control::RequestProof::OfPerson;
    const auto space = graph_.find({kube::kNamespaces, "", std::string(graph_.namespaceName(object))});
    facts.spaceTerminates = space && graph_.isTerminating(*space);
    for (const graph::OwnerView& owner : graph_.owners(object)) facts.owners.add(ownerOf(owner));
    return control::deferralStateOf(facts);
  }

 private:
  const admission::Dependencies& dependenciesOf(const CriticalService& service) const {
    return view_.guards().dependencies(view_.guards().find(service.meta.name));
  }

  bool isBelieved(const kube::GroupResource& type) const { return graph::isBelievable(graph_, type); }

  bool isWanted(const kube::ObjectKey& key) const {
    return std::ranges::any_of(view_.servicesRecording(key), [this](uint32_t number) {
      return wantsDeferral(view_.guards().service(number));
    });
  }

  // Adds the objects whose deletions lastout would run.
  void addGuarded(const CriticalService& service) {
    for (const admission::Guard& guard :
         admission::guardsOf(service, types_, home_, dependenciesOf(service))) {
      const bool isItself = guard.object == criticalservice::keyOf(service);
      if (admission::recordsDeferral(guard.guardedAs, isItself)) addToOwners(graph_.find(guard.object));
    }
  }

  void addLastouts() {
    addToOwners(graph_.find(kube::crdKey(criticalservice::criticalServiceType())));
    const auto home = graph_.find(kube::namespaceKey(home_));
    if (home_.empty() || !home) return;
    addToOwners(home);
    for (graph::OutEdges edges(graph_, graph::vertexOf(*home)); !edges.atEnd(); edges.next()) {
      if (edges.kind() == graph::EdgeKind::Content) addToOwners(graph::objectOf(edges.target()));
    }
  }

  void addToOwners(std::optional<ObjectId> object) {
    if (!object || !graph_.isPresent(*object)) return;
    for (const graph::OwnerView& owner : graph_.owners(*object)) {
      if (owner.object) named_[*owner.object].insert(*object);
    }
  }

  // An object of a type that nobody follows counts as there as long as its deletion is recorded.
  void addRecorded(const CriticalService& service) {
    if (!wantsDeferral(service)) return;
    const uint32_t number = view_.guards().find(service.meta.name);
    for (const criticalservice::DeferredDeletion& deletion : service.deferredDeletions.deletions) {
      recordedUids_.insert(deletion.uid);
      const bool isGuarded = std::ranges::binary_search(view_.servicesRecording(deletion.object), number);
      if (isGuarded && admission::isDeferred(service.deferral, false) && known_.persons.personCounts &&
          known_.persons.personCounts(deletion.requestedBy))
        ofPersons_.insert(deletion.uid);
      if (isBelieved(deletion.object.type)) continue;
      for (const std::string& owner : deletion.owners) unseen_[owner].insert(deletion.uid);
    }
  }

  control::OwnerNow ownerOf(const graph::OwnerView& owner) const {
    if (!owner.object) {
      const kube::ResourceType* type = types_.findKind(kube::groupOf(owner.apiVersion), owner.kind);
      return control::ownerNow({.isTypeBelieved = type != nullptr && isBelieved(type->type)});
    }
    return control::ownerNow({.isThere = true,
                              .terminates = graph_.isTerminating(*owner.object),
                              .orphans = control::orphansDependents(graph_.finalizers(*owner.object))});
  }

  const ClusterView& view_;
  const graph::Graph& graph_;
  const kube::ResourceMap& types_;
  const std::string& home_;
  const RecordedObjects& recorded_;
  const KnownOfWorks known_;
  std::map<ObjectId, std::set<ObjectId>> named_;  // what is guarded, or lastout's own, by owner
  std::set<kube::GroupResource> reviewed_;        // the types of all providers, and of what they need
  std::set<std::string> recordedUids_;  // in the deletions that CriticalServices record and want to be run
  std::set<std::string> ofPersons_;     // those of them that count whoever owns them
  std::map<std::string, std::set<std::string>> unseen_;  // those of what nobody follows, by owner
};

// Returns the uids that a waiting work still waits for, without those that are gone.
std::set<std::string> awaitedBy(const FactsOfWorks& facts, const graph::Graph& graph, ObjectId work) {
  std::set<std::string> uids;
  for (const ObjectId object : graph.dependents(work)) {
    if (facts.isAwaited(object) || facts.wasAwaited(work, object)) uids.insert(graph.uid(object));
  }
  return uids;
}

DeferredDeletionOfWork deferredDeletionOf(const graph::Graph& graph, ObjectId work, ObjectId object) {
  DeferredDeletionOfWork left{std::string(graph.name(work)), graph.uid(work), {}};
  left.deletion.object = graph.key(object);
  left.deletion.uid = graph.uid(object);
  left.deletion.propagationPolicy = "Background";
  left.deletion.requestedBy = "the agent of " + toString(graph.key(work));
  for (const graph::OwnerView& owner : graph.owners(object)) left.deletion.owners.push_back(owner.uid);
  return left;
}

}  // namespace

// Of a watch that is broken all is known that it has told.
std::optional<kube::GroupResource> typeInDoubt(const ClusterView& view) {
  const auto isInDoubt = [&](const kube::GroupResource& type) {
    const Knowledge known = knowledgeOf(view.graph(), type);
    return known == Knowledge::Unknown || known == Knowledge::Unserved;
  };
  bool finds = false;
  for (const CriticalService* service : view.services()) {
    if (isInDoubt(service->provider.type)) return service->provider.type;
    if (!criticalservice::findsDependencies(*service)) continue;
    finds = true;
    const auto earlier = criticalservice::typeOfEarlierTemplates(service->provider.type);
    if (earlier && isInDoubt(*earlier)) return *earlier;
  }
  using Finder = criticalservice::DependencyFinder;
  for (const auto* types : {&Finder::types(), &Finder::neededTypes()}) {
    const auto found = std::ranges::find_if(*types, isInDoubt);
    if (finds && found != types->end()) return *found;
  }
  return std::nullopt;
}

std::vector<KeptWorkChange> keptWorksToChange(const ViewOfWorks& works, const std::set<std::string>& refused,
                                              bool isUnsure, AwaitedObjects& awaited,
                                              const PersonsDeletions& persons) {
  std::vector<KeptWorkChange> changes;
  const AwaitedObjects before = std::exchange(awaited, {});
  const graph::Graph& graph = works.view.graph();
  const std::vector<ObjectId> all = worksIn(graph);
  if (all.empty()) return changes;
  const FactsOfWorks facts(works, {refused, before, isUnsure, persons});
  for (const ObjectId work : all) {
    const auto plan = control::planKeptWork<ObjectId>(facts, work);
    if (plan.waits) awaited[graph.uid(work)] = awaitedBy(facts, graph, work);
    if (plan.keeping == Keeping::AsItIs) continue;
    KeptWorkChange change{.name = std::string(graph.name(work)),
                          .uid = graph.uid(work),
                          .keeping = plan.keeping,
                          .terminates = graph.isTerminating(work)};
    if (plan.forsaken) change.forsaken = VeryObject{graph.key(*plan.forsaken), graph.uid(*plan.forsaken)};
    changes.push_back(std::move(change));
  }
  return changes;
}

bool isOfKeptWork(const graph::Graph& graph, ObjectId object) {
  return std::ranges::any_of(graph.owners(object), [&](const graph::OwnerView& owner) {
    if (!owner.object || graph.key(*owner.object).type != manifestwork::appliedManifestWorkType())
      return false;
    return workNow(graph, *owner.object).isWaiting();
  });
}

std::vector<KeptWorkChange> keptWorksToLetGo(const ViewOfWorks& works) {
  std::vector<KeptWorkChange> changes;
  const graph::Graph& graph = works.view.graph();
  for (const ObjectId work : worksIn(graph)) {
    if (workNow(graph, work).isKept)
      changes.push_back({std::string(graph.name(work)), graph.uid(work), Keeping::Ends});
  }
  return changes;
}

std::vector<DeferredDeletionOfWork> deferredDeletionsOf(const ViewOfWorks& works) {
  std::vector<DeferredDeletionOfWork> result;
  const graph::Graph& graph = works.view.graph();
  std::vector<ObjectId> all = worksIn(graph);
  std::erase_if(all, [&](ObjectId work) { return !workNow(graph, work).isWaiting(); });
  if (all.empty()) return result;
  const std::set<std::string> refused;
  const AwaitedObjects before;
  const PersonsDeletions persons;
  const FactsOfWorks facts(works, {refused, before, false, persons});
  for (const ObjectId work : all) {
    if (!control::leavesBehind(facts, work)) continue;
    for (const ObjectId object : graph.dependents(work)) {
      if (!control::isLeftBehind(facts, work, object)) continue;
      if (result.size() == kMostDeferredDeletionsOfWorks) return result;
      result.push_back(deferredDeletionOf(graph, work, object));
    }
  }
  return result;
}

}  // namespace lastout::server

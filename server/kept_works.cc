#include "server/kept_works.h"

#include <algorithm>
#include <map>
#include <utility>

#include "admission/deferred_deletion.h"
#include "admission/guards.h"
#include "graph/edges.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"
#include "server/ignorance.h"

namespace lastout::server {
namespace {

using admission::ClusterView;
using admission::Keeping;
using admission::KeptFacts;
using criticalservice::CriticalService;
using graph::Knowledge;
using graph::ObjectId;

// What the work's own finalizers say.
KeptFacts factsOfItself(const graph::Graph& graph, ObjectId work) {
  KeptFacts facts;
  facts.terminates = graph.isTerminating(work);
  for (const std::string_view finalizer : graph.finalizers(work)) {
    const bool isOurs = finalizer == admission::kKeptFinalizer;
    facts.isKept = facts.isKept || isOurs;
    facts.isHeldByOthers = facts.isHeldByOthers || !isOurs;
  }
  return facts;
}

// All AppliedManifestWorks.
std::vector<ObjectId> worksIn(const graph::Graph& graph) {
  const auto type = graph.findType(manifestwork::appliedManifestWorkType());
  return type ? graph.objectsOf(*type) : std::vector<ObjectId>();
}

bool wantsDeferral(const CriticalService& service) { return admission::isDeferred(service.deferral, true); }

class Reading {
 public:
  explicit Reading(const ViewOfWorks& works)
      : view_(works.view),
        graph_(works.view.graph()),
        types_(works.types),
        home_(works.ownNamespace),
        recorded_(works.recorded) {
    for (const CriticalService* service : view_.services()) {
      if (wantsDeferral(*service)) addRemembered(service->deferredDeletions);
      reviewed_.insert(service->provider.type);
      for (const criticalservice::Dependency& dependency : dependenciesOf(*service))
        reviewed_.insert(dependency.object.type);
    }
  }

  // The works that own something lastout would carry out the deletion of.
  std::set<ObjectId> owningGuarded(const std::vector<ObjectId>& all) const {
    std::set<ObjectId> works;
    for (const CriticalService* service : view_.services()) {
      if (!wantsDeferral(*service)) continue;
      for (const admission::Guard& guard :
           admission::guardsOf(*service, types_, home_, dependenciesOf(*service))) {
        const bool isItself = guard.object == criticalservice::keyOf(*service);
        if (admission::remembers(guard.role, isItself)) addOwners(graph_.find(guard.object), works);
      }
    }
    for (const ObjectId work : all) {
      if (recordsUnseen(work)) works.insert(work);
    }
    return works;
  }

  std::set<ObjectId> owningLastout() const {
    std::set<ObjectId> works;
    addOwners(graph_.find(kube::crdKey(criticalservice::criticalServiceType())), works);
    const auto home = graph_.find(kube::namespaceKey(home_));
    if (home_.empty() || !home) return works;
    addOwners(home, works);
    for (graph::OutEdges edges(graph_, graph::vertexOf(*home)); !edges.atEnd(); edges.next()) {
      if (edges.kind() == graph::EdgeKind::Content) addOwners(graph::objectOf(edges.target()), works);
    }
    return works;
  }

  // Of a work that terminates. `awaited`: what it was seen to wait for; what is gone is taken out.
  std::optional<VeryObject> addOwned(ObjectId work, const std::set<std::string>& refused,
                                     std::set<std::string>& awaited, KeptFacts& facts) const {
    // Of an agent that is gone the record is believed no longer.
    facts.ownsAwaited =
        (facts.isHeldByOthers && recordsUnseen(work)) || ownsUnseen(graph_.uid(work), refused);
    const std::vector<ObjectId> owned = graph_.dependents(work);
    const std::set<std::string> before = std::exchange(awaited, {});
    for (const ObjectId object : owned) {
      const std::string uid(graph_.uid(object));
      if (isAwaited(object) || before.contains(uid)) awaited.insert(uid);
    }
    facts.ownsAwaited = facts.ownsAwaited || !awaited.empty();
    for (const ObjectId object : owned) {
      if (facts.isHeldByOthers || graph_.isTerminating(object)) continue;
      if (isLeftToLastout(object) && wishOf(object) == admission::Wish::Stands &&
          !refused.contains(graph_.uid(object)))
        continue;
      facts.ownsForsaken = true;
      return VeryObject{graph_.key(object), graph_.uid(object)};
    }
    return std::nullopt;
  }

  // The work's agent has struck the object off its record, although it is there.
  bool isForgotten(ObjectId work, ObjectId object) const {
    const auto found = recorded_.find(graph_.name(work));
    return found != recorded_.end() &&
           std::ranges::find(found->second, graph_.key(object)) == found->second.end();
  }

  bool isLeftToLastout(ObjectId object) const {
    const std::vector<uint32_t> services = view_.remembering(graph_.key(object));
    return (isAwaited(object) || reviewed_.contains(graph_.key(object).type)) &&
           admission::isLeftToLastout(!services.empty(), isWanted(services));
  }

 private:
  const admission::Dependencies& dependenciesOf(const CriticalService& service) const {
    return view_.guards().dependencies(view_.guards().find(service.meta.name));
  }

  bool isBelieved(const kube::GroupResource& type) const {
    return admission::believable(knowledgeOf(graph_, type));
  }

  void addOwners(std::optional<ObjectId> object, std::set<ObjectId>& works) const {
    if (!object || !graph_.isPresent(*object)) return;
    for (const graph::OwnerView& owner : graph_.owners(*object)) {
      if (owner.object) works.insert(*owner.object);
    }
  }

  bool isAwaited(ObjectId object) const {
    const kube::ObjectKey key = graph_.key(object);
    return key.type == kube::kNamespaces || key.type == criticalservice::criticalServiceType() ||
           !view_.remembering(key).empty() || remembered_.contains(std::string(graph_.uid(object)));
  }

  // Of a type that nobody follows, or may, it is known that an object is there as long as its deletion is
  // remembered: whoever carries that out asks for it.
  void addRemembered(const criticalservice::DeferredDeletions& deferredDeletions) {
    for (const criticalservice::DeferredDeletion& deletion : deferredDeletions.deletions) {
      remembered_.insert(deletion.uid);
      if (isBelieved(deletion.object.type)) continue;
      for (const std::string& owner : deletion.owners) unseen_[owner].insert(deletion.uid);
    }
  }
  // Until its agent has asked for the deletion, the work's own record says so.
  bool recordsUnseen(ObjectId work) const {
    const auto found = recorded_.find(graph_.name(work));
    return found != recorded_.end() && std::ranges::any_of(found->second, [&](const kube::ObjectKey& key) {
             return !isBelieved(key.type) && isWanted(view_.remembering(key));
           });
  }
  bool isWanted(const std::vector<uint32_t>& services) const {
    return std::ranges::any_of(
        services, [this](uint32_t number) { return wantsDeferral(view_.guards().service(number)); });
  }
  bool ownsUnseen(const std::string& work, const std::set<std::string>& refused) const {
    const auto found = unseen_.find(work);
    return found != unseen_.end() && !std::ranges::includes(refused, found->second);
  }

  admission::Wish wishOf(ObjectId object) const {
    admission::WishFacts facts;
    const auto space = graph_.find({kube::kNamespaces, "", std::string(graph_.namespaceName(object))});
    facts.spaceTerminates = space && graph_.isTerminating(*space);
    for (const graph::OwnerView& owner : graph_.owners(object)) facts.owners.add(ownerNow(owner));
    return admission::wishOf(facts);
  }

  // Of an owner whose type nobody follows it is not known that it is gone.
  admission::OwnerNow ownerNow(const graph::OwnerView& owner) const {
    using admission::OwnerNow;
    if (!owner.object) {
      const kube::ResourceType* type = types_.findKind(kube::groupOf(owner.apiVersion), owner.kind);
      const bool isKnown = type != nullptr && isBelieved(type->type);
      return isKnown ? OwnerNow::Gone : OwnerNow::Staying;
    }
    if (!graph_.isTerminating(*owner.object)) return OwnerNow::Staying;
    const auto finalizers = graph_.finalizers(*owner.object);
    const bool orphans = std::ranges::find(finalizers, kube::kOrphanFinalizer) != finalizers.end();
    return orphans ? OwnerNow::Orphaning : OwnerNow::Leaving;
  }

  const ClusterView& view_;
  const graph::Graph& graph_;
  const kube::ResourceMap& types_;
  const std::string& home_;
  const RecordedObjects& recorded_;
  std::set<kube::GroupResource> reviewed_;  // the types of all providers, and of what they need
  std::set<std::string> remembered_;        // uids of what some CriticalService wants to be carried out
  std::map<std::string, std::set<std::string>> unseen_;  // those of what nobody follows, by owner
};

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
                                              bool isUnsure, AwaitedObjects& awaited) {
  std::vector<KeptWorkChange> changes;
  const AwaitedObjects before = std::exchange(awaited, {});
  const graph::Graph& graph = works.view.graph();
  const std::vector<ObjectId> all = worksIn(graph);
  if (all.empty()) return changes;
  const Reading reading(works);
  const std::set<ObjectId> guarded = reading.owningGuarded(all);
  const std::set<ObjectId> lastout = reading.owningLastout();
  for (const ObjectId work : all) {
    KeptFacts facts = factsOfItself(graph, work);
    facts.ownsGuarded = guarded.contains(work);
    facts.ownsLastout = lastout.contains(work);
    facts.isUnsure = isUnsure;
    std::optional<VeryObject> forsaken;
    if (facts.terminates && facts.isKept && !facts.ownsLastout) {
      const auto [mine, isNew] = awaited.try_emplace(std::string(graph.uid(work)));
      if (const auto last = before.find(mine->first); last != before.end()) mine->second = last->second;
      forsaken = reading.addOwned(work, refused, mine->second, facts);
    }
    const Keeping keeping = admission::keepingOf(facts);
    if (keeping != Keeping::AsItIs)
      changes.push_back({std::string(graph.name(work)), graph.uid(work), keeping, std::move(forsaken)});
  }
  return changes;
}

bool isOfKeptWork(const graph::Graph& graph, ObjectId object) {
  return std::ranges::any_of(graph.owners(object), [&](const graph::OwnerView& owner) {
    if (!owner.object || graph.key(*owner.object).type != manifestwork::appliedManifestWorkType())
      return false;
    const KeptFacts facts = factsOfItself(graph, *owner.object);
    return facts.terminates && facts.isKept;
  });
}

std::vector<KeptWorkChange> keptWorksToLetGo(const ViewOfWorks& works) {
  std::vector<KeptWorkChange> changes;
  const graph::Graph& graph = works.view.graph();
  for (const ObjectId work : worksIn(graph)) {
    if (factsOfItself(graph, work).isKept)
      changes.push_back({std::string(graph.name(work)), graph.uid(work), Keeping::Ends});
  }
  return changes;
}

std::vector<DeferredDeletionOfWork> deferredDeletionsOf(const ViewOfWorks& works) {
  std::vector<DeferredDeletionOfWork> result;
  const graph::Graph& graph = works.view.graph();
  const std::vector<ObjectId> all = worksIn(graph);
  if (all.empty()) return result;
  const Reading reading(works);
  std::optional<std::set<ObjectId>> lastout;
  for (const ObjectId work : all) {
    const KeptFacts facts = factsOfItself(graph, work);
    if (!facts.terminates || !facts.isKept) continue;
    if (!lastout) lastout = reading.owningLastout();
    if (lastout->contains(work)) continue;
    for (const ObjectId object : graph.dependents(work)) {
      if (graph.isTerminating(object) || !reading.isLeftToLastout(object)) continue;
      if (facts.isHeldByOthers && !reading.isForgotten(work, object)) continue;
      if (result.size() == kMostDeferredDeletionsOfWorks) return result;
      result.push_back(deferredDeletionOf(graph, work, object));
    }
  }
  return result;
}

}  // namespace lastout::server

#include "server/kept_works.h"

#include <algorithm>

#include "admission/guards.h"
#include "admission/put_off.h"
#include "graph/edges.h"
#include "manifestwork/manifest_work.h"

namespace lastout::server {
namespace {

using admission::ClusterView;
using admission::Keeping;
using admission::KeptFacts;
using criticalservice::CriticalService;
using graph::Knowledge;
using graph::ObjectId;

const kube::GroupResource kSpaceType{"", "namespaces"};

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

bool wantsReplay(const CriticalService& service) { return admission::isPutOff(service.replay, true); }

class Reading {
 public:
  explicit Reading(const ViewOfWorks& works)
      : view_(works.view), graph_(works.view.graph()), types_(works.types), home_(works.ownNamespace) {
    for (const CriticalService* service : view_.services()) providers_.insert(service->provider.type);
  }

  // The works that own something lastout would carry out the deletion of.
  std::set<ObjectId> owningGuarded() const {
    std::set<ObjectId> works;
    for (const CriticalService* service : view_.services()) {
      if (!wantsReplay(*service)) continue;
      for (const admission::Guard& guard : admission::guardsOf(*service, types_, home_)) {
        const bool isItself = guard.object == criticalservice::keyOf(*service);
        if (admission::remembers(guard.role, isItself)) addOwners(graph_.find(guard.object), works);
      }
    }
    return works;
  }

  std::set<ObjectId> owningLastout() const {
    std::set<ObjectId> works;
    addOwners(graph_.find(kube::crdKey(criticalservice::criticalServiceType())), works);
    const auto home = graph_.find({kSpaceType, "", home_});
    if (home_.empty() || !home) return works;
    addOwners(home, works);
    for (graph::OutEdges edges(graph_, graph::vertexOf(*home)); !edges.atEnd(); edges.next()) {
      if (edges.kind() == graph::EdgeKind::Content) addOwners(graph::objectOf(edges.target()), works);
    }
    return works;
  }

  // Of a work that terminates.
  std::optional<VeryObject> addOwned(ObjectId work, const std::set<std::string>& refused,
                                     KeptFacts& facts) const {
    for (const ObjectId object : graph_.dependents(work)) {
      facts.ownsAwaited = facts.ownsAwaited || isAwaited(object);
      if (facts.isHeldByOthers || graph_.isTerminating(object)) continue;
      if (isLeftToLastout(object) && wishOf(object) == admission::Wish::Stands &&
          !refused.contains(graph_.uid(object)))
        continue;
      facts.ownsForsaken = true;
      return VeryObject{graph_.key(object), graph_.uid(object)};
    }
    return std::nullopt;
  }

  bool isLeftToLastout(ObjectId object) const {
    const std::vector<uint32_t> services = view_.remembering(graph_.key(object));
    const bool isWanted = std::ranges::any_of(
        services, [this](uint32_t number) { return wantsReplay(view_.guards().service(number)); });
    return (isAwaited(object) || providers_.contains(graph_.key(object).type)) &&
           admission::isLeftToLastout(!services.empty(), isWanted);
  }

 private:
  Knowledge knowledge(const kube::GroupResource& type) const {
    const auto id = graph_.findType(type);
    return id ? graph_.knowledge(*id) : Knowledge::Unknown;
  }

  void addOwners(std::optional<ObjectId> object, std::set<ObjectId>& works) const {
    if (!object || !graph_.isPresent(*object)) return;
    for (const graph::OwnerView& owner : graph_.owners(*object)) {
      if (owner.object) works.insert(*owner.object);
    }
  }

  bool isAwaited(ObjectId object) const {
    const kube::ObjectKey key = graph_.key(object);
    return key.type == kSpaceType || key.type == criticalservice::criticalServiceType() ||
           !view_.remembering(key).empty();
  }

  admission::Wish wishOf(ObjectId object) const {
    admission::WishFacts facts;
    const auto space = graph_.find({kSpaceType, "", std::string(graph_.namespaceName(object))});
    facts.spaceTerminates = space && graph_.isTerminating(*space);
    for (const graph::OwnerView& owner : graph_.owners(object)) facts.owners.add(ownerNow(owner));
    return admission::wishOf(facts);
  }

  // Of an owner whose type nobody follows it is not known that it is gone.
  admission::OwnerNow ownerNow(const graph::OwnerView& owner) const {
    using admission::OwnerNow;
    if (!owner.object) {
      const kube::ResourceType* type = types_.findKind(kube::groupOf(owner.apiVersion), owner.kind);
      const bool isKnown = type != nullptr && admission::believable(knowledge(type->type));
      return isKnown ? OwnerNow::Gone : OwnerNow::Staying;
    }
    if (!graph_.isTerminating(*owner.object)) return OwnerNow::Staying;
    const auto finalizers = graph_.finalizers(*owner.object);
    const bool orphans = std::ranges::find(finalizers, "orphan") != finalizers.end();
    return orphans ? OwnerNow::Orphaning : OwnerNow::Leaving;
  }

  const ClusterView& view_;
  const graph::Graph& graph_;
  const kube::ResourceMap& types_;
  const std::string& home_;
  std::set<kube::GroupResource> providers_;  // the types of all providers
};

LeftBehind leftBehind(const graph::Graph& graph, ObjectId work, ObjectId object) {
  LeftBehind left{std::string(graph.name(work)), graph.uid(work), {}};
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
  for (const CriticalService* service : view.services()) {
    const auto id = view.graph().findType(service->provider.type);
    const Knowledge known = id ? view.graph().knowledge(*id) : Knowledge::Unknown;
    if (known == Knowledge::Unknown || known == Knowledge::Unserved) return service->provider.type;
  }
  return std::nullopt;
}

std::vector<KeptWorkChange> keptWorksToChange(const ViewOfWorks& works,
                                              const std::set<std::string>& refused) {
  std::vector<KeptWorkChange> changes;
  const graph::Graph& graph = works.view.graph();
  const Reading reading(works);
  const std::set<ObjectId> guarded = reading.owningGuarded();
  const std::set<ObjectId> lastout = reading.owningLastout();
  const bool isUnsure = works.waitsForLists && typeInDoubt(works.view);
  for (const ObjectId work : worksIn(graph)) {
    KeptFacts facts = factsOfItself(graph, work);
    facts.ownsGuarded = guarded.contains(work);
    facts.ownsLastout = lastout.contains(work);
    facts.isUnsure = isUnsure;
    std::optional<VeryObject> forsaken;
    if (facts.terminates && facts.isKept && !facts.ownsLastout)
      forsaken = reading.addOwned(work, refused, facts);
    const Keeping keeping = admission::keepingOf(facts);
    if (keeping != Keeping::AsItIs)
      changes.push_back({std::string(graph.name(work)), graph.uid(work), keeping, std::move(forsaken)});
  }
  return changes;
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

std::vector<LeftBehind> leftBehindIn(const ViewOfWorks& works) {
  std::vector<LeftBehind> result;
  const graph::Graph& graph = works.view.graph();
  const Reading reading(works);
  std::optional<std::set<ObjectId>> lastout;
  for (const ObjectId work : worksIn(graph)) {
    const KeptFacts facts = factsOfItself(graph, work);
    if (!facts.terminates || !facts.isKept || facts.isHeldByOthers) continue;
    if (!lastout) lastout = reading.owningLastout();
    if (lastout->contains(work)) continue;
    for (const ObjectId object : graph.dependents(work)) {
      if (graph.isTerminating(object) || !reading.isLeftToLastout(object)) continue;
      if (result.size() == kMostLeftBehind) return result;
      result.push_back(leftBehind(graph, work, object));
    }
  }
  return result;
}

}  // namespace lastout::server

#include "server/kept_works.h"

#include <algorithm>
#include <set>

#include "admission/guards.h"
#include "admission/put_off.h"
#include "manifestwork/manifest_work.h"

namespace lastout::server {
namespace {

using admission::ClusterView;
using admission::Keeping;
using admission::KeptFacts;
using criticalservice::CriticalService;
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

bool isKeptAlone(const KeptFacts& facts) { return facts.terminates && facts.isKept && !facts.isHeldByOthers; }

// All AppliedManifestWorks.
std::vector<ObjectId> worksIn(const graph::Graph& graph) {
  const auto type = graph.findType(manifestwork::appliedManifestWorkType());
  return type ? graph.objectsOf(*type) : std::vector<ObjectId>();
}

class Reading {
 public:
  Reading(const ClusterView& view, const std::string& ownNamespace)
      : view_(view), graph_(view.graph()), ownNamespace_(ownNamespace) {
    types_ = {criticalservice::criticalServiceType(), kSpaceType};
    for (const CriticalService* service : view.services()) {
      for (kube::GroupResource& type : admission::carriedOutTypes(*service)) types_.insert(std::move(type));
    }
    knowsAll_ = std::ranges::all_of(types_, [this](const auto& type) { return isKnown(type); });
  }

  // The works that own something lastout would carry out the deletion of.
  std::set<ObjectId> owningGuarded() const {
    std::set<ObjectId> works;
    for (const CriticalService* service : view_.services()) {
      if (!admission::isPutOff(service->replay, true)) continue;
      for (const admission::Guard& guard : admission::guardsOf(*service, kTypes, ownNamespace_)) {
        if (admission::remembers(guard.role, guard.object == criticalservice::keyOf(*service)))
          addOwners(guard.object, works);
      }
    }
    return works;
  }

  std::set<ObjectId> owningLastout() const {
    std::set<ObjectId> works;
    addOwners(kube::crdKey(criticalservice::criticalServiceType()), works);
    if (!ownNamespace_.empty()) addOwners({kSpaceType, "", ownNamespace_}, works);
    return works;
  }

  // Of a work that terminates: what it owns, and one object of that which nobody will delete.
  std::optional<VeryObject> addOwned(ObjectId work, KeptFacts& facts) const {
    facts.ownsAny = !knowsAll_;
    std::optional<VeryObject> forsaken;
    for (const ObjectId object : graph_.dependents(work)) {
      facts.ownsAny = true;
      if (graph_.isTerminating(object) || (isStillPutOff(object) && !isHeldBack(object, work))) continue;
      facts.ownsForsaken = true;
      forsaken = VeryObject{graph_.key(object), graph_.uid(object)};
    }
    return forsaken;
  }

  // Of a type that lastout carries out deletions of, where no CriticalService says that it shall not.
  bool mayBeCarriedOut(ObjectId object) const {
    const kube::ObjectKey key = graph_.key(object);
    const std::vector<uint32_t> services = view_.remembering(key);
    return types_.contains(key.type) &&
           (services.empty() || std::ranges::any_of(services, [this](uint32_t number) {
              return admission::isPutOff(view_.guards().service(number).replay, true);
            }));
  }

 private:
  static inline const kube::ResourceMap kTypes = kube::ResourceMap::builtIn();

  void addOwners(const kube::ObjectKey& key, std::set<ObjectId>& works) const {
    const auto object = graph_.find(key);
    if (!object) return;
    for (const graph::OwnerView& owner : graph_.owners(*object)) {
      if (owner.object) works.insert(*owner.object);
    }
  }

  bool isStillPutOff(ObjectId object) const {
    if (mayBeCarriedOut(object)) return true;
    const std::vector<uint32_t> services = view_.remembering(graph_.key(object));
    return std::ranges::any_of(services, [&](uint32_t number) {
      const CriticalService& service = view_.guards().service(number);
      const auto isIt = [&](const criticalservice::PutOff& deletion) {
        return graph_.hasUid(object, deletion.uid);
      };
      return admission::isPutOff(service.replay, true) && std::ranges::any_of(service.putOff.deletions, isIt);
    });
  }

  // Another owner is there and stays, or may be: of owners whose type is not followed nothing is known.
  bool isHeldBack(ObjectId object, ObjectId work) const {
    return std::ranges::any_of(graph_.owners(object), [&](const graph::OwnerView& owner) {
      if (owner.object == work) return false;
      if (owner.object) return !graph_.isTerminating(*owner.object);
      const kube::ResourceType* type = kTypes.findKind(kube::groupOf(owner.apiVersion), owner.kind);
      return type == nullptr || !isKnown(type->type);
    });
  }

  bool isKnown(const kube::GroupResource& type) const {
    const auto id = graph_.findType(type);
    return id && admission::believable(graph_.knowledge(*id));
  }

  const ClusterView& view_;
  const graph::Graph& graph_;
  const std::string& ownNamespace_;
  std::set<kube::GroupResource> types_;  // of which lastout carries out deletions
  bool knowsAll_ = true;                 // of these types it is known what is there
};

}  // namespace

KeptWorks keptWorksIn(const ClusterView& view, const std::string& ownNamespace, bool keepsNone) {
  KeptWorks result;
  const graph::Graph& graph = view.graph();
  const Reading reading(view, ownNamespace);
  const std::set<ObjectId> guarded = reading.owningGuarded();
  const std::set<ObjectId> lastout = reading.owningLastout();
  for (const ObjectId work : worksIn(graph)) {
    KeptFacts facts = factsOfItself(graph, work);
    result.kept += facts.isKept ? 1 : 0;
    facts.ownsGuarded = guarded.contains(work);
    facts.ownsLastout = keepsNone || lastout.contains(work);
    std::optional<VeryObject> forsaken;
    if (facts.terminates && facts.isKept) forsaken = reading.addOwned(work, facts);
    KeptWorkChange change{std::string(graph.name(work)), graph.uid(work), admission::keepingOf(facts)};
    if (change.keeping == Keeping::AsItIs) continue;
    if (!facts.ownsLastout) change.forsaken = std::move(forsaken);
    result.changes.push_back(std::move(change));
  }
  return result;
}

std::vector<LeftBehind> leftBehindIn(const ClusterView& view) {
  std::vector<LeftBehind> result;
  const graph::Graph& graph = view.graph();
  std::optional<Reading> reading;
  for (const ObjectId work : worksIn(graph)) {
    if (!isKeptAlone(factsOfItself(graph, work))) continue;
    if (!reading) reading.emplace(view, std::string());
    for (const ObjectId object : graph.dependents(work)) {
      if (graph.isTerminating(object) || !reading->mayBeCarriedOut(object)) continue;
      LeftBehind left{std::string(graph.name(work)), graph.uid(work), {}};
      left.deletion.object = graph.key(object);
      left.deletion.uid = graph.uid(object);
      left.deletion.propagationPolicy = "Background";
      left.deletion.requestedBy = "the agent of " + toString(graph.key(work));
      for (const graph::OwnerView& owner : graph.owners(object)) left.deletion.owners.push_back(owner.uid);
      result.push_back(std::move(left));
    }
  }
  return result;
}

}  // namespace lastout::server

// Kept works (control/kept_work_rule.h), as a view of the cluster shows them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "admission/cluster_view.h"
#include "control/kept_work_rule.h"
#include "criticalservice/deferred_deletion.h"
#include "kube/resource_map.h"
#include "server/controllers/annotation_events.h"

namespace lastout::server {

// What the status of each AppliedManifestWork lists as applied, by its name.
using RecordedObjects = std::map<std::string, std::vector<kube::ObjectKey>, std::less<>>;

// What there is to read. Borrows all of it.
struct ViewOfWorks {
  const admission::ClusterView& view;
  const kube::ResourceMap& types;
  const std::string& ownNamespace;  // lastout's own; empty: it runs outside the cluster
  const RecordedObjects& recorded;
};

// An object, and which one of that name.
struct VeryObject {
  kube::ObjectKey key;
  std::string uid;
};

// An AppliedManifestWork that is to begin or to cease to carry lastout's finalizer.
struct KeptWorkChange {
  std::string name;
  std::string uid;
  control::Keeping keeping = control::Keeping::AsItIs;
  // It is let go although this is there, which nobody seems to delete. The view may lag behind.
  std::optional<VeryObject> forsaken = std::nullopt;
  bool terminates = false;  // as far as the view has been told
};

// The uids of the objects that kept works own and await, by the uid of the work. Needed because a
// CriticalService may be gone before an object that it guarded.
using AwaitedObjects = std::map<std::string, std::set<std::string>>;

// Which deletions count as a person's, whoever owns the object: recorded ones, by the user who requested them
// (empty: none), and those that annotations ask for. personCounts is called with the view's lock held, so it
// must neither wait nor call the view.
struct PersonsDeletions {
  std::function<bool(const std::string& user)> personCounts;
  AnnotationsNow annotations;
};

// `awaited`: of the last look; it is brought up to date. `refused`: uids of what lastout may not delete, or
// somebody else refuses again and again, or an owner holds back. `isUnsure`: more may be there than the view
// has been told (typeInDoubt()).
std::vector<KeptWorkChange> keptWorksToChange(const ViewOfWorks& works, const std::set<std::string>& refused,
                                              bool isUnsure, AwaitedObjects& awaited,
                                              const PersonsDeletions& persons = {});

// Returns the type of a provider that may exist although no list has shown it; nullopt: there is none.
std::optional<kube::GroupResource> typeInDoubt(const admission::ClusterView& view);

// Returns true if a kept work that is being deleted owns the object.
bool isOfKeptWork(const graph::Graph& graph, graph::ObjectId object);

// Returns the changes that release all kept works.
std::vector<KeptWorkChange> keptWorksToLetGo(const ViewOfWorks& works);

// A deletion that lastout runs even if no CriticalService records it. The work that owns the object is being
// deleted, and its agent requested the deletion once: now the agent is done, and only lastout keeps the work;
// or the work's status no longer lists the object.
struct DeferredDeletionOfWork {
  std::string work;  // the AppliedManifestWork's name
  std::string workUid;
  criticalservice::DeferredDeletion deletion;
};

inline constexpr size_t kMostDeferredDeletionsOfWorks = 1'000;  // more are found when these are gone

std::vector<DeferredDeletionOfWork> deferredDeletionsOf(const ViewOfWorks& works);

}  // namespace lastout::server

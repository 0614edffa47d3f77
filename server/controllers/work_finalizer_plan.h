// Kept works (control/kept_work.h), as a view of the cluster shows them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "admission/cluster_view.h"
#include "control/kept_work.h"
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

// What works that are kept were seen to own and wait for: the uids of objects, by the work's. Who guards it
// may be gone before it is, which somebody else's finalizer holds.
using AwaitedObjects = std::map<std::string, std::set<std::string>>;

// Which deletions count as a person's, whoever owns the object: those that a CriticalService remembers, by
// who asked for them (empty: nobody's do), and those that annotations ask for. personCounts is called while
// the view is read, so it must neither wait nor ask the view.
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

// The type of a provider that may be there, although no list has told; nullopt: there is none.
std::optional<kube::GroupResource> typeInDoubt(const admission::ClusterView& view);

// One that is kept owns the object, and is being deleted.
bool isOfKeptWork(const graph::Graph& graph, graph::ObjectId object);

// The same, where no work is to be kept: all that are, are let go.
std::vector<KeptWorkChange> keptWorksToLetGo(const ViewOfWorks& works);

// A deletion that is lastout's to carry out although no CriticalService may remember it: the agent of the
// work that owns the object, and is being deleted, has asked for it once. It is done, and only lastout keeps
// the work; or the work's status lists the object no longer.
struct DeferredDeletionOfWork {
  std::string work;  // the AppliedManifestWork's name
  std::string workUid;
  criticalservice::DeferredDeletion deletion;
};

inline constexpr size_t kMostDeferredDeletionsOfWorks = 1'000;  // more are found when these are gone

std::vector<DeferredDeletionOfWork> deferredDeletionsOf(const ViewOfWorks& works);

}  // namespace lastout::server

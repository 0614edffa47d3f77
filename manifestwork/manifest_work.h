// ManifestWork: a bundle of manifests that an agent applies to a managed cluster, and deletes with the work.
// AppliedManifestWork: the agent's own note, in that cluster, of what it has applied.
// Source: the API group work.open-cluster-management.io/v1, as tests/recordings show it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object.h"
#include "kube/resource_map.h"
#include "kube/result.h"

namespace lastout::manifestwork {

kube::GroupResource manifestWorkType();         // manifestworks.work.open-cluster-management.io
kube::GroupResource appliedManifestWorkType();  // appliedmanifestworks.work.open-cluster-management.io
kube::GroupResource replicaSetType();           // manifestworkreplicasets.work.open-cluster-management.io

inline constexpr std::string_view kAppliedKind = "AppliedManifestWork";

// The finalizers that the agent sets on the two, and removes when it is done.
inline constexpr std::string_view kWorkFinalizer = "cluster.open-cluster-management.io/manifest-work-cleanup";
inline constexpr std::string_view kAppliedFinalizer =
    "cluster.open-cluster-management.io/applied-manifest-work-cleanup";

// Where the agent of a managed cluster runs, and as whom, unless it was installed otherwise.
inline constexpr std::string_view kAgentNamespace = "open-cluster-management-agent";
inline constexpr std::string_view kAgentUser =
    "system:serviceaccount:open-cluster-management-agent:klusterlet-work-sa";

// Where the controllers of a hub run, with that of ManifestWorkReplicaSets, unless it was installed
// otherwise.
inline constexpr std::string_view kHubNamespace = "open-cluster-management-hub";

// The finalizer of a ManifestWorkReplicaSet: its controller deletes the works that it has made, and takes it
// off. Of the group's other two only the first word differs.
inline constexpr std::string_view kReplicaSetFinalizer =
    "work.open-cluster-management.io/manifest-work-cleanup";

// spec.deleteOption: which of its objects the work leaves behind when it is deleted. While it says so of an
// object, the agent keeps its owner reference off that, and deletes it with no work.
// https://open-cluster-management.io/docs/concepts/work-distribution/manifestwork/#resource-deletion
// With it, what the agent only reads (updateStrategy ReadOnly in spec.manifestConfigs): it neither makes nor
// writes that, so it does not own it, and leaves it behind as well.
struct DeleteOption {
  enum class PropagationPolicy : uint8_t { Foreground, Orphan, SelectivelyOrphan };
  PropagationPolicy policy = PropagationPolicy::Foreground;
  std::vector<kube::ObjectKey>
      orphaningRules;  // SelectivelyOrphan: the objects; words of theirs stand for themselves
  std::vector<kube::ObjectKey> readOnly;  // the objects
  bool orphans(const kube::ObjectKey& object) const;
  bool onlyReads(const kube::ObjectKey& object) const;
};

struct ManifestWork {
  kube::Object object;
  std::vector<kube::Object> manifests;  // what it applies, in the order of its spec
  DeleteOption deleteOption = {};
};

struct AppliedResource {
  kube::ObjectKey key;
  std::string uid;        // of the object that the agent applied; empty: not known
  bool orphaned = false;  // the work leaves it behind; not in the agent's note
};

struct AppliedManifestWork {
  kube::Object object;
  std::string manifestWorkName;
  std::string hubHash;  // names the hub; empty where there is none, as in scenarios
  std::string agentId;
  std::vector<AppliedResource> resources;  // status.appliedResources, in its order
};

// --- reading

// A file is read in this order: completeShorthand on each document; addEmbeddedTypes over all documents;
// kube::parseObjects; then parseWork on each ManifestWork among the objects.

// Shorthand is a ManifestWork whose spec is text or a list of words, `resource[.group]/[namespace/]name`,
// that name objects of the same file. It may leave out metadata.namespace: cluster1 is filled in here. Any
// other document comes back as it is.
kube::Value completeShorthand(kube::Value document);

// Makes the types known that CustomResourceDefinitions inside ManifestWorks define.
kube::Result<void> addEmbeddedTypes(std::span<const kube::Value> documents, std::string_view file,
                                    kube::ResourceMap& types);

// A ManifestWork in either form. `objects` are those that shorthand words may name: the file's own. A word
// must name exactly one of them. Reports all that is wrong: words that name nothing or several objects
// (listing them), manifests that are none, the same object twice, unknown fields of the spec. Of executor
// nothing is read: the agent's rights are those of its user. For deleteOption.ttlSecondsAfterFinished there
// is timeToLiveOf().
tl::expected<ManifestWork, kube::Errors> parseWork(const kube::Object& object,
                                                   std::span<const kube::Object> objects,
                                                   const kube::ResourceMap& types);

// An AppliedManifestWork as an agent writes it. Fields that are not listed above are ignored: newer agents
// have more.
tl::expected<AppliedManifestWork, kube::Errors> parseApplied(const kube::Object& object);

// Reads spec.deleteOption, and what is ReadOnly, of a stored work as the agent does: what it does not know is
// as if it were absent.
DeleteOption deleteOptionOf(const kube::Value& work);

// spec.deleteOption.ttlSecondsAfterFinished: the hub deletes the work so long after it was complete.
// https://open-cluster-management.io/docs/concepts/work-distribution/manifestwork/
struct TimeToLive {
  int64_t seconds = 0;
  bool isComplete = false;  // its status says so; else one of its conditionRules may
};
// Returns that of a stored work; nullopt: it has none, or nothing ever makes it complete.
std::optional<TimeToLive> timeToLiveOf(const kube::Value& work);

// Returns true if the work says that the ManifestWorkReplicaSet made it: in a label, "<namespace>.<name>", or
// in an annotation, "<namespace>/<name>".
bool isMadeBy(const kube::ObjectMeta& work, const kube::ObjectKey& replicaSet);

// Returns true if the ManifestWorkReplicaSet stays until its works are gone (cascadeDeletionPolicy
// Foreground); false: until their deletion was accepted.
bool waitsForWorks(const kube::Value& replicaSet);

// What the status of an AppliedManifestWork lists; what is written otherwise than an agent does is left out.
std::vector<kube::ObjectKey> recordedObjects(const kube::Value& applied);

// --- what an agent makes of a work

// The name of a work's AppliedManifestWork where there is no hub: "<namespace>-<name>". With a hub it is
// "<hub hash>-<name>".
std::string appliedName(const kube::ObjectKey& work);

// The AppliedManifestWork that an agent writes once it has applied everything; uids are those of the
// manifests, which usually have none.
AppliedManifestWork appliedBy(const ManifestWork& work);

// Whether `applied` notes what `work` applied. The note does not say the work's namespace, so where two
// clusters' works share a name it answers yes for both.
bool isAppliedFrom(const AppliedManifestWork& applied, const ManifestWork& work);

}  // namespace lastout::manifestwork

#include "simulator/contents.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "cluster/build.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"
#include "simulator/defaults.h"
#include "simulator/derived_cluster.h"
#include "simulator/derived_workloads.h"
#include "simulator/derived_works.h"
#include "simulator/schema.h"

namespace lastout::simulator {
namespace {

using cluster::Slot;
using cluster::SlotKind;

constexpr const char* kAgent = "agent1";  // as the recorded agent calls itself
constexpr const char* kNode = "node";     // the one that all Pods run on

const Json* storedAt(const ControlPlane& plane, Slot slot) LASTOUT_REQUIRES(plane.mutex) {
  if (slot == cluster::kNone) return nullptr;
  const RecordRef record = plane.storage.find(plane.live.model().slots[slot].key);
  return record == nullptr ? nullptr : &record->object();
}

Slot controllerOf(const ControlPlane& plane, Slot slot) LASTOUT_REQUIRES(plane.mutex) {
  const std::vector<cluster::OwnerLink>& owners = plane.live.model().slots[slot].owners;
  const auto found =
      std::ranges::find_if(owners, [](const cluster::OwnerLink& link) { return link.controller; });
  return found == owners.end() ? cluster::kNone : found->owner;
}

int64_t ordinalOf(std::string_view podName) {
  const size_t dash = podName.rfind('-');
  int64_t ordinal = 0;
  for (const char digit : podName.substr(dash == std::string_view::npos ? podName.size() : dash + 1))
    ordinal = digit >= '0' && digit <= '9' ? ordinal * 10 + (digit - '0') : ordinal;
  return ordinal;
}

Json podContent(const ControlPlane& plane, Slot slot) LASTOUT_REQUIRES(plane.mutex) {
  const Slot owner = controllerOf(plane, slot);
  const Json* workload = storedAt(plane, owner);
  if (workload == nullptr) return nullptr;
  const kube::ObjectKey& key = plane.live.model().slots[slot].key;
  Json pod;
  switch (plane.live.model().slots[owner].kind) {
    case SlotKind::StatefulSet:
      pod = podOfStatefulSet(*workload, ordinalOf(key.name), key.name);
      break;
    case SlotKind::DaemonSet:
      pod = podOfDaemonSet(*workload, kNode, key.name);
      break;
    default:
      pod = podOfReplicaSet(*workload);
      break;
  }
  return pod;
}

// What the agent makes of the first of the works' manifests that is this object.
Json appliedContent(const ControlPlane& plane, Slot slot) LASTOUT_REQUIRES(plane.mutex) {
  const cluster::Model& model = plane.live.model();
  const kube::ObjectKey& key = model.slots[slot].key;
  for (const uint32_t link : model.slots[slot].links) {
    const cluster::Work& work = model.works[model.links[link].work];
    const Json* manifestWork = storedAt(plane, work.manifestWork);
    const Json* applied = storedAt(plane, work.applied);
    if (manifestWork == nullptr || applied == nullptr) continue;
    for (const auto& [manifestKey, manifest] : manifestsOf(*manifestWork, plane.types.resources())) {
      if (manifestKey != key) continue;
      return model.links[link].orphans ? *manifest : appliedManifest(*manifest, *applied);
    }
  }
  return nullptr;
}

Json rawContent(const ControlPlane& plane, Slot slot) LASTOUT_REQUIRES(plane.mutex) {
  const cluster::SlotInfo& info = plane.live.model().slots[slot];
  if (info.kind == SlotKind::Pod && controllerOf(plane, slot) != cluster::kNone)
    return podContent(plane, slot);
  if (info.kind == SlotKind::ReplicaSet && controllerOf(plane, slot) != cluster::kNone) {
    const Json* deployment = storedAt(plane, controllerOf(plane, slot));
    return deployment == nullptr ? Json() : replicaSetOf(*deployment, info.key.name, 1);
  }
  if (info.kind == SlotKind::AppliedManifestWork && info.work != cluster::kNone) {
    const cluster::Slot work = plane.live.model().works[info.work].manifestWork;
    const Json* manifestWork = storedAt(plane, work);
    if (manifestWork == nullptr) return nullptr;
    return appliedWorkOf(*manifestWork, plane.live.model().slots[work].key.namespaceName, kAgent);
  }
  return appliedContent(plane, slot);
}

Json withNextGeneration(Json object) {
  const Json* generation = at(object, {"metadata", "generation"});
  if (generation != nullptr && generation->is_number_integer())
    object["metadata"]["generation"] = generation->get<int64_t>() + 1;
  return object;
}

// What the collector has set to false in a reference stays so.
Json withUnblockedOwners(const std::vector<cluster::LiveOwner>& owners, Json object) {
  if (at(object, {"metadata", "ownerReferences"}) == nullptr) return object;
  for (Json& reference : object["metadata"]["ownerReferences"]) {
    const std::string_view uid = stringAt(reference, {"uid"});
    const bool isUnblocked = std::ranges::any_of(owners, [&](const cluster::LiveOwner& owner) {
      return owner.uid == uid && !owner.blockOwnerDeletion;
    });
    if (isUnblocked && trueAt(reference, {"blockOwnerDeletion"})) reference["blockOwnerDeletion"] = false;
  }
  return object;
}

// References to owners that the collector has dropped go.
Json withOwnersOf(const std::vector<cluster::LiveOwner>& owners, Json object) {
  const Json* references = at(object, {"metadata", "ownerReferences"});
  if (references == nullptr || !references->is_array()) return object;
  std::set<std::string, std::less<>> dropped;
  for (const Json& reference : *references) {
    const std::string_view uid = stringAt(reference, {"uid"});
    if (std::ranges::none_of(owners, [&](const cluster::LiveOwner& owner) { return owner.uid == uid; }))
      dropped.emplace(uid);
  }
  for (const std::string& uid : dropped) object = removeOwner(std::move(object), uid);
  return withUnblockedOwners(owners, std::move(object));
}

// An owner that a controller has added: an agent, or a workload that adopts.
Json withAddedOwners(const ControlPlane& plane, const std::vector<cluster::LiveOwner>& owners, Json object)
    LASTOUT_REQUIRES(plane.mutex) {
  for (const cluster::LiveOwner& owner : owners) {
    const std::optional<Slot> there = plane.live.findUid(owner.uid);
    const Json* stored = there ? storedAt(plane, *there) : nullptr;
    const Json* references = at(object, {"metadata", "ownerReferences"});
    const bool known = references != nullptr && std::ranges::any_of(*references, [&](const Json& reference) {
                         return stringAt(reference, {"uid"}) == owner.uid;
                       });
    if (stored == nullptr || known) continue;
    object = addOwner(std::move(object),
                      owner.controller ? controllerReference(*stored) : plainReference(*stored));
  }
  return object;
}

}  // namespace

TypeRules rulesOf(const ServedType& type) {
  return {type.type,
          type.kind,
          !type.builtIn,
          type.subresource("status") != nullptr,
          type.tracksGeneration,
          type.writesNullTimestamps};
}

Json completed(const ControlPlane& plane, const ServedType& type, Json object) {
  const auto below = [&](uint32_t bound) { return static_cast<uint32_t>(plane.random() % bound); };
  return completed(type, std::move(object), {plane.newUid(), plane.now(), below});
}

Json completed(const ServedType& type, Json object, const Birth& birth) {
  object = prepareForCreate(rulesOf(type), std::move(object), birth);
  const auto clusterIp = [&](const Json& service) {
    return clusterIpOf(stringAt(service, {"metadata", "namespace"}), stringAt(service, {"metadata", "name"}));
  };
  if (type.builtIn) return completeOnCreate(rulesOf(type), std::move(object), clusterIp);
  applyDefaults(type.schema, object);
  return object;
}

Json contentOf(ControlPlane& plane, Slot slot) {
  const kube::ObjectKey key = plane.live.model().slots[slot].key;
  Json object = rawContent(plane, slot);
  const ServedTypePointer type = plane.types.findPreferred(key.type);
  if (object.is_null() || type == nullptr) return nullptr;
  object["metadata"]["name"] = key.name;
  return completed(plane, *type, std::move(object));
}

Json alignedContent(const ControlPlane& plane, Slot slot, const cluster::ObjectState& state, Json object) {
  const cluster::SlotInfo& info = plane.live.model().slots[slot];
  const ServedTypePointer type = plane.types.findPreferred(info.key.type);
  if (state.terminating() && !isTerminating(object) && type != nullptr)
    object = markDeleted(rulesOf(*type), std::move(object), plane.now());
  std::vector<std::string> finalizers = plane.live.finalizers(slot, state);
  if (info.kind == SlotKind::Namespace &&
      std::erase(finalizers, kube::kNamespaceSpecFinalizer) == 0)  // it stands in its spec
    object = finalizedNamespace(std::move(object));
  if (info.kind == SlotKind::Crd && isTerminating(object) &&
      std::ranges::find(finalizers, kube::kCrdCleanupFinalizer) == finalizers.end())
    object = crdAfterCleanup(std::move(object), plane.now());
  object = setFinalizers(std::move(object), finalizers);
  if (!state.present()) return object;  // as it was last
  const std::vector<cluster::LiveOwner> owners = plane.live.owners(slot, state);
  object = withOwnersOf(owners, std::move(object));
  object = withAddedOwners(plane, owners, std::move(object));
  if (info.kind == SlotKind::ReplicaSet) {
    const Json* deployment = storedAt(plane, controllerOf(plane, slot));
    if (deployment != nullptr && at(object, {"spec", "replicas"}) != nullptr &&
        object["spec"]["replicas"] != state.value)
      object = withNextGeneration(followingReplicaSet(*deployment, std::move(object)));
  }
  if (info.kind == SlotKind::Pod && (state.value & cluster::kReady) != 0 &&
      stringAt(object, {"status", "phase"}) == "Pending")
    object = readyPod(std::move(object), plane.now());
  if (info.kind == SlotKind::Pod && (state.value & cluster::kStopped) != 0)
    object = stoppedPod(std::move(object), plane.now());
  return object;
}

bool wouldVanish(const ServedType& type, const StoredRecord& before,
                 std::optional<cluster::PropagationPolicy> policy) {
  const bool waits =
      policy == cluster::PropagationPolicy::Foreground || policy == cluster::PropagationPolicy::Orphan;
  if (waits || !finalizersOf(before.object()).empty()) return false;
  const kube::GroupResource& of = type.type;
  return of != kube::kNamespaces && of != kube::kPods && of != kube::kCustomResourceDefinitions;
}

Json afterDryRun(const Mutation& mutation, const ControlPlane& plane) {
  if (mutation.operation != Mutation::Operation::Delete) return mutation.after;
  Json object = markDeleted(rulesOf(*mutation.type), mutation.before->object(), plane.now());
  if (!mutation.policy || mutation.key.type == kube::kNamespaces) return object;
  std::vector<std::string> finalizers = finalizersOf(object);
  std::erase_if(finalizers, [](const std::string& finalizer) {
    return finalizer == kube::kForegroundFinalizer || finalizer == kube::kOrphanFinalizer;
  });
  if (*mutation.policy == cluster::PropagationPolicy::Foreground)
    finalizers.emplace_back(kube::kForegroundFinalizer);
  if (*mutation.policy == cluster::PropagationPolicy::Orphan) finalizers.emplace_back(kube::kOrphanFinalizer);
  return setFinalizers(std::move(object), finalizers);
}

namespace {

// Each once; a list may be as long as a body.
void addFinalizers(const Json* list, std::vector<std::string>& out) {
  if (list == nullptr || !list->is_array()) return;
  std::set<std::string, std::less<>> known(out.begin(), out.end());
  for (const Json& item : *list) {
    if (item.is_string() && known.insert(item.get_ref<const std::string&>()).second) out.push_back(item);
  }
}

void addOwners(const Json& object, std::vector<cluster::LiveOwner>& out) {
  const Json* references = at(object, {"metadata", "ownerReferences"});
  if (references == nullptr || !references->is_array()) return;
  std::set<std::string_view> known;
  for (const Json& reference : *references) {
    if (!known.insert(stringAt(reference, {"uid"})).second) continue;
    out.push_back({std::string(stringAt(reference, {"uid"})), trueAt(reference, {"controller"}),
                   trueAt(reference, {"blockOwnerDeletion"})});
  }
}

void addClaims(const Json* podSpec, std::vector<std::string>& out) {
  const Json* volumes = podSpec == nullptr ? nullptr : at(*podSpec, {"volumes"});
  if (volumes == nullptr || !volumes->is_array()) return;
  for (const Json& volume : *volumes) {
    const std::string_view claim = stringAt(volume, {"persistentVolumeClaim", "claimName"});
    if (!claim.empty()) out.emplace_back(claim);
  }
}

// What does not fit is more than the machine takes, and refused there.
uint32_t replicasOf(const Json& object) {
  const Json* replicas = at(object, {"spec", "replicas"});
  if (replicas == nullptr || !replicas->is_number_integer()) return 1;
  return static_cast<uint32_t>(
      std::clamp<int64_t>(replicas->get<int64_t>(), 0, std::numeric_limits<uint32_t>::max()));
}

}  // namespace

std::vector<std::pair<kube::ObjectKey, const Json*>> manifestsOf(const Json& manifestWork,
                                                                 const kube::ResourceMap& types) {
  std::vector<std::pair<kube::ObjectKey, const Json*>> manifests;
  const Json* list = at(manifestWork, {"spec", "workload", "manifests"});
  if (list == nullptr || !list->is_array()) return manifests;
  for (const Json& manifest : *list) {
    const kube::ResourceType* type =
        types.findKind(kube::groupOf(stringAt(manifest, {"apiVersion"})), stringAt(manifest, {"kind"}));
    const std::string_view name = stringAt(manifest, {"metadata", "name"});
    if (type == nullptr || name.empty()) continue;
    std::string space;
    if (type->namespaced) space = stringAt(manifest, {"metadata", "namespace"});
    if (type->namespaced && space.empty()) space = "default";
    manifests.push_back({{type->type, std::move(space), std::string(name)}, &manifest});
  }
  return manifests;
}

cluster::LiveObject liveObjectOf(const kube::ObjectKey& key, const Json& object,
                                 const kube::ResourceMap& types) {
  cluster::LiveObject live;
  live.key = key;
  live.uid = stringAt(object, {"metadata", "uid"});
  addFinalizers(at(object, {"metadata", "finalizers"}), live.finalizers);
  if (key.type == kube::kNamespaces) addFinalizers(at(object, {"spec", "finalizers"}), live.finalizers);
  addOwners(object, live.owners);
  if (key.type.group == kube::kAppsGroup) {
    live.replicas = replicasOf(object);
    addClaims(at(object, {"spec", "template", "spec"}), live.claims);
  } else if (key.type == kube::kPods) {
    addClaims(at(object, {"spec"}), live.claims);
  } else if (key.type == kube::kPersistentVolumeClaims) {
    if (const std::string_view volume = stringAt(object, {"spec", "volumeName"}); !volume.empty())
      live.boundTo = kube::ObjectKey{kube::kPersistentVolumes, "", std::string(volume)};
  } else if (key.type == kube::kPersistentVolumes) {
    if (const std::string_view claim = stringAt(object, {"spec", "claimRef", "name"}); !claim.empty())
      live.boundTo = kube::ObjectKey{kube::kPersistentVolumeClaims,
                                     std::string(stringAt(object, {"spec", "claimRef", "namespace"})),
                                     std::string(claim)};
  } else if (key.type == manifestwork::manifestWorkType()) {
    for (auto& [applied, manifest] : manifestsOf(object, types)) live.applies.push_back(std::move(applied));
    live.appliedName = manifestwork::appliedName(key);
    Json spec = Json::object();
    for (const char* field : {"deleteOption", "manifestConfigs"}) {
      if (const Json* option = at(object, {"spec", field}); option != nullptr) spec[field] = *option;
    }
    live.deleteOption = manifestwork::deleteOptionOf(kube::fromJson(Json{{"spec", std::move(spec)}}));
  }
  return live;
}

}  // namespace lastout::simulator

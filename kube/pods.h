// What ties Pods to storage and to Nodes: the claims that they use, the volumes that these are bound to, and
// whether a Node ends its Pods. And whether a Job runs any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object.h"
#include "kube/object_key.h"
#include "kube/value.h"

namespace lastout::kube {

// A PersistentVolumeClaim that a Pod mounts.
struct MountedClaim {
  std::string name;
  bool isEphemeral = false;  // made for that Pod, which has to control it
  friend bool operator==(const MountedClaim&, const MountedClaim&) = default;
};

// Returns those of the Pod of that name, whose specification (or that of its template) this is; nullptr has
// none.
std::vector<MountedClaim> claimsOf(const Value* podSpec, std::string_view podName);

// Returns the volume of a claim, as its spec.volumeName has it; nullopt: it says nothing.
std::optional<ObjectKey> volumeOf(const Value& claim);
// Returns the claim of a volume, as its spec.claimRef has it; nullopt: it says nothing.
std::optional<ObjectKey> claimOf(const Value& volume);
// Returns true if the claim of the volume was deleted: one that has its name now is another. A volume that is
// Available may be bound to its claim at any time.
bool isReleased(const Value& volume);
// Returns true if kube-controller-manager's pv-protection may keep the volume: its phase is Bound, or nothing
// has told its phase yet.
bool mayBeInUse(const Value& volume);
// Returns true if the volume is released in its status before pv-protection lets it go: a claim has it, or
// its phase is Bound. nullptr: nothing is known of its phase.
bool hasToBeReleased(const Value* volume, bool hasClaim);
// Returns the number of the StatefulSet's first Pod, spec.ordinals.start.
uint32_t firstOrdinalOf(const Value& statefulSet);

// Returns true if the claim is bound to the volume; `volumeOfClaim` and `claimOfVolume`: as of volumeOf() and
// claimOf().
bool isBound(const ObjectKey& claim, const std::optional<ObjectKey>& volumeOfClaim, const ObjectKey& volume,
             const std::optional<ObjectKey>& claimOfVolume);

// Return true if the Job's manifest has it suspended; if its status has it complete or failed.
bool isSuspended(const Value& job);
bool hasEnded(const Value& job);

// Returns the name of the Node that runs the Pod; empty: none does yet.
const std::string& nodeOf(const Object& pod);
// Returns true if the cluster from which the Pod was read has given it no Node: kube-controller-manager's
// pvc-protection lets the claims of such a Pod go. Of a manifest nobody knows which Node it will have.
bool isWithoutNode(const Object& pod);
// Returns true if the Pod's kubelet has said that it has stopped: it terminates, without a grace period.
bool isShutDown(const Object& pod);
// Returns the Node whose kubelet has to say that the Pod has stopped before it ends; empty: none has to. An
// API server ends at once what no Node has, and what has finished when it is deleted.
std::string nodeThatEnds(const Object& pod);
// Returns the status of the Node's condition Ready if that is not True: "Unknown" if its kubelet is silent;
// empty: it is True, or the Node has no such condition. A Node that is not Ready may not say that its Pods
// have stopped.
std::string notReadyStatus(const Value& node);
// Returns true if the Pod garbage collector ends the Pods of a Node that is not Ready: the Node has the taint
// node.kubernetes.io/out-of-service.
bool isOutOfService(const Value& node);

}  // namespace lastout::kube

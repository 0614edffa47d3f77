// LiveModel: a model that grows and shrinks with the objects that come and go, and its state. Internal to
// cluster/.
//
// A slot is kept while its object is present, or something means its name: a workload's place for a child, a
// work's link, objects in a namespace or of a CRD, a finalizer controller that runs in it. Then it is used
// again. Content lists hold what is present, and nothing else, so that "is it empty" is one look.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/live_cluster.h"
#include "cluster/transition.h"

namespace lastout::cluster {

// What is known of a slot beside SlotInfo.
struct LiveSlot {
  bool used = false;
  std::string uid;                     // of the object that is present
  std::vector<std::string> ownerUids;  // by owner link: whom it meant, when that one is not there any more
  Slot parent = kNone;                 // the workload whose child, or place for one, it is
  uint32_t inNamespace = 0;            // where it stands in the list of its namespace, and of its CRD
  uint32_t inCrd = 0;
  uint32_t runsControllers = 0;
  std::vector<std::string> claims;         // workload, Pod: what was given
  std::vector<Slot> mounts;                // Pod that is present: the claims
  std::optional<kube::ObjectKey> boundTo;  // claim, volume: as of LiveObject
  bool awaitsPods = false;                 // Namespace: its Pods are deleted first, and some are left
  std::vector<Slot> absent;                // Namespace, CRD: the slots in it that are not in its content
};

// The owner links of a slot, as they are to be.
inline constexpr size_t kDropped = ~size_t{0};
struct OwnerPlan {
  std::vector<OwnerLink> links;
  std::vector<std::string> uids;
  std::vector<OwnerState> states;
  std::vector<size_t> movedTo;  // by former index; kDropped: dropped
};

// True of claims and volumes.
inline bool isStorage(SlotKind kind) {
  return kind == SlotKind::PersistentVolumeClaim || kind == SlotKind::PersistentVolume;
}

class LiveModel {
 public:
  LiveModel(const Timing& timing, kube::ResourceMap types, kube::KubernetesVersion kubernetes);

  const Machine& machine() const { return *machine_; }
  StateRef state() const { return {words_.data(), machine_->layout()}; }
  // The state as it was before what is going on; equal to the state otherwise.
  StateRef before() const { return {before_.data(), machine_->layout()}; }
  Transition reading() const { return {*machine_, state(), nullptr}; }
  bool isPresent(Slot slot) const { return slot != kNone && state().presence(slot) != Presence::Absent; }

  // Whose actions have to be looked at again.
  void look(Slot slot) {
    if (slot != kNone) toLookAt.push_back({ActionSubject::Kind::Object, slot});
  }
  void lookAtWork(uint32_t work) { toLookAt.push_back({ActionSubject::Kind::Work, work}); }

  // --- slots (cluster/live_model.cc)
  Slot slotOf(const kube::ObjectKey& key);  // made if there is none
  void appeared(Slot slot);                 // the object was created
  void vanished(Slot slot);                 // it is gone
  void mayFree(Slot slot) { leaving_.push_back(slot); }
  void freeLeft();  // frees what nothing means any more
  void setUid(Slot slot, const std::string& uid);
  void setDeletionRefused(Slot pod);  // by the namespace controller; the Pod is live, and stays as it is

  // --- finalizers and owners (cluster/live_owners.cc)
  kube::Result<void> check(Slot slot, const LiveObject& object) const;  // it fits
  void nameFinalizers(Slot slot, const std::vector<std::string>& names);
  std::vector<std::string> finalizersOf(Slot slot, const ObjectState& object) const;
  uint16_t finalizerMaskOf(Slot slot, const std::vector<std::string>& names) const;
  OwnerPlan planOwners(Slot slot, const std::vector<LiveOwner>& owners) const;
  uint16_t setOwners(Slot slot, OwnerPlan plan);  // the states, as ObjectState has them
  void tidyOwners(Slot slot);                     // drops links that mean nobody now
  // A link that stays whatever the references say, beside which they may come; false: no room.
  bool linkOwner(Slot slot, const OwnerLink& link, size_t& index);
  std::vector<LiveOwner> ownersOf(Slot slot, const ObjectState& object) const;

  // --- workloads (cluster/live_workloads.cc)
  void placeChildren(Slot workload);  // as many places as it has replicas
  void takeChild(Slot child);         // into the workload that it names as its controller
  void mount(Slot pod);
  void unmount(Slot pod);
  void bind();  // claims to volumes, after one of them has come, gone or changed

  // --- works (cluster/live_works.cc)
  // Gives a ManifestWork its agent, and what that applies; changes nothing where it fails.
  kube::Result<void> setWork(Slot manifestWork, const LiveObject& object);

  Model model;
  std::vector<LiveSlot> extra;
  std::unordered_map<std::string, Slot> byUid;
  std::vector<ActionSubject> toLookAt;
  bool podsChanged = false;  // a workload may have another number of Ready Pods

 private:
  using Position = uint32_t LiveSlot::*;
  Slot allocate();
  void reserve(size_t slots, size_t works, size_t links);
  Slot crdOf(const kube::GroupResource& type);
  void bindInstances(Slot crd);
  std::vector<Slot>& listOf(Slot container, bool present);
  void enter(Slot slot, Slot container, Position position, bool present);
  void leave(Slot slot, Slot container, Position position, bool present);
  void move(Slot slot, bool present);
  bool isMeant(Slot slot) const;
  void free(Slot slot);
  void release(Slot slot);
  void writeBoth(Slot slot, const ObjectState& object);
  const std::string& uidOfLink(Slot slot, size_t index) const;
  bool isFixed(Slot slot, size_t index) const;
  void addPlace(Slot workload);
  bool canBePlace(Slot slot, Slot workload) const;
  void trim(Slot workload);
  bool hasRoomFor(Slot slot, Slot owner) const;
  bool isSameList(uint32_t work, const std::vector<Slot>& objects) const;
  void linkObjects(uint32_t work, const std::vector<Slot>& objects,
                   const manifestwork::DeleteOption& deleteOption);
  void setOrphans(uint32_t work, const manifestwork::DeleteOption& deleteOption);
  uint32_t addWork(Slot manifestWork, Slot applied);
  void dropLinks(uint32_t work);
  void dropWork(uint32_t work);
  uint32_t allocateLinks(uint32_t count);

  kube::ResourceMap types_;
  Layout::Counts room_;
  std::optional<Machine> machine_;
  mutable std::vector<uint64_t> words_;
  mutable std::vector<uint64_t> before_;
  size_t volumes_ = 0;         // that are present
  std::vector<Slot> leaving_;  // may be free
  std::vector<Slot> freeSlots_;
  std::vector<uint32_t> freeWorks_;
  std::map<uint32_t, std::vector<uint32_t>> freeLinks_;  // ranges by their length
};

}  // namespace lastout::cluster

// Places for children of workloads that come, grow, shrink and go; which claims Pods mount, and which claims
// are bound to which volumes.
#include <algorithm>
#include <iterator>

#include "cluster/builder.h"
#include "cluster/live_model.h"
#include "kube/pods.h"
#include "kube/well_known.h"

namespace lastout::cluster {

namespace {

size_t placesOf(const SlotInfo& info, const ObjectState& object) {
  if (!object.present()) return 0;
  return info.kind == SlotKind::Deployment ? 1 : object.value;
}

}  // namespace

// An object that is there already becomes a StatefulSet's Pod as one that nobody else controls; a name that
// is only kept for something may be used.
bool LiveModel::canBePlace(Slot slot, Slot workload) const {
  if (extra[slot].parent != kNone) return false;
  if (!isPresent(slot)) return true;
  if (model.slots[workload].kind != SlotKind::StatefulSet) return false;
  const ObjectState object = state().object(slot);
  const std::vector<OwnerLink>& links = model.slots[slot].owners;
  for (size_t i = 0; i < links.size(); ++i) {
    if (links[i].controller && object.owner(i) != OwnerState::None) return false;
  }
  return true;
}

void LiveModel::addPlace(Slot workload) {
  for (size_t number = model.slots[workload].children.size();; number += kMaxReplicas) {
    const Slot child = slotOf(childKeyOf(model.slots[workload], number));
    size_t index = 0;
    const OwnerLink link{.owner = workload, .controller = true, .blockOwnerDeletion = true};
    if (!canBePlace(child, workload) || !linkOwner(child, link, index)) continue;
    extra[child].parent = workload;
    model.slots[child].ownersAtCreation = static_cast<uint8_t>(1u << index);
    model.slots[workload].children.push_back(child);
    podsChanged = true;  // an absent ReplicaSet may have some
    look(workload);
    return;
  }
}

void LiveModel::placeChildren(Slot workload) {
  const size_t wanted = placesOf(model.slots[workload], state().object(workload));
  while (model.slots[workload].children.size() < wanted) addPlace(workload);
  mayFree(workload);  // or some of its places, where it has fewer replicas now
}

void LiveModel::takeChild(Slot child) {
  if (extra[child].parent != kNone) return;
  const ObjectState object = state().object(child);
  const SlotKind kind = model.slots[child].kind;
  for (size_t i = 0; i < model.slots[child].owners.size(); ++i) {
    const OwnerLink link = model.slots[child].owners[i];
    if (!link.controller || link.owner == kNone || object.owner(i) != OwnerState::Current) continue;
    const SlotKind owner = model.slots[link.owner].kind;
    const SlotKind makes = owner == SlotKind::Deployment ? SlotKind::ReplicaSet : SlotKind::Pod;
    if (!isWorkload(owner) || kind != makes) continue;
    extra[child].parent = link.owner;
    model.slots[child].ownersAtCreation = static_cast<uint8_t>(1u << i);
    std::vector<Slot>& children = model.slots[link.owner].children;
    // It is at a place that is free, if there is one.
    const auto place =
        std::find_if(children.begin(), children.end(), [&](Slot one) { return !isPresent(one); });
    if (place == children.end()) {
      children.push_back(child);
    } else {
      extra[*place].parent = kNone;
      mayFree(*place);
      *place = child;
    }
    look(link.owner);
    return;
  }
}

// Places beyond its replicas go once they are empty; all do when it is gone.
void LiveModel::trim(Slot workload) {
  std::vector<Slot>& children = model.slots[workload].children;
  const size_t wanted = placesOf(model.slots[workload], state().object(workload));
  const auto drop = [&](size_t index) {
    podsChanged = true;
    extra[children[index]].parent = kNone;
    model.slots[children[index]].ownersAtCreation = 0;
    mayFree(children[index]);
    children.erase(children.begin() + static_cast<ptrdiff_t>(index));
  };
  if (!isPresent(workload)) {
    for (size_t i = children.size(); i-- > 0;) {
      if (!isPresent(children[i])) drop(i);
    }
  }
  while (children.size() > wanted && !isPresent(children.back())) drop(children.size() - 1);
}

void LiveModel::mount(Slot pod) {
  podsChanged = true;
  Slot from = pod;
  while (extra[from].claims.empty() && extra[from].parent != kNone) from = extra[from].parent;
  const std::vector<std::string> names = extra[from].claims;
  const std::string space = model.slots[pod].key.namespaceName;
  for (const std::string& name : names) {
    const Slot claim = slotOf({kube::kPersistentVolumeClaims, space, name});
    model.slots[claim].children.push_back(pod);
    extra[pod].mounts.push_back(claim);
    look(claim);
  }
}

void LiveModel::unmount(Slot pod) {
  if (model.slots[pod].kind == SlotKind::Pod) podsChanged = true;
  for (const Slot claim : extra[pod].mounts) {
    std::vector<Slot>& pods = model.slots[claim].children;
    pods.erase(std::find(pods.begin(), pods.end(), pod));
    look(claim);
    mayFree(claim);
  }
  extra[pod].mounts.clear();
}

void LiveModel::bind() {
  if (volumes_ == 0) return;
  std::vector<Slot> claims;
  std::vector<Slot> volumes;
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    if (!isPresent(slot)) continue;
    if (model.slots[slot].kind == SlotKind::PersistentVolumeClaim) claims.push_back(slot);
    if (model.slots[slot].kind == SlotKind::PersistentVolume) volumes.push_back(slot);
  }
  for (const Slot volume : volumes) {
    std::vector<Slot>& users = model.slots[volume].children;
    users.clear();
    std::ranges::copy_if(claims, std::back_inserter(users), [&](Slot claim) {
      return kube::isBound(model.slots[claim].key, extra[claim].boundTo, model.slots[volume].key,
                           extra[volume].boundTo);
    });
    look(volume);
  }
}

}  // namespace lastout::cluster

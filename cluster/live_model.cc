// Slots that come and go, and the containers they stand in.
#include "cluster/live_model.h"

#include <algorithm>

#include "cluster/builder.h"
#include "kube/well_known.h"

namespace lastout::cluster {

namespace {

constexpr uint32_t kFirstRoom = 64;

uint32_t roomFor(uint32_t room, size_t wanted) {
  while (room < wanted) room *= 2;
  return room;
}

// A live cluster stores Jobs, CronJobs and ReplicationControllers, and runs none.
SlotKind liveKindOf(const kube::GroupResource& type) {
  const SlotKind kind = kindOf(type);
  const bool isNotRun = kind == SlotKind::Job || kind == SlotKind::CronJob ||
                        kind == SlotKind::ManifestWorkReplicaSet || type == kube::kReplicationControllers;
  return isNotRun ? SlotKind::Plain : kind;
}

void takeOver(std::vector<uint64_t>& words, const Layout& from, const Layout& to) {
  std::vector<uint64_t> next(to.words, 0);
  const auto copy = [&](uint32_t begin, uint32_t end, uint32_t at) {
    std::copy(words.begin() + begin, words.begin() + end, next.begin() + at);
  };
  copy(0, from.works, 0);
  copy(from.works, from.steps, to.works);
  copy(from.links, from.words, to.links);
  words = std::move(next);
}

}  // namespace

LiveModel::LiveModel(const Timing& timing, kube::ResourceMap types, kube::KubernetesVersion kubernetes)
    : types_(std::move(types)),
      room_{.slots = kFirstRoom, .works = kFirstRoom, .steps = 0, .links = kFirstRoom},
      machine_(std::in_place, model, Layout(room_)) {
  model.kubernetes = kubernetes;
  model.guarded = false;
  model.timing = timing;
  words_.assign(machine_->layout().words, 0);
  before_ = words_;
}

void LiveModel::reserve(size_t slots, size_t works, size_t links) {
  if (slots <= room_.slots && works <= room_.works && links <= room_.links) return;
  room_.slots = roomFor(room_.slots, slots);
  room_.works = roomFor(room_.works, works);
  room_.links = roomFor(room_.links, links);
  const Layout next(room_);
  takeOver(words_, machine_->layout(), next);
  takeOver(before_, machine_->layout(), next);
  machine_.emplace(model, next);
}

Slot LiveModel::allocate() {
  if (freeSlots_.empty()) {
    freeSlots_.push_back(static_cast<Slot>(model.slots.size()));
    model.slots.emplace_back();
    extra.emplace_back();
    reserve(model.slots.size(), 0, 0);
  }
  const Slot slot = freeSlots_.back();
  freeSlots_.pop_back();
  extra[slot].used = true;
  return slot;
}

// The CRD that defines a type, even one that is not there: of such a type nothing can be created.
Slot LiveModel::crdOf(const kube::GroupResource& type) {
  const kube::ObjectKey key = kube::crdKey(type);
  if (const auto crd = model.find(key)) return *crd;
  return types_.find(type) == nullptr ? slotOf(key) : kNone;
}

Slot LiveModel::slotOf(const kube::ObjectKey& key) {
  if (const auto known = model.find(key)) return *known;
  const Slot space = key.namespaceName.empty() ? kNone : slotOf(kube::namespaceKey(key.namespaceName));
  const Slot crd = crdOf(key.type);
  const Slot slot = allocate();
  SlotInfo& info = model.slots[slot];
  info.key = key;
  info.kind = liveKindOf(key.type);
  info.namespaceSlot = space;
  info.crd = crd;
  info.valueAtCreation = isWorkload(info.kind) ? 1 : 0;
  model.byKey.emplace(key, slot);
  nameFinalizers(slot, {});
  enter(slot, space, &LiveSlot::inNamespace, false);
  enter(slot, crd, &LiveSlot::inCrd, false);
  if (info.kind == SlotKind::Crd) bindInstances(slot);
  return slot;
}

// Objects of a type that was known without its CRD are its content all the same.
void LiveModel::bindInstances(Slot crd) {
  const std::string& name = model.slots[crd].key.name;
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    SlotInfo& info = model.slots[slot];
    if (!extra[slot].used || info.crd != kNone || kube::crdName(info.key.type) != name) continue;
    info.crd = crd;
    enter(slot, crd, &LiveSlot::inCrd, isPresent(slot));
  }
}

std::vector<Slot>& LiveModel::listOf(Slot container, bool present) {
  return present ? model.slots[container].content : extra[container].absent;
}

void LiveModel::enter(Slot slot, Slot container, Position position, bool present) {
  if (container == kNone) return;
  std::vector<Slot>& list = listOf(container, present);
  // A namespace or a CRD that may now be empty no longer, or have something to delete.
  if (present) look(container);
  extra[slot].*position = static_cast<uint32_t>(list.size());
  list.push_back(slot);
}

void LiveModel::leave(Slot slot, Slot container, Position position, bool present) {
  if (container == kNone) return;
  std::vector<Slot>& list = listOf(container, present);
  const uint32_t at = extra[slot].*position;
  list[at] = list.back();
  extra[list[at]].*position = at;
  list.pop_back();
  if (!list.empty()) return;
  if (present) look(container);
  mayFree(container);
}

void LiveModel::move(Slot slot, bool present) {
  const SlotInfo& info = model.slots[slot];
  leave(slot, info.namespaceSlot, &LiveSlot::inNamespace, !present);
  leave(slot, info.crd, &LiveSlot::inCrd, !present);
  enter(slot, info.namespaceSlot, &LiveSlot::inNamespace, present);
  enter(slot, info.crd, &LiveSlot::inCrd, present);
  if (info.kind != SlotKind::Pod || info.namespaceSlot == kNone) return;
  std::vector<Slot>& pods = model.slots[info.namespaceSlot].children;
  if (present)
    pods.push_back(slot);
  else
    std::erase(pods, slot);
}

void LiveModel::setUid(Slot slot, const std::string& uid) {
  std::string& known = extra[slot].uid;
  if (known == uid) return;
  if (!known.empty()) byUid.erase(known);
  known = uid;
  if (!uid.empty()) byUid.insert_or_assign(uid, slot);
}

void LiveModel::appeared(Slot slot) {
  move(slot, true);
  const SlotKind kind = model.slots[slot].kind;
  if (isWorkload(kind)) placeChildren(slot);
  if (kind == SlotKind::Pod || kind == SlotKind::ReplicaSet) takeChild(slot);
  if (kind == SlotKind::Pod) mount(slot);
  if (kind == SlotKind::PersistentVolume) ++volumes_;
  if (isStorage(kind)) bind();
}

void LiveModel::vanished(Slot slot) {
  for (const Slot dependent : model.slots[slot].dependents) {
    const std::vector<OwnerLink>& links = model.slots[dependent].owners;
    for (size_t i = 0; i < links.size(); ++i) {
      if (links[i].owner == slot && state().object(dependent).owner(i) == OwnerState::Current)
        extra[dependent].ownerUids[i] = extra[slot].uid;
    }
  }
  setUid(slot, {});
  unmount(slot);
  move(slot, false);
  extra[slot].claims.clear();
  extra[slot].boundTo.reset();
  if (model.slots[slot].kind == SlotKind::PersistentVolume) {
    --volumes_;
    model.slots[slot].children.clear();
  }
  if (isStorage(model.slots[slot].kind)) bind();
  setOwners(slot, planOwners(slot, {}));
  nameFinalizers(slot, {});
  mayFree(slot);
}

void LiveModel::setDeletionRefused(Slot pod) {
  ObjectState object = state().object(pod);
  object.value |= kDeletionRefused;
  writeBoth(pod, object);
}

// Something means the name, or what stands under it.
bool LiveModel::isMeant(Slot slot) const {
  const SlotInfo& info = model.slots[slot];
  const LiveSlot& more = extra[slot];
  return isPresent(slot) || more.parent != kNone || more.runsControllers != 0 || info.work != kNone ||
         !info.links.empty() || !info.children.empty() || !info.content.empty() || !more.absent.empty();
}

void LiveModel::freeLeft() {
  while (!leaving_.empty()) {
    const Slot slot = leaving_.back();
    leaving_.pop_back();
    if (extra[slot].used) free(slot);
  }
}

void LiveModel::free(Slot slot) {
  const SlotInfo& info = model.slots[slot];
  if (isWorkload(info.kind)) trim(slot);
  if (info.work != kNone) {
    const Work& work = model.works[info.work];
    if (!isPresent(work.manifestWork) && !isPresent(work.applied)) dropWork(info.work);
  }
  if (const Slot parent = extra[slot].parent; parent != kNone && !isPresent(slot)) {
    trim(parent);
    mayFree(parent);
  }
  if (!isMeant(slot)) release(slot);
}

void LiveModel::release(Slot slot) {
  // Who has named it as an owner means somebody who will never be there again.
  for (const Slot dependent : model.slots[slot].dependents) {
    for (OwnerLink& link : model.slots[dependent].owners) {
      if (link.owner == slot) link.owner = kNone;
    }
  }
  setOwners(slot, planOwners(slot, {}));
  const Slot space = model.slots[slot].namespaceSlot;
  const Slot crd = model.slots[slot].crd;
  leave(slot, space, &LiveSlot::inNamespace, false);
  leave(slot, crd, &LiveSlot::inCrd, false);
  model.byKey.erase(model.slots[slot].key);
  model.slots[slot] = {};
  extra[slot] = {};
  freeSlots_.push_back(slot);
}

void LiveModel::writeBoth(Slot slot, const ObjectState& object) {
  state().setObject(slot, object);
  before().setObject(slot, object);
}

}  // namespace lastout::cluster

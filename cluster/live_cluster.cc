#include "cluster/live_cluster.h"

#include <algorithm>

#include "cluster/agenda.h"
#include "cluster/builder.h"
#include "cluster/live_model.h"

namespace lastout::cluster {

LiveCluster::LiveCluster(const Timing& timing, kube::ResourceMap types, kube::KubernetesVersion kubernetes)
    : live_(std::make_unique<LiveModel>(timing, std::move(types), kubernetes)),
      agenda_(std::make_unique<Agenda>()) {}

LiveCluster::~LiveCluster() = default;

const Model& LiveCluster::model() const { return live_->model; }
StateRef LiveCluster::state() const { return live_->state(); }
const Machine& LiveCluster::machine() const { return live_->machine(); }
ObjectState LiveCluster::object(Slot slot) const { return live_->state().object(slot); }
std::optional<Slot> LiveCluster::find(const kube::ObjectKey& key) const { return live_->model.find(key); }
std::vector<std::string> LiveCluster::finalizers(Slot slot) const { return finalizers(slot, object(slot)); }
std::vector<std::string> LiveCluster::finalizers(Slot slot, const ObjectState& object) const {
  return live_->finalizersOf(slot, object);
}
const std::string& LiveCluster::uid(Slot slot) const { return live_->extra[slot].uid; }
std::vector<LiveOwner> LiveCluster::owners(Slot slot) const { return owners(slot, object(slot)); }
std::vector<LiveOwner> LiveCluster::owners(Slot slot, const ObjectState& object) const {
  return live_->ownersOf(slot, object);
}
bool LiveCluster::awaitsPods(Slot namespaceSlot) const {
  const Transition reading = live_->reading();
  return reading.isTerminating(namespaceSlot) && cluster::awaitsPods(reading, namespaceSlot);
}
std::vector<Action> LiveCluster::possible() const { return agenda_->actions(); }

std::optional<Slot> LiveCluster::findUid(std::string_view uid) const {
  const auto found = live_->byUid.find(std::string(uid));
  return found == live_->byUid.end() ? std::nullopt : std::optional<Slot>(found->second);
}

std::optional<CreationRefusal> LiveCluster::refusesCreation(const kube::ObjectKey& key, bool serverSide) {
  const Slot slot = live_->slotOf(key);
  live_->mayFree(slot);
  return live_->reading().refusesCreation(slot, serverSide);
}

kube::Result<void> LiveCluster::fits(const LiveObject& object) {
  if (const std::optional<Slot> known = find(object.key)) return live_->check(*known, object);
  const Slot slot = live_->slotOf(object.key);
  live_->mayFree(slot);
  return live_->check(slot, object);
}

kube::Result<Slot> LiveCluster::create(const LiveObject& object, Events& events) {
  live_->freeLeft();
  const Slot slot = live_->slotOf(object.key);
  live_->mayFree(slot);
  if (live_->isPresent(slot))
    return tl::unexpected(kube::Error{kube::toString(object.key) + " is there already", {}, {}});
  if (const auto fits = live_->check(slot, object); !fits) return tl::unexpected(fits.error());
  const SlotInfo& info = live_->model.slots[slot];
  if (info.kind == SlotKind::ManifestWork) {
    if (const auto set = live_->setWork(slot, object); !set) return tl::unexpected(set.error());
  }
  live_->nameFinalizers(slot, object.finalizers);
  const uint16_t owners = live_->setOwners(slot, live_->planOwners(slot, object.owners));
  live_->extra[slot].claims = object.claims;
  live_->extra[slot].boundTo = object.boundTo;
  live_->setUid(slot, object.uid);
  Events happened;
  Transition(live_->machine(), live_->state(), &happened).create(slot, Actor::Client);
  ObjectState created = live_->state().object(slot);
  const SlotInfo& now = live_->model.slots[slot];
  created.finalizers = live_->finalizerMaskOf(slot, object.finalizers) | now.finalizersAtCreation;
  created.owners = owners;
  if (isWorkload(now.kind)) created.value = static_cast<uint8_t>(object.replicas);
  live_->state().setObject(slot, created);
  finish(nullptr, happened, events);
  return slot;
}

kube::Result<void> LiveCluster::update(Slot slot, const LiveObject& object, Events& events) {
  live_->freeLeft();
  if (!live_->isPresent(slot))
    return tl::unexpected(kube::Error{kube::toString(object.key) + " is not there", {}, {}});
  if (const auto fits = live_->check(slot, object); !fits) return fits;
  const SlotKind kind = live_->model.slots[slot].kind;
  if (kind == SlotKind::ManifestWork) {
    if (const auto set = live_->setWork(slot, object); !set) return set;
  }
  ObjectState changed = live_->state().object(slot);
  changed.owners = live_->setOwners(slot, live_->planOwners(slot, object.owners));
  live_->nameFinalizers(slot, object.finalizers);
  changed.finalizers = live_->finalizerMaskOf(slot, object.finalizers);
  if (isWorkload(kind)) changed.value = static_cast<uint8_t>(object.replicas);
  if (!object.uid.empty()) live_->setUid(slot, object.uid);
  if (live_->extra[slot].claims != object.claims) {
    live_->extra[slot].claims = object.claims;
    live_->unmount(slot);
    if (kind == SlotKind::Pod) live_->mount(slot);
  }
  if (live_->extra[slot].boundTo != object.boundTo) {
    live_->extra[slot].boundTo = object.boundTo;
    live_->bind();
  }
  Events happened;
  Transition(live_->machine(), live_->state(), &happened).update(slot, changed, Actor::Client);
  finish(nullptr, happened, events);
  return {};
}

void LiveCluster::remove(Slot slot, std::optional<PropagationPolicy> policy, Events& events) {
  live_->freeLeft();
  if (!live_->isPresent(slot)) return;
  Events happened;
  Flight flight;
  Transition(live_->machine(), live_->state(), &happened)
      .send({.actor = Actor::Client, .by = kNone, .slot = slot, .policy = policy}, flight);
  finish(nullptr, happened, events);
}

kube::Result<uint32_t> LiveCluster::addController(FinalizerController controller,
                                                  const std::optional<kube::ObjectKey>& runsIn) {
  live_->freeLeft();
  controller.runsIn = runsIn ? live_->slotOf(*runsIn) : kNone;
  if (runsIn) live_->mayFree(controller.runsIn);
  const Slot pods = controller.runsIn;
  const auto number = cluster::addController(live_->model, std::move(controller));
  if (!number) return number;
  if (pods != kNone) ++live_->extra[pods].runsControllers;
  ready_.push_back(live_->reading().hasReadyPod(pods));
  for (Slot slot = 0; slot < live_->model.slots.size(); ++slot) {
    if (!live_->model.slots[slot].removals.empty()) live_->look(slot);
  }
  ++changes_;
  refresh();
  return number;
}

// --- what a change may make possible, or impossible

void LiveCluster::noteChange(Slot slot) {
  const SlotInfo& info = live_->model.slots[slot];
  const ObjectState was = live_->before().object(slot);
  const ObjectState now = live_->state().object(slot);
  const bool came = was.presence != now.presence;
  const auto flipped = [&](uint16_t bit) { return ((was.finalizers ^ now.finalizers) & bit) != 0; };
  live_->look(slot);
  for (const OwnerLink& link : info.owners) live_->look(link.owner);
  if (came || flipped(kForegroundBit)) {
    for (const Slot dependent : info.dependents) live_->look(dependent);
  }
  for (const uint32_t link : info.links) live_->lookAtWork(live_->model.links[link].work);
  if (info.work != kNone) live_->lookAtWork(info.work);
  // A terminating CRD is asked about by every instance that goes; it has to look through them only while it
  // has something to delete. (When the last one goes it is told anyway.)
  if (info.crd != kNone &&
      agenda_->find({Action::Kind::CrdInstances, Actor::CrdCleanup, info.crd, 0}) != nullptr)
    live_->look(info.crd);
  const bool contains = info.kind == SlotKind::Namespace || info.kind == SlotKind::Crd;
  if (contains && (came || flipped(info.cleanupBit))) noteContainer(slot);
  if (info.kind == SlotKind::Namespace) noteTurn(slot);
  if (info.kind == SlotKind::Pod) noteTurn(info.namespaceSlot);
  if (info.kind == SlotKind::Pod || info.kind == SlotKind::ReplicaSet) live_->podsChanged = true;
}

// What is in it may have to go; what could not be made in it may be possible now.
void LiveCluster::noteContainer(Slot container) {
  for (const Slot slot : live_->model.slots[container].content) live_->look(slot);
  for (const Slot slot : live_->extra[container].absent) {
    live_->look(live_->extra[slot].parent);
    for (const uint32_t link : live_->model.slots[slot].links)
      live_->lookAtWork(live_->model.links[link].work);
  }
}

void LiveCluster::failDiscovery(std::optional<Slot> apiService) {
  std::vector<Interception>& failing = live_->model.namespaceCalls;
  failing.clear();
  if (apiService) failing.emplace_back().configuration = *apiService;  // without a Service nobody answers
  for (Slot slot = 0; slot < live_->model.slots.size(); ++slot)
    if (live_->model.slots[slot].kind == SlotKind::Namespace) live_->look(slot);
  ++changes_;
  refresh();
}

// Whether all that is in a terminating Namespace may go now, or its Pods alone.
void LiveCluster::noteTurn(Slot namespaceSlot) {
  if (namespaceSlot == kNone) return;
  const bool awaits = awaitsPods(namespaceSlot);
  if (awaits == live_->extra[namespaceSlot].awaitsPods) return;
  live_->extra[namespaceSlot].awaitsPods = awaits;
  noteContainer(namespaceSlot);
}

void LiveCluster::noteReadiness() {
  if (!live_->podsChanged) return;
  live_->podsChanged = false;
  for (uint32_t number = 0; number < ready_.size(); ++number) {
    const bool isReady = live_->reading().hasReadyPod(live_->model.controllers[number].runsIn);
    if (isReady == ready_[number]) continue;
    ready_[number] = isReady;
    for (Slot slot = 0; slot < live_->model.slots.size(); ++slot) {
      for (const Removal& removal : live_->model.slots[slot].removals) {
        if (removal.controller == number) live_->look(slot);
      }
    }
  }
}

// Brings the state before up to the state, where these events (and this action) can have changed it. True:
// they did.
bool LiveCluster::settle(const Action* action, const Events& happened) {
  StateRef was = live_->before();
  const StateRef now = live_->state();
  bool changed = false;
  const auto object = [&](Slot slot) {
    changed = changed || pack(was.object(slot)) != pack(now.object(slot));
    was.setObject(slot, now.object(slot));
  };
  const auto link = [&](uint32_t number) {
    const LinkState former = was.link(number);
    const LinkState current = now.link(number);
    changed = changed || former.recorded != current.recorded || former.stale != current.stale;
    was.setLink(number, current);
  };
  for (const ClusterEvent& event : happened) {
    object(event.slot);
    if (event.kind != EventKind::Created) continue;
    for (const Slot dependent : live_->model.slots[event.slot].dependents) object(dependent);
    for (const uint32_t number : live_->model.slots[event.slot].links) link(number);
  }
  if (action != nullptr && action->kind == Action::Kind::AgentStep) {
    const Work& work = live_->model.works[action->a];
    for (uint32_t i = 0; i < work.linkCount; ++i) link(work.firstLink + i);
    const WorkState former = was.work(action->a);
    const WorkState current = now.work(action->a);
    changed = changed || former.deleting != current.deleting || former.next != current.next;
    was.setWork(action->a, current);
  }
  return changed;
}

// The cluster follows what happened: names, places, the agenda.
void LiveCluster::finish(const Action* action, const Events& happened, Events& events) {
  const auto isChange = [](const ClusterEvent& event) {
    return event.kind != EventKind::Requested && event.kind != EventKind::Denied;
  };
  for (const ClusterEvent& event : happened) {
    if (isChange(event)) noteChange(event.slot);
  }
  const bool changed = settle(action, happened);
  for (const ClusterEvent& event : happened) {
    const SlotKind kind = live_->model.slots[event.slot].kind;
    if (event.kind == EventKind::Created) live_->appeared(event.slot);
    if (event.kind == EventKind::Gone) live_->vanished(event.slot);
    if (event.kind != EventKind::Changed) continue;
    if (isWorkload(kind)) live_->placeChildren(event.slot);
    if (kind == SlotKind::Pod || kind == SlotKind::ReplicaSet) live_->takeChild(event.slot);
  }
  if (action != nullptr && changed) {
    agenda_->done(*action);
    live_->toLookAt.push_back(subjectOf(*action));
  } else if (action != nullptr) {
    refuse(*action);
  }
  ++changes_;
  noteReadiness();
  refresh();
  events.insert(events.end(), happened.begin(), happened.end());
}

void LiveCluster::refresh() {
  std::vector<ActionSubject>& subjects = live_->toLookAt;
  std::sort(subjects.begin(), subjects.end());
  subjects.erase(std::unique(subjects.begin(), subjects.end()), subjects.end());
  const auto delay = [&](const Action& action) { return live_->machine().delay(live_->state(), action, 0); };
  for (const ActionSubject subject : subjects) {
    enabled_.clear();
    live_->machine().enabledFor(live_->state(), subject, enabled_);
    agenda_->update(subject, enabled_, now_, delay);
  }
  subjects.clear();
}

}  // namespace lastout::cluster

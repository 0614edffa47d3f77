#include "simulator/controller_loop.h"

#include <array>
#include <utility>

#include "kube/well_known.h"
#include "simulator/controller_writes.h"

namespace lastout::simulator {
namespace {

constexpr std::chrono::milliseconds kDelay{20};

}  // namespace

ControllerLoop::ControllerLoop(ControlPlane& plane) : plane_(plane) {
  plane_.observe([this](const Write& write) { noticed(write); });
}

std::optional<ControllerLoop::Milliseconds> ControllerLoop::nextAt() const {
  if (due_.empty()) return std::nullopt;
  return due_.front().at;
}

bool ControllerLoop::isDue(Milliseconds now) {
  now_ = std::max(now_, now);
  return !due_.empty() && due_.front().at <= now_;
}

std::optional<ControllerLoop::ControllerWrite> ControllerLoop::next(Milliseconds now) {
  if (!isDue(now)) return std::nullopt;
  const kube::ObjectKey key = std::move(due_.front().key);
  due_.pop_front();
  queued_.erase(key);
  plane_.mutex.assertHeld();
  std::optional<Mutation> write = controllerWriteOf(plane_, key);
  if (!write) return std::nullopt;
  return ControllerWrite{key, std::move(*write)};
}

void ControllerLoop::again(const kube::ObjectKey& key, Milliseconds now) {
  now_ = std::max(now_, now);
  queue(key);
}

void ControllerLoop::queue(const kube::ObjectKey& key) {
  if (!hasControllerWrites(key.type) || !queued_.insert(key).second) return;
  due_.push_back({now_ + kDelay, key});
}

// An object's own status may have to change, and that of what it belongs to.
void ControllerLoop::noticed(const Write& write) {
  plane_.mutex.assertHeld();  // as of all observers
  const kube::ObjectKey& key = write.record->key();
  queue(key);
  noticedOwners(write.record->object());
  noticedApis(key, write.record->object());
  if (!key.namespaceName.empty()) {
    const kube::ObjectKey space = kube::namespaceKey(key.namespaceName);
    const RecordRef record = plane_.storage.find(space);
    if (record != nullptr && at(record->object(), {"metadata", "deletionTimestamp"}) != nullptr) queue(space);
  }
  const std::optional<cluster::Slot> slot = plane_.live.find(key);
  if (!slot) return;
  const cluster::Model& model = plane_.live.model();
  for (const uint32_t link : model.slots[*slot].links) {
    const cluster::Work& work = model.works[model.links[link].work];
    for (const cluster::Slot note : {work.manifestWork, work.applied}) {
      if (note != cluster::kNone) queue(model.slots[note].key);
    }
  }
}

// The status of an APIService depends on the Pods behind it, and the end of each Namespace on that status.
void ControllerLoop::noticedApis(const kube::ObjectKey& key, const Json& object) {
  if (key.type == kube::kServices || key.type == kube::kPods) {
    for (const auto& [name, api] : plane_.aggregatedApis)
      if (api.service.namespaceName == key.namespaceName) queue({kube::kApiServices, "", name});
  }
  if (key.type != kube::kApiServices || at(object, {"spec", "service"}) == nullptr) return;
  for (const RecordRef& space : plane_.storage.list(kube::kNamespaces, ""))
    if (at(space->object(), {"metadata", "deletionTimestamp"}) != nullptr) queue(space->key());
}

void ControllerLoop::noticedOwners(const Json& object) {
  const Json* references = at(object, {"metadata", "ownerReferences"});
  if (references == nullptr || !references->is_array()) return;
  for (const Json& reference : *references) {
    const std::optional<cluster::Slot> owner = plane_.live.findUid(stringAt(reference, {"uid"}));
    if (owner) queue(plane_.live.model().slots[*owner].key);
  }
}

}  // namespace lastout::simulator

// ManifestWorkReplicaSets, whose controller on the hub makes one ManifestWork for each cluster that a
// placement selects, and deletes these works when the set is deleted. Placements are not followed: a set
// keeps the works that are in the files where they are, and makes no others.
#include <algorithm>

#include "cluster/builder.h"
#include "cluster/transition.h"
#include "manifestwork/manifest_work.h"

namespace lastout::cluster {

namespace {

Slot replicaSetOf(const Builder& builder, Slot work) {
  const kube::Object* source = builder.sources[work];
  if (source == nullptr) return kNone;
  const std::vector<SlotInfo>& slots = builder.model.slots;
  for (Slot slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot].kind == SlotKind::ManifestWorkReplicaSet &&
        manifestwork::isMadeBy(source->meta, slots[slot].key))
      return slot;
  }
  return kNone;
}

}  // namespace

void wireReplicaSets(Builder& builder) {
  Model& model = builder.model;
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    SlotInfo& info = model.slots[slot];
    if (info.kind == SlotKind::ManifestWork && info.work != kNone) {
      info.replicaSet = replicaSetOf(builder, slot);
      if (info.replicaSet != kNone) model.slots[info.replicaSet].children.push_back(slot);
    }
    if (info.kind != SlotKind::ManifestWorkReplicaSet) continue;
    const kube::Value* content = builder.content(slot);
    info.waitsForWorks = content != nullptr && manifestwork::waitsForWorks(*content);
    info.cleanupBit = finalizerBit(info, manifestwork::kReplicaSetFinalizer).value_or(0);
    if (info.cleanupBit == 0) builder.fail(slot, "has " + tooManyFinalizers(info));
    if (!info.terminatingAtStart) info.finalizersAtCreation |= info.cleanupBit;
  }
}

ReplicaSetTask replicaSetTask(const Transition& transition, Slot work) {
  const Slot replicaSet = transition.info(work).replicaSet;
  if (transition.isLive(replicaSet))
    return !transition.isPresent(work) && transition.mayCreate(work) ? ReplicaSetTask::Create
                                                                     : ReplicaSetTask::None;
  if (!transition.isTerminating(replicaSet) || !transition.isLive(work)) return ReplicaSetTask::None;
  const uint16_t cleanup = transition.info(replicaSet).cleanupBit;
  return (transition.state().finalizers(replicaSet) & cleanup) != 0 ? ReplicaSetTask::Delete
                                                                    : ReplicaSetTask::None;
}

void replicaSetStep(Transition& transition, Slot work) {
  switch (replicaSetTask(transition, work)) {
    case ReplicaSetTask::None:
      break;
    case ReplicaSetTask::Create:
      transition.create(work, Actor::ReplicaSets);
      break;
    case ReplicaSetTask::Delete:
      transition.sendAtOnce({.actor = Actor::ReplicaSets, .by = kNone, .slot = work, .policy = {}});
      break;
  }
}

bool isDoneWithWorks(const Transition& transition, Slot replicaSet) {
  const SlotInfo& info = transition.info(replicaSet);
  return std::ranges::none_of(info.children, [&](Slot work) {
    return info.waitsForWorks ? transition.isPresent(work) : transition.isLive(work);
  });
}

}  // namespace lastout::cluster

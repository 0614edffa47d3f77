#include "replay/live_graph.h"

#include "kube/resource_map.h"
#include "kube/well_known.h"

namespace lastout::replay {

namespace {

using cluster::Slot;

std::vector<std::string> finalizersOf(const cluster::SlotInfo& info, uint16_t finalizers) {
  std::vector<std::string> names;
  // A Namespace keeps its own in its spec.
  if (info.role == cluster::ModelRole::Namespace) finalizers &= static_cast<uint16_t>(~info.cleanupBit);
  for (size_t i = 0; i < info.finalizers.size(); ++i) {
    if ((finalizers >> i & 1) != 0) names.push_back(info.finalizers[i]);
  }
  if ((finalizers & cluster::kForegroundBit) != 0) names.emplace_back(kube::kForegroundFinalizer);
  if ((finalizers & cluster::kOrphanBit) != 0) names.emplace_back(kube::kOrphanFinalizer);
  return names;
}

std::string uidOf(Slot slot) { return "slot-" + std::to_string(slot); }

kube::ObjectMeta metaOf(const cluster::Model& model, Slot slot, const cluster::ObjectState& object) {
  const cluster::SlotInfo& info = model.slots[slot];
  kube::ObjectMeta meta;
  meta.namespaceName = info.key.namespaceName;
  meta.name = info.key.name;
  meta.uid = uidOf(slot);
  if (object.terminating()) meta.deletionTimestamp = 1;
  meta.finalizers = finalizersOf(info, object.finalizers);
  for (size_t i = 0; i < info.owners.size(); ++i) {
    const cluster::OwnerState owner = object.owner(i);
    if (owner == cluster::OwnerState::None || info.owners[i].owner == cluster::kNone) continue;
    kube::OwnerReference reference;
    reference.name = model.slots[info.owners[i].owner].key.name;
    reference.uid = owner == cluster::OwnerState::Current ? uidOf(info.owners[i].owner) : "gone";
    reference.controller = info.owners[i].controller;
    reference.blockOwnerDeletion = info.owners[i].blockOwnerDeletion;
    meta.ownerReferences.push_back(std::move(reference));
  }
  return meta;
}

// The namespace that is guarded because lastout runs in it; empty: none.
std::string ownNamespace(const cluster::Model& model) {
  for (const cluster::SlotInfo& info : model.slots) {
    for (const admission::GuardEntry& guardEntry : info.guardEntries) {
      if (guardEntry.role == admission::GuardRole::LastoutNamespace) return info.key.name;
    }
  }
  return {};
}

}  // namespace

LiveGraph::LiveGraph(const cluster::Model& model, cluster::StateRef state)
    : index(graph, ownNamespace(model)) {
  const auto know = [&](const kube::GroupResource& type) {
    const graph::TypeId id = graph.internType(type);
    graph.setKnowledge(id, graph::Knowledge::Synced);
    return id;
  };
  know(criticalservice::criticalServiceType());
  for (const graph::Condition& condition : model.conditionSpecs) know(condition.type);
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    const cluster::ObjectState object = state.object(slot);
    if (object.present()) graph.upsert(know(model.slots[slot].key.type), metaOf(model, slot, object));
  }
  for (uint32_t service = 0; service < model.services.size(); ++service) {
    const cluster::ObjectState object = state.object(model.services[service]);
    if (!object.present()) continue;
    criticalservice::CriticalService spec = model.serviceSpecs[service];
    spec.intent = static_cast<criticalservice::DeletionIntent>(object.value);
    // Which CRDs to guard depends on what is built in alone.
    index.put(graph, spec, kube::ResourceMap::builtIn(), model.dependencies[service]);
  }
}

}  // namespace lastout::replay

#include "replay/live_graph.h"

#include "kube/resource_map.h"

namespace lastout::replay {

namespace {

using cluster::Slot;

std::string uidOf(Slot slot) { return "slot-" + std::to_string(slot); }

kube::ObjectMeta metaOf(const cluster::Model& model, Slot slot, const cluster::ObjectState& object) {
  const cluster::SlotInfo& info = model.slots[slot];
  kube::ObjectMeta meta;
  meta.namespaceName = info.key.namespaceName;
  meta.name = info.key.name;
  meta.uid = uidOf(slot);
  if (object.terminating()) meta.deletionTimestamp = 1;
  meta.finalizers = metadataFinalizers(info, object.finalizers);
  meta.references = info.references;
  meta.labels = info.forms.front().labels;  // read of Namespaces: no step changes what a selector matches
  for (size_t i = 0; i < info.owners.size(); ++i) {
    const cluster::OwnerState owner = object.owner(i);
    if (owner == cluster::OwnerState::None || info.owners[i].owner == cluster::kNone) continue;
    kube::OwnerReference reference;
    reference.name = model.slots[info.owners[i].owner].key.name;
    reference.uid = owner == cluster::OwnerState::Current ? uidOf(info.owners[i].owner) : "gone";
    reference.controller = info.owners[i].controller;
    reference.blockOwnerDeletion = info.owners[i].blockOwnerDeletion && !object.isUnblocked(i);
    meta.ownerReferences.push_back(std::move(reference));
  }
  return meta;
}

}  // namespace

std::vector<std::string> metadataFinalizers(const cluster::SlotInfo& slot, uint16_t finalizers) {
  return cluster::finalizerNames(slot, static_cast<uint16_t>(finalizers & ~cluster::specFinalizers(slot)));
}

// Puts into the graph and the index what an admission::ClusterView reads out of objects: a state's services
// are compiled already, and its objects have no content.
LiveGraph::LiveGraph(const cluster::Model& model, cluster::StateRef state)
    : index(graph, model.lastoutNamespace ? model.lastoutNamespace->name : std::string()) {
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

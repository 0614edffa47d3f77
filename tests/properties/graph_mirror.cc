#include "tests/properties/graph_mirror.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "tests/properties/cluster_spec.h"
#include "tests/properties/plain_mirror.h"

namespace lastout::testing {

namespace {

using cluster::Slot;

std::string ownNamespace(const cluster::Model& model) {
  return model.lastoutNamespace ? model.lastoutNamespace->name : std::string();
}

void shuffle(std::vector<Slot>& slots, replay::Random& random) {
  for (size_t i = slots.size(); i > 1; --i)
    std::swap(slots[i - 1], slots[random.below(static_cast<uint32_t>(i))]);
}

}  // namespace

GraphMirror::GraphMirror(const cluster::Model& model, const cluster::StateRef& state, uint64_t seed)
    : model_(model),
      random_(seed),
      incarnations_(model.slots.size(), 0),
      present_(model.slots.size(), false),
      index_(graph_, ownNamespace(model)) {
  setTypesKnown();
  applyAll(state);
}

GraphMirror::GraphMirror(const GraphMirror& like, const cluster::StateRef& state, uint64_t seed)
    : model_(like.model_),
      random_(seed),
      incarnations_(like.incarnations_),
      present_(like.model_.slots.size(), false),
      index_(graph_, ownNamespace(like.model_)) {
  setTypesKnown();
  // An object that is there is not a new one here: its uid is what it was.
  for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
    if (state.object(slot).present()) --incarnations_[slot];
  }
  applyAll(state);
}

GraphMirror GraphMirror::rebuilt(const cluster::StateRef& state, uint64_t seed) const {
  return {*this, state, seed};
}

void GraphMirror::setTypesKnown() {
  for (const kube::GroupResource& type : typesOf(model_))
    graph_.setKnowledge(graph_.internType(type), graph::Knowledge::Synced);
}

void GraphMirror::applyAll(const cluster::StateRef& state) {
  std::vector<Slot> slots(model_.slots.size());
  std::iota(slots.begin(), slots.end(), Slot{0});
  follow(state, std::move(slots));
}

void GraphMirror::follow(const cluster::StateRef& state, std::vector<Slot> changed) {
  // A new object's uid has to be known before anything that names it as its owner is written.
  for (const Slot slot : changed) {
    if (state.object(slot).present() && !present_[slot]) ++incarnations_[slot];
  }
  shuffle(changed, random_);
  for (const Slot slot : changed) applyObject(state, slot);
}

void GraphMirror::applyObject(const cluster::StateRef& state, Slot slot) {
  const cluster::SlotInfo& info = model_.slots[slot];
  const cluster::ObjectState object = state.object(slot);
  const bool isService = info.kind == cluster::SlotKind::CriticalService;
  if (!object.present()) {
    if (!present_[slot]) return;
    graph_.remove(info.key);
    if (isService) index_.remove(graph_, info.key.name);
  } else {
    const kube::ObjectMeta meta = metaOf(state, slot);
    graph_.upsert(graph_.internType(info.key.type), meta);
    if (isService) {
      criticalservice::CriticalService service = model_.serviceSpecs[info.service];
      service.meta = meta;
      service.intent = static_cast<criticalservice::DeletionIntent>(object.value);
      index_.put(graph_, service, specTypes(), model_.dependencies[info.service]);
    }
  }
  present_[slot] = object.present();
}

std::string GraphMirror::uidOf(Slot slot) const {
  return "uid-" + std::to_string(slot) + "-" + std::to_string(incarnations_[slot]);
}

kube::ObjectMeta GraphMirror::metaOf(const cluster::StateRef& state, Slot slot) const {
  const cluster::SlotInfo& info = model_.slots[slot];
  const cluster::ObjectState object = state.object(slot);
  kube::ObjectMeta meta;
  meta.namespaceName = info.key.namespaceName;
  meta.name = info.key.name;
  meta.uid = uidOf(slot);
  meta.labels = info.forms[object.form].labels;
  if (object.terminating()) meta.deletionTimestamp = 1;
  meta.finalizers = finalizersOf(info, object);
  meta.references = info.references;
  for (size_t i = 0; i < info.owners.size(); ++i) {
    const cluster::OwnerLink& link = info.owners[i];
    if (object.owner(i) == cluster::OwnerState::None) continue;
    const bool current = object.owner(i) == cluster::OwnerState::Current && link.owner != cluster::kNone;
    kube::OwnerReference reference;
    reference.name = link.owner == cluster::kNone ? "unknown" : model_.slots[link.owner].key.name;
    reference.uid = current ? uidOf(link.owner) : "uid-of-another";
    reference.controller = link.controller;
    reference.blockOwnerDeletion = link.blockOwnerDeletion && !object.isUnblocked(i);
    meta.ownerReferences.push_back(std::move(reference));
  }
  return meta;
}

namespace {

std::string lineOf(const graph::Graph& graph, graph::ObjectId id) {
  std::string line = kube::toString(graph.key(id));
  const graph::ObjectView view = graph.object(id);
  line += view.present ? " present" : " absent";
  if (!view.present) return line;
  line += " " + graph.uid(id);
  if (view.terminating) line += " terminating";
  for (const std::string_view finalizer : graph.finalizers(id)) line += " +" + std::string(finalizer);
  for (const graph::OwnerView& owner : graph.owners(id)) {
    line += " <" + owner.uid + (owner.controller ? "c" : "") + (owner.blockOwnerDeletion ? "b" : "");
    if (owner.object) line += "=" + kube::toString(graph.key(*owner.object));
  }
  std::set<std::string> dependents;
  for (const graph::ObjectId dependent : graph.dependents(id))
    dependents.insert(kube::toString(graph.key(dependent)));
  for (const std::string& dependent : dependents) line += " >" + dependent;
  return line;
}

std::string lineOf(const graph::Graph& graph, graph::ConditionId id) {
  const graph::Condition condition = graph.condition(id);
  std::string line = "condition " + std::to_string(static_cast<int>(condition.kind)) + " " +
                     kube::toString(condition.type) + " " + condition.finalizer + " " +
                     condition.namespaceName + "/" + condition.name + " holders " +
                     std::to_string(graph.holders(id));
  std::set<std::string> holders;
  std::vector<graph::ObjectId> ids(graph.holders(id));
  ids.resize(graph.someHolders(id, ids));
  for (const graph::ObjectId holder : ids) holders.insert(kube::toString(graph.key(holder)));
  for (const std::string& holder : holders) line += " " + holder;
  std::set<std::string> subjects;
  for (const graph::RequirementView& requirement : graph.requirementsOn(id))
    subjects.insert(kube::toString(graph.key(requirement.subject)) + " for " +
                    kube::toString(graph.key(requirement.origin)) + "." + std::string(requirement.field));
  for (const std::string& subject : subjects) line += " <- " + subject;
  return line;
}

}  // namespace

std::string GraphMirror::text() const {
  std::vector<std::string> lines;
  for (uint32_t i = 0; i < graph_.objectSlots(); ++i) {
    if (graph_.isLive(graph::ObjectId{i})) lines.push_back(lineOf(graph_, graph::ObjectId{i}));
  }
  for (uint32_t i = 0; i < graph_.conditionSlots(); ++i) {
    if (graph_.isLive(graph::ConditionId{i})) lines.push_back(lineOf(graph_, graph::ConditionId{i}));
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace lastout::testing

#include "tests/properties/plain_mirror.h"

#include <numeric>
#include <sstream>
#include <utility>

#include "kube/well_known.h"
#include "tests/properties/cluster_spec.h"

namespace lastout::testing {

using cluster::Slot;

std::vector<std::string> finalizersOf(const cluster::SlotInfo& info, const cluster::ObjectState& object) {
  std::vector<std::string> names;
  for (size_t i = 0; i < info.finalizers.size(); ++i) {
    if ((object.finalizers >> i & 1) != 0) names.push_back(info.finalizers[i]);
  }
  if ((object.finalizers & cluster::kForegroundBit) != 0) names.emplace_back(kube::kForegroundFinalizer);
  if ((object.finalizers & cluster::kOrphanBit) != 0) names.emplace_back(kube::kOrphanFinalizer);
  return names;
}

std::set<kube::GroupResource> typesNamedBy(const std::vector<criticalservice::CriticalService>& services) {
  std::set<kube::GroupResource> types{criticalservice::criticalServiceType()};
  for (const criticalservice::CriticalService& service : services) {
    types.insert(service.provider.type);
    for (const criticalservice::Criterion& criterion : service.criteria)
      types.insert(criticalservice::typeOf(criterion));
  }
  return types;
}

std::set<kube::GroupResource> typesOf(const cluster::Model& model) {
  std::set<kube::GroupResource> types = typesNamedBy(model.serviceSpecs);
  for (const cluster::SlotInfo& info : model.slots) types.insert(info.key.type);
  return types;
}

PlainMirror::PlainMirror(const cluster::Model& model, const cluster::StateRef& state)
    : model_(model), places_(model.slots.size(), cluster::kNone) {
  if (model.lastoutNamespace) cluster_.ownNamespace = model.lastoutNamespace->name;
  for (const kube::GroupResource& type : typesOf(model)) cluster_.knowledge[type] = graph::Knowledge::Synced;
  // The machine knows all types of its input from the beginning.
  cluster_.types.emplace();
  for (const kube::ResourceType& type : specTypes().types())
    cluster_.types->namespaced[type.type] = type.namespaced;
  for (size_t i = 0; i < model.serviceSpecs.size(); ++i)
    cluster_.needs[model.serviceSpecs[i].meta.name] = model.dependencies[i];
  std::vector<Slot> all(model.slots.size());
  std::iota(all.begin(), all.end(), Slot{0});
  follow(state, all);
}

void PlainMirror::follow(const cluster::StateRef& state, const std::vector<Slot>& changed) {
  for (const Slot slot : changed) {
    remove(slot);
    if (state.object(slot).present()) add(state, slot);
  }
}

void PlainMirror::remove(Slot slot) {
  const uint32_t place = places_[slot];
  if (place == cluster::kNone) return;
  const Slot last = slots_.back();
  cluster_.objects[place] = std::move(cluster_.objects.back());
  slots_[place] = last;
  places_[last] = place;
  cluster_.objects.pop_back();
  slots_.pop_back();
  places_[slot] = cluster::kNone;
  const std::string& name = model_.slots[slot].key.name;
  if (model_.slots[slot].kind == cluster::SlotKind::CriticalService)
    std::erase_if(cluster_.services, [&](const auto& service) { return service.meta.name == name; });
}

// As the texts say: which fields, a kind, "=" and a namespace or "+" and the object's own, a name.
std::vector<PlainReference> namesIn(const cluster::SlotInfo& info) {
  std::vector<PlainReference> names;
  for (const std::string& text : info.references) {
    std::vector<std::string> parts;
    std::istringstream rest(text.substr(1));
    for (std::string part; std::getline(rest, part, '\x03');) parts.push_back(part);
    const bool isNamed = parts[4].starts_with('=');
    names.push_back({parts[0], parts[1], parts[2], parts[3], isNamed ? parts[4].substr(1) : "", parts[5]});
  }
  return names;
}

void PlainMirror::add(const cluster::StateRef& state, Slot slot) {
  const cluster::SlotInfo& info = model_.slots[slot];
  const cluster::ObjectState object = state.object(slot);
  places_[slot] = static_cast<uint32_t>(slots_.size());
  slots_.push_back(slot);
  cluster_.objects.push_back({.key = info.key,
                              .finalizers = finalizersOf(info, object),
                              .terminating = object.terminating(),
                              .names = namesIn(info)});
  if (info.kind != cluster::SlotKind::CriticalService) return;
  cluster_.services.push_back(model_.serviceSpecs[info.service]);
  cluster_.services.back().intent = static_cast<criticalservice::DeletionIntent>(object.value);
}

}  // namespace lastout::testing

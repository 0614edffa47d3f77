#include "tests/properties/works_view.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "admission/deferral.h"
#include "admission/guards.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"
#include "tests/properties/cluster_spec.h"
#include "tests/properties/plain_mirror.h"

namespace lastout::testing {

namespace {

using cluster::OwnerState;
using cluster::Slot;

constexpr const char* kController = "system:serviceaccount:kube-system:generic-garbage-collector";

std::string uidOfSlot(Slot slot) { return "slot-" + std::to_string(slot); }

std::string apiVersionOfType(const kube::ResourceType& type) {
  return type.type.group.empty() ? type.version : type.type.group + "/" + type.version;
}

std::vector<std::string> ownersOf(const cluster::SlotInfo& info, const cluster::ObjectState& object) {
  std::vector<std::string> uids;
  for (size_t i = 0; i < info.owners.size(); ++i) {
    if (object.owner(i) == OwnerState::None) continue;
    const bool isCurrent = object.owner(i) == OwnerState::Current && info.owners[i].owner != cluster::kNone;
    uids.push_back(isCurrent ? uidOfSlot(info.owners[i].owner) : "uid-of-another");
  }
  return uids;
}

kube::ObjectMeta metaOfSlot(const cluster::Model& model, const cluster::StateRef& state, Slot slot) {
  const cluster::SlotInfo& info = model.slots[slot];
  const cluster::ObjectState object = state.object(slot);
  kube::ObjectMeta meta;
  meta.namespaceName = info.key.namespaceName;
  meta.name = info.key.name;
  meta.uid = uidOfSlot(slot);
  if (object.terminating()) meta.deletionTimestamp = 1;
  meta.finalizers = finalizersOf(info, object);
  for (size_t i = 0; i < info.owners.size(); ++i) {
    const Slot owner = info.owners[i].owner;
    if (object.owner(i) == OwnerState::None) continue;
    const kube::ObjectKey key = owner == cluster::kNone ? namespaceKey("gone") : model.slots[owner].key;
    const kube::ResourceType& type = *specTypes().find(key.type);
    kube::OwnerReference reference;
    reference.apiVersion = apiVersionOfType(type);
    reference.kind = type.kind;
    reference.name = key.name;
    reference.uid = object.owner(i) == OwnerState::Current && owner != cluster::kNone ? uidOfSlot(owner)
                                                                                      : "uid-of-another";
    meta.ownerReferences.push_back(std::move(reference));
  }
  return meta;
}

}  // namespace

WorksHistory::WorksHistory(const cluster::Model& model, const cluster::StateRef& state)
    : model_(model), recorded_(model.works.size()) {
  follow(state);
}

void WorksHistory::follow(const cluster::StateRef& state) {
  for (uint32_t number = 0; number < model_.works.size(); ++number) {
    if (state.work(number).deleting) continue;
    const cluster::Work& work = model_.works[number];
    recorded_[number].clear();
    for (uint32_t link = work.firstLink; link < work.firstLink + work.linkCount; ++link) {
      if (state.link(link).recorded) recorded_[number].insert(model_.links[link].object);
    }
  }
  for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
    const cluster::ObjectState object = state.object(slot);
    if (!object.deferredDeletion)
      deferredOwners_.erase(slot);
    else
      deferredOwners_.insert_or_assign(slot, ownersOf(model_.slots[slot], object));
  }
}

WorksView::WorksView(const WorksHistory& history, const cluster::StateRef& state)
    : model_(history.model_),
      state_(state),
      types_(specTypes()),
      home_(model_.lastoutNamespace ? model_.lastoutNamespace->name : ""),
      view_(home_, admission::ViewScope::WhatIsWatched) {
  std::set<kube::GroupResource> followed{criticalservice::criticalServiceType(),
                                         kube::kCustomResourceDefinitions, kube::kNamespaces,
                                         manifestwork::appliedManifestWorkType()};
  for (size_t i = 0; i < model_.services.size(); ++i) {
    if (!state.object(model_.services[i]).present()) continue;
    for (kube::GroupResource& type : admission::followedTypes(model_.serviceSpecs[i]))
      followed.insert(std::move(type));
  }
  for (const kube::GroupResource& type : followed) view_.know(type, graph::Knowledge::Synced);
  // The CRD of a type is there all along where the model has none.
  for (const kube::GroupResource& type : {types::kWidgets, types::kGadgets, types::kDatabases}) {
    kube::ObjectMeta crd;
    crd.name = kube::crdName(type);
    if (!model_.find(kube::crdKey(type))) view_.upsert(kube::kCustomResourceDefinitions, crd);
  }
  for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
    if (!state.object(slot).present() || !followed.contains(model_.slots[slot].key.type)) continue;
    if (model_.slots[slot].kind == cluster::SlotKind::CriticalService)
      guard(history, state, slot);
    else
      tell(state, slot);
  }
  for (uint32_t number = 0; number < model_.works.size(); ++number) {
    const Slot applied = model_.works[number].applied;
    if (!state.object(applied).present()) continue;
    std::vector<kube::ObjectKey>& keys = recorded_[model_.slots[applied].key.name];
    for (const Slot object : history.recorded_[number]) keys.push_back(model_.slots[object].key);
  }
}

server::ObjectReads WorksView::reads() const {
  const auto typeOf = [](const kube::ResourceType* type) {
    return type == nullptr ? std::nullopt : std::optional(*type);
  };
  return {.type = [this, typeOf](const kube::GroupResource& type) { return typeOf(types_.find(type)); },
          .kind = [this, typeOf](std::string_view group,
                                 std::string_view kind) { return typeOf(types_.findKind(group, kind)); },
          .isKnownToBeAbsent = [](const kube::GroupResource& /*type*/) { return false; },
          .isSeenToTerminate =
              [this](const kube::ObjectKey& space) {
                const auto found = view_.graph().find(space);
                return found && view_.graph().isTerminating(*found);
              },
          .metadata =
              [this](const kube::ResourceType& type, const std::string& namespaceName,
                     const std::string& name) -> tl::expected<std::optional<kube::ObjectMeta>, std::string> {
            const auto slot = model_.find({type.type, type.namespaced ? namespaceName : "", name});
            if (!slot || !state_.object(*slot).present()) return std::nullopt;
            return metaOfSlot(model_, state_, *slot);
          }};
}

void WorksView::tell(const cluster::StateRef& state, Slot slot) {
  view_.upsert(model_.slots[slot].key.type, metaOfSlot(model_, state, slot));
}

// Its status remembers what it wants to be deferred of what it guards.
void WorksView::guard(const WorksHistory& history, const cluster::StateRef& state, Slot slot) {
  const cluster::SlotInfo& info = model_.slots[slot];
  criticalservice::CriticalService service = model_.serviceSpecs[info.service];
  service.intent = static_cast<criticalservice::DeletionIntent>(state.object(slot).value);
  criticalservice::DeferredDeletions remembered;
  for (const auto& one : history.deferredOwners_) {
    const Slot deferred = one.first;
    const bool byController = !state.object(deferred).deferredDeletion->byPerson;
    const auto& guardEntries = model_.slots[deferred].guardEntries;
    const bool isGuarded = std::ranges::any_of(guardEntries, [&](const admission::GuardEntry& guardEntry) {
      return guardEntry.service == info.service &&
             admission::recordsDeferral(guardEntry.guardedAs, deferred == slot);
    });
    if (!isGuarded || !admission::isDeferred(service.deferral, byController)) continue;
    remembered.deletions.push_back({model_.slots[deferred].key, uidOfSlot(deferred), "Background",
                                    byController ? kController : std::string(WorksView::kPerson), 1,
                                    one.second});
  }
  nlohmann::json manifest = nlohmann::json::parse(kube::toJson(criticalservice::toManifest(service)).dump());
  if (!remembered.deletions.empty()) manifest["status"].merge_patch(criticalservice::patchOf(remembered));
  const kube::ResourceType& type = *specTypes().find(info.key.type);
  kube::Object object;
  object.apiVersion = apiVersionOfType(type);
  object.kind = type.kind;
  object.key = info.key;
  object.meta = metaOfSlot(model_, state, slot);
  object.content = kube::fromJson(manifest);
  const auto guarded = view_.guard(std::move(object));
  if (!guarded) throw std::runtime_error(kube::toString(guarded.error().front()));
}

}  // namespace lastout::testing

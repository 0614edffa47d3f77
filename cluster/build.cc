#include "cluster/build.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "cluster/builder.h"
#include "criticalservice/critical_service.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"

namespace lastout::cluster {

namespace {

struct TypeKind {
  kube::GroupResource type;
  SlotKind kind;
};

const std::array<TypeKind, 16>& typeKinds() {
  static const std::array<TypeKind, 16> kTypeKinds = {{
      {kube::kNamespaces, SlotKind::Namespace},
      {kube::kPods, SlotKind::Pod},
      {kube::kPersistentVolumeClaims, SlotKind::PersistentVolumeClaim},
      {kube::kPersistentVolumes, SlotKind::PersistentVolume},
      {kube::kDeployments, SlotKind::Deployment},
      {kube::kReplicaSets, SlotKind::ReplicaSet},
      {kube::kReplicationControllers, SlotKind::ReplicaSet},
      {kube::kStatefulSets, SlotKind::StatefulSet},
      {kube::kDaemonSets, SlotKind::DaemonSet},
      {kube::kJobs, SlotKind::Job},
      {kube::kCronJobs, SlotKind::CronJob},
      {kube::kCustomResourceDefinitions, SlotKind::Crd},
      {manifestwork::manifestWorkType(), SlotKind::ManifestWork},
      {manifestwork::appliedManifestWorkType(), SlotKind::AppliedManifestWork},
      {manifestwork::replicaSetType(), SlotKind::ManifestWorkReplicaSet},
      {criticalservice::criticalServiceType(), SlotKind::CriticalService},
  }};
  return kTypeKinds;
}

// An API server removes what terminates together with its last finalizer. A Pod stays for its grace period;
// of a Namespace and a CRD the machine knows Kubernetes' own finalizer, whatever the manifest says.
bool isRemoved(const kube::Object& object) {
  const SlotKind kind = kindOf(object.key.type);
  return object.meta.deletionTimestamp && object.meta.finalizers.empty() && kind != SlotKind::Pod &&
         kind != SlotKind::Namespace && kind != SlotKind::Crd;
}

Slot addObject(Builder& builder, const kube::Object& object, bool present) {
  const bool isThere = present && !isRemoved(object);
  const Slot slot = builder.addSlot(object.key, kindOf(object.key.type), &object, isThere);
  if (builder.sources[slot] == &object && object.meta.deletionTimestamp && isThere)
    builder.model.slots[slot].terminatingAtStart = true;
  if (builder.sources[slot] != nullptr && builder.sources[slot] != &object)
    checkRepeated(builder, *builder.sources[slot], object, !present);
  return slot;
}

void addWork(Builder& builder, const WorkSpec& spec) {
  Model& model = builder.model;
  const auto number = static_cast<uint32_t>(model.works.size());
  Work work;
  work.manifestWork = addObject(builder, spec.manifestWork, !spec.isGone);
  const kube::ObjectKey appliedKey{manifestwork::appliedManifestWorkType(), "", spec.appliedName};
  work.applied = builder.addSlot(appliedKey, SlotKind::AppliedManifestWork, nullptr, true);
  work.firstLink = static_cast<uint32_t>(model.links.size());
  if (spec.manifests.size() > kMaxLinks) {
    builder.fail(work.manifestWork, "applies more than " + std::to_string(kMaxLinks) + " objects");
    return;
  }
  std::vector<Slot> objects;
  for (const kube::Object& manifest : spec.manifests) objects.push_back(addObject(builder, manifest, true));
  sortLikeStatus(objects, model);
  objects.erase(std::unique(objects.begin(), objects.end()), objects.end());
  for (Slot object : objects) {
    const std::optional<size_t> owner = addOwner(model, object, {.owner = work.applied}, false);
    if (!owner) {
      builder.fail(object, "has more than " + std::to_string(kMaxOwners) + " owners");
      return;
    }
    model.slots[object].links.push_back(static_cast<uint32_t>(model.links.size()));
    model.links.push_back({.work = number,
                           .object = object,
                           .ownerIndex = static_cast<uint8_t>(*owner),
                           .orphans = spec.deleteOption.orphans(model.slots[object].key),
                           .onlyReads = spec.deleteOption.onlyReads(model.slots[object].key)});
  }
  work.linkCount = static_cast<uint32_t>(objects.size());
  for (Slot slot : {work.manifestWork, work.applied}) {
    SlotInfo& info = model.slots[slot];
    info.work = number;
    info.cleanupBit = finalizerBit(info, cleanupFinalizer(info)).value_or(0);
    info.finalizersAtCreation |= info.cleanupBit;
  }
  if (model.guarded && model.runsDeferredDeletions) {
    SlotInfo& applied = model.slots[work.applied];
    applied.keptBit = finalizerBit(applied, kube::kAppliedObjectsFinalizer).value_or(0);
  }
  model.works.push_back(work);
}

// Before any object is added. A CriticalService that cannot be understood is told of by wireServices().
void findAskedFields(Builder& builder) {
  const auto find = [&](const std::vector<kube::Object>& objects) {
    for (const kube::Object& object : objects) {
      if (object.key.type != criticalservice::criticalServiceType()) continue;
      if (const auto service = criticalservice::parse(object, builder.input.types))
        criticalservice::addFields(*service, builder.askedFields);
    }
  };
  find(builder.input.objects);
  for (const WorkSpec& work : builder.input.works) find(work.manifests);
  find(builder.input.later);
}

}  // namespace

void sortLikeStatus(std::vector<Slot>& objects, const Model& model) {
  std::sort(objects.begin(), objects.end(), [&](Slot a, Slot b) {
    const kube::ObjectKey& left = model.slots[a].key;
    const kube::ObjectKey& right = model.slots[b].key;
    return std::tie(left.type.group, left.type.resource, left.namespaceName, left.name) <
           std::tie(right.type.group, right.type.resource, right.namespaceName, right.name);
  });
}

SlotKind kindOf(const kube::GroupResource& type) {
  const auto found = std::ranges::find(typeKinds(), type, &TypeKind::type);
  return found == typeKinds().end() ? SlotKind::Plain : found->kind;
}

std::optional<Slot> Model::find(const kube::ObjectKey& key) const {
  const auto found = byKey.find(key);
  return found == byKey.end() ? std::nullopt : std::optional<Slot>(found->second);
}

std::optional<PropagationPolicy> defaultPolicy(const kube::GroupResource& type) {
  const bool orphans = type == kube::kJobs || type == kube::kReplicationControllers;
  return orphans ? std::optional(PropagationPolicy::Orphan) : std::nullopt;
}

bool Model::orphans(const ClientStep& step) const {
  if (step.verb != ClientStep::Verb::Delete) return false;
  const auto policy = step.hasPolicy ? step.policy : defaultPolicy(slots[step.object].key.type);
  return policy == PropagationPolicy::Orphan;
}

Slot Builder::addSlot(const kube::ObjectKey& key, SlotKind kind, const kube::Object* source, bool present) {
  const auto [position, isNew] = model.byKey.try_emplace(key, static_cast<Slot>(model.slots.size()));
  if (!isNew) return position->second;
  SlotInfo info;
  info.key = key;
  info.kind = kind;
  info.presentAtStart = present;
  ObjectForm& form = info.forms.emplace_back();
  if (source != nullptr) {
    form.labels = source->meta.labels;
    form.annotations = source->meta.annotations;
  }
  model.slots.push_back(std::move(info));
  sources.push_back(source);
  return position->second;
}

void Builder::fail(Slot slot, std::string message) {
  const kube::Object* source = sources[slot];
  kube::Error error{.message = model.name(slot) + " " + std::move(message), .file = {}, .position = {}};
  if (source != nullptr) {
    error.file = source->file;
    error.position = source->content.position;
  }
  errors.push_back(std::move(error));
}

const kube::Value* Builder::content(Slot slot) const {
  return sources[slot] == nullptr ? nullptr : &sources[slot]->content;
}

std::optional<size_t> addOwner(Model& model, Slot dependent, const OwnerLink& link, bool atCreation) {
  SlotInfo& info = model.slots[dependent];
  if (info.owners.size() == kMaxOwners) return std::nullopt;
  const size_t index = info.owners.size();
  info.owners.push_back(link);
  if (atCreation) info.ownersAtCreation |= static_cast<uint8_t>(1u << index);
  if (link.owner != kNone) {
    std::vector<Slot>& dependents = model.slots[link.owner].dependents;
    if (std::find(dependents.begin(), dependents.end(), dependent) == dependents.end())
      dependents.push_back(dependent);
  }
  return index;
}

tl::expected<Model, kube::Errors> build(const BuildInput& input) {
  Builder builder(input);
  builder.model.kubernetes = input.kubernetes;
  builder.model.guarded = input.guarded;
  builder.model.runsDeferredDeletions = input.runsDeferredDeletions;
  if (!input.lastoutNamespace.empty())
    builder.model.lastoutNamespace = kube::namespaceKey(input.lastoutNamespace);
  findAskedFields(builder);
  for (const kube::Object& object : input.objects) addObject(builder, object, true);
  for (const WorkSpec& work : input.works) addWork(builder, work);
  for (const kube::Object& object : input.later) addObject(builder, object, false);
  wireFinalizers(builder);
  wireReplicaSets(builder);
  wireOwners(builder);
  deriveChildren(builder);
  wireTimeToLive(builder);
  mountClaims(builder);
  bindVolumes(builder);
  wireContainers(builder);
  wireNeeds(builder);
  wireServices(builder);
  wireWebhooks(builder);
  if (!builder.errors.empty()) return tl::unexpected(std::move(builder.errors));
  return std::move(builder.model);
}

}  // namespace lastout::cluster

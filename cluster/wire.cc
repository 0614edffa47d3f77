// How slots hang together: namespaces and CRDs contain, owners own, finalizers hold; and what Pods cannot
// start without, and the controllers in them act through.
#include <algorithm>
#include <bit>
#include <set>

#include "cluster/builder.h"
#include "criticalservice/granted_rights.h"
#include "criticalservice/pod_needs.h"
#include "criticalservice/role_rules.h"
#include "kube/api_calls.h"
#include "kube/patterns.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"

namespace lastout::cluster {

namespace {

// The garbage collector looks for an owner by group, kind and version.
bool isServed(const Builder& builder, const kube::GroupResource& type, std::string_view version) {
  const auto crd = builder.model.find(kube::crdKey(type));
  const std::vector<std::string> served =
      kube::servedVersions(type, crd ? builder.content(*crd) : nullptr, builder.model.kubernetes);
  return served.empty() || std::ranges::find(served, version) != served.end();
}

// The owner that a reference names: in the dependent's namespace, or cluster-scoped.
OwnerLink ownerOf(const Builder& builder, Slot dependent, const kube::OwnerReference& reference) {
  OwnerLink link{
      .owner = kNone, .controller = reference.controller, .blockOwnerDeletion = reference.blockOwnerDeletion};
  const kube::ResourceType* type =
      builder.input.types.findKind(kube::groupOf(reference.apiVersion), reference.kind);
  const std::string& space = builder.model.slots[dependent].key.namespaceName;
  link.unresolved = type == nullptr || (type->namespaced && space.empty());
  if (link.unresolved) return link;
  link.unresolved = !isServed(builder, type->type, kube::versionOf(reference.apiVersion));
  const auto owner =
      builder.model.find({type->type, type->namespaced ? space : std::string(), reference.name});
  if (!owner) return link;
  const kube::Object* source = builder.sources[*owner];
  const bool another = source != nullptr && !source->meta.uid.empty() && !reference.uid.empty() &&
                       source->meta.uid != reference.uid;
  if (!another) link.owner = *owner;
  return link;
}

}  // namespace

std::string_view cleanupFinalizer(const SlotInfo& slot) {
  switch (slot.kind) {
    case SlotKind::Namespace:
      return kube::kNamespaceSpecFinalizer;  // in spec.finalizers; here it holds like any other
    case SlotKind::Crd:
      return kube::kCrdCleanupFinalizer;
    case SlotKind::PersistentVolumeClaim:
      return kube::kPvcProtectionFinalizer;
    case SlotKind::PersistentVolume:
      return kube::kPvProtectionFinalizer;
    case SlotKind::ManifestWork:
      return slot.work == kNone ? "" : manifestwork::kWorkFinalizer;
    case SlotKind::AppliedManifestWork:
      return slot.work == kNone ? "" : manifestwork::kAppliedFinalizer;
    default:
      return {};
  }
}

uint16_t knownFinalizerBit(const SlotInfo& slot, std::string_view name) {
  if (name == kube::kForegroundFinalizer) return kForegroundBit;
  if (name == kube::kOrphanFinalizer) return kOrphanBit;
  const auto found = std::find(slot.finalizers.begin(), slot.finalizers.end(), name);
  if (found == slot.finalizers.end()) return 0;
  return static_cast<uint16_t>(1u << (found - slot.finalizers.begin()));
}

uint16_t finalizersMeantBy(const SlotInfo& slot, std::string_view named) {
  uint16_t bits = knownFinalizerBit(slot, named);
  for (const std::string& name : slot.finalizers) {
    if (kube::meansFinalizer(named, name)) bits |= knownFinalizerBit(slot, name);
  }
  return bits & ~specFinalizers(slot);
}

std::vector<std::string> finalizerNames(const SlotInfo& slot, uint16_t finalizers) {
  std::vector<std::string> names;
  for (size_t i = 0; i < slot.finalizers.size(); ++i) {
    if ((finalizers >> i & 1) != 0) names.push_back(slot.finalizers[i]);
  }
  if ((finalizers & kForegroundBit) != 0) names.emplace_back(kube::kForegroundFinalizer);
  if ((finalizers & kOrphanBit) != 0) names.emplace_back(kube::kOrphanFinalizer);
  return names;
}

std::optional<uint16_t> finalizerBit(SlotInfo& slot, std::string_view name) {
  if (const uint16_t known = knownFinalizerBit(slot, name); known != 0) return known;
  const size_t index = slot.finalizers.size();
  if (index == kMaxFinalizers) return std::nullopt;
  slot.finalizers.emplace_back(name);
  return static_cast<uint16_t>(1u << index);
}

std::string tooManyFinalizers(const SlotInfo& slot) {
  const std::string most = "more than " + std::to_string(kMaxFinalizers) + " finalizers";
  if (slot.cleanupBit == 0) return most;
  return most + ", counting that of its clean-up, " +
         slot.finalizers[static_cast<size_t>(std::countr_zero(slot.cleanupBit))];
}

// A CRD gets its finalizer with the DELETE (as recorded), the others when they are created; of an object that
// terminates already, the manifest says what is left.
void addCleanup(SlotInfo& info) {
  const std::string_view cleanup = cleanupFinalizer(info);
  if (cleanup.empty()) return;
  info.cleanupBit = finalizerBit(info, cleanup).value_or(0);
  if (info.kind == SlotKind::Namespace || (info.kind != SlotKind::Crd && !info.terminatingAtStart))
    info.finalizersAtCreation |= info.cleanupBit;
}

uint16_t addFinalizers(Builder& builder, Slot slot, const std::vector<std::string>& names) {
  SlotInfo& info = builder.model.slots[slot];
  uint16_t bits = 0;
  for (const std::string& name : names) {
    if (info.kind == SlotKind::Pod && name == kube::kJobTrackingFinalizer) continue;
    const std::optional<uint16_t> bit = finalizerBit(info, name);
    if (!bit) {
      builder.fail(slot, "has " + tooManyFinalizers(info));
      break;
    }
    bits |= *bit;
  }
  info.finalizersAtCreation |= bits;
  return bits;
}

namespace {

// In a Namespace's metadata, Kubernetes' own finalizer is one that nobody takes off: the namespace controller
// takes it out of the spec alone. So it has a bit beside that of the spec.
void addFinalizersOfMetadata(Builder& builder, Slot slot) {
  SlotInfo& info = builder.model.slots[slot];
  std::vector<std::string> names = builder.sources[slot]->meta.finalizers;
  const bool isNamedTwice =
      info.kind == SlotKind::Namespace && std::erase(names, kube::kNamespaceSpecFinalizer) != 0;
  addFinalizers(builder, slot, names);
  if (!isNamedTwice) return;
  const size_t index = info.finalizers.size();
  if (index == kMaxFinalizers) return builder.fail(slot, "has " + tooManyFinalizers(info));
  info.finalizers.emplace_back(kube::kNamespaceSpecFinalizer);
  info.finalizersAtCreation |= static_cast<uint16_t>(1u << index);
}

}  // namespace

void wireFinalizers(Builder& builder) {
  for (Slot slot = 0; slot < builder.model.slots.size(); ++slot) {
    SlotInfo& info = builder.model.slots[slot];
    addCleanup(info);
    if (builder.sources[slot] == nullptr) continue;
    addFinalizersOfMetadata(builder, slot);
    if (info.kind == SlotKind::Namespace)
      info.namespaceBits = addFinalizers(
          builder, slot, criticalservice::textsAt(builder.sources[slot]->content, {"spec", "finalizers"}));
  }
}

void wireOwners(Builder& builder) {
  for (Slot slot = 0; slot < builder.model.slots.size(); ++slot) {
    if (builder.sources[slot] == nullptr) continue;
    for (const kube::OwnerReference& reference : builder.sources[slot]->meta.ownerReferences) {
      const OwnerLink link = ownerOf(builder, slot, reference);
      const std::vector<OwnerLink>& owners = builder.model.slots[slot].owners;
      const bool known = link.owner != kNone &&
                         std::any_of(owners.begin(), owners.end(),
                                     [&](const OwnerLink& other) { return other.owner == link.owner; });
      if (known || addOwner(builder.model, slot, link, true)) continue;
      builder.fail(slot, "has more than " + std::to_string(kMaxOwners) + " owners");
      break;
    }
  }
}

void wireContainers(Builder& builder) {
  Model& model = builder.model;
  for (Slot slot = 0; slot < model.slots.size(); ++slot) wireContainer(model, slot);
}

void wireContainer(Model& model, Slot slot) {
  SlotInfo& info = model.slots[slot];
  if (!info.key.namespaceName.empty()) {
    const auto space = model.find(kube::namespaceKey(info.key.namespaceName));
    if (space) {
      info.namespaceSlot = *space;
      model.slots[*space].content.push_back(slot);
      if (info.kind == SlotKind::Pod) model.slots[*space].children.push_back(slot);
    }
  }
  const auto crd = model.find(kube::crdKey(info.key.type));
  if (!crd) return;
  info.crd = *crd;
  model.slots[*crd].content.push_back(slot);
}

namespace {

using criticalservice::Dependency;

// Those of them that are in the model.
std::vector<Slot> slotsOf(const Model& model, const std::vector<Dependency>& needed) {
  std::vector<Slot> slots;
  for (const Dependency& dependency : needed) {
    if (const auto slot = model.find(dependency.object)) slots.push_back(*slot);
  }
  return slots;
}

// Returns true if two bindings of one account give it the same rights.
bool giveTheSame(const Builder& builder, Slot one, Slot other) {
  const kube::Object& first = *builder.sources[one];
  const kube::Object& second = *builder.sources[other];
  if (first.key.namespaceName != second.key.namespaceName) return false;
  const kube::ObjectKey role = criticalservice::roleOfBinding(first);
  const kube::ObjectKey otherRole = criticalservice::roleOfBinding(second);
  if (role == otherRole) return true;
  const auto slot = builder.model.find(role);
  const auto otherSlot = builder.model.find(otherRole);
  if (!slot || !otherSlot) return false;
  const auto isAggregated = [&](Slot it) { return builder.content(it)->find("aggregationRule") != nullptr; };
  return !isAggregated(*slot) && !isAggregated(*otherSlot) &&
         criticalservice::rulesOf(*builder.sources[*slot]) ==
             criticalservice::rulesOf(*builder.sources[*otherSlot]);
}

// Returns the objects by which an account acts. A binding goes together with its role, and bindings that give
// the same are ways of one entry; each other object is an entry of its own.
std::vector<Ways> rightsOf(const Builder& builder, const std::vector<Slot>& needed) {
  std::vector<Ways> rights;
  std::set<Slot> roles;
  std::vector<Slot> others;
  for (const Slot slot : needed) {
    const kube::GroupResource& type = builder.model.slots[slot].key.type;
    if (type != kube::kRoleBindings && type != kube::kClusterRoleBindings) {
      others.push_back(slot);
      continue;
    }
    std::vector<Slot> way{slot};
    if (const auto role = builder.model.find(criticalservice::roleOfBinding(*builder.sources[slot]))) {
      way.push_back(*role);
      roles.insert(*role);
    }
    const auto same = std::ranges::find_if(
        rights, [&](const Ways& ways) { return giveTheSame(builder, ways.front().front(), slot); });
    if (same == rights.end())
      rights.push_back({std::move(way)});
    else
      same->push_back(std::move(way));
  }
  for (const Slot slot : others)
    if (!roles.contains(slot)) rights.push_back({{slot}});
  return rights;
}

}  // namespace

criticalservice::DependencyFinder whatIsNeeded(const Builder& builder) {
  criticalservice::DependencyFinder finder;
  for (const kube::Object* source : builder.sources) {
    if (source != nullptr) finder.put(*source);
  }
  return finder;
}

void wireNeeds(Builder& builder) {
  Model& model = builder.model;
  const criticalservice::DependencyFinder finder = whatIsNeeded(builder);
  const auto wire = [&](Slot slot) {
    const kube::Object* source = builder.sources[slot];
    const kube::Value* podTemplate = source == nullptr ? nullptr : criticalservice::podTemplateOf(*source);
    const SlotKind kind = model.slots[slot].kind;
    if (podTemplate == nullptr || (!isWorkload(kind) && kind != SlotKind::Pod)) return;
    model.slots[slot].rights = rightsOf(builder, slotsOf(model, finder.rightsOf(source->key)));
    const std::vector<Slot> startsWith = slotsOf(model, finder.startingNeedsOf(source->key));
    for (const Slot pod : kind == SlotKind::Pod ? std::vector<Slot>{slot} : podsOf(model, slot))
      model.slots[pod].startsWith = startsWith;
  };
  // A ReplicaSet that is written down may have another Pod template than its Deployment has by now.
  for (const bool ofParents : {true, false}) {
    for (Slot slot = 0; slot < model.slots.size(); ++slot) {
      if (runsWorkloads(model.slots[slot].kind) == ofParents) wire(slot);
    }
  }
}

}  // namespace lastout::cluster

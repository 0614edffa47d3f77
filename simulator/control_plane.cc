#include "simulator/control_plane.h"

#include <algorithm>
#include <utility>

#include "graph/uid.h"
#include "kube/object_key.h"
#include "kube/timestamp.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"
#include "simulator/contents.h"
#include "simulator/metadata.h"

namespace lastout::simulator {
namespace {

constexpr std::chrono::milliseconds kNamedByDiscovery{1'000};  // after the end of its CRD, as Kubernetes 1.36

ApiError notHeld(const Mutation& mutation, const kube::Error& error) {
  return invalid(mutation.type->kind, mutation.type->type.group, mutation.key.name,
                 {{"FieldValueInvalid", error.message, ""}});
}

ApiError terminatingNamespace(const kube::ObjectKey& key) {
  ApiError error = forbidden(
      key.type, key.name,
      "unable to create new content in namespace " + key.namespaceName + " because it is being terminated");
  error.details["causes"] =
      Json::array({{{"reason", "NamespaceTerminating"},
                    {"message", "namespace " + key.namespaceName + " is being terminated"},
                    {"field", "metadata.namespace"}}});
  return error;
}

// rest/086
ApiError terminatingDefinition(const Mutation& mutation, std::string_view reason) {
  constexpr const char* kWhy = "create not allowed while custom resource definition is terminating";
  const kube::ObjectKey& key = mutation.key;
  if (reason == "Forbidden") return forbidden(key.type, key.name, kWhy);
  return {405, std::string(reason), kWhy, {{"group", key.type.group}, {"kind", mutation.type->kind}}};
}

ApiError refusedCreation(const Mutation& mutation, cluster::CreationRefusal refusal,
                         kube::KubernetesVersion kubernetes) {
  using Refusal = cluster::CreationRefusal;
  const kube::ObjectKey& key = mutation.key;
  switch (refusal) {
    case Refusal::Exists:
      return alreadyExists(key.type, key.name);
    case Refusal::NoNamespace:
      return notFound(kube::kNamespaces, key.namespaceName);
    case Refusal::NamespaceTerminates:
      return terminatingNamespace(key);
    case Refusal::CrdTerminates:
      return terminatingDefinition(mutation, reasonOf(refusal, kubernetes));
    case Refusal::NoCrd:
      break;
  }
  return notFound(key.type, key.name);
}

}  // namespace

ControlPlane::ControlPlane(cluster::Timing timing, size_t history, ControlPlaneEnvironment context,
                           kube::KubernetesVersion kubernetes)
    : storage(history),
      types(kubernetes),
      live(timing, kube::ResourceMap::builtIn(), kubernetes),
      environment_(std::move(context)),
      kubernetes_(kubernetes) {}

std::string ControlPlane::now() const { return kube::timestampText(environment_.wallClock()); }

int64_t ControlPlane::seconds() const { return environment_.wallClock().time_since_epoch().count(); }

// RFC 4122, version 4.
std::string ControlPlane::newUid() const {
  constexpr uint64_t kVersionMask = 0xf000;
  constexpr uint64_t kVersion = 0x4000;
  constexpr uint64_t kVariantMask = uint64_t{3} << 62;
  constexpr uint64_t kVariant = uint64_t{2} << 62;
  const uint64_t high = random();
  const uint64_t low = random();
  return graph::formatUuid((high & ~kVersionMask) | kVersion, (low & ~kVariantMask) | kVariant);
}

ApiResult<void> ControlPlane::mayCreate(const Mutation& mutation) {
  const auto refusal = live.refusesCreation(mutation.key, mutation.isApplied);
  if (!refusal) return {};
  return tl::unexpected(refusedCreation(mutation, *refusal, kubernetes()));
}

kube::Result<void> ControlPlane::holds(const Mutation& mutation) {
  if (mutation.operation == Mutation::Operation::Delete) return {};
  const kube::ResourceMap& known = types.resources();
  if (mutation.key.type == manifestwork::manifestWorkType()) {
    for (const auto& [key, manifest] : manifestsOf(mutation.after, known)) {
      if (auto fits = live.fits(liveObjectOf(key, *manifest, known)); !fits) return fits;
    }
  }
  return live.fits(liveObjectOf(mutation.key, mutation.after, known));
}

ApiResult<void> ControlPlane::mayCommit(const Mutation& mutation) {
  if (const auto held = holds(mutation); !held) return tl::unexpected(notHeld(mutation, held.error()));
  return mutation.operation == Mutation::Operation::Create ? mayCreate(mutation) : ApiResult<void>();
}

ApiResult<RecordRef> ControlPlane::commit(const Mutation& mutation) {
  live.advance(environment_.time());
  if (auto possible = mayCommit(mutation); !possible) return tl::unexpected(std::move(possible.error()));
  switch (mutation.operation) {
    case Mutation::Operation::Create:
      return commitCreate(mutation);
    case Mutation::Operation::Update:
      return commitUpdate(mutation);
    case Mutation::Operation::Delete:
      break;
  }
  return commitDelete(mutation);
}

ApiResult<RecordRef> ControlPlane::commitCreate(const Mutation& mutation) {
  cluster::Events events;
  const auto slot = live.create(liveObjectOf(mutation.key, mutation.after, types.resources()), events);
  if (!slot) return tl::unexpected(notHeld(mutation, slot.error()));
  // With the finalizers that Kubernetes adds to some.
  RecordRef record = store(mutation.key, alignedContent(*this, *slot, live.object(*slot), mutation.after));
  follow(events);
  return record;
}

ApiResult<RecordRef> ControlPlane::commitUpdate(const Mutation& mutation) {
  if (mutation.after == mutation.before->object()) return mutation.before;
  const std::optional<cluster::Slot> slot = live.find(mutation.key);
  cluster::Events events;
  const auto updated =
      live.update(*slot, liveObjectOf(mutation.key, mutation.after, types.resources()), events);
  if (!updated) return tl::unexpected(notHeld(mutation, updated.error()));
  if (live.object(*slot).present()) {
    RecordRef record = store(mutation.key, mutation.after);
    follow(events);
    return record;
  }
  // Its last finalizer is gone, and the object with it: this state of it was never stored (rest/067, 080).
  auto last = std::make_shared<const StoredRecord>(mutation.key, mutation.after, mutation.before->version());
  follow(events);
  return last;
}

ApiResult<RecordRef> ControlPlane::commitDelete(const Mutation& mutation) {
  const std::optional<cluster::Slot> slot = live.find(mutation.key);
  cluster::Events events;
  live.remove(*slot, mutation.policy, events);
  const cluster::ObjectState state = live.object(*slot);
  if (state.present()) {
    Json object = mutation.before->object();
    const Json* grace = at(mutation.options, {"gracePeriodSeconds"});
    if (grace != nullptr && grace->is_number_integer())
      object = markDeleted(rulesOf(*mutation.type), std::move(object), now(), grace->get<int64_t>());
    // One write: with what holds it now.
    object = alignedContent(*this, *slot, state, std::move(object));
    if (object != mutation.before->object()) store(mutation.key, std::move(object));
  }
  follow(events);
  const RecordRef record = storage.find(mutation.key);
  return record == nullptr ? mutation.before : record;
}

RecordRef ControlPlane::store(const kube::ObjectKey& key, Json object) {
  const RecordRef before = storage.find(key);
  RecordRef record = storage.put(key, std::move(object));
  noticed({before == nullptr ? Write::Kind::Added : Write::Kind::Modified, record, before});
  return record;
}

// Follows creations and removals in their order, so that an object that was created again is another one;
// follows changed objects once, at the end.
void ControlPlane::follow(const cluster::Events& events, std::span<Mutation> admitted) {
  std::vector<cluster::Slot> altered;
  for (const cluster::ClusterEvent& event : events) {
    switch (event.kind) {
      case cluster::EventKind::Created:
        created(event.slot, admitted);
        break;
      case cluster::EventKind::Gone:
        gone(event.slot);
        break;
      case cluster::EventKind::Accepted:
      case cluster::EventKind::Changed:
        if (std::ranges::find(altered, event.slot) == altered.end()) altered.push_back(event.slot);
        break;
      case cluster::EventKind::Requested:
      case cluster::EventKind::Denied:
        break;
    }
  }
  for (const cluster::Slot slot : altered) align(slot, admitted);
}

void ControlPlane::gone(cluster::Slot slot) {
  const kube::ObjectKey key = live.model().slots[slot].key;
  const RecordRef before = storage.find(key);
  if (before == nullptr) return;
  const RecordRef last = storage.erase(key);
  refusedContent.erase(key);
  noticed({Write::Kind::Deleted, last, before});
}

// A controller's creation; a client's is stored already. What depends on another object of the same plan can
// be made only now. The machine takes it: holds() was asked, of a ManifestWork's objects when that came.
void ControlPlane::created(cluster::Slot slot, std::span<Mutation> admitted) {
  const kube::ObjectKey key = live.model().slots[slot].key;
  if (storage.find(key) != nullptr) return;
  const auto creates = [&key](const Mutation& mutation) {
    return mutation.operation == Mutation::Operation::Create && mutation.key == key;
  };
  const auto reviewed = std::ranges::find_if(admitted, creates);
  Json object = reviewed == admitted.end() ? contentOf(*this, slot) : std::move(reviewed->after);
  if (object.is_null()) return;
  cluster::Events events;
  static_cast<void>(live.update(slot, liveObjectOf(key, object, types.resources()), events));
  store(key, std::move(object));
  follow(events);
}

void ControlPlane::align(cluster::Slot slot, std::span<const Mutation> admitted) {
  if (!live.object(slot).present()) return;
  const RecordRef record = storage.find(live.model().slots[slot].key);
  if (record == nullptr) return;
  const auto mutates = [&record](const Mutation& mutation) {
    return mutation.operation == Mutation::Operation::Update && mutation.isMutated &&
           mutation.before == record;
  };
  const auto reviewed = std::ranges::find_if(admitted, mutates);
  const Json& wanted = reviewed == admitted.end() ? record->object() : reviewed->after;
  cluster::Events events;
  if (reviewed != admitted.end())
    static_cast<void>(live.update(slot, liveObjectOf(record->key(), wanted, types.resources()), events));
  Json object = alignedContent(*this, slot, live.object(slot), wanted);
  if (object != record->object()) store(record->key(), std::move(object));
  follow(events);
}

void ControlPlane::noticed(const Write& write) {
  serve(write);
  for (const Observer& observer : observers_) observer(write);
  changed.notifyAll();
}

void ControlPlane::unserve(const kube::GroupResource& type) {
  for (ServedTypePointer& former : types.remove(type))
    formerTypes_.push_back({std::move(former), environment_.time() + kNamedByDiscovery});
  // It is still served when the CRD's names were those of a built-in type.
  if (types.findPreferred(type) == nullptr) storage.drop(type);
}

TypeRegistry ControlPlane::discoveredTypes() {
  const auto now = environment_.time();
  std::erase_if(formerTypes_, [now](const FormerType& former) { return former.namedUntil <= now; });
  std::vector<ServedTypePointer> former;
  for (const FormerType& one : formerTypes_) former.push_back(one.type);
  return types.with(former);
}

// Was checked before it was stored.
void ControlPlane::registerAdmission(const Json& object, bool isGone) {
  const std::string_view kind = stringAt(object, {"kind"});
  const std::string_view name = stringAt(object, {"metadata", "name"});
  if (isPolicyKind(kind)) {
    if (isGone)
      policies.remove(kind, name);
    else
      static_cast<void>(policies.put(object));
  } else if (isGone) {
    webhooks.remove(kind, name);
  } else {
    static_cast<void>(webhooks.put(object));
  }
}

// While one of these does not answer, its group is served by nobody, and no Namespace ends.
void ControlPlane::aggregate(const kube::ObjectKey& apiService, const Json& object, bool isGone) {
  const bool wasAggregated = aggregatedApis.erase(apiService.name) > 0;
  const Json* spec = at(object, {"spec"});
  const Json* service = at(object, {"spec", "service"});
  const bool isAggregated = !isGone && service != nullptr && service->is_object();
  if (isAggregated) {
    const Json* status = at(object, {"status"});
    const Json* available = status == nullptr ? nullptr : findCondition(*status, "Available");
    aggregatedApis[apiService.name] = {std::string(stringAt(*spec, {"group"})),
                                       std::string(stringAt(*spec, {"version"})),
                                       {kube::kServices, std::string(stringAt(*service, {"namespace"})),
                                        std::string(stringAt(*service, {"name"}))},
                                       available != nullptr && stringAt(*available, {"status"}) == "True"};
  }
  if (!wasAggregated && !isAggregated) return;
  std::set<std::pair<std::string, std::string>> unanswered;
  std::optional<cluster::Slot> failing;
  for (const auto& [name, api] : aggregatedApis) {
    if (api.answers) continue;
    // This server serves its own groups whatever an APIService says.
    if (!api.version.empty() && !types.isBuiltInGroup(api.group)) unanswered.emplace(api.group, api.version);
    failing = live.find({kube::kApiServices, "", name});
  }
  types.setUnanswered(std::move(unanswered));
  live.failDiscovery(failing);
}

// Objects that tell the API server itself what to do.
void ControlPlane::serve(const Write& write) {
  const kube::ObjectKey& key = write.record->key();
  const Json& object = write.record->object();
  const bool isGone = write.kind == Write::Kind::Deleted;
  if (key.type == kube::kCustomResourceDefinitions) {
    if (isGone)
      unserve(kube::definedBy(key.name));
    else
      static_cast<void>(types.put(object));  // names that are taken: its status says so
  } else if (key.type.group == kube::kRbacGroup) {
    if (isGone)
      rbac.remove(object);
    else
      rbac.put(object);
  } else if (key.type == kube::kApiServices) {
    aggregate(key, object, isGone);
  } else if (key.type.group == kube::kAdmissionRegistrationGroup) {
    registerAdmission(object, isGone);
  }
}

}  // namespace lastout::simulator

#include "simulator/controller_writes.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "kube/builtin_types.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"
#include "simulator/contents.h"
#include "simulator/derived_cluster.h"
#include "simulator/derived_workloads.h"
#include "simulator/derived_works.h"
#include "simulator/json.h"
#include "simulator/request.h"

namespace lastout::simulator {
namespace {

using cluster::Slot;
using cluster::SlotKind;

// An object that may need a write, with the plane's lock held for as long as it is.
struct Subject {
  ControlPlane& plane;
  RecordRef record;
  Slot slot;
  const cluster::LiveCluster& live() const {
    plane.mutex.assertHeld();
    return plane.live;
  }
  const TypeRegistry& types() const {
    plane.mutex.assertHeld();
    return plane.types;
  }
  const Storage& storage() const {
    plane.mutex.assertHeld();
    return plane.storage;
  }
  const cluster::SlotInfo& info() const { return live().model().slots[slot]; }
  const Json& object() const { return record->object(); }
};

// The update to `after`, if that is another object than the stored one.
std::optional<Mutation> updateTo(const Subject& subject, Json after, std::string_view subresource,
                                 UserInfo user) {
  if (after == subject.object()) return std::nullopt;
  Mutation mutation;
  mutation.operation = Mutation::Operation::Update;
  mutation.key = subject.record->key();
  mutation.type = subject.types().findPreferred(mutation.key.type);
  if (mutation.type == nullptr) return std::nullopt;
  mutation.subresource = subresource;
  mutation.before = subject.record;
  mutation.after = std::move(after);
  mutation.options = WriteOptions{}.asGiven("UpdateOptions");
  mutation.user = std::move(user);
  return mutation;
}

// The creation of an object that should be there, unless it is or cannot be.
std::optional<Mutation> creationOf(ControlPlane& plane, const kube::ObjectKey& key, Json object,
                                   UserInfo user) LASTOUT_REQUIRES(plane.mutex) {
  Mutation mutation;
  mutation.type = plane.types.findPreferred(key.type);
  if (mutation.type == nullptr || plane.live.refusesCreation(key, false)) return std::nullopt;
  mutation.operation = Mutation::Operation::Create;
  mutation.key = key;
  mutation.after = completed(plane, *mutation.type, std::move(object));
  mutation.options = WriteOptions{}.asGiven("CreateOptions");
  mutation.user = std::move(user);
  return mutation;
}

// --- workloads

ReplicaCounts countsOf(const Subject& subject, Slot workload) {
  ReplicaCounts counts;
  int64_t terminating = 0;
  const cluster::Model& model = subject.live().model();
  for (const Slot pod : model.slots[workload].children) {
    const cluster::ObjectState state = subject.live().object(pod);
    if (!state.present() || model.slots[pod].kind != SlotKind::Pod) continue;
    if (!state.live()) {
      ++terminating;
      continue;
    }
    ++counts.replicas;
    ++counts.updated;
    if ((state.value & cluster::kReady) == 0) continue;
    ++counts.ready;
    ++counts.available;
  }
  if (kube::countsTerminatingReplicas(subject.plane.kubernetes())) counts.terminating = terminating;
  return counts;
}

// The ReplicaSet gets its Deployment's annotations (admission/10); its replicas are the machine's.
std::optional<Mutation> annotationWrite(const Subject& deployment, Slot replicaSet, const UserInfo& user) {
  const RecordRef record = deployment.storage().find(deployment.live().model().slots[replicaSet].key);
  if (record == nullptr || isTerminating(deployment.object()) || isTerminating(record->object()))
    return std::nullopt;
  const Json* wanted = at(deployment.object(), {"spec", "replicas"});
  const Json* present = at(record->object(), {"spec", "replicas"});
  if (wanted == nullptr || present == nullptr || *wanted != *present) return std::nullopt;
  return updateTo({deployment.plane, record, replicaSet},
                  followingReplicaSet(deployment.object(), record->object()), "", user);
}

std::optional<Mutation> deploymentWrite(const Subject& subject) {
  const std::vector<Slot>& children = subject.info().children;
  if (children.empty() || !subject.live().object(children.front()).present()) return std::nullopt;
  const std::string& replicaSet = subject.live().model().slots[children.front()].key.name;
  const UserInfo user =
      controllerUser(kube::findWorkloadType(kube::kDeployments)->controller, subject.plane.kubernetes());
  const bool isKnown =
      at(subject.object(), {"metadata", "annotations", "deployment.kubernetes.io/revision"}) != nullptr;
  if (!isKnown) {
    return updateTo(subject, withNewReplicaSet(subject.object(), replicaSet, 1, subject.plane.now()),
                    "status", user);
  }
  if (auto annotated = annotationWrite(subject, children.front(), user)) return annotated;
  const ReplicaCounts counts = countsOf(subject, children.front());
  return updateTo(subject, observedDeployment(subject.object(), replicaSet, counts, subject.plane.now()),
                  "status", user);
}

std::optional<Mutation> workloadWrite(const Subject& subject) {
  const UserInfo user =
      controllerUser(kube::findWorkloadType(subject.info().key.type)->controller, subject.plane.kubernetes());
  const ReplicaCounts counts = countsOf(subject, subject.slot);
  switch (subject.info().kind) {
    case SlotKind::StatefulSet:
      return updateTo(subject, observedStatefulSet(subject.object(), subject.info().key.name, counts),
                      "status", user);
    case SlotKind::DaemonSet:
      return updateTo(subject, observedDaemonSet(subject.object(), 1, counts), "status", user);
    default:
      return updateTo(subject, observedReplicaSet(subject.object(), counts), "status", user);
  }
}

// --- namespaces

// What is left, once everything was asked to go or refused; nothing before that. A type whose deletion was
// refused is told with its first refusal alone, as it ends the deletion of that collection. While it waits
// for Pods the namespace controller has not looked at anything, and says that nothing is left.
std::optional<NamespaceContent> remainingContent(const Subject& subject) {
  subject.plane.mutex.assertHeld();
  std::map<kube::GroupResource, int64_t> types;
  std::map<std::string, int64_t> finalizers;
  std::map<kube::GroupResource, std::string> failures;
  const bool awaitsPods = subject.live().awaitsPods(subject.slot);
  for (const Slot slot : subject.info().content) {
    const cluster::ObjectState state = subject.live().object(slot);
    const kube::ObjectKey& key = subject.live().model().slots[slot].key;
    if (!state.present() || (awaitsPods && (key.type != kube::kPods || !state.live()))) continue;
    if (state.live()) {
      const auto refused = subject.plane.refusedContent.find(key);
      if (refused == subject.plane.refusedContent.end()) return std::nullopt;
      failures.try_emplace(key.type, refused->second);
      continue;
    }
    ++types[key.type];
    for (const std::string& finalizer : subject.live().finalizers(slot)) ++finalizers[finalizer];
  }
  NamespaceContent content;
  for (const auto& [type, why] : failures) content.failures.push_back(why);
  for (const auto& [type, count] : types) {
    if (!failures.contains(type)) content.remaining.push_back({type, count});
  }
  for (const auto& [name, count] : finalizers) content.finalizers.push_back({name, count});
  return content;
}

// In the words of client-go's discovery.
std::vector<std::string> undiscovered(const ControlPlane& plane) LASTOUT_REQUIRES(plane.mutex) {
  std::vector<std::string> versions;
  for (const auto& [name, api] : plane.aggregatedApis) {
    if (api.answers) continue;
    const std::string version = api.group + "/" + api.version;
    versions.push_back(version + ": " +
                       (kube::aggregatesDiscovery(plane.kubernetes())
                            ? "stale GroupVersion discovery: " + version
                            : "the server is currently unable to handle the request"));
  }
  return versions;
}

std::optional<Mutation> namespaceWrite(const Subject& subject) {
  subject.plane.mutex.assertHeld();
  const std::string& name = subject.record->key().name;
  if (isTerminating(subject.object())) {
    std::optional<NamespaceContent> content = remainingContent(subject);
    if (!content) return std::nullopt;
    content->undiscovered = undiscovered(subject.plane);
    return updateTo(subject, terminatingNamespace(subject.object(), *content, subject.plane.now()), "status",
                    controllerUser("namespace-controller", subject.plane.kubernetes()));
  }
  if (auto account =
          creationOf(subject.plane, {kube::kServiceAccounts, name, "default"}, defaultServiceAccount(name),
                     controllerUser("service-account-controller", subject.plane.kubernetes())))
    return account;
  return creationOf(subject.plane, {kube::kConfigMaps, name, std::string(kube::kRootCaConfigMap)},
                    rootCertificates(name, subject.plane.certificates),
                    controllerUser("root-ca-cert-publisher", subject.plane.kubernetes()));
}

// --- CustomResourceDefinitions

bool areNamesAccepted(const Json& crd) {
  const Json* status = at(crd, {"status"});
  const Json* accepted = status == nullptr ? nullptr : findCondition(*status, "NamesAccepted");
  return accepted != nullptr && stringAt(*accepted, {"status"}) == "True";
}

std::optional<Mutation> crdWrite(const Subject& subject) {
  subject.plane.mutex.assertHeld();
  const std::string now = subject.plane.now();
  if (isTerminating(subject.object()))
    return updateTo(subject, crdInCleanup(subject.object(), now), "status", apiserverUser());
  if (const auto taken = subject.types().takenName(subject.object()))
    return updateTo(subject, crdWithTakenName(subject.object(), *taken, now), "status", apiserverUser());
  if (!areNamesAccepted(subject.object()))
    return updateTo(subject, acceptedCrd(subject.object(), now), "status", apiserverUser());
  if (auto established = updateTo(subject, establishedCrd(subject.object(), now), "status", apiserverUser()))
    return established;
  const std::string group(stringAt(subject.object(), {"spec", "group"}));
  const auto served = servedTypesOf(subject.object());
  if (!served) return std::nullopt;
  for (const ServedType& type : *served) {
    if (auto service = creationOf(subject.plane, {kube::kApiServices, "", type.version + "." + group},
                                  apiServiceOf(group, type.version), apiserverUser()))
      return service;
  }
  return std::nullopt;
}

// --- APIServices

bool isReadyPodOf(const Json& service, const Json& pod) {
  const Json* selector = at(service, {"spec", "selector"});
  const Json* status = at(pod, {"status"});
  const Json* ready = status == nullptr ? nullptr : findCondition(*status, "Ready");
  if (selector == nullptr || ready == nullptr || stringAt(*ready, {"status"}) != "True" ||
      at(pod, {"metadata", "deletionTimestamp"}) != nullptr)
    return false;
  return std::ranges::all_of(selector->items(), [&pod](const auto& label) {
    const Json* its = at(pod, {"metadata", "labels", label.key()});
    return its != nullptr && *its == label.value();
  });
}

std::optional<Mutation> apiServiceWrite(const Subject& subject) {
  subject.plane.mutex.assertHeld();
  const auto found = subject.plane.aggregatedApis.find(subject.record->key().name);
  if (found == subject.plane.aggregatedApis.end()) return std::nullopt;
  const RecordRef service = subject.storage().find(found->second.service);
  const bool hasReadyPod =
      service != nullptr &&
      std::ranges::any_of(
          subject.storage().list(kube::kPods, service->key().namespaceName),
          [&](const RecordRef& pod) { return isReadyPodOf(service->object(), pod->object()); });
  return updateTo(subject,
                  observedApiService(subject.object(), service == nullptr ? nullptr : &service->object(),
                                     hasReadyPod, subject.plane.now()),
                  "status", apiserverUser());
}

// --- CustomResourceDefinitions that are gone, or wait

// A CRD whose names another one had, and that may have them now.
std::optional<Mutation> waitingCrdWrite(ControlPlane& plane, std::string_view group)
    LASTOUT_REQUIRES(plane.mutex) {
  for (const RecordRef& record : plane.storage.list(kube::kCustomResourceDefinitions, "")) {
    const Json& crd = record->object();
    const std::optional<Slot> slot = plane.live.find(record->key());
    if (!slot || stringAt(crd, {"spec", "group"}) != group || isTerminating(crd) || areNamesAccepted(crd) ||
        plane.types.takenName(crd))
      continue;
    return updateTo({plane, record, *slot}, acceptedCrd(crd, plane.now()), "status", apiserverUser());
  }
  return std::nullopt;
}

// The APIServices of a CRD that is gone go, unless another one has the same group and version.
std::optional<Mutation> crdGoneWrite(ControlPlane& plane, const kube::ObjectKey& crd)
    LASTOUT_REQUIRES(plane.mutex) {
  const std::string group = crd.name.substr(std::min(crd.name.find('.'), crd.name.size() - 1) + 1);
  if (auto accepted = waitingCrdWrite(plane, group)) return accepted;
  for (const RecordRef& record : plane.storage.list(kube::kApiServices, "")) {
    const std::string_view version = stringAt(record->object(), {"spec", "version"});
    if (stringAt(record->object(), {"spec", "group"}) != group ||
        !plane.types.typesOf(group, version).empty())
      continue;
    Mutation mutation;
    mutation.operation = Mutation::Operation::Delete;
    mutation.key = record->key();
    mutation.type = plane.types.findPreferred(kube::kApiServices);
    mutation.before = record;
    DeleteOptions options;
    options.uid = stringAt(record->object(), {"metadata", "uid"});
    mutation.options = options.asGiven();
    mutation.user = apiserverUser();
    return mutation;
  }
  return std::nullopt;
}

// --- works

std::vector<AppliedObject> appliedObjects(const Subject& subject, const cluster::Work& work,
                                          const Json& manifestWork) {
  std::vector<AppliedObject> objects;
  const cluster::Model& model = subject.live().model();
  for (const auto& [key, manifest] : manifestsOf(manifestWork, subject.types().resources())) {
    const ServedTypePointer type = subject.types().findPreferred(key.type);
    if (type == nullptr) continue;
    AppliedObject object{
        key.type.group, type->version, key.type.resource, type->kind, key.namespaceName, key.name, {}, {}};
    for (uint32_t link = work.firstLink; link < work.firstLink + work.linkCount; ++link) {
      const Slot slot = model.links[link].object;
      if (model.slots[slot].key == key && subject.live().state().link(link).recorded)
        object.uid = subject.live().uid(slot);
    }
    objects.push_back(std::move(object));
  }
  return objects;
}

std::optional<Mutation> workWrite(const Subject& subject) {
  if (subject.info().work == cluster::kNone) return std::nullopt;
  const cluster::Work& work = subject.live().model().works[subject.info().work];
  const RecordRef manifestWork = subject.storage().find(subject.live().model().slots[work.manifestWork].key);
  if (manifestWork == nullptr) return std::nullopt;
  std::vector<AppliedObject> objects = appliedObjects(subject, work, manifestWork->object());
  if (subject.info().kind == SlotKind::AppliedManifestWork) {
    std::erase_if(objects, [](const AppliedObject& object) { return object.uid.empty(); });
    return updateTo(subject, withAppliedResources(subject.object(), std::move(objects)), "status",
                    agentUser());
  }
  if (work.applied == cluster::kNone || !subject.live().object(work.applied).present()) return std::nullopt;
  std::vector<bool> available;
  available.reserve(objects.size());
  for (const AppliedObject& object : objects) {
    available.push_back(subject.storage().find(
                            {{object.group, object.resource}, object.namespaceName, object.name}) != nullptr);
  }
  Json after = subject.object();
  if (!isTerminating(after)) after = withApplied(std::move(after), objects, subject.plane.now());
  return updateTo(subject, withAvailability(std::move(after), available, subject.plane.now()), "status",
                  agentUser());
}

using WriteFinder = std::optional<Mutation> (*)(const Subject&);

struct TypeWrite {
  kube::GroupResource type;
  WriteFinder find;
};

const std::array<TypeWrite, 9>& typeWrites() {
  static const std::array<TypeWrite, 9> kControllerWrites = {{
      {kube::kDeployments, deploymentWrite},
      {kube::kReplicaSets, workloadWrite},
      {kube::kStatefulSets, workloadWrite},
      {kube::kDaemonSets, workloadWrite},
      {kube::kNamespaces, namespaceWrite},
      {kube::kCustomResourceDefinitions, crdWrite},
      {kube::kApiServices, apiServiceWrite},
      {manifestwork::manifestWorkType(), workWrite},
      {manifestwork::appliedManifestWorkType(), workWrite},
  }};
  return kControllerWrites;
}

WriteFinder writeFor(const kube::GroupResource& type) {
  const auto found = std::ranges::find(typeWrites(), type, &TypeWrite::type);
  return found == typeWrites().end() ? nullptr : found->find;
}

}  // namespace

bool hasControllerWrites(const kube::GroupResource& type) { return writeFor(type) != nullptr; }

std::optional<Mutation> controllerWriteOf(ControlPlane& plane, const kube::ObjectKey& key) {
  const RecordRef record = plane.storage.find(key);
  const std::optional<Slot> slot = plane.live.find(key);
  const WriteFinder find = writeFor(key.type);
  if (record == nullptr && find == crdWrite) return crdGoneWrite(plane, key);
  if (record == nullptr || !slot || find == nullptr) return std::nullopt;
  return find({plane, record, *slot});
}

}  // namespace lastout::simulator

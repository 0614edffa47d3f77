// What Kubernetes makes of a workload by itself: a Deployment's ReplicaSet, and Pods; and what uses claims
// and volumes.
#include <algorithm>
#include <charconv>
#include <tuple>

#include "cluster/builder.h"
#include "criticalservice/pod_needs.h"
#include "kube/encoding.h"
#include "kube/pods.h"
#include "kube/well_known.h"

namespace lastout::cluster {

namespace {

// Kubernetes' alphabet for generated names: no vowels, nothing that looks like something else.
constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";

// A stable stand-in for the random and hashed parts of generated names.
std::string suffix(std::string_view of, size_t number, size_t length) {
  uint64_t hash = kube::stableHash(of, kube::kHashBasis ^ number);
  std::string result;
  for (size_t i = 0; i < length; ++i) {
    result += kAlphabet[hash % kAlphabet.size()];
    hash /= kAlphabet.size();
  }
  return result;
}

// A new slot behind all others, for something derived.
Slot appendSlot(Model& model, const kube::ObjectKey& key, SlotKind kind, bool present) {
  const auto slot = static_cast<Slot>(model.slots.size());
  SlotInfo info;
  info.key = key;
  info.kind = kind;
  info.presentAtStart = present;
  info.forms.emplace_back();
  model.slots.push_back(std::move(info));
  model.byKey.emplace(key, slot);
  return slot;
}

void addReplicaSet(Builder& builder, Slot deployment) {
  Model& model = builder.model;
  const kube::ObjectKey childKey = childKeyOf(model.slots[deployment], 0);
  const bool present = model.slots[deployment].presentAtStart && !model.slots[deployment].terminatingAtStart;
  const uint8_t replicas = model.slots[deployment].valueAtCreation;
  const Slot child = appendSlot(model, childKey, SlotKind::ReplicaSet, present);
  builder.sources.push_back(nullptr);
  model.slots[child].valueAtCreation = replicas;
  addOwner(model, child, {.owner = deployment, .controller = true, .blockOwnerDeletion = true}, true);
  model.slots[deployment].children.push_back(child);
}

// How many Pods a Job runs at once: none while it is suspended, or once it has ended.
uint8_t parallelismOf(Builder& builder, Slot job, const kube::Value& content) {
  if (kube::isSuspended(content) || kube::hasEnded(content)) return 0;
  int64_t pods = 1;
  const kube::Value* completions = content.at({"spec", "completions"});
  for (const kube::Value* field : {content.at({"spec", "parallelism"}), completions}) {
    if (field == nullptr || field->asInteger() == nullptr) continue;
    pods = field == completions ? std::min(pods, *field->asInteger()) : *field->asInteger();
  }
  if (pods >= 0 && pods <= static_cast<int64_t>(kMaxReplicas)) return static_cast<uint8_t>(pods);
  builder.fail(job, "needs spec.parallelism from 0 to " + std::to_string(kMaxReplicas));
  return 1;
}

uint8_t replicasOf(Builder& builder, Slot workload) {
  const kube::Value* content = builder.content(workload);
  if (content == nullptr) return 1;
  const SlotKind kind = builder.model.slots[workload].kind;
  if (kind == SlotKind::DaemonSet || kind == SlotKind::CronJob) return 1;  // one node; not asked for
  if (kind == SlotKind::Job) return parallelismOf(builder, workload, *content);
  const kube::Value* field = content->at({"spec", "replicas"});
  if (field == nullptr) return 1;
  const int64_t* replicas = field->asInteger();
  if (replicas == nullptr || *replicas < 0 || *replicas > static_cast<int64_t>(kMaxReplicas)) {
    builder.fail(workload, "needs spec.replicas from 0 to " + std::to_string(kMaxReplicas));
    return 1;
  }
  return static_cast<uint8_t>(*replicas);
}

SlotKind childKindOf(SlotKind workload) {
  if (workload == SlotKind::Deployment) return SlotKind::ReplicaSet;
  return workload == SlotKind::CronJob ? SlotKind::Job : SlotKind::Pod;
}

// Children that the manifests themselves bring along: those that name the workload as their controller.
void takeGivenChildren(Builder& builder, Slot workload) {
  Model& model = builder.model;
  for (Slot dependent : model.slots[workload].dependents) {
    const SlotKind kind = model.slots[dependent].kind;
    const std::vector<OwnerLink>& owners = model.slots[dependent].owners;
    const bool controlled = std::any_of(owners.begin(), owners.end(), [&](const OwnerLink& link) {
      return link.owner == workload && link.controller;
    });
    if (controlled && kind == childKindOf(model.slots[workload].kind))
      model.slots[workload].children.push_back(dependent);
  }
}

// The number that a Deployment gives its ReplicaSets, highest last; -1 where there is none.
int64_t revisionOf(const Builder& builder, Slot replicaSet) {
  const kube::Object* source = builder.sources[replicaSet];
  if (source == nullptr) return -1;
  const auto found = source->meta.annotations.find("deployment.kubernetes.io/revision");
  if (found == source->meta.annotations.end()) return -1;
  int64_t revision = -1;
  const char* end = found->second.data() + found->second.size();
  std::from_chars(found->second.data(), end, revision);
  return revision;
}

// A Deployment's current ReplicaSet comes first: of those there, the highest revision, or the one with the
// Deployment's replicas, or with the most.
void putCurrentFirst(Builder& builder, Slot deployment) {
  const Model& model = builder.model;
  const auto rank = [&](Slot slot) {
    const SlotInfo& info = model.slots[slot];
    const bool matches = info.valueAtCreation == model.slots[deployment].valueAtCreation;
    return std::tuple(info.presentAtStart && !info.terminatingAtStart, revisionOf(builder, slot), matches,
                      info.valueAtCreation);
  };
  std::vector<Slot>& children = builder.model.slots[deployment].children;
  const auto current =
      std::max_element(children.begin(), children.end(), [&](Slot a, Slot b) { return rank(a) < rank(b); });
  if (current != children.end()) std::rotate(children.begin(), current, current + 1);
}

// The finalizers that a workload's Pod template gives its Pods; a ReplicaSet that is not in the files has the
// template of its Deployment.
std::vector<std::string> podFinalizersOf(const Builder& builder, Slot workload) {
  const SlotInfo& info = builder.model.slots[workload];
  if (const kube::Value* content = builder.content(workload))
    return criticalservice::textsAt(*content, {"spec", "template", "metadata", "finalizers"});
  const auto owner = std::ranges::find_if(info.owners, &OwnerLink::controller);
  const bool hasOwner = owner != info.owners.end() && owner->owner != kNone;
  return hasOwner ? podFinalizersOf(builder, owner->owner) : std::vector<std::string>();
}

// The claim that a StatefulSet makes from one of its templates for one of its Pods, if no file has it.
void addClaim(Builder& builder, Slot set, const kube::Value& claimTemplate, Slot pod) {
  Model& model = builder.model;
  const kube::ObjectKey key{
      kube::kPersistentVolumeClaims, model.slots[set].key.namespaceName,
      kube::textAt(claimTemplate, {"metadata", "name"}) + "-" + model.slots[pod].key.name};
  if (const auto given = model.find(key)) {
    model.slots[*given].children.push_back(pod);
    return;
  }
  const Slot claim = appendSlot(model, key, SlotKind::PersistentVolumeClaim, model.slots[pod].presentAtStart);
  builder.sources.resize(model.slots.size(), nullptr);
  SlotInfo& info = model.slots[claim];
  info.forms.front().labels = criticalservice::labelsAt(claimTemplate, {"metadata", "labels"});
  addCleanup(info);
  addFinalizers(builder, claim, criticalservice::textsAt(claimTemplate, {"metadata", "finalizers"}));
  if (deletesClaims(*builder.content(set))) {
    const bool controls = kube::controlsClaimsOfStatefulSets(model.kubernetes);
    addOwner(model, claim, {.owner = set, .controller = controls, .blockOwnerDeletion = controls}, true);
  }
  model.slots[claim].children.push_back(pod);
}

// Claims of what a StatefulSet runs at the start; Pods that the files have name their claims themselves.
void deriveClaims(Builder& builder, Slot set) {
  const kube::Value* content = builder.content(set);
  if (content == nullptr || builder.model.slots[set].kind != SlotKind::StatefulSet) return;
  const std::vector<Slot> pods = builder.model.slots[set].children;
  for (const kube::Value& claimTemplate : kube::listAt(*content, {"spec", "volumeClaimTemplates"})) {
    for (const Slot pod : pods) {
      const bool isDerived = builder.sources[pod] == nullptr;
      if (isDerived && builder.model.slots[pod].presentAtStart) addClaim(builder, set, claimTemplate, pod);
    }
  }
}

}  // namespace

bool deletesClaims(const kube::Value& statefulSet) {
  return kube::textAt(statefulSet, {"spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted"}) ==
         "Delete";
}

std::vector<Slot> podsOf(const Model& model, Slot workload) {
  const SlotInfo& info = model.slots[workload];
  if (!runsWorkloads(info.kind)) return info.children;
  std::vector<Slot> pods;
  for (Slot child : info.children) {
    const std::vector<Slot>& more = model.slots[child].children;
    pods.insert(pods.end(), more.begin(), more.end());
  }
  return pods;
}

bool hasReplicas(SlotKind kind) {
  return kind == SlotKind::Deployment || kind == SlotKind::ReplicaSet || kind == SlotKind::StatefulSet;
}

bool isWorkload(SlotKind kind) {
  return hasReplicas(kind) || kind == SlotKind::DaemonSet || kind == SlotKind::Job ||
         kind == SlotKind::CronJob;
}

bool runsWorkloads(SlotKind kind) { return kind == SlotKind::Deployment || kind == SlotKind::CronJob; }

kube::ObjectKey childKeyOf(const SlotInfo& workload, size_t number) {
  const kube::ObjectKey& key = workload.key;
  const std::string prefix = key.name + "-";
  if (workload.kind == SlotKind::Deployment)
    return {kube::kReplicaSets, key.namespaceName, prefix + suffix(key.name, number, 10)};
  const bool counts = workload.kind == SlotKind::StatefulSet;
  return {kube::kPods, key.namespaceName,
          prefix + (counts ? std::to_string(number) : suffix(key.name, number, 5))};
}

void addPods(Model& model, Slot workload, size_t count, size_t present) {
  for (size_t i = model.slots[workload].children.size(); i < count; ++i) {
    const Slot pod = appendSlot(model, childKeyOf(model.slots[workload], i), SlotKind::Pod, i < present);
    addOwner(model, pod, {.owner = workload, .controller = true, .blockOwnerDeletion = true}, true);
    model.slots[workload].children.push_back(pod);
  }
}

namespace {

// Returns true for a Pod without owner that has run to its end: a workload replaces its own.
bool hasStoppedForGood(const Builder& builder, Slot slot) {
  const kube::Object* source = builder.sources[slot];
  return builder.model.slots[slot].kind == SlotKind::Pod && source != nullptr &&
         source->meta.ownerReferences.empty() &&
         kube::isFinalPhase(kube::textAt(source->content, {"status", "phase"}));
}

}  // namespace

void deriveChildren(Builder& builder) {
  Model& model = builder.model;
  const size_t given = model.slots.size();
  for (Slot slot = 0; slot < given; ++slot) {
    if (isWorkload(model.slots[slot].kind)) model.slots[slot].valueAtCreation = replicasOf(builder, slot);
    model.slots[slot].hasStoppedAtStart = hasStoppedForGood(builder, slot);
  }
  for (Slot slot = 0; slot < given; ++slot) {
    if (!isWorkload(model.slots[slot].kind)) continue;
    takeGivenChildren(builder, slot);
    if (model.slots[slot].kind != SlotKind::Deployment) continue;
    putCurrentFirst(builder, slot);
    if (model.slots[slot].children.empty()) addReplicaSet(builder, slot);
  }
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    const SlotKind kind = model.slots[slot].kind;
    if (!isWorkload(kind) || runsWorkloads(kind)) continue;
    const bool present = model.slots[slot].presentAtStart && !model.slots[slot].terminatingAtStart;
    const size_t replicas = model.slots[slot].valueAtCreation;
    // One at least, absent: what it mounts and who intercepts it is then known of those that a step adds.
    addPods(model, slot, std::max<size_t>(replicas, 1), present ? replicas : 0);
    builder.sources.resize(model.slots.size(), nullptr);
    const std::vector<std::string> finalizers = podFinalizersOf(builder, slot);
    for (const Slot pod : std::vector<Slot>(model.slots[slot].children)) {
      if (builder.sources[pod] == nullptr) addFinalizers(builder, pod, finalizers);
    }
    model.slots[slot].podFinalizers = finalizers;
    deriveClaims(builder, slot);
  }
}

std::vector<kube::MountedClaim> mountedClaims(const kube::Value& content, SlotKind kind,
                                              std::string_view pod) {
  return kube::claimsOf(
      kind == SlotKind::Pod ? content.find("spec") : content.at({"spec", "template", "spec"}), pod);
}

namespace {

bool controls(const Model& model, Slot owner, Slot dependent) {
  return std::ranges::any_of(model.slots[dependent].owners,
                             [&](const OwnerLink& link) { return link.controller && link.owner == owner; });
}

void mountClaimsOf(Model& model, Slot pod, const std::vector<kube::MountedClaim>& claims) {
  for (const kube::MountedClaim& mounted : claims) {
    const auto claim =
        model.find({kube::kPersistentVolumeClaims, model.slots[pod].key.namespaceName, mounted.name});
    if (claim && (!mounted.isEphemeral || controls(model, pod, *claim)))
      model.slots[*claim].children.push_back(pod);
  }
}

}  // namespace

void mountClaims(Builder& builder) {
  Model& model = builder.model;
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    const kube::Value* content = builder.content(slot);
    const SlotKind kind = model.slots[slot].kind;
    if (content == nullptr || (!isWorkload(kind) && kind != SlotKind::Pod)) continue;
    const std::vector<Slot> pods = kind == SlotKind::Pod ? std::vector<Slot>{slot} : podsOf(model, slot);
    for (const Slot pod : pods)
      mountClaimsOf(model, pod, mountedClaims(*content, kind, model.slots[pod].key.name));
  }
}

void bindVolumes(Builder& builder) {
  Model& model = builder.model;
  const auto boundTo = [&](Slot slot, auto otherOf) {
    const kube::Value* content = builder.content(slot);
    return content == nullptr ? std::nullopt : otherOf(*content);
  };
  for (Slot volume = 0; volume < model.slots.size(); ++volume) {
    SlotInfo& info = model.slots[volume];
    const kube::Value* content = builder.content(volume);
    if (info.kind != SlotKind::PersistentVolume || (content != nullptr && kube::isReleased(*content)))
      continue;
    const auto claimOfVolume = boundTo(volume, kube::claimOf);
    for (Slot claim = 0; claim < model.slots.size(); ++claim) {
      if (model.slots[claim].kind != SlotKind::PersistentVolumeClaim) continue;
      const auto volumeOfClaim = boundTo(claim, kube::volumeOf);
      if (kube::isBound(model.slots[claim].key, volumeOfClaim, info.key, claimOfVolume))
        info.children.push_back(claim);
    }
  }
}

}  // namespace lastout::cluster

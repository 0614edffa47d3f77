// What Kubernetes makes of a workload by itself: a Deployment's ReplicaSet, and Pods; and what uses claims
// and volumes.
#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <tuple>

#include "cluster/builder.h"
#include "criticalservice/pod_needs.h"
#include "kube/encoding.h"
#include "kube/pods.h"
#include "kube/well_known.h"

namespace lastout::cluster {

const int64_t* integerAt(const kube::Value& content, std::initializer_list<std::string_view> path) {
  const kube::Value* value = content.at(path);
  return value == nullptr ? nullptr : value->asInteger();
}

namespace {

// Kubernetes' alphabet for generated names: no vowels, nothing that looks like something else.
constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";

// A CronJob names a Job by the minute for which it is made, since the epoch.
constexpr size_t kSomeMinute = 29'000'000;

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

// The Job that a CronJob makes next: it counts as there from the start, unless another one runs.
void addJob(Builder& builder, Slot cronJob) {
  Model& model = builder.model;
  const bool present = model.slots[cronJob].presentAtStart && !model.slots[cronJob].terminatingAtStart &&
                       model.slots[cronJob].children.empty();
  const Slot job = appendSlot(model, childKeyOf(model.slots[cronJob], 0), SlotKind::Job, present);
  builder.sources.push_back(nullptr);
  model.slots[job].valueAtCreation = 1;
  model.slots[job].forms.front().labels =
      criticalservice::labelsAt(*builder.content(cronJob), {"spec", "jobTemplate", "metadata", "labels"});
  addOwner(model, job, {.owner = cronJob, .controller = true, .blockOwnerDeletion = true}, true);
  std::vector<Slot>& children = model.slots[cronJob].children;
  children.insert(children.begin(), job);
}

// How many Pods a Job has still to run, by its status. A Job without spec.completions makes no more Pods once
// one has succeeded.
int64_t podsLeftOf(const kube::Value& job) {
  const int64_t* completions = integerAt(job, {"spec", "completions"});
  const int64_t* succeeded = integerAt(job, {"status", "succeeded"});
  if (succeeded == nullptr || *succeeded <= 0)
    return completions == nullptr ? std::numeric_limits<int64_t>::max() : *completions;
  if (completions != nullptr) return std::max<int64_t>(*completions - *succeeded, 0);
  const int64_t* active = integerAt(job, {"status", "active"});
  return active == nullptr ? 0 : std::max<int64_t>(*active, 0);
}

// How many Pods a Job runs at once: none while it is suspended, or once it has ended.
uint8_t parallelismOf(Builder& builder, Slot job, const kube::Value& content) {
  if (kube::isSuspended(content) || kube::hasEnded(content)) return 0;
  const int64_t* parallelism = integerAt(content, {"spec", "parallelism"});
  const int64_t pods = std::min(parallelism == nullptr ? 1 : *parallelism, podsLeftOf(content));
  if (pods >= 0 && pods <= static_cast<int64_t>(kMaxReplicas)) return static_cast<uint8_t>(pods);
  builder.fail(job, "needs spec.parallelism from 0 to " + std::to_string(kMaxReplicas));
  return 1;
}

// The Jobs of a CronJob are followed where it matters that it makes some.
bool makesJobs(const Builder& builder, Slot cronJob, const kube::Value& content) {
  const kube::ObjectKey& key = builder.model.slots[cronJob].key;
  return !kube::isSuspended(content) &&
         std::ranges::any_of(builder.input.usedCronJobs,
                             [&](const kube::ObjectPattern& used) { return used.matches(key); });
}

uint8_t replicasOf(Builder& builder, Slot workload) {
  const kube::Value* content = builder.content(workload);
  if (content == nullptr) return 1;
  const SlotKind kind = builder.model.slots[workload].kind;
  if (kind == SlotKind::DaemonSet) return 1;  // one node
  if (kind == SlotKind::CronJob) return makesJobs(builder, workload, *content) ? 1 : 0;
  if (kind == SlotKind::Job) return parallelismOf(builder, workload, *content);
  const kube::Value* field = content->at({"spec", "replicas"});
  if (field == nullptr || field->isNull()) return 1;
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

// Children that the manifests themselves bring along: those that name the workload as their controller. What
// has stopped for good is none: the workload neither counts nor deletes it.
void takeGivenChildren(Builder& builder, Slot workload) {
  Model& model = builder.model;
  for (Slot dependent : model.slots[workload].dependents) {
    const SlotKind kind = model.slots[dependent].kind;
    const std::vector<OwnerLink>& owners = model.slots[dependent].owners;
    const bool controlled = std::any_of(owners.begin(), owners.end(), [&](const OwnerLink& link) {
      return link.owner == workload && link.controller;
    });
    if (controlled && kind == childKindOf(model.slots[workload].kind) &&
        !model.slots[dependent].hasStoppedAtStart)
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

// The finalizers that a workload's Pod template gives its Pods.
std::vector<std::string> podFinalizersOf(const Builder& builder, Slot workload) {
  const kube::Value* made = podTemplateOf(builder, workload);
  return made == nullptr ? std::vector<std::string>()
                         : criticalservice::textsAt(*made, {"metadata", "finalizers"});
}

// The claim that a StatefulSet makes from one of its templates for one of its Pods, if no file has it.
void addClaim(Builder& builder, Slot set, const kube::Value& claimTemplate, Slot pod) {
  Model& model = builder.model;
  const kube::ObjectKey key{
      kube::kPersistentVolumeClaims, model.slots[set].key.namespaceName,
      kube::textAt(claimTemplate, {"metadata", "name"}) + "-" + model.slots[pod].key.name};
  if (const auto given = model.find(key)) {
    mountClaim(model, *given, pod);
    return;
  }
  const Slot claim = appendSlot(model, key, SlotKind::PersistentVolumeClaim, model.slots[pod].presentAtStart);
  builder.sources.resize(model.slots.size(), nullptr);
  SlotInfo& info = model.slots[claim];
  info.forms.front().labels = claimLabelsOf(*builder.content(set), claimTemplate);
  addCleanup(info);
  addFinalizers(builder, claim, criticalservice::textsAt(claimTemplate, {"metadata", "finalizers"}));
  if (deletesClaims(*builder.content(set))) {
    const bool controls = kube::controlsClaimsOfStatefulSets(model.kubernetes);
    addOwner(model, claim, {.owner = set, .controller = controls, .blockOwnerDeletion = controls}, true);
  }
  mountClaim(model, claim, pod);
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
  if (workload.kind == SlotKind::CronJob)
    return {kube::kJobs, key.namespaceName, prefix + std::to_string(kSomeMinute + number)};
  const bool counts = workload.kind == SlotKind::StatefulSet;
  return {kube::kPods, key.namespaceName,
          prefix + (counts ? std::to_string(workload.firstOrdinal + number) : suffix(key.name, number, 5))};
}

namespace {

// A Pod in the files is one of its workload's, too.
void addOnce(std::vector<Slot>& slots, Slot slot) {
  if (std::ranges::find(slots, slot) == slots.end()) slots.push_back(slot);
}

}  // namespace

void mountClaim(Model& model, Slot claim, Slot pod) {
  addOnce(model.slots[claim].children, pod);
  addOnce(model.slots[pod].claims, claim);
}

void addPods(Model& model, Slot workload, size_t count, size_t present) {
  size_t number = model.slots[workload].children.size();
  for (size_t i = number; i < count; ++i, ++number) {
    // A Pod that has finished may have the name; a StatefulSet's are children.
    while (model.slots[workload].kind != SlotKind::StatefulSet &&
           model.find(childKeyOf(model.slots[workload], number)))
      ++number;
    const Slot pod = appendSlot(model, childKeyOf(model.slots[workload], number), SlotKind::Pod, i < present);
    labelPod(model, workload, pod, model.slots[workload].firstOrdinal + number);
    addOwner(model, pod, {.owner = workload, .controller = true, .blockOwnerDeletion = true}, true);
    model.slots[workload].children.push_back(pod);
  }
}

namespace {

// Returns true for a Pod that has run to its end and stays, until somebody deletes it: StatefulSets and
// DaemonSets delete their own, and make others.
bool hasStoppedForGood(const Builder& builder, Slot slot) {
  const SlotInfo& info = builder.model.slots[slot];
  const kube::Object* source = builder.sources[slot];
  const auto deletesIt = [&](const OwnerLink& link) {
    if (!link.controller || link.owner == kNone) return false;
    const SlotKind kind = builder.model.slots[link.owner].kind;
    return kind == SlotKind::StatefulSet || kind == SlotKind::DaemonSet;
  };
  return info.kind == SlotKind::Pod && source != nullptr && !info.terminatingAtStart &&
         kube::isFinalPhase(kube::textAt(source->content, {"status", "phase"})) &&
         std::ranges::none_of(info.owners, deletesIt);
}

}  // namespace

void deriveChildren(Builder& builder) {
  Model& model = builder.model;
  const size_t given = model.slots.size();
  for (Slot slot = 0; slot < given; ++slot) {
    if (isWorkload(model.slots[slot].kind)) model.slots[slot].valueAtCreation = replicasOf(builder, slot);
    if (model.slots[slot].kind == SlotKind::StatefulSet && builder.content(slot) != nullptr)
      model.slots[slot].firstOrdinal = kube::firstOrdinalOf(*builder.content(slot));
    model.slots[slot].hasStoppedAtStart = hasStoppedForGood(builder, slot);
  }
  for (Slot slot = 0; slot < given; ++slot) {
    if (!isWorkload(model.slots[slot].kind)) continue;
    takeGivenChildren(builder, slot);
    if (model.slots[slot].kind == SlotKind::CronJob && model.slots[slot].valueAtCreation > 0)
      addJob(builder, slot);
    if (model.slots[slot].kind != SlotKind::Deployment) continue;
    putCurrentFirst(builder, slot);
    if (model.slots[slot].children.empty()) addReplicaSet(builder, slot);
  }
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    const SlotKind kind = model.slots[slot].kind;
    if (!isWorkload(kind) || runsWorkloads(kind)) continue;
    const bool present = model.slots[slot].presentAtStart && !model.slots[slot].terminatingAtStart;
    const size_t replicas = model.slots[slot].valueAtCreation;
    model.slots[slot].podLabels = podLabelsOf(builder, slot);
    if (kind == SlotKind::ReplicaSet && builder.sources[slot] == nullptr)
      model.slots[slot].forms.front().labels = model.slots[slot].podLabels;
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
    if (!claim || (mounted.isEphemeral && !controls(model, pod, *claim))) continue;
    if (mounted.isEphemeral)
      addOnce(model.slots[*claim].children, pod);
    else
      mountClaim(model, *claim, pod);
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
    for (const Slot pod : pods) {
      const kube::Object* source = builder.sources[pod];
      if (source != nullptr && kube::isWithoutNode(*source)) continue;
      mountClaimsOf(model, pod, mountedClaims(*content, kind, model.slots[pod].key.name));
    }
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

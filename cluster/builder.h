// Builder: what build() is made of. Internal to cluster/.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/build.h"
#include "criticalservice/dependencies.h"
#include "kube/pods.h"

namespace lastout::cluster {

// A model while it is being put together. Errors are collected; the model is good when there are none.
struct Builder {
  explicit Builder(const BuildInput& buildInput) : input(buildInput) {}

  const BuildInput& input;
  Model model;
  std::vector<const kube::Object*> sources;   // by slot; nullptr: derived
  criticalservice::FieldsByType askedFields;  // by criteria
  kube::Errors errors;

  // The slot of that name, made if there is none.
  Slot addSlot(const kube::ObjectKey& key, SlotKind kind, const kube::Object* source, bool present);
  void fail(Slot slot, std::string message);
  const kube::Value* content(Slot slot) const;  // nullptr: derived
};

SlotKind kindOf(const kube::GroupResource& type);

// The bit of a finalizer in the slot's vocabulary, the garbage collector's included; 0 when it is not in
// there.
uint16_t knownFinalizerBit(const SlotInfo& slot, std::string_view name);
// Returns the bits of those finalizers of the slot that are meant, by name or by pattern (kube/patterns.h),
// and stand in its metadata.
uint16_t finalizersMeantBy(const SlotInfo& slot, std::string_view named);
// Returns the same bit, and adds the finalizer if it is new; nullopt: the vocabulary is full.
std::optional<uint16_t> finalizerBit(SlotInfo& slot, std::string_view name);
// "more than 14 finalizers", and which of them is not in the manifest.
std::string tooManyFinalizers(const SlotInfo& slot);

// cluster/repeated_manifests.cc: an error where two manifests of one name differ in what the machine uses.
// `isCreated`: the second is what a step creates, and its metadata counts; what a work applies may since have
// got more.
void checkRepeated(Builder& builder, const kube::Object& first, const kube::Object& again, bool isCreated);

// cluster/derive.cc: ReplicaSets, Pods, which Pods mount which claim, and which claim is bound to which
// volume.
void deriveChildren(Builder& builder);
void mountClaims(Builder& builder);
void bindVolumes(Builder& builder);
// Returns true if the claims that the StatefulSet makes are deleted with it.
bool deletesClaims(const kube::Value& statefulSet);
// The claims that the Pod of that name mounts, by a workload's Pod template (or by the Pod itself).
std::vector<kube::MountedClaim> mountedClaims(const kube::Value& content, SlotKind kind,
                                              std::string_view pod);
// Returns the number at the path; nullptr: there is none.
const int64_t* integerAt(const kube::Value& content, std::initializer_list<std::string_view> path);
// cluster/made_labels.cc. Returns the object's manifest or, of what a controller makes and no file has, its
// controller's; nullptr: none is known.
const kube::Object* manifestBehind(const Builder& builder, Slot slot);
// Returns {metadata, spec} from which the workload's Pods are made; nullptr: none is known.
const kube::Value* podTemplateOf(const Builder& builder, Slot workload);
// Returns the labels that all Pods of the workload get.
kube::Labels podLabelsOf(const Builder& builder, Slot workload);
// Gives a Pod these, SlotInfo::podLabels, and its own.
void labelPod(Model& model, Slot workload, Slot pod, size_t ordinal);
kube::Labels claimLabelsOf(const kube::Value& statefulSet, const kube::Value& claimTemplate);
// Notes that the Pod mounts the claim, which was not made for it alone; once.
void mountClaim(Model& model, Slot claim, Slot pod);
// Makes Pods for up to `count` replicas of a workload, the first `present` of them there at start; derived
// slots only.
void addPods(Model& model, Slot workload, size_t count, size_t present);
bool isWorkload(SlotKind kind);
bool runsWorkloads(SlotKind kind);  // its children are workloads themselves: of a Deployment, of a CronJob
// The Pods of a workload, through its ReplicaSets where it has them.
std::vector<Slot> podsOf(const Model& model, Slot workload);
// The name of a workload's child, as Kubernetes makes them: of a Deployment a ReplicaSet's, of a CronJob a
// Job's, else a Pod's.
kube::ObjectKey childKeyOf(const SlotInfo& workload, size_t number);

// cluster/build.cc: the agent deletes in the order of the AppliedManifestWork's status, which is sorted (as
// recorded).
void sortLikeStatus(std::vector<Slot>& objects, const Model& model);
// cluster/extend.cc: which finalizer controllers act on a slot, by its vocabulary.
void findRemovals(Model& model, Slot slot);

// cluster/wire.cc: which objects contain, own and define which.
// The finalizer that the object's own controller puts on it and takes away; "" where there is none, as on a
// ManifestWork that has no agent.
std::string_view cleanupFinalizer(const SlotInfo& slot);
void wireContainers(Builder& builder);
void wireContainer(Model& model, Slot slot);  // one slot, into its namespace and its CRD
void wireOwners(Builder& builder);
void wireFinalizers(Builder& builder);
void addCleanup(SlotInfo& info);  // that of its own controller
// Has the slot's object carry these from its creation on; returns their bits.
uint16_t addFinalizers(Builder& builder, Slot slot, const std::vector<std::string>& names);
// What Pods cannot start without, and what the controllers in them act through.
void wireNeeds(Builder& builder);
// Returns the dependencies of providers that the manifests show.
criticalservice::DependencyFinder whatIsNeeded(const Builder& builder);
// cluster/time_to_live.cc, cluster/work_replica_sets.cc: what is deleted by itself once it has finished, and
// which ManifestWorkReplicaSet made which work.
void wireTimeToLive(Builder& builder);
void wireReplicaSets(Builder& builder);
// cluster/wire_guards.cc: CriticalServices, other people's webhooks, and APIServices.
void wireServices(Builder& builder);
void wireWebhooks(Builder& builder);

// Adds an owner link in both directions. Returns its index; nullopt: the dependent has too many.
std::optional<size_t> addOwner(Model& model, Slot dependent, const OwnerLink& link, bool atCreation);

}  // namespace lastout::cluster

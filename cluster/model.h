// Model: everything about a simulated cluster that does not change while it runs.
//
// The machine's state (state.h) is small because the model holds all that is fixed: which objects can exist
// (slots), which finalizers each can carry, who owns whom, which controllers run, and what clients will ask
// for. A slot is an object's name; it may be deleted and created again, each time with a new uid.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "admission/decide.h"
#include "admission/guards.h"
#include "criticalservice/critical_service.h"
#include "kube/kubernetes_version.h"
#include "kube/object.h"
#include "protection/policy.h"

namespace lastout::cluster {

using Slot = uint32_t;
inline constexpr uint32_t kNone = ~uint32_t{0};

// Limits of the compact state; build() refuses what does not fit.
inline constexpr size_t kMaxFinalizers = 14;  // distinct finalizers one object carries over its life
inline constexpr size_t kMaxOwners = 8;       // owner references of one object
inline constexpr size_t kMaxReplicas = 64;
inline constexpr size_t kMaxForms = 16;   // distinct forms that one object has over its life
inline constexpr size_t kMaxLinks = 250;  // objects that one ManifestWork applies
inline constexpr size_t kMaxMonitors = 63;

// The garbage collector's own finalizers have the same bit in every slot's vocabulary.
inline constexpr uint16_t kForegroundBit = 1u << 14;  // "foregroundDeletion"
inline constexpr uint16_t kOrphanBit = 1u << 15;      // "orphan"

enum class PropagationPolicy : uint8_t { Background, Foreground, Orphan };
// The words of Kubernetes, by the number of the policy.
inline constexpr std::array<std::string_view, 3> kPropagationPolicies{"Background", "Foreground", "Orphan"};
constexpr std::string_view toString(PropagationPolicy policy) {
  return kPropagationPolicies[static_cast<size_t>(policy)];
}
// Returns the policy of that name; nullopt: there is none.
constexpr std::optional<PropagationPolicy> propagationPolicyOf(std::string_view word) {
  for (size_t i = 0; i < kPropagationPolicies.size(); ++i)
    if (kPropagationPolicies[i] == word) return static_cast<PropagationPolicy>(i);
  return std::nullopt;
}

// The types whose objects the machine treats in ways of their own; objects of all other types are Plain. A
// ReplicationController is a ReplicaSet.
enum class SlotKind : uint8_t {
  Plain,
  Namespace,
  Crd,
  Deployment,
  ReplicaSet,
  StatefulSet,
  DaemonSet,
  Job,
  CronJob,
  Pod,
  PersistentVolumeClaim,
  PersistentVolume,
  ManifestWork,
  AppliedManifestWork,
  CriticalService,
  ManifestWorkReplicaSet,
};

// True if spec.replicas says how many children an object of this kind has.
bool hasReplicas(SlotKind kind);

// Returns the policy of a DELETE that names none, if the object's finalizers do not say it either: batch/v1
// orphans the Pods of a Job, and v1 those of a ReplicationController. nullopt: dependents go in the
// background, as of all other types.
std::optional<PropagationPolicy> defaultPolicy(const kube::GroupResource& type);

struct OwnerLink {
  Slot owner = kNone;
  bool controller = false;
  bool blockOwnerDeletion = false;
  // The garbage collector cannot look for it: a type, or a version of it, that no API server serves, or a
  // namespaced owner of a cluster-scoped object. It leaves the dependent alone.
  bool unresolved = false;
};

// Somebody whom the API server calls by way of a Service: for an object's CREATE, UPDATE or DELETE a webhook
// of somebody else with failurePolicy Fail, or one that converts it; or another API server. While what names
// it exists, the call fails unless its Service exists and somebody is behind that.
struct Interception {
  Slot configuration = kNone;      // the webhook configuration, CRD or APIService that names it
  std::string webhook;             // its name in the configuration; empty: it has none
  kube::ObjectKey serviceKey;      // the Service it is reached through
  Slot service = kNone;            // the same; kNone: it is not in the model, so that nobody answers
  std::string unreachable;         // why no call gets to who is behind the Service, as kube::whyUnreachable()
  bool hasOtherEndpoints = false;  // no file has who is behind the Service, who is taken to answer
  std::vector<Slot> workloads;     // what that Service selects
  // The requests for which it is called (kube::ReviewedOperations).
  bool onCreate = false;
  bool onUpdate = false;
  bool onRelease = false;  // the garbage collector's UPDATE
  bool onDelete = false;
  bool onCleanup = false;
  bool onStart = false;
  bool onStop = false;
  bool onCrdCleanup = false;  // a conversion: by the clean-up of the CRD, too (kube::cleanupConverts())
  // For a Namespace: the webhook is called when objects are deleted that Kubernetes itself makes in it
  // (cluster/unwritten.h); `unwritten` lists these. They count as made until the Namespace ends.
  bool onContent = false;
  std::vector<kube::ObjectKey> unwritten = {};
};

// What people and lastout write on an object: its labels, its annotations and, of a custom resource, all
// else.
struct ObjectForm {
  kube::Labels labels;
  kube::Labels annotations;
  std::shared_ptr<const kube::Value> content;  // nullptr: as in its manifest
  bool isRepaired = false;  // lastout has written its labels, and writes them again later (LabelUpkeep)
};

// A patch of that.
struct FormChange {
  std::optional<kube::Labels> labels;           // all that it shall have
  kube::Value merge;                            // a JSON merge patch of the object; null: none
  std::shared_ptr<const kube::Value> manifest;  // of an object whose content it changes
};

// Objects, met while all of one of these are there; empty: never, as nothing in the model is it.
using Ways = std::vector<std::vector<Slot>>;

// The other objects on which it depends whether a controller removes its finalizer from one object.
struct RemovalNeeds {
  struct Need {
    std::string what;  // for messages: what was looked for
    Ways ways;
  };
  std::vector<Need> needs;     // each has to be met
  std::vector<Slot> waitsFor;  // none of these may be there any more
  // The Job whose status is written first, unless it is being deleted; kNone: none.
  Slot reportsTo = kNone;
  // One of these controllers removes the finalizer, and nothing tells which one. So all of them have to be
  // able to. Empty: it is known who removes it.
  std::vector<uint32_t> candidates = {};
};

// A finalizer controller that acts on a slot, and the bit it removes.
struct Removal {
  uint32_t controller = 0;
  uint16_t bit = 0;
  RemovalNeeds needs = {};
  // The request that takes it off: an UPDATE of the object, of namespaces/finalize, or of the status
  // (kube::isRemovedByStatus()).
  bool Interception::*request = &Interception::onUpdate;
  // False: the controller is not among the candidates, and removes nothing.
  bool isCandidate() const {
    return needs.candidates.empty() ||
           std::find(needs.candidates.begin(), needs.candidates.end(), controller) != needs.candidates.end();
  }
};

// How long a Job or a ManifestWork with ttlSecondsAfterFinished stays once it has finished.
struct TimeToLive {
  std::chrono::seconds afterFinished{0};
  bool finishesAnyway = false;  // it has finished at the start, or does so whatever becomes of its Pods
};

struct SlotInfo {
  kube::ObjectKey key;
  SlotKind kind = SlotKind::Plain;
  bool presentAtStart = false;
  Slot namespaceSlot = kNone;  // of a namespaced object whose namespace is in the model
  Slot crd = kNone;            // the CRD that defines its type, if that is in the model
  bool terminatingAtStart = false;
  std::vector<std::string>
      finalizers;  // the vocabulary: bit i of the state is finalizers[i], beside the collector's
  uint16_t finalizersAtCreation = 0;
  uint16_t cleanupBit = 0;  // what its own controller removes: a CRD's clean-up, a Namespace's "kubernetes",
                            // a claim's pvc-protection, a volume's pv-protection, the clean-up of a work or
                            // of a ManifestWorkReplicaSet
  uint16_t namespaceBits = 0;  // Namespace: those of its spec, which /finalize alone takes off
  std::vector<std::string> podFinalizers = {};  // a workload's: those that its Pod template names
  kube::Labels podLabels = {};                  // a workload's: what its Pods get
  std::vector<std::string> references = {};     // as of kube::ObjectMeta
  uint32_t firstOrdinal = 0;                    // StatefulSet: the number of its first Pod
  uint16_t keptBit = 0;     // AppliedManifestWork: lastout's finalizer, where lastout keeps works
  uint16_t heldBit = 0;     // what a CriticalService that says Hold names: lastout's finalizer for that
  uint16_t policyBits = 0;  // the finalizers by which deletion policies hold it
  std::vector<uint32_t>
      followers;  // CriticalServices for whose sake lastout follows its type (admission/guards.h)
  std::vector<uint32_t> peers;    // those of them whose provider is of its type
  std::vector<OwnerLink> owners;  // bit pair i of the state is owners[i]
  uint8_t ownersAtCreation = 0;   // which of them a new object carries
  std::vector<Slot> dependents;   // slots that can name this one as an owner
  std::vector<Slot> content;      // Namespace: objects in it; Crd: objects of its type
  std::vector<Slot> children;   // workloads: ReplicaSet or Pods; ReplicaSet: Pods; claim: Pods that mount it;
                                // volume: claims that are bound to it; Namespace: Pods in it;
                                // ManifestWorkReplicaSet: the ManifestWorks that it made
  uint8_t valueAtCreation = 0;  // workloads: replicas; CriticalService: intent
  bool hasStoppedAtStart = false;  // Pods: as its status.phase says, and nobody makes it again
  std::vector<Interception> interceptions;
  std::vector<Slot> startsWith;  // Pods: what none can start without
  std::vector<Slot> claims;      // Pods: which it mounts, but for those that are made for it
  std::vector<Ways> rights;      // workloads, Pods: their ServiceAccount, its bindings and their roles; of
                                 // bindings that give the same, one
  std::vector<admission::GuardEntry> guardEntries;  // why lastout decides its DELETE; empty: not guarded
  std::vector<ObjectForm> forms;         // the vocabulary of what is written on it; [0] at creation
  uint32_t work = kNone;                 // ManifestWork, AppliedManifestWork: its work
  Slot replicaSet = kNone;               // ManifestWork: the ManifestWorkReplicaSet that made it
  bool waitsForWorks = false;            // ManifestWorkReplicaSet: cascadeDeletionPolicy Foreground
  std::optional<TimeToLive> timeToLive;  // Job, ManifestWork; nullopt: it is not deleted by itself
  uint32_t service = kNone;              // CriticalService: its number in Model::rules
  std::vector<uint32_t> steps;           // client steps that name it
  std::vector<uint32_t> links;           // works' links to it
  std::vector<Removal> removals;         // which finalizer controllers act on it
  std::array<uint8_t, 6> monitors{};     // per EventKind: bit number + 1; 0: not watched
};

// A Namespace's finalizers that stand in its spec: no patch of metadata and no criterion is about these.
inline uint16_t specFinalizers(const SlotInfo& info) {
  return info.kind == SlotKind::Namespace ? static_cast<uint16_t>(info.cleanupBit | info.namespaceBits)
                                          : uint16_t{0};
}

// Returns the names of those finalizers of the slot's vocabulary, the garbage collector's last.
std::vector<std::string> finalizerNames(const SlotInfo& slot, uint16_t finalizers);

// One ManifestWork with its agent; links [firstLink, firstLink + linkCount) are what it applies, in the
// agent's order.
struct Work {
  Slot manifestWork = kNone;
  Slot applied = kNone;  // its AppliedManifestWork
  uint32_t firstLink = 0;
  uint32_t linkCount = 0;
};

struct WorkLink {
  uint32_t work = 0;
  Slot object = kNone;
  uint8_t ownerIndex = 0;  // which of the object's owner links is this work's AppliedManifestWork
  bool orphans = false;    // spec.deleteOption: the work neither owns nor deletes the object
  bool onlyReads = false;  // updateStrategy ReadOnly: nor does it make it
};

// Somebody's finalizer controller: works while a Pod of `runsIn` is Ready and has its rights (kNone: always).
struct FinalizerController {
  std::string name;
  Slot runsIn = kNone;
  std::string finalizer;
  kube::GroupResource from;
  kube::NamespaceScope scope = {};  // the objects of that type that it looks after
  std::chrono::milliseconds takes{1000};
  std::unordered_map<Slot, RemovalNeeds> needs = {};  // by object; of one that is not in it, none
};

// What a DELETE insists on: that the object is the one, or is as, it was when the client first asked.
enum class Precondition : uint8_t { None, Uid, ResourceVersion };

// One request of a client.
struct ClientStep {
  enum class Verb : uint8_t { Delete, Create, SetFinalizers, SetForm, SetReplicas, SetIntent };
  Verb verb = Verb::Delete;
  Slot object = kNone;
  PropagationPolicy policy = PropagationPolicy::Background;
  bool hasPolicy = false;  // Delete: policy was written (else the type's default counts)
  bool dryRun = false;     // Delete
  Precondition precondition = Precondition::None;  // Delete
  bool retry = true;                               // Delete: asks again when it was denied
  bool serverSide = false;          // Create: as server-side apply, which a terminating CRD does not refuse
  uint16_t value = 0;               // SetFinalizers: mask; SetReplicas: count; SetIntent: the intent
  FormChange change = {};           // SetForm
  std::vector<uint8_t> forms = {};  // SetForm, made by addStep(): by form of the object, the one that follows
  std::chrono::milliseconds at{0};  // not before this time
  std::string as = "admin";         // user
  uint32_t document = 0;            // which step of the scenario it came from, for messages
  uint32_t after = kNone;           // written order: the step that must be sent first; prove ignores it
};

// What holds a criterion: any of these slots, while present and (mask != 0) carrying one of the finalizers.
struct ConditionHolder {
  Slot slot = kNone;
  uint16_t mask = 0;
};

// --- deletion policies: what each says, as questions about slots (cluster/policies.h)

inline constexpr uint8_t kAnyOwner = 0xff;

// Holds while the object is there in one of these ways.
struct SlotTest {
  Slot slot = kNone;          // kNone: it always holds
  uint16_t live = 0;          // in these forms while it is not being deleted; one bit each
  uint16_t terminating = 0;   // the same, while it is being deleted
  uint8_t owner = kAnyOwner;  // and only while this owner link means its owner
  bool whenAbsent = false;    // instead of all that: while it is not there
  auto operator<=>(const SlotTest&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

// Holds while both hold.
struct SlotTests {
  SlotTest first;
  SlotTest second;
  bool isAlways() const { return first.slot == kNone && second.slot == kNone; }
  auto operator<=>(const SlotTests&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};
using PolicyQuestion = std::vector<SlotTests>;  // the answer is yes while any of them holds

// A decision of protection::judge() or planHold(): where it goes on after the answer to a question.
struct Choice {
  static constexpr uint32_t kPasses = ~uint32_t{0};   // the request; of a held object: its finalizer goes
  static constexpr uint32_t kDenied = kPasses - 1;    // of a held object: it stays
  static constexpr uint32_t kDeletes = kPasses - 2;   // of a held object: lastout deletes it, by force
  static constexpr uint32_t kCascades = kPasses - 3;  // of a held object: it and its children are to go
  static constexpr uint32_t kEnds = kCascades;        // from here on there is no other Choice
  uint32_t question = 0;
  uint32_t ifYes = kPasses;  // another Choice, or one of these
  uint32_t ifNo = kPasses;
  auto operator<=>(const Choice&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

// A policy that may deny a request for one object; by the way in which the object is there (policies.cc), the
// Choice to begin with.
struct Protection {
  uint32_t policy = 0;
  uint32_t firstRoot = 0;   // into Policies::roots
  uint16_t othersBits = 0;  // finalizers by which another operator deletes the object itself
  uint16_t bit = 0;         // the policy's finalizer; 0: it holds nothing
};

struct ModelPolicy {
  protection::DeletionPolicy policy;
  Slot slot = kNone;               // of the DeletionPolicy; kNone: it is there all the time
  uint16_t exemptActors = 0;       // one bit for each Actor but Client
  std::vector<bool> exemptSteps;   // by step
  bool impliesNamespaces = false;  // a DELETE of a Namespace with a protected object in it is denied, too
  bool impliesCrds = false;        // a DELETE of a CRD with a protected instance
};

class PolicyFacts;

// A policy that holds an object by its finalizer; by the way in which the object is there, the Choice to
// begin with: kPasses lets it go.
struct Holding {
  uint32_t policy = 0;
  uint32_t firstRoot = 0;   // into Policies::roots
  uint16_t othersBits = 0;  // as of Protection
  uint16_t bit = 0;         // the policy's finalizer
  // By form, the one that its status leads to: with the children of a confirmed cascade in it, and without.
  std::vector<uint8_t> confirmed;
  std::vector<uint8_t> unconfirmed;
};

// An object that lastout deletes with another one whose cascade is confirmed.
struct CascadeChild {
  Slot parent = kNone;
  uint32_t holding = 0;   // of Policies::ofHold[parent]
  uint32_t question = 0;  // the answer is yes while it refers to the parent
};

// The policies that keep labels on an object, and the labels that lastout writes for them.
struct Labelling {
  std::vector<uint32_t> policies;  // by name
  struct Write {
    std::vector<uint8_t> forms;                   // by form, the one that follows; empty: never
    std::vector<std::chrono::milliseconds> wait;  // by form, until then
    std::vector<Protection> deniedBy;             // policies that may deny it
  };
  std::vector<Write> writes;  // by the policies that are there, one bit each
};

// What outside controllers report of the external step of held objects (protection/external_report.h).
enum class ExternalOutcome : uint8_t { Done, Failed, NotReported };

struct ModelPolicies {
  std::vector<ModelPolicy> all;
  std::vector<PolicyQuestion> questions;
  std::vector<Choice> choices;
  std::vector<uint32_t> roots;
  std::vector<std::vector<Protection>> ofDelete;     // by slot; empty: there are no policies
  std::vector<std::vector<Protection>> ofUpdate;     // by step: of one that sets labels
  std::vector<std::vector<Holding>> ofHold;          // by slot
  std::vector<std::vector<CascadeChild>> ofCascade;  // by slot of the child
  std::vector<Labelling> ofLabels;                   // by slot
  ExternalOutcome external = ExternalOutcome::Done;
  std::shared_ptr<const PolicyFacts> facts;  // for words; nullptr: there are no policies
  bool none() const { return ofDelete.empty(); }
};

// Delays as recorded; a driver that orders actions freely may ignore them.
struct Timing {
  using Ms = std::chrono::milliseconds;
  Ms confirm{2}, commit{2};  // from verdict to confirming read, from there to the commit
  Ms agentCall{1200};        // the agent's client throttles itself
  Ms agentReact{50};         // from an event to the agent's first call
  Ms agentResync{300'000};   // until the agent puts back what is missing
  Ms gcReact{10}, gcRetryBase{5}, gcRetryMax{1'000'000};  // retries double
  Ms namespaceStart{5000}, namespaceRetry{5000};          // before its content is deleted; between passes
  Ms crdInstances{20}, crdPoll{5000};
  Ms podReady{1000}, podStop{500};
  Ms workloadSync{50};
  Ms claimRelease{50};  // of a volume, too
  Ms jobRuns{10'000};   // from its first Ready Pod, or a work's last object, until it has finished
  Ms clientRetry{10'000};
  Ms deferredDeletion{20},
      deferredDeletionRetry{1000};  // lastout's DELETE, after its verdict has turned; after a refusal
  Ms keepWork{20};                  // lastout's finalizer, after what it stands for has changed
  Ms holdProvider{20};              // after its cause
};

// The kinds of things that happen to an object and that expectations can name.
enum class EventKind : uint8_t { Requested, Denied, Accepted, Gone, Created, Changed };

struct Model {
  std::vector<SlotInfo> slots;
  std::vector<Work> works;
  std::vector<WorkLink> links;
  std::vector<FinalizerController> controllers;
  std::vector<ClientStep> steps;
  // One that does not answer keeps every Namespace: APIServices with a Service, and webhooks that are asked
  // about the Lease of kube-controller-manager, which ends without it.
  std::vector<Interception> namespaceCalls;
  kube::KubernetesVersion kubernetes = kube::kNewestKubernetes;
  bool guarded = true;  // lastout is there
  bool runsDeferredDeletions =
      false;             // lastout deletes later, by itself, what it denied to controllers, and keeps works
  bool confirms = true;  // lastout makes its confirming read; false only to show what that read is for
  admission::ServiceRules rules;
  std::vector<Slot> services;                                  // CriticalService slots, by number
  std::vector<criticalservice::CriticalService> serviceSpecs;  // the same order
  std::vector<admission::Dependencies> dependencies;           // what their providers need, the same order
  std::vector<std::vector<Slot>>
      deferredByService;  // by service: the objects whose deferred deletions it records, beside its own
  std::vector<std::vector<ConditionHolder>> conditions;  // by number, as in rules
  std::vector<graph::Condition> conditionSpecs;          // the same order
  std::vector<bool> isUnderstood;                        // the same order: the condition means something
  std::optional<kube::ObjectKey> lastoutNamespace;       // lastout's own
  Timing timing;
  uint32_t monitorCount = 0;

  ModelPolicies policies;

  std::unordered_map<kube::ObjectKey, Slot> byKey;

  std::optional<Slot> find(const kube::ObjectKey& key) const;
  // True if the step is a DELETE that leaves the dependents of its object behind.
  bool orphans(const ClientStep& step) const;
  std::string name(Slot slot) const { return kube::toString(slots[slot].key); }
};

}  // namespace lastout::cluster

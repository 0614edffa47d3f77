// Machine: how Kubernetes deletes objects, written once. From a model and a state it computes which actions
// may happen next, and the state after each.
//
// Pure and deterministic: no clock, no randomness, no I/O. Drivers choose which enabled action happens next:
// by written times, by a seeded choice, or all of them. A Machine is immutable and may be shared by threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/model.h"
#include "cluster/state.h"

namespace lastout::cluster {

// Who asks for something.
enum class Actor : uint8_t {
  Client,
  Agent,
  Collector,
  Lifecycle,
  CrdCleanup,
  Workloads,
  Kubelet,
  Claims,
  Finalizers,
  TimeToLive,   // the TTL controller, of Jobs and, on the hub, of ManifestWorks
  ReplicaSets,  // the controller of ManifestWorkReplicaSets
  Lastout
};

// cluster/footprint.cc declares for each kind which parts of the state it reads and writes.
struct Action {
  enum class Kind : uint8_t {
    Send,     // a: step. A client sends its request (a DELETE of a guarded object is decided at first sight)
    Confirm,  // a: step, work or slot, by `actor`. The confirming read of a DELETE that was allowed at first
              // sight, or of what lets a held provider go
    Commit,   // a: as Confirm. Does what was allowed, or conflicts and is reviewed again
    AgentStep,         // a: work. The next thing its agent does
    CollectorDelete,   // a: slot. Its owners are gone, or wait for it
    CollectorRelease,  // a: slot. Drops references to owners that are gone, or has them block nothing; ends
                       // foreground deletion; orphans dependents
    CrdInstances,      // a: CRD. Marks its instances deleted, unreviewed
    CrdFinish,         // a: CRD. No instance is left
    NamespaceDelete,   // a: slot, content of a terminating namespace
    NamespaceFinish,   // a: Namespace. No content is left
    WorkloadSync,      // a: workload. Creates or deletes one child
    PodReady,          // a: Pod
    PodStop,           // a: Pod. The node reports it gone
    ClaimRelease,      // a: claim that no Pod mounts
    VolumeRelease,     // a: volume that no claim is bound to
    DeleteFinished,    // a: Job or ManifestWork. It has finished, and its time to live is over
    ReplicaSetWork,    // a: ManifestWork. Its ManifestWorkReplicaSet makes it, or deletes it
    ReplicaSetFinish,  // a: ManifestWorkReplicaSet. It waits for no work any more
    DeleteDeferred,    // a: slot. lastout deletes what it denied to a controller before
    KeepWork,          // a: AppliedManifestWork. lastout sets its finalizer, or removes it
    HoldProvider,      // a: provider. lastout sets its finalizer, takes it off, or is about to let it go
    WriteLabels,       // a: slot. lastout writes the labels that deletion policies keep on it
    DeleteHeld,        // a: slot. lastout deletes what is forced, or what a confirmed cascade takes along
    Confirmation,      // a: slot. lastout writes into its status that a cascade is confirmed, or is no longer
    LetGo,             // a: slot. lastout takes the finalizers of deletion policies off that hold it no more
    Finalize,          // a: slot, b: finalizer controller
  };
  Kind kind = Kind::Send;
  Actor actor = Actor::Client;
  uint32_t a = 0;
  uint32_t b = 0;
  friend bool operator==(const Action&, const Action&) = default;
};

// Whose action it is: a client's step, a work's agent, or an object (of NamespaceDelete: the content).
struct ActionSubject {
  enum class Kind : uint8_t { Step, Work, Object };
  Kind kind = Kind::Object;
  uint32_t number = 0;
  auto operator<=>(const ActionSubject&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};
ActionSubject subjectOf(const Action& action);

// True if a change of what its actor follows may give it something else to do than when the action became
// possible: an agent and a workload's controller do what is most urgent.
bool isWokenByChange(const Action& action);

struct ClusterEvent {
  EventKind kind = EventKind::Requested;
  Actor actor = Actor::Client;
  Slot slot = kNone;
  uint32_t by = kNone;  // step, work or finalizer controller; kNone where the actor says it all
  // Denied: the verdict, or (verdict.allowed) a webhook of somebody else failed, or the API refused
  // (`refused`).
  admission::Verdict verdict{};
  const char* refused =
      nullptr;  // a Kubernetes reason: "NotFound", "Conflict", "Forbidden", "MethodNotAllowed", ...
};
using Events = std::vector<ClusterEvent>;

// Returns true if the event is a denial or a refusal. "NotFound" is no refusal of a DELETE, because the
// object is gone as the client wants it; it is one of a patch or a scale.
bool isDenial(const Model& model, const ClusterEvent& event);

// Why an object cannot be created. NoCrd: its type is not there; CrdTerminates: the type is about to go.
enum class CreationRefusal : uint8_t { Exists, NoNamespace, NamespaceTerminates, NoCrd, CrdTerminates };
// Returns the Kubernetes reason that the API server of that version gives.
const char* reasonOf(CreationRefusal refusal, kube::KubernetesVersion version);

class Machine {
 public:
  explicit Machine(const Model& model);  // keeps a reference
  // Uses a layout with spare room, for states of a model that grows and is not guarded.
  Machine(const Model& model, const Layout& layout);
  const Model& model() const { return *model_; }
  const Layout& layout() const { return layout_; }

  // The settled cluster: everything that is presentAtStart, works applied, Pods Ready.
  std::vector<uint64_t> initial() const;

  // Appends every action that may happen in `state`, in a fixed order.
  void enabled(StateRef state, std::vector<Action>& out) const;
  // Those of one subject; the subjects' lists together hold what enabled() lists.
  void enabledFor(StateRef state, ActionSubject subject, std::vector<Action>& out) const;

  // Performs an enabled action; appends what happened to *events (nullptr: nobody wants to know). The state
  // is left unchanged when the request was refused and its actor will ask again. An unsafe commit sets
  // kUnsafeBit in monitors. Where `verdict` is given, somebody else has reviewed the action's DELETE, and
  // that is what came of it.
  void apply(StateRef state, const Action& action, Events* events,
             const admission::Verdict* verdict = nullptr) const;

  // Returns how long after it became enabled an action happens; `attempt` counts its refusals so far. The
  // driver itself sends a client's first request at ClientStep::at.
  std::chrono::milliseconds delay(StateRef state, const Action& action, uint32_t attempt) const;
  // True if the event is a change of what the action's actor follows, for an action that isWokenByChange().
  bool isWokenBy(const Action& action, const ClusterEvent& event) const;
  // How long it waits to be tried again after its refusal number `attempt`, at least 1 ms: time has to go on.
  std::chrono::milliseconds retryDelay(StateRef state, const Action& action, uint32_t attempt) const;

  // The verdict for a DELETE of `slot` in `state`, and the same from the criteria's text, by looking at every
  // object.
  admission::Verdict decide(
      StateRef state, Slot slot,
      admission::DeletionEffect deletionEffect = admission::DeletionEffect::Ending) const;
  bool criteriaAreMet(StateRef state, Slot slot) const;
  // True if with these finalizers lastout keeps the object, and nothing asks for the end of what it runs.
  bool isHeldBack(Slot slot, uint16_t finalizers) const;
  // Returns true if a CriticalService names the slot; without one there are no criteria that could fail.
  bool isNamed(Slot slot) const { return named_[slot]; }

 private:
  const Model* model_;
  Layout layout_;
  std::vector<bool> named_;  // by slot
};

}  // namespace lastout::cluster

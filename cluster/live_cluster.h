// LiveCluster: the machine over a model that grows: what an API server keeps its objects' deletions in.
//
// Clients' requests come in one by one, admitted already. What the controllers do next, and when, is an
// agenda that follows each change; the caller tells the (virtual) time, has the DELETEs reviewed, and says
// what came of it. Deterministic, no clock; one thread at a time. Names that are gone cost nothing, so any
// number of them may come and go.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/machine.h"
#include "kube/kubernetes_version.h"
#include "kube/resource_map.h"
#include "kube/result.h"
#include "manifestwork/manifest_work.h"

namespace lastout::cluster {

class Agenda;
class LiveModel;

// An ownerReference, by uid as the garbage collector reads it.
struct LiveOwner {
  std::string uid;
  bool controller = false;
  bool blockOwnerDeletion = false;
  friend bool operator==(const LiveOwner&, const LiveOwner&) = default;
};

// An object as an API server stores it: all that deletion depends on.
struct LiveObject {
  kube::ObjectKey key;
  std::string uid;                      // of this very object; not empty
  std::vector<std::string> finalizers;  // metadata.finalizers; of a Namespace spec.finalizers too
  std::vector<LiveOwner> owners;
  uint32_t replicas = 1;            // workloads
  std::vector<std::string> claims;  // names of PersistentVolumeClaims that its Pods mount, or it, as a Pod
  // PersistentVolumeClaim: its volume, as spec.volumeName has it; PersistentVolume: its claim, as
  // spec.claimRef has it; nullopt: it says nothing.
  std::optional<kube::ObjectKey> boundTo;
  // ManifestWork: what it applies, and the name of its AppliedManifestWork; without a name no agent takes it.
  std::vector<kube::ObjectKey> applies;
  manifestwork::DeleteOption deleteOption = {};
  std::string appliedName;
};

// The result of reviewing an action's requests.
enum class AdmissionOutcome : uint8_t { Allowed, Denied };

// An action that is due, and what it would do.
struct PlannedAction {
  Action action;
  std::chrono::milliseconds due{0};
  Events events;                                    // if it is allowed
  std::vector<std::pair<Slot, ObjectState>> after;  // if it is allowed: the objects of the events, then
  Slot deletes = kNone;                     // the object that it sends a DELETE for; kNone: it sends none
  std::optional<PropagationPolicy> policy;  // of that DELETE
  bool insistsOnUid = false;                // of that DELETE
  uint64_t serial = 0;                      // LiveCluster's own: which entry of its agenda
  uint64_t change = 0;                      // and how often the cluster had changed
};

class LiveCluster {
 public:
  using Milliseconds = std::chrono::milliseconds;

  // A type that is not in `types` exists as long as its CRD does; of the others nobody asks.
  explicit LiveCluster(const Timing& timing, kube::ResourceMap types = kube::ResourceMap::builtIn(),
                       kube::KubernetesVersion kubernetes = kube::kNewestKubernetes);
  ~LiveCluster();
  LiveCluster(const LiveCluster&) = delete;
  LiveCluster& operator=(const LiveCluster&) = delete;

  // --- reading. A slot is the number of a name; that of an object that is gone stands for it until the next
  // change or plan, and may then be another's.
  const Model& model() const;
  StateRef state() const;  // valid until the next change
  const Machine& machine() const;
  ObjectState object(Slot slot) const;
  std::optional<Slot> find(const kube::ObjectKey& key) const;  // present or not
  std::optional<Slot> findUid(std::string_view uid) const;     // present
  std::vector<std::string> finalizers(Slot slot) const;  // in the order given; the collector's come last
  std::vector<std::string> finalizers(Slot slot, const ObjectState& object) const;  // of a plan's object
  // Of the object that is present; empty of what a controller created until update() gives it one.
  const std::string& uid(Slot slot) const;
  std::vector<LiveOwner> owners(Slot slot) const;
  std::vector<LiveOwner> owners(Slot slot, const ObjectState& object) const;
  // Returns true if nothing but Pods is deleted yet in this terminating Namespace.
  bool awaitsPods(Slot namespaceSlot) const;
  // Returns why the object cannot be created now; nullopt: it can.
  std::optional<CreationRefusal> refusesCreation(const kube::ObjectKey& key, bool serverSide);

  // Whether create() and update() could hold the object.
  kube::Result<void> fits(const LiveObject& object);

  // --- what clients did. Each answers with what happened, appended to `events`. They fail, and change
  // nothing, where the machine cannot hold the object (docs/semantics.md, last list); the message is for a
  // person.
  //
  // create() puts on the finalizer that Kubernetes adds to a Namespace, a claim and a work. A reference to a
  // uid that is not there dangles for good: owners come first. Pods and ReplicaSets that name a workload as
  // their controller become its children.
  kube::Result<Slot> create(const LiveObject& object, Events& events);
  // The object as it is now; also what a controller has created, once it has a uid. The last finalizer of a
  // terminating object removes it. What a work no longer lists is not deleted: its owner reference leaves it
  // to the garbage collector, once the AppliedManifestWork is gone.
  kube::Result<void> update(Slot slot, const LiveObject& object, Events& events);
  // A DELETE. No policy: the type's default, or what its finalizers already say.
  void remove(Slot slot, std::optional<PropagationPolicy> policy, Events& events);

  // A finalizer controller that works while a Pod of `runsIn` is Ready (none: always; it may come later).
  // Fails where that cannot run Pods. `controller.runsIn` is not looked at.
  kube::Result<uint32_t> addController(FinalizerController controller,
                                       const std::optional<kube::ObjectKey>& runsIn);

  // This APIService, which is there, does not answer, so that no Namespace can end; nullopt: all answer.
  void failDiscovery(std::optional<Slot> apiService);

  // --- controllers
  // The time now; it does not go back. What becomes possible is due after its delay from here.
  void advance(Milliseconds now);
  std::optional<Milliseconds> nextAt() const;  // when something is due
  // The action that is due first, at `now` or before, worked out in advance: nothing has happened yet.
  std::optional<PlannedAction> plan(Milliseconds now);
  // Does what was planned. False, and nothing happens, where it is not possible any more or would do
  // something else by now. Denied: what its actor then does (the agent forgets, the collector's delay
  // doubles); an action that sends no DELETE was refused, and its delay doubles from one refusal to the next.
  bool execute(const PlannedAction& plan, AdmissionOutcome outcome, Milliseconds now, Events& events);

  // What may happen now, by subject: what Machine::enabled lists.
  std::vector<Action> possible() const;

 private:
  void noteChange(Slot slot);
  void noteContainer(Slot container);
  void noteTurn(Slot namespaceSlot);
  void noteRefusal(Slot content);
  void noteReadiness();
  bool settle(const Action* action, const Events& happened);
  void finish(const Action* action, const Events& happened, Events& events);
  void refresh();
  void rehearse(const Action& action, PlannedAction& plan);
  void refuse(const Action& action);

  std::unique_ptr<LiveModel> live_;
  std::unique_ptr<Agenda> agenda_;
  Milliseconds now_{0};
  uint64_t changes_ = 0;
  std::vector<bool> ready_;  // by finalizer controller: a Pod that it runs in is Ready
  std::vector<Action> enabled_;
};

}  // namespace lastout::cluster

// Transition: one action on one state. What the API server's storage and admission do, for every controller
// to call.
//
// Lives for one Machine::apply (or for reading only, with no events).
#pragma once

#include <optional>

#include "cluster/machine.h"
#include "cluster/policies.h"
#include "control/deferred_deletion_rule.h"
#include "control/held_provider_rule.h"
#include "control/kept_work_rule.h"

namespace lastout::cluster {

// A DELETE under way, and its sender.
struct DeleteRequest {
  Actor actor = Actor::Client;
  uint32_t by = kNone;  // step or work; kNone for controllers
  Slot slot = kNone;
  std::optional<PropagationPolicy> policy;  // nullopt: the request does not say; Transition::policyOf()
  Precondition precondition = Precondition::None;
};

// How a DELETE ended, or that it is still under way.
enum class DeleteResult : uint8_t { Done, InFlight, Denied, NotFound, Conflict };

// The collector's finalizers after a DELETE with this policy; what it says replaces what an earlier DELETE
// said (recorded: rest/058, a Foreground DELETE of an object that already terminates).
uint16_t withPolicy(uint16_t finalizers, const std::optional<PropagationPolicy>& policy);

class Transition {
 public:
  // `verdict`: of a DELETE that somebody else has reviewed; it overrules lastout's.
  Transition(const Machine& machine, StateRef state, Events* events,
             const admission::Verdict* verdict = nullptr)
      : machine_(machine), model_(machine.model()), state_(state), events_(events), verdict_(verdict) {}

  const Model& model() const { return model_; }
  const SlotInfo& info(Slot slot) const { return model_.slots[slot]; }
  StateRef& state() { return state_; }
  const StateRef& state() const { return state_; }

  // --- reading (cluster/transition.cc)
  bool isPresent(Slot slot) const { return slot != kNone && state_.presence(slot) != Presence::Absent; }
  bool isLive(Slot slot) const { return slot != kNone && state_.presence(slot) == Presence::Live; }
  bool isTerminating(Slot slot) const {
    return slot != kNone && state_.presence(slot) == Presence::Terminating;
  }
  bool hasReadyPod(Slot workload) const;
  // The controller can do its work now.
  bool works(const FinalizerController& controller) const;
  bool areAllPresent(const std::vector<Slot>& slots) const;
  bool isMet(const Ways& ways) const;
  // The controller works, and finds all that it needs of this object, and nothing that it waits for. Where
  // there are several candidates, this is true of each.
  bool mayRemove(Slot slot, const Removal& removal) const;
  // Returns true if what names it is there, and nobody answers: its Service is not there, or no Ready Pod is
  // behind it. Objects of types that the machine does not follow, and what selects no Pods, count as
  // answering.
  bool fails(const Interception& called) const;
  // Returns true if another webhook is called for this operation (&Interception::onDelete, ...) and cannot
  // answer.
  bool webhookFails(Slot slot, bool Interception::*operation) const;
  // The same for the conversion webhook that its CRD names, where the clean-up of the CRD calls it.
  bool conversionFails(Slot slot) const;
  // Returns true if one of Model::namespaceCalls does not answer, so that no Namespace can end.
  bool namespaceCallFails() const;
  // Returns why the object cannot be created now; nullopt: it can.
  std::optional<CreationRefusal> refusesCreation(Slot slot, bool serverSide = false) const;
  // Returns true if a controller can create the object now, which is absent.
  bool mayCreate(Slot slot) const {
    return !refusesCreation(slot) && !webhookFails(slot, &Interception::onCreate);
  }

  // lastout's verdict, ALLOW where lastout is not there: on a DELETE that ends the object, and on this one.
  admission::Verdict decide(Slot slot) const;
  admission::Verdict decide(const DeleteRequest& request) const;
  // Returns the policy that the DELETE names, or else the default of its object's type. nullopt: there is
  // neither, or the object's finalizers say it already.
  std::optional<PropagationPolicy> policyOf(const DeleteRequest& request) const;
  // A DeletionPolicy denies the DELETE; a step that changes an object's form.
  bool isProtected(const DeleteRequest& request) const;
  // Returns true if the DELETE would be refused now: by lastout, by a policy, or as a webhook does not
  // answer.
  bool isRefused(const DeleteRequest& request) const;
  // The finalizers of policies that hold the object no more.
  uint16_t bitsToLetGo(Slot slot) const {
    return webhookFails(slot, &Interception::onUpdate) ? uint16_t{0}
                                                       : policyBitsToLetGo(model_, state_, slot);
  }
  // The same for what lastout does for policies by itself.
  std::optional<LabelWrite> labelWrite(Slot slot) const {
    return webhookFails(slot, &Interception::onUpdate) ? std::nullopt : labelWriteOf(model_, state_, slot);
  }
  std::optional<uint8_t> newConfirmation(Slot slot) const {
    return webhookFails(slot, &Interception::onUpdate) ? std::nullopt
                                                       : confirmationChange(model_, state_, slot);
  }
  bool isUpdateProtected(uint32_t step) const { return isUpdateDeniedByPolicy(model_, state_, step); }

  // --- storage (cluster/transition.cc)
  // A new object with a new uid; what meant the old one is stale from now on.
  void create(Slot slot, Actor actor, uint32_t by = kNone);
  // What a DELETE that was admitted does: marks it terminating, or removes it when nothing holds it.
  void commitDelete(const DeleteRequest& request);
  // Removes finalizers; the last one of a terminating object removes the object, without any review.
  void dropFinalizers(Slot slot, uint16_t bits, Actor actor, uint32_t by = kNone);
  // Any other change of the object.
  void update(Slot slot, const ObjectState& object, Actor actor, uint32_t by = kNone);

  // --- review (cluster/delete_review.cc)
  // Sends a DELETE. What needs no review is done at once; what is allowed at first sight waits in `flight`.
  DeleteResult send(const DeleteRequest& request, Flight& flight);
  // The same for an actor that keeps no flight: its review is one moment, and what is allowed is done.
  DeleteResult sendAtOnce(const DeleteRequest& request);
  // The confirming read of a DELETE in flight.
  DeleteResult confirm(const DeleteRequest& request, Flight& flight);
  // Its commit; a storage conflict sends it back for another review.
  DeleteResult commit(const DeleteRequest& request, Flight& flight);

  // By an independent reading.
  bool criteriaAreMet(Slot slot) const;
  // Takes lastout's finalizer off a provider that terminates; `criteriaWereMet`: at the
  // confirming read.
  void release(Slot provider, bool criteriaWereMet);

  void emit(ClusterEvent event);

 private:
  bool canRemove(const Removal& removal) const;
  void erase(Slot slot, Actor actor, uint32_t by);
  void touch(Slot slot);
  void markStale(Slot slot);
  void checkUnconfirmed(const DeleteRequest& request);
  bool keepsHeld(const DeleteRequest& request) const;
  void markUnsafe();
  DeleteResult deny(const DeleteRequest& request, Flight& flight, const admission::Verdict& verdict,
                    const char* refused = nullptr);

  const Machine& machine_;
  const Model& model_;
  StateRef state_;
  Events* events_;
  const admission::Verdict* verdict_;
};

// --- the controllers: each lists what it would do, and does it
// cluster/steps.cc
void sendStep(Transition& transition, uint32_t step);
void finishStep(Transition& transition, uint32_t step, StepState state, DeleteResult answer);
DeleteRequest stepRequest(const Model& model, uint32_t step);
// cluster/agent.cc
enum class AgentTask : uint8_t { None, Adopt, Apply, Withdraw, Pass, Forget, ReleaseApplied, ReleaseWork };
AgentTask agentTask(const Transition& transition, uint32_t work);
// Returns true if the work has an object that its agent has never applied; false: the agent only restores
// objects.
bool agentAppliesNewObjects(const Transition& transition, uint32_t work);
void agentStep(Transition& transition, uint32_t work);
void finishAgentDelete(Transition& transition, uint32_t work, WorkState state, DeleteResult answer);
DeleteRequest agentRequest(const Transition& transition, uint32_t work);
// cluster/collector.cc
bool collectorDeletes(const Transition& transition, Slot slot, const ObjectState& object);
bool collectorReleases(const Transition& transition, Slot slot, const ObjectState& object);
DeleteRequest collectorRequest(const Transition& transition, Slot slot);
void collectorRelease(Transition& transition, Slot slot);
// Returns the owners for whose sake the collector leaves the object alone: those that are there, and do not
// wait for their dependents.
std::vector<Slot> solidOwners(const Transition& transition, Slot slot);
// Returns the objects whose UPDATE keeps the collector from releasing this one: itself or, where it orphans
// its dependents, some of them.
std::vector<Slot> refusedReleases(const Transition& transition, Slot slot);
// cluster/deferred_deletion_actions.cc
void deferDeletion(Transition& transition, const DeleteRequest& request);  // which was denied
void forgetDeferredDeletionsOf(Transition& transition, Slot service);  // with a CriticalService that is gone
bool lastoutDeletes(const Transition& transition, Slot slot, const ObjectState& object);
DeleteRequest lastoutRequest(Slot slot, const ObjectState& object);
bool isDeferredForControllers(const Transition& transition, Slot slot);  // would be, when it is denied to one
bool isAnyPresent(const Transition& transition, const std::vector<uint32_t>& services);
bool isFollowed(const Transition& transition, Slot slot);   // lastout knows of the object by its watches
bool hasRecorder(const Transition& transition, Slot slot);  // a CriticalService would record its deletion
// Whether its deletion is still wanted, as lastout's reads of its owners tell, or as its watches do.
enum class Sight : uint8_t { ByReads, ByWatches };
control::DeferralState deferralStateOf(const Transition& transition, Slot slot, Sight sight);
// Returns what lastout does next about the deferred deletion of an object, which may be under way already.
control::Fate deferredDeletionFate(const Transition& transition, Slot slot);
// cluster/kept_work_actions.cc
control::KeptWorkPlan<Slot> keptWorkPlan(const Transition& transition, Slot applied);
bool isLeftBehind(const Transition& transition, Slot applied, Slot slot);  // as of control::isLeftBehind()
bool keepingChanges(const Transition& transition, Slot applied);
void changeKeeping(Transition& transition, Slot applied);
// cluster/held_provider_actions.cc
// Returns what lastout does next about its finalizer on an existing object that may carry it.
control::HeldProviderAction heldProviderPlan(const Transition& transition, Slot provider);
bool holdingChanges(const Transition& transition, Slot provider);
void changeHolding(Transition& transition, Slot provider);
bool isBeingLetGo(const Transition& transition, Slot provider);
void goOnLettingGo(Transition& transition, Slot provider);
// cluster/lifecycle.cc
bool crdDeletesInstances(const Transition& transition, Slot crd);
bool crdIsEmpty(const Transition& transition, Slot crd);
void deleteInstances(Transition& transition, Slot crd);
bool namespaceIsEmpty(const Transition& transition, Slot namespaceSlot);
// Returns true if the namespace controller deletes nothing but Pods yet in this terminating Namespace.
bool awaitsPods(const Transition& transition, Slot namespaceSlot);
DeleteRequest namespaceRequest(Slot content);
// cluster/workloads.cc
bool workloadNeedsSync(const Transition& transition, Slot workload);
void workloadSync(Transition& transition, Slot workload);
bool isUnused(const Transition& transition, Slot storage);  // of a claim or a volume
// cluster/time_to_live.cc
// Returns true if the object may have finished by now, and is deleted by itself after that.
bool hasOutlivedItself(const Transition& transition, Slot slot);
void deleteFinished(Transition& transition, Slot slot);
// Returns true if the controller runs in the Job, or in a CronJob that makes it.
bool runsIn(const Model& model, const FinalizerController& controller, Slot job);
// cluster/work_replica_sets.cc
enum class ReplicaSetTask : uint8_t { None, Create, Delete };
ReplicaSetTask replicaSetTask(const Transition& transition, Slot work);
void replicaSetStep(Transition& transition, Slot work);
bool isDoneWithWorks(const Transition& transition, Slot replicaSet);

}  // namespace lastout::cluster

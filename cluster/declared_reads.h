// DeclaredReads: the reads of the machine's questions about a state, whatever their answer. One function for
// each question of Transition and of the controllers, with its name; internal to cluster/footprint.cc.
#pragma once

#include <vector>

#include "cluster/footprint.h"

namespace lastout::cluster {

class DeclaredReads {
 public:
  // Adds to `reads`; keeps references.
  DeclaredReads(const Machine& machine, PartSet& reads)
      : machine_(machine), model_(machine.model()), reads_(reads) {}

  void object(Slot slot, Fields fields);  // kNone reads nothing
  void objects(const std::vector<Slot>& slots, Fields fields);
  void anyOf(const Ways& ways);
  void work(uint32_t work) { reads_.add({StatePart::Kind::Work, work}, kEveryField); }
  void step(uint32_t step) { reads_.add({StatePart::Kind::Step, step}, kEveryField); }
  void link(uint32_t link) { reads_.add({StatePart::Kind::Link, link}, kEveryField); }

  // --- cluster/transition.h: storage, and whom the API server calls
  void hasReadyPod(Slot workload);
  void works(const FinalizerController& controller);
  void mayRemove(Slot slot, const Removal& removal);
  void canRemove(const Removal& removal);
  void webhookFails(Slot slot, bool Interception::*operation);
  void conversionFails(Slot slot);
  void namespaceCallFails();
  void refusesCreation(Slot slot);
  void mayCreate(Slot slot);

  // --- the review of a DELETE
  void decide(Slot slot);
  void criteriaAreMet(Slot slot);
  void isProtected(Slot slot);  // from a DELETE
  void isRefused(Slot slot);

  // --- deletion policies
  void isUpdateProtected(uint32_t step);
  void labelWrite(Slot slot);
  void isHeld(Slot slot);  // and what becomes of it
  void isDeletedByPolicy(Slot slot);

  // --- controllers
  void owners(Slot slot);          // how the collector classifies them
  void dependents(Slot slot);      // those that mean this very object
  void unblocksOwners(Slot slot);  // before the garbage collector deletes it
  void isRecorded(Slot slot);      // by a CriticalService, if its deletion is denied
  void deferredDeletionFate(Slot slot);
  void keptWorkPlan(Slot applied);
  void heldProviderPlan(Slot provider);
  void deletesContent(Slot content);  // the namespace controller
  void agentTask(uint32_t work);
  void nextTask(Slot workload);
  void hasOutlivedItself(Slot slot);
  void replicaSetTask(Slot work);

 private:
  void fails(const Interception& called);
  void condition(uint32_t condition);
  void question(const PolicyQuestion& question);
  template <class One>
  void end(const One& one, Slot slot);  // Protection, Holding
  void policy(uint32_t policy);         // that it is there
  void fateAlone(Slot slot);
  void deferralState(Slot slot);
  void isFollowed(Slot slot);
  void isLeftBehind(Slot applied, Slot slot);
  void keepingOf(Slot applied, Slot dependent);

  const Machine& machine_;
  const Model& model_;
  PartSet& reads_;
};

// Returns true if a DELETE of the object can wait between its verdict and its commit; if its denied deletion
// can be deferred. Of another object the fields for that never change.
bool canBeInFlight(const Model& model, Slot slot);
bool canBeDeferred(const Model& model, Slot slot);

}  // namespace lastout::cluster

// Deferred deletions: what lastout does next about a deletion that it denied and that a CriticalService's
// status records. One rule for any source of facts: the server's view, and a state of the machine
// (docs/concepts.md, "Deferred deletions"). admission/deferral.h decides which CriticalService records which
// deletion.
//
// A record ends by Fate::Forget or with an accepted DELETE, whoever sends it, and with the CriticalServices
// that have it; docs/concepts.md has the whole list.
#pragma once

#include <concepts>
#include <cstdint>

#include "control/owner_now.h"

namespace lastout::control {

// Whether the deletion is still what was asked for.
enum class DeferralState : uint8_t { Stands, Waits, TakenBack };

// What proves that somebody asked for the deletion. An entry in a status alone proves nothing.
enum class RequestProof : uint8_t {
  None,
  OfUnowned,  // the object had no owner: it counts until somebody adopts the object
  OfPerson,   // it counts whoever owns the object
};

struct DeferralFacts {
  RequestProof proof = RequestProof::None;
  bool spaceTerminates = false;  // everything in its namespace goes, whoever owns it
  bool adopted = false;          // it has got an owner since its deletion was asked for
  // Nobody guards the object any more, but a provider that is gone may have needed it: lastout deletes it
  // only if Kubernetes would.
  bool isInDoubt = false;
  OwnersNow owners;
};

// Returns true if the garbage collector or the namespace controller will delete the object anyway, so that
// lastout needs no proof of a request to delete it.
constexpr bool goesAnyway(const DeferralFacts& facts) {
  return facts.spaceTerminates || (facts.owners.any && !facts.owners.anyKeepsDependents);
}

constexpr DeferralState deferralStateOf(const DeferralFacts& facts) {
  if (facts.isInDoubt && !goesAnyway(facts)) return DeferralState::TakenBack;
  if (facts.spaceTerminates || facts.proof == RequestProof::OfPerson) return DeferralState::Stands;
  if (facts.adopted) return DeferralState::TakenBack;
  if (facts.owners.any) return goesAnyway(facts) ? DeferralState::Stands : DeferralState::Waits;
  return facts.proof == RequestProof::OfUnowned ? DeferralState::Stands : DeferralState::TakenBack;
}

// What lastout does next about a deferred deletion.
enum class Fate : uint8_t {
  Wait,    // it stays as it is, and is looked at again when something has changed
  Delete,  // lastout asks the API server for it
  Forget,  // there is nothing left to delete, or it was taken back: the record can be removed
};

// `Object` identifies an object in that source of facts. `isRecorded`: a status records its denied deletion,
// or a work's agent failed to delete it. `isLive`: the object with the recorded uid exists and is not being
// deleted. `isWanted`: a CriticalService that records the deletion wants lastout to run it. `isAllowed`:
// lastout's verdict. The rule calls them in this order, and calls a later one only if the result depends on
// it, because the later ones may be expensive.
template <class F, class Object>
concept DeferredDeletionFacts = requires(const F& facts, Object object) {
  { facts.isRecorded(object) } -> std::convertible_to<bool>;
  { facts.isLive(object) } -> std::convertible_to<bool>;
  { facts.deferralState(object) } -> std::convertible_to<DeferralState>;
  { facts.isWanted(object) } -> std::convertible_to<bool>;
  { facts.isAllowed(object) } -> std::convertible_to<bool>;
};

// `anyBefore(object, holds)` returns true if `holds` is true for an object that must be deleted before this
// one: an object in a namespace, an instance of a CRD, or another object whose deletion a CriticalService
// records.
template <class F, class Object>
concept OrderedDeletionFacts = DeferredDeletionFacts<F, Object> && requires(const F& facts, Object object) {
  {
    facts.anyBefore(object, [](Object) { return true; })
    } -> std::convertible_to<bool>;
};

// Returns what lastout does next about the deletion of an object, without regard to the order of deletions.
template <class Object, DeferredDeletionFacts<Object> F>
Fate fateAlone(const F& facts, const Object& object) {
  if (!facts.isRecorded(object)) return Fate::Wait;
  if (!facts.isLive(object)) return Fate::Forget;
  const DeferralState deferralState = facts.deferralState(object);
  if (deferralState == DeferralState::TakenBack) return Fate::Forget;
  return deferralState == DeferralState::Stands && facts.isWanted(object) && facts.isAllowed(object)
             ? Fate::Delete
             : Fate::Wait;
}

// Returns the same with regard to the order: a container goes after its content, which would otherwise be
// deleted with it.
template <class Object, OrderedDeletionFacts<Object> F>
Fate fateOf(const F& facts, const Object& object) {
  const Fate fate = fateAlone(facts, object);
  if (fate != Fate::Delete) return fate;
  const auto isDue = [&facts](const Object& other) { return fateAlone(facts, other) == Fate::Delete; };
  return facts.anyBefore(object, isDue) ? Fate::Wait : Fate::Delete;
}

}  // namespace lastout::control

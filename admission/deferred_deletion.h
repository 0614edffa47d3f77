// What lastout deferred: which of the deletions that it denied it carries out now. One rule, over any source
// of facts: the server's, and a state of the machine (docs/concepts.md, "Deferred deletions").
#pragma once

#include <concepts>
#include <cstdint>

#include "admission/decide.h"
#include "criticalservice/critical_service.h"

namespace lastout::admission {

// What became of an owner of the object, since its deletion was asked for.
enum class OwnerNow : uint8_t {
  Gone,       // or another object has its name
  Leaving,    // it is being deleted
  Orphaning,  // likewise, so that what it owns stays
  Staying,
};

// The owners that the object has now.
struct OwnersNow {
  bool any = false;
  bool holdBack = false;  // one stays, or goes so that the object stays

  void add(OwnerNow owner) {
    any = true;
    holdBack = holdBack || (owner != OwnerNow::Gone && owner != OwnerNow::Leaving);
  }
};

// Whether the deletion is still what was asked for.
enum class Wish : uint8_t { Stands, Waits, TakenBack };

// What proves that somebody asked for the deletion, beside what the API server says of the object. That it is
// remembered in a status proves nothing.
enum class Proof : uint8_t {
  None,
  OfUnowned,  // the object had no owner: it counts until somebody adopts the object
  OfPerson,   // it counts whoever owns the object
};

struct WishFacts {
  Proof proof = Proof::None;
  bool spaceTerminates = false;  // everything in its namespace goes, whoever owns it
  bool adopted = false;          // it has an owner that it had not when its deletion was asked for
  OwnersNow owners;
};

// The garbage collector, or the namespace controller, takes the object in the end: to delete it takes no
// other authority than that.
constexpr bool goesAnyway(const WishFacts& facts) {
  return facts.spaceTerminates || (facts.owners.any && !facts.owners.holdBack);
}

constexpr Wish wishOf(const WishFacts& facts) {
  if (facts.spaceTerminates || facts.proof == Proof::OfPerson) return Wish::Stands;
  if (facts.adopted) return Wish::TakenBack;
  if (facts.owners.any) return goesAnyway(facts) ? Wish::Stands : Wish::Waits;
  return facts.proof == Proof::OfUnowned ? Wish::Stands : Wish::TakenBack;
}

// `Object` is whatever numbers objects there. `isLive`: the very object that was meant is there, and is not
// being deleted. `isAllowed`: lastout's verdict, at first sight. `anyBefore(object, holds)`: `holds` is so of
// something that goes before the object: what a namespace or a CRD contains, and of a CriticalService what
// it remembers beside itself.
template <class F, class Object>
concept DeferredDeletionFacts = requires(const F& facts, Object object) {
  { facts.isDeferred(object) } -> std::convertible_to<bool>;
  { facts.isLive(object) } -> std::convertible_to<bool>;
  { facts.wish(object) } -> std::convertible_to<Wish>;
  { facts.isAllowed(object) } -> std::convertible_to<bool>;
  {
    facts.anyBefore(object, [](Object) { return true; })
    } -> std::convertible_to<bool>;
};

template <class Object, DeferredDeletionFacts<Object> F>
bool isDue(const F& facts, Object object) {
  return facts.isDeferred(object) && facts.isLive(object) && facts.wish(object) == Wish::Stands &&
         facts.isAllowed(object);
}

// A container goes after what is in it: who takes it first takes that along.
template <class Object, DeferredDeletionFacts<Object> F>
bool isToBeCarriedOut(const F& facts, Object object) {
  return isDue(facts, object) &&
         !facts.anyBefore(object, [&facts](Object other) { return isDue(facts, other); });
}

// Whether a CriticalService remembers that the deletion of an object was deferred in which it has a stake of
// that role. What goes after all CriticalServices (their CRD, lastout's own namespace) none can remember.
constexpr bool remembers(Role role, bool isItself) {
  return role == Role::Provider || role == Role::HoldsProvider || role == Role::Dependency ||
         (role == Role::Service && isItself);
}

// Whether a CriticalService wants the denied deletion deferred. A person was told no, and may have changed
// their mind.
constexpr bool isDeferred(criticalservice::DeferralMode deferral, bool byController) {
  return deferral == criticalservice::DeferralMode::Always ||
         (deferral == criticalservice::DeferralMode::Controllers && byController);
}

}  // namespace lastout::admission

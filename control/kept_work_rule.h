// Kept works: while what a work has applied is there, its AppliedManifestWork carries a finalizer of
// lastout's, so that neither it nor the ManifestWork on the hub is reported gone too early. One rule, over
// any source of facts: the server's, and a state of the machine (docs/concepts.md, "Kept works").
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

#include "control/deferred_deletion_rule.h"
#include "graph/condition.h"
#include "kube/object_key.h"

namespace lastout::control {

// An AppliedManifestWork itself.
struct WorkNow {
  bool terminates = false;
  bool isKept = false;          // it carries the finalizer
  bool isHeldByOthers = false;  // it carries another one: its agent is at work

  // It is kept for as long as what it owns goes.
  bool isWaiting() const { return terminates && isKept; }
};

// The existing objects that the work owns. A work awaits every Namespace, every CriticalService, and every
// object whose deferred deletion a CriticalService would record.
struct OwnedByWork {
  bool guarded = false;  // an object whose denied deletion lastout would run later
  bool awaited = false;
  bool forsaken = false;  // something that nobody has deleted, and that lastout will not delete either
  bool lastout = false;   // lastout's namespace, something in it, or the CRD of CriticalServices
  bool isUnsure = false;  // more may be there than is known by now
};

enum class Keeping : uint8_t { AsItIs, Begins, Ends };

// Returns what lastout does about the finalizer. A terminating object takes no new finalizer. The agent
// removes its own finalizer when it has requested every deletion once. Objects that the agent failed to
// delete and that lastout does not delete are left to the garbage collector, which waits until the owner is
// gone: it is better that the work goes too early than that it never goes. lastout does not keep a work that
// installs lastout itself, because nothing would release it.
Keeping keepingOf(const WorkNow& work, const OwnedByWork& owned);

// Returns true if the object is lastout's: the CRD of CriticalServices, lastout's namespace, or something in
// it. `ownNamespace` is empty if lastout runs outside the cluster.
bool isLastouts(const kube::ObjectKey& object, std::string_view ownNamespace);

// Returns true if works await every object of the type.
bool isAwaited(const kube::GroupResource& type);

// `Work` and `Object` identify works and objects in that source of facts. Objects are the ones that watches
// show. Two functions tell about objects that no watch shows: recordsUnseen (the work's status lists an
// object whose deletion would be deferred) and hasUnseenDeferredDeletions (a CriticalService records such a
// deletion). For a work that is not being deleted, `anyOwned` may skip objects that are neither wanted nor
// lastout's own. `isGuarded`: a CriticalService would record the object's deletion; `isWanted`: that
// CriticalService defers the deletions that it denies to controllers. `isAwaited`: as in OwnedByWork;
// `wasAwaited`: an earlier look found that the work awaits the object. `isReviewed`: the object has the type
// of a provider or of a dependency. `isForgotten`: the agent removed the object from the work's status.
// `isRefused`: lastout cannot delete the object.
template <class F, class Work, class Object>
concept KeptWorkFacts = requires(const F& facts, Work work, Object object) {
  { facts.work(work) } -> std::same_as<WorkNow>;
  { facts.isUnsure() } -> std::convertible_to<bool>;
  { facts.recordsUnseen(work) } -> std::convertible_to<bool>;
  { facts.hasUnseenDeferredDeletions(work) } -> std::convertible_to<bool>;
  {
    facts.anyOwned(work, [](Object) { return true; })
    } -> std::convertible_to<bool>;
  { facts.isTerminating(object) } -> std::convertible_to<bool>;
  { facts.isLastouts(object) } -> std::convertible_to<bool>;
  { facts.isGuarded(object) } -> std::convertible_to<bool>;
  { facts.isWanted(object) } -> std::convertible_to<bool>;
  { facts.isAwaited(object) } -> std::convertible_to<bool>;
  { facts.wasAwaited(work, object) } -> std::convertible_to<bool>;
  { facts.isReviewed(object) } -> std::convertible_to<bool>;
  { facts.isForgotten(work, object) } -> std::convertible_to<bool>;
  { facts.isRefused(object) } -> std::convertible_to<bool>;
  { facts.deferralState(object) } -> std::convertible_to<DeferralState>;
};

// What lastout does about the finalizer of a work.
template <class Object>
struct KeptWorkPlan {
  Keeping keeping = Keeping::AsItIs;
  bool waits = false;  // it is being deleted, and kept for what it owns
  // The object because of which lastout gives up waiting: it exists, and nobody seems to delete it.
  std::optional<Object> forsaken = std::nullopt;
};

template <class Work, class F>
bool ownsLastout(const F& facts, Work work) {
  return facts.anyOwned(work, [&](auto object) { return facts.isLastouts(object); });
}

// Returns true if lastout runs a deletion in which the work's agent failed: no CriticalService guards the
// object any more, or one that guards it wants deferred deletions to be run.
template <class Object, class F>
bool isLeftToLastout(const F& facts, Object object) {
  return (facts.isAwaited(object) || facts.isReviewed(object)) &&
         (facts.isWanted(object) || !facts.isGuarded(object));
}

// Returns true if lastout may have to delete objects that the work's agent could not delete.
template <class Work, class F>
bool leavesBehind(const F& facts, Work work) {
  return facts.work(work).isWaiting() && !ownsLastout(facts, work);
}

// Returns true if lastout has to delete the object even if no CriticalService records its deletion, because
// the work's agent requested the deletion once and is done, or has forgotten the object. `work` must be one
// that leavesBehind(), and must own the object.
template <class Work, class Object, KeptWorkFacts<Work, Object> F>
bool isLeftBehind(const F& facts, Work work, Object object) {
  return !facts.isTerminating(object) && isLeftToLastout(facts, object) &&
         (!facts.work(work).isHeldByOthers || facts.isForgotten(work, object));
}

// Returns what lastout does about the work's finalizer, from the objects that the work owns.
template <class Object, class Work, KeptWorkFacts<Work, Object> F>
KeptWorkPlan<Object> planKeptWork(const F& facts, Work work) {
  const WorkNow now = facts.work(work);
  if (now.terminates && !now.isKept) return {};
  KeptWorkPlan<Object> plan;
  OwnedByWork owned{.lastout = ownsLastout(facts, work), .isUnsure = facts.isUnsure()};
  plan.waits = now.isWaiting() && !owned.lastout;
  if (!now.terminates) {
    const auto isWanted = [&](Object object) { return facts.isWanted(object); };
    owned.guarded = facts.recordsUnseen(work) || facts.anyOwned(work, isWanted);
  } else if (plan.waits) {
    // Once the agent is gone nobody updates the record, so it counts no more.
    owned.awaited = (now.isHeldByOthers && facts.recordsUnseen(work)) ||
                    facts.hasUnseenDeferredDeletions(work) || facts.anyOwned(work, [&](Object object) {
                      return facts.isAwaited(object) || facts.wasAwaited(work, object);
                    });
    const auto isForsaken = [&](Object object) {
      if (facts.isTerminating(object)) return false;
      const bool isToGo = isLeftToLastout(facts, object) &&
                          facts.deferralState(object) == DeferralState::Stands && !facts.isRefused(object);
      if (!isToGo) plan.forsaken = object;
      return !isToGo;
    };
    owned.forsaken = !now.isHeldByOthers && facts.anyOwned(work, isForsaken);
  }
  plan.keeping = keepingOf(now, owned);
  return plan;
}

}  // namespace lastout::control

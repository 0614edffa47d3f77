// Kept works: while what a work has applied is there, its AppliedManifestWork carries a finalizer of
// lastout's, so that neither it nor the ManifestWork on the hub is reported gone too early. One plan, over
// any source of facts: the server's, and a state of the machine (docs/concepts.md, "Kept works").
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

#include "control/deferred_deletion.h"
#include "graph/condition.h"

namespace lastout::control {

// An AppliedManifestWork itself.
struct WorkNow {
  bool terminates = false;
  bool isKept = false;          // it carries the finalizer
  bool isHeldByOthers = false;  // it carries another one: its agent is at work

  // It is kept for as long as what it owns goes.
  bool isWaiting() const { return terminates && isKept; }
};

// What it owns and is there. Awaited is what some CriticalService guards and would remember the deletion of,
// and every Namespace and CriticalService.
struct OwnedByWork {
  bool guarded = false;  // something whose deletion lastout would carry out after it has denied it
  bool awaited = false;
  bool forsaken = false;  // something that nobody has deleted, and that lastout will not delete either
  bool lastout = false;   // lastout's namespace, something in it, or the CRD of CriticalServices
  bool isUnsure = false;  // more may be there than is known by now
};

enum class Keeping : uint8_t { AsItIs, Begins, Ends };

// Returns what is to become of the finalizer. A terminating object takes no new one. The agent removes its
// own when it has asked for every deletion once; what it failed to delete, and lastout does not carry out, is
// left to the garbage collector, which does nothing before the owner is gone: better the work is gone too
// early than never. A work that brings lastout itself is not kept, because nothing would let it go.
Keeping keepingOf(const WorkNow& work, const OwnedByWork& owned);

// `Work` and `Object` are whatever numbers them there. Objects are those that watches show; of what no watch
// shows tell the work's record (recordsUnseen: its status lists something whose deletion would be deferred)
// and lastout's memory (hasUnseenDeferredDeletions). `anyOwned` may leave out, of a work that is not being
// deleted, what is neither wanted nor lastout's. `isGuarded`: some CriticalService would remember the
// object's deletion; `isWanted`: one that defers what it denies to controllers. `isAwaited`: as of
// OwnedByWork; `wasAwaited`: the work was seen to wait for it before. `isReviewed`: it is of the type of a
// provider, or of what one needs. `isForgotten`: the agent has struck it off the work's record. `isRefused`:
// lastout cannot delete it.
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
  // What makes it forsaken: the work is let go although this is there, which nobody seems to delete.
  std::optional<Object> forsaken = std::nullopt;
};

template <class Work, class F>
bool ownsLastout(const F& facts, Work work) {
  return facts.anyOwned(work, [&](auto object) { return facts.isLastouts(object); });
}

// True if a deletion in which the agent of a work failed is a deferred deletion: of what no CriticalService
// guards any more, and of what one guards that wants deferred deletions carried out.
template <class Object, class F>
bool isLeftToLastout(const F& facts, Object object) {
  return (facts.isAwaited(object) || facts.isReviewed(object)) &&
         (facts.isWanted(object) || !facts.isGuarded(object));
}

// True if what the agent of a work could not delete may be lastout's to delete.
template <class Work, class F>
bool leavesBehind(const F& facts, Work work) {
  return facts.work(work).isWaiting() && !ownsLastout(facts, work);
}

// For a work that leavesBehind(), and an object that it owns. True if the deletion is lastout's to carry out
// although no CriticalService may remember it: the work's agent, which has asked for it once, is done, or has
// forgotten it.
template <class Work, class Object, KeptWorkFacts<Work, Object> F>
bool isLeftBehind(const F& facts, Work work, Object object) {
  return !facts.isTerminating(object) && isLeftToLastout(facts, object) &&
         (!facts.work(work).isHeldByOthers || facts.isForgotten(work, object));
}

// Returns what is to become of a work's finalizer, by all that the work owns.
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

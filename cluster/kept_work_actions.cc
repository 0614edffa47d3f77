// An AppliedManifestWork is kept while what it has applied is there (docs/concepts.md, "Kept works").
#include <algorithm>

#include "cluster/transition.h"
#include "control/kept_work_rule.h"

namespace lastout::cluster {

namespace {

using control::Keeping;

bool owns(const Transition& transition, Slot applied, Slot slot) {
  const ObjectState object = transition.state().object(slot);
  const std::vector<OwnerLink>& owners = transition.info(slot).owners;
  for (size_t i = 0; i < owners.size(); ++i) {
    if (owners[i].owner == applied && object.owner(i) == OwnerState::Current) return true;
  }
  return false;
}

bool isKeepable(const Transition& transition, Slot owner) {
  return owner != kNone && transition.info(owner).keptBit != 0 && transition.isPresent(owner);
}

// A state, for the plan: what lastout's watches would tell of it. Nobody refuses lastout again and again, and
// a state does not hold what a work was seen to wait for.
class StateOfWorks {
 public:
  explicit StateOfWorks(const Transition& transition) : transition_(transition) {}

  control::WorkNow work(Slot applied) const {
    const uint16_t kept = transition_.info(applied).keptBit;
    const uint16_t finalizers = transition_.state().finalizers(applied);
    return {.terminates = transition_.isTerminating(applied),
            .isKept = (finalizers & kept) != 0,
            .isHeldByOthers = (finalizers & ~kept) != 0};
  }
  static bool isUnsure() { return false; }

  bool recordsUnseen(Slot applied) const {
    return std::ranges::any_of(transition_.info(applied).dependents, [&](Slot slot) {
      return !isFollowed(transition_, slot) && isRecorded(applied, slot) && isWanted(slot);
    });
  }
  bool hasUnseenDeferredDeletions(Slot applied) const {
    return std::ranges::any_of(transition_.info(applied).dependents, [&](Slot slot) {
      return !isFollowed(transition_, slot) && transition_.state().object(slot).deferredDeletion &&
             owns(transition_, applied, slot) && isWanted(slot);
    });
  }
  template <class Holds>
  bool anyOwned(Slot applied, Holds holds) const {
    return std::ranges::any_of(transition_.info(applied).dependents, [&](Slot slot) {
      return transition_.isPresent(slot) && isFollowed(transition_, slot) &&
             owns(transition_, applied, slot) && holds(slot);
    });
  }

  bool isTerminating(Slot slot) const { return transition_.isTerminating(slot); }
  bool isLastouts(Slot slot) const {
    const std::optional<kube::ObjectKey>& home = transition_.model().lastoutNamespace;
    return control::isLastouts(transition_.info(slot).key, home ? home->name : std::string_view());
  }
  bool isGuarded(Slot slot) const { return hasRecorder(transition_, slot); }
  bool isWanted(Slot slot) const { return isDeferredForControllers(transition_, slot); }
  bool isAwaited(Slot slot) const {
    return control::isAwaited(transition_.info(slot).key.type) || isGuarded(slot);
  }
  static bool wasAwaited(Slot /*applied*/, Slot /*slot*/) { return false; }
  bool isReviewed(Slot slot) const { return isAnyPresent(transition_, transition_.info(slot).peers); }
  bool isForgotten(Slot applied, Slot slot) const { return !isRecorded(applied, slot); }
  static bool isRefused(Slot /*slot*/) { return false; }
  control::DeferralState deferralState(Slot slot) const {
    return deferralStateOf(transition_, slot, Sight::ByWatches);
  }

 private:
  // The status of the AppliedManifestWork lists it. Its agent writes that after each pass: until then it is
  // as before, which listed what the work had applied.
  bool isRecorded(Slot applied, Slot slot) const {
    const bool isInPass = transition_.state().work(transition_.info(applied).work).deleting;
    const std::vector<uint32_t>& links = transition_.info(slot).links;
    return std::ranges::any_of(links, [&](uint32_t link) {
      return transition_.model().links[link].work == transition_.info(applied).work &&
             (isInPass || transition_.state().link(link).recorded);
    });
  }

  const Transition& transition_;
};

}  // namespace

control::KeptWorkPlan<Slot> keptWorkPlan(const Transition& transition, Slot applied) {
  if (!isKeepable(transition, applied)) return {};
  return control::planKeptWork<Slot>(StateOfWorks(transition), applied);
}

bool isLeftBehind(const Transition& transition, Slot applied, Slot slot) {
  const StateOfWorks facts(transition);
  return isKeepable(transition, applied) && isFollowed(transition, slot) &&
         control::isLeftBehind(facts, applied, slot) && control::leavesBehind(facts, applied);
}

bool keepingChanges(const Transition& transition, Slot applied) {
  return keptWorkPlan(transition, applied).keeping != Keeping::AsItIs &&
         !transition.webhookFails(applied, &Interception::onUpdate);
}

void changeKeeping(Transition& transition, Slot applied) {
  ObjectState object = transition.state().object(applied);
  const uint16_t kept = transition.info(applied).keptBit;
  if (keptWorkPlan(transition, applied).keeping == Keeping::Begins)
    object.finalizers |= kept;
  else
    object.finalizers &= static_cast<uint16_t>(~kept);
  transition.update(applied, object, Actor::Lastout);
}

}  // namespace lastout::cluster

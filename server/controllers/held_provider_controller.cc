#include "server/controllers/held_provider_controller.h"

#include <algorithm>
#include <set>
#include <utility>

#include "admission/deletion_effect.h"
#include "kube/well_known.h"
#include "server/review/confirmed_verdict.h"

namespace lastout::server {
namespace {

using control::HeldProviderAction;
using std::chrono::steady_clock;

// A provider as it was just read, for the plan. Whether it is to be held is as the view has told: that
// CriticalServices were not told of does not matter then.
class ReadProvider {
 public:
  ReadProvider(HeldProviderAction seen, bool mayHold, const std::function<Changed()>& isConfirmedToEnd)
      : seen_(seen), mayHold_(mayHold), isConfirmedToEnd_(isConfirmedToEnd) {}

  bool mayHold() const { return mayHold_; }
  static bool isUnsure() { return false; }
  static bool terminates(const kube::ObjectMeta& provider) { return provider.deletionTimestamp.has_value(); }
  bool isHeld(const kube::ObjectMeta& /*provider*/) const { return seen_ != HeldProviderAction::Begins; }
  static bool endsAnyway(const kube::ObjectMeta& provider) {
    return kube::hasFinalizer(provider, kube::kForegroundFinalizer);
  }
  bool isToBeHeld(const kube::ObjectMeta& /*provider*/) const { return seen_ != HeldProviderAction::Ends; }
  // What cannot be confirmed is not so.
  bool mayEnd(const kube::ObjectMeta& /*provider*/) const {
    const Changed confirmed = isConfirmedToEnd_();
    if (!confirmed) problem_ = confirmed.error();
    return confirmed && *confirmed;
  }

  const std::string& problem() const { return problem_; }

 private:
  const HeldProviderAction seen_;
  const bool mayHold_;
  const std::function<Changed()>& isConfirmedToEnd_;
  mutable std::string problem_;
};

}  // namespace

HeldProviderController::HeldProviderController(const std::shared_ptr<client::Access>& access, LiveView& view,
                                               ConfirmingReads& reads, CurrentServices& services,
                                               HeldProviderControllerOptions options)
    : view_(view),
      reads_(reads),
      services_(services),
      options_(std::move(options)),
      loop_(access, view,
            {.finalizer = kube::kCriteriaFinalizer,
             .grantedBy = "lastout-holds-providers",
             .mayAct = options_.mayAct,
             .changes = [this] { return changes(); },
             .looksOn = [this] { unwatched_.forget(); },
             .attempted = [this](const FinalizerChange& change,
                                 const std::string& problem) { noteProblem(change, problem); },
             .random = options_.random,
             .log = options_.log}),
      unwatched_(loop_.server(), loop_.patience(), loop_.backoff(), options_.log) {}

std::vector<FinalizerChange> HeldProviderController::changes() {
  std::vector<HeldProviderChange> holdings;
  const bool mayHold = options_.mayHold();
  view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap& /*types*/) {
    holdings = heldProviderChanges(view, mayHold);
  });
  for (const auto& [provider, uid] : unwatched_.look(view_))
    holdings.push_back({provider, uid, HeldProviderAction::Ends, true});
  // What has to be confirmed may take long.
  std::ranges::stable_sort(holdings, {}, &HeldProviderChange::holding);
  forgetProblems(holdings);
  std::vector<FinalizerChange> changes;
  changes.reserve(holdings.size());
  for (const HeldProviderChange& holding : holdings) changes.push_back(asFinalizer(holding));
  return changes;
}

FinalizerChange HeldProviderController::asFinalizer(const HeldProviderChange& change) {
  FinalizerChange finalizer;
  finalizer.object = change.provider;
  finalizer.uid = change.uid;
  finalizer.begins = change.holding == HeldProviderAction::Begins;
  if (change.isWithdrawn) finalizer.doubt = "nobody wants it held";
  finalizer.confirm = [this, change](const kube::ObjectMeta& provider) {
    return isStillTo(change, provider);
  };
  finalizer.done = [this, change] { tell(change); };
  finalizer.moot = [this, change] { unwatched_.remove(change.provider); };
  return finalizer;
}

Changed HeldProviderController::isStillTo(const HeldProviderChange& change,
                                          const kube::ObjectMeta& provider) {
  const std::function<Changed()> isConfirmedToEnd = [&] {
    return isConfirmedToGo(view_, reads_, services_, change.provider, steady_clock::now() + options_.budget);
  };
  const ReadProvider facts(change.holding, options_.mayHold(), isConfirmedToEnd);
  const HeldProviderAction holding = control::planHeldProvider(facts, provider);
  if (!facts.problem().empty()) return tl::unexpected(facts.problem());
  return holding != HeldProviderAction::AsItIs;
}

std::string HeldProviderController::problemOf(const kube::ObjectKey& provider) const {
  const kube::MutexLock lock(mutex_);
  const auto found = problems_.find(provider);
  return found == problems_.end() ? "" : found->second;
}

void HeldProviderController::noteProblem(const FinalizerChange& change, const std::string& problem) {
  const kube::MutexLock lock(mutex_);
  if (problem.empty()) {
    problems_.erase(change.object);
  } else {
    problems_[change.object] =
        toString(change.object) +
        (change.begins ? " cannot be held, and its deletion is denied instead: " : " cannot be let go: ") +
        problem;
  }
}

// Of what is as it should be.
void HeldProviderController::forgetProblems(const std::vector<HeldProviderChange>& changes) {
  std::set<kube::ObjectKey> changing;
  for (const HeldProviderChange& change : changes) changing.insert(change.provider);
  const kube::MutexLock lock(mutex_);
  std::erase_if(problems_, [&](const auto& problem) { return !changing.contains(problem.first); });
}

void HeldProviderController::tell(const HeldProviderChange& change) const {
  const std::string name = toString(change.provider);
  switch (change.holding) {
    case HeldProviderAction::Begins:
      return options_.log(Level::Info, name + " is held until its criteria hold");
    case HeldProviderAction::LetsItGo:
      return options_.log(
          Level::Info,
          name + " is let go: " + (change.isWithdrawn ? "nobody guards it any more" : "its criteria hold"));
    default:
      return options_.log(Level::Info, name + " is held no longer");
  }
}

}  // namespace lastout::server

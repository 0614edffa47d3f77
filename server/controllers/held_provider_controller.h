// HeldProviderController: keeps lastout's finalizer on those providers that are to be held, and takes it off
// when their criteria hold (control/held_provider_rule.h).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/access.h"
#include "client/backoff.h"
#include "kube/locks.h"
#include "server/controllers/finalizer_loop.h"
#include "server/controllers/held_provider_plan.h"
#include "server/controllers/unwatched_held_providers.h"
#include "server/review/confirming_reads.h"
#include "server/review/current_services.h"
#include "server/runtime/log.h"
#include "server/watch/live_view.h"

namespace lastout::server {

struct HeldProviderControllerOptions {
  std::function<bool()> mayHold;  // false: all providers that are held are let go
  std::function<bool()> mayAct;   // this lastout holds the Lease
  std::function<client::RandomFraction()> random;
  std::chrono::milliseconds budget{3'500};  // for all that one provider's letting go rests on
  LogSink log;
};

// Its functions may be called by any thread; start() and stop() by one at a time. The removal of the
// finalizer of a provider that is being deleted is its deletion: what that rests on is read once more, as for
// a review, and the patch insists on the object as it was read before that.
class HeldProviderController {
 public:
  HeldProviderController(const std::shared_ptr<client::Access>& access, LiveView& view,
                         ConfirmingReads& reads, CurrentServices& services,
                         HeldProviderControllerOptions options);
  ~HeldProviderController() { stop(); }
  HeldProviderController(const HeldProviderController&) = delete;
  HeldProviderController& operator=(const HeldProviderController&) = delete;

  void start() { loop_.start(); }  // once
  // Nothing more is begun, and what fails is no problem any more; waits for nothing.
  void end() { loop_.end(); }
  void stop() { loop_.stop(); }  // for good
  // Something may have changed. To be called each second, too.
  void reconsider() { loop_.reconsider(); }

  // Why the provider cannot be held, or cannot be let go, in a sentence; empty: it can, as far as is known.
  std::string problemOf(const kube::ObjectKey& provider) const;

 private:
  std::vector<FinalizerChange> changes();
  FinalizerChange asFinalizer(const HeldProviderChange& change);
  Changed isStillTo(const HeldProviderChange& change, const kube::ObjectMeta& provider);
  void noteProblem(const FinalizerChange& change, const std::string& problem);
  void forgetProblems(const std::vector<HeldProviderChange>& changes);
  void tell(const HeldProviderChange& change) const;

  LiveView& view_;
  ConfirmingReads& reads_;
  CurrentServices& services_;
  const HeldProviderControllerOptions options_;
  mutable kube::Mutex mutex_;
  std::map<kube::ObjectKey, std::string> problems_ LASTOUT_GUARDED_BY(mutex_);
  FinalizerLoop loop_;
  UnwatchedHeldProviders unwatched_;  // of the loop's thread
};

}  // namespace lastout::server

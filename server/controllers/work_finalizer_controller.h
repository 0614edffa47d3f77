// WorkFinalizerController: keeps lastout's finalizer on those AppliedManifestWorks that have applied
// something guarded, until it is gone (control/kept_work_rule.h).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/access.h"
#include "client/backoff.h"
#include "server/controllers/event_writer.h"
#include "server/controllers/finalizer_loop.h"
#include "server/controllers/work_finalizer_plan.h"
#include "server/review/current_services.h"
#include "server/runtime/log.h"
#include "server/watch/live_view.h"

namespace lastout::server {

struct WorkFinalizerControllerOptions {
  std::function<bool()> mayKeep;                   // false: all works that are kept are let go
  std::function<bool()> mayAct;                    // this lastout holds the Lease
  std::function<std::set<std::string>()> refused;  // uids of what it cannot delete
  // As of keptWorksToChange().
  std::function<PersonsDeletions()> persons = [] { return PersonsDeletions(); };
  // All CriticalServices, as the API server has them now.
  std::function<kube::Result<CurrentServices::Services>()> services;
  std::function<client::RandomFraction()> random;
  LogSink log;
  std::function<void(Event event)> told;  // of works that are let go too early; must not wait
};

// Its functions may be called by any thread; start() and stop() by one at a time.
class WorkFinalizerController {
 public:
  WorkFinalizerController(const std::shared_ptr<client::Access>& access, const LiveView& view,
                          WorkFinalizerControllerOptions options);
  ~WorkFinalizerController() { stop(); }
  WorkFinalizerController(const WorkFinalizerController&) = delete;
  WorkFinalizerController& operator=(const WorkFinalizerController&) = delete;

  void start() { loop_.start(); }  // once
  // Nothing more is begun, and what fails is no problem any more; waits for nothing.
  void end() { loop_.end(); }
  void stop() { loop_.stop(); }  // for good
  // Something may have changed. To be called each second, too.
  void reconsider() { loop_.reconsider(); }
  // Works that are being deleted and that lastout keeps, as this replica saw when it looked last.
  size_t kept() const { return kept_; }

 private:
  bool isDoubtTooOld(bool isInDoubt);
  std::vector<FinalizerChange> changes();
  void lookOn();
  FinalizerChange asFinalizer(const KeptWorkChange& change);
  Changed mayBeLetGo(const KeptWorkChange& change, const kube::ObjectMeta& work);
  Changed isForsaken(const VeryObject& object);
  bool isRecorded(const std::string& work, const std::vector<kube::Object>& services);
  Changed ownsNamespace(const std::string& work);  // as it is read now
  void tell(const KeptWorkChange& change);

  const LiveView& view_;
  const WorkFinalizerControllerOptions options_;
  AwaitedObjects awaited_;                 // of the loop's thread, as the next
  std::optional<TimePoint> inDoubtSince_;  // a provider's type
  TimePoint lookOnAgain_;
  std::atomic<size_t> kept_{0};
  ProblemLog doubts_;
  FinalizerLoop loop_;
};

}  // namespace lastout::server

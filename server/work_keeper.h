// WorkKeeper: keeps lastout's finalizer on those AppliedManifestWorks that have applied something guarded,
// until it is gone (admission/kept_work.h).
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tl/expected.hpp>
#include <vector>

#include "client/access.h"
#include "client/backoff.h"
#include "server/event_writer.h"
#include "server/kept_works.h"
#include "server/live_view.h"
#include "server/log.h"

namespace lastout::server {

struct WorkKeeperOptions {
  std::function<bool()> mayKeep;                   // false: all works that are kept are let go
  std::function<bool()> mayAct;                    // this lastout holds the Lease
  std::function<std::set<std::string>()> refused;  // uids of what it cannot delete
  std::function<client::RandomFraction()> random;
  // What was refused is tried again after this.
  client::BackoffLimits again{std::chrono::milliseconds(1'000), std::chrono::milliseconds(30'000)};
  std::chrono::milliseconds patience{10'000};  // for one answer: the API server asks webhooks
  Log log;
  std::function<void(Event event)> told;  // of works that are let go too early; must not wait
};

// Its functions may be called by any thread; start() and stop() by one at a time.
class WorkKeeper {
 public:
  WorkKeeper(const std::shared_ptr<client::Access>& access, const LiveView& view, WorkKeeperOptions options);
  ~WorkKeeper();  // as stop()
  WorkKeeper(const WorkKeeper&) = delete;
  WorkKeeper& operator=(const WorkKeeper&) = delete;

  void start();  // once
  void stop();   // for good
  // Something may have changed. To be called each second, too.
  void reconsider();

 private:
  // What was done about the work with a uid.
  struct Record {
    Record(client::Backoff aBackoff, ProblemLog aLog)
        : backoff(std::move(aBackoff)), problems(std::move(aLog)) {}
    client::Backoff backoff;
    ProblemLog problems;
    TimePoint notBefore;   // of the next attempt
    std::string forsaken;  // uid of what it was to be let go for at the last look
  };
  using Done = tl::expected<bool, std::string>;  // whether anything was changed; or why it cannot be

  void run();
  bool isStopping();
  std::chrono::milliseconds doubt(const std::optional<kube::GroupResource>& type);
  std::vector<KeptWorkChange> changes();
  void pass();
  void settle(const KeptWorkChange& change);
  Record& recordOf(const KeptWorkChange& change);
  Done change(const KeptWorkChange& change);
  bool isForsaken(const VeryObject& object);
  void tell(const KeptWorkChange& change);

  const LiveView& view_;
  const WorkKeeperOptions options_;
  const std::unique_ptr<client::ApiServer> server_;
  const client::RandomFraction random_;    // of the thread, as the next
  std::map<std::string, Record> records_;  // by the work's uid
  std::optional<TimePoint> inDoubtSince_;  // a provider's type; of the thread, as the next
  ProblemLog doubts_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // these are guarded by the mutex
  bool reconsider_ = false;
  std::thread thread_;
};

}  // namespace lastout::server

// DeferredDeletionStore: records denied deletions in the status of the CriticalServices that guard the
// object, so that the holder of the Lease runs them (deferred_deletion_runner.h), even after every lastout
// was restarted.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "admission/review.h"
#include "client/access.h"
#include "client/backoff.h"
#include "kube/locks.h"
#include "server/controllers/deferred_deletion_event.h"
#include "server/runtime/log.h"
#include "server/runtime/loop.h"
#include "server/watch/live_view.h"

namespace lastout::server {

// The names of users that do not retry a denied DELETE, or not soon. The usual ones (Kubernetes' controllers
// and the ManifestWork agent) delete only dependents and the content of namespaces.
using ControllerUsers = std::set<std::string, std::less<>>;
const ControllerUsers& usualControllers();

// Whose denied deletions are deferred.
struct Requesters {
  ControllerUsers controllers = usualControllers();
  // The deletions of persons count, and those that other controllers than the usual ones requested for an
  // object without owners. True only if reviews come from API servers, which a verified client certificate
  // proves.
  bool personsCount = false;

  bool isController(const std::string& user) const { return controllers.contains(user); }
  bool isPersonThatCounts(const std::string& user) const { return personsCount && !isController(user); }
  // Returns true if lastout may run the user's denied deletion later.
  bool counts(const std::string& user, bool isOwned) const {
    return personsCount || usualControllers().contains(user) || (isOwned && isController(user));
  }
};

struct DeferredDeletionStoreOptions {
  Requesters requesters;
  // The annotation lastout.dev/delete-when-free counts, as far as is known: denials name it.
  std::function<bool()> annotationsCount = [] { return false; };
  // The types for which lastout repeats deletions that annotations ask for and policies deny.
  std::set<kube::GroupResource> replayedTypes = {};
  std::function<std::chrono::sys_seconds()> clock;  // what time it is, for people
  std::function<client::RandomFraction()> random;   // makes one for a thread of its own
  client::BackoffLimits backoff;                    // after what went wrong
  // How long a denial waits until it is recorded; and how long the store waits for CriticalServices that
  // guard the object and that no watch has shown yet.
  std::chrono::milliseconds longest{1'000};
  std::chrono::milliseconds untoldFor{10'000};
  std::chrono::milliseconds patience{5'000};  // for one answer
  LogSink log;
  std::function<void(const DeferredDeletionEvent& news)> told = [](const DeferredDeletionEvent&) {
  };  // must not wait
};

// Its functions may be called by any thread; start() and stop() by one at a time.
class DeferredDeletionStore {
 public:
  DeferredDeletionStore(const std::shared_ptr<client::Access>& access, const LiveView& view,
                        DeferredDeletionStoreOptions options);
  ~DeferredDeletionStore();  // as stop()
  DeferredDeletionStore(const DeferredDeletionStore&) = delete;
  DeferredDeletionStore& operator=(const DeferredDeletionStore&) = delete;

  void start();  // once
  // Accepts no more deletions, writes the waiting changes for at most `grace`, then calls stop().
  void finish(std::chrono::milliseconds grace);
  void stop();  // for good

  // Records a denied DELETE if a CriticalService wants that. Waits until it is written or `deadline` is over;
  // does not wait if it is not known yet which CriticalService records it, or if too many writes are waiting:
  // then the store writes it later. Returns a text for the end of the denial; empty: there is none.
  std::string recordAndAdvise(const admission::Review& review, TimePoint deadline);
  // Returns the advice how a person asks for a deletion that a policy denies; empty: lastout would not run
  // it.
  std::string adviceToReplay(const admission::Review& review) const;
  // Removes the deletion from the status of the CriticalService, unless the status has another deletion of
  // the same object.
  void forget(const std::string& service, const criticalservice::DeferredDeletion& deletion);

  static constexpr size_t kMostWaiting = 10'000;  // changes

 private:
  using Deletions = std::map<std::string, criticalservice::DeferredDeletion>;  // by the uid of the object
  // What is to be changed in one CriticalService.
  struct Changes {
    Deletions recorded;
    Deletions forgotten;
    TimePoint notBefore;  // the first to come is written first; a failed write waits for its retry
    bool has(const std::string& uid) const { return recorded.contains(uid); }
    size_t size() const { return recorded.size() + forgotten.size(); }
  };
  // One CriticalService, and its changes that are being written.
  struct Writing {
    std::string service;
    Changes changes;
  };
  // A deletion for which no CriticalService is known yet.
  struct Unplaced {
    criticalservice::DeferredDeletion deletion;
    TimePoint until;
  };
  // Whether CriticalServices defer the deletion of an object. Unknown: it was denied, although no known
  // CriticalService guards it.
  enum class DeferringServices : uint8_t { None, Some, Unknown };
  void record(const admission::Review& review, TimePoint deadline, DeferringServices deferringServices);
  enum class Written : uint8_t { Done, Conflict, TooLarge, Later };
  // The new status of a CriticalService, and the events to tell once it is written.
  struct StatusUpdate {
    criticalservice::DeferredDeletions deferredDeletions;
    std::vector<DeferredDeletionEvent> news;
  };

  std::string adviceFor(const admission::Review& review, DeferringServices deferringServices) const;
  bool isOfController(const criticalservice::DeferredDeletion& deletion) const;
  bool isRecordedIn(criticalservice::DeferralMode deferral,
                    const criticalservice::DeferredDeletions& deferredDeletions,
                    const criticalservice::DeferredDeletion& deletion) const;
  void add(Deletions& deletions, const criticalservice::DeferredDeletion& deletion) const;
  // The CriticalServices that have to record a deletion; true: its status has it already.
  using Places = std::map<std::string, bool>;
  Places placesFor(const criticalservice::DeferredDeletion& deletion) const;
  std::set<std::string> missing(const Places& places, const std::string& uid) const LASTOUT_REQUIRES(mutex_);
  DeferringServices deferringServicesOf(const kube::ObjectKey& object, bool byController) const;
  bool isAnother(const criticalservice::DeferredDeletion& deletion) const;
  Changes& changesOf(const std::string& service) LASTOUT_REQUIRES(mutex_);
  void place(const criticalservice::DeferredDeletion& deletion, const std::set<std::string>& services)
      LASTOUT_REQUIRES(mutex_);
  bool isWaiting(const std::set<std::string>& services, const std::string& uid) const
      LASTOUT_REQUIRES(mutex_);
  size_t waiting() const LASTOUT_REQUIRES(mutex_);
  std::map<std::string, Changes>::iterator firstToWrite() LASTOUT_REQUIRES(mutex_);
  void round();
  bool goesOn() LASTOUT_REQUIRES(mutex_);
  void placeUntold() LASTOUT_EXCLUDES(mutex_);
  std::optional<TimePoint> writeFirst() LASTOUT_EXCLUDES(mutex_);
  void giveUpUnwritten() LASTOUT_EXCLUDES(mutex_);
  void tellNotRecorded(const criticalservice::DeferredDeletion& deletion, const std::string& service) const;
  void restoreChanges(const std::string& service, Changes changes) LASTOUT_REQUIRES(mutex_);
  Written write(const std::string& service, const Changes& changes);
  StatusUpdate outcomeOf(const Changes& changes, const kube::Value& object, size_t most) const;
  Written patch(const std::string& path, const std::string& service, const kube::Value& object,
                const StatusUpdate& wanted);
  tl::expected<kube::Value, Written> ask(const std::string& service, const client::ApiRequest& request);

  const LiveView& view_;
  const DeferredDeletionStoreOptions options_;
  const std::unique_ptr<client::ApiServer> server_;
  client::Backoff backoff_;  // of the loop
  int conflicts_ = 0;        // of the thread: in a row
  ProblemLog problems_;      // of the thread

  kube::Mutex mutex_;
  kube::ConditionVariable changed_;
  bool stopping_ LASTOUT_GUARDED_BY(mutex_) = false;
  TimePoint stopBy_ LASTOUT_GUARDED_BY(mutex_);
  bool hasEnded_ LASTOUT_GUARDED_BY(mutex_) = true;  // nothing is written any more
  std::map<std::string, Changes> waiting_ LASTOUT_GUARDED_BY(mutex_);
  std::shared_ptr<const Writing> writing_ LASTOUT_GUARDED_BY(mutex_);  // nullptr while no write runs
  std::vector<Unplaced> unplaced_ LASTOUT_GUARDED_BY(mutex_);
  Loop loop_;
};

}  // namespace lastout::server

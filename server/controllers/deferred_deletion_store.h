// DeferredDeletionStore: remembers deletions that were denied, in the status of the CriticalServices that
// guard the object, so that whoever holds the Lease carries them out (deferred_deletion_runner.h), also after
// all of lastout was killed.
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

// Who is denied and does not ask again, or not soon: the names of users. The usual ones delete only what its
// owners, or its namespace, take along.
using Controllers = std::set<std::string, std::less<>>;
const Controllers& usualControllers();

// Whose denied deletions are deferred.
struct Requesters {
  Controllers controllers = usualControllers();
  // What a person asked for counts, and what other controllers than the usual ones asked for of an object
  // without owners: reviews come over a client certificate that is verified, and so from API servers alone.
  bool personsCount = false;

  bool isController(const std::string& user) const { return controllers.contains(user); }
  bool isPersonThatCounts(const std::string& user) const { return personsCount && !isController(user); }
  // What the user asked for can be carried out later.
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
  // The longest that a denial waits to be remembered; and, when the CriticalServices that guard the object
  // have not been told yet, that they are waited for.
  std::chrono::milliseconds longest{1'000};
  std::chrono::milliseconds untoldFor{10'000};
  std::chrono::milliseconds patience{5'000};  // for one answer
  Log log;
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
  // Takes nothing more; what is not written yet still is, until `grace` is over. Then stop().
  void finish(std::chrono::milliseconds grace);
  void stop();  // for good

  // This DELETE was denied. Where it is to be remembered, returns when it is, or at `deadline`; at once when
  // it is not known yet who is to remember it, or too much is to be written. It is written as soon as it can
  // be. Returns what the user needs to know beside the denial; empty: nothing.
  std::string remember(const admission::Review& review, TimePoint deadline);
  // How a person asks for a deletion that a policy denies; empty: it would not be carried out.
  std::string adviceToReplay(const admission::Review& review) const;
  // The CriticalService need not remember this any more. Another deletion of the same object it keeps.
  void forget(const std::string& service, const criticalservice::DeferredDeletion& deletion);

  static constexpr size_t kMostWaiting = 10'000;  // changes

 private:
  using Deletions = std::map<std::string, criticalservice::DeferredDeletion>;  // by the uid of the object
  // What is to be changed in one CriticalService.
  struct Changes {
    Deletions remembered;
    Deletions forgotten;
    TimePoint notBefore;  // who came first is written first; and later what could not be written
    bool has(const std::string& uid) const { return remembered.contains(uid); }
    size_t size() const { return remembered.size() + forgotten.size(); }
  };
  // One CriticalService, and its changes that are being written.
  struct Writing {
    std::string service;
    Changes changes;
  };
  // No CriticalService is known yet whose status is to have it.
  struct Unplaced {
    criticalservice::DeferredDeletion deletion;
    TimePoint until;
  };
  // Who is to remember the deletion of an object: Unknown, when it was denied and yet nobody is known who
  // guards it.
  enum class Takers : uint8_t { None, Some, Unknown };
  void remember(const admission::Review& review, TimePoint deadline, Takers takers);
  enum class Written : uint8_t { Done, Conflict, TooLarge, Later };
  // What a CriticalService is to remember, and what is to be told once it does.
  struct StatusUpdate {
    criticalservice::DeferredDeletions deferredDeletions;
    std::vector<DeferredDeletionEvent> news;
  };

  std::string adviceFor(const admission::Review& review, Takers takers) const;
  bool isOfController(const criticalservice::DeferredDeletion& deletion) const;
  bool remembers(criticalservice::DeferralMode deferral,
                 const criticalservice::DeferredDeletions& deferredDeletions,
                 const criticalservice::DeferredDeletion& deletion) const;
  void add(Deletions& deletions, const criticalservice::DeferredDeletion& deletion) const;
  // The CriticalServices that are to remember a deletion; true: that one does already.
  using Places = std::map<std::string, bool>;
  Places placesFor(const criticalservice::DeferredDeletion& deletion) const;
  std::set<std::string> missing(const Places& places, const std::string& uid) const LASTOUT_REQUIRES(mutex_);
  Takers takersOf(const kube::ObjectKey& object, bool byController) const;
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
  void dropAll() LASTOUT_EXCLUDES(mutex_);
  void tellDropped(const criticalservice::DeferredDeletion& deletion, const std::string& service) const;
  void takeBack(const std::string& service, Changes changes) LASTOUT_REQUIRES(mutex_);
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

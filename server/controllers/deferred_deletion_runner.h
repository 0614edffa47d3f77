// DeferredDeletionRunner: runs deferred deletions (deferred_deletion_store.h) once lastout allows them and a
// confirming read agrees. It sends each DELETE as lastout's own user; the API server has it reviewed like any
// other.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "client/access.h"
#include "client/backoff.h"
#include "criticalservice/deferred_deletion.h"
#include "kube/locks.h"
#include "net/worker_pool.h"
#include "server/controllers/annotation_events.h"
#include "server/controllers/deferred_deletion_entries.h"
#include "server/controllers/deferred_deletion_plan.h"
#include "server/controllers/deferred_deletion_store.h"
#include "server/controllers/owned_object.h"
#include "server/runtime/loop.h"
#include "server/watch/live_view.h"

namespace lastout::server {

struct DeferredDeletionRunnerOptions {
  Requesters requesters;
  // The annotation lastout.dev/delete-when-free counts, as it was found last (nullopt: not yet); and as the
  // API server says now, or why that cannot be told.
  std::function<std::optional<bool>()> annotationsCount = [] { return std::optional(false); };
  std::function<tl::expected<bool, std::string>()> confirmAnnotationsCount = [] {
    return tl::expected<bool, std::string>(false);
  };
  std::function<std::chrono::sys_seconds()> clock;  // of people, for how long an annotation counts
  std::function<bool()> mayAct;  // this lastout holds the Lease, and API servers ask it about what is deleted
  // Whether the object may go by what the API server says now, past all caches: nothing is sent before that
  // is true. Fails with why it could not be confirmed. Called by any thread; may wait.
  std::function<tl::expected<bool, std::string>(const kube::ObjectKey& object)> confirm;
  // Removes the deletion from the status of the CriticalService.
  std::function<void(const std::string& service, const criticalservice::DeferredDeletion& deletion)> forget;
  std::function<client::RandomFraction()> random;  // makes one for a thread of its own
  // What was refused, or is held back by an owner, is looked at again after this: mostly an API server, or
  // another replica, is about to be told what has just gone.
  client::BackoffLimits again{std::chrono::milliseconds(20), std::chrono::milliseconds(5'000)};
  std::chrono::milliseconds patience{10'000};  // for one answer: the API server asks webhooks
  size_t senders = 8;
  std::function<void(const DeferredDeletionEvent& news)> told;  // by any thread; must not wait
};

// Its functions may be called by any thread; start() and stop() by one at a time.
class DeferredDeletionRunner {
 public:
  DeferredDeletionRunner(const std::shared_ptr<client::Access>& access, const LiveView& view,
                         DeferredDeletionRunnerOptions options);
  ~DeferredDeletionRunner();  // as stop()
  DeferredDeletionRunner(const DeferredDeletionRunner&) = delete;
  DeferredDeletionRunner& operator=(const DeferredDeletionRunner&) = delete;

  void start();  // once
  void stop();   // for good
  // Something may have changed. Costs next to nothing while nothing is deferred. To be called each second,
  // too, with `always`.
  void reconsider(bool always = false);
  // Returns the uids of objects that lastout allows itself to delete and has failed to delete several times
  // (refused, not readable, or kept by an owner), and of recorded deletions that it does not run.
  std::set<std::string> refused();

 private:
  using Entry = DeferredDeletionEntry;
  using Job = DeferredDeletionJob;
  struct TrackedDeletion : DeferredDeletionProgress {
    explicit TrackedDeletion(client::Backoff aBackoff) : backoff(std::move(aBackoff)) {}
    client::Backoff backoff;
    bool isLeftAlone = false;  // no CriticalService wants this lastout to run it
    int conflicts = 0;         // in a row
    std::string told;          // the problem, or how it ended
  };

  void pass();
  void consider(const std::vector<Entry>& entries, const admission::ClusterView& view, TimePoint now)
      LASTOUT_REQUIRES(mutex_);
  TrackedDeletion& trackedOf(const std::string& uid) LASTOUT_REQUIRES(mutex_);
  void execute(const Entry& entry, Job job);
  bool mayGo(const Entry& entry) const;
  AnnotationsNow annotationsNow() const;
  tl::expected<bool, std::string> isStillWanted(const Entry& entry, const OwnedObject& object);
  tl::expected<bool, std::string> isStillDeferredByWork(const Entry& entry);
  void send(const Entry& entry, const std::string& resourceVersion);
  void conflict(const Entry& entry, const std::string& problem);
  void notNow(const Entry& entry);
  void countRefusal(const Entry& entry);
  void forget(const Entry& entry);
  void noteDone(const Entry& entry);
  void postpone(const Entry& entry, bool waits, const std::string& problem);
  void tell(const Entry& entry, DeferredDeletionEvent::Kind kind, const std::string& why = {});

  const LiveView& view_;
  const DeferredDeletionRunnerOptions options_;
  const std::unique_ptr<client::ApiServer> server_;
  const OwnedObjects objects_;
  std::atomic<bool> isAnythingDeferred_{true};
  AnnotationEvents annotationEvents_;  // of the loop

  kube::Mutex mutex_;
  client::RandomFraction random_ LASTOUT_GUARDED_BY(mutex_);
  std::map<std::string, TrackedDeletion> tracked_ LASTOUT_GUARDED_BY(mutex_);  // by the uid of the object
  net::WorkerPool senders_;
  Loop loop_;
};

}  // namespace lastout::server

// WebhookKeeper: keeps lastout's webhook configuration as declared: created again when it is deleted, put
// back when it is edited, changed when other objects are to be reviewed; and taken away when nothing can be
// guarded.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "client/access.h"
#include "client/watcher.h"
#include "kube/locks.h"
#include "server/runtime/log.h"
#include "server/runtime/loop.h"
#include "server/webhook/probe_record.h"
#include "server/webhook/review_paths.h"
#include "server/webhook/webhook_configuration.h"

namespace lastout::server {

struct WebhookKeeperOptions {
  client::WatcherOptions watcher;                  // its `random` is replaced
  std::function<client::RandomFraction()> random;  // makes one for a thread of its own
  LogSink log;
  // The configuration asks again for what it should, after it did not for so long, as far as was seen: what
  // was changed while it could not be followed counts from when that began. Not told of the first time, nor
  // of what is to be reviewed since.
  std::function<void(std::chrono::milliseconds unguarded)> restored;
  // Empty: always. Of several lastouts in a cluster one writes, so that none undoes what another knows.
  std::function<bool()> mayWrite;
  // Between two times that somebody else's change is put back; the first time it is at once.
  client::BackoffLimits restoring{std::chrono::milliseconds(500), std::chrono::milliseconds(10'000)};
  // What is to be reviewed is written so long after it has changed, with all that has changed meanwhile.
  std::chrono::milliseconds batch{100};
  std::chrono::milliseconds calmAfter{60'000};  // unchanged for so long, the next is the first
};

// Its functions may be called by any thread; start() and stop() by one at a time.
class WebhookKeeper {
 public:
  WebhookKeeper(const std::shared_ptr<client::Access>& access, WebhookConfiguration configuration,
                WebhookKeeperOptions options);
  ~WebhookKeeper();  // as stop()
  WebhookKeeper(const WebhookKeeper&) = delete;
  WebhookKeeper& operator=(const WebhookKeeper&) = delete;

  // Where API servers reach lastout, in place of the configuration's URL. Before start() alone.
  void setUrl(const std::string& url);
  void start();  // once
  void stop();   // for good; the configuration stays as it is

  // These are to be reviewed. Before this is called nothing is written: what stands there may ask for more.
  void setObjects(ReviewedObjects objects);
  // Who vouches for lastout's certificate from now on, in PEM.
  void setAuthorities(const std::string& authorities);
  // Sets the path for reviews that this process writes into the configuration. Until this is called, it keeps
  // the path of the existing configuration.
  void setReviewPath(const std::string& path);
  // Whether API servers may ask for reviews at this path: it is the one that was set, or in the configuration
  // that stands, which another replica may have written, or was either until a minute ago.
  bool asksAt(std::string_view path) const;
  // Whether the configuration that stands names them; false while that is not known.
  bool names(const std::string& authorities) const;
  // Deletes the configuration until setObjects() is called again, because no CriticalService can exist and
  // nothing is guarded: so an uninstalled lastout leaves no webhook that would deny.
  void retire();
  // Returns whether the API server asks lastout about the objects that are declared now; nullopt: unknown.
  std::optional<bool> isInForce() const;
  // Returns whether it asks lastout about what is wanted; nullopt: unknown. While something else is declared
  // and written, it goes on asking about what stays.
  std::optional<bool> asksAbout(const ReviewedObjects& wanted) const;
  // Returns whether what stands asks about something because of DeletionPolicies; nullopt: unknown.
  std::optional<bool> asksForPolicies() const;
  // The same about all that is declared now. True while what is declared no longer is taken out of it.
  std::optional<bool> asksAboutAll() const;
  // Returns the configuration in force; nullopt unless isInForce() is true.
  std::optional<ProbedConfiguration> inForce() const;
  // Where what stands asks for reviews, if it is as it should be; "": it is not, or that is not known.
  std::string pathInForce() const;
  void reconsider();        // mayWrite() may have changed
  std::string uid() const;  // of the object that stands there; empty: none does

 private:
  using TimePoint = client::TimePoint;
  enum class DesiredState : uint8_t { Unknown, Standing, Gone };
  struct Write {
    client::ApiRequest request;
    std::optional<DeclaredWebhooks> declared;  // by what is written; nullopt: it deletes the configuration
  };

  bool mayWrite() const { return !options_.mayWrite || options_.mayWrite(); }
  bool follows() const LASTOUT_REQUIRES(mutex_) {
    return knowledge_.state == client::SyncStatus::State::Synced;
  }
  bool isBelieved() const LASTOUT_REQUIRES(mutex_);
  bool isSettled() const LASTOUT_REQUIRES(mutex_);
  bool isAsItShould() LASTOUT_REQUIRES(mutex_);
  void compare() LASTOUT_REQUIRES(mutex_);
  void widenWithoutConditions() LASTOUT_REQUIRES(mutex_);
  void noteAsked(bool asksForFormer) LASTOUT_REQUIRES(mutex_);
  void adoptPath() LASTOUT_REQUIRES(mutex_);
  void wantPath(const std::string& path) LASTOUT_REQUIRES(mutex_);
  const MadeWebhooks& made() LASTOUT_REQUIRES(mutex_);
  void replace(std::string& path, const std::string& by) LASTOUT_REQUIRES(mutex_);
  void countLoss() LASTOUT_REQUIRES(mutex_);
  bool mayRestore(TimePoint now) LASTOUT_REQUIRES(mutex_);
  TimePoint changedSince(TimePoint now) const LASTOUT_REQUIRES(mutex_);
  void step();
  bool awaitsNews() LASTOUT_REQUIRES(mutex_);
  Write nextWrite() LASTOUT_REQUIRES(mutex_);
  void noteWritten(const Write& write, const tl::expected<std::string, std::string>& version)
      LASTOUT_REQUIRES(mutex_);
  void told(std::optional<kube::Value> object);
  void know(const client::SyncStatus& knowledge);
  void declare(DesiredState desiredState, ReviewedObjects objects);
  tl::expected<std::string, std::string> send(const client::ApiRequest& request);

  const WebhookKeeperOptions options_;
  const std::unique_ptr<client::ApiServer> server_;
  client::Backoff backoff_;    // of the loop: after what failed
  client::Backoff restoring_;  // of the loop: after somebody else's changes
  ProblemLog problems_;        // of the loop: with writing

  mutable kube::Mutex mutex_;
  WebhookConfiguration configuration_ LASTOUT_GUARDED_BY(mutex_);
  // Of the configuration, unless that has changed.
  std::optional<MadeWebhooks> made_ LASTOUT_GUARDED_BY(mutex_);
  DesiredState desiredState_ LASTOUT_GUARDED_BY(mutex_) =
      DesiredState::Unknown;                                        // what should become of the configuration
  uint64_t changes_ LASTOUT_GUARDED_BY(mutex_) = 0;                 // of all that a write depends on
  client::SyncStatus knowledge_ LASTOUT_GUARDED_BY(mutex_);         // of the watch
  TimePoint awaySince_ LASTOUT_GUARDED_BY(mutex_);                  // when it began not to follow, last
  TimePoint followsSince_ LASTOUT_GUARDED_BY(mutex_);               // and when it did
  std::optional<kube::Value> standing_ LASTOUT_GUARDED_BY(mutex_);  // the one that does
  DeclaredWebhooks declared_ LASTOUT_GUARDED_BY(mutex_);            // in it
  std::string askedAt_ LASTOUT_GUARDED_BY(mutex_);                  // the path for reviews in it
  std::string ownPath_ LASTOUT_GUARDED_BY(mutex_);                  // that was set last; empty: none was
  // By which API servers may go until then.
  ReviewPaths formerPaths_ LASTOUT_GUARDED_BY(mutex_);
  std::string written_ LASTOUT_GUARDED_BY(mutex_);  // the version of what was written last, in this history
  bool isWriting_ LASTOUT_GUARDED_BY(mutex_) = false;  // and may be another already
  bool isRight_ LASTOUT_GUARDED_BY(mutex_) = false;    // it is as wished
  ReviewedObjects asked_ LASTOUT_GUARDED_BY(mutex_);   // what it asks about, as far as is certain
  // More of what is to be reviewed may change until then.
  TimePoint writeNotBefore_ LASTOUT_GUARDED_BY(mutex_);
  TimePoint rightSince_ LASTOUT_GUARDED_BY(mutex_);  // since when
  // As it was right last, or was written since.
  std::optional<DeclaredWebhooks> stood_ LASTOUT_GUARDED_BY(mutex_);
  TimePoint restoreNotBefore_ LASTOUT_GUARDED_BY(mutex_);  // what somebody else changed is left until then
  TimePoint calmAt_ LASTOUT_GUARDED_BY(mutex_);            // from then on the next change is the first again
  // It is seen to ask neither for what it should nor for that.
  std::optional<TimePoint> wrongSince_ LASTOUT_GUARDED_BY(mutex_);
  // From when the interval is counted that is to be told.
  std::optional<TimePoint> lostAt_ LASTOUT_GUARDED_BY(mutex_);
  // After a write, until the watch has told of it: by when that is awaited, and the changes before.
  std::optional<TimePoint> newsBy_ LASTOUT_GUARDED_BY(mutex_);
  uint64_t changesBefore_ LASTOUT_GUARDED_BY(mutex_) = 0;
  Loop loop_;
  client::Watcher watcher_;
};

}  // namespace lastout::server

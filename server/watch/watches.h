// Watches: keeps a LiveView told: one Watcher for each type that it wants, as CriticalServices, CRDs and what
// the API server serves come and go.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/access.h"
#include "client/discovery.h"
#include "client/watcher.h"
#include "kube/locks.h"
#include "server/runtime/log.h"
#include "server/runtime/loop.h"
#include "server/watch/live_view.h"
#include "server/watch/unlisted_types.h"

namespace lastout::server {

struct WatchesOptions {
  client::WatcherOptions watcher;                     // each Watcher gets a `random` of its own
  std::function<client::RandomFraction()> random;     // makes one for a thread of its own
  std::chrono::milliseconds rediscoverAfter{60'000};  // although nothing has changed
  LogSink log;
  // An object was told of, or that it is gone; from any thread, and often. May be empty.
  std::function<void()> told;
  // A watch that followed the type has failed, and is begun again; from any thread. May be empty.
  std::function<void(const kube::GroupResource& type)> interrupted;
};

// Its functions may be called by any thread; start() and stop() by one at a time.
class Watches {
 public:
  Watches(std::shared_ptr<client::Access> access, LiveView& view, WatchesOptions options);
  ~Watches();  // as stop()
  Watches(const Watches&) = delete;
  Watches& operator=(const Watches&) = delete;

  void start();  // once
  void stop();   // for good

  // Is told, by a thread of this, when CriticalServices, types, or what is known of one may have changed, and
  // each second. To be called before start().
  void observe(std::function<void()> reconsidered) { reconsidered_ = std::move(reconsidered); }

 private:
  struct Followed {
    std::string path;
    client::Content content = client::Content::Metadata;
    std::unique_ptr<client::Watcher> watcher;
  };

  void round();
  void lookAgain();
  TimePoint nextLook() const LASTOUT_REQUIRES(mutex_);
  void rediscover(bool all, const std::set<std::string>& groups);
  void reconsider();
  void follow(const kube::ResourceType& type, client::Content content);
  void unfollow(const kube::GroupResource& type);
  client::ReflectorHandlers handlersFor(const kube::ResourceType& type);
  void noticed(const kube::GroupResource& type, const std::string& name);

  const std::shared_ptr<client::Access> access_;
  LiveView& view_;
  const WatchesOptions options_;
  std::function<void()> reconsidered_;
  const std::unique_ptr<client::ApiServer> server_;  // for discovery

  std::map<kube::GroupResource, Followed> followed_;  // of the thread
  client::Backoff backoff_;                           // of the thread
  UnlistedTypes awaited_;                             // of the thread
  std::optional<client::Discovery> discovered_;       // of the thread
  TimePoint discoverNotBefore_;                       // of the thread, as the next
  TimePoint rediscoverAt_;                            // of the thread
  ProblemLog discoveryProblems_;                      // of the thread

  kube::Mutex mutex_;
  bool typesChanged_ LASTOUT_GUARDED_BY(mutex_) = true;             // any type that is served may have
  std::set<std::string> changedGroups_ LASTOUT_GUARDED_BY(mutex_);  // a CRD of theirs has
  Loop loop_;
};

}  // namespace lastout::server

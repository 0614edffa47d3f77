// Watches: keeps a LiveView told: one Watcher for each type that it wants, as CriticalServices, CRDs and what
// the API server serves come and go.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "client/access.h"
#include "client/watcher.h"
#include "server/live_view.h"

namespace lastout::server {

struct WatchesOptions {
  client::WatcherOptions watcher;                     // its `random` is made anew for each
  std::function<client::RandomFraction()> random;     // makes one for a thread of its own
  std::chrono::milliseconds rediscoverAfter{60'000};  // although nothing has changed
  std::function<void(const std::string& line)>
      log;  // something went wrong, or is well again; from any thread
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

  // Whoever wants to know that a CriticalService has changed, by the thread of its watch, which must not
  // wait.
  void observeServices(std::function<void()> changed) {
    servicesChanged_ = std::move(changed);
  }  // before start()

 private:
  struct Followed {
    std::string path;
    std::unique_ptr<client::Watcher> watcher;
  };

  void run();
  bool isStopping();
  void rediscover();
  void reconsider();
  void follow(const kube::ResourceType& type);
  void unfollow(const kube::GroupResource& type);
  client::Audience audienceFor(const kube::ResourceType& type);
  void noticed(const kube::GroupResource& type);

  const std::shared_ptr<client::Access> access_;
  LiveView& view_;
  const WatchesOptions options_;
  std::function<void()> servicesChanged_;
  const std::unique_ptr<client::ApiServer> server_;  // for discovery

  std::map<kube::GroupResource, Followed> followed_;  // of the thread
  client::Backoff backoff_;                           // likewise
  TimePoint rediscoverAt_;                            // likewise

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;     // these are guarded by the mutex
  bool typesChanged_ = true;  // a CRD has
  bool reconsider_ = true;    // a CriticalService has, or what is known of a type
  std::thread thread_;
};

}  // namespace lastout::server

// PolicyWatches: keeps a PolicyView told: a Watcher for DeletionPolicies, and one for each type that policies
// ask for, as policies and what the API server serves come and go.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "client/access.h"
#include "client/watcher.h"
#include "server/runtime/log.h"
#include "server/runtime/loop.h"
#include "server/watch/live_view.h"
#include "server/watch/policy_view.h"

namespace lastout::server {

struct PolicyWatchesOptions {
  client::WatcherOptions watcher;                  // each Watcher gets a `random` of its own
  std::function<client::RandomFraction()> random;  // makes one for a thread of its own
  LogSink log;
  std::function<void()> told;  // of a policy, or that one is gone; from any thread. May be empty.
};

// Its functions may be called by any thread; start() and stop() by one at a time.
class PolicyWatches {
 public:
  // `live` says which types are served, and is kept by others.
  PolicyWatches(std::shared_ptr<client::Access> access, const LiveView& live, PolicyView& view,
                PolicyWatchesOptions options);
  ~PolicyWatches();  // as stop()
  PolicyWatches(const PolicyWatches&) = delete;
  PolicyWatches& operator=(const PolicyWatches&) = delete;

  void start() { loop_.start(); }  // once
  void stop();                     // for good
  // What is served, or what is wanted, may have changed; to be called each second, too.
  void reconsider() { loop_.wake(); }

 private:
  struct Followed {
    std::string path;
    uint64_t generation = 0;
    std::unique_ptr<client::Watcher> watcher;
  };

  void round();
  void followPolicies();
  void follow(const protection::WantedType& wanted);
  void followElsewhere(const protection::WantedType& wanted);
  void follow(const protection::WantedType& wanted, const kube::ResourceType& served, client::Access& access);
  void begin(Followed& followed, client::Access& access, client::Content content,
             client::ReflectorHandlers handlers);
  client::ReflectorHandlers handlersOfPolicies(const kube::ResourceType& type);
  client::ReflectorHandlers handlersFor(const kube::ResourceType& type, const protection::WantedType& wanted);

  const std::shared_ptr<client::Access> access_;
  const LiveView& live_;
  PolicyView& view_;
  const PolicyWatchesOptions options_;
  Followed policies_;  // of the thread, as the next
  std::map<protection::ClusterType, Followed> followed_;
  std::map<kube::GroupResource, uint64_t> absent_;  // by the generation in which that was told
  Loop loop_;
};

}  // namespace lastout::server

// ProfileKeeper: applies the DeletionPolicies of profiles (--profile), and puts back what somebody deletes or
// changes of them. What others have added to one stays; while the CRD of DeletionPolicies is being deleted,
// nothing is applied.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/access.h"
#include "client/watcher.h"
#include "kube/locks.h"
#include "protection/policy.h"
#include "server/runtime/log.h"
#include "server/runtime/worker.h"

namespace lastout::server {

struct ProfileKeeperOptions {
  std::vector<protection::PolicyManifest> policies;  // each with a name of its own
  std::function<bool()> mayWrite;                    // this process holds the Lease
  client::WatcherOptions watcher;
  std::function<client::RandomFraction()> random;  // makes one for a thread of its own
  std::chrono::milliseconds patience{5'000};       // for one answer
  LogSink log;
};

// Its functions may be called by any thread; start() and stop() by one at a time.
class ProfileKeeper {
 public:
  ProfileKeeper(const std::shared_ptr<client::Access>& access, ProfileKeeperOptions options);
  ~ProfileKeeper() { stop(); }
  ProfileKeeper(const ProfileKeeper&) = delete;
  ProfileKeeper& operator=(const ProfileKeeper&) = delete;

  void start();                          // once
  void stop();                           // for good; the policies stay
  void reconsider() { worker_.wake(); }  // mayWrite() may have changed

 private:
  struct Seen {
    kube::ObjectMeta meta;
    kube::Value content;
  };

  client::ReflectorHandlers handlers();
  std::optional<TimePoint> pass();
  bool isAsItShould(const protection::PolicyManifest& policy);
  std::string problemOfDefinition() const;
  std::string apply(const protection::PolicyManifest& policy);

  const ProfileKeeperOptions options_;
  const std::unique_ptr<client::ApiServer> server_;
  ProblemLog problems_;                         // of the thread, as the next
  std::map<std::string, std::string> written_;  // the version that an apply came to, by name

  kube::Mutex mutex_;
  client::SyncStatus knowledge_ LASTOUT_GUARDED_BY(mutex_);
  std::map<std::string, Seen> standing_ LASTOUT_GUARDED_BY(mutex_);  // by name
  Worker worker_;
  client::Watcher watcher_;
};

}  // namespace lastout::server

// LeaseHolder: the thread that gets and renews a Lease at an API server, while it can.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "client/access.h"
#include "kube/locks.h"
#include "server/controllers/lease.h"
#include "server/runtime/log.h"
#include "server/runtime/loop.h"

namespace lastout::server {

struct LeaseHolderOptions {
  std::string namespaceName = "default";  // which must exist
  std::string name = "lastout";
  std::string identity;  // of this process; no other may have the same
  LeaseTimes times;
  std::function<client::RandomFraction()> random;  // makes one for a thread of its own
  std::function<WallTime()> clock;                 // what time it is, for people
  LogSink log;
  // Empty: always. While it says no, the Lease is neither taken nor renewed: another may do better.
  std::function<bool()> mayHold;
  // Empty, or called by the holder's thread: Lease::probes, told with each renewal.
  std::function<std::string()> probes;
  // Empty, or called by the holder's thread when it begins to hold the Lease; also when it does again, after
  // it could not renew it in time.
  std::function<void()> taken;
};

// Its functions may be called by any thread; start() and stop() by one at a time.
class LeaseHolder {
 public:
  LeaseHolder(std::shared_ptr<client::Access> access, LeaseHolderOptions options);
  ~LeaseHolder();  // as stop()
  LeaseHolder(const LeaseHolder&) = delete;
  LeaseHolder& operator=(const LeaseHolder&) = delete;

  void start();  // once
  // For good. A Lease that it holds is given back, so that another need not wait until it expires; an API
  // server that does not answer is waited for some seconds.
  void stop();

  bool holds() const;
  void reconsider() { loop_.wake(); }  // mayHold() may have changed

 private:
  void step();
  void give();
  std::optional<Lease> released(Lease lease);
  std::optional<std::string> read();
  std::optional<std::string> write(const Lease& lease);
  void report(const std::optional<std::string>& problem);

  const std::shared_ptr<client::Access> access_;
  const LeaseHolderOptions options_;
  const std::unique_ptr<client::ApiServer> server_;
  ProblemLog problems_;   // of the thread
  std::string holder_;    // of the thread: who was logged last
  bool isTaken_ = false;  // of the thread: since the last write, which is still to be told

  mutable kube::Mutex mutex_;
  LeaseElection election_ LASTOUT_GUARDED_BY(mutex_);  // only the thread changes it
  Loop loop_;
};

}  // namespace lastout::server

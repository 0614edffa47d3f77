// Controller: settles objects one by one: when an object changed, when it is due, and after a backoff when it
// failed. It has no thread and no clock: a Worker calls pass().
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/backoff.h"
#include "kube/locks.h"
#include "kube/object_key.h"
#include "server/runtime/log.h"
#include "server/watch/live_view.h"

namespace lastout::server {

// What one look at an object came to.
struct Settled {
  std::string problem;                                 // why it could not be done; empty: it is settled
  std::optional<std::chrono::milliseconds> lookAgain;  // though nothing changes
};

// All but `log` is called by who makes the passes.
struct ControllerOptions {
  std::string subject;  // of its lines in the log: "held objects"
  // All objects there are to look at; asked at the first pass, and after forget().
  std::function<std::vector<kube::ObjectKey>()> all;
  // Looks at the object, plans, and carries the plan out.
  std::function<Settled(const kube::ObjectKey& object)> settle;
  std::function<bool()> isStopping = [] { return false; };  // a problem is none then: it was cut off
  client::BackoffLimits backoff{std::chrono::milliseconds(500), std::chrono::milliseconds(30'000)};
  client::RandomFraction random;
  LogSink log;
};

// wake() may be called by any thread, all else by one at a time.
class Controller {
 public:
  explicit Controller(ControllerOptions options) : options_(std::move(options)) {}
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Something about the objects has changed: the next pass looks at them.
  void wake(const std::vector<kube::ObjectKey>& objects);
  // Settles what is due at `now`, as long as `goesOn`. Returns when the next is due; nullopt: none is.
  std::optional<TimePoint> pass(TimePoint now, const std::function<bool()>& goesOn);
  // Forgets all objects, because another lastout acts now: what is known of them will be out of date.
  void forget();

 private:
  struct Record {
    std::optional<TimePoint> due;
    client::Backoff backoff;
    ProblemLog problems;
  };

  void takeWoken(TimePoint now);
  Record& recordOf(const kube::ObjectKey& object);
  // Returns false when there is nothing to remember of the object.
  bool settle(const kube::ObjectKey& object, Record& record, TimePoint now);

  const ControllerOptions options_;
  std::map<kube::ObjectKey, Record> records_;
  kube::Mutex mutex_;
  std::set<kube::ObjectKey> woken_ LASTOUT_GUARDED_BY(mutex_);
  bool knowsAll_ = false;
};

}  // namespace lastout::server

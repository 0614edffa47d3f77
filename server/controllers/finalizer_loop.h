// FinalizerLoop: the thread that adds one of lastout's finalizers to objects, or removes it; its owner
// chooses the objects.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "client/access.h"
#include "client/backoff.h"
#include "kube/object.h"
#include "kube/object_key.h"
#include "server/runtime/log.h"
#include "server/runtime/object_client.h"
#include "server/runtime/worker.h"
#include "server/watch/live_view.h"

namespace lastout::server {

// Whether an object is to be changed, or was changed; or why that failed, or is not known.
using Changed = tl::expected<bool, std::string>;

// An object that is to begin or to cease to carry the finalizer.
struct FinalizerChange {
  kube::ObjectKey object;
  std::string uid;
  bool begins = false;
  // What the watches may not have shown yet; the change waits until two passes find the same doubt. Empty:
  // there is no doubt.
  std::string doubt;
  // Returns whether the change is still needed. Called with the object as it was just read; the patch fails
  // if the object has changed since.
  std::function<Changed(const kube::ObjectMeta& object)> confirm;
  std::function<void()> done;          // it was changed
  std::function<void()> moot = [] {};  // there is nothing to change
};

// All but `random` is called by the thread alone.
struct FinalizerLoopOptions {
  std::string_view finalizer;
  std::string grantedBy;         // the ClusterRole with the rights for it
  std::function<bool()> mayAct;  // this lastout holds the Lease
  // All that there is to change now; what was tried with an object that is not among them is forgotten.
  // Called in each round, unless the view is not ready.
  std::function<std::vector<FinalizerChange>()> changes;
  // Called instead where another lastout acts.
  std::function<void()> looksOn;
  // After each attempt: why it failed, with what would help; empty: it did not.
  std::function<void(const FinalizerChange& change, const std::string& problem)> attempted =
      [](const FinalizerChange&, const std::string&) {};
  std::function<client::RandomFraction()> random;  // called once, by whoever makes the loop
  LogSink log;
};

// Its functions may be called by any thread; start() and stop() by one at a time.
class FinalizerLoop {
 public:
  FinalizerLoop(const std::shared_ptr<client::Access>& access, const LiveView& view,
                FinalizerLoopOptions options);
  ~FinalizerLoop() { stop(); }
  FinalizerLoop(const FinalizerLoop&) = delete;
  FinalizerLoop& operator=(const FinalizerLoop&) = delete;

  void start() { worker_.start(); }  // once
  // Nothing more is begun, and what fails is no problem any more; waits for nothing.
  void end() { worker_.end(); }
  // For good.
  void stop() {
    worker_.stop([this] { server_->stop(); });
  }
  // Something may have changed. To be called each second, too.
  void reconsider() { worker_.wake(); }

  // For what its owner asks by the same thread; both end with stop().
  client::ApiServer& server() { return *server_; }
  Patience patience() { return worker_.patience(); }
  // How long to wait after what failed, as the loop itself does.
  client::Backoff backoff() const;
  // Reads the object's metadata; nullopt: it is not there, or its type is not served. Fails with why
  // it cannot be read.
  tl::expected<std::optional<kube::ObjectMeta>, std::string> read(const kube::ObjectKey& object);

 private:
  // What was done about the object with a uid.
  struct Record {
    Record(client::Backoff aBackoff, ProblemLog aLog)
        : backoff(std::move(aBackoff)), problems(std::move(aLog)) {}
    client::Backoff backoff;
    ProblemLog problems;
    TimePoint notBefore;  // of the next attempt
    std::string doubt;    // at the last look
  };

  std::optional<TimePoint> pass();
  Record& recordOf(const FinalizerChange& change);
  void settle(const FinalizerChange& change, Record& record);
  Changed execute(const FinalizerChange& change);
  Changed write(const FinalizerChange& change, const kube::ResourceType& type, const kube::ObjectMeta& meta);

  const LiveView& view_;
  const FinalizerLoopOptions options_;
  const std::unique_ptr<client::ApiServer> server_;
  const client::RandomFraction random_;    // of the thread, as the next
  std::map<std::string, Record> records_;  // by the object's uid
  Worker worker_;
};

}  // namespace lastout::server

// Worker: the thread of a controller: it makes a pass whenever something may have changed, but not too often,
// and only while this lastout may act.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "server/runtime/loop.h"
#include "server/runtime/object_client.h"
#include "server/watch/live_view.h"

namespace lastout::server {

// Called by the thread alone, but for mayAct.
struct WorkerOptions {
  std::function<bool()> mayAct;  // this lastout holds the Lease
  // Returns when the next one is due, though nothing changes; nullopt: never.
  std::function<std::optional<TimePoint>()> pass;
  std::function<void()> looksOn = [] {};  // called instead of a pass where another lastout acts
  std::chrono::milliseconds pause{50};    // between two passes, whatever changes
};

// Its functions may be called by any thread; start() and stop() by one at a time.
class Worker {
 public:
  explicit Worker(WorkerOptions options)
      : options_(std::move(options)), loop_([this] { round(); }, options_.pause) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void start() { loop_.start(); }  // once
  void end() { loop_.end(); }      // no pass begins any more; waits for nothing
  // end(), and waits for the pass under way; `interrupt` is called first, to end what that waits for.
  void stop(const std::function<void()>& interrupt) { loop_.stop(interrupt); }
  void wake() { loop_.wake(); }  // something may have changed
  // The pass under way may begin another action.
  bool goesOn() const { return !loop_.isStopping() && options_.mayAct(); }
  bool isStopping() const { return loop_.isStopping(); }
  Patience patience() { return loop_.patience(); }  // for what a pass waits for: until stop()

 private:
  void round() {
    if (!options_.mayAct()) return options_.looksOn();
    if (const auto due = options_.pass()) loop_.wakeAt(*due);
  }

  const WorkerOptions options_;
  Loop loop_;
};

}  // namespace lastout::server

// Loop: a thread that runs a round whenever something may have changed, but not too often. Bell: the same for
// a thread that also has other work.
//
// All threads of server/ are Loops or belong to a net::WorkerPool. Other code in server/ uses a condition
// variable only to wait for an answer that several callers share.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "kube/locks.h"
#include "server/runtime/object_client.h"

namespace lastout::server {

// Its functions may be called by any thread; start() and stop() by one at a time.
class Loop {
 public:
  // `round` is called by the thread; `pause` is what it waits between two, whatever changes.
  Loop(std::function<void()> round, std::chrono::milliseconds pause);
  ~Loop();  // as stop()
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void start();  // once
  // No round begins any more; waits for nothing.
  void end();
  // end(), and waits for the round under way; `interrupt` is called first, to end what that waits for.
  // Returns whether this call has ended the thread: true at most once.
  bool stop(const std::function<void()>& interrupt = [] {});
  // Something may have changed: another round is needed, after the one under way if there is one.
  void wake();

  // The same at that time, unless something changes before. Of several times the first counts.
  void wakeAt(std::chrono::steady_clock::time_point when);

  bool isStopping() const;
  // For what a round waits for: until stop().
  Patience patience();

 private:
  void run();

  const std::function<void()> round_;
  const std::chrono::milliseconds pause_;
  mutable kube::Mutex mutex_;
  kube::ConditionVariable changed_;
  bool stopping_ LASTOUT_GUARDED_BY(mutex_) = false;
  bool woken_ LASTOUT_GUARDED_BY(mutex_) = false;
  std::chrono::steady_clock::time_point due_ LASTOUT_GUARDED_BY(mutex_) =
      std::chrono::steady_clock::time_point::max();
  std::thread thread_;
};

// ring() may be called by any thread, waitUntil() by one.
class Bell {
 public:
  void ring();  // something may have changed
  // Returns once it has rung since the last call, or at that time.
  void waitUntil(std::chrono::steady_clock::time_point when);

 private:
  kube::Mutex mutex_;
  kube::ConditionVariable changed_;
  bool rung_ LASTOUT_GUARDED_BY(mutex_) = false;
};

}  // namespace lastout::server

// WorkerPool: threads that run the jobs of a bounded queue.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "kube/locks.h"

namespace lastout::net {

struct WorkerLimits {
  size_t threads = 1;      // from the beginning on
  size_t mostThreads = 1;  // more than `threads` are made when a job comes and no thread is free
  size_t mostWaiting = 0;  // jobs that no thread does yet
};

// add() from any thread; stop() and finish() from one that is no worker.
class WorkerPool {
 public:
  // A fixed number of threads. Throws, as the other does, when they cannot be made.
  WorkerPool(size_t threads, size_t mostWaiting)
      : WorkerPool(WorkerLimits{.threads = threads, .mostThreads = threads, .mostWaiting = mostWaiting}) {}
  explicit WorkerPool(const WorkerLimits& limits);
  ~WorkerPool();  // as stop()
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Adds a job. Returns false if the queue is full or the pool is stopped. `job` must not throw. If no thread
  // can be made, the job waits for an existing one.
  bool add(std::function<void()> job);
  // Drops what is waiting, and waits for what is being done.
  void stop();
  // Takes nothing more, and waits until all that was added is done.
  void finish();

 private:
  void work();
  void end(bool isDropped);

  const WorkerLimits limits_;
  kube::Mutex mutex_;
  kube::ConditionVariable changed_;
  std::deque<std::function<void()>> waiting_ LASTOUT_GUARDED_BY(mutex_);
  size_t free_ LASTOUT_GUARDED_BY(mutex_) = 0;  // threads that wait for a job
  bool stopped_ LASTOUT_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ LASTOUT_GUARDED_BY(mutex_);
};

}  // namespace lastout::net

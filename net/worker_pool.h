// WorkerPool: a fixed number of threads that do what is put in a bounded queue.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "kube/locks.h"

namespace lastout::net {

// add() from any thread; stop() from one that is no worker.
class WorkerPool {
 public:
  WorkerPool(size_t threads, size_t mostWaiting);
  ~WorkerPool();  // as stop()
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False when too many are waiting, or it is stopped. `job` must not throw.
  bool add(std::function<void()> job);
  // Drops what is waiting, and waits for what is being done.
  void stop();

 private:
  void work();

  const size_t mostWaiting_;
  kube::Mutex mutex_;
  kube::ConditionVariable changed_;
  std::deque<std::function<void()>> waiting_ LASTOUT_GUARDED_BY(mutex_);
  bool stopped_ LASTOUT_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace lastout::net

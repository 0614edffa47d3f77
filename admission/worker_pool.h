// WorkerPool: a fixed number of threads that do what is put in a bounded queue.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lastout::admission {

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
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace lastout::admission

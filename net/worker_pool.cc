#include "net/worker_pool.h"

#include <system_error>
#include <utility>

namespace lastout::net {

WorkerPool::WorkerPool(const WorkerLimits& limits) : limits_(limits) {
  try {
    const kube::MutexLock lock(mutex_);
    threads_.reserve(limits.threads);
    for (size_t i = 0; i < limits.threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (...) {
    end(true);  // those that there are
    throw;
  }
}

WorkerPool::~WorkerPool() { stop(); }

bool WorkerPool::add(std::function<void()> job) {
  {
    const kube::MutexLock lock(mutex_);
    if (stopped_ || waiting_.size() >= limits_.mostWaiting) return false;
    waiting_.push_back(std::move(job));
    if (waiting_.size() > free_ && threads_.size() < limits_.mostThreads) {
      try {
        threads_.emplace_back([this] { work(); });
      } catch (const std::system_error&) {  // the machine has no more
      }
    }
  }
  changed_.notifyOne();
  return true;
}

void WorkerPool::stop() { end(true); }

void WorkerPool::finish() { end(false); }

void WorkerPool::end(bool isDropped) {
  std::deque<std::function<void()>> dropped;
  std::vector<std::thread> threads;
  {
    const kube::MutexLock lock(mutex_);
    stopped_ = true;
    if (isDropped) dropped.swap(waiting_);
    threads.swap(threads_);
  }
  changed_.notifyAll();
  for (std::thread& thread : threads) thread.join();
}

void WorkerPool::work() {
  kube::MutexLock lock(mutex_);
  while (true) {
    ++free_;
    changed_.wait(lock, [this]() LASTOUT_REQUIRES(mutex_) { return stopped_ || !waiting_.empty(); });
    --free_;
    if (waiting_.empty()) return;
    std::function<void()> job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    job();
    job = nullptr;  // what it holds ends outside the lock
    lock.lock();
  }
}

}  // namespace lastout::net

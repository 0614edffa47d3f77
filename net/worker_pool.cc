#include "net/worker_pool.h"

#include <utility>

namespace lastout::net {

WorkerPool::WorkerPool(size_t threads, size_t mostWaiting) : mostWaiting_(mostWaiting) {
  threads_.reserve(threads);
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

WorkerPool::~WorkerPool() { stop(); }

bool WorkerPool::add(std::function<void()> job) {
  {
    const kube::MutexLock lock(mutex_);
    if (stopped_ || waiting_.size() >= mostWaiting_) return false;
    waiting_.push_back(std::move(job));
  }
  changed_.notifyOne();
  return true;
}

void WorkerPool::stop() {
  std::deque<std::function<void()>> dropped;
  {
    const kube::MutexLock lock(mutex_);
    stopped_ = true;
    dropped.swap(waiting_);
  }
  changed_.notifyAll();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void WorkerPool::work() {
  kube::MutexLock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this]() LASTOUT_REQUIRES(mutex_) { return stopped_ || !waiting_.empty(); });
    if (stopped_) return;
    std::function<void()> job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    job();
    job = nullptr;  // what it holds ends outside the lock
    lock.lock();
  }
}

}  // namespace lastout::net

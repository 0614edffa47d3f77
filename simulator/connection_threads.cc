#include "simulator/connection_threads.h"

#include <system_error>
#include <utility>

namespace lastout::simulator {

ConnectionThreads::ConnectionThreads(size_t most) : most_(most) {
  threads_.emplace_back([this] { work(); });
}

void ConnectionThreads::enqueue(std::function<void()> connection) {
  {
    const kube::MutexLock lock(mutex_);
    waiting_.push_back(std::move(connection));
    if (waiting_.size() > free_ && threads_.size() < most_) {
      try {
        threads_.emplace_back([this] { work(); });
      } catch (const std::system_error&) {  // the machine has no more
      }
    }
  }
  changed_.notifyOne();
}

void ConnectionThreads::shutdown() {
  std::vector<std::thread> threads;
  {
    const kube::MutexLock lock(mutex_);
    ending_ = true;
    threads.swap(threads_);
  }
  changed_.notifyAll();
  for (std::thread& thread : threads) thread.join();
}

void ConnectionThreads::work() {
  kube::MutexLock lock(mutex_);
  while (true) {
    ++free_;
    changed_.wait(lock, [this]() LASTOUT_REQUIRES(mutex_) { return ending_ || !waiting_.empty(); });
    --free_;
    if (waiting_.empty()) return;
    const std::function<void()> connection = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    connection();
    lock.lock();
  }
}

}  // namespace lastout::simulator

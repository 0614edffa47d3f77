#include "apiserver/connection_threads.h"

#include <system_error>
#include <utility>

namespace lastout::apiserver {

ConnectionThreads::ConnectionThreads(size_t most) : most_(most) {
  threads_.emplace_back([this] { work(); });
}

void ConnectionThreads::enqueue(std::function<void()> connection) {
  {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(connection));
    if (waiting_.size() > free_ && threads_.size() < most_) {
      try {
        threads_.emplace_back([this] { work(); });
      } catch (const std::system_error&) {  // the machine has no more
      }
    }
  }
  changed_.notify_one();
}

void ConnectionThreads::shutdown() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ConnectionThreads::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++free_;
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    --free_;
    if (waiting_.empty()) return;
    const std::function<void()> connection = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    connection();
    lock.lock();
  }
}

}  // namespace lastout::apiserver

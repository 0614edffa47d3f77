// ConnectionThreads: a thread for each connection, made when no other is free: idle connections and watches
// hold theirs.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lastout::apiserver {

class ConnectionThreads : public httplib::TaskQueue {
 public:
  // Makes the first, so that there always is one; throws when that cannot be.
  explicit ConnectionThreads(size_t most);

  // When there may be, or can be made, no more threads, the connection waits for one of them.
  void enqueue(std::function<void()> connection) override;
  void shutdown() override;

 private:
  void work();

  const size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
  size_t free_ = 0;
  bool ending_ = false;
};

}  // namespace lastout::apiserver

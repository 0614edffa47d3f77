// ConnectionThreads: a thread for each connection, made when no other is free: idle connections and watches
// hold theirs.
#pragma once

#include <httplib.h>

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "kube/locks.h"

namespace lastout::simulator {

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
  kube::Mutex mutex_;
  kube::ConditionVariable changed_;
  std::deque<std::function<void()>> waiting_ LASTOUT_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ LASTOUT_GUARDED_BY(mutex_);
  size_t free_ LASTOUT_GUARDED_BY(mutex_) = 0;
  bool ending_ LASTOUT_GUARDED_BY(mutex_) = false;
};

}  // namespace lastout::simulator

// ConnectionThreads: a thread for each connection, made when no other is free: idle connections and watches
// hold theirs.
#pragma once

#include <httplib.h>

#include <functional>
#include <limits>
#include <utility>

#include "net/worker_pool.h"

namespace lastout::simulator {

// A pool of workers as the HTTP library knows it. Connections beyond `most`, or for which the machine has no
// thread, wait for one.
class ConnectionThreads : public httplib::TaskQueue {
 public:
  // Makes the first thread, so that there always is one; throws when that cannot be.
  explicit ConnectionThreads(size_t most)
      : workers_({.threads = 1, .mostThreads = most, .mostWaiting = std::numeric_limits<size_t>::max()}) {}

  void enqueue(std::function<void()> connection) override { workers_.add(std::move(connection)); }
  void shutdown() override { workers_.finish(); }

 private:
  net::WorkerPool workers_;
};

}  // namespace lastout::simulator

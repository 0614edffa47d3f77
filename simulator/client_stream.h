// ClientStream: what one client sends, request by request, as the HTTP library reads it.
#pragma once

#include <httplib.h>

#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "net/worker_pool.h"
#include "simulator/connection.h"
#include "simulator/http_head.h"

namespace lastout::simulator {

struct ClientStreamLimits {
  std::chrono::seconds slowest;  // for a whole request to come, and between two pieces that the client takes
  size_t mostBody = 0;           // bytes
};

// Gives the library no byte of a request before its head is whole and right, and none beyond its body.
class ClientStream : public httplib::Stream {
 public:
  ClientStream(Connection& connection, const ClientStreamLimits& limits)
      : connection_(connection), limits_(limits) {}

  // Waits for the next request. nullopt: the client is gone, idle for a minute, or too slow. Fails as
  // parseHead() does, and with 431 when there is no end to it; nothing can be read after that. What the
  // library then reads is the request line without headers, so that it does nothing that they ask for
  // (ranges, compression) by itself; and the body.
  std::optional<ApiResult<RequestHead>> nextHead();
  // Whether the library has read all of a body whose length was said.
  bool isRead() const { return isChunked_ || left_ == 0; }

  bool is_readable() const override { return left_ > 0; }
  bool is_writable() const override { return connection_.isWritable(limits_.slowest); }
  ssize_t read(char* data, size_t size) override;
  ssize_t write(const char* data, size_t size) override;
  // Nobody asks for these; the library compares the socket with what select() can take.
  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  socket_t socket() const override { return 0; }

 private:
  bool receive();

  Connection& connection_;
  ClientStreamLimits limits_;
  Deadline deadline_;
  std::string received_;
  size_t taken_ = 0;  // of what was received
  size_t left_ = 0;   // bytes that the library may still read
  bool isChunked_ = false;
};

// --- ConnectionThreads: a thread for each connection, made when no other is free: idle connections and
// watches hold theirs.

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

// Connection: bytes from and to one client over TCP, with or without TLS; nothing waits longer than it is
// told.
#pragma once

#include <chrono>
#include <string>

#include "simulator/deadlines.h"
#include "tls/owned.h"

namespace lastout::simulator {

// For one thread.
class Connection {
 public:
  // The socket stays its caller's, who closes it. `tls` null: without TLS.
  Connection(int socket, ssl_ctx_st* tls);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const ssl_st* tls() const { return tls_.get(); }  // null: without TLS

  // All of them fail when the client is gone or the time is over. Before anything else, with TLS:
  bool shakeHands(Deadline deadline);
  // At most `size` bytes, as soon as there are any; 0: failed.
  size_t read(char* data, size_t size, Deadline deadline);
  // `patience`: how long the client may take nothing.
  bool write(const char* data, size_t size, std::chrono::seconds patience);
  // Waits until something can be written, and the client is there to read it.
  bool isWritable(std::chrono::seconds patience);
  // Says that nothing more comes, and lets the client read the last answer: what it still sends is read away
  // for a moment, as closing before that would reset the connection.
  void finish();

 private:
  bool waitFor(short events, Deadline deadline) const;
  // What TLS waits for after `result`, as poll() calls it; 0: nothing can help.
  short wantedAfter(int result) const;

  int socket_;
  lastout::tls::Owned<ssl_st> tls_;
};

}  // namespace lastout::simulator

// Connection: bytes from and to one client over TCP, with or without TLS; nothing waits longer than it is
// told.
#pragma once

#include <chrono>
#include <list>
#include <string>
#include <thread>

#include "kube/locks.h"
#include "tls/owned.h"

namespace lastout::simulator {

// --- Deadlines: ends what is done with a socket when its time is over, whatever it waits for.

using Deadline = std::chrono::steady_clock::time_point;

// One thread that watches any number of sockets. Safe for any number of threads.
class Deadlines {
 public:
  Deadlines();
  ~Deadlines();
  Deadlines(const Deadlines&) = delete;
  Deadlines& operator=(const Deadlines&) = delete;

  // Watches one call at a time. From watch() until stop(), the socket is shut down (reads end, writes fail,
  // connecting stops) once the deadline is over. It is watched through a descriptor of its own: whoever owns
  // the socket may close it at any time, and its number may be used again.
  class Watch {
   public:
    Watch(Deadlines& deadlines, Deadline deadline) : deadlines_(&deadlines), deadline_(deadline) {}
    ~Watch() { stop(); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    void watch(int socket);
    void stop();

   private:
    friend class Deadlines;
    Deadlines* deadlines_;
    Deadline deadline_;
    int descriptor_ LASTOUT_GUARDED_BY(deadlines_->mutex_) = -1;
  };

 private:
  void run();

  kube::Mutex mutex_;
  kube::ConditionVariable changed_;
  std::list<Watch*> watched_ LASTOUT_GUARDED_BY(mutex_);
  bool stopping_ LASTOUT_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

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

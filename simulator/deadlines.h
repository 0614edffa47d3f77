// Deadlines: ends what is done with a socket when its time is over, whatever it waits for.
#pragma once

#include <chrono>
#include <list>
#include <thread>

#include "kube/locks.h"

namespace lastout::simulator {

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

}  // namespace lastout::simulator

// Cutter: ends what is done with sockets, because nothing came for too long, or because everything shall end.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <list>
#include <thread>

#include "kube/locks.h"

namespace lastout::net {

enum class Cut : uint8_t { No, Silence, Stopped };

// One thread that watches any number of sockets. Safe for any number of threads; its lines end before it.
class Cutter {
 public:
  Cutter();
  ~Cutter();
  Cutter(const Cutter&) = delete;
  Cutter& operator=(const Cutter&) = delete;

  // The socket of one exchange. Cut, it is shut down: connecting stops, reads end, writes fail. It is watched
  // through a descriptor of its own: whoever owns the socket may close it at any time.
  class Line {
   public:
    explicit Line(Cutter& cutter);
    ~Line();
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;

    // From now on this socket, and none before it. False when no descriptor is left.
    bool hold(int socket);
    // Cut unless expect() or rest() is called before that time is over.
    void expect(std::chrono::milliseconds patience);
    void rest() { deadline_ = kNever; }
    // At once, by any thread; the first reason counts.
    void cut(Cut why);
    Cut why() const { return why_; }

   private:
    friend class Cutter;
    void cutLocked(Cut why) LASTOUT_REQUIRES(cutter_.mutex_);

    Cutter& cutter_;
    std::atomic<Cut> why_{Cut::No};
    std::atomic<int64_t> deadline_{kNever};  // of steady_clock, in its ticks
    int descriptor_ LASTOUT_GUARDED_BY(cutter_.mutex_) = -1;
  };

  // Cuts every line, and each that comes later.
  void stop();

 private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  void run();

  kube::Mutex mutex_;
  kube::ConditionVariable changed_;
  std::list<Line*> lines_ LASTOUT_GUARDED_BY(mutex_);
  std::atomic<int64_t> wakes_{kNever};  // when the thread looks again
  bool stopped_ LASTOUT_GUARDED_BY(mutex_) = false;
  bool ending_ LASTOUT_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace lastout::net

// VirtualClock: the time that controllers live in: real time, scaled, paused or moved on by hand.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "kube/locks.h"
#include "simulator/json.h"
#include "simulator/status.h"

namespace lastout::simulator {

// Safe for any number of threads.
class VirtualClock {
 public:
  using Milliseconds = std::chrono::milliseconds;
  using RealTime = std::function<std::chrono::steady_clock::time_point()>;

  // Begins at 0, and runs `speed` times as fast as real time.
  explicit VirtualClock(double speed = 1, RealTime real = std::chrono::steady_clock::now);

  Milliseconds now() const;
  double speed() const;
  bool isPaused() const;
  void setSpeed(double speed);  // more than 0
  void pause();
  void resume();
  void advance(Milliseconds by);  // at once, paused or not
  // How long until then in real time; nothing while the clock is paused.
  std::optional<std::chrono::nanoseconds> until(Milliseconds then) const;

 private:
  Milliseconds nowLocked() const LASTOUT_REQUIRES(mutex_);
  void rebase() LASTOUT_REQUIRES(mutex_);

  mutable kube::Mutex mutex_;
  RealTime real_;
  double speed_ LASTOUT_GUARDED_BY(mutex_);
  bool paused_ LASTOUT_GUARDED_BY(mutex_) = false;
  // It was `base_` when the real time was `since_`.
  std::chrono::duration<double, std::milli> base_{0};
  std::chrono::steady_clock::time_point since_;
};

// --- ClockChange: what a client may do to the controllers' clock.

struct ClockChange {
  std::optional<double> speed;
  std::optional<bool> paused;
  std::chrono::milliseconds advance{0};
};

// {"paused": true, "speed": 100, "advance": "5s"}, any of them. 400 for anything else.
ApiResult<ClockChange> parseClockChange(const Json& body);

}  // namespace lastout::simulator

#include "server/runtime/loop.h"

#include <algorithm>
#include <utility>

namespace lastout::server {

using std::chrono::steady_clock;

Loop::Loop(std::function<void()> round, std::chrono::milliseconds pause)
    : round_(std::move(round)), pause_(pause) {}

Loop::~Loop() { stop(); }

void Loop::start() {
  thread_ = std::thread([this] { run(); });
}

void Loop::end() {
  {
    const kube::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notifyAll();
}

bool Loop::stop(const std::function<void()>& interrupt) {
  end();
  interrupt();
  if (!thread_.joinable()) return false;
  thread_.join();
  return true;
}

void Loop::wake() {
  {
    const kube::MutexLock lock(mutex_);
    woken_ = true;
  }
  changed_.notifyAll();
}

void Loop::wakeAt(steady_clock::time_point when) {
  {
    const kube::MutexLock lock(mutex_);
    due_ = std::min(due_, when);
  }
  changed_.notifyAll();
}

bool Loop::isStopping() const {
  const kube::MutexLock lock(mutex_);
  return stopping_;
}

Patience Loop::patience() {
  return {[] { return steady_clock::now(); },
          [this](std::chrono::milliseconds pause) {
            kube::MutexLock lock(mutex_);
            changed_.waitFor(lock, pause, [this]() LASTOUT_REQUIRES(mutex_) { return stopping_; });
          }};
}

void Loop::run() {
  kube::MutexLock lock(mutex_);
  while (!stopping_) {
    while (!stopping_ && !woken_ && steady_clock::now() < due_) {
      if (due_ == steady_clock::time_point::max())
        changed_.wait(lock);
      else
        changed_.waitUntil(lock, due_);
    }
    if (stopping_) return;
    woken_ = false;
    due_ = steady_clock::time_point::max();
    lock.unlock();
    round_();
    lock.lock();
    changed_.waitFor(lock, pause_, [this]() LASTOUT_REQUIRES(mutex_) { return stopping_; });
  }
}

void Bell::ring() {
  {
    const kube::MutexLock lock(mutex_);
    rung_ = true;
  }
  changed_.notifyAll();
}

void Bell::waitUntil(steady_clock::time_point when) {
  kube::MutexLock lock(mutex_);
  changed_.waitUntil(lock, when, [this]() LASTOUT_REQUIRES(mutex_) { return std::exchange(rung_, false); });
}

}  // namespace lastout::server

#include "server/rounds.h"

#include <algorithm>
#include <utility>

namespace lastout::server {

using std::chrono::steady_clock;

Rounds::Rounds(std::function<void()> round, std::chrono::milliseconds pause)
    : round_(std::move(round)), pause_(pause) {}

Rounds::~Rounds() { stop(); }

void Rounds::start() {
  thread_ = std::thread([this] { run(); });
}

void Rounds::end() {
  {
    const kube::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notifyAll();
}

void Rounds::stop(const std::function<void()>& interrupt) {
  end();
  interrupt();
  if (thread_.joinable()) thread_.join();
}

void Rounds::reconsider() {
  {
    const kube::MutexLock lock(mutex_);
    reconsider_ = true;
  }
  changed_.notifyAll();
}

void Rounds::reconsiderAt(steady_clock::time_point when) {
  {
    const kube::MutexLock lock(mutex_);
    due_ = std::min(due_, when);
  }
  changed_.notifyAll();
}

bool Rounds::isStopping() const {
  const kube::MutexLock lock(mutex_);
  return stopping_;
}

Patience Rounds::patience() {
  return {[] { return steady_clock::now(); },
          [this](std::chrono::milliseconds pause) {
            kube::MutexLock lock(mutex_);
            changed_.waitFor(lock, pause, [this]() LASTOUT_REQUIRES(mutex_) { return stopping_; });
          }};
}

void Rounds::run() {
  kube::MutexLock lock(mutex_);
  while (!stopping_) {
    while (!stopping_ && !reconsider_ && steady_clock::now() < due_) {
      if (due_ == steady_clock::time_point::max())
        changed_.wait(lock);
      else
        changed_.waitUntil(lock, due_);
    }
    if (stopping_) return;
    reconsider_ = false;
    due_ = steady_clock::time_point::max();
    lock.unlock();
    round_();
    lock.lock();
    changed_.waitFor(lock, pause_, [this]() LASTOUT_REQUIRES(mutex_) { return stopping_; });
  }
}

}  // namespace lastout::server

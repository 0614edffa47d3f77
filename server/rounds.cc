#include "server/rounds.h"

#include <utility>

namespace lastout::server {

Rounds::Rounds(std::function<void()> round, std::chrono::milliseconds pause)
    : round_(std::move(round)), pause_(pause) {}

Rounds::~Rounds() { stop(); }

void Rounds::start() {
  thread_ = std::thread([this] { run(); });
}

void Rounds::end() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

void Rounds::stop(const std::function<void()>& interrupt) {
  end();
  interrupt();
  if (thread_.joinable()) thread_.join();
}

void Rounds::reconsider() {
  {
    const std::lock_guard lock(mutex_);
    reconsider_ = true;
  }
  changed_.notify_all();
}

bool Rounds::isStopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

Patience Rounds::patience() {
  return {[] { return std::chrono::steady_clock::now(); },
          [this](std::chrono::milliseconds pause) {
            std::unique_lock lock(mutex_);
            changed_.wait_for(lock, pause, [this] { return stopping_; });
          }};
}

void Rounds::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait(lock, [this] { return stopping_ || reconsider_; });
    if (stopping_) return;
    reconsider_ = false;
    lock.unlock();
    round_();
    lock.lock();
    changed_.wait_for(lock, pause_, [this] { return stopping_; });
  }
}

}  // namespace lastout::server

#include "simulator/deadlines.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

namespace lastout::simulator {

Deadlines::Deadlines() : thread_([this] { run(); }) {}

Deadlines::~Deadlines() {
  {
    const kube::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notifyAll();
  thread_.join();
}

void Deadlines::Watch::watch(int socket) {
  stop();
  const int copy = dup(socket);
  if (copy < 0) return;  // out of descriptors: the timeouts of single reads and writes are left
  const kube::MutexLock lock(deadlines_->mutex_);
  descriptor_ = copy;
  deadlines_->watched_.push_back(this);
  deadlines_->changed_.notifyAll();
}

void Deadlines::Watch::stop() {
  const kube::MutexLock lock(deadlines_->mutex_);
  if (descriptor_ < 0) return;
  deadlines_->watched_.remove(this);
  close(descriptor_);
  descriptor_ = -1;
}

void Deadlines::run() {
  kube::MutexLock lock(mutex_);
  while (!stopping_) {
    const auto next = std::ranges::min_element(watched_, {}, &Watch::deadline_);
    if (next == watched_.end()) {
      changed_.wait(lock);
    } else if (std::chrono::steady_clock::now() < (*next)->deadline_) {
      // A copy: it is looked at again after waking, and the watch may be gone by then.
      const auto deadline = (*next)->deadline_;
      changed_.waitUntil(lock, deadline);
    } else {
      (*next)->deadlines_->mutex_.assertHeld();  // it is this one's
      shutdown((*next)->descriptor_, SHUT_RDWR);
      close((*next)->descriptor_);
      (*next)->descriptor_ = -1;
      watched_.erase(next);
    }
  }
}

}  // namespace lastout::simulator

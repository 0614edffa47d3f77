#include "net/cutter.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

namespace lastout::net {
namespace {

using SteadyClock = std::chrono::steady_clock;

int64_t ticksNow() { return SteadyClock::now().time_since_epoch().count(); }

}  // namespace

Cutter::Cutter() : thread_([this] { run(); }) {}

Cutter::~Cutter() {
  {
    const kube::MutexLock lock(mutex_);
    ending_ = true;
  }
  changed_.notifyAll();
  thread_.join();
}

Cutter::Line::Line(Cutter& cutter) : cutter_(cutter) {
  const kube::MutexLock lock(cutter_.mutex_);
  cutter_.lines_.push_back(this);
  if (cutter_.stopped_) why_ = Cut::Stopped;
}

Cutter::Line::~Line() {
  const kube::MutexLock lock(cutter_.mutex_);
  cutter_.lines_.remove(this);
  if (descriptor_ >= 0) close(descriptor_);
}

bool Cutter::Line::hold(int socket) {
  const int copy = fcntl(socket, F_DUPFD_CLOEXEC, 0);
  const kube::MutexLock lock(cutter_.mutex_);
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = copy;
  if (copy >= 0 && why_ != Cut::No) shutdown(copy, SHUT_RDWR);
  return copy >= 0;
}

void Cutter::Line::expect(std::chrono::milliseconds patience) {
  const int64_t ticks = std::chrono::duration_cast<SteadyClock::duration>(patience).count();
  const int64_t now = ticksNow();
  const int64_t deadline = ticks > kNever - now ? kNever : now + ticks;
  deadline_ = deadline;
  // The thread has seen the deadline, or is going to look before it; else it is woken.
  if (deadline >= cutter_.wakes_) return;
  const kube::MutexLock lock(cutter_.mutex_);
  cutter_.changed_.notifyAll();
}

void Cutter::Line::cut(Cut why) {
  const kube::MutexLock lock(cutter_.mutex_);
  cutLocked(why);
}

void Cutter::Line::cutLocked(Cut why) {
  Cut none = Cut::No;
  why_.compare_exchange_strong(none, why);
  deadline_ = kNever;
  if (descriptor_ >= 0) shutdown(descriptor_, SHUT_RDWR);
}

void Cutter::stop() {
  const kube::MutexLock lock(mutex_);
  stopped_ = true;
  for (Line* line : lines_) {
    line->cutter_.mutex_.assertHeld();  // it is this one's
    line->cutLocked(Cut::Stopped);
  }
}

void Cutter::run() {
  kube::MutexLock lock(mutex_);
  while (!ending_) {
    wakes_ = kNever;  // whoever sets a deadline while this looks has to wake it
    const int64_t now = ticksNow();
    int64_t next = kNever;
    for (Line* line : lines_) {
      int64_t deadline = line->deadline_;
      if (deadline <= now) {
        line->cutter_.mutex_.assertHeld();  // it is this one's
        line->cutLocked(Cut::Silence);
        continue;
      }
      next = std::min(next, deadline);
    }
    wakes_ = next;
    if (next == kNever) {
      changed_.wait(lock);
    } else {
      changed_.waitUntil(lock, SteadyClock::time_point(SteadyClock::duration(next)));
    }
  }
}

}  // namespace lastout::net

#include "simulator/virtual_clock.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kube/fields.h"

namespace lastout::simulator {
VirtualClock::VirtualClock(double speed, RealTime real)
    : real_(std::move(real)), speed_(speed), since_(real_()) {}

VirtualClock::Milliseconds VirtualClock::now() const {
  const kube::MutexLock lock(mutex_);
  return nowLocked();
}

VirtualClock::Milliseconds VirtualClock::nowLocked() const {
  auto now = base_;
  if (!paused_) now += std::chrono::duration<double, std::milli>(real_() - since_) * speed_;
  return std::chrono::duration_cast<Milliseconds>(now);
}

double VirtualClock::speed() const {
  const kube::MutexLock lock(mutex_);
  return speed_;
}

bool VirtualClock::isPaused() const {
  const kube::MutexLock lock(mutex_);
  return paused_;
}

// What has passed until now is counted at the speed so far.
void VirtualClock::rebase() {
  const auto now = real_();
  if (!paused_) base_ += std::chrono::duration<double, std::milli>(now - since_) * speed_;
  since_ = now;
}

void VirtualClock::setSpeed(double speed) {
  const kube::MutexLock lock(mutex_);
  rebase();
  speed_ = speed;
}

void VirtualClock::pause() {
  const kube::MutexLock lock(mutex_);
  rebase();
  paused_ = true;
}

void VirtualClock::resume() {
  const kube::MutexLock lock(mutex_);
  rebase();
  paused_ = false;
}

void VirtualClock::advance(Milliseconds by) {
  const kube::MutexLock lock(mutex_);
  base_ += by;
}

std::optional<std::chrono::nanoseconds> VirtualClock::until(Milliseconds then) const {
  const kube::MutexLock lock(mutex_);
  const auto left = std::max<std::chrono::duration<double, std::milli>>(
      std::chrono::duration<double, std::milli>(0), then - nowLocked());
  if (paused_ && left.count() > 0) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(left / speed_);
}

namespace {

// As lastout up --speed.
constexpr double kSlowest = 0.001;
constexpr double kFastest = 1'000'000;

ApiResult<void> take(const std::string& name, const Json& value, ClockChange& change) {
  if (name == "paused" && value.is_boolean()) {
    change.paused = value.get<bool>();
    return {};
  }
  if (name == "speed" && value.is_number() && value.get<double>() >= kSlowest &&
      value.get<double>() <= kFastest) {
    change.speed = value.get<double>();
    return {};
  }
  if (name == "advance" && value.is_string()) {
    if (const auto by = kube::parseDuration(value.get<std::string>())) {
      change.advance = *by;
      return {};
    }
  }
  return tl::unexpected(badRequest(
      "a clock takes {\"paused\": true or false, \"speed\": from 0.001 to 1000000, \"advance\": \"5s\"}, any "
      "of them"));
}

}  // namespace

ApiResult<ClockChange> parseClockChange(const Json& body) {
  ClockChange change;
  for (const auto& field : body.items()) {
    if (auto taken = take(field.key(), field.value(), change); !taken) return tl::unexpected(taken.error());
  }
  return change;
}

}  // namespace lastout::simulator

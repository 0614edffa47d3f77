#include "server/current_services.h"

#include <chrono>
#include <utility>

#include "criticalservice/critical_service.h"

namespace lastout::server {
namespace {

constexpr std::chrono::seconds kLongestRead{5};  // nobody waits for longer

}  // namespace

CurrentServices::CurrentServices(const std::shared_ptr<client::Access>& access, const LiveView& view)
    : reader_(access, view), thread_([this] { run(); }) {}

CurrentServices::~CurrentServices() {
  stop();
  thread_.join();
}

void CurrentServices::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  reader_.stop();
}

kube::Result<CurrentServices::Services> CurrentServices::read(TimePoint deadline) {
  std::unique_lock lock(mutex_);
  if (!next_) next_ = std::make_shared<Read>();
  const std::shared_ptr<Read> mine = next_;
  changed_.notify_all();
  changed_.wait_until(lock, deadline, [&] { return stopping_ || mine->has_value(); });
  if (mine->has_value()) return **mine;
  return tl::unexpected(
      kube::Error{stopping_ ? "lastout is about to end" : "reading criticalservices took too long", {}, {}});
}

void CurrentServices::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || next_; });
    if (stopping_) return;
    const std::shared_ptr<Read> read = std::exchange(next_, nullptr);
    lock.unlock();
    auto objects = reader_.readObjects(criticalservice::criticalServiceType(),
                                       std::chrono::steady_clock::now() + kLongestRead);
    lock.lock();
    if (objects)
      *read = std::make_shared<const std::vector<kube::Object>>(std::move(*objects));
    else
      *read = tl::unexpected(std::move(objects.error()));
    changed_.notify_all();
  }
}

}  // namespace lastout::server

#include "server/review/current_services.h"

#include <algorithm>
#include <chrono>
#include <ranges>
#include <utility>

#include "admission/service_changes.h"
#include "criticalservice/critical_service.h"

namespace lastout::server {
namespace {

constexpr std::chrono::seconds kLongestRead{5};  // nobody waits for longer

}  // namespace

// The version of a review's object is that of what it replaces: with it, it would pass for what was told.
void AllowedServices::add(kube::Object service, TimePoint now) {
  service.meta.resourceVersion.clear();
  if (service.key.name.empty()) service.key.name = "(a new one)";  // the API server is still to name it
  const kube::MutexLock lock(mutex_);
  const auto last =
      std::ranges::find(services_.rbegin(), services_.rend(), service.key,
                        [](const Allowed& allowed) -> const kube::ObjectKey& { return allowed.service.key; });
  if (last != services_.rend() && admission::hasSameSpec(last->service, service))
    services_.erase(std::next(last).base());
  if (services_.size() >= kMost) services_.pop_front();
  services_.push_back({std::move(service), now});
}

std::vector<kube::Object> AllowedServices::recent(TimePoint now) {
  std::vector<kube::Object> services;
  const kube::MutexLock lock(mutex_);
  while (!services_.empty() && now - services_.front().at > kKeptFor) services_.pop_front();
  for (const Allowed& allowed : services_) services.push_back(allowed.service);
  return services;
}

CurrentServices::CurrentServices(const std::shared_ptr<client::Access>& access, const LiveView& view)
    : reader_(access, view), loop_([this] { readForAll(); }, std::chrono::milliseconds(0)) {
  loop_.start();
}

CurrentServices::~CurrentServices() { stop(); }

void CurrentServices::stop() {
  {
    const kube::MutexLock lock(mutex_);
    stopping_ = true;
  }
  answered_.notifyAll();
  loop_.end();
  reader_.stop();
}

kube::Result<CurrentServices::Services> CurrentServices::read(TimePoint deadline) {
  kube::MutexLock lock(mutex_);
  if (!next_) {
    next_ = std::make_shared<Read>();
    loop_.wake();
  }
  const std::shared_ptr<Read> mine = next_;
  answered_.waitUntil(lock, deadline,
                      [&]() LASTOUT_REQUIRES(mutex_) { return stopping_ || mine->has_value(); });
  if (mine->has_value()) return **mine;
  return tl::unexpected(
      kube::Error{stopping_ ? "lastout is about to end" : "reading criticalservices took too long", {}, {}});
}

void CurrentServices::readForAll() {
  std::shared_ptr<Read> read;
  {
    const kube::MutexLock lock(mutex_);
    read = std::exchange(next_, nullptr);
  }
  if (!read) return;
  auto objects = reader_.readObjects(criticalservice::criticalServiceType(),
                                     std::chrono::steady_clock::now() + kLongestRead);
  {
    const kube::MutexLock lock(mutex_);
    if (objects)
      *read = std::make_shared<const std::vector<kube::Object>>(std::move(*objects));
    else
      *read = tl::unexpected(std::move(objects.error()));
  }
  answered_.notifyAll();
}

}  // namespace lastout::server

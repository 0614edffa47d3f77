#include "server/current_services.h"

#include <utility>

#include "criticalservice/critical_service.h"

namespace lastout::server {

kube::Result<CurrentServices::Services> CurrentServices::read(TimePoint deadline) {
  std::unique_lock lock(mutex_);
  if (!next_) next_ = std::make_shared<Read>();
  const std::shared_ptr<Read> mine = next_;
  changed_.wait_until(lock, deadline, [&] { return mine->done || !isReading_; });
  if (mine->done) return mine->result;
  if (isReading_) return tl::unexpected(kube::Error{"reading criticalservices took too long", {}, {}});
  isReading_ = true;
  next_ = nullptr;
  lock.unlock();
  auto objects = reader_.readObjects(criticalservice::criticalServiceType(), deadline);
  lock.lock();
  isReading_ = false;
  mine->done = true;
  if (objects)
    mine->result = std::make_shared<const std::vector<kube::Object>>(std::move(*objects));
  else
    mine->result = tl::unexpected(std::move(objects.error()));
  changed_.notify_all();
  return mine->result;
}

}  // namespace lastout::server

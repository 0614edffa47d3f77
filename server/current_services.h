// CurrentServices: the CriticalServices as the API server has them now, whatever the watch has told.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "server/consistent_reader.h"

namespace lastout::server {

// Safe for any number of threads. Those that ask while a read is under way share the next one, which one of
// them makes.
class CurrentServices {
 public:
  using Services = std::shared_ptr<const std::vector<kube::Object>>;

  CurrentServices(const std::shared_ptr<client::Access>& access, const LiveView& view)
      : reader_(access, view) {}

  // All of them, as they were at one moment after this was called. Fails with why that could not be read
  // until `deadline`.
  kube::Result<Services> read(TimePoint deadline);
  // Ends what is under way; from now on everything fails.
  void stop() { reader_.stop(); }

 private:
  struct Read {
    bool done = false;
    kube::Result<Services> result;
  };

  ConsistentReader reader_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool isReading_ = false;      // these are guarded by the mutex
  std::shared_ptr<Read> next_;  // for all who came since that began
};

}  // namespace lastout::server

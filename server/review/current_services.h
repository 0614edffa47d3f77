// CurrentServices: reads the CriticalServices from the API server, past the watch.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "kube/locks.h"
#include "server/review/consistent_reader.h"
#include "server/runtime/loop.h"

namespace lastout::server {

// The CriticalServices whose writes this replica has allowed lately. If the API server cannot be read, they
// count in addition to those that the watch has shown. Safe for any number of threads.
class AllowedServices {
 public:
  static constexpr std::chrono::minutes kKeptFor{5};
  static constexpr size_t kMost = 1'000;  // the oldest gives way

  // One with the spec that was added last under its name takes no more room, so that updates of one
  // CriticalService do not push out others.
  void add(kube::Object service, TimePoint now);
  // Those that were added in the time before `now`, oldest first.
  std::vector<kube::Object> recent(TimePoint now);

 private:
  struct Allowed {
    kube::Object service;
    TimePoint at;
  };
  kube::Mutex mutex_;
  std::deque<Allowed> services_ LASTOUT_GUARDED_BY(mutex_);
};

// Safe for any number of threads. Those that ask while a read is under way share the next one. It is read by
// a thread of this, so that nobody waits beyond their own deadline.
class CurrentServices {
 public:
  using Services = std::shared_ptr<const std::vector<kube::Object>>;

  CurrentServices(const std::shared_ptr<client::Access>& access, const LiveView& view);
  ~CurrentServices();  // as stop()
  CurrentServices(const CurrentServices&) = delete;
  CurrentServices& operator=(const CurrentServices&) = delete;

  // All of them, as they were at one moment after this was called. Fails with why that could not be read
  // until `deadline`.
  kube::Result<Services> read(TimePoint deadline);
  // Ends what is under way; from now on everything fails.
  void stop();

 private:
  using Read = std::optional<kube::Result<Services>>;  // nullopt: it is not done

  void readForAll();

  ConsistentReader reader_;
  kube::Mutex mutex_;
  kube::ConditionVariable answered_;
  bool stopping_ LASTOUT_GUARDED_BY(mutex_) = false;
  // The read that somebody waits for and that has not begun.
  std::shared_ptr<Read> next_ LASTOUT_GUARDED_BY(mutex_);
  Loop loop_;
};

}  // namespace lastout::server

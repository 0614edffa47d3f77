// ConfirmingReads: looks at the API server once more, past all caches, before something is allowed because
// nothing is there.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "admission/cluster_view.h"
#include "client/access.h"
#include "graph/condition.h"
#include "kube/result.h"
#include "server/live_view.h"

namespace lastout::server {

// Safe for any number of threads. Those that ask about the same condition share one read, if it began after
// they asked: what was read before that proves nothing to them.
class ConfirmingReads {
 public:
  using Holder = std::optional<admission::Seen>;

  ConfirmingReads(const std::shared_ptr<client::Access>& access, const LiveView& view);
  ConfirmingReads(const ConfirmingReads&) = delete;
  ConfirmingReads& operator=(const ConfirmingReads&) = delete;

  // An object that holds the condition, or nothing: then none did, at one moment after this was called. Fails
  // with why that could not be read until `deadline`.
  kube::Result<Holder> holderOf(const graph::Condition& condition, TimePoint deadline);
  // Ends what is under way; from now on everything fails.
  void stop() { server_->stop(); }

 private:
  struct Read {
    bool done = false;
    kube::Result<Holder> result;
  };
  struct Reads {
    std::shared_ptr<Read> running;
    std::shared_ptr<Read> next;  // for all who came since that began
  };

  kube::Result<Holder> read(const graph::Condition& condition, TimePoint deadline) const;
  kube::Result<Holder> readObject(const kube::ResourceType& type, const graph::Condition& condition,
                                  TimePoint deadline) const;
  kube::Result<Holder> readAll(const kube::ResourceType& type, const graph::Condition& condition,
                               TimePoint deadline) const;
  kube::Result<Holder> readUnserved(const kube::GroupResource& type, TimePoint deadline) const;
  void finish(const graph::Condition& condition, const std::shared_ptr<Read>& read,
              kube::Result<Holder> result);

  const std::unique_ptr<client::ApiServer> server_;
  const LiveView& view_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<graph::Condition, Reads> reads_;  // guarded by the mutex
};

}  // namespace lastout::server

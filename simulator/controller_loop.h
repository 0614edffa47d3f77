// ControllerLoop: makes the writes of controllers that the machine does not model: statuses and conditions,
// and the objects that come with a new Namespace or CustomResourceDefinition. They order no deletion, but
// clients read them, and webhooks review them.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <unordered_set>

#include "simulator/control_plane.h"
#include "simulator/mutation.h"

namespace lastout::simulator {

// The plane's lock is held whenever this is called.
class ControllerLoop {
 public:
  using Milliseconds = std::chrono::milliseconds;

  // Follows the plane's writes from now on.
  explicit ControllerLoop(ControlPlane& plane);
  ControllerLoop(const ControllerLoop&) = delete;
  ControllerLoop& operator=(const ControllerLoop&) = delete;

  std::optional<Milliseconds> nextAt() const;
  bool isDue(Milliseconds now);
  struct ControllerWrite {
    kube::ObjectKey of;  // the object that was looked at, which is not always the one that is written
    Mutation write;
  };
  // Returns the next write; nullopt: the objects that were due need none.
  std::optional<ControllerWrite> next(Milliseconds now);
  // Looks at an object again, for there may be more to do for it.
  void again(const kube::ObjectKey& key, Milliseconds now);

 private:
  struct Due {
    Milliseconds at{0};
    kube::ObjectKey key;
  };

  void noticed(const Write& write);
  void noticedApis(const kube::ObjectKey& key, const Json& object) LASTOUT_REQUIRES(plane_.mutex);
  void noticedOwners(const Json& object) LASTOUT_REQUIRES(plane_.mutex);
  void queue(const kube::ObjectKey& key);

  ControlPlane& plane_;
  std::deque<Due> due_;  // each has the same delay, so they are in order
  std::unordered_set<kube::ObjectKey> queued_;
  Milliseconds now_{0};
};

}  // namespace lastout::simulator

// Controllers: Kubernetes' controllers and the ManifestWork agent. The machine's agenda says what they do and
// when; this class makes their requests: as their users, reviewed like a client's, then committed.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "simulator/admitter.h"
#include "simulator/control_plane.h"
#include "simulator/controller_loop.h"

namespace lastout::simulator {

// For one thread; takes the plane's lock by itself.
class Controllers {
 public:
  using Milliseconds = std::chrono::milliseconds;

  // Keeps references; nothing may be stored yet.
  Controllers(ControlPlane& plane, Admitter& admitter);

  // Does one thing that is due at `now`; false when nothing is.
  bool step(Milliseconds now);
  // Returns when something is due next; nullopt: nothing is due until a write.
  std::optional<Milliseconds> nextAt();

 private:
  bool act(Milliseconds now);
  bool tidy(Milliseconds now);
  std::vector<Mutation> mutationsOf(const cluster::PlannedAction& plan) LASTOUT_REQUIRES(plane_.mutex);
  std::optional<Mutation> deletion(const cluster::PlannedAction& plan, cluster::Slot slot)
      LASTOUT_REQUIRES(plane_.mutex);
  std::optional<Mutation> writeOf(const cluster::PlannedAction& plan, cluster::Slot slot, bool isNew)
      LASTOUT_REQUIRES(plane_.mutex);
  UserInfo userOf(const cluster::PlannedAction& plan) const LASTOUT_REQUIRES(plane_.mutex);
  ApiResult<void> admitAll(std::vector<Mutation>& mutations);
  void noteContent(const std::vector<Mutation>& deletions, const ApiResult<void>& admitted, Milliseconds now)
      LASTOUT_REQUIRES(plane_.mutex);

  ControlPlane& plane_;
  Admitter& admitter_;
  ControllerLoop loop_;
};

}  // namespace lastout::simulator

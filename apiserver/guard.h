// Guard: lastout's own engine inside the embedded cluster (`lastout up --guard inside`): the live graph of
// what is stored, and its verdict on each DELETE.
#pragma once

#include <optional>

#include "admission/cluster_view.h"
#include "apiserver/control_plane.h"
#include "apiserver/mutation.h"

namespace lastout::apiserver {

// What it calls itself where a webhook has its name.
inline constexpr const char* kGuardName = "deletions.lastout.dev";

// Threading: as ControlPlane: its lock is held whenever this is called.
class Guard {
 public:
  // Follows the plane's writes from now on; both must live equally long, and nothing may be stored yet.
  explicit Guard(ControlPlane& plane);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // Nothing where it is not for the guard to say: it decides DELETEs, and what CriticalServices say. Fails
  // with 403 for a DELETE that the engine denies, in the words and with the causes that a webhook would
  // answer with, and for a CriticalService that cannot be understood, or must not become so.
  std::optional<ApiResult<void>> review(const Mutation& mutation) const;

 private:
  void take(const Write& write);
  kube::Errors problemsOf(const Mutation& mutation) const;
  bool scalesGuarded(const Mutation& mutation) const;
  const TypeRegistry& types_;
  admission::ClusterView view_;
};

}  // namespace lastout::apiserver

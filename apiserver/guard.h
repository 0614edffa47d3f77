// Guard: lastout's own engine inside the embedded cluster (`lastout up --guard inside`): the live graph of
// what is stored, and its verdict on each DELETE.
#pragma once

#include <optional>

#include "admission/cluster_view.h"
#include "apiserver/control_plane.h"
#include "apiserver/mutation.h"

namespace lastout::apiserver {

// Threading: as ControlPlane: its lock is held whenever this is called.
class Guard {
 public:
  // Follows the plane's writes from now on; both must live equally long, and nothing may be stored yet.
  explicit Guard(ControlPlane& plane);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // Why the mutation may not be: a DELETE that the engine denies, in the words and with the causes that a
  // webhook would answer with (403).
  std::optional<ApiError> refusal(const Mutation& mutation) const;

 private:
  void take(const Write& write);
  const TypeRegistry& types_;
  admission::ClusterView view_;
};

}  // namespace lastout::apiserver

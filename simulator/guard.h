// Guard: lastout's own engine inside the embedded cluster (`lastout up --guard inside`): the live graph of
// what is stored, its verdict on each DELETE, and what the stored DeletionPolicies say.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "admission/cluster_view.h"
#include "simulator/control_plane.h"
#include "simulator/mutation.h"
#include "simulator/stored_policies.h"

namespace lastout::simulator {

// What it calls itself where a webhook has its name.
inline constexpr const char* kGuardName = "deletions.lastout.dev";

// Threading: as ControlPlane: its lock is held whenever this is called.
class EmbeddedGuard {
 public:
  // Follows the plane's writes from now on; both must live equally long, and nothing may be stored yet.
  explicit EmbeddedGuard(ControlPlane& plane);
  EmbeddedGuard(const EmbeddedGuard&) = delete;
  EmbeddedGuard& operator=(const EmbeddedGuard&) = delete;

  // nullopt: the guard does not decide this request: it decides DELETEs and the updates that policies look
  // at, and what CriticalServices and DeletionPolicies say. Fails for a request that the engine denies, in
  // the words, with the code and with the causes that a webhook would answer with, and for a CriticalService
  // that cannot be understood, or must not become so, or a DeletionPolicy that cannot be.
  std::optional<ApiResult<void>> review(const Mutation& mutation);

  // As of StoredPolicies::ofApiServer().
  std::shared_ptr<const Policies::List> policies() const { return policies_.ofApiServer(); }

 private:
  void take(const Write& write);
  ApiError denialOf(admission::Explanation explanation,
                    const std::vector<protection::Denial>& protections) const;
  kube::Errors problemsOf(const Mutation& mutation) const;
  bool scalesGuarded(const Mutation& mutation) const;
  const TypeRegistry& types_;
  admission::ClusterView view_;
  StoredPolicies policies_;
};

}  // namespace lastout::simulator

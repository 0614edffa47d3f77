// Admitter: decides whether a Mutation may be committed: by policies, by webhooks and, where it is on, by
// lastout's own engine in process.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/control_plane.h"
#include "simulator/guard.h"
#include "simulator/mutation.h"
#include "simulator/reviewer.h"

namespace lastout::simulator {

// Safe for any number of threads.
class Admitter {
 public:
  // Keeps references. `guard`: nullptr where no guard runs in this process. `users` answers the policies'
  // questions about rights.
  Admitter(ControlPlane& plane, Reviewer& reviewer, EmbeddedGuard* guard, const Users& users)
      : plane_(plane), reviewer_(reviewer), guard_(guard), users_(users) {}

  struct Result {
    std::vector<std::string> webhooks;  // names of those that were asked
    std::optional<ApiError> denial;     // nullopt: allowed
  };
  // Is told each verdict: the guard's under the lock, so that verdicts and writes come in their order; the
  // webhooks' when all have answered. To be set before anything is reviewed.
  using Observer = std::function<void(const Mutation&, const Result&)>;
  void observe(Observer observer) { observer_ = std::move(observer); }

  // True if a guard, a webhook or a policy could refuse something.
  bool mayRefuse() const {
    return guard_ != nullptr || !plane_.webhooks.snapshot()->all.empty() ||
           !plane_.policies.snapshot()->bound.empty();
  }
  // Called without the lock. Afterwards `mutation` has the changes of mutating webhooks; their warnings are
  // appended.
  ApiResult<void> admit(Mutation& mutation, std::vector<std::string>& warnings);

 private:
  ApiResult<void> askGuard(const Mutation& mutation) const;
  ApiResult<void> tell(const Mutation& mutation, Result verdict) const;

  ControlPlane& plane_;
  Reviewer& reviewer_;
  EmbeddedGuard* guard_;
  const Users& users_;
  Observer observer_;
};

}  // namespace lastout::simulator

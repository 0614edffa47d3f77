// Admitter: decides whether a Mutation may be committed: by policies and by webhooks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/control_plane.h"
#include "simulator/mutation.h"
#include "simulator/webhook_dispatcher.h"

namespace lastout::simulator {

// Safe for any number of threads.
class Admitter {
 public:
  // Keeps references. `users` answers the policies' questions about rights.
  Admitter(ControlPlane& plane, WebhookDispatcher& reviewer, const Users& users)
      : plane_(plane), dispatcher_(reviewer), users_(users) {}

  struct Result {
    std::vector<std::string> webhooks;  // names of those that were asked
    std::optional<ApiError> denial;     // nullopt: allowed
  };
  // Is told each verdict of webhooks, when all have answered. To be set before anything is reviewed.
  using Observer = std::function<void(const Mutation&, const Result&)>;
  void observe(Observer observer) { observer_ = std::move(observer); }

  // True if a webhook or a policy could refuse something.
  bool mayRefuse() const {
    return !plane_.webhooks.snapshot()->all.empty() || !plane_.policies.snapshot()->bound.empty();
  }
  // Called without the lock. Afterwards `mutation` has the changes of mutating webhooks; their warnings are
  // appended.
  ApiResult<void> admit(Mutation& mutation, std::vector<std::string>& warnings);

 private:
  ApiResult<void> tell(const Mutation& mutation, Result verdict) const;
  tl::expected<PolicyParameters, std::string> parameters(const ParameterKind& kind,
                                                         const ParameterReference& reference,
                                                         const std::string& requestNamespace) const;

  ControlPlane& plane_;
  WebhookDispatcher& dispatcher_;
  const Users& users_;
  Observer observer_;
};

}  // namespace lastout::simulator

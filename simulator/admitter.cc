#include "simulator/admitter.h"

#include <utility>

#include "kube/well_known.h"
#include "simulator/mutation.h"

namespace lastout::simulator {
namespace {

ReviewRequest reviewOf(const Mutation& mutation) {
  ReviewRequest request;
  request.operation = toString(mutation.operation);
  request.type = mutation.key.type;
  request.version = mutation.type->version;
  request.subresource = mutation.subresource;
  request.kindGroup = mutation.key.type.group;
  request.kindVersion = mutation.type->version;
  request.kind = mutation.type->kind;
  request.namespaceName = mutation.key.namespaceName;
  if (mutation.nameIsKnown) request.name = mutation.key.name;
  if (mutation.before != nullptr) request.oldObject = &mutation.before->object();
  if (mutation.operation != Mutation::Operation::Delete) request.object = &mutation.after;
  if (mutation.shown) {
    request.kindGroup = mutation.shown->group;
    request.kindVersion = mutation.shown->version;
    request.kind = mutation.shown->kind;
    request.oldObject = &mutation.shown->before;
    request.object = &mutation.shown->after;
  }
  request.options = mutation.options;
  request.dryRun = mutation.dryRun;
  request.user = mutation.user;
  return request;
}

}  // namespace

ApiResult<void> Admitter::tell(const Mutation& mutation, Result verdict) const {
  if (observer_ && !verdict.webhooks.empty()) observer_(mutation, verdict);
  if (verdict.denial) return tl::unexpected(std::move(*verdict.denial));
  return {};
}

// Where nobody is asked there is no review either.
ApiResult<void> Admitter::admit(Mutation& mutation, std::vector<std::string>& warnings) {
  if (!mayRefuse()) return {};
  ReviewRequest request = reviewOf(mutation);
  {
    const kube::MutexLock lock(plane_.mutex);
    const RecordRef space = plane_.storage.find(kube::namespaceKey(mutation.key.namespaceName));
    if (space != nullptr) request.namespaceLabels = labelsOf(space->object());
  }
  const auto accept = [&mutation](const Json& object) -> ApiResult<const Json*> {
    if (auto accepted = acceptMutated(mutation, object); !accepted)
      return tl::unexpected(std::move(accepted.error()));
    return mutation.shown ? &mutation.shown->after : &mutation.after;
  };
  const auto policies = [this](const ReviewRequest& reviewed) {
    const auto rights = [&](const AccessAttributes& wanted) { return mayDo(users_, reviewed.user, wanted); };
    return reviewByPolicies(*plane_.policies.snapshot(), reviewed, rights);
  };
  ReviewOutcome outcome = dispatcher_.review(std::move(request), accept, policies);
  warnings.insert(warnings.end(), std::make_move_iterator(outcome.warnings.begin()),
                  std::make_move_iterator(outcome.warnings.end()));
  return tell(mutation, {std::move(outcome.asked), std::move(outcome.denial)});
}

}  // namespace lastout::simulator

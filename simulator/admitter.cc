#include "simulator/admitter.h"

#include <algorithm>
#include <utility>

#include "kube/object.h"
#include "kube/well_known.h"
#include "simulator/mutation.h"
#include "simulator/selection.h"

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

// In the order and words of Kubernetes' CollectParams.
tl::expected<PolicyParameters, std::string> Admitter::parameters(const ParameterKind& kind,
                                                                 const ParameterReference& reference,
                                                                 const std::string& requestNamespace) const {
  const kube::MutexLock lock(plane_.mutex);
  const std::string group = kube::groupOf(kind.apiVersion);
  const std::string version(kube::versionOf(kind.apiVersion));
  const auto types = plane_.types.typesOf(group, version);
  const auto type = std::ranges::find(types, kind.kind, &ServedType::kind);
  if (type == types.end())
    return tl::unexpected("failed to find resource referenced by paramKind: '" + group + "/" + version +
                          ", Kind=" + kind.kind + "'");
  const bool isNamespaced = (*type)->namespaced;
  if (!isNamespaced && !reference.namespaceName.empty())
    return tl::unexpected(
        std::string("paramRef.namespace must not be provided for a cluster-scoped `paramKind`"));
  const std::string& space =
      isNamespaced && reference.namespaceName.empty() ? requestNamespace : reference.namespaceName;
  if (isNamespaced && space.empty())
    return tl::unexpected(std::string(
        "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"));
  std::vector<RecordRef> records =
      reference.name.empty() ? plane_.storage.list((*type)->type, space)
                             : std::vector{plane_.storage.find({(*type)->type, space, reference.name})};
  PolicyParameters found;
  for (const RecordRef& record : records)
    if (record != nullptr && matches(reference.selector, record->object()))
      found.emplace_back(record, &record->object());
  return found;
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
    const auto found = [&](const ParameterKind& kind, const ParameterReference& reference) {
      return parameters(kind, reference, reviewed.namespaceName);
    };
    return reviewByPolicies(*plane_.policies.snapshot(), reviewed, {rights, found});
  };
  ReviewOutcome outcome = dispatcher_.review(std::move(request), accept, policies);
  warnings.insert(warnings.end(), std::make_move_iterator(outcome.warnings.begin()),
                  std::make_move_iterator(outcome.warnings.end()));
  return tell(mutation, {std::move(outcome.asked), std::move(outcome.denial)});
}

}  // namespace lastout::simulator

// Strategic merge patch, for Kubernetes' own types: a merge patch that knows which lists are maps or sets.
// https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md
#pragma once

#include "kube/object_key.h"
#include "simulator/json.h"
#include "simulator/status.h"

namespace lastout::simulator {

// The object of a built-in type with the patch applied. Lists of maps that have a merge key (containers by
// name, a container's ports by containerPort, conditions by type, ...) are merged item by item, sets
// (finalizers) are united, all other lists are replaced. Directives in the patch: `$patch` with replace,
// delete or merge, `$retainKeys`, `$setElementOrder/<list>` and `$deleteFromPrimitiveList/<list>`. Fails with
// 400 when the patch is malformed (an unknown directive, a list item without its merge key), with 413 when
// the result is too large.
ApiResult<Json> strategicMerge(const kube::GroupResource& type, const Json& object, const Json& patch);

}  // namespace lastout::simulator

// Patches that work for every type: JSON patch (RFC 6902), merge patch (RFC 7396) and server-side apply. Each
// takes an object, and a patch from decodePatch (simulator/decode.h), and answers the patched object, which
// is within what a body may be.
#pragma once

#include <cstddef>
#include <string_view>

#include "kube/object_key.h"
#include "simulator/json.h"
#include "simulator/status.h"

namespace lastout::simulator {

constexpr size_t kMostJsonPatchOperations = 10'000;  // the API server's own limit

// Fails with 400 when the patch is malformed, 413 when it has too many operations or makes them too costly
// (copies can double an object at each step), and 422 when an operation does not apply; nothing is changed
// then.
ApiResult<Json> jsonPatch(const Json& object, const Json& patch);

// Fails with 400 when the patch is no object.
ApiResult<Json> mergePatch(const Json& object, const Json& patch);

// What an apply request says beside its body.
struct ApplyRequest {
  std::string_view name;          // of the object, in the path
  std::string_view fieldManager;  // must be there
};

// A merge in which metadata.finalizers are a set and metadata.ownerReferences a map by uid; other maps are
// merged, other lists replaced, and null removes. `object` is null when it is to be created. What an earlier
// apply set and this one leaves out stays: nobody's fields are tracked. Fails with 400, or with 422 without a
// field manager.
ApiResult<Json> applyPatch(const Json& object, const Json& patch, const ApplyRequest& request);

// How large a value is. Both stop counting soon after what may be stored (simulator/decode.h).
struct Extent {
  size_t bytes = 0;  // what its text takes at most
  size_t depth = 0;  // 0 for a scalar, 1 for a list or map of scalars
};
Extent extentOf(const Json& json);

// A patched object: fails with 413 when it has become too large, with 422 when it is nested too deep or no
// object any more.
ApiResult<Json> withinLimits(Json object);

// 422, as for a patch that is well formed and cannot be applied.
ApiError unprocessable(std::string_view why);

// --- Strategic merge patch, for Kubernetes' own types: a merge patch that knows which lists are maps or
// sets.
// https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md

// The object of a built-in type with the patch applied. Lists of maps that have a merge key (containers by
// name, a container's ports by containerPort, conditions by type, ...) are merged item by item, sets
// (finalizers) are united, all other lists are replaced. Directives in the patch: `$patch` with replace,
// delete or merge, `$retainKeys`, `$setElementOrder/<list>` and `$deleteFromPrimitiveList/<list>`. Fails with
// 400 when the patch is malformed (an unknown directive, a list item without its merge key), with 413 when
// the result is too large.
ApiResult<Json> strategicMerge(const kube::GroupResource& type, const Json& object, const Json& patch);

}  // namespace lastout::simulator

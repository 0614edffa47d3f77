// Scale: the subresource through which the replicas of a workload are read and written.
#pragma once

#include <string>

#include "simulator/json.h"
#include "simulator/status.h"

namespace lastout::simulator {

// The Scale of a Deployment, ReplicaSet or StatefulSet. Zero wanted replicas are left out, zero actual ones
// are not (recorded in rest/075, 076).
Json scaleOf(const Json& workload);
// The workload with a Scale's replicas. 422 when they are no number or less than 0.
ApiResult<Json> withScale(Json workload, const Json& scale);

// A selector of the API in kubectl's form: "a=fg,tier in (a,b),!legacy", sorted by key; "" selects all.
std::string selectorText(const Json& selector);

}  // namespace lastout::simulator

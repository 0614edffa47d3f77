// What the API server checks of the few fields of built-in types that clients and the controllers here count
// on: a small table, and no schema of all of Kubernetes.
#pragma once

#include <string_view>
#include <vector>

#include "simulator/json.h"
#include "simulator/metadata.h"
#include "simulator/served_type.h"
#include "simulator/status.h"

namespace lastout::simulator {

// The data of ConfigMaps and Secrets holds texts, the replicas of workloads are a number that is not
// negative. Fails with 400 for a value of another type, as Go's decoder does, and with 422 for one that
// cannot be. Other types may hold anything.
ApiResult<void> checkBuiltIn(const ServedType& type, std::string_view name, const Json& object);

// Returns what the API server refuses in a complete object of the types that install lastout, or that lastout
// writes: a table of rules for fields, and no validation of all of Kubernetes. Workloads without a Pod's
// spec, and Services without a list of ports, are taken as they are: whoever tries out deletion leaves these
// out.
std::vector<StatusCause> fieldProblems(const kube::GroupResource& type, const Json& object);

// --- What no update may change, in the API server's words.

// Returns why `object`, prepared, may not replace `old`; empty: it may. Problems that both checks of the
// metadata find are listed twice, as recorded in rest/065.
std::vector<StatusCause> forbiddenChanges(const TypeRules& rules, const Json& old, const Json& object,
                                          std::string_view subresource);

}  // namespace lastout::simulator

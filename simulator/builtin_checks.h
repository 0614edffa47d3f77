// What the API server checks of the few fields of built-in types that clients and the controllers here count
// on: a small table, and no schema of all of Kubernetes.
#pragma once

#include <string_view>

#include "simulator/json.h"
#include "simulator/served_type.h"
#include "simulator/status.h"

namespace lastout::simulator {

// The data of ConfigMaps and Secrets holds texts, the replicas of workloads are a number that is not
// negative. Fails with 400 for a value of another type, as Go's decoder does, and with 422 for one that
// cannot be. Other types may hold anything.
ApiResult<void> checkBuiltIn(const ServedType& type, std::string_view name, const Json& object);

}  // namespace lastout::simulator

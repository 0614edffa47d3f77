// Defaults: what the API server fills in of objects of built-in types when they are created or updated.
// Values of the wrong type are left alone, for validation to complain about.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "simulator/json.h"

namespace lastout::simulator {

struct TypeRules;

// Gives a new Service its address.
using ClusterIpSource = std::function<std::string(const Json& service)>;

// A new object: defaults, what admission plugins that are always on add, and the status that its type begins
// with, whatever status the client sent. Call it after prepareForCreate, whose name and creationTimestamp it
// reads. Objects of other types come back as they are. Recorded in rest/009, 010, 072, 098, admission/06.
Json completeOnCreate(const TypeRules& rules, Json object, const ClusterIpSource& clusterIp);
// A changed object: defaults, and what was allocated for the old one (a Service's addresses and node ports)
// where the new one leaves it out. prepareForUpdate sees to it, before it compares the two.
Json completeOnUpdate(const TypeRules& rules, const Json& old, Json object);

// An address out of 10.96.0.0/16 that depends on the name alone; another `attempt` gives another one, for
// when it is taken.
std::string clusterIpOf(std::string_view namespaceName, std::string_view name, uint32_t attempt = 0);

}  // namespace lastout::simulator

// What the API server fills in of a Service, and what it allocates for one: its address and its node ports.
#pragma once

#include "simulator/defaults.h"
#include "simulator/json.h"

namespace lastout::simulator {

void fillService(Json& service);
// clusterIP (unless "None" or given), clusterIPs, address families, node ports.
void allocateService(Json& service, const ClusterIpSource& clusterIp);
// What the changed Service leaves out of what the old one was given.
void keepAllocated(const Json& old, Json& service);

}  // namespace lastout::simulator

// What the API server fills in of the specifications that have most defaults: of a Pod, be it in a Pod or in
// a workload's template, and of a Service, with what it allocates for one: its address and its node ports.
#pragma once

#include <string_view>

#include "simulator/defaults.h"
#include "simulator/json.h"

namespace lastout::simulator {

// --- What the API server fills in of a Pod's spec, be it in a Pod or in a workload's template.

// The defaults that a template and a Pod share. `spec` should be an object; anything else is left alone.
void fillPodSpec(Json& spec);
// A template's metadata and spec ({metadata: {creationTimestamp: null, ...}, spec: ...}).
void fillPodTemplate(Json& podTemplate);
// What only a Pod gets: from decoding, and from the admission plugins that are always on (priority, the two
// tolerations of lost nodes). Recorded in admission/06.
void fillPod(Json& spec);
// "BestEffort", "Burstable" or "Guaranteed", from the containers' requests and limits.
std::string_view qosClassOf(const Json& spec);

// --- What the API server fills in of a Service, and what it allocates for one: its address and its node
// ports.

void fillService(Json& service);
// clusterIP (unless "None" or given), clusterIPs, address families, node ports.
void allocateService(Json& service, const ClusterIpSource& clusterIp);
// What the changed Service leaves out of what the old one was given.
void keepAllocated(const Json& old, Json& service);

}  // namespace lastout::simulator

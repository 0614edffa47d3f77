// What the API server fills in of a Pod's spec, be it in a Pod or in a workload's template.
#pragma once

#include <string_view>

#include "simulator/json.h"

namespace lastout::simulator {

// The defaults that a template and a Pod share. `spec` should be an object; anything else is left alone.
void fillPodSpec(Json& spec);
// A template's metadata and spec ({metadata: {creationTimestamp: null, ...}, spec: ...}).
void fillPodTemplate(Json& podTemplate);
// What only a Pod gets: from decoding, and from the admission plugins that are always on (priority, the two
// tolerations of lost nodes). Recorded in admission/06.
void fillPod(Json& spec);
// "BestEffort", "Burstable" or "Guaranteed", from the containers' requests and limits.
std::string_view qosClassOf(const Json& spec);

}  // namespace lastout::simulator

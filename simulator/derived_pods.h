// What happens to a Pod on its node, as the scheduler and the node report it.
#pragma once

#include <string>
#include <string_view>

#include "simulator/json.h"

namespace lastout::simulator {

// All containers run and are ready; nothing new of one that runs already. Recorded in story-guarded.jsonl;
// the Pod's address and start time, which that recording's pretended node leaves out, are those of a real
// one.
Json readyPod(Json pod, std::string_view now);
// All containers have ended, as they should; nothing new of one that has ended already.
Json stoppedPod(Json pod, std::string_view now);

// An address out of 10.244.0.0/16 that depends on the Pod's uid alone.
std::string podIpOf(std::string_view uid);

}  // namespace lastout::simulator

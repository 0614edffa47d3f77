// deadCalls: the words for what the API server refuses because nobody answers a webhook, a conversion webhook
// or an APIService, in a state of the machine. admission/unanswered_calls.h tells it of manifests.
#pragma once

#include <string>
#include <vector>

#include "cluster/transition.h"
#include "replay/names.h"

namespace lastout::replay {

// Those that are called for one request and do not answer.
struct DeadCalls {
  std::string sentence;                       // with the way out; empty: there are none
  std::vector<cluster::Slot> configurations;  // what asks for the calls: one of them has to change
};

// Returns the webhooks that are called for that request (&Interception::onDelete, ...) for the object, and do
// not answer.
DeadCalls deadCalls(const cluster::Transition& cluster, const Names& names, cluster::Slot object,
                    bool cluster::Interception::*request);

// "its Service a/b is not in the files"; of a call that fails.
std::string whyNoAnswer(const cluster::Transition& cluster, const Names& names,
                        const cluster::Interception& called);

}  // namespace lastout::replay

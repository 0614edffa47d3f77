// addUnansweredCalls: the webhooks, conversion webhooks and APIServices among some objects that nobody
// answers, and the deletions that fail or hang for that.
#pragma once

#include <vector>

#include "admission/spec_blockers.h"

namespace lastout::admission {

// Adds them to `found`; its parameters are those of specBlockersOf(). As in the machine
// (cluster/transition.h), whoever is called by a URL, or by a Service that selects no Pods, answers; so does
// lastout itself, where its Service is not among the objects. Where EndpointSlices of the Service are, they
// say whether anybody is Ready; else its Pods are, and the workloads that make them.
void addUnansweredCalls(const std::vector<const kube::Object*>& objects, const kube::ResourceMap& types,
                        const SpecSource& source, SpecBlockers& found);

}  // namespace lastout::admission

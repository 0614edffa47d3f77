// addUnansweredCalls: the webhooks, conversion webhooks and APIServices among some objects that nobody
// answers, and the deletions that fail or hang for that.
#pragma once

#include "admission/spec_blockers.h"

namespace lastout::admission {

// Adds them to `found`. In a cluster the EndpointSlices of a
// Service say whether anybody answers. In files they do where they are there; else its Pods do, and the
// workloads that make them. As in the machine (cluster/transition.h), a Service of files that selects no Pods
// answers, and so does lastout, which may run without being in the files. What is called by a URL answers.
void addUnansweredCalls(const SpecObjects& objects, const FinalizerRemovals& removals, SpecBlockers& found);

}  // namespace lastout::admission

// What keeps a criterion from holding, as a phrase. Insides of admission/explain.h.
#pragma once

#include "admission/words.h"
#include "criticalservice/critical_service.h"
#include "graph/graph.h"

namespace lastout::admission {

// "coolresources.my.crd.group/some-instance has finalizer my.crd.group/super-important"; fills `holders`,
// which was empty. Something holds the condition, which is the criterion's.
void writeHeld(TextWriter& text, const graph::Graph& graph, const criticalservice::Criterion& criterion,
               graph::ConditionId condition, Holders& holders);
// "it is not known whether any coolresources.my.crd.group has finalizer ... (...)": nothing is seen to hold
// it.
void writeNotKnown(TextWriter& text, const graph::Graph& graph, const criticalservice::Criterion& criterion,
                   graph::Knowledge knowledge);

}  // namespace lastout::admission

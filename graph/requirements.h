// Conditions and requirements: what is deleted after what, and what requires it. Insides of graph/graph.h.
#pragma once

#include <cstdint>

#include "graph/tables.h"
#include "kube/object_key.h"

namespace lastout::graph {

// The condition's number, or kNone when nothing uses such a one.
uint32_t findCondition(const Tables& tables, const Condition& condition);
uint32_t findOrAddCondition(Tables& tables, const Condition& condition);
// Lets the condition go if it has neither requirements nor holds.
void dropUnusedCondition(Tables& tables, uint32_t condition);

// Does nothing when the same requirement is there already.
void addRequirement(Tables& tables, const kube::ObjectKey& subject, uint32_t condition, const Origin& origin);
void removeRequirementsFrom(Tables& tables, uint32_t origin);

}  // namespace lastout::graph

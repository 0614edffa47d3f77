// Conditions and requirements: what is deleted after what, and what requires it. Insides of graph/graph.h.
#pragma once

#include <cstdint>

#include "graph/tables.h"
#include "kube/object_key.h"

namespace lastout::graph {

// Returns the number of the condition; kNone: it is not in use.
uint32_t findCondition(const Tables& tables, const Condition& condition);
uint32_t findOrAddCondition(Tables& tables, const Condition& condition);
// Lets the condition go if it has neither requirements nor holds.
void dropUnusedCondition(Tables& tables, uint32_t condition);

// Adds the requirement, unless it exists.
void addRequirement(Tables& tables, const kube::ObjectKey& subject, uint32_t condition, const Origin& origin);
void removeRequirementsFrom(Tables& tables, uint32_t origin);

}  // namespace lastout::graph

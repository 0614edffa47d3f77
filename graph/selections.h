// Namespaces that conditions name, and those that the selectors of conditions leave out, as the labels of
// Namespaces come and go. Insides of graph/graph.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "graph/tables.h"
#include "kube/object.h"

namespace lastout::graph {

// The Namespace of that name is here, and has these labels; or it is not here.
void setLabels(Tables& tables, std::string_view namespaceName, const kube::Labels& labels);
void clearLabels(Tables& tables, std::string_view namespaceName);

// Gives a Finalizer condition, which names no namespaces yet, a selector: it names those Namespaces that do
// not match. Takes the selector back; what it names stays.
void addSelecting(Tables& tables, uint32_t condition, std::string_view selector);
void dropSelecting(Tables& tables, uint32_t condition);
// Returns the condition on this carrier with this selector, or kNone.
uint32_t findSelecting(const Tables& tables, uint32_t carrier, std::string_view selector);

// The condition is about this namespace, or leaves it out; its holders are not counted again.
void addNamed(Tables& tables, uint32_t condition, std::string_view namespaceName);
// Drops all that the condition names.
void dropNamed(Tables& tables, const ConditionRecord& condition);
// Returns how many of the carrier's holders are in the namespaces that the condition names.
uint32_t countNamed(const Tables& tables, const ConditionRecord& condition);

}  // namespace lastout::graph

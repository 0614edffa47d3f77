// Names of vertices: for people, and for an order that does not depend on ids.
#pragma once

#include <string>

#include "graph/edges.h"

namespace lastout::graph {

// An object as its key, a condition as toString(Condition).
std::string describe(const Graph& graph, Vertex vertex);

// A strict total order of live vertices by what they are: objects by key, then conditions.
bool namedBefore(const Graph& graph, Vertex a, Vertex b);

}  // namespace lastout::graph

// Selection: which part of a graph a dump tells of, in the order in which it is told. Insides of
// graph/dump.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dump.h"
#include "graph/edges.h"

namespace lastout::graph {

// Parallel edges are one.
struct DrawnEdge {
  uint32_t source = 0;  // index of a vertex in the selection
  uint32_t target = 0;
  EdgeKind kind = EdgeKind::Holder;
};

struct DumpSelection {
  std::vector<Vertex> vertices;  // by name, objects first
  std::vector<DrawnEdge> edges;  // by source, target and kind
  uint64_t leftOut = 0;          // vertices beyond the limit
};

DumpSelection select(const Graph& graph, const DumpOptions& options);

std::string_view toString(Condition::Kind kind);

}  // namespace lastout::graph

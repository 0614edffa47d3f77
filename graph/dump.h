// Dumps: a graph, or a part of it, as text for programs and people. The same content gives the same text, in
// whatever order and under whatever ids it was put in.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "graph/graph.h"

namespace lastout::graph {

// What would be answered to a DELETE of a guarded object.
struct DumpVerdict {
  bool allowed = false;
  std::string text;   // for people
  bool held = false;  // allowed: it would be deleted, and not be gone
};

struct DumpOptions {
  // Only what is at most `depth` edges away from this object, in either direction, over what is shown at all;
  // absent: everything. An object that the graph does not know gives an empty dump.
  std::optional<kube::ObjectKey> focus;
  uint32_t depth = 3;
  // The most vertices to tell of: the nearest ones, or without a focus first those that order something. The
  // rest is counted.
  size_t limit = 1000;
  // Only objects that wait for something now (for what is required of them, or to be gone), and what they
  // wait for, to the end of each chain.
  bool blocked = false;
  // Only the objects in this namespace, the Namespace, and what they go after: conditions with their holders.
  // Empty: all.
  std::string namespaceName;
  // A line for people that comes first, in the drawings: what they do not show. Empty: none.
  std::string note;
  // The verdict on a guarded object; nothing for others. May be empty.
  std::function<std::optional<DumpVerdict>(ObjectId)> verdict;
};

// {"objects": [...], "conditions": [...], "edges": [...], "leftOut": n}; docs/graph.md has the fields.
std::string dumpJson(const Graph& graph, const DumpOptions& options = {});
// For Graphviz.
std::string dumpDot(const Graph& graph, const DumpOptions& options = {});
// For Mermaid, as GitHub and many wikis draw it.
std::string dumpMermaid(const Graph& graph, const DumpOptions& options = {});

}  // namespace lastout::graph

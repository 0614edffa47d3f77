// Names: of vertices, for people and for an order that does not depend on ids; and the object that a person
// means.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/edges.h"
#include "graph/graph.h"
#include "kube/object_key.h"
#include "kube/resource_map.h"
#include "kube/result.h"

namespace lastout::graph {

// An object as its key, a condition as toString(Condition).
std::string describe(const Graph& graph, Vertex vertex);

// A strict total order of live vertices by what they are: objects by key, then conditions.
bool namedBefore(const Graph& graph, Vertex a, Vertex b);

struct FoundObject {
  std::optional<kube::ObjectKey> key;  // absent: the reference says too little to name what is not there
  std::string missing;  // not empty: the graph has no such object; a sentence that names the nearest
};

// The one object that `reference` names (kube/reference.h), present or only named by others; a namespace may
// be left out where that is clear, and patterns match. Fails on what is no reference, and on one that names
// several objects (listing them).
kube::Result<FoundObject> findObject(const Graph& graph, std::string_view reference,
                                     const kube::ResourceMap& types);

// "a, b and 3 more": at most five of them.
std::string someOf(const std::vector<kube::ObjectKey>& keys);

}  // namespace lastout::graph

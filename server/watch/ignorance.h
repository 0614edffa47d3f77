// Ignorance: what keeps types from being known well enough to decide by them, in the words of a condition.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "kube/object_key.h"

namespace lastout::server {

struct Ignorance {
  std::optional<bool> lasts;  // until somebody does something about it; nothing: it may pass at any moment
  std::string reason;         // one word, of the type that is worst off
  std::string message;        // "why; why; and 2 more"
};

// How well the objects of the type are known.
graph::Knowledge knowledgeOf(const graph::Graph& graph, const kube::GroupResource& type);

// Nothing: each of the types is known.
std::optional<Ignorance> ignoranceOf(const graph::Graph& graph, const std::set<kube::GroupResource>& types);

// "a; b; c; and 2 more"
std::string joinedForPeople(const std::vector<std::string>& parts);

}  // namespace lastout::server

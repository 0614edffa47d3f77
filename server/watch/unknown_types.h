// UnknownTypes: why types are not known well enough to decide by them, in the words of a condition.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "kube/object_key.h"

namespace lastout::server {

struct UnknownTypes {
  std::optional<bool> lasts;  // until somebody does something about it; nullopt: it may pass at any moment
  std::string reason;         // one word, of the type that is worst off
  std::string message;        // "why; why; and 2 more"
};

// Returns why some of the types are not known; nullopt: all are.
std::optional<UnknownTypes> unknownTypesAmong(const graph::Graph& graph,
                                              const std::set<kube::GroupResource>& types);

// "a; b; c; and 2 more"
std::string joinedForPeople(const std::vector<std::string>& parts);

}  // namespace lastout::server

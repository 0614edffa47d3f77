// Nodes: objects, present or absent, by their keys. Insides of graph/graph.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/tables.h"
#include "kube/object.h"

namespace lastout::graph {

// The node of this key, present or absent, or kNone.
uint32_t findNode(const Tables& tables, uint32_t type, std::string_view namespaceName, std::string_view name);
uint32_t findNode(const Tables& tables, const kube::ObjectKey& key);
// As findNode; added as absent when there is none. The caller names it in its Extra at once.
uint32_t findOrAddNode(Tables& tables, const kube::ObjectKey& key);

// What setPresent needs to know of an object, worked out ahead for several at a time, so that their memory is
// on its way to the cache meanwhile. Stays true whatever happens to the graph in between.
struct Incoming {
  uint64_t namespaceHash = 0;
  uint32_t keyHash = 0;
  uint32_t uidHash = 0;
  UidKey uid;
};
Incoming prepare(const Tables& tables, uint32_t type, const kube::ObjectMeta& meta);

// The object is, or becomes, present with this metadata; true if it was not. `scratch` is memory to use
// again.
bool setPresent(Tables& tables, uint32_t type, const kube::ObjectMeta& meta, const Incoming& incoming,
                std::vector<std::string_view>& scratch);
// The node becomes absent, and goes unless something names it.
void setAbsent(Tables& tables, uint32_t node);

inline bool isPresent(const Tables& tables, uint32_t node) {
  return (tables.nodes[node].flags & Node::kPresent) != 0;
}

// Whether a requirement or a condition names the node.
bool isNamed(const Tables& tables, uint32_t node);
// The node's Extra, added if need be.
Extra& writeExtra(Tables& tables, uint32_t node);
// Lets the Extra go when its lists are empty and the node is not terminating, and then the node if it is
// absent. Nothing if it has gone already.
void dropUnused(Tables& tables, uint32_t node);

}  // namespace lastout::graph

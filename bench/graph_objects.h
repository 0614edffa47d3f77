// The objects that the graph's benchmarks are fed with: instances in namespaces, as an API server's list has
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace lastout::bench {

inline constexpr uint32_t kNamespaces = 1000;
inline constexpr std::string_view kFinalizer = "my.crd.group/super-important";

// Names of 40 characters, UUIDs, one finalizer, one owner: the first of each ten objects owns the ten.
kube::ObjectMeta makeMeta(uint32_t number);
// As makeMeta(number), into memory that is there already; `generation` makes the name and the uid fresh ones.
void refill(kube::ObjectMeta& meta, uint32_t number, uint32_t generation);

const kube::GroupResource& instanceType();

// Held by all of them.
graph::Condition finalizerCondition();

// Parsed metadata of `count` objects; kept for the life of the program, so that its making is paid once.
const std::vector<kube::ObjectMeta>& metas(uint32_t count);
std::vector<graph::Change> upserts(graph::TypeId type, const std::vector<kube::ObjectMeta>& metas);

// A graph of them, with their Namespaces and their CRD.
graph::Graph makeGraph(uint32_t count);

// Resident memory of this process, in bytes, after giving back to the system what was freed.
uint64_t residentBytes();

}  // namespace lastout::bench

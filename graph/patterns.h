// Patterns (kube/patterns.h): types and carriers that stand for several others. Insides of graph/graph.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "graph/tables.h"

namespace lastout::graph {

inline bool isPattern(const Type& type) { return type.semantics == Type::Semantics::Pattern; }

// --- types

// Adds a new type that is a pattern to the list of these; takes it off the list before it goes.
void linkPatternType(Tables& tables, uint32_t type);
void unlinkPatternType(Tables& tables, uint32_t type);
// To be called after the type's knowledge, or whether it is pinned, has changed: finds out again how well the
// patterns are known that match it. Types that are not pinned do not count.
void noteKnowledge(Tables& tables, uint32_t type);

// --- carriers

// The carrier's number, or kNone. The type or the finalizer is a pattern, or both are.
uint32_t findPattern(const Tables& tables, uint32_t type, std::string_view finalizer);
// The same, added if need be, with one more use by a condition. All objects that it means are its holders.
uint32_t acquirePattern(Tables& tables, uint32_t type, std::string_view finalizer);
// One use less; without any, it goes.
void releasePattern(Tables& tables, uint32_t carrier);
// Makes the objects of the new class holders of all patterns that mean them. Called once, after the class has
// its own finalizers.
void joinPatterns(Tables& tables, uint32_t objectClass);

}  // namespace lastout::graph

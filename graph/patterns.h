// Patterns (kube/patterns.h): types and carriers that stand for several others. Insides of graph/graph.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "graph/tables.h"

namespace lastout::graph {

inline bool isPattern(const Type& type) { return type.semantics == Type::Semantics::Pattern; }

// --- types: call each after the change

// The type, which may be a pattern, has come; it is in use.
void noteTypeAdded(Tables& tables, uint32_t type);
// The type's knowledge is another.
void noteKnowledge(Tables& tables, uint32_t type);
// Before a type that is not in use any more goes.
void noteTypeGoing(Tables& tables, uint32_t type);

// --- carriers

// The carrier's number, or kNone. Either the type is a pattern or the finalizer.
uint32_t findPattern(const Tables& tables, uint32_t type, std::string_view finalizer);
// The same, added if need be, with one more use by a condition. All objects that it means are its holders.
uint32_t acquirePattern(Tables& tables, uint32_t type, std::string_view finalizer);
// One use less; without any, it goes.
void releasePattern(Tables& tables, uint32_t carrier);
// Makes the objects of the new class holders of all patterns that mean them. Called once, after the class has
// its own finalizers.
void joinPatterns(Tables& tables, uint32_t objectClass);

}  // namespace lastout::graph

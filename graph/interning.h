// Types, namespaces, finalizers' carriers and object classes: records that exist while something uses them.
// Insides of graph/graph.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "graph/tables.h"

namespace lastout::graph {

// find...: the record's number, or kNone. acquire...: the same, added if need be, with one more use.
// release...: one use less; without any, the record goes and its number and strings are used again.
uint32_t findType(const Tables& tables, std::string_view group, std::string_view resource);
uint32_t acquireType(Tables& tables, std::string_view group, std::string_view resource);
void acquireType(Tables& tables, uint32_t type);
void releaseType(Tables& tables, uint32_t type);

uint32_t findNamespace(const Tables& tables, std::string_view name);
uint32_t acquireNamespace(Tables& tables, std::string_view name);
// Of a namespace's name: what the hashes of its classes and objects begin with.
uint64_t hashNamespaceName(const Tables& tables, std::string_view name);
void releaseNamespace(Tables& tables, uint32_t number);

uint32_t findCarrier(const Tables& tables, uint32_t type, std::string_view finalizer);
uint32_t acquireCarrier(Tables& tables, uint32_t type, std::string_view finalizer);
void releaseCarrier(Tables& tables, uint32_t carrier);

uint32_t hashNamed(const Tables& tables, uint32_t carrier, uint32_t namespaceNumber);
// Calls `visit` with each condition on this carrier that names this namespace.
template <class Visit>
void forEachNaming(const Tables& tables, uint32_t carrier, uint32_t namespaceNumber, const Visit& visit) {
  tables.namedIndex.find(hashNamed(tables, carrier, namespaceNumber), [&](uint32_t number) {
    const NamedNamespace& named = tables.namedNamespaces[number];
    if (named.namespaceNumber == namespaceNumber && tables.conditions[named.condition].subject == carrier)
      visit(named.condition);
    return false;  // there may be more
  });
}
// Whether the condition, which is on a carrier, names this namespace.
bool names(const Tables& tables, const ConditionRecord& condition, uint32_t namespaceNumber);
// Whether each object of the class is in the namespace of its own name: it is of Namespaces.
bool areNamespaces(const Tables& tables, const ObjectClass& objectClass);
// The namespace that the node is part of, in it or as its Namespace; kNone: one that nothing is in and
// nothing names.
uint32_t findPartOf(const Tables& tables, uint32_t node);

// The class of present objects of `type` in the namespace, with these finalizers (sorted, without
// duplicates). It exists while it has objects: the caller links one at once. `namespaceHash` is the name's
// hashNamespaceName().
uint32_t findOrAddClass(Tables& tables, uint32_t type, std::string_view namespaceName, uint64_t namespaceHash,
                        std::span<const std::string_view> finalizers);
// The class of absent objects of `type` in the namespace.
uint32_t findOrAddAbsentClass(Tables& tables, uint32_t type, std::string_view namespaceName);

// Puts the node, which is in no class, into this one; takes it out again. Both keep all counts.
void linkToClass(Tables& tables, uint32_t node, uint32_t objectClass);
void unlinkFromClass(Tables& tables, uint32_t node);

}  // namespace lastout::graph

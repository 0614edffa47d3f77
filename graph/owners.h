// Owner references: from dependents to uids, and back. Insides of graph/graph.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/tables.h"
#include "kube/object.h"

namespace lastout::graph {

// Stored forms of a uid: a Text uid becomes a string of the arena's, which dropUid gives back.
struct StoredUid {
  uint64_t high = 0;
  uint64_t low = 0;
  UidKind kind = UidKind::None;
};
StoredUid storeUid(Tables& tables, const UidKey& uid);
void dropUid(Tables& tables, const StoredUid& uid);
bool sameUid(const Tables& tables, const StoredUid& stored, const UidKey& uid);
// Borrows its text from the tables.
UidKey uidKey(const Tables& tables, const StoredUid& stored);

template <class Record>
StoredUid uidOf(const Record& record) {
  return {record.uidHigh, record.uidLow, record.uidKind};
}

inline uint32_t uidHash(const Tables& tables, const UidKey& uid) {
  return finishHash(hashUid(tables.hashSeed, uid));
}

// The Owner with this uid, or kNone.
uint32_t findOwner(const Tables& tables, const UidKey& uid);
// What the reference calls its owner.
OtherName nameOfOwner(const Tables& tables, const Reference& reference);

// The node's owner references become these, in this order. Costs nothing but a comparison when they already
// are.
void setReferences(Tables& tables, uint32_t node, const std::vector<kube::OwnerReference>& references);
void clearReferences(Tables& tables, uint32_t node);

// Of the present nodes with this uid, the one that leads to the others; or kNone.
inline uint32_t findFirstWithUid(const Tables& tables, const UidKey& uid, uint32_t hash) {
  return tables.nodesByUid.find(
      hash, [&](uint32_t node) { return sameUid(tables, uidOf(tables.nodes[node]), uid); });
}

// Calls visit(node) for every present node with this uid: more than one when the API server serves one object
// under two types.
template <class Visit>
void forEachNodeWithUid(const Tables& tables, const UidKey& uid, const Visit& visit) {
  if (uid.kind == UidKind::None) return;
  uint32_t node = findFirstWithUid(tables, uid, uidHash(tables, uid));
  while (node != kNone) {
    visit(node);
    const uint32_t extra = tables.nodes[node].extra;
    node = extra == kNone ? kNone : tables.extras[extra].nextOfUid;
  }
}

// Calls visit(reference) for every reference to this uid, until it returns false.
template <class Visit>
void forEachReferenceTo(const Tables& tables, const UidKey& uid, const Visit& visit) {
  if (uid.kind == UidKind::None) return;
  const uint32_t owner = findOwner(tables, uid);
  if (owner == kNone) return;
  for (uint32_t at = tables.owners[owner].firstDependent; at != kNone;
       at = tables.references[at].nextOfOwner) {
    if (!visit(tables.references[at])) return;
  }
}

}  // namespace lastout::graph

#include "graph/owners.h"

#include "kube/invariant.h"

namespace lastout::graph {

StoredUid storeUid(Tables& tables, const UidKey& uid) {
  if (uid.kind != UidKind::Text) return {uid.high, uid.low, uid.kind};
  return {static_cast<uint32_t>(tables.strings.add(uid.text)), 0, UidKind::Text};
}

namespace {
StringId textOf(const StoredUid& uid) { return StringId{static_cast<uint32_t>(uid.high)}; }
}  // namespace

void dropUid(Tables& tables, const StoredUid& uid) {
  if (uid.kind == UidKind::Text) tables.strings.release(textOf(uid));
}

bool sameUid(const Tables& tables, const StoredUid& stored, const UidKey& uid) {
  if (stored.kind != uid.kind) return false;
  if (uid.kind == UidKind::Text) return tables.strings.view(textOf(stored)) == uid.text;
  return stored.high == uid.high && stored.low == uid.low;
}

UidKey uidKey(const Tables& tables, const StoredUid& stored) {
  UidKey key{stored.kind, stored.high, stored.low, {}};
  if (stored.kind == UidKind::Text) key.text = tables.strings.view(textOf(stored));
  return key;
}

uint32_t findOwner(const Tables& tables, const UidKey& uid) {
  return tables.ownersByUid.find(uidHash(tables, uid), [&](uint32_t candidate) {
    return sameUid(tables, uidOf(tables.owners[candidate]), uid);
  });
}

OtherName nameOfOwner(const Tables& tables, const Reference& reference) {
  if (reference.otherName != kNone) return tables.otherNames[reference.otherName];
  const Owner& owner = tables.owners[reference.owner()];
  return {owner.name, owner.kind};
}

namespace {

bool sameName(const Tables& tables, const OtherName& stored, const kube::OwnerReference& reference) {
  const OwnerKind& kind = tables.ownerKinds[stored.kind];
  return tables.strings.view(stored.name) == reference.name &&
         tables.strings.view(kind.kind) == reference.kind &&
         tables.strings.view(kind.apiVersion) == reference.apiVersion;
}

uint32_t acquireOwnerKind(Tables& tables, std::string_view apiVersion, std::string_view kind) {
  const uint32_t hash = finishHash(hashText(hashText(tables.hashSeed, apiVersion), kind));
  uint32_t number = tables.ownerKindIndex.find(hash, [&](uint32_t candidate) {
    const OwnerKind& record = tables.ownerKinds[candidate];
    return tables.strings.view(record.kind) == kind && tables.strings.view(record.apiVersion) == apiVersion;
  });
  if (number == kNone) {
    OwnerKind record;
    record.apiVersion = tables.strings.add(apiVersion);
    record.kind = tables.strings.add(kind);
    record.hash = hash;
    number = tables.ownerKinds.add(record);
    tables.ownerKindIndex.insert(hash, number);
  }
  ++tables.ownerKinds.write(number).uses;
  return number;
}

void releaseOwnerKind(Tables& tables, uint32_t number) {
  OwnerKind& record = tables.ownerKinds.write(number);
  LASTOUT_INVARIANT(record.uses > 0);
  if (--record.uses > 0) return;
  tables.ownerKindIndex.erase(record.hash, number);
  tables.strings.release(record.apiVersion);
  tables.strings.release(record.kind);
  tables.ownerKinds.release(number);
}

OtherName acquireName(Tables& tables, const kube::OwnerReference& reference) {
  return {tables.strings.add(reference.name), acquireOwnerKind(tables, reference.apiVersion, reference.kind)};
}

void releaseName(Tables& tables, const OtherName& name) {
  tables.strings.release(name.name);
  releaseOwnerKind(tables, name.kind);
}

// An owner exists while a reference names it: the caller links one at once.
uint32_t findOrAddOwner(Tables& tables, const kube::OwnerReference& reference) {
  const UidKey uid = parseUid(reference.uid);
  const uint32_t known = findOwner(tables, uid);
  if (known != kNone) return known;
  Owner owner;
  const StoredUid stored = storeUid(tables, uid);
  const OtherName name = acquireName(tables, reference);
  owner.uidHigh = stored.high;
  owner.uidLow = stored.low;
  owner.uidKind = stored.kind;
  owner.name = name.name;
  owner.kind = name.kind;
  owner.hash = uidHash(tables, uid);
  const uint32_t number = tables.owners.add(owner);
  tables.ownersByUid.insert(owner.hash, number);
  return number;
}

void removeOwner(Tables& tables, uint32_t number) {
  const Owner owner = tables.owners[number];
  tables.ownersByUid.erase(owner.hash, number);
  dropUid(tables, uidOf(owner));
  releaseName(tables, {owner.name, owner.kind});
  tables.owners.release(number);
}

uint32_t flagsOf(const kube::OwnerReference& reference) {
  return (reference.controller ? Reference::kController : 0) |
         (reference.blockOwnerDeletion ? Reference::kBlockOwnerDeletion : 0);
}

bool sameReferences(const Tables& tables, uint32_t at, const std::vector<kube::OwnerReference>& references) {
  for (const kube::OwnerReference& reference : references) {
    if (at == kNone) return false;
    const Reference& stored = tables.references[at];
    if ((stored.ownerAndFlags & ~Reference::kOwnerMask) != flagsOf(reference)) return false;
    if (!sameUid(tables, uidOf(tables.owners[stored.owner()]), parseUid(reference.uid))) return false;
    if (!sameName(tables, nameOfOwner(tables, stored), reference)) return false;
    at = stored.nextOfDependent;
  }
  return at == kNone;
}

uint32_t addReference(Tables& tables, uint32_t node, const kube::OwnerReference& reference, uint32_t next) {
  const uint32_t owner = findOrAddOwner(tables, reference);
  Reference record;
  record.dependent = node;
  record.ownerAndFlags = owner | flagsOf(reference);
  if (!sameName(tables, nameOfOwner(tables, record), reference)) {
    record.otherName = tables.otherNames.add(acquireName(tables, reference));
  }
  record.nextOfDependent = next;
  record.nextOfOwner = tables.owners[owner].firstDependent;
  const uint32_t number = tables.references.add(record);
  tables.owners.write(owner).firstDependent = number;
  if (record.nextOfOwner != kNone) tables.references.write(record.nextOfOwner).previousOfOwner = number;
  return number;
}

void removeReference(Tables& tables, uint32_t number) {
  const Reference record = tables.references[number];
  if (record.otherName != kNone) {
    releaseName(tables, tables.otherNames[record.otherName]);
    tables.otherNames.release(record.otherName);
  }
  if (record.previousOfOwner != kNone) {
    tables.references.write(record.previousOfOwner).nextOfOwner = record.nextOfOwner;
  } else {
    tables.owners.write(record.owner()).firstDependent = record.nextOfOwner;
  }
  if (record.nextOfOwner != kNone) {
    tables.references.write(record.nextOfOwner).previousOfOwner = record.previousOfOwner;
  } else if (record.previousOfOwner == kNone) {
    removeOwner(tables, record.owner());
  }
  tables.references.release(number);
}

}  // namespace

void setReferences(Tables& tables, uint32_t node, const std::vector<kube::OwnerReference>& references) {
  const uint32_t first = tables.nodes[node].firstReference;
  if (first == kNone && references.empty()) return;
  if (first != kNone) {
    if (sameReferences(tables, first, references)) return;
    clearReferences(tables, node);
  }
  uint32_t next = kNone;
  for (size_t i = references.size(); i-- > 0;) next = addReference(tables, node, references[i], next);
  tables.nodes.write(node).firstReference = next;
}

void clearReferences(Tables& tables, uint32_t node) {
  uint32_t at = tables.nodes[node].firstReference;
  if (at == kNone) return;
  while (at != kNone) {
    const uint32_t next = tables.references[at].nextOfDependent;
    removeReference(tables, at);
    at = next;
  }
  tables.nodes.write(node).firstReference = kNone;
}

}  // namespace lastout::graph

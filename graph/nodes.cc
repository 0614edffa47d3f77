#include "graph/nodes.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "graph/hash.h"
#include "graph/interning.h"
#include "graph/owners.h"
#include "graph/selections.h"
#include "kube/object_references.h"

namespace lastout::graph {

namespace {

uint32_t hashKey(uint64_t namespaceHash, uint32_t type, std::string_view name) {
  return finishHash(hashText(hashNumber(namespaceHash, type), name));
}

uint32_t findNode(const Tables& tables, uint32_t hash, uint32_t type, uint32_t namespaceNumber,
                  std::string_view name) {
  return tables.nodesByKey.find(hash, [&](uint32_t number) {
    const Node& node = tables.nodes[number];
    if (tables.strings.view(node.name) != name) return false;
    const ObjectClass& objectClass = tables.classes[node.objectClass];
    return objectClass.type == type && objectClass.namespaceNumber == namespaceNumber;
  });
}

uint32_t addNode(Tables& tables, uint32_t hash, std::string_view name) {
  Node node;
  node.flags = Node::kLive;
  node.name = tables.strings.add(name);
  const uint32_t number = tables.nodes.add(node);
  tables.nodesByKey.insert(hash, number);
  return number;
}

uint32_t keyHashOf(const Tables& tables, const Node& node) {
  const ObjectClass& objectClass = tables.classes[node.objectClass];
  const StringId space = tables.namespaces[objectClass.namespaceNumber].name;
  return hashKey(hashNamespaceName(tables, tables.strings.view(space)), objectClass.type,
                 tables.strings.view(node.name));
}

void removeNode(Tables& tables, uint32_t number) {
  tables.nodesByKey.erase(keyHashOf(tables, tables.nodes[number]), number);
  unlinkFromClass(tables, number);
  tables.strings.release(tables.nodes[number].name);
  tables.nodes.release(number);
}

bool dropUnusedExtra(Tables& tables, uint32_t number) {
  const uint32_t extra = tables.nodes[number].extra;
  if (extra == kNone) return true;
  const Extra& fields = tables.extras[extra];
  const bool isTerminating = (tables.nodes[number].flags & Node::kTerminating) != 0;
  if (isTerminating || isNamed(tables, number) || fields.previousOfUid != kNone || fields.nextOfUid != kNone)
    return false;
  tables.extras.release(extra);
  tables.nodes.write(number).extra = kNone;
  return true;
}

// Behind the first with its uid.
void linkSharedUid(Tables& tables, uint32_t first, uint32_t number) {
  Extra& ofFirst = writeExtra(tables, first);
  const uint32_t next = ofFirst.nextOfUid;
  ofFirst.nextOfUid = number;
  Extra& own = writeExtra(tables, number);
  own.previousOfUid = first;
  own.nextOfUid = next;
  if (next != kNone) writeExtra(tables, next).previousOfUid = number;
}

// Leaves those that share its uid, and the index to them; false if there are none.
bool unlinkSharedUid(Tables& tables, uint32_t hash, uint32_t number) {
  const uint32_t extra = tables.nodes[number].extra;
  if (extra == kNone) return false;
  const uint32_t previous = tables.extras[extra].previousOfUid;
  const uint32_t next = tables.extras[extra].nextOfUid;
  if (previous == kNone && next == kNone) return false;
  Extra& own = tables.extras.write(extra);
  own.previousOfUid = own.nextOfUid = kNone;
  if (previous != kNone) writeExtra(tables, previous).nextOfUid = next;
  if (next != kNone) writeExtra(tables, next).previousOfUid = previous;
  if (previous == kNone) {
    tables.nodesByUid.erase(hash, number);
    tables.nodesByUid.insert(hash, next);
  }
  for (const uint32_t node : {previous, next, number}) {
    if (node != kNone) dropUnusedExtra(tables, node);
  }
  return true;
}

void clearUid(Tables& tables, uint32_t number) {
  const StoredUid uid = uidOf(tables.nodes[number]);
  if (uid.kind == UidKind::None) return;
  const uint32_t hash = uidHash(tables, uidKey(tables, uid));
  if (!unlinkSharedUid(tables, hash, number)) tables.nodesByUid.erase(hash, number);
  dropUid(tables, uid);
  Node& node = tables.nodes.write(number);
  node.uidKind = UidKind::None;
}

void setUid(Tables& tables, uint32_t number, const UidKey& uid, uint32_t hash) {
  if (sameUid(tables, uidOf(tables.nodes[number]), uid)) return;
  clearUid(tables, number);
  if (uid.kind == UidKind::None) return;
  const StoredUid stored = storeUid(tables, uid);
  Node& node = tables.nodes.write(number);
  node.uidHigh = stored.high;
  node.uidLow = stored.low;
  node.uidKind = stored.kind;
  const uint32_t first = findFirstWithUid(tables, uid, hash);
  if (first == kNone) {
    tables.nodesByUid.insert(hash, number);
  } else {
    linkSharedUid(tables, first, number);
  }
}

// A number when its text is that number's only one, so that the text can be had back.
std::optional<uint64_t> parseVersion(std::string_view text) {
  if (text.empty() || text.size() > 19 || (text[0] == '0' && text.size() > 1)) return std::nullopt;
  uint64_t value = 0;
  const std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool isWhole = result.ec == std::errc() && result.ptr == text.data() + text.size();
  return isWhole && value >> Node::kVersionBits == 0 ? std::optional(value) : std::nullopt;
}

void clearVersion(Tables& tables, Node& node) {
  if (node.versionKind == Node::Version::Text) {
    tables.strings.release(StringId{static_cast<uint32_t>(node.resourceVersion)});
  }
  node.versionKind = Node::Version::None;
}

void setVersion(Tables& tables, Node& node, std::string_view text) {
  clearVersion(tables, node);
  if (text.empty()) return;
  if (const std::optional<uint64_t> number = parseVersion(text)) {
    node.resourceVersion = *number;
    node.versionKind = Node::Version::Number;
  } else {
    node.resourceVersion = static_cast<uint32_t>(tables.strings.add(text));
    node.versionKind = Node::Version::Text;
  }
}

}  // namespace

uint32_t findNode(const Tables& tables, uint32_t type, std::string_view namespaceName,
                  std::string_view name) {
  const uint32_t number = findNamespace(tables, namespaceName);
  if (number == kNone) return kNone;
  return findNode(tables, hashKey(hashNamespaceName(tables, namespaceName), type, name), type, number, name);
}

uint32_t findNode(const Tables& tables, const kube::ObjectKey& key) {
  const uint32_t type = findType(tables, key.type.group, key.type.resource);
  return type == kNone ? kNone : findNode(tables, type, key.namespaceName, key.name);
}

uint32_t findOrAddNode(Tables& tables, const kube::ObjectKey& key) {
  const uint32_t known = findNode(tables, key);
  if (known != kNone) return known;
  const uint32_t type = acquireType(tables, key.type.group, key.type.resource);
  const uint32_t absent = findOrAddAbsentClass(tables, type, key.namespaceName);
  const uint32_t hash = hashKey(hashNamespaceName(tables, key.namespaceName), type, key.name);
  const uint32_t number = addNode(tables, hash, key.name);
  linkToClass(tables, number, absent);
  releaseType(tables, type);
  return number;
}

Incoming prepare(const Tables& tables, uint32_t type, const kube::ObjectMeta& meta) {
  Incoming incoming;
  incoming.namespaceHash = hashNamespaceName(tables, meta.namespaceName);
  incoming.keyHash = hashKey(incoming.namespaceHash, type, meta.name);
  incoming.uid = parseUid(meta.uid);
  incoming.uidHash = uidHash(tables, incoming.uid);
  tables.nodesByKey.prefetch(incoming.keyHash);
  tables.nodesByUid.prefetch(incoming.uidHash);
  return incoming;
}

bool setPresent(Tables& tables, uint32_t type, const kube::ObjectMeta& meta, const Incoming& incoming,
                std::vector<std::string_view>& scratch) {
  scratch.assign(meta.references.begin(), meta.references.end());
  for (const std::string& finalizer : meta.finalizers)
    if (!kube::isReference(finalizer)) scratch.push_back(finalizer);
  if (scratch.size() > 1) {
    std::sort(scratch.begin(), scratch.end());
    scratch.erase(std::unique(scratch.begin(), scratch.end()), scratch.end());
  }
  const uint32_t objectClass =
      findOrAddClass(tables, type, meta.namespaceName, incoming.namespaceHash, scratch);
  const uint32_t namespaceNumber = tables.classes[objectClass].namespaceNumber;
  const uint32_t hash = incoming.keyHash;
  uint32_t number = findNode(tables, hash, type, namespaceNumber, meta.name);
  if (number == kNone) {
    number = addNode(tables, hash, meta.name);
    linkToClass(tables, number, objectClass);
  } else if (tables.nodes[number].objectClass != objectClass) {
    unlinkFromClass(tables, number);
    linkToClass(tables, number, objectClass);
  }
  Node& node = tables.nodes.write(number);
  const bool wasPresent = (node.flags & Node::kPresent) != 0;
  node.flags = Node::kLive | Node::kPresent | (meta.deletionTimestamp ? Node::kTerminating : 0);
  if (meta.deletionTimestamp)
    writeExtra(tables, number).deletionTimestamp = *meta.deletionTimestamp;
  else
    dropUnusedExtra(tables, number);
  setVersion(tables, node, meta.resourceVersion);
  setUid(tables, number, incoming.uid, incoming.uidHash);
  setReferences(tables, number, meta.ownerReferences);
  if (areNamespaces(tables, tables.classes[objectClass])) setLabels(tables, meta.name, meta.labels);
  return !wasPresent;
}

void setAbsent(Tables& tables, uint32_t number) {
  if (areNamespaces(tables, tables.classes[tables.nodes[number].objectClass]))
    clearLabels(tables, tables.strings.view(tables.nodes[number].name));
  clearReferences(tables, number);
  clearUid(tables, number);
  Node& node = tables.nodes.write(number);
  clearVersion(tables, node);
  node.flags = Node::kLive;
  if (dropUnusedExtra(tables, number)) {
    removeNode(tables, number);
    return;
  }
  const ObjectClass present = tables.classes[node.objectClass];
  const std::string namespaceName(tables.strings.view(tables.namespaces[present.namespaceNumber].name));
  const uint32_t absent = findOrAddAbsentClass(tables, present.type, namespaceName);
  unlinkFromClass(tables, number);
  linkToClass(tables, number, absent);
}

bool isNamed(const Tables& tables, uint32_t node) {
  const uint32_t extra = tables.nodes[node].extra;
  if (extra == kNone) return false;
  const Extra& fields = tables.extras[extra];
  return fields.firstRequirement != kNone || fields.firstOrigin != kNone || fields.firstCondition != kNone;
}

Extra& writeExtra(Tables& tables, uint32_t node) {
  uint32_t number = tables.nodes[node].extra;
  if (number == kNone) {
    number = tables.extras.add(Extra{});
    tables.nodes.write(node).extra = number;
  }
  return tables.extras.write(number);
}

void dropUnused(Tables& tables, uint32_t number) {
  if ((tables.nodes[number].flags & Node::kLive) == 0) return;
  if (dropUnusedExtra(tables, number) && !isPresent(tables, number)) removeNode(tables, number);
}

}  // namespace lastout::graph

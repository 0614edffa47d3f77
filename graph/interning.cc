#include "graph/interning.h"

#include "graph/hash.h"
#include "graph/patterns.h"
#include "kube/invariant.h"
#include "kube/patterns.h"
#include "kube/well_known.h"

namespace lastout::graph {

namespace {

Type::Semantics semanticsOf(std::string_view group, std::string_view resource) {
  const auto is = [&](const kube::GroupResource& type) {
    return group == type.group && resource == type.resource;
  };
  if (is(kube::kNamespaces)) return Type::Semantics::Namespaces;
  if (is(kube::kCustomResourceDefinitions)) return Type::Semantics::Crds;
  if (is(notUnderstoodType())) return Type::Semantics::NotUnderstood;
  if (kube::isTypePattern({std::string(group), std::string(resource)})) return Type::Semantics::Pattern;
  return Type::Semantics::Other;
}

uint32_t hashType(const Tables& tables, std::string_view group, std::string_view resource) {
  return finishHash(hashText(hashText(tables.hashSeed, group), resource));
}
uint32_t hashCarrier(const Tables& tables, uint32_t type, std::string_view finalizer) {
  return finishHash(hashText(hashNumber(tables.hashSeed, type), finalizer));
}

uint32_t findType(const Tables& tables, uint32_t hash, std::string_view group, std::string_view resource) {
  return tables.typeIndex.find(hash, [&](uint32_t number) {
    const Type& type = tables.types[number];
    return tables.strings.view(type.resource) == resource && tables.strings.view(type.group) == group;
  });
}

uint32_t findNamespace(const Tables& tables, uint32_t hash, std::string_view name) {
  return tables.namespaceIndex.find(
      hash, [&](uint32_t number) { return tables.strings.view(tables.namespaces[number].name) == name; });
}

uint32_t findCarrier(const Tables& tables, uint32_t hash, uint32_t type, std::string_view finalizer) {
  return tables.carrierIndex.find(hash, [&](uint32_t number) {
    const Carrier& carrier = tables.carriers[number];
    return carrier.type == type && tables.strings.view(carrier.finalizer) == finalizer;
  });
}

}  // namespace

uint32_t findType(const Tables& tables, std::string_view group, std::string_view resource) {
  return findType(tables, hashType(tables, group, resource), group, resource);
}

uint32_t acquireType(Tables& tables, std::string_view group, std::string_view resource) {
  const uint32_t hash = hashType(tables, group, resource);
  uint32_t number = findType(tables, hash, group, resource);
  if (number == kNone) {
    Type type;
    type.group = tables.strings.add(group);
    type.resource = tables.strings.add(resource);
    type.semantics = semanticsOf(group, resource);
    type.hash = hash;
    if (type.semantics == Type::Semantics::NotUnderstood) type.knowledge = Knowledge::NotUnderstood;
    number = tables.types.add(type);
    tables.typeIndex.insert(hash, number);
    acquireType(tables, number);
    if (isPattern(type)) linkPatternType(tables, number);
    return number;
  }
  acquireType(tables, number);
  return number;
}

void acquireType(Tables& tables, uint32_t type) { ++tables.types.write(type).uses; }

void releaseType(Tables& tables, uint32_t type) {
  Type& record = tables.types.write(type);
  LASTOUT_INVARIANT(record.uses > 0);
  if (--record.uses > 0 || record.pinned) return;
  if (isPattern(record)) unlinkPatternType(tables, type);
  tables.typeIndex.erase(record.hash, type);
  tables.strings.release(record.group);
  tables.strings.release(record.resource);
  tables.types.release(type);
}

uint64_t hashNamespaceName(const Tables& tables, std::string_view name) {
  return hashText(tables.hashSeed, name);
}

uint32_t findNamespace(const Tables& tables, std::string_view name) {
  return findNamespace(tables, finishHash(hashNamespaceName(tables, name)), name);
}

uint32_t acquireNamespace(Tables& tables, std::string_view name) {
  const uint32_t hash = finishHash(hashNamespaceName(tables, name));
  uint32_t number = findNamespace(tables, hash, name);
  if (number == kNone) {
    NamespaceEntry entry;
    entry.name = tables.strings.add(name);
    entry.hash = hash;
    number = tables.namespaces.add(entry);
    tables.namespaceIndex.insert(hash, number);
  }
  ++tables.namespaces.write(number).uses;
  return number;
}

void releaseNamespace(Tables& tables, uint32_t number) {
  NamespaceEntry& entry = tables.namespaces.write(number);
  LASTOUT_INVARIANT(entry.uses > 0);
  if (--entry.uses > 0) return;
  tables.namespaceIndex.erase(entry.hash, number);
  tables.strings.release(entry.name);
  tables.namespaces.release(number);
}

uint32_t findCarrier(const Tables& tables, uint32_t type, std::string_view finalizer) {
  return findCarrier(tables, hashCarrier(tables, type, finalizer), type, finalizer);
}

uint32_t acquireCarrier(Tables& tables, uint32_t type, std::string_view finalizer) {
  const uint32_t hash = hashCarrier(tables, type, finalizer);
  uint32_t number = findCarrier(tables, hash, type, finalizer);
  if (number == kNone) {
    Carrier carrier;
    carrier.type = type;
    carrier.finalizer = tables.strings.add(finalizer);
    carrier.hash = hash;
    carrier.nextInType = tables.types[type].firstCarrier;
    acquireType(tables, type);
    number = tables.carriers.add(carrier);
    tables.carrierIndex.insert(hash, number);
    if (carrier.nextInType != kNone) tables.carriers.write(carrier.nextInType).previousInType = number;
    tables.types.write(type).firstCarrier = number;
  }
  ++tables.carriers.write(number).uses;
  return number;
}

void releaseCarrier(Tables& tables, uint32_t carrier) {
  Carrier& record = tables.carriers.write(carrier);
  LASTOUT_INVARIANT(record.uses > 0);
  if (--record.uses > 0) return;
  if (record.previousInType != kNone) {
    tables.carriers.write(record.previousInType).nextInType = record.nextInType;
  } else {
    tables.types.write(record.type).firstCarrier = record.nextInType;
  }
  if (record.nextInType != kNone)
    tables.carriers.write(record.nextInType).previousInType = record.previousInType;
  tables.carrierIndex.erase(record.hash, carrier);
  tables.strings.release(record.finalizer);
  releaseType(tables, record.type);
  tables.carriers.release(carrier);
}

namespace {

bool sameFinalizers(const Tables& tables, uint32_t membership, std::span<const std::string_view> finalizers) {
  for (const std::string_view finalizer : finalizers) {
    if (membership == kNone) return false;
    const Membership& record = tables.memberships[membership];
    const Carrier& carrier = tables.carriers[record.carrier];
    if (carrier.isPattern || tables.strings.view(carrier.finalizer) != finalizer) return false;
    membership = record.nextInClass;
  }
  return membership == kNone || tables.carriers[tables.memberships[membership].carrier].isPattern;
}

void addMemberships(Tables& tables, uint32_t objectClass, uint32_t type,
                    std::span<const std::string_view> finalizers) {
  uint32_t next = kNone;
  for (size_t i = finalizers.size(); i-- > 0;) {
    Membership membership;
    membership.objectClass = objectClass;
    membership.carrier = acquireCarrier(tables, type, finalizers[i]);
    membership.nextInClass = next;
    membership.nextInCarrier = tables.carriers[membership.carrier].firstMembership;
    next = tables.memberships.add(membership);
    Carrier& carrier = tables.carriers.write(membership.carrier);
    carrier.firstMembership = next;
    carrier.wasHeld = true;
    if (membership.nextInCarrier != kNone) {
      tables.memberships.write(membership.nextInCarrier).previousInCarrier = next;
    }
  }
  tables.classes.write(objectClass).firstMembership = next;
}

void removeMemberships(Tables& tables, uint32_t membership) {
  while (membership != kNone) {
    const Membership record = tables.memberships[membership];
    if (record.previousInCarrier != kNone) {
      tables.memberships.write(record.previousInCarrier).nextInCarrier = record.nextInCarrier;
    } else {
      tables.carriers.write(record.carrier).firstMembership = record.nextInCarrier;
    }
    if (record.nextInCarrier != kNone) {
      tables.memberships.write(record.nextInCarrier).previousInCarrier = record.previousInCarrier;
    }
    if (!tables.carriers[record.carrier].isPattern) releaseCarrier(tables, record.carrier);
    tables.memberships.release(membership);
    membership = record.nextInClass;
  }
}

// Lists of the classes of one type, and of one namespace.
void linkClass(Tables& tables, uint32_t number) {
  ObjectClass& record = tables.classes.write(number);
  record.nextInType = tables.types[record.type].firstClass;
  record.nextInNamespace = tables.namespaces[record.namespaceNumber].firstClass;
  if (record.nextInType != kNone) tables.classes.write(record.nextInType).previousInType = number;
  if (record.nextInNamespace != kNone) {
    tables.classes.write(record.nextInNamespace).previousInNamespace = number;
  }
  tables.types.write(record.type).firstClass = number;
  tables.namespaces.write(record.namespaceNumber).firstClass = number;
}

void unlinkClass(Tables& tables, uint32_t number) {
  const ObjectClass record = tables.classes[number];
  if (record.previousInType != kNone) {
    tables.classes.write(record.previousInType).nextInType = record.nextInType;
  } else {
    tables.types.write(record.type).firstClass = record.nextInType;
  }
  if (record.nextInType != kNone)
    tables.classes.write(record.nextInType).previousInType = record.previousInType;
  if (record.previousInNamespace != kNone) {
    tables.classes.write(record.previousInNamespace).nextInNamespace = record.nextInNamespace;
  } else {
    tables.namespaces.write(record.namespaceNumber).firstClass = record.nextInNamespace;
  }
  if (record.nextInNamespace != kNone) {
    tables.classes.write(record.nextInNamespace).previousInNamespace = record.previousInNamespace;
  }
}

uint32_t findOrAddClass(Tables& tables, uint32_t type, std::string_view namespaceName, uint64_t namespaceHash,
                        std::span<const std::string_view> finalizers, uint8_t present) {
  const uint32_t known = findNamespace(tables, finishHash(namespaceHash), namespaceName);
  uint64_t state = hashNumber(namespaceHash + present, type);
  for (const std::string_view finalizer : finalizers) state = hashText(state, finalizer);
  const uint32_t hash = finishHash(state);
  if (known != kNone) {
    const uint32_t number = tables.classIndex.find(hash, [&](uint32_t candidate) {
      const ObjectClass& record = tables.classes[candidate];
      return record.type == type && record.namespaceNumber == known &&
             (record.flags & ObjectClass::kPresent) == present &&
             sameFinalizers(tables, record.firstMembership, finalizers);
    });
    if (number != kNone) return number;
  }
  ObjectClass record;
  record.type = type;
  record.namespaceNumber = acquireNamespace(tables, namespaceName);
  record.hash = hash;
  record.flags = present;
  for (const std::string_view finalizer : finalizers) {
    if (finalizer == kube::kForegroundFinalizer) record.flags |= ObjectClass::kForeground;
    if (finalizer == kube::kAppliedObjectsFinalizer) record.flags |= ObjectClass::kKept;
  }
  acquireType(tables, type);
  const uint32_t number = tables.classes.add(record);
  tables.classIndex.insert(hash, number);
  addMemberships(tables, number, type, finalizers);
  if (!finalizers.empty()) joinPatterns(tables, number);
  if (present != 0) linkClass(tables, number);
  return number;
}

void removeClass(Tables& tables, uint32_t number) {
  const ObjectClass record = tables.classes[number];
  if ((record.flags & ObjectClass::kPresent) != 0) unlinkClass(tables, number);
  tables.classIndex.erase(record.hash, number);
  removeMemberships(tables, record.firstMembership);
  tables.classes.release(number);
  releaseNamespace(tables, record.namespaceNumber);
  releaseType(tables, record.type);
}

// `difference`: 1, or what takes 1 away.
void add(uint32_t& count, uint32_t difference) {
  LASTOUT_INVARIANT(difference == 1 || count > 0);
  count += difference;
}

// The counts of the conditions on this carrier that name the node's namespace.
void countNamed(Tables& tables, uint32_t carrier, uint32_t node, uint32_t difference) {
  if (tables.carriers[carrier].firstScoped == kNone) return;
  forEachNaming(tables, carrier, findPartOf(tables, node),
                [&](uint32_t condition) { add(tables.conditions.write(condition).named, difference); });
}

// All counts of present objects that a node of this class is in.
void count(Tables& tables, const ObjectClass& record, uint32_t node, uint32_t difference) {
  add(tables.types.write(record.type).objects, difference);
  add(tables.namespaces.write(record.namespaceNumber).objects, difference);
  for (uint32_t membership = record.firstMembership; membership != kNone;) {
    const Membership& member = tables.memberships[membership];
    add(tables.carriers.write(member.carrier).holders, difference);
    countNamed(tables, member.carrier, node, difference);
    membership = member.nextInClass;
  }
}

}  // namespace

uint32_t hashNamed(const Tables& tables, uint32_t carrier, uint32_t namespaceNumber) {
  return finishHash(hashNumber(tables.hashSeed, uint64_t{carrier} << 32 | namespaceNumber));
}

bool names(const Tables& tables, const ConditionRecord& condition, uint32_t namespaceNumber) {
  if (condition.firstNamed == kNone) return false;
  const uint32_t owner = tables.namedNamespaces[condition.firstNamed].condition;
  const uint32_t hash = hashNamed(tables, condition.subject, namespaceNumber);
  return tables.namedIndex.find(hash, [&](uint32_t number) {
    const NamedNamespace& named = tables.namedNamespaces[number];
    return named.condition == owner && named.namespaceNumber == namespaceNumber;
  }) != kNone;
}

bool areNamespaces(const Tables& tables, const ObjectClass& objectClass) {
  return tables.types[objectClass.type].semantics == Type::Semantics::Namespaces &&
         tables.namespaces[objectClass.namespaceNumber].name == kEmptyString;
}

uint32_t findPartOf(const Tables& tables, uint32_t node) {
  const Node& object = tables.nodes[node];
  const ObjectClass& objectClass = tables.classes[object.objectClass];
  return areNamespaces(tables, objectClass) ? findNamespace(tables, tables.strings.view(object.name))
                                            : objectClass.namespaceNumber;
}

uint32_t findOrAddClass(Tables& tables, uint32_t type, std::string_view namespaceName, uint64_t namespaceHash,
                        std::span<const std::string_view> finalizers) {
  return findOrAddClass(tables, type, namespaceName, namespaceHash, finalizers, ObjectClass::kPresent);
}

uint32_t findOrAddAbsentClass(Tables& tables, uint32_t type, std::string_view namespaceName) {
  return findOrAddClass(tables, type, namespaceName, hashNamespaceName(tables, namespaceName), {}, 0);
}

void linkToClass(Tables& tables, uint32_t node, uint32_t objectClass) {
  ObjectClass& record = tables.classes.write(objectClass);
  Node& item = tables.nodes.write(node);
  item.objectClass = objectClass;
  item.previous = kNone;
  item.next = record.firstObject;
  if (record.firstObject != kNone) tables.nodes.write(record.firstObject).previous = node;
  record.firstObject = node;
  ++record.objects;
  if ((record.flags & ObjectClass::kPresent) != 0) count(tables, record, node, 1);
}

void unlinkFromClass(Tables& tables, uint32_t node) {
  Node& item = tables.nodes.write(node);
  const uint32_t number = item.objectClass;
  ObjectClass& record = tables.classes.write(number);
  if (item.previous != kNone) {
    tables.nodes.write(item.previous).next = item.next;
  } else {
    record.firstObject = item.next;
  }
  if (item.next != kNone) tables.nodes.write(item.next).previous = item.previous;
  if ((record.flags & ObjectClass::kPresent) != 0) count(tables, record, node, ~uint32_t{0});
  item.objectClass = kNone;
  LASTOUT_INVARIANT(record.objects > 0);
  if (--record.objects == 0) removeClass(tables, number);
}

}  // namespace lastout::graph

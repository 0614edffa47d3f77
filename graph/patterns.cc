#include "graph/patterns.h"

#include <tuple>
#include <utility>
#include <vector>

#include "graph/hash.h"
#include "graph/interning.h"
#include "kube/invariant.h"
#include "kube/object_references.h"
#include "kube/patterns.h"

namespace lastout::graph {

namespace {

auto textsOf(const Tables& tables, const Type& type) {
  return std::tuple(tables.strings.view(type.group), tables.strings.view(type.resource));
}

bool means(const Tables& tables, const Type& named, const Type& type) {
  const auto [namedGroup, namedResource] = textsOf(tables, named);
  const auto [group, resource] = textsOf(tables, type);
  return kube::meansType(namedGroup, namedResource, group, resource);
}

// The worst knowledge has the lowest rank: first what stays so until somebody acts, last what mends itself.
int rankOf(Knowledge knowledge) {
  switch (knowledge) {
    case Knowledge::Forbidden:
      return 0;
    case Knowledge::Unserved:
      return 1;
    case Knowledge::Stale:
      return 2;
    default:
      return 3;
  }
}

// Finds out how well all types that the pattern means are known.
void learn(Tables& tables, uint32_t pattern) {
  const Type& named = tables.types[pattern];
  uint32_t least = kNone;
  for (uint32_t number = 0; believable(named.ownKnowledge) && number < tables.types.slots(); ++number) {
    const Type& type = tables.types[number];
    // A type that is not pinned is only a name in a condition or requirement: nobody said that it exists.
    if (!type.pinned || isPattern(type) || believable(type.knowledge) || !means(tables, named, type))
      continue;
    // Among types of the same rank the first by name counts, so that the order of arrival does not matter.
    const auto place = [&](uint32_t one) {
      return std::pair(rankOf(tables.types[one].knowledge), textsOf(tables, tables.types[one]));
    };
    if (least == kNone || place(number) < place(least)) least = number;
  }
  Type& record = tables.types.write(pattern);
  record.leastKnown = least;
  record.knowledge = least == kNone ? record.ownKnowledge : tables.types[least].knowledge;
}

void learnPatternsOf(Tables& tables, const Type& type) {
  for (uint32_t pattern = tables.firstPatternType; pattern != kNone;
       pattern = tables.types[pattern].nextPattern) {
    if (means(tables, tables.types[pattern], type)) learn(tables, pattern);
  }
}

// Returns true if objects of the class are holders of the pattern.
bool meansClass(const Tables& tables, const Carrier& pattern, const ObjectClass& objectClass) {
  const bool isOfType = pattern.type == objectClass.type ||
                        (isPattern(tables.types[pattern.type]) &&
                         means(tables, tables.types[pattern.type], tables.types[objectClass.type]));
  if (!isOfType) return false;
  const std::string_view named = tables.strings.view(pattern.finalizer);
  for (uint32_t at = objectClass.firstMembership; at != kNone; at = tables.memberships[at].nextInClass) {
    const Carrier& carrier = tables.carriers[tables.memberships[at].carrier];
    if (!carrier.isPattern && kube::meansFinalizer(named, tables.strings.view(carrier.finalizer)))
      return true;
  }
  return false;
}

// Adds the class to the pattern's list; the membership comes last in the class.
void join(Tables& tables, uint32_t objectClass, uint32_t pattern) {
  Membership membership;
  membership.objectClass = objectClass;
  membership.carrier = pattern;
  membership.nextInCarrier = tables.carriers[pattern].firstMembership;
  const uint32_t number = tables.memberships.add(membership);
  Carrier& carrier = tables.carriers.write(pattern);
  carrier.firstMembership = number;
  carrier.wasHeld = true;
  if (membership.nextInCarrier != kNone)
    tables.memberships.write(membership.nextInCarrier).previousInCarrier = number;
  uint32_t last = tables.classes[objectClass].firstMembership;
  while (tables.memberships[last].nextInClass != kNone) last = tables.memberships[last].nextInClass;
  tables.memberships.write(last).nextInClass = number;
}

void leave(Tables& tables, uint32_t number) {
  const Membership membership = tables.memberships[number];
  uint32_t before = tables.classes[membership.objectClass].firstMembership;
  while (tables.memberships[before].nextInClass != number) before = tables.memberships[before].nextInClass;
  tables.memberships.write(before).nextInClass = membership.nextInClass;
  tables.memberships.release(number);
}

// References, and what is wanted of them, meet by the name that they have in common.
uint32_t hashName(const Tables& tables, uint32_t type, std::string_view name) {
  return finishHash(hashText(hashNumber(tables.hashSeed, type), name));
}

uint32_t findWanted(const Tables& tables, uint32_t type, std::string_view wanted) {
  return tables.wantedIndex.find(hashName(tables, type, kube::nameIn(wanted)), [&](uint32_t number) {
    const Carrier& carrier = tables.carriers[number];
    return carrier.type == type && tables.strings.view(carrier.finalizer) == wanted;
  });
}

void link(Tables& tables, uint32_t number) {
  const Carrier carrier = tables.carriers[number];
  const std::string_view finalizer = tables.strings.view(carrier.finalizer);
  if (kube::isWantedReference(finalizer)) {
    tables.carriers.write(number).hash = hashName(tables, carrier.type, kube::nameIn(finalizer));
    tables.wantedIndex.insert(tables.carriers[number].hash, number);
    return;
  }
  const uint32_t next = tables.firstPatternCarrier;
  tables.carriers.write(number).nextInType = next;
  if (next != kNone) tables.carriers.write(next).previousInType = number;
  tables.firstPatternCarrier = number;
}

void unlink(Tables& tables, uint32_t number) {
  const Carrier record = tables.carriers[number];
  if (kube::isWantedReference(tables.strings.view(record.finalizer)))
    return tables.wantedIndex.erase(record.hash, number);
  if (record.previousInType != kNone) {
    tables.carriers.write(record.previousInType).nextInType = record.nextInType;
  } else {
    tables.firstPatternCarrier = record.nextInType;
  }
  if (record.nextInType != kNone)
    tables.carriers.write(record.nextInType).previousInType = record.previousInType;
}

// Two references of one object may mean the same.
bool isIn(const Tables& tables, uint32_t objectClass, uint32_t pattern) {
  uint32_t at = tables.classes[objectClass].firstMembership;
  while (at != kNone && tables.memberships[at].carrier != pattern) at = tables.memberships[at].nextInClass;
  return at != kNone;
}

void addAllMeant(const Tables& tables, uint32_t type, std::string_view reference,
                 std::vector<uint32_t>& wanted) {
  for (uint32_t number = 0; number < tables.carriers.slots(); ++number) {
    const Carrier& one = tables.carriers[number];
    const std::string_view text = tables.strings.view(one.finalizer);
    if (one.isPattern && one.uses > 0 && one.type == type && kube::isWantedReference(text) &&
        kube::meansReference(text, reference))
      wanted.push_back(number);
  }
}

void joinWanted(Tables& tables, uint32_t objectClass) {
  const uint32_t type = tables.classes[objectClass].type;
  std::vector<uint32_t> wanted;
  for (uint32_t at = tables.classes[objectClass].firstMembership; at != kNone;
       at = tables.memberships[at].nextInClass) {
    const Carrier& carrier = tables.carriers[tables.memberships[at].carrier];
    const std::string_view reference = tables.strings.view(carrier.finalizer);
    if (carrier.isPattern || !kube::isReference(reference)) continue;
    if (kube::namesAll(reference)) addAllMeant(tables, type, reference, wanted);
    tables.wantedIndex.find(hashName(tables, type, kube::nameIn(reference)), [&](uint32_t number) {
      const Carrier& one = tables.carriers[number];
      if (one.type == type && kube::meansReference(tables.strings.view(one.finalizer), reference))
        wanted.push_back(number);
      return false;  // there may be more
    });
  }
  for (const uint32_t pattern : wanted)
    if (!isIn(tables, objectClass, pattern)) join(tables, objectClass, pattern);
}

// Makes all objects that it means its holders.
void collect(Tables& tables, uint32_t number) {
  const uint32_t type = tables.carriers[number].type;
  const auto take = [&](uint32_t at) {
    const ObjectClass& objectClass = tables.classes[at];
    if ((objectClass.flags & ObjectClass::kPresent) == 0 ||
        !meansClass(tables, tables.carriers[number], objectClass))
      return;
    join(tables, at, number);
    tables.carriers.write(number).holders += objectClass.objects;
  };
  if (isPattern(tables.types[type])) {
    for (uint32_t at = 0; at < tables.classes.slots(); ++at) take(at);
  } else {
    for (uint32_t at = tables.types[type].firstClass; at != kNone; at = tables.classes[at].nextInType)
      take(at);
  }
}

}  // namespace

void linkPatternType(Tables& tables, uint32_t type) {
  const uint32_t next = tables.firstPatternType;
  if (next != kNone) tables.types.write(next).previousPattern = type;
  tables.types.write(type).nextPattern = next;
  tables.firstPatternType = type;
  learn(tables, type);
}

void noteKnowledge(Tables& tables, uint32_t type) {
  if (isPattern(tables.types[type]))
    learn(tables, type);
  else
    learnPatternsOf(tables, tables.types[type]);
}

void unlinkPatternType(Tables& tables, uint32_t type) {
  const Type record = tables.types[type];
  if (record.previousPattern != kNone) {
    tables.types.write(record.previousPattern).nextPattern = record.nextPattern;
  } else {
    tables.firstPatternType = record.nextPattern;
  }
  if (record.nextPattern != kNone)
    tables.types.write(record.nextPattern).previousPattern = record.previousPattern;
}

uint32_t findPattern(const Tables& tables, uint32_t type, std::string_view finalizer) {
  if (kube::isWantedReference(finalizer)) return findWanted(tables, type, finalizer);
  uint32_t at = tables.firstPatternCarrier;
  while (at != kNone && (tables.carriers[at].type != type ||
                         tables.strings.view(tables.carriers[at].finalizer) != finalizer))
    at = tables.carriers[at].nextInType;
  return at;
}

uint32_t acquirePattern(Tables& tables, uint32_t type, std::string_view finalizer) {
  uint32_t number = findPattern(tables, type, finalizer);
  if (number == kNone) {
    Carrier carrier;
    carrier.type = type;
    carrier.finalizer = tables.strings.add(finalizer);
    carrier.isPattern = true;
    acquireType(tables, type);
    number = tables.carriers.add(carrier);
    link(tables, number);
    collect(tables, number);
  }
  ++tables.carriers.write(number).uses;
  return number;
}

void releasePattern(Tables& tables, uint32_t carrier) {
  Carrier& record = tables.carriers.write(carrier);
  LASTOUT_INVARIANT(record.uses > 0);
  if (--record.uses > 0) return;
  while (record.firstMembership != kNone) {
    const uint32_t first = record.firstMembership;
    record.firstMembership = tables.memberships[first].nextInCarrier;
    leave(tables, first);
  }
  unlink(tables, carrier);
  tables.strings.release(record.finalizer);
  releaseType(tables, record.type);
  tables.carriers.release(carrier);
}

void joinPatterns(Tables& tables, uint32_t objectClass) {
  for (uint32_t pattern = tables.firstPatternCarrier; pattern != kNone;
       pattern = tables.carriers[pattern].nextInType) {
    if (meansClass(tables, tables.carriers[pattern], tables.classes[objectClass]))
      join(tables, objectClass, pattern);
  }
  joinWanted(tables, objectClass);
}

}  // namespace lastout::graph

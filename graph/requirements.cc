#include "graph/requirements.h"

#include "graph/hash.h"
#include "graph/interning.h"
#include "graph/nodes.h"
#include "graph/owners.h"
#include "graph/patterns.h"
#include "graph/selections.h"
#include "kube/patterns.h"

namespace lastout::graph {

namespace {

// The Object condition on this node with this uid, or kNone.
uint32_t findOnNode(const Tables& tables, uint32_t node, std::string_view uidText) {
  const uint32_t extra = tables.nodes[node].extra;
  if (extra == kNone) return kNone;
  const UidKey uid = parseUid(uidText);
  uint32_t at = tables.extras[extra].firstCondition;
  while (at != kNone && !sameUid(tables, uidOf(tables.conditions[at]), uid))
    at = tables.conditions[at].nextOfTarget;
  return at;
}

// The condition on this carrier with this scope, or kNone.
uint32_t findOnCarrier(const Tables& tables, uint32_t carrier, const kube::NamespaceScope& scope) {
  if (scope.kind == kube::NamespaceScope::Kind::All) return tables.carriers[carrier].condition;
  if (!scope.selector.empty()) return findSelecting(tables, carrier, scope.selector);
  const uint32_t first = findNamespace(tables, *scope.names.begin());
  uint32_t found = kNone;
  if (first == kNone) return found;
  forEachNaming(tables, carrier, first, [&](uint32_t condition) {
    const ConditionRecord& record = tables.conditions[condition];
    if (found == kNone && record.selector == kEmptyString && scopeOf(tables, record) == scope)
      found = condition;
  });
  return found;
}

// Its type or its finalizer stands for several.
bool isOfPattern(const Condition& condition) {
  return kube::isTypePattern(condition.type) || kube::isFinalizerPattern(condition.finalizer);
}

uint32_t add(Tables& tables, Condition::Kind kind, uint32_t type, uint32_t subject) {
  ConditionRecord record;
  record.kind = kind;
  record.type = type;
  record.subject = subject;
  record.live = true;
  return tables.conditions.add(record);
}

// Each of these four takes its uses of type and subject; dropUnusedCondition gives them back.
uint32_t addFinalizer(Tables& tables, const Condition& condition) {
  const uint32_t type = acquireType(tables, condition.type.group, condition.type.resource);
  const uint32_t carrier = isOfPattern(condition) ? acquirePattern(tables, type, condition.finalizer)
                                                  : acquireCarrier(tables, type, condition.finalizer);
  const uint32_t number = add(tables, condition.kind, type, carrier);
  const kube::NamespaceScope& scope = condition.scope;
  if (scope.kind == kube::NamespaceScope::Kind::All) {
    tables.carriers.write(carrier).condition = number;
    return number;
  }
  ConditionRecord& record = tables.conditions.write(number);
  record.scope = scope.kind;
  record.nextOfTarget = tables.carriers[carrier].firstScoped;
  tables.carriers.write(carrier).firstScoped = number;
  if (!scope.selector.empty()) {
    addSelecting(tables, number, scope.selector);
    return number;
  }
  for (auto name = scope.names.rbegin(); name != scope.names.rend(); ++name) addNamed(tables, number, *name);
  if (scope.kind == kube::NamespaceScope::Kind::Within &&
      tables.types[type].semantics != Type::Semantics::Namespaces)
    addNamed(tables, number, "");
  tables.conditions.write(number).named = countNamed(tables, tables.conditions[number]);
  return number;
}

uint32_t addInstances(Tables& tables, const Condition& condition) {
  const uint32_t type = acquireType(tables, condition.type.group, condition.type.resource);
  const uint32_t number = add(tables, condition.kind, type, type);
  tables.types.write(type).condition = number;
  return number;
}

uint32_t addNamespaceContent(Tables& tables, const Condition& condition) {
  const uint32_t namespaceNumber = acquireNamespace(tables, condition.name);
  const uint32_t number = add(tables, condition.kind, kNone, namespaceNumber);
  tables.namespaces.write(namespaceNumber).condition = number;
  return number;
}

uint32_t addObject(Tables& tables, const Condition& condition) {
  const uint32_t type = acquireType(tables, condition.type.group, condition.type.resource);
  const uint32_t node = findOrAddNode(tables, {condition.type, condition.namespaceName, condition.name});
  const uint32_t number = add(tables, condition.kind, type, node);
  const StoredUid uid = storeUid(tables, parseUid(condition.uid));
  ConditionRecord& record = tables.conditions.write(number);
  record.uidHigh = uid.high;
  record.uidLow = uid.low;
  record.uidKind = uid.kind;
  Extra& extra = writeExtra(tables, node);
  record.nextOfTarget = extra.firstCondition;
  extra.firstCondition = number;
  return number;
}

// Takes the condition out of its target's list, which begins with `first`.
void unlinkFromTarget(Tables& tables, uint32_t& first, uint32_t number) {
  const uint32_t next = tables.conditions[number].nextOfTarget;
  if (first == number) {
    first = next;
    return;
  }
  uint32_t at = first;
  while (tables.conditions[at].nextOfTarget != number) at = tables.conditions[at].nextOfTarget;
  tables.conditions.write(at).nextOfTarget = next;
}

uint32_t hashRequirement(const Tables& tables, uint32_t subject, uint32_t condition, uint32_t origin,
                         std::string_view field) {
  const uint64_t hash = hashNumber(tables.hashSeed, uint64_t{subject} << 32 | condition);
  return finishHash(hashText(hashNumber(hash, origin), field));
}

void unlinkRequirement(Tables& tables, const Requirement& record) {
  if (record.previousOfSubject != kNone) {
    tables.requirements.write(record.previousOfSubject).nextOfSubject = record.nextOfSubject;
  } else {
    writeExtra(tables, record.subject).firstRequirement = record.nextOfSubject;
  }
  if (record.nextOfSubject != kNone) {
    tables.requirements.write(record.nextOfSubject).previousOfSubject = record.previousOfSubject;
  }
  if (record.previousOfCondition != kNone) {
    tables.requirements.write(record.previousOfCondition).nextOfCondition = record.nextOfCondition;
  } else {
    tables.conditions.write(record.condition).firstRequirement = record.nextOfCondition;
  }
  if (record.nextOfCondition != kNone) {
    tables.requirements.write(record.nextOfCondition).previousOfCondition = record.previousOfCondition;
  }
}

}  // namespace

bool holdsObjectCondition(const Tables& tables, const ConditionRecord& condition) {
  const Node& node = tables.nodes[condition.subject];
  if ((node.flags & Node::kPresent) == 0) return false;
  return condition.uidKind == UidKind::None || sameUid(tables, uidOf(node), uidKey(tables, uidOf(condition)));
}

bool leavesOut(const Tables& tables, const ConditionRecord& condition, uint32_t node) {
  if (condition.scope == kube::NamespaceScope::Kind::All) return false;
  return names(tables, condition, findPartOf(tables, node)) !=
         (condition.scope == kube::NamespaceScope::Kind::Within);
}

kube::NamespaceScope scopeOf(const Tables& tables, const ConditionRecord& condition) {
  kube::NamespaceScope scope{condition.scope, {}};
  for (uint32_t at = condition.firstNamed; at != kNone; at = tables.namedNamespaces[at].nextOfCondition) {
    const uint32_t space = tables.namedNamespaces[at].namespaceNumber;
    if (tables.namespaces[space].name != kEmptyString)
      scope.names.emplace(tables.strings.view(tables.namespaces[space].name));
  }
  scope.selector = tables.strings.view(condition.selector);
  return scope;
}

uint32_t findCondition(const Tables& tables, const Condition& condition) {
  if (condition.kind == Condition::Kind::NamespaceContent) {
    const uint32_t number = findNamespace(tables, condition.name);
    return number == kNone ? kNone : tables.namespaces[number].condition;
  }
  const uint32_t type = findType(tables, condition.type.group, condition.type.resource);
  if (type == kNone) return kNone;
  switch (condition.kind) {
    case Condition::Kind::Finalizer: {
      const uint32_t carrier = isOfPattern(condition) ? findPattern(tables, type, condition.finalizer)
                                                      : findCarrier(tables, type, condition.finalizer);
      return carrier == kNone ? kNone : findOnCarrier(tables, carrier, condition.scope);
    }
    case Condition::Kind::Object: {
      const uint32_t node = findNode(tables, type, condition.namespaceName, condition.name);
      return node == kNone ? kNone : findOnNode(tables, node, condition.uid);
    }
    default:
      return tables.types[type].condition;
  }
}

uint32_t findOrAddCondition(Tables& tables, const Condition& condition) {
  const uint32_t known = findCondition(tables, condition);
  if (known != kNone) return known;
  switch (condition.kind) {
    case Condition::Kind::Finalizer:
      return addFinalizer(tables, condition);
    case Condition::Kind::Object:
      return addObject(tables, condition);
    case Condition::Kind::NamespaceContent:
      return addNamespaceContent(tables, condition);
    default:
      return addInstances(tables, condition);
  }
}

void dropUnusedCondition(Tables& tables, uint32_t number) {
  const ConditionRecord record = tables.conditions[number];
  if (record.firstRequirement != kNone || record.holds > 0) return;
  switch (record.kind) {
    case Condition::Kind::Finalizer:
      if (record.scope == kube::NamespaceScope::Kind::All) {
        tables.carriers.write(record.subject).condition = kNone;
      } else {
        unlinkFromTarget(tables, tables.carriers.write(record.subject).firstScoped, number);
        if (record.selector != kEmptyString) dropSelecting(tables, number);
        dropNamed(tables, record);
      }
      if (tables.carriers[record.subject].isPattern)
        releasePattern(tables, record.subject);
      else
        releaseCarrier(tables, record.subject);
      break;
    case Condition::Kind::Object:
      unlinkFromTarget(tables, writeExtra(tables, record.subject).firstCondition, number);
      dropUid(tables, uidOf(record));
      dropUnused(tables, record.subject);
      break;
    case Condition::Kind::NamespaceContent:
      tables.namespaces.write(record.subject).condition = kNone;
      releaseNamespace(tables, record.subject);
      break;
    case Condition::Kind::Instances:
      tables.types.write(record.subject).condition = kNone;
      break;
  }
  if (record.type != kNone) releaseType(tables, record.type);
  tables.conditions.release(number);
}

void addRequirement(Tables& tables, const kube::ObjectKey& subject, uint32_t condition,
                    const Origin& origin) {
  Requirement record;
  record.subject = findOrAddNode(tables, subject);
  writeExtra(tables, record.subject);
  record.origin = findOrAddNode(tables, origin.object);
  record.condition = condition;
  record.hash = hashRequirement(tables, record.subject, condition, record.origin, origin.field);
  const uint32_t known = tables.requirementIndex.find(record.hash, [&](uint32_t candidate) {
    const Requirement& other = tables.requirements[candidate];
    return other.subject == record.subject && other.condition == condition && other.origin == record.origin &&
           tables.strings.view(other.field) == origin.field;
  });
  if (known != kNone) return;
  record.field = tables.strings.add(origin.field);
  writeExtra(tables, record.origin);
  Extra& ofSubject = writeExtra(tables, record.subject);
  record.nextOfSubject = ofSubject.firstRequirement;
  record.nextOfCondition = tables.conditions[condition].firstRequirement;
  const uint32_t number = tables.requirements.add(record);
  writeExtra(tables, record.subject).firstRequirement = number;
  if (record.nextOfSubject != kNone)
    tables.requirements.write(record.nextOfSubject).previousOfSubject = number;
  tables.conditions.write(condition).firstRequirement = number;
  if (record.nextOfCondition != kNone) {
    tables.requirements.write(record.nextOfCondition).previousOfCondition = number;
  }
  Extra& ofOrigin = writeExtra(tables, record.origin);
  tables.requirements.write(number).nextOfOrigin = ofOrigin.firstOrigin;
  ofOrigin.firstOrigin = number;
  tables.requirementIndex.insert(record.hash, number);
}

void removeRequirementsFrom(Tables& tables, uint32_t origin) {
  const uint32_t extra = tables.nodes[origin].extra;
  if (extra == kNone) return;
  uint32_t number = tables.extras[extra].firstOrigin;
  while (number != kNone) {
    const Requirement record = tables.requirements[number];
    writeExtra(tables, origin).firstOrigin = record.nextOfOrigin;
    unlinkRequirement(tables, record);
    tables.requirementIndex.erase(record.hash, number);
    tables.strings.release(record.field);
    tables.requirements.release(number);
    dropUnusedCondition(tables, record.condition);
    if (record.subject != origin) dropUnused(tables, record.subject);
    number = record.nextOfOrigin;
  }
  dropUnused(tables, origin);
}

}  // namespace lastout::graph

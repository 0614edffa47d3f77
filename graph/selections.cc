#include "graph/selections.h"

#include <string>

#include "graph/interning.h"
#include "graph/nodes.h"
#include "kube/well_known.h"

namespace lastout::graph {

namespace {

// Labels as a text, in which no key and no value has these two characters.
std::string textOf(const kube::Labels& labels) {
  std::string text;
  for (const auto& [key, value] : labels) text += key + "=" + value + ",";
  return text;
}

kube::Labels labelsOf(std::string_view text) {
  kube::Labels labels;
  for (size_t end = text.find(','); end != std::string_view::npos; end = text.find(',')) {
    const size_t middle = text.find('=');
    labels.emplace(text.substr(0, middle), text.substr(middle + 1, end - middle - 1));
    text.remove_prefix(end + 1);
  }
  return labels;
}

bool isOn(const Tables& tables, uint32_t carrier, uint32_t objectClass) {
  uint32_t at = tables.classes[objectClass].firstMembership;
  while (at != kNone && tables.memberships[at].carrier != carrier) at = tables.memberships[at].nextInClass;
  return at != kNone;
}

// Returns how many of the carrier's holders are in the namespace, or are its Namespace.
uint32_t countIn(const Tables& tables, uint32_t carrier, uint32_t space) {
  uint32_t count = 0;
  for (uint32_t at = tables.namespaces[space].firstClass; at != kNone;
       at = tables.classes[at].nextInNamespace)
    count += isOn(tables, carrier, at) ? tables.classes[at].objects : 0;
  const std::string name(tables.strings.view(tables.namespaces[space].name));
  const uint32_t node = findNode(tables, kube::namespaceKey(name));
  return count + (node != kNone && isOn(tables, carrier, tables.nodes[node].objectClass) ? 1 : 0);
}

// Lets the record go, which its condition no longer has in its list.
void release(Tables& tables, uint32_t number) {
  const NamedNamespace named = tables.namedNamespaces[number];
  const uint32_t carrier = tables.conditions[named.condition].subject;
  tables.namedIndex.erase(hashNamed(tables, carrier, named.namespaceNumber), number);
  tables.namedNamespaces.release(number);
  releaseNamespace(tables, named.namespaceNumber);
}

// The condition no longer names the namespace; its holders are not counted again.
void dropOneNamed(Tables& tables, uint32_t condition, uint32_t space) {
  uint32_t before = kNone;
  uint32_t number = tables.conditions[condition].firstNamed;
  while (tables.namedNamespaces[number].namespaceNumber != space) {
    before = number;
    number = tables.namedNamespaces[number].nextOfCondition;
  }
  const uint32_t next = tables.namedNamespaces[number].nextOfCondition;
  if (before == kNone)
    tables.conditions.write(condition).firstNamed = next;
  else
    tables.namedNamespaces.write(before).nextOfCondition = next;
  release(tables, number);
}

// Has the condition name the namespace if it has these labels, and they do not match. nullptr: they are not
// known.
void select(Tables& tables, uint32_t condition, uint32_t space, const kube::Labels* labels) {
  const ConditionRecord& record = tables.conditions[condition];
  const std::string name(tables.strings.view(tables.namespaces[space].name));
  const bool isOut =
      labels != nullptr && !kube::isSelected(tables.strings.view(record.selector), name, *labels);
  if (isOut == names(tables, record, space)) return;
  const uint32_t count = countIn(tables, record.subject, space);
  if (isOut)
    addNamed(tables, condition, name);
  else
    dropOneNamed(tables, condition, space);
  tables.conditions.write(condition).named += isOut ? count : 0 - count;
}

void selectForAll(Tables& tables, uint32_t space, const kube::Labels* labels) {
  for (uint32_t at = tables.firstSelecting; at != kNone; at = tables.conditions[at].nextSelecting)
    select(tables, at, space, labels);
}

}  // namespace

void setLabels(Tables& tables, std::string_view namespaceName, const kube::Labels& labels) {
  const std::string text = textOf(labels);
  const uint32_t known = findNamespace(tables, namespaceName);
  const bool isThere = known != kNone && tables.namespaces[known].isThere;
  if (isThere && tables.strings.view(tables.namespaces[known].labels) == text) return;
  const uint32_t space = isThere ? known : acquireNamespace(tables, namespaceName);
  tables.strings.release(tables.namespaces[space].labels);
  NamespaceEntry& entry = tables.namespaces.write(space);
  entry.labels = tables.strings.add(text);
  entry.isThere = true;
  selectForAll(tables, space, &labels);
}

void clearLabels(Tables& tables, std::string_view namespaceName) {
  const uint32_t space = findNamespace(tables, namespaceName);
  if (space == kNone || !tables.namespaces[space].isThere) return;
  NamespaceEntry& entry = tables.namespaces.write(space);
  tables.strings.release(entry.labels);
  entry.labels = kEmptyString;
  entry.isThere = false;
  selectForAll(tables, space, nullptr);
  releaseNamespace(tables, space);
}

void addSelecting(Tables& tables, uint32_t condition, std::string_view selector) {
  ConditionRecord& record = tables.conditions.write(condition);
  record.selector = tables.strings.add(selector);
  record.nextSelecting = tables.firstSelecting;
  tables.firstSelecting = condition;
  for (uint32_t space = 0; space < tables.namespaces.slots(); ++space) {
    if (!tables.namespaces[space].isThere) continue;
    const kube::Labels labels = labelsOf(tables.strings.view(tables.namespaces[space].labels));
    select(tables, condition, space, &labels);
  }
}

void dropSelecting(Tables& tables, uint32_t condition) {
  uint32_t before = kNone;
  for (uint32_t at = tables.firstSelecting; at != condition; at = tables.conditions[at].nextSelecting)
    before = at;
  ConditionRecord& record = tables.conditions.write(condition);
  if (before == kNone)
    tables.firstSelecting = record.nextSelecting;
  else
    tables.conditions.write(before).nextSelecting = record.nextSelecting;
  tables.strings.release(record.selector);
  record.selector = kEmptyString;
}

uint32_t findSelecting(const Tables& tables, uint32_t carrier, std::string_view selector) {
  uint32_t at = tables.carriers[carrier].firstScoped;
  while (at != kNone && tables.strings.view(tables.conditions[at].selector) != selector)
    at = tables.conditions[at].nextOfTarget;
  return at;
}

void addNamed(Tables& tables, uint32_t condition, std::string_view namespaceName) {
  NamedNamespace named;
  named.condition = condition;
  named.namespaceNumber = acquireNamespace(tables, namespaceName);
  named.nextOfCondition = tables.conditions[condition].firstNamed;
  const uint32_t number = tables.namedNamespaces.add(named);
  const uint32_t carrier = tables.conditions[condition].subject;
  tables.namedIndex.insert(hashNamed(tables, carrier, named.namespaceNumber), number);
  tables.conditions.write(condition).firstNamed = number;
}

void dropNamed(Tables& tables, const ConditionRecord& condition) {
  for (uint32_t number = condition.firstNamed; number != kNone;) {
    const uint32_t next = tables.namedNamespaces[number].nextOfCondition;
    release(tables, number);
    number = next;
  }
}

uint32_t countNamed(const Tables& tables, const ConditionRecord& condition) {
  uint32_t count = 0;
  for (uint32_t at = tables.carriers[condition.subject].firstMembership; at != kNone;
       at = tables.memberships[at].nextInCarrier) {
    const ObjectClass& objectClass = tables.classes[tables.memberships[at].objectClass];
    if (!areNamespaces(tables, objectClass)) {
      count += names(tables, condition, objectClass.namespaceNumber) ? objectClass.objects : 0;
      continue;
    }
    for (uint32_t node = objectClass.firstObject; node != kNone; node = tables.nodes[node].next)
      count += names(tables, condition, findPartOf(tables, node)) ? 1 : 0;
  }
  return count;
}

}  // namespace lastout::graph

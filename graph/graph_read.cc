// Reading a graph. Changing it is in graph.cc.
#include <algorithm>
#include <tuple>

#include "graph/edges.h"
#include "graph/graph.h"
#include "graph/interning.h"
#include "graph/nodes.h"
#include "graph/owners.h"
#include "graph/patterns.h"
#include "graph/requirements.h"
#include "kube/object_references.h"
#include "kube/patterns.h"

namespace lastout::graph {

namespace {

constexpr uint32_t number(TypeId id) { return static_cast<uint32_t>(id); }
constexpr uint32_t number(ObjectId id) { return static_cast<uint32_t>(id); }
constexpr uint32_t number(ConditionId id) { return static_cast<uint32_t>(id); }

std::string text(const Tables& tables, const StoredUid& uid) {
  if (uid.kind == UidKind::Uuid) return formatUuid(uid.high, uid.low);
  return std::string(uidKey(tables, uid).text);
}

template <class Id>
std::optional<Id> optionalId(uint32_t number) {
  if (number == kNone) return std::nullopt;
  return Id{number};
}

auto sortKey(const ObjectView& view) {
  return std::tie(view.group, view.resource, view.namespaceName, view.name);
}

}  // namespace

std::optional<ObjectId> Graph::find(const kube::ObjectKey& key) const {
  const std::optional<ObjectId> named = findNamed(key);
  return named.has_value() && isPresent(*named) ? named : std::nullopt;
}

std::optional<ObjectId> Graph::find(TypeId type, std::string_view namespaceName,
                                    std::string_view name) const {
  const uint32_t node = findNode(tables_, number(type), namespaceName, name);
  return optionalId<ObjectId>(node != kNone && graph::isPresent(tables_, node) ? node : kNone);
}

std::optional<TypeId> Graph::findType(const kube::GroupResource& type) const {
  return optionalId<TypeId>(graph::findType(tables_, type.group, type.resource));
}

kube::GroupResource Graph::type(TypeId type) const {
  const Type& record = tables_.types[number(type)];
  return {std::string(tables_.strings.view(record.group)),
          std::string(tables_.strings.view(record.resource))};
}

Knowledge Graph::knowledge(TypeId type) const { return tables_.types[number(type)].knowledge; }

std::vector<ObjectId> Graph::objectsOf(TypeId type) const {
  std::vector<ObjectId> objects;
  objects.reserve(objectCount(type));
  for (uint32_t at = tables_.types[static_cast<uint32_t>(type)].firstClass; at != kNone;
       at = tables_.classes[at].nextInType) {
    for (uint32_t object = tables_.classes[at].firstObject; object != kNone;
         object = tables_.nodes[object].next)
      objects.push_back(ObjectId{object});
  }
  return objects;
}

std::vector<std::string_view> Graph::finalizersOf(TypeId type, size_t limit) const {
  std::vector<std::string_view> finalizers;
  for (uint32_t at = tables_.types[number(type)].firstCarrier; at != kNone && finalizers.size() < limit;
       at = tables_.carriers[at].nextInType) {
    const std::string_view finalizer = tables_.strings.view(tables_.carriers[at].finalizer);
    if (tables_.carriers[at].holders > 0 && !kube::isReference(finalizer)) finalizers.push_back(finalizer);
  }
  return finalizers;
}

bool Graph::wasHeld(TypeId type, std::string_view finalizer) const {
  const bool isOfPattern = isPattern(tables_.types[number(type)]) || kube::isFinalizerPattern(finalizer);
  const uint32_t carrier = isOfPattern ? findPattern(tables_, number(type), finalizer)
                                       : findCarrier(tables_, number(type), finalizer);
  return carrier != kNone && tables_.carriers[carrier].wasHeld;
}

uint32_t Graph::objectCount(TypeId type) const { return tables_.types[number(type)].objects; }

uint32_t Graph::objectCount(TypeId type, std::string_view namespaceName) const {
  const uint32_t space = findNamespace(tables_, namespaceName);
  uint32_t count = 0;
  for (uint32_t at = space == kNone ? kNone : tables_.namespaces[space].firstClass; at != kNone;
       at = tables_.classes[at].nextInNamespace)
    count += tables_.classes[at].type == number(type) ? tables_.classes[at].objects : 0;
  return count;
}

bool Graph::isLive(ObjectId object) const { return (tables_.nodes[number(object)].flags & Node::kLive) != 0; }

bool Graph::isPresent(ObjectId object) const { return graph::isPresent(tables_, number(object)); }

std::optional<ObjectId> Graph::findNamed(const kube::ObjectKey& key) const {
  return optionalId<ObjectId>(findNode(tables_, key));
}

std::optional<ObjectId> Graph::findByUid(std::string_view uid) const {
  std::optional<ObjectId> found;
  forEachNodeWithUid(tables_, parseUid(uid), [&](uint32_t node) {
    const ObjectId candidate{node};
    if (!found.has_value() || sortKey(object(candidate)) < sortKey(object(*found))) found = candidate;
  });
  return found;
}

ObjectView Graph::object(ObjectId object) const {
  const Node& node = tables_.nodes[number(object)];
  const ObjectClass& objectClass = tables_.classes[node.objectClass];
  const Type& type = tables_.types[objectClass.type];
  ObjectView view;
  view.type = TypeId{objectClass.type};
  view.group = tables_.strings.view(type.group);
  view.resource = tables_.strings.view(type.resource);
  view.namespaceName = tables_.strings.view(tables_.namespaces[objectClass.namespaceNumber].name);
  view.name = tables_.strings.view(node.name);
  view.present = (node.flags & Node::kPresent) != 0;
  view.terminating = (node.flags & Node::kTerminating) != 0;
  if (view.terminating) view.deletionTimestamp = tables_.extras[node.extra].deletionTimestamp;
  return view;
}

kube::ObjectKey Graph::key(ObjectId object) const {
  const ObjectView view = this->object(object);
  return {{std::string(view.group), std::string(view.resource)},
          std::string(view.namespaceName),
          std::string(view.name)};
}

std::string Graph::uid(ObjectId object) const { return text(tables_, uidOf(tables_.nodes[number(object)])); }

bool Graph::hasUid(ObjectId object, std::string_view uid) const {
  return sameUid(tables_, uidOf(tables_.nodes[number(object)]), parseUid(uid));
}

std::string Graph::resourceVersion(ObjectId object) const {
  const Node& node = tables_.nodes[number(object)];
  switch (node.versionKind) {
    case Node::Version::Number:
      return std::to_string(node.resourceVersion);
    case Node::Version::Text:
      return std::string(tables_.strings.view(StringId{static_cast<uint32_t>(node.resourceVersion)}));
    case Node::Version::None:
      break;
  }
  return {};
}

std::vector<std::string_view> Graph::finalizers(ObjectId object) const {
  std::vector<std::string_view> result;
  uint32_t at = tables_.classes[tables_.nodes[number(object)].objectClass].firstMembership;
  for (; at != kNone; at = tables_.memberships[at].nextInClass) {
    const Carrier& carrier = tables_.carriers[tables_.memberships[at].carrier];
    if (carrier.isPattern) break;
    const std::string_view finalizer = tables_.strings.view(carrier.finalizer);
    if (!kube::isReference(finalizer)) result.push_back(finalizer);
  }
  return result;
}

std::vector<OwnerView> Graph::owners(ObjectId object) const {
  std::vector<OwnerView> result;
  uint32_t at = tables_.nodes[number(object)].firstReference;
  for (; at != kNone; at = tables_.references[at].nextOfDependent) {
    const Reference& reference = tables_.references[at];
    const OtherName name = nameOfOwner(tables_, reference);
    OwnerView view;
    view.apiVersion = tables_.strings.view(tables_.ownerKinds[name.kind].apiVersion);
    view.kind = tables_.strings.view(tables_.ownerKinds[name.kind].kind);
    view.name = tables_.strings.view(name.name);
    view.uid = text(tables_, uidOf(tables_.owners[reference.owner()]));
    view.controller = (reference.ownerAndFlags & Reference::kController) != 0;
    view.blockOwnerDeletion = (reference.ownerAndFlags & Reference::kBlockOwnerDeletion) != 0;
    view.object = findByUid(view.uid);
    result.push_back(std::move(view));
  }
  return result;
}

std::vector<ObjectId> Graph::dependents(ObjectId object, size_t limit) const {
  std::vector<ObjectId> result;
  if (limit == 0) return result;
  forEachReferenceTo(tables_, uidKey(tables_, uidOf(tables_.nodes[number(object)])),
                     [&](const Reference& reference) {
                       // Two references of one object to one uid are neighbours.
                       if (!result.empty() && result.back() == ObjectId{reference.dependent}) return true;
                       result.push_back(ObjectId{reference.dependent});
                       return result.size() < limit;
                     });
  return result;
}

bool Graph::isLive(ConditionId condition) const { return tables_.conditions[number(condition)].live; }

std::optional<ConditionId> Graph::findCondition(const Condition& condition) const {
  return optionalId<ConditionId>(graph::findCondition(tables_, condition));
}

Condition Graph::condition(ConditionId condition) const {
  const ConditionRecord& record = tables_.conditions[number(condition)];
  Condition result;
  result.kind = record.kind;
  if (record.type != kNone) result.type = type(TypeId{record.type});
  switch (record.kind) {
    case Condition::Kind::Finalizer:
      result.finalizer = tables_.strings.view(tables_.carriers[record.subject].finalizer);
      result.scope = scopeOf(tables_, record);
      break;
    case Condition::Kind::Object: {
      const ObjectView view = object(ObjectId{record.subject});
      result.namespaceName = view.namespaceName;
      result.name = view.name;
      result.uid = text(tables_, uidOf(record));
      break;
    }
    case Condition::Kind::NamespaceContent:
      result.name = tables_.strings.view(tables_.namespaces[record.subject].name);
      break;
    case Condition::Kind::Instances:
      break;
  }
  return result;
}

bool Graph::isAboutSeveralTypes(ConditionId condition) const {
  const uint32_t type = tables_.conditions[number(condition)].type;
  return type != kNone && isPattern(tables_.types[type]);
}

std::optional<ObjectId> Graph::target(ConditionId condition) const {
  const ConditionRecord& record = tables_.conditions[number(condition)];
  return optionalId<ObjectId>(record.kind == Condition::Kind::Object ? record.subject : kNone);
}

std::vector<ConditionId> Graph::conditionsOn(ObjectId object) const {
  std::vector<ConditionId> result;
  const uint32_t extra = tables_.nodes[number(object)].extra;
  uint32_t at = extra == kNone ? kNone : tables_.extras[extra].firstCondition;
  for (; at != kNone; at = tables_.conditions[at].nextOfTarget) result.push_back(ConditionId{at});
  return result;
}

size_t Graph::someHolders(ConditionId condition, std::span<ObjectId> out) const {
  size_t filled = 0;
  for (OutEdges edges(*this, vertexOf(*this, condition)); filled < out.size() && !edges.atEnd();
       edges.next()) {
    out[filled++] = ObjectId{edges.target()};
  }
  return filled;
}

RequirementView Graph::view(uint32_t requirement) const {
  const Requirement& record = tables_.requirements[requirement];
  return {ObjectId{record.subject}, ConditionId{record.condition}, ObjectId{record.origin},
          tables_.strings.view(record.field)};
}

std::vector<RequirementView> Graph::requirementsOf(ObjectId subject) const {
  std::vector<RequirementView> result;
  const uint32_t extra = tables_.nodes[number(subject)].extra;
  uint32_t at = extra == kNone ? kNone : tables_.extras[extra].firstRequirement;
  for (; at != kNone; at = tables_.requirements[at].nextOfSubject) result.push_back(view(at));
  return result;
}

std::vector<RequirementView> Graph::requirementsOn(ConditionId condition) const {
  std::vector<RequirementView> result;
  uint32_t at = tables_.conditions[number(condition)].firstRequirement;
  for (; at != kNone; at = tables_.requirements[at].nextOfCondition) result.push_back(view(at));
  return result;
}

std::vector<RequirementView> Graph::requirementsFrom(ObjectId origin) const {
  std::vector<RequirementView> result;
  const uint32_t extra = tables_.nodes[number(origin)].extra;
  uint32_t at = extra == kNone ? kNone : tables_.extras[extra].firstOrigin;
  for (; at != kNone; at = tables_.requirements[at].nextOfOrigin) result.push_back(view(at));
  return result;
}

Knowledge knowledgeOf(const Graph& graph, const kube::GroupResource& type) {
  const auto id = graph.findType(type);
  return id ? graph.knowledge(*id) : Knowledge::Unknown;
}

bool isBelievable(const Graph& graph, const kube::GroupResource& type) {
  return believable(knowledgeOf(graph, type));
}

std::vector<TypeId> typesMeantBy(const Graph& graph, const kube::GroupResource& named) {
  std::vector<TypeId> types;
  const auto own = graph.findType(named);
  if (!kube::isTypePattern(named)) return own ? std::vector<TypeId>{*own} : types;
  const Tables& tables = graph.tables();
  for (uint32_t number = 0; number < tables.types.slots(); ++number) {
    const Type& type = tables.types[number];
    if (type.pinned && !isPattern(type) && kube::meansType(named, graph.type(TypeId{number})))
      types.push_back(TypeId{number});
  }
  return types;
}

kube::GroupResource leastKnownOf(const Graph& graph, const kube::GroupResource& named) {
  const auto id = graph.findType(named);
  const uint32_t least = id ? graph.tables().types[number(*id)].leastKnown : kNone;
  return least == kNone ? named : graph.type(TypeId{least});
}

std::vector<ObjectId> objectsOf(const Graph& graph, const kube::GroupResource& type) {
  const auto id = graph.findType(type);
  if (!kube::isTypePattern(type)) return id ? graph.objectsOf(*id) : std::vector<ObjectId>();
  std::vector<ObjectId> objects;
  for (const TypeId one : typesMeantBy(graph, type)) {
    const std::vector<ObjectId> ofOne = graph.objectsOf(one);
    objects.insert(objects.end(), ofOne.begin(), ofOne.end());
  }
  return objects;
}

bool isKnownToBeGone(const Graph& graph, const kube::ObjectKey& object) {
  return isBelievable(graph, object.type) && !graph.find(object);
}

}  // namespace lastout::graph

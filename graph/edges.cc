#include "graph/edges.h"

#include "graph/interning.h"
#include "graph/nodes.h"
#include "graph/owners.h"
#include "kube/object_key.h"
#include "kube/well_known.h"

namespace lastout::graph {

namespace {

// Of an owner that terminates: the finalizers by which it waits for dependents.
uint8_t waitingFlags(const Tables& tables, const Node& node) {
  if ((node.flags & Node::kTerminating) == 0) return 0;
  return tables.classes[node.objectClass].flags & (ObjectClass::kForeground | ObjectClass::kKept);
}

bool isWaitedFor(uint8_t waitingFlags, const Reference& reference) {
  if ((waitingFlags & ObjectClass::kKept) != 0) return true;
  return waitingFlags != 0 && (reference.ownerAndFlags & Reference::kBlockOwnerDeletion) != 0;
}

// The type that the CRD of this name defines, or kNone.
uint32_t typeOfCrd(const Tables& tables, std::string_view crdName) {
  const kube::DefinedNames names = kube::definedNames(crdName);
  return names.group.empty() ? kNone : findType(tables, names.group, names.resource);
}

}  // namespace

OutEdges::OutEdges(const Graph& graph, Vertex source) : tables_(&graph.tables()), source_(source) {
  if (isObject(graph, source)) {
    startObject();
  } else if (graph.isLive(conditionOf(graph, source))) {
    startCondition(tables_->conditions[source - graph.objectSlots()]);
  }
}

void OutEdges::next() {
  switch (step_) {
    case Step::Requirements:
      inner_ = tables_->requirements[inner_].nextOfSubject;
      if (inner_ == kNone) {
        startImplied();
      } else {
        target_ = tables_->nodes.slots() + tables_->requirements[inner_].condition;
      }
      break;
    case Step::Content:
    case Step::Instances:
    case Step::Carriers:
      target_ = inner_ = tables_->nodes[inner_].next;
      if (inner_ == kNone) nextClass();
      if (step_ == Step::Carriers) skipLeftOut();
      break;
    case Step::Dependents:
      inner_ = tables_->references[inner_].nextOfOwner;
      skipToHolding();
      break;
    case Step::One:
    case Step::End:
      finishStep();
      break;
  }
}

void OutEdges::startObject() {
  const Node& node = tables_->nodes[source_];
  if ((node.flags & Node::kLive) == 0) return;
  if (node.extra != kNone) {
    inner_ = tables_->extras[node.extra].firstRequirement;
    if (inner_ != kNone) {
      step_ = Step::Requirements;
      kind_ = EdgeKind::Requires;
      target_ = tables_->nodes.slots() + tables_->requirements[inner_].condition;
      return;
    }
  }
  startImplied();
}

void OutEdges::startImplied() {
  const Node& node = tables_->nodes[source_];
  step_ = Step::End;
  inner_ = kNone;
  if ((node.flags & Node::kPresent) == 0) return;
  const ObjectClass& objectClass = tables_->classes[node.objectClass];
  Type::Semantics semantics = tables_->types[objectClass.type].semantics;
  if (tables_->namespaces[objectClass.namespaceNumber].name != kEmptyString)
    semantics = Type::Semantics::Other;
  if (semantics == Type::Semantics::Namespaces) {
    const uint32_t content = findNamespace(*tables_, tables_->strings.view(node.name));
    if (content != kNone)
      enterClasses(Step::Content, tables_->namespaces[content].firstClass, EdgeKind::Content);
  } else if (semantics == Type::Semantics::Crds) {
    const uint32_t type = typeOfCrd(*tables_, tables_->strings.view(node.name));
    if (type != kNone) enterClasses(Step::Instances, tables_->types[type].firstClass, EdgeKind::Instance);
  }
  if (step_ == Step::End) startDependents();
}

void OutEdges::startDependents() {
  const Node& node = tables_->nodes[source_];
  finishStep();
  if (waitingFlags(*tables_, node) == 0) return;
  const UidKey uid = uidKey(*tables_, uidOf(node));
  const uint32_t owner = uid.kind == UidKind::None ? kNone : findOwner(*tables_, uid);
  if (owner == kNone) return;
  step_ = Step::Dependents;
  kind_ = EdgeKind::Dependent;
  inner_ = tables_->owners[owner].firstDependent;
  skipToHolding();
}

void OutEdges::skipToHolding() {
  const uint8_t flags = waitingFlags(*tables_, tables_->nodes[source_]);
  while (inner_ != kNone) {
    const Reference& reference = tables_->references[inner_];
    if (isWaitedFor(flags, reference)) {
      target_ = reference.dependent;
      return;
    }
    inner_ = reference.nextOfOwner;
  }
  finishStep();
}

void OutEdges::startCondition(const ConditionRecord& condition) {
  switch (condition.kind) {
    case Condition::Kind::Finalizer:
      enterClasses(Step::Carriers, tables_->carriers[condition.subject].firstMembership, EdgeKind::Holder);
      skipLeftOut();
      break;
    case Condition::Kind::NamespaceContent:
      enterClasses(Step::Content, tables_->namespaces[condition.subject].firstClass, EdgeKind::Holder);
      break;
    case Condition::Kind::Instances:
      enterClasses(Step::Instances, tables_->types[condition.subject].firstClass, EdgeKind::Holder);
      break;
    case Condition::Kind::Object:
      if (!holdsObjectCondition(*tables_, condition)) return;
      step_ = Step::One;
      kind_ = EdgeKind::Holder;
      target_ = inner_ = condition.subject;
      break;
  }
}

void OutEdges::enterClasses(Step step, uint32_t first, EdgeKind kind) {
  if (first == kNone) return;
  step_ = step;
  kind_ = kind;
  outer_ = first;
  const uint32_t objectClass = step == Step::Carriers ? tables_->memberships[first].objectClass : first;
  target_ = inner_ = tables_->classes[objectClass].firstObject;
}

// Every class in a list has objects.
void OutEdges::nextClass() {
  uint32_t next = kNone;
  if (step_ == Step::Content) next = tables_->classes[outer_].nextInNamespace;
  if (step_ == Step::Instances) next = tables_->classes[outer_].nextInType;
  if (step_ == Step::Carriers) next = tables_->memberships[outer_].nextInCarrier;
  if (next != kNone) {
    enterClasses(step_, next, kind_);
  } else if (kind_ == EdgeKind::Holder) {
    finishStep();
  } else {
    startDependents();
  }
}

void OutEdges::skipLeftOut() {
  const ConditionRecord& condition = tables_->conditions[source_ - tables_->nodes.slots()];
  while (step_ == Step::Carriers && leavesOut(*tables_, condition, inner_)) {
    const Node& node = tables_->nodes[inner_];
    const bool isWholeClass = !areNamespaces(*tables_, tables_->classes[node.objectClass]);
    target_ = inner_ = isWholeClass ? kNone : node.next;
    if (inner_ == kNone) nextClass();
  }
}

void OutEdges::finishStep() {
  step_ = Step::End;
  outer_ = inner_ = target_ = kNone;
}

namespace {

using Visit = std::function<void(Vertex, EdgeKind)>;

void visitConditionsHeld(const Graph& graph, uint32_t object, const Visit& visit) {
  const Tables& tables = graph.tables();
  const auto hold = [&](uint32_t condition) {
    if (condition != kNone) visit(vertexOf(graph, ConditionId{condition}), EdgeKind::Holder);
  };
  const Node& node = tables.nodes[object];
  const ObjectClass& objectClass = tables.classes[node.objectClass];
  hold(tables.types[objectClass.type].condition);
  hold(tables.namespaces[objectClass.namespaceNumber].condition);
  for (uint32_t at = objectClass.firstMembership; at != kNone; at = tables.memberships[at].nextInClass) {
    const Carrier& carrier = tables.carriers[tables.memberships[at].carrier];
    hold(carrier.condition);
    for (uint32_t scoped = carrier.firstScoped; scoped != kNone;
         scoped = tables.conditions[scoped].nextOfTarget) {
      if (!leavesOut(tables, tables.conditions[scoped], object)) hold(scoped);
    }
  }
  if (node.extra == kNone) return;
  for (uint32_t at = tables.extras[node.extra].firstCondition; at != kNone;) {
    const ConditionRecord& condition = tables.conditions[at];
    if (holdsObjectCondition(tables, condition)) hold(at);
    at = condition.nextOfTarget;
  }
}

void visitContainers(const Graph& graph, uint32_t object, const Visit& visit) {
  const ObjectView view = graph.object(ObjectId{object});
  const auto container = [&](const kube::GroupResource& type, std::string_view name, EdgeKind kind) {
    const uint32_t number = findType(graph.tables(), type.group, type.resource);
    if (number == kNone) return;
    const std::optional<ObjectId> found = graph.find(TypeId{number}, "", name);
    if (found.has_value()) visit(vertexOf(*found), kind);
  };
  if (!view.namespaceName.empty()) container(kube::kNamespaces, view.namespaceName, EdgeKind::Content);
  const std::string crd = std::string(view.resource) + "." + std::string(view.group);
  container(kube::kCustomResourceDefinitions, crd, EdgeKind::Instance);
}

void visitOwners(const Graph& graph, uint32_t object, const Visit& visit) {
  const Tables& tables = graph.tables();
  for (uint32_t at = tables.nodes[object].firstReference; at != kNone;) {
    const Reference& reference = tables.references[at];
    const UidKey uid = uidKey(tables, uidOf(tables.owners[reference.owner()]));
    forEachNodeWithUid(tables, uid, [&](uint32_t owner) {
      if (isWaitedFor(waitingFlags(tables, tables.nodes[owner]), reference))
        visit(owner, EdgeKind::Dependent);
    });
    at = reference.nextOfDependent;
  }
}

}  // namespace

void forEachInEdge(const Graph& graph, Vertex target, const std::function<void(Vertex, EdgeKind)>& visit) {
  if (!isObject(graph, target)) {
    for (const RequirementView& requirement : graph.requirementsOn(conditionOf(graph, target))) {
      visit(vertexOf(requirement.subject), EdgeKind::Requires);
    }
    return;
  }
  if (!graph.isPresent(objectOf(target))) return;
  visitConditionsHeld(graph, target, visit);
  visitContainers(graph, target, visit);
  visitOwners(graph, target, visit);
}

std::string_view toString(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::Requires:
      return "Requires";
    case EdgeKind::Holder:
      return "Holder";
    case EdgeKind::Content:
      return "Content";
    case EdgeKind::Instance:
      return "Instance";
    case EdgeKind::Dependent:
      return "Dependent";
  }
  return {};
}

}  // namespace lastout::graph

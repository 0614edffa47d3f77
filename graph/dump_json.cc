#include <nlohmann/json.hpp>

#include "graph/blockers.h"
#include "graph/dump_selection.h"
#include "graph/names.h"
#include "kube/object_references.h"
#include "kube/value.h"

namespace lastout::graph {

namespace {

using kube::OrderedJson;

// Unique among objects and among conditions; a condition on an object is not named like it.
std::string idOf(const Graph& graph, Vertex vertex) {
  return isObject(graph, vertex) ? describe(graph, vertex) : "condition: " + describe(graph, vertex);
}

OrderedJson ownersJson(const Graph& graph, ObjectId object) {
  OrderedJson owners = OrderedJson::array();
  for (const OwnerView& owner : graph.owners(object)) {
    OrderedJson json = {{"apiVersion", owner.apiVersion},
                        {"kind", owner.kind},
                        {"name", owner.name},
                        {"uid", owner.uid},
                        {"controller", owner.controller},
                        {"blockOwnerDeletion", owner.blockOwnerDeletion}};
    if (owner.object.has_value()) json["object"] = idOf(graph, vertexOf(*owner.object));
    owners.push_back(std::move(json));
  }
  return owners;
}

OrderedJson objectJson(const Graph& graph, ObjectId object, const DumpOptions& options) {
  const ObjectView view = graph.object(object);
  OrderedJson json = {
      {"id", idOf(graph, vertexOf(object))}, {"group", view.group}, {"resource", view.resource}};
  if (!view.namespaceName.empty()) json["namespace"] = view.namespaceName;
  json["name"] = view.name;
  json["present"] = view.present;
  if (const std::string uid = graph.uid(object); !uid.empty()) json["uid"] = uid;
  if (view.terminating) json["deletionTimestamp"] = view.deletionTimestamp;
  if (const auto finalizers = graph.finalizers(object); !finalizers.empty()) json["finalizers"] = finalizers;
  if (OrderedJson owners = ownersJson(graph, object); !owners.empty()) json["owners"] = std::move(owners);
  if (!options.verdict) return json;
  if (const std::optional<DumpVerdict> verdict = options.verdict(object)) {
    json["verdict"] = {{"allowed", verdict->allowed}, {"text", verdict->text}};
    if (verdict->held) json["verdict"]["held"] = true;
  }
  return json;
}

// Returns the fields that a condition about references asks about, and the object that they name.
OrderedJson referenceJson(const Condition& condition) {
  const kube::WantedReference wanted = kube::wantedReferenceOf(condition.finalizer);
  OrderedJson json = {{"field", wanted.fields.name.text}};
  if (wanted.fields.namespaceName) json["namespaceField"] = wanted.fields.namespaceName->text;
  if (wanted.fields.kind) json["kindField"] = wanted.fields.kind->text;
  if (!wanted.kind.empty()) json["kind"] = wanted.kind;
  json["group"] = wanted.target.type.group;
  json["resource"] = wanted.target.type.resource;
  if (!wanted.target.namespaceName.empty()) json["namespace"] = wanted.target.namespaceName;
  json["name"] = wanted.target.name;
  return json;
}

OrderedJson conditionJson(const Graph& graph, ConditionId id) {
  const Condition condition = graph.condition(id);
  const bool isOfReferences = kube::isWantedReference(condition.finalizer);
  OrderedJson json = {{"id", idOf(graph, vertexOf(graph, id))},
                      {"kind", isOfReferences ? "Reference" : toString(condition.kind)}};
  if (condition.kind == Condition::Kind::NamespaceContent) {
    json["namespace"] = condition.name;
  } else {
    json["group"] = condition.type.group;
    json["resource"] = condition.type.resource;
  }
  if (isOfReferences)
    json["reference"] = referenceJson(condition);
  else if (condition.kind == Condition::Kind::Finalizer)
    json["finalizer"] = condition.finalizer;
  if (condition.scope.kind == kube::NamespaceScope::Kind::Within) json["namespaces"] = condition.scope.names;
  if (!condition.scope.selector.empty())
    json["namespaceSelector"] = condition.scope.selector;
  else if (condition.scope.kind == kube::NamespaceScope::Kind::Outside)
    json["exceptNamespace"] = *condition.scope.names.begin();
  if (const std::optional<ObjectId> target = graph.target(id))
    json["object"] = idOf(graph, vertexOf(*target));
  if (!condition.uid.empty()) json["uid"] = condition.uid;
  json["holders"] = graph.holders(id);
  json["knowledge"] = toString(graph.knowledge(id));
  json["met"] = isMet(graph, id);
  return json;
}

OrderedJson originsJson(const Graph& graph, ObjectId subject, ConditionId condition) {
  std::vector<std::pair<std::string, std::string>> origins;
  for (const RequirementView& requirement : graph.requirementsOf(subject)) {
    if (requirement.condition != condition) continue;
    origins.emplace_back(idOf(graph, vertexOf(requirement.origin)), requirement.field);
  }
  std::sort(origins.begin(), origins.end());
  OrderedJson json = OrderedJson::array();
  for (const auto& [object, field] : origins) json.push_back({{"object", object}, {"field", field}});
  return json;
}

OrderedJson edgeJson(const Graph& graph, const DumpSelection& selection, const DrawnEdge& edge) {
  const Vertex source = selection.vertices[edge.source];
  const Vertex target = selection.vertices[edge.target];
  OrderedJson json = {
      {"from", idOf(graph, source)}, {"to", idOf(graph, target)}, {"kind", toString(edge.kind)}};
  if (edge.kind == EdgeKind::Requires) {
    json["origins"] = originsJson(graph, objectOf(source), conditionOf(graph, target));
  }
  return json;
}

}  // namespace

std::string dumpJson(const Graph& graph, const DumpOptions& options) {
  const DumpSelection selection = select(graph, options);
  OrderedJson objects = OrderedJson::array();
  OrderedJson conditions = OrderedJson::array();
  OrderedJson edges = OrderedJson::array();
  for (const Vertex vertex : selection.vertices) {
    if (isObject(graph, vertex)) {
      objects.push_back(objectJson(graph, objectOf(vertex), options));
    } else {
      conditions.push_back(conditionJson(graph, conditionOf(graph, vertex)));
    }
  }
  for (const DrawnEdge& edge : selection.edges) edges.push_back(edgeJson(graph, selection, edge));
  const OrderedJson json = {{"objects", std::move(objects)},
                            {"conditions", std::move(conditions)},
                            {"edges", std::move(edges)},
                            {"leftOut", selection.leftOut}};
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace lastout::graph

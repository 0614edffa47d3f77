#include "graph/names.h"

#include <functional>
#include <tuple>

#include "kube/well_known.h"

namespace lastout::graph {

std::string_view toString(Knowledge knowledge) {
  switch (knowledge) {
    case Knowledge::Unknown:
      return "Unknown";
    case Knowledge::Synced:
      return "Synced";
    case Knowledge::Stale:
      return "Stale";
    case Knowledge::Absent:
      return "Absent";
    case Knowledge::Forbidden:
      return "Forbidden";
    case Knowledge::Unserved:
      return "Unserved";
    case Knowledge::NotUnderstood:
      return "NotUnderstood";
  }
  return {};
}

kube::GroupResource notUnderstoodType() { return {std::string(kube::kLastoutGroup), "notunderstood"}; }

std::string toString(const Condition& condition) {
  if (condition.type == notUnderstoodType()) return "what is meant by " + condition.name;
  switch (condition.kind) {
    case Condition::Kind::Finalizer:
      return "finalizer " + condition.finalizer + " on " + kube::toString(condition.type);
    case Condition::Kind::Object: {
      const kube::ObjectKey key{condition.type, condition.namespaceName, condition.name};
      return "existence of " + kube::toString(key) +
             (condition.uid.empty() ? "" : " with uid " + condition.uid);
    }
    case Condition::Kind::NamespaceContent:
      return "content of namespace " + condition.name;
    case Condition::Kind::Instances:
      return "instances of " + kube::toString(condition.type);
  }
  return {};
}

std::string describe(const Graph& graph, Vertex vertex) {
  return isObject(graph, vertex) ? kube::toString(graph.key(objectOf(vertex)))
                                 : toString(graph.condition(conditionOf(graph, vertex)));
}

bool namedBefore(const Graph& graph, Vertex a, Vertex b) {
  const bool aIsObject = isObject(graph, a);
  if (aIsObject != isObject(graph, b)) return aIsObject;
  if (!aIsObject) {
    return std::less<>()(graph.condition(conditionOf(graph, a)), graph.condition(conditionOf(graph, b)));
  }
  const ObjectView first = graph.object(objectOf(a));
  const ObjectView second = graph.object(objectOf(b));
  return std::tie(first.group, first.resource, first.namespaceName, first.name) <
         std::tie(second.group, second.resource, second.namespaceName, second.name);
}

}  // namespace lastout::graph

#include "tests/graph/cluster.h"

#include <algorithm>

#include "graph/names.h"

namespace lastout::graph::test {

kube::GroupResource type(std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return {"", std::string(text)};
  return {std::string(text.substr(dot + 1)), std::string(text.substr(0, dot))};
}

kube::ObjectKey key(std::string_view text) {
  const size_t first = text.find('/');
  const size_t last = text.rfind('/');
  kube::ObjectKey result{type(text.substr(0, first)), {}, std::string(text.substr(last + 1))};
  if (last > first) result.namespaceName = text.substr(first + 1, last - first - 1);
  return result;
}

Condition finalizerCondition(std::string_view typeName, std::string_view finalizer) {
  Condition condition;
  condition.kind = Condition::Kind::Finalizer;
  condition.type = type(typeName);
  condition.finalizer = finalizer;
  return condition;
}

Condition objectCondition(std::string_view object, std::string_view uid) {
  const kube::ObjectKey named = key(object);
  Condition condition;
  condition.kind = Condition::Kind::Object;
  condition.type = named.type;
  condition.namespaceName = named.namespaceName;
  condition.name = named.name;
  condition.uid = uid;
  return condition;
}

Condition contentCondition(std::string_view namespaceName) {
  Condition condition;
  condition.kind = Condition::Kind::NamespaceContent;
  condition.name = namespaceName;
  return condition;
}

Condition instancesCondition(std::string_view typeName) {
  Condition condition;
  condition.kind = Condition::Kind::Instances;
  condition.type = type(typeName);
  return condition;
}

kube::ObjectMeta meta(std::string_view object, const Details& details) {
  const kube::ObjectKey named = key(object);
  kube::ObjectMeta result;
  result.namespaceName = named.namespaceName;
  result.name = named.name;
  result.uid = details.uid;
  result.finalizers = details.finalizers;
  if (details.terminating) result.deletionTimestamp = 1700000000;
  for (const std::string& uid : details.ownerUids) {
    kube::OwnerReference reference;
    reference.uid = uid;
    reference.blockOwnerDeletion = true;
    result.ownerReferences.push_back(reference);
  }
  return result;
}

void Cluster::put(std::string_view object, const Details& details) {
  const TypeId id = graph.internType(key(object).type);
  graph.setKnowledge(id, Knowledge::Synced);
  graph.upsert(id, meta(object, details));
}

ConditionId Cluster::after(std::string_view subject, const Condition& condition, std::string_view origin) {
  if (condition.kind != Condition::Kind::NamespaceContent) {
    graph.setKnowledge(graph.internType(condition.type), Knowledge::Synced);
  }
  return graph.require(key(subject), condition, Origin{key(origin), "spec"});
}

Vertex Cluster::vertex(std::string_view object) const {
  return vertexOf(graph.findNamed(key(object)).value());
}

std::vector<std::string> names(const Graph& graph, const std::vector<ObjectId>& objects) {
  std::vector<std::string> result;
  result.reserve(objects.size());
  for (const ObjectId object : objects) result.push_back(describe(graph, vertexOf(object)));
  std::sort(result.begin(), result.end());
  return result;
}

std::string told(const Graph& graph, const std::vector<Edge>& path) {
  if (path.empty()) return "";
  std::string text = describe(graph, path.front().source);
  for (const Edge& edge : path) text += " -> " + describe(graph, edge.target);
  return text;
}

Cluster story() {
  Cluster cluster;
  cluster.put("namespaces/finalizer-namespace");
  cluster.put(kProvider);
  cluster.put(kCrd);
  cluster.put(kInstance, {.finalizers = {std::string(kFinalizer)}});
  cluster.put(kService);
  cluster.after(kProvider, finalizerCondition("coolresources.my.crd.group", kFinalizer), kService);
  cluster.after(kProvider, objectCondition(kCrd), kService);
  cluster.after(kService, objectCondition(kProvider), kService);
  return cluster;
}

}  // namespace lastout::graph::test

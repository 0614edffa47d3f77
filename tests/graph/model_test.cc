// Random histories of a cluster, told to a graph and to the model: at every step both must say the same.
#include "tests/graph/model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/edges.h"
#include "graph/graph.h"
#include "tests/graph/history.h"

namespace lastout::graph::test {
namespace {

using kube::ObjectKey;
using kube::ObjectMeta;

void compareObject(const Graph& graph, const Model& model, const ObjectKey& key, const ObjectMeta& meta) {
  const std::optional<ObjectId> id = graph.find(key);
  ASSERT_TRUE(id.has_value()) << nameOf(key);
  EXPECT_EQ(graph.key(*id), key);
  EXPECT_EQ(graph.find(*graph.findType(key.type), key.namespaceName, key.name), id);
  EXPECT_EQ(graph.uid(*id), meta.uid);
  EXPECT_EQ(graph.resourceVersion(*id), meta.resourceVersion);
  const ObjectView view = graph.object(*id);
  EXPECT_EQ(view.terminating, meta.deletionTimestamp.has_value());
  EXPECT_EQ(view.deletionTimestamp, meta.deletionTimestamp.value_or(0));
  const std::vector<std::string_view> finalizers = graph.finalizers(*id);
  EXPECT_EQ(std::vector<std::string>(finalizers.begin(), finalizers.end()), [&] {
    const std::set<std::string> sorted(meta.finalizers.begin(), meta.finalizers.end());
    return std::vector<std::string>(sorted.begin(), sorted.end());
  }());
  const std::vector<OwnerView> owners = graph.owners(*id);
  ASSERT_EQ(owners.size(), meta.ownerReferences.size());
  for (size_t i = 0; i < owners.size(); ++i) {
    const kube::OwnerReference given{std::string(owners[i].apiVersion),
                                     std::string(owners[i].kind),
                                     std::string(owners[i].name),
                                     owners[i].uid,
                                     owners[i].controller,
                                     owners[i].blockOwnerDeletion};
    EXPECT_EQ(given, meta.ownerReferences[i]);
    const std::set<ObjectKey> resolved = model.withUid(meta.ownerReferences[i].uid);
    ASSERT_EQ(owners[i].object.has_value(), !resolved.empty());
    if (owners[i].object.has_value()) {
      EXPECT_EQ(graph.key(*owners[i].object), *resolved.begin());
    }
  }
  std::set<ObjectKey> dependents;
  for (const ObjectId dependent : graph.dependents(*id))
    EXPECT_TRUE(dependents.insert(graph.key(dependent)).second);
  EXPECT_EQ(dependents, model.dependents(key));
}

// As it was asked for: which namespaces a selector leaves out is the graph's own to say.
Condition askedFor(Condition condition) {
  if (!condition.scope.selector.empty()) condition.scope.names.clear();
  return condition;
}

void compareCondition(const Graph& graph, const Model& model, const Condition& condition) {
  SCOPED_TRACE(nameOf(condition));
  const std::optional<ConditionId> id = graph.findCondition(condition);
  ASSERT_TRUE(id.has_value());
  const std::set<ObjectKey> expected = model.holders(condition);
  EXPECT_EQ(graph.holders(*id), expected.size());
  if (!condition.scope.selector.empty()) {
    EXPECT_EQ(graph.condition(*id).scope.names, model.leftOut(condition));
  }
  Knowledge knowledge = Knowledge::Synced;
  if (condition.kind != Condition::Kind::NamespaceContent) {
    knowledge = model.knowledgeOf(condition.type, History::types());
  }
  EXPECT_EQ(graph.knowledge(*id), knowledge);
  std::vector<ObjectId> some(3);
  some.resize(graph.someHolders(*id, some));
  EXPECT_EQ(some.size(), std::min<size_t>(3, expected.size()));
  for (const ObjectId holder : some) EXPECT_TRUE(expected.contains(graph.key(holder)));
  std::set<Model::Requirement> required;
  for (const RequirementView& view : graph.requirementsOn(*id)) {
    required.emplace(graph.key(view.subject), askedFor(graph.condition(view.condition)),
                     Origin{graph.key(view.origin), std::string(view.field)});
  }
  EXPECT_EQ(required, [&] {
    std::set<Model::Requirement> result = model.requirements;
    std::erase_if(result,
                  [&](const Model::Requirement& one) { return std::get<Condition>(one) != condition; });
    return result;
  }());
}

void compareEdges(const Graph& graph, const Model& model) {
  const auto name = [&](Vertex vertex) {
    return isObject(graph, vertex) ? nameOf(graph.key(objectOf(vertex)))
                                   : nameOf(graph.condition(conditionOf(graph, vertex)));
  };
  const auto kindName = [](EdgeKind kind) -> std::string {
    const std::vector<std::string> names = {"requires", "holder", "content", "instance", "dependent"};
    return names[static_cast<size_t>(kind)];
  };
  Edges out;
  Edges in;
  for (Vertex vertex = 0; vertex < vertexCount(graph); ++vertex) {
    if (!isLive(graph, vertex)) {
      EXPECT_TRUE(OutEdges(graph, vertex).atEnd());
      continue;
    }
    for (OutEdges edge(graph, vertex); !edge.atEnd(); edge.next()) {
      out.emplace(name(vertex), name(edge.target()), kindName(edge.kind()));
    }
    forEachInEdge(graph, vertex, [&](Vertex source, EdgeKind kind) {
      in.emplace(name(source), name(vertex), kindName(kind));
    });
  }
  const Edges expected = model.edges();
  EXPECT_EQ(out, expected);
  EXPECT_EQ(in, expected);
}

void compareFinalizers(const Graph& graph, const Model& model) {
  std::map<kube::GroupResource, std::multiset<std::string>> expected;
  for (const auto& [key, meta] : model.objects) {
    const std::set<std::string> once(meta.finalizers.begin(), meta.finalizers.end());
    std::multiset<std::string>& ofType = expected[key.type];
    for (const std::string& one : once) {
      if (!ofType.contains(one)) ofType.insert(one);
    }
  }
  for (const auto& [type, finalizers] : expected) {
    const TypeId id = *graph.findType(type);
    const std::vector<std::string_view> found = graph.finalizersOf(id, SIZE_MAX);
    EXPECT_EQ(std::multiset<std::string>(found.begin(), found.end()), finalizers);
    for (const std::string& one : finalizers) EXPECT_TRUE(graph.wasHeld(id, one));
  }
}

void compare(const Graph& graph, const Model& model) {
  EXPECT_EQ(graph.objectCount(), model.objects.size());
  compareFinalizers(graph, model);
  std::set<ObjectKey> present;
  std::set<ObjectKey> absent;
  for (uint32_t i = 0; i < graph.objectSlots(); ++i) {
    const ObjectId id{i};
    if (graph.isLive(id)) (graph.isPresent(id) ? present : absent).insert(graph.key(id));
  }
  EXPECT_EQ(absent, model.absent());
  for (const ObjectKey& key : present) EXPECT_TRUE(model.objects.contains(key)) << nameOf(key);
  for (const auto& [key, meta] : model.objects) compareObject(graph, model, key, meta);
  for (const ObjectKey& key : absent) {
    EXPECT_FALSE(graph.find(key).has_value());
    EXPECT_TRUE(graph.findNamed(key).has_value());
  }
  std::set<Condition> conditions;
  for (uint32_t i = 0; i < graph.conditionSlots(); ++i) {
    if (graph.isLive(ConditionId{i})) conditions.insert(askedFor(graph.condition(ConditionId{i})));
  }
  EXPECT_EQ(conditions, model.conditions());
  EXPECT_EQ(graph.conditionCount(), conditions.size());
  for (const Condition& condition : conditions) compareCondition(graph, model, condition);
  for (const std::string& uid : History::uids()) {
    const std::set<ObjectKey> expected = model.withUid(uid);
    const std::optional<ObjectId> found = graph.findByUid(uid);
    ASSERT_EQ(found.has_value(), !expected.empty());
    if (found.has_value()) {
      EXPECT_EQ(graph.key(*found), *expected.begin());
    }
  }
  compareEdges(graph, model);
}

class ModelTest : public testing::TestWithParam<uint32_t> {};

// For each of the parameters.
#ifdef LASTOUT_SANITIZED
constexpr uint32_t kHistories = 10;
#else
constexpr uint32_t kHistories = 100;
#endif

TEST_P(ModelTest, GraphAndModelAgreeOnEveryHistory) {
  for (uint32_t i = 0; i < kHistories; ++i) {
    const uint32_t seed = GetParam() * kHistories + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    History history(seed);
    const int steps = static_cast<int>(20 + seed % 60);
    for (int step = 1; step <= steps; ++step) {
      history.step();
      if (step % 20 == 0) compare(history.graph(), history.model());
    }
    compare(history.graph(), history.model());
    history.end();
    for (const auto& [graph, model] : history.snapshots()) compare(graph, model);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModelTest, testing::Range<uint32_t>(0, 30));

}  // namespace
}  // namespace lastout::graph::test

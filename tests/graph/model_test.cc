// Random histories of a cluster, told to a graph and to the model: at every step both must say the same.
#include "tests/graph/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "graph/edges.h"
#include "graph/graph.h"

namespace lastout::graph::test {
namespace {

using kube::GroupResource;
using kube::ObjectKey;
using kube::ObjectMeta;

// Few names, so that they collide, leave and come back.
const std::vector<GroupResource> kTypes = {{"", "namespaces"},
                                           {"apiextensions.k8s.io", "customresourcedefinitions"},
                                           {"my.crd.group", "coolresources"},
                                           {"apps", "deployments"}};
const std::vector<std::string> kNamespaceNames = {"", "a", "b", "managed-cluster"};
const std::vector<std::string> kNames = {"a", "b", "x", "coolresources.my.crd.group", std::string(150, 'y')};
const std::vector<std::string> kUids = {"", "01234567-89ab-cdef-0123-456789abcdef",
                                        "01234567-89ab-cdef-0123-456789abcdee",
                                        "01234567-89AB-cdef-0123-456789abcdef", "some-other-uid"};
const std::vector<std::string> kFinalizers = {"foregroundDeletion", "my.crd.group/super-important", "f", ""};
const std::vector<std::string> kVersions = {"", "1", "007", "18446744073709551616", "not-a-number"};

class History {
 public:
  explicit History(uint32_t seed) : random_(seed) {
    for (const GroupResource& type : kTypes) graph_.internType(type);
  }

  void step() {
    switch (pick(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return upsert();
      case 4:
      case 5:
        return remove();
      case 6:
        return applyBatch();
      case 7:
        return require();
      case 8:
        return withdraw();
      case 9:
        return hold();
      case 10:
        return learn();
      default:
        return takeSnapshot();
    }
  }

  void check() const { compare(graph_, model_); }

  // Snapshots say what was true when they were taken, whatever happened since.
  void checkSnapshots() const {
    for (const auto& [graph, model] : snapshots_) compare(graph, model);
  }

  // Everything goes; nothing may stay behind in any table.
  void end() {
    while (!model_.objects.empty()) removeOne(model_.objects.begin()->first);
    while (!model_.requirements.empty()) withdrawOne(std::get<Origin>(*model_.requirements.begin()).object);
    for (auto& [condition, count] : model_.holds) {
      for (; count > 0; --count) graph_.releaseCondition(*graph_.findCondition(condition));
    }
    for (const GroupResource& type : kTypes) graph_.forgetType(*graph_.findType(type));
    const Tables& tables = graph_.tables();
    EXPECT_THAT(
        (std::vector<uint32_t>{tables.strings.count(), tables.nodes.live(), tables.extras.live(),
                               tables.classes.live(), tables.carriers.live(), tables.memberships.live(),
                               tables.types.live(), tables.namespaces.live(), tables.owners.live(),
                               tables.ownerKinds.live(), tables.otherNames.live(), tables.references.live(),
                               tables.conditions.live(), tables.requirements.live()}),
        testing::Each(0));
  }

 private:
  size_t pick(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random_); }
  template <class T>
  const T& pick(const std::vector<T>& choices) {
    return choices[pick(choices.size())];
  }

  ObjectKey randomKey() { return {pick(kTypes), pick(kNamespaceNames), pick(kNames)}; }

  ObjectMeta randomMeta(const ObjectKey& key) {
    ObjectMeta meta;
    meta.namespaceName = key.namespaceName;
    meta.name = key.name;
    meta.uid = pick(kUids);
    meta.resourceVersion = pick(kVersions);
    if (pick(3) == 0) meta.deletionTimestamp = static_cast<int64_t>(pick(1000)) - 500;
    while (pick(2) == 0) meta.finalizers.push_back(pick(kFinalizers));
    while (pick(2) == 0) {
      meta.ownerReferences.push_back({.apiVersion = pick(2) == 0 ? "v1" : "apps/v1",
                                      .kind = pick(2) == 0 ? "Deployment" : "CoolResource",
                                      .name = pick(kNames),
                                      .uid = pick(kUids),
                                      .controller = pick(2) == 0,
                                      .blockOwnerDeletion = pick(2) == 0});
    }
    return meta;
  }

  Condition randomCondition() {
    Condition condition;
    condition.kind = static_cast<Condition::Kind>(pick(4));
    if (condition.kind != Condition::Kind::NamespaceContent) condition.type = pick(kTypes);
    if (condition.kind == Condition::Kind::Finalizer) condition.finalizer = pick(kFinalizers);
    if (condition.kind == Condition::Kind::NamespaceContent) condition.name = pick(kNamespaceNames);
    if (condition.kind == Condition::Kind::Object) {
      condition.namespaceName = pick(kNamespaceNames);
      condition.name = pick(kNames);
      condition.uid = pick(kUids);
    }
    return condition;
  }

  void upsert() {
    const ObjectKey key = randomKey();
    const ObjectMeta meta = randomMeta(key);
    const uint64_t before = graph_.revision();
    graph_.upsert(graph_.internType(key.type), meta);
    EXPECT_GT(graph_.revision(), before);
    model_.upsert(key.type, meta);
  }

  void remove() { removeOne(randomKey()); }

  // By value: it may be a part of what it erases.
  void removeOne(ObjectKey key) {  // NOLINT(performance-unnecessary-value-param)
    const uint64_t before = graph_.revision();
    graph_.remove(key);
    if (model_.objects.erase(key) > 0) {
      EXPECT_GT(graph_.revision(), before);
    }
  }

  void applyBatch() {
    std::vector<ObjectMeta> metas;
    std::vector<Change> changes;
    const size_t count = pick(40);
    metas.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      const ObjectKey key = randomKey();
      const bool removes = pick(3) == 0;
      metas.push_back(randomMeta(key));
      changes.push_back({removes ? Change::Kind::Remove : Change::Kind::Upsert, graph_.internType(key.type),
                         &metas.back()});
      if (removes) {
        model_.objects.erase(key);
      } else {
        model_.upsert(key.type, metas.back());
      }
    }
    graph_.apply(changes);
  }

  void require() {
    const ObjectKey subject = randomKey();
    const Condition condition = randomCondition();
    const Origin origin{randomKey(), pick(2) == 0 ? "spec.criteria[0]" : ""};
    graph_.require(subject, condition, origin);
    model_.requirements.emplace(subject, condition, origin);
  }

  void withdraw() {
    if (!model_.requirements.empty() && pick(2) == 0) {
      return withdrawOne(std::get<Origin>(*model_.requirements.begin()).object);
    }
    withdrawOne(randomKey());
  }

  void withdrawOne(ObjectKey origin) {  // NOLINT(performance-unnecessary-value-param): as above
    graph_.withdraw(origin);
    model_.withdraw(origin);
  }

  void hold() {
    const Condition condition = randomCondition();
    int& count = model_.holds[condition];
    if (count > 0 && pick(2) == 0) {
      graph_.releaseCondition(*graph_.findCondition(condition));
      --count;
    } else {
      const ConditionId id = graph_.addCondition(condition);
      EXPECT_EQ(graph_.findCondition(condition), id);
      ++count;
    }
  }

  void learn() {
    const GroupResource& type = pick(kTypes);
    const auto knowledge = static_cast<Knowledge>(pick(6));
    graph_.setKnowledge(graph_.internType(type), knowledge);
    model_.knowledge[type] = knowledge;
  }

  void takeSnapshot() {
    if (snapshots_.size() < 3) {
      snapshots_.emplace_back(graph_.snapshot(), model_);
    } else {
      snapshots_[pick(3)] = {graph_.snapshot(), model_};
    }
  }

  static void compare(const Graph& graph, const Model& model);
  static void compareObject(const Graph& graph, const Model& model, const ObjectKey& key,
                            const ObjectMeta& meta);
  static void compareCondition(const Graph& graph, const Model& model, const Condition& condition);
  static void compareEdges(const Graph& graph, const Model& model);

  std::mt19937 random_;
  Graph graph_;
  Model model_;
  std::vector<std::pair<Graph, Model>> snapshots_;
};

void History::compare(const Graph& graph, const Model& model) {
  EXPECT_EQ(graph.objectCount(), model.objects.size());
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
    if (graph.isLive(ConditionId{i})) conditions.insert(graph.condition(ConditionId{i}));
  }
  EXPECT_EQ(conditions, model.conditions());
  EXPECT_EQ(graph.conditionCount(), conditions.size());
  for (const Condition& condition : conditions) compareCondition(graph, model, condition);
  for (const std::string& uid : kUids) {
    const std::set<ObjectKey> expected = model.withUid(uid);
    const std::optional<ObjectId> found = graph.findByUid(uid);
    ASSERT_EQ(found.has_value(), !expected.empty());
    if (found.has_value()) {
      EXPECT_EQ(graph.key(*found), *expected.begin());
    }
  }
  compareEdges(graph, model);
}

void History::compareObject(const Graph& graph, const Model& model, const ObjectKey& key,
                            const ObjectMeta& meta) {
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

void History::compareCondition(const Graph& graph, const Model& model, const Condition& condition) {
  SCOPED_TRACE(nameOf(condition));
  const std::optional<ConditionId> id = graph.findCondition(condition);
  ASSERT_TRUE(id.has_value());
  const std::set<ObjectKey> expected = model.holders(condition);
  EXPECT_EQ(graph.holders(*id), expected.size());
  Knowledge knowledge = Knowledge::Synced;
  if (condition.kind != Condition::Kind::NamespaceContent) {
    const auto known = model.knowledge.find(condition.type);
    knowledge = known == model.knowledge.end() ? Knowledge::Unknown : known->second;
  }
  EXPECT_EQ(graph.knowledge(*id), knowledge);
  std::vector<ObjectId> some(3);
  some.resize(graph.someHolders(*id, some));
  EXPECT_EQ(some.size(), std::min<size_t>(3, expected.size()));
  for (const ObjectId holder : some) EXPECT_TRUE(expected.contains(graph.key(holder)));
  std::set<Model::Requirement> required;
  for (const RequirementView& view : graph.requirementsOn(*id)) {
    required.emplace(graph.key(view.subject), graph.condition(view.condition),
                     Origin{graph.key(view.origin), std::string(view.field)});
  }
  EXPECT_EQ(required, [&] {
    std::set<Model::Requirement> result = model.requirements;
    std::erase_if(result,
                  [&](const Model::Requirement& one) { return std::get<Condition>(one) != condition; });
    return result;
  }());
}

void History::compareEdges(const Graph& graph, const Model& model) {
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

class ModelTest : public testing::TestWithParam<uint32_t> {};

constexpr uint32_t kHistories = 100;  // for each of the parameters, which ctest runs side by side

TEST_P(ModelTest, GraphAndModelAgreeOnEveryHistory) {
  for (uint32_t i = 0; i < kHistories; ++i) {
    const uint32_t seed = GetParam() * kHistories + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    History history(seed);
    const int steps = static_cast<int>(20 + seed % 60);
    for (int step = 1; step <= steps; ++step) {
      history.step();
      if (step % 20 == 0) history.check();
    }
    history.check();
    history.end();
    history.checkSnapshots();
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModelTest, testing::Range<uint32_t>(0, 30));

}  // namespace
}  // namespace lastout::graph::test

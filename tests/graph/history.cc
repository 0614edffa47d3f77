#include "tests/graph/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/condition.h"
#include "kube/well_known.h"

namespace lastout::graph::test {
namespace {

using kube::GroupResource;
using kube::ObjectKey;
using kube::ObjectMeta;

// Few names, so that they collide, leave and come back.
const std::vector<GroupResource> kTypes = {{"", "namespaces"},
                                           {"apiextensions.k8s.io", "customresourcedefinitions"},
                                           {"my.crd.group", "coolresources"},
                                           {"my.crd.group", "hotresources"},
                                           {"other.crd.group", "coolresources"},
                                           {"apps", "deployments"}};
const std::vector<GroupResource> kPatterns = {{"my.crd.group", "*"}, {"*.crd.group", "*"}, {"*.group", "*"}};
const std::vector<std::string> kNamespaceNames = {"", "a", "b", "managed-cluster"};
const std::vector<std::string> kNames = {"a", "b", "x", "coolresources.my.crd.group", std::string(150, 'y')};
const std::vector<std::string> kUids = {"", "01234567-89ab-cdef-0123-456789abcdef",
                                        "01234567-89ab-cdef-0123-456789abcdee",
                                        "01234567-89AB-cdef-0123-456789abcdef", "some-other-uid"};
const std::vector<std::string> kFinalizers = {
    std::string(kube::kForegroundFinalizer),    "my.crd.group/super-important", "f", "", "my.crd.group/other",
    std::string(kube::kAppliedObjectsFinalizer)};
const std::vector<std::string> kFinalizerPatterns = {"my.crd.group/*", "f*", "my.crd.group/super*"};
const std::vector<std::string> kVersions = {
    "", "1", "007", "18446744073709551616", "not-a-number", "72057594037927935", "72057594037927936"};
const std::vector<std::string> kSelectors = {"tenant in (a)", "!tenant",
                                             "kubernetes.io/metadata.name notin (b)"};

}  // namespace

const std::vector<std::string>& History::uids() { return kUids; }
const std::vector<kube::GroupResource>& History::types() { return kTypes; }

History::History(uint32_t seed) : random_(seed) {
  for (const GroupResource& type : kTypes) graph_.internType(type);
}

void History::step() {
  switch (pick(12)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return upsert();
    case 4:
    case 5:
      return removeOne(randomKey());
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

void History::end() {
  while (!model_.objects.empty()) removeOne(ObjectKey(model_.objects.begin()->first));
  while (!model_.requirements.empty()) {
    withdrawOne(ObjectKey(std::get<Origin>(*model_.requirements.begin()).object));
  }
  for (auto& [condition, count] : model_.holds) {
    for (; count > 0; --count) graph_.releaseCondition(*graph_.findCondition(condition));
  }
  for (const GroupResource& type : kTypes) graph_.forgetType(*graph_.findType(type));
  for (const GroupResource& type : kPatterns) {
    if (const auto known = graph_.findType(type)) graph_.forgetType(*known);
  }
  const Tables& tables = graph_.tables();
  EXPECT_THAT(
      (std::vector<uint32_t>{
          tables.strings.count(), tables.nodes.live(), tables.extras.live(), tables.classes.live(),
          tables.carriers.live(), tables.memberships.live(), tables.types.live(), tables.namespaces.live(),
          tables.owners.live(), tables.ownerKinds.live(), tables.otherNames.live(), tables.references.live(),
          tables.conditions.live(), tables.requirements.live(), tables.namedNamespaces.live()}),
      testing::Each(0));
}

ObjectKey History::randomKey() { return {pick(kTypes), pick(kNamespaceNames), pick(kNames)}; }

ObjectMeta History::randomMeta(const ObjectKey& key) {
  ObjectMeta meta;
  meta.namespaceName = key.namespaceName;
  meta.name = key.name;
  meta.uid = pick(kUids);
  meta.resourceVersion = pick(kVersions);
  if (pick(2) == 0) meta.labels = {{"tenant", pick(2) == 0 ? "a" : "b"}, {"x", "y"}};
  if (pick(3) == 0) meta.deletionTimestamp = static_cast<int64_t>(pick(1000)) - 500;
  while (pick(2) == 0) meta.finalizers.push_back(pick(kFinalizers));
  for (const auto& [text, target] : namedTargets())
    if (pick(4) == 0) meta.references.push_back(text);
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

kube::NamespaceScope History::randomScope() {
  using Kind = kube::NamespaceScope::Kind;
  if (pick(4) == 0) return kube::NamespaceScope::selectedBy(pick(kSelectors));
  kube::NamespaceScope scope;
  for (uint32_t count = pick(3); count > 0; --count) {
    if (const auto& name = pick(kNamespaceNames); !name.empty()) scope.names.emplace(name);
  }
  if (!scope.names.empty()) scope.kind = pick(2) == 0 ? Kind::Within : Kind::Outside;
  return scope;
}

Condition History::randomCondition() {
  Condition condition;
  condition.kind = static_cast<Condition::Kind>(pick(4));
  if (condition.kind != Condition::Kind::NamespaceContent) condition.type = pick(kTypes);
  if (condition.kind == Condition::Kind::Finalizer) {
    condition.finalizer = pick(3) == 0 ? pick(kFinalizerPatterns) : pick(kFinalizers);
    if (pick(3) == 0) condition.type = pick(kPatterns);
    condition.scope = randomScope();
    if (pick(4) == 0) {
      condition.type = pick(kTypes);
      condition.finalizer = std::next(wantedTargets().begin(), pick(wantedTargets().size()))->first;
    }
  }
  if (condition.kind == Condition::Kind::NamespaceContent) condition.name = pick(kNamespaceNames);
  if (condition.kind == Condition::Kind::Object) {
    condition.namespaceName = pick(kNamespaceNames);
    condition.name = pick(kNames);
    condition.uid = pick(kUids);
  }
  return condition;
}

void History::upsert() {
  const ObjectKey key = randomKey();
  const ObjectMeta meta = randomMeta(key);
  const uint64_t before = graph_.revision();
  graph_.upsert(graph_.internType(key.type), meta);
  EXPECT_GT(graph_.revision(), before);
  model_.upsert(key.type, meta);
}

void History::removeOne(const ObjectKey& key) {
  const uint64_t before = graph_.revision();
  graph_.remove(key);
  if (model_.objects.erase(key) > 0) {
    EXPECT_GT(graph_.revision(), before);
  }
}

void History::applyBatch() {
  std::vector<ObjectMeta> metas;
  std::vector<Change> changes;
  const size_t count = pick(40);
  metas.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const ObjectKey key = randomKey();
    const bool removes = pick(3) == 0;
    metas.push_back(randomMeta(key));
    changes.push_back(
        {removes ? Change::Kind::Remove : Change::Kind::Upsert, graph_.internType(key.type), &metas.back()});
    if (removes) {
      model_.objects.erase(key);
    } else {
      model_.upsert(key.type, metas.back());
    }
  }
  graph_.apply(changes);
}

void History::require() {
  const ObjectKey subject = randomKey();
  const Condition condition = randomCondition();
  const Origin origin{randomKey(), pick(2) == 0 ? "spec.criteria[0]" : ""};
  graph_.require(subject, condition, origin);
  model_.requirements.emplace(subject, condition, origin);
}

void History::withdraw() {
  if (!model_.requirements.empty() && pick(2) == 0) {
    return withdrawOne(ObjectKey(std::get<Origin>(*model_.requirements.begin()).object));
  }
  withdrawOne(randomKey());
}

void History::withdrawOne(const ObjectKey& origin) {
  graph_.withdraw(origin);
  model_.withdraw(origin);
}

void History::hold() {
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

void History::learn() {
  const GroupResource& type = pick(3) == 0 ? pick(kPatterns) : pick(kTypes);
  const auto knowledge = static_cast<Knowledge>(pick(6));
  graph_.setKnowledge(graph_.internType(type), knowledge);
  model_.knowledge[type] = knowledge;
}

void History::takeSnapshot() {
  if (snapshots_.size() < 3) {
    snapshots_.emplace_back(graph_.snapshot(), model_);
  } else {
    snapshots_[pick(3)] = {graph_.snapshot(), model_};
  }
}

}  // namespace lastout::graph::test

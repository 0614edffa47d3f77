#include "graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/graph/cluster.h"

namespace lastout::graph::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kUid = "0b7a61a5-6a34-4c0e-9a1f-2f5be9d1d000";
constexpr std::string_view kOtherUid = "0b7a61a5-6a34-4c0e-9a1f-2f5be9d1d001";

TEST(Graph, CriterionMayNameAFinalizerBeforeAnybodyCarriesIt) {
  Cluster cluster;
  const ConditionId carriers =
      cluster.after("deployments.apps/a/provider", finalizerCondition("cools.my.group", "f"));
  EXPECT_EQ(cluster.graph.holders(carriers), 0u);
  cluster.put("cools.my.group/a/one", {.finalizers = {"f", "g"}});
  cluster.put("cools.my.group/b/two", {.finalizers = {"f"}});
  cluster.put("cools.my.group/b/three", {.finalizers = {"g"}});
  cluster.put("others.my.group/b/four", {.finalizers = {"f"}});
  EXPECT_EQ(cluster.graph.holders(carriers), 2u);
}

TEST(Graph, RemovingTheFinalizerOrTheObjectMeetsTheCriterion) {
  Cluster cluster = story();
  const ConditionId carriers =
      *cluster.graph.findCondition(finalizerCondition("coolresources.my.crd.group", kFinalizer));
  cluster.put("coolresources.my.crd.group/another", {.finalizers = {std::string(kFinalizer)}});
  EXPECT_EQ(cluster.graph.holders(carriers), 2u);
  cluster.put(kInstance);
  EXPECT_EQ(cluster.graph.holders(carriers), 1u);
  cluster.remove("coolresources.my.crd.group/another");
  EXPECT_EQ(cluster.graph.holders(carriers), 0u);
}

TEST(Graph, KnowsWhichFinalizersObjectsOfATypeCarryAndThatOneWasCarried) {
  Cluster cluster;
  cluster.after("deployments.apps/a/provider", finalizerCondition("cools.my.group", "f"));
  cluster.put("others.my.group/b/four", {.finalizers = {"h"}});
  const TypeId cools = *cluster.graph.findType({"my.group", "cools"});
  EXPECT_THAT(cluster.graph.finalizersOf(cools, 10), IsEmpty());
  EXPECT_FALSE(cluster.graph.wasHeld(cools, "f"));
  cluster.put("cools.my.group/a/one", {.finalizers = {"f", "g"}});
  cluster.put("cools.my.group/a/two", {.finalizers = {"g"}});
  EXPECT_THAT(cluster.graph.finalizersOf(cools, 10), testing::UnorderedElementsAre("f", "g"));
  EXPECT_EQ(cluster.graph.finalizersOf(cools, 1).size(), 1u);
  cluster.put("cools.my.group/a/one", {.finalizers = {"g"}});
  EXPECT_THAT(cluster.graph.finalizersOf(cools, 10), ElementsAre("g"));
  EXPECT_TRUE(cluster.graph.wasHeld(cools, "f")) << "a condition is still about it";
  EXPECT_FALSE(cluster.graph.wasHeld(cools, "h"));
}

Condition outside(std::string_view space, Condition condition) {
  condition.scope = kube::NamespaceScope::outside(std::string(space));
  return condition;
}

Condition within(std::set<std::string> spaces, Condition condition) {
  condition.scope = kube::NamespaceScope::within(std::move(spaces));
  return condition;
}

TEST(Graph, OnlyWhatIsInTheNamespacesThatAreNamedHolds) {
  Cluster cluster;
  cluster.put("cools.my.group/b/early", {.finalizers = {"f"}});
  cluster.put("cools.my.group/c/early", {.finalizers = {"f"}});
  const Condition whole = finalizerCondition("cools.my.group", "f");
  const ConditionId some =
      cluster.after("deployments.apps/a/provider", within({"a", "b"}, whole), "tests/one");
  const ConditionId others = cluster.after("deployments.apps/a/provider", within({"b"}, whole));
  const ConditionId rest = cluster.after("deployments.apps/a/provider", outside("b", whole));
  const auto holders = [&] {
    return std::array{cluster.graph.holders(some), cluster.graph.holders(others),
                      cluster.graph.holders(rest)};
  };
  EXPECT_EQ(holders(), (std::array{1u, 1u, 1u})) << "what was there before it was asked for";
  EXPECT_EQ(cluster.graph.findCondition(within({"a", "b"}, whole)), some);
  EXPECT_EQ(cluster.graph.findCondition(within({"a"}, whole)), std::nullopt);
  cluster.put("cools.my.group/a/late", {.finalizers = {"f", "g"}});
  cluster.put("cools.my.group/c/late", {.finalizers = {"f", "g"}});
  EXPECT_EQ(holders(), (std::array{2u, 1u, 3u}));
  std::array<ObjectId, 5> few{};
  ASSERT_EQ(cluster.graph.someHolders(others, few), 1u);
  EXPECT_EQ(cluster.graph.key(few[0]), key("cools.my.group/b/early"));
  EXPECT_EQ(cluster.graph.someHolders(some, few), 2u);
  cluster.remove("cools.my.group/b/early");
  EXPECT_EQ(holders(), (std::array{1u, 0u, 3u}));
  EXPECT_EQ(toString(cluster.graph.condition(some)), "finalizer f on cools.my.group in namespaces a and b");
  cluster.graph.withdraw(key("tests/one"));
  EXPECT_EQ(cluster.graph.findCondition(within({"a", "b"}, whole)), std::nullopt);
}

TEST(Graph, ANamespaceThatIsNamedHoldsItselfAndWhatIsInNoneAlways) {
  Cluster cluster;
  cluster.put("namespaces/a", {.finalizers = {"f"}});
  cluster.put("namespaces/b", {.finalizers = {"f"}});
  cluster.put("nodes/x", {.finalizers = {"f"}});
  const auto after = [&](const std::string& type) {
    return cluster.after("deployments.apps/a/provider", within({"a"}, finalizerCondition(type, "f")));
  };
  EXPECT_EQ(cluster.graph.holders(after("namespaces")), 1u);
  const ConditionId nodes = after("nodes");
  EXPECT_EQ(cluster.graph.holders(nodes), 1u) << "a node is in no namespace";
  cluster.put("nodes/a", {.finalizers = {"f"}});
  EXPECT_EQ(cluster.graph.holders(nodes), 2u);
  EXPECT_EQ(toString(cluster.graph.condition(nodes)), "finalizer f on nodes in namespace a");
}

TEST(Graph, WhatIsInANamespaceThatIsLeftOutHoldsNothing) {
  Cluster cluster;
  cluster.put("cools.my.group/a/early", {.finalizers = {"f"}});
  const Condition whole = finalizerCondition("cools.my.group", "f");
  const ConditionId all = cluster.after("deployments.apps/a/provider", whole);
  const ConditionId others = cluster.after("deployments.apps/a/provider", outside("a", whole));
  EXPECT_NE(all, others);
  EXPECT_EQ(cluster.graph.holders(all), 1u);
  EXPECT_EQ(cluster.graph.holders(others), 0u) << "what was there before it was asked for";
  cluster.put("cools.my.group/a/late", {.finalizers = {"f", "g"}});
  EXPECT_EQ(cluster.graph.holders(others), 0u);
  cluster.put("cools.my.group/b/one", {.finalizers = {"f"}});
  EXPECT_EQ(cluster.graph.holders(all), 3u);
  EXPECT_EQ(cluster.graph.holders(others), 1u);
  std::array<ObjectId, 3> some{};
  ASSERT_EQ(cluster.graph.someHolders(others, some), 1u);
  EXPECT_EQ(cluster.graph.key(some[0]), key("cools.my.group/b/one"));
  cluster.remove("cools.my.group/b/one");
  EXPECT_EQ(cluster.graph.holders(others), 0u);
  EXPECT_EQ(toString(cluster.graph.condition(others)), "finalizer f on cools.my.group outside namespace a");
}

TEST(Graph, ANamespaceIsLeftOutItselfAndNothingOfThatNameElsewhere) {
  Cluster cluster;
  cluster.put("namespaces/a", {.finalizers = {"f"}});
  const ConditionId early =
      cluster.after("deployments.apps/a/provider", outside("a", finalizerCondition("namespaces", "f")));
  const ConditionId late =
      cluster.after("deployments.apps/b/provider", outside("b", finalizerCondition("namespaces", "f")));
  const ConditionId nodes =
      cluster.after("deployments.apps/a/provider", outside("a", finalizerCondition("nodes", "f")));
  EXPECT_EQ(cluster.graph.holders(early), 0u);
  EXPECT_EQ(cluster.graph.holders(late), 1u);
  cluster.put("namespaces/b", {.finalizers = {"f"}});
  cluster.put("nodes/a", {.finalizers = {"f"}});
  EXPECT_EQ(cluster.graph.holders(early), 1u);
  EXPECT_EQ(cluster.graph.holders(late), 1u);
  EXPECT_EQ(cluster.graph.holders(nodes), 1u) << "a node is in no namespace";
}

TEST(Graph, EachOfSeveralNamespacesThatAreLeftOutCountsItsOwn) {
  Cluster cluster;
  const Condition whole = finalizerCondition("cools.my.group", "f");
  const auto excepting = [&](const std::string& space) {
    return cluster.after("deployments.apps/" + space + "/provider", outside(space, whole), "tests/" + space);
  };
  const ConditionId a = excepting("a");
  excepting("b");
  const ConditionId c = excepting("c");
  const auto holders = [&] { return std::pair(cluster.graph.holders(a), cluster.graph.holders(c)); };
  cluster.put("cools.my.group/a/one", {.finalizers = {"f"}});
  cluster.put("cools.my.group/b/one", {.finalizers = {"f"}});
  cluster.put("cools.my.group/d/one", {.finalizers = {"f"}});
  EXPECT_EQ(holders(), std::pair(2u, 3u));
  cluster.graph.withdraw(key("tests/b"));
  EXPECT_EQ(cluster.graph.findCondition(outside("b", whole)), std::nullopt);
  EXPECT_EQ(cluster.graph.findCondition(outside("a", whole)), a);
  cluster.put("cools.my.group/c/one", {.finalizers = {"f"}});
  cluster.remove("cools.my.group/a/one");
  EXPECT_EQ(holders(), std::pair(3u, 2u));
}

TEST(Graph, FinalizerThatIsListedTwiceCountsOnce) {
  Cluster cluster;
  const ConditionId carriers = cluster.after("deployments.apps/a/provider", finalizerCondition("pods", "f"));
  cluster.put("pods/a/x", {.finalizers = {"f", "e", "f"}});
  EXPECT_EQ(cluster.graph.holders(carriers), 1u);
  EXPECT_THAT(cluster.graph.finalizers(*cluster.graph.find(key("pods/a/x"))), ElementsAre("e", "f"));
}

TEST(Graph, ConditionOnAUidIsHeldByThatObjectOnlyAndNotByItsSuccessor) {
  Cluster cluster;
  const ConditionId any = cluster.after("criticalservices.lastout.dev/s", objectCondition("pods/a/x"));
  const ConditionId first =
      cluster.after("criticalservices.lastout.dev/s", objectCondition("pods/a/x", kUid));
  cluster.put("pods/a/x", {.uid = std::string(kUid)});
  EXPECT_EQ(cluster.graph.holders(any), 1u);
  EXPECT_EQ(cluster.graph.holders(first), 1u);
  cluster.put("pods/a/x", {.uid = std::string(kOtherUid)});
  EXPECT_EQ(cluster.graph.holders(any), 1u);
  EXPECT_EQ(cluster.graph.holders(first), 0u);
}

TEST(Graph, EverythingInANamespaceHoldsItsContentWhetherOrNotTheNamespaceIsSeen) {
  Cluster cluster;
  const ConditionId content = cluster.after("namespaces/a", contentCondition("a"));
  cluster.put("pods/a/x");
  cluster.put("secrets/a/x");
  cluster.put("pods/b/x");
  cluster.put("nodes/a");
  EXPECT_EQ(cluster.graph.holders(content), 2u);
  EXPECT_EQ(cluster.graph.knowledge(content), Knowledge::Synced);
}

TEST(Graph, ConditionKnowsHowWellItsTypeIsKnown) {
  Cluster cluster;
  const TypeId pods = cluster.graph.internType(type("pods"));
  const ConditionId condition = cluster.graph.addCondition(instancesCondition("pods"));
  EXPECT_EQ(cluster.graph.knowledge(condition), Knowledge::Unknown);
  cluster.graph.setKnowledge(pods, Knowledge::Stale);
  EXPECT_EQ(cluster.graph.knowledge(condition), Knowledge::Stale);
  EXPECT_EQ(cluster.graph.knowledge(pods), Knowledge::Stale);
}

TEST(Graph, RequirementsOfAbsentObjectsWaitForThem) {
  Cluster cluster;
  cluster.after("deployments.apps/a/provider", instancesCondition("pods"), "criticalservices.lastout.dev/s");
  EXPECT_FALSE(cluster.graph.find(key("deployments.apps/a/provider")).has_value());
  const ObjectId named = *cluster.graph.findNamed(key("deployments.apps/a/provider"));
  EXPECT_FALSE(cluster.graph.object(named).present);
  cluster.put("deployments.apps/a/provider");
  EXPECT_EQ(cluster.graph.find(key("deployments.apps/a/provider")), named);
  ASSERT_EQ(cluster.graph.requirementsOf(named).size(), 1u);
  const RequirementView requirement = cluster.graph.requirementsOf(named)[0];
  EXPECT_EQ(requirement.field, "spec");
  EXPECT_EQ(cluster.graph.key(requirement.origin), key("criticalservices.lastout.dev/s"));
  cluster.graph.withdraw(key("criticalservices.lastout.dev/s"));
  EXPECT_THAT(cluster.graph.requirementsOf(named), IsEmpty());
  cluster.remove("deployments.apps/a/provider");
  EXPECT_FALSE(cluster.graph.findNamed(key("deployments.apps/a/provider")).has_value());
}

TEST(Graph, WithdrawingLeavesWhatOthersAskedFor) {
  Cluster cluster;
  const ConditionId condition = cluster.after("pods/a/x", instancesCondition("jobs.batch"), "services/a/one");
  EXPECT_EQ(cluster.after("pods/a/x", instancesCondition("jobs.batch"), "services/a/two"), condition);
  cluster.graph.withdraw(key("services/a/one"));
  ASSERT_EQ(cluster.graph.requirementsOn(condition).size(), 1u);
  EXPECT_EQ(cluster.graph.key(cluster.graph.requirementsOn(condition)[0].origin), key("services/a/two"));
}

TEST(Graph, SameRequirementTwiceIsOne) {
  Cluster cluster;
  const ConditionId condition = cluster.after("pods/a/x", instancesCondition("jobs.batch"));
  cluster.after("pods/a/x", instancesCondition("jobs.batch"));
  EXPECT_EQ(cluster.graph.requirementsOn(condition).size(), 1u);
}

TEST(Graph, ConditionStaysForAsLongAsItIsHeld) {
  Cluster cluster;
  const Condition condition = objectCondition("pods/a/x");
  const ConditionId id = cluster.graph.addCondition(condition);
  EXPECT_EQ(cluster.graph.addCondition(condition), id);
  cluster.graph.releaseCondition(id);
  EXPECT_EQ(cluster.graph.findCondition(condition), id);
  cluster.graph.releaseCondition(id);
  EXPECT_EQ(cluster.graph.findCondition(condition), std::nullopt);
  EXPECT_EQ(cluster.graph.conditionCount(), 0u);
}

TEST(Graph, OwnerMayArriveAfterItsDependents) {
  Cluster cluster;
  cluster.put("pods/a/x", {.ownerUids = {std::string(kUid)}});
  const ObjectId pod = *cluster.graph.find(key("pods/a/x"));
  ASSERT_EQ(cluster.graph.owners(pod).size(), 1u);
  EXPECT_EQ(cluster.graph.owners(pod)[0].object, std::nullopt);
  cluster.put("replicasets.apps/a/r", {.uid = std::string(kUid)});
  const ObjectId owner = *cluster.graph.find(key("replicasets.apps/a/r"));
  EXPECT_EQ(cluster.graph.owners(pod)[0].object, owner);
  EXPECT_THAT(cluster.graph.dependents(owner), ElementsAre(pod));
}

TEST(Graph, ObjectOfTheSameNameWithAnotherUidIsAnotherOwner) {
  Cluster cluster;
  cluster.put("replicasets.apps/a/r", {.uid = std::string(kUid)});
  cluster.put("pods/a/x", {.ownerUids = {std::string(kUid)}});
  cluster.put("replicasets.apps/a/r", {.uid = std::string(kOtherUid)});
  EXPECT_EQ(cluster.graph.owners(*cluster.graph.find(key("pods/a/x")))[0].object, std::nullopt);
  EXPECT_THAT(cluster.graph.dependents(*cluster.graph.find(key("replicasets.apps/a/r"))), IsEmpty());
  EXPECT_EQ(cluster.graph.findByUid(kUid), std::nullopt);
}

TEST(Graph, ReferencesWithoutAUidResolveToNothing) {
  Cluster cluster;
  cluster.put("replicasets.apps/a/r");
  cluster.put("pods/a/x", {.ownerUids = {""}});
  EXPECT_EQ(cluster.graph.owners(*cluster.graph.find(key("pods/a/x")))[0].object, std::nullopt);
  EXPECT_THAT(cluster.graph.dependents(*cluster.graph.find(key("replicasets.apps/a/r"))), IsEmpty());
}

TEST(Graph, SnapshotStaysAsItWas) {
  Cluster cluster = story();
  const ConditionId carriers =
      *cluster.graph.findCondition(finalizerCondition("coolresources.my.crd.group", kFinalizer));
  const Graph snapshot = cluster.graph.snapshot();
  cluster.remove(kInstance);
  cluster.graph.withdraw(key(kService));
  EXPECT_EQ(snapshot.holders(carriers), 1u);
  EXPECT_TRUE(snapshot.find(key(kInstance)).has_value());
  EXPECT_EQ(snapshot.requirementsOn(carriers).size(), 1u);
  EXPECT_LT(snapshot.revision(), cluster.graph.revision());
  EXPECT_FALSE(cluster.graph.find(key(kInstance)).has_value());
}

TEST(Graph, CopyOfASnapshotMayGoAnotherWay) {
  const Cluster cluster = story();
  const Graph snapshot = cluster.graph.snapshot();
  Graph other = snapshot;
  other.remove(key(kInstance));
  EXPECT_TRUE(snapshot.find(key(kInstance)).has_value());
  EXPECT_FALSE(other.find(key(kInstance)).has_value());
}

TEST(Graph, SomeHoldersAreFoundWithoutLookingAtTheRest) {
  Cluster cluster;
  const ConditionId condition = cluster.after("services/a/s", instancesCondition("pods"));
  for (int i = 0; i < 100; ++i) {
    cluster.put("pods/n" + std::to_string(i % 7) + "/p" + std::to_string(i),
                {.finalizers = {"f" + std::to_string(i % 3)}});
  }
  std::array<ObjectId, 10> some{};
  EXPECT_EQ(cluster.graph.someHolders(condition, some), 10u);
  EXPECT_EQ(std::set<ObjectId>(some.begin(), some.end()).size(), 10u);
  for (const ObjectId holder : some) EXPECT_EQ(cluster.graph.object(holder).resource, "pods");
}

TEST(Graph, ForgottenTypeGoesWithItsLastObject) {
  Graph graph;
  const TypeId pods = graph.internType(type("pods"));
  graph.upsert(pods, meta("pods/a/x"));
  graph.forgetType(pods);
  EXPECT_TRUE(graph.findType(type("pods")).has_value());
  graph.remove(key("pods/a/x"));
  EXPECT_FALSE(graph.findType(type("pods")).has_value());
}

TEST(Graph, NumbersAndMemoryAreUsedAgain) {
  Cluster cluster;
  for (int i = 0; i < 10000; ++i) {
    const std::string name = "pods/namespace-" + std::to_string(i) + "/pod-" + std::to_string(i);
    cluster.put(name, {.uid = "uid-" + std::to_string(i),
                       .finalizers = {"finalizer-" + std::to_string(i)},
                       .ownerUids = {"owner-" + std::to_string(i)}});
    cluster.after("pods/a/b", objectCondition("jobs.batch/a/" + std::to_string(i)), name);
    cluster.graph.withdraw(key(name));
    cluster.remove(name);
  }
  const Tables& tables = cluster.graph.tables();
  for (const uint32_t slots : {tables.nodes.slots(), tables.classes.slots(), tables.carriers.slots(),
                               tables.namespaces.slots(), tables.owners.slots(), tables.references.slots(),
                               tables.conditions.slots(), tables.requirements.slots()}) {
    EXPECT_LE(slots, 10u);
  }
}

}  // namespace
}  // namespace lastout::graph::test

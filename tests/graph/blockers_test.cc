#include "graph/blockers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/names.h"
#include "kube/well_known.h"
#include "tests/graph/cluster.h"

namespace lastout::graph::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::string> paths(const Graph& graph, const Blockers& found) {
  std::vector<std::string> result;
  for (const RootBlocker& root : found.roots) result.push_back(told(graph, root.path));
  return result;
}

TEST(Blockers, WhatGoesAlongDoesNotHideTheRoot) {
  Cluster cluster = story();
  for (int i = 0; i < 20; ++i) cluster.put("secrets/finalizer-namespace/s" + std::to_string(i));
  const Blockers found =
      blockers(cluster.graph, cluster.vertex("namespaces/finalizer-namespace"), {.vertices = 10});
  ASSERT_EQ(found.roots.size(), 1u);
  EXPECT_EQ(describe(cluster.graph, found.roots[0].vertex), kInstance);
  EXPECT_TRUE(found.complete);
}

std::vector<std::string> rootsOf(const Cluster& cluster, const char* object) {
  std::vector<std::string> roots;
  for (const RootBlocker& root : blockers(cluster.graph, cluster.vertex(object)).roots)
    roots.push_back(describe(cluster.graph, root.vertex));
  return roots;
}

TEST(Blockers, ProviderIsBlockedByItsCriteriaAndTheInstanceIsTheRoot) {
  const Cluster cluster = story();
  const Blockers found = blockers(cluster.graph, cluster.vertex(kProvider));
  ASSERT_EQ(found.direct.size(), 2u);
  for (const DirectBlocker& blocker : found.direct) {
    EXPECT_EQ(blocker.kind, EdgeKind::Requires);
    EXPECT_EQ(blocker.count, 1u);
    const bool isCrd = cluster.graph.condition(*blocker.condition).kind == Condition::Kind::Object;
    EXPECT_THAT(names(cluster.graph, blocker.examples), ElementsAre(isCrd ? kCrd : kInstance));
  }
  EXPECT_THAT(paths(cluster.graph, found),
              ElementsAre("deployments.apps/finalizer-namespace/finalizer-deployment -> finalizer "
                          "my.crd.group/super-important on coolresources.my.crd.group -> "
                          "coolresources.my.crd.group/some-instance"));
  EXPECT_TRUE(found.complete);
}

TEST(Blockers, NothingBlocksWhatWaitsForNothing) {
  const Cluster cluster = story();
  const Blockers found = blockers(cluster.graph, cluster.vertex(kInstance));
  EXPECT_THAT(found.direct, IsEmpty());
  EXPECT_THAT(found.roots, IsEmpty());
}

TEST(Blockers, MetConditionsBlockNothing) {
  Cluster cluster = story();
  cluster.remove(kInstance);
  cluster.remove(kCrd);
  EXPECT_THAT(blockers(cluster.graph, cluster.vertex(kProvider)).direct, IsEmpty());
  const Blockers ofService = blockers(cluster.graph, cluster.vertex(kService));
  EXPECT_THAT(paths(cluster.graph, ofService),
              ElementsAre("criticalservices.lastout.dev/for-finalizer-deployment -> "
                          "existence of deployments.apps/finalizer-namespace/finalizer-deployment -> "
                          "deployments.apps/finalizer-namespace/finalizer-deployment"));
}

TEST(Blockers, NamespaceIsBlockedByItsContentDownToTheRoots) {
  Cluster cluster = story();
  cluster.put("secrets/finalizer-namespace/token");
  const Blockers found = blockers(cluster.graph, cluster.vertex("namespaces/finalizer-namespace"));
  ASSERT_EQ(found.direct.size(), 1u);
  EXPECT_EQ(found.direct[0].kind, EdgeKind::Content);
  EXPECT_EQ(found.direct[0].condition, std::nullopt);
  EXPECT_EQ(found.direct[0].count, 2u);
  EXPECT_THAT(rootsOf(cluster, "namespaces/finalizer-namespace"), ElementsAre(kInstance))
      << "the Secret goes along with its namespace";
  cluster.put("secrets/finalizer-namespace/token", {.finalizers = {"example.com/f"}});
  EXPECT_THAT(rootsOf(cluster, "namespaces/finalizer-namespace"),
              ElementsAre("secrets/finalizer-namespace/token", kInstance));
  cluster.put("secrets/finalizer-namespace/token");
  cluster.put("namespaces/finalizer-namespace", {.terminating = true});
  EXPECT_THAT(rootsOf(cluster, "namespaces/finalizer-namespace"),
              ElementsAre("secrets/finalizer-namespace/token", kInstance))
      << "it should have gone by now";
}

TEST(Blockers, OwnerInForegroundDeletionWaitsForItsBlockingDependents) {
  Cluster cluster;
  cluster.put("deployments.apps/a/d",
              {.uid = "u", .finalizers = {std::string(kube::kForegroundFinalizer)}, .terminating = true});
  cluster.put("replicasets.apps/a/r", {.ownerUids = {"u"}});
  const Blockers found = blockers(cluster.graph, cluster.vertex("deployments.apps/a/d"));
  ASSERT_EQ(found.direct.size(), 1u);
  EXPECT_EQ(found.direct[0].kind, EdgeKind::Dependent);
  cluster.put("deployments.apps/a/d", {.uid = "u", .finalizers = {std::string(kube::kForegroundFinalizer)}});
  EXPECT_THAT(blockers(cluster.graph, cluster.vertex("deployments.apps/a/d")).direct, IsEmpty());
}

TEST(Blockers, ConditionOfAnUnknownTypeIsARootItself) {
  Cluster cluster;
  const ConditionId condition = cluster.after("deployments.apps/a/d", instancesCondition("pods"));
  cluster.graph.setKnowledge(*cluster.graph.findType(type("pods")), Knowledge::Forbidden);
  EXPECT_FALSE(isMet(cluster.graph, condition));
  const Blockers found = blockers(cluster.graph, cluster.vertex("deployments.apps/a/d"));
  ASSERT_EQ(found.direct.size(), 1u);
  EXPECT_EQ(found.direct[0].count, 0u);
  ASSERT_EQ(found.roots.size(), 1u);
  EXPECT_EQ(found.roots[0].kind, RootBlocker::Kind::Unknown);
  EXPECT_EQ(found.roots[0].vertex, vertexOf(cluster.graph, condition));
}

TEST(Blockers, CycleIsItsOwnRoot) {
  Cluster cluster;
  cluster.put("deployments.apps/a/one");
  cluster.put("deployments.apps/a/two");
  cluster.put("deployments.apps/a/waiting");
  cluster.after("deployments.apps/a/one", objectCondition("deployments.apps/a/two"));
  cluster.after("deployments.apps/a/two", objectCondition("deployments.apps/a/one"));
  cluster.after("deployments.apps/a/waiting", objectCondition("deployments.apps/a/one"));
  const Blockers found = blockers(cluster.graph, cluster.vertex("deployments.apps/a/waiting"));
  ASSERT_EQ(found.roots.size(), 1u);
  EXPECT_EQ(found.roots[0].kind, RootBlocker::Kind::Cycle);
  EXPECT_EQ(found.roots[0].cycle.size(), 4u);
  EXPECT_EQ(found.roots[0].cycle.front().source, found.roots[0].vertex);
  EXPECT_EQ(found.roots[0].cycle.back().target, found.roots[0].vertex);
  const Blockers ofOne = blockers(cluster.graph, cluster.vertex("deployments.apps/a/one"));
  ASSERT_EQ(ofOne.roots.size(), 1u);
  EXPECT_THAT(ofOne.roots[0].path, IsEmpty());
  EXPECT_EQ(told(cluster.graph, ofOne.roots[0].cycle),
            "deployments.apps/a/one -> existence of deployments.apps/a/two -> deployments.apps/a/two -> "
            "existence of deployments.apps/a/one -> deployments.apps/a/one");
}

TEST(Blockers, ProviderThatHoldsItsOwnCriterionBlocksItself) {
  Cluster cluster;
  cluster.put("pods/a/p", {.finalizers = {"f"}});
  cluster.after("pods/a/p", finalizerCondition("pods", "f"));
  const Blockers found = blockers(cluster.graph, cluster.vertex("pods/a/p"));
  ASSERT_EQ(found.roots.size(), 1u);
  EXPECT_EQ(told(cluster.graph, found.roots[0].cycle), "pods/a/p -> finalizer f on pods -> pods/a/p");
}

TEST(Blockers, CycleThatAlsoWaitsForAnObjectHasBothAsRoots) {
  Cluster cluster;
  cluster.put("pods/a/one");
  cluster.put("pods/a/two");
  cluster.put("jobs.batch/a/end");
  cluster.after("pods/a/one", objectCondition("pods/a/two"));
  cluster.after("pods/a/two", objectCondition("pods/a/one"));
  cluster.after("pods/a/two", objectCondition("jobs.batch/a/end"));
  std::vector<RootBlocker::Kind> kinds;
  for (const RootBlocker& root : blockers(cluster.graph, cluster.vertex("pods/a/one")).roots)
    kinds.push_back(root.kind);
  EXPECT_THAT(kinds, UnorderedElementsAre(RootBlocker::Kind::Cycle, RootBlocker::Kind::Object));
}

TEST(Blockers, OutputIsBoundedAndTheRestIsCounted) {
  Cluster cluster;
  for (int i = 0; i < 50; ++i) cluster.put("pods/a/p" + std::to_string(i));
  for (int i = 0; i < 20; ++i) {
    cluster.put("jobs.batch/a/j" + std::to_string(i));
    cluster.after("deployments.apps/a/d", objectCondition("jobs.batch/a/j" + std::to_string(i)));
  }
  cluster.after("deployments.apps/a/d", instancesCondition("pods"));
  const Blockers found = blockers(cluster.graph, cluster.vertex("deployments.apps/a/d"),
                                  {.reasons = 5, .examples = 3, .roots = 4});
  EXPECT_EQ(found.direct.size(), 5u);
  EXPECT_EQ(found.directLeftOut, 16u);
  EXPECT_EQ(found.roots.size(), 4u);
  EXPECT_EQ(found.rootsLeftOut, 66u);
  for (const DirectBlocker& blocker : found.direct) EXPECT_LE(blocker.examples.size(), 3u);
  const Blockers cut = blockers(cluster.graph, cluster.vertex("deployments.apps/a/d"), {.vertices = 10});
  EXPECT_FALSE(cut.complete);
  EXPECT_LE(cut.roots.size() + cut.rootsLeftOut, 10u);
}

}  // namespace
}  // namespace lastout::graph::test

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/algorithms.h"
#include "kube/well_known.h"
#include "tests/graph/cluster.h"

namespace lastout::graph::test {
namespace {

using testing::IsEmpty;

TEST(Cycles, TheStoryHasNone) {
  EXPECT_THAT(cycles(story().graph).cycles, IsEmpty());
  EXPECT_THAT(cycles(Graph()).cycles, IsEmpty());
}

TEST(Cycles, TwoCriticalServicesThatWaitForEachOther) {
  Cluster cluster;
  cluster.put("deployments.apps/a/one");
  cluster.put("deployments.apps/b/two");
  cluster.after("deployments.apps/b/two", objectCondition("deployments.apps/a/one"));
  cluster.after("deployments.apps/a/one", objectCondition("deployments.apps/b/two"));
  const Cycles found = cycles(cluster.graph);
  ASSERT_EQ(found.cycles.size(), 1u);
  EXPECT_EQ(told(cluster.graph, found.cycles[0].edges),
            "deployments.apps/a/one -> existence of deployments.apps/b/two -> deployments.apps/b/two -> "
            "existence of deployments.apps/a/one -> deployments.apps/a/one");
  EXPECT_EQ(found.cycles[0].vertices, 4u);
}

// The document's non-goal: the provider and what is stuck in one namespace; with a provider that requires the
// namespace to be gone first it is a cycle.
TEST(Cycles, ProviderThatGoesAfterItsOwnNamespace) {
  Cluster cluster;
  cluster.put("namespaces/a");
  cluster.put("deployments.apps/a/one");
  cluster.after("deployments.apps/a/one", objectCondition("namespaces/a"));
  const Cycles found = cycles(cluster.graph);
  ASSERT_EQ(found.cycles.size(), 1u);
  EXPECT_EQ(told(cluster.graph, found.cycles[0].edges),
            "namespaces/a -> deployments.apps/a/one -> existence of namespaces/a -> namespaces/a");
}

TEST(Cycles, ObjectThatGoesAfterItself) {
  Cluster cluster;
  cluster.put("pods/a/x", {.uid = "u",
                           .finalizers = {std::string(kube::kForegroundFinalizer)},
                           .ownerUids = {"u"},
                           .terminating = true});
  const Cycles found = cycles(cluster.graph);
  ASSERT_EQ(found.cycles.size(), 1u);
  EXPECT_EQ(told(cluster.graph, found.cycles[0].edges), "pods/a/x -> pods/a/x");
  EXPECT_EQ(found.cycles[0].vertices, 1u);
}

TEST(Cycles, MetConditionsCloseNoCycle) {
  Cluster cluster;
  cluster.put("pods/a/x", {.uid = "new"});
  cluster.after("pods/a/x", objectCondition("pods/a/x", "old"));
  EXPECT_THAT(cycles(cluster.graph).cycles, IsEmpty());
}

TEST(Cycles, ShortestWayRoundStandsForAllThatHangTogether) {
  Cluster cluster;
  for (const auto* name : {"pods/a/a", "pods/a/b", "pods/a/c"}) cluster.put(name);
  cluster.after("pods/a/a", objectCondition("pods/a/b"));
  cluster.after("pods/a/b", objectCondition("pods/a/c"));
  cluster.after("pods/a/c", objectCondition("pods/a/a"));
  cluster.after("pods/a/b", objectCondition("pods/a/a"));
  const Cycles found = cycles(cluster.graph);
  ASSERT_EQ(found.cycles.size(), 1u);
  EXPECT_EQ(told(cluster.graph, found.cycles[0].edges),
            "pods/a/a -> existence of pods/a/b -> pods/a/b -> existence of pods/a/a -> pods/a/a");
  EXPECT_EQ(found.cycles[0].vertices, 6u);
}

TEST(Cycles, BeyondTheLimitTheyAreCounted) {
  Cluster cluster;
  for (int i = 0; i < 5; ++i) {
    const std::string name = "pods/a/p" + std::to_string(i);
    cluster.put(name);
    cluster.after(name, objectCondition(name));
  }
  const Cycles found = cycles(cluster.graph, 2);
  EXPECT_EQ(found.cycles.size(), 2u);
  EXPECT_EQ(found.leftOut, 3u);
}

}  // namespace
}  // namespace lastout::graph::test

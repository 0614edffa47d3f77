#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/algorithms.h"
#include "tests/graph/cluster.h"

namespace lastout::graph::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Reachability, TheProviderGoesAfterInstanceAndCrd) {
  const Cluster cluster = story();
  const Reached reached = goesAfter(cluster.graph, cluster.vertex(kProvider));
  EXPECT_THAT(names(cluster.graph, reached.objects), ElementsAre(kInstance, kCrd));
  EXPECT_TRUE(reached.complete);
  EXPECT_THAT(goesAfter(cluster.graph, cluster.vertex(kInstance)).objects, IsEmpty());
}

TEST(Reachability, EverybodyWaitsForTheInstance) {
  const Cluster cluster = story();
  EXPECT_THAT(names(cluster.graph, waitsFor(cluster.graph, cluster.vertex(kInstance)).objects),
              ElementsAre(kService, kCrd, kProvider, "namespaces/finalizer-namespace"));
  EXPECT_THAT(waitsFor(cluster.graph, cluster.vertex(kService)).objects, IsEmpty());
}

TEST(Reachability, StartIsReachedOnlyOnACycle) {
  Cluster cluster;
  cluster.put("pods/a/x");
  cluster.after("pods/a/x", objectCondition("pods/a/x"));
  EXPECT_THAT(names(cluster.graph, goesAfter(cluster.graph, cluster.vertex("pods/a/x")).objects),
              ElementsAre("pods/a/x"));
  EXPECT_THAT(names(cluster.graph, waitsFor(cluster.graph, cluster.vertex("pods/a/x")).objects),
              ElementsAre("pods/a/x"));
}

TEST(Reachability, LimitIsKeptAndSaid) {
  Cluster cluster;
  for (int i = 0; i < 10; ++i) cluster.put("pods/a/p" + std::to_string(i));
  const Vertex condition =
      vertexOf(cluster.graph, cluster.after("jobs.batch/a/j", instancesCondition("pods")));
  const Reached some = goesAfter(cluster.graph, condition, 9);
  EXPECT_EQ(some.objects.size(), 9u);
  EXPECT_FALSE(some.complete);
  EXPECT_TRUE(goesAfter(cluster.graph, condition, 10).complete);
}

}  // namespace
}  // namespace lastout::graph::test

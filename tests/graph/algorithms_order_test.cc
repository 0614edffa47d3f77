#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/algorithms.h"
#include "tests/graph/cluster.h"

namespace lastout::graph::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

uint32_t waveOf(const Cluster& cluster, const Waves& waves, std::string_view object) {
  return waves.of[cluster.vertex(object)];
}

TEST(DeletionOrder, TheProviderGoesAfterTheInstanceAndItsNamespaceAfterIt) {
  const Cluster cluster = story();
  const Waves waves = deletionOrder(cluster.graph);
  EXPECT_EQ(waveOf(cluster, waves, kInstance), 0u);
  EXPECT_EQ(waveOf(cluster, waves, kCrd), 1u);
  EXPECT_EQ(waveOf(cluster, waves, kProvider), 2u);
  EXPECT_EQ(waveOf(cluster, waves, "namespaces/finalizer-namespace"), 3u);
  EXPECT_EQ(waveOf(cluster, waves, kService), 3u);
  EXPECT_THAT(waves.sizes, ElementsAre(1, 1, 1, 2));
  EXPECT_THAT(waves.inCycle, IsEmpty());
}

TEST(DeletionOrder, WithoutOrderEverythingGoesAtOnce) {
  Cluster cluster;
  cluster.put("pods/a/x");
  cluster.put("pods/a/y");
  EXPECT_THAT(deletionOrder(cluster.graph).sizes, ElementsAre(2));
  EXPECT_THAT(deletionOrder(Graph()).sizes, IsEmpty());
}

TEST(DeletionOrder, AbsentObjectsAreInNoWave) {
  Cluster cluster;
  cluster.after("pods/a/x", objectCondition("pods/a/y"));
  const Waves waves = deletionOrder(cluster.graph);
  EXPECT_THAT(waves.sizes, IsEmpty());
  EXPECT_EQ(waveOf(cluster, waves, "pods/a/x"), kNone);
}

TEST(DeletionOrder, ObjectsOfACycleShareAWaveAndAreNamed) {
  Cluster cluster;
  for (const auto* name : {"pods/a/first", "pods/a/one", "pods/a/two", "pods/a/last"}) cluster.put(name);
  cluster.after("pods/a/one", objectCondition("pods/a/two"));
  cluster.after("pods/a/two", objectCondition("pods/a/one"));
  cluster.after("pods/a/two", objectCondition("pods/a/first"));
  cluster.after("pods/a/last", objectCondition("pods/a/one"));
  const Waves waves = deletionOrder(cluster.graph);
  EXPECT_THAT(waves.sizes, ElementsAre(1, 2, 1));
  EXPECT_EQ(waveOf(cluster, waves, "pods/a/first"), 0u);
  EXPECT_EQ(waveOf(cluster, waves, "pods/a/last"), 2u);
  EXPECT_THAT(names(cluster.graph, waves.inCycle), ElementsAre("pods/a/one", "pods/a/two"));
}

}  // namespace
}  // namespace lastout::graph::test

#include "graph/boost_traits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/topological_sort.hpp>

#include "tests/graph/cluster.h"

namespace lastout::graph::test {
namespace {

BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<Graph>));
BOOST_CONCEPT_ASSERT((boost::IncidenceGraphConcept<Graph>));
BOOST_CONCEPT_ASSERT((boost::AdjacencyGraphConcept<Graph>));

TEST(BoostTraits, TopologicalSortPutsEverythingAfterWhatItGoesAfter) {
  const Cluster cluster = story();
  std::vector<Vertex> sorted;
  boost::topological_sort(cluster.graph, std::back_inserter(sorted));
  const auto place = [&](std::string_view object) {
    return std::find(sorted.begin(), sorted.end(), cluster.vertex(object)) - sorted.begin();
  };
  EXPECT_EQ(sorted.size(), num_vertices(cluster.graph));
  EXPECT_LT(place(kInstance), place(kCrd));
  EXPECT_LT(place(kCrd), place(kProvider));
  EXPECT_LT(place(kProvider), place("namespaces/finalizer-namespace"));
  EXPECT_LT(place(kProvider), place(kService));
}

TEST(BoostTraits, EdgesLeadFromTheVertexToItsNeighbours) {
  const Cluster cluster = story();
  const Vertex provider = cluster.vertex(kProvider);
  std::vector<Vertex> targets;
  const auto [edge, lastEdge] = out_edges(provider, cluster.graph);
  for (auto at = edge; at != lastEdge; ++at) {
    EXPECT_EQ(source(*at, cluster.graph), provider);
    targets.push_back(target(*at, cluster.graph));
  }
  const auto [neighbour, lastNeighbour] = adjacent_vertices(provider, cluster.graph);
  EXPECT_EQ(targets, std::vector<Vertex>(neighbour, lastNeighbour));
  EXPECT_EQ(out_degree(provider, cluster.graph), 2u);
  EXPECT_EQ(out_degree(cluster.vertex(kInstance), cluster.graph), 0u);
}

TEST(BoostTraits, RemovedObjectsAreVerticesWithoutEdges) {
  Cluster cluster = story();
  const Vertex instance = cluster.vertex(kInstance);
  const Vertex crd = cluster.vertex(kCrd);
  cluster.remove(kInstance);
  EXPECT_EQ(out_degree(instance, cluster.graph), 0u);
  EXPECT_EQ(out_degree(crd, cluster.graph), 0u);
  EXPECT_FALSE(isLive(cluster.graph, instance));
}

}  // namespace
}  // namespace lastout::graph::test

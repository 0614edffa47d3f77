// Graph as Boost.Graph sees it: VertexListGraph, IncidenceGraph and AdjacencyGraph, with a vertex index. For
// snapshots: the graph must not change while an algorithm runs.
#pragma once

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/iterator/iterator_facade.hpp>
#include <boost/property_map/property_map.hpp>
#include <cstddef>
#include <utility>

#include "graph/edges.h"

namespace lastout::graph {

class OutEdgeIterator
    : public boost::iterator_facade<OutEdgeIterator, Edge, boost::forward_traversal_tag, Edge, ptrdiff_t> {
 public:
  OutEdgeIterator() = default;
  explicit OutEdgeIterator(const OutEdges& edges) : edges_(edges) {}

 private:
  friend class boost::iterator_core_access;
  Edge dereference() const { return edges_.edge(); }
  void increment() { edges_.next(); }
  bool equal(const OutEdgeIterator& other) const { return edges_ == other.edges_; }

  OutEdges edges_;
};

class AdjacencyIterator : public boost::iterator_facade<AdjacencyIterator, Vertex,
                                                        boost::forward_traversal_tag, Vertex, ptrdiff_t> {
 public:
  AdjacencyIterator() = default;
  explicit AdjacencyIterator(const OutEdges& edges) : edges_(edges) {}

 private:
  friend class boost::iterator_core_access;
  Vertex dereference() const { return edges_.target(); }
  void increment() { edges_.next(); }
  bool equal(const AdjacencyIterator& other) const { return edges_ == other.edges_; }

  OutEdges edges_;
};

// Boost.Graph's names, found by argument-dependent lookup.
inline std::pair<boost::counting_iterator<Vertex>, boost::counting_iterator<Vertex>> vertices(
    const Graph& graph) {
  return {boost::counting_iterator<Vertex>(0), boost::counting_iterator<Vertex>(vertexCount(graph))};
}
inline size_t num_vertices(const Graph& graph) { return vertexCount(graph); }
inline std::pair<OutEdgeIterator, OutEdgeIterator> out_edges(Vertex vertex, const Graph& graph) {
  return {OutEdgeIterator(OutEdges(graph, vertex)), OutEdgeIterator()};
}
inline size_t out_degree(Vertex vertex, const Graph& graph) {
  size_t degree = 0;
  for (OutEdges edges(graph, vertex); !edges.atEnd(); edges.next()) ++degree;
  return degree;
}
inline std::pair<AdjacencyIterator, AdjacencyIterator> adjacent_vertices(Vertex vertex, const Graph& graph) {
  return {AdjacencyIterator(OutEdges(graph, vertex)), AdjacencyIterator()};
}
inline Vertex source(const Edge& edge, const Graph&) { return edge.source; }
inline Vertex target(const Edge& edge, const Graph&) { return edge.target; }
inline boost::typed_identity_property_map<Vertex> get(boost::vertex_index_t, const Graph&) { return {}; }
inline Vertex get(boost::vertex_index_t, const Graph&, Vertex vertex) { return vertex; }

}  // namespace lastout::graph

namespace boost {

template <>
struct graph_traits<lastout::graph::Graph> {
  struct Traversal : incidence_graph_tag, adjacency_graph_tag, vertex_list_graph_tag {};
  using traversal_category = Traversal;
  using directed_category = directed_tag;
  using edge_parallel_category = allow_parallel_edge_tag;
  using vertex_descriptor = lastout::graph::Vertex;
  using edge_descriptor = lastout::graph::Edge;
  using vertex_iterator = counting_iterator<lastout::graph::Vertex>;
  using out_edge_iterator = lastout::graph::OutEdgeIterator;
  using adjacency_iterator = lastout::graph::AdjacencyIterator;
  using vertices_size_type = size_t;
  using edges_size_type = size_t;
  using degree_size_type = size_t;
  static vertex_descriptor null_vertex() { return lastout::graph::kNone; }
};

template <>
struct property_map<lastout::graph::Graph, vertex_index_t> {
  using type = typed_identity_property_map<lastout::graph::Vertex>;
  using const_type = type;
};

}  // namespace boost

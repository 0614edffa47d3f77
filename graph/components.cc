#include "graph/components.h"

#include <boost/graph/strong_components.hpp>

#include "graph/boost_traits.h"

namespace lastout::graph {

Components components(const Graph& graph) {
  Components result;
  const uint32_t vertices = vertexCount(graph);
  result.of.resize(vertices);
  std::vector<uint32_t> roots(vertices);
  std::vector<uint32_t> discovered(vertices);
  std::vector<boost::default_color_type> colors(vertices);
  const auto index = get(boost::vertex_index, graph);
  const auto property = [&](auto& values) {
    return boost::make_iterator_property_map(values.begin(), index);
  };
  result.count = boost::strong_components(
      graph, property(result.of),
      boost::root_map(property(roots)).discover_time_map(property(discovered)).color_map(property(colors)));
  return result;
}

}  // namespace lastout::graph

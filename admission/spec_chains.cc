#include "admission/spec_chains.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "graph/blockers.h"

namespace lastout::admission {
namespace {

constexpr uint32_t kMostEdges = 10;  // for each vertex that may be searched

class ChainSearch {
 public:
  ChainSearch(const graph::Graph& graph, const SpecBlockers& blockers) : graph_(graph), blockers_(blockers) {}

  SpecChains run(graph::Vertex start, uint32_t most) {
    SpecChains result;
    add({graph::kNone, start, graph::EdgeKind::Requires});
    uint64_t edgesLeft = uint64_t{most} * kMostEdges;
    for (uint32_t at = 0; at < reached_.size(); ++at) {
      const graph::Edge reached = reached_[at];
      if (graph::isObject(graph_, reached.target)) take(reached, result);
      for (graph::OutEdges edges(graph_, reached.target); !edges.atEnd(); edges.next()) {
        if (edgesLeft == 0) {
          result.complete = false;
          break;
        }
        --edgesLeft;
        if (!graph::blocks(graph_, edges.target()) || sources_.contains(edges.target())) continue;
        if (reached_.size() < most)
          add(edges.edge());
        else
          result.complete = false;
      }
    }
    return result;
  }

 private:
  void add(const graph::Edge& edge) {
    sources_.emplace(edge.target, edge.source);
    reached_.push_back(edge);
  }

  void take(const graph::Edge& reached, SpecChains& result) {
    const auto found = blockers_.find(graph_.key(graph::objectOf(reached.target)));
    if (found == blockers_.end()) return;
    for (const SpecBlocker& blocker : found->second) {
      if (!endsChain(blocker, reached.kind) || !told_.emplace(blocker.objects.front(), blocker.cause).second)
        continue;
      result.chains.push_back({pathTo(reached.target), &blocker});
    }
  }

  std::vector<graph::Vertex> pathTo(graph::Vertex vertex) const {
    std::vector<graph::Vertex> path;
    for (; vertex != graph::kNone; vertex = sources_.at(vertex)) path.push_back(vertex);
    std::ranges::reverse(path);
    return path;
  }

  const graph::Graph& graph_;
  const SpecBlockers& blockers_;
  std::vector<graph::Edge> reached_;  // in the order of the search; the first is the start
  std::unordered_map<graph::Vertex, graph::Vertex> sources_;
  std::set<std::pair<kube::ObjectKey, std::string>> told_;
};

}  // namespace

SpecChains specChains(const graph::Graph& graph, graph::Vertex start, const SpecBlockers& blockers,
                      uint32_t most) {
  return ChainSearch(graph, blockers).run(start, most);
}

bool endsChain(const SpecBlocker& blocker, graph::EdgeKind kind) {
  if (blocker.cause.empty()) return false;
  return blocker.keeps || blocker.stopsCleanup || kind != graph::EdgeKind::Instance;
}

}  // namespace lastout::admission

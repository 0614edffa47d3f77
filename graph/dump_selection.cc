#include "graph/dump_selection.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "graph/blockers.h"
#include "graph/names.h"
#include "graph/nodes.h"
#include "kube/well_known.h"

namespace lastout::graph {

namespace {

// Keeps the first `limit` by `before`, in that order; returns how many went.
template <class Before>
uint64_t keepFirst(std::vector<Vertex>& vertices, size_t limit, const Before& before) {
  const size_t kept = std::min(limit, vertices.size());
  std::partial_sort(vertices.begin(), vertices.begin() + static_cast<ptrdiff_t>(kept), vertices.end(),
                    before);
  const uint64_t left = vertices.size() - kept;
  vertices.resize(kept);
  return left;
}

// Conditions, and objects that they or requirements name, say more than the many others.
bool ordersSomething(const Graph& graph, Vertex vertex) {
  return !isObject(graph, vertex) || isNamed(graph.tables(), vertex);
}

// Somebody goes after the condition; one that is only watched says nothing of the order.
bool isRequired(const Graph& graph, Vertex condition) {
  bool required = false;
  forEachInEdge(graph, condition, [&](Vertex, EdgeKind) { required = true; });
  return required;
}

// Which vertices may be shown, by number.
using Shown = std::vector<bool>;

bool isUnmetOrObject(const Graph& graph, Vertex vertex) {
  return isObject(graph, vertex) || !isMet(graph, conditionOf(graph, vertex));
}

// It waits for something that is required of it, or, being deleted, for anything.
bool isWaiting(const Graph& graph, ObjectId object) {
  if (!graph.isPresent(object)) return false;
  const bool terminating = graph.isTerminating(object);
  if (terminating && !graph.finalizers(object).empty()) return true;
  for (OutEdges edges(graph, vertexOf(object)); !edges.atEnd(); edges.next()) {
    if ((terminating || edges.kind() == EdgeKind::Requires) && isUnmetOrObject(graph, edges.target()))
      return true;
  }
  return false;
}

Shown blockedOnes(const Graph& graph) {
  Shown shown(vertexCount(graph), false);
  std::vector<Vertex> reached;
  const auto reach = [&](Vertex vertex) {
    if (shown[vertex]) return;
    shown[vertex] = true;
    reached.push_back(vertex);
  };
  for (uint32_t slot = 0; slot < graph.objectSlots(); ++slot) {
    const ObjectId object{slot};
    if (graph.isLive(object) && isWaiting(graph, object)) reach(vertexOf(object));
  }
  for (size_t at = 0; at < reached.size(); ++at) {
    for (OutEdges edges(graph, reached[at]); !edges.atEnd(); edges.next()) {
      if (isUnmetOrObject(graph, edges.target())) reach(edges.target());
    }
  }
  return shown;
}

Shown onesOfNamespace(const Graph& graph, const std::string& name) {
  Shown shown(vertexCount(graph), false);
  const auto show = [&](Vertex vertex) {
    shown[vertex] = true;
    for (OutEdges edges(graph, vertex); !edges.atEnd(); edges.next()) shown[edges.target()] = true;
  };
  const auto itself = graph.findNamed(kube::namespaceKey(name));
  for (uint32_t slot = 0; slot < graph.objectSlots(); ++slot) {
    const ObjectId object{slot};
    if (graph.isLive(object) && (graph.namespaceName(object) == name || object == itself))
      show(vertexOf(object));
  }
  for (Vertex vertex = graph.objectSlots(); vertex < vertexCount(graph); ++vertex) {
    if (shown[vertex]) show(vertex);
  }
  return shown;
}

Shown shownOf(const Graph& graph, const DumpOptions& options) {
  Shown shown = options.blocked ? blockedOnes(graph) : Shown(vertexCount(graph), true);
  if (options.namespaceName.empty()) return shown;
  const Shown inNamespace = onesOfNamespace(graph, options.namespaceName);
  for (size_t i = 0; i < shown.size(); ++i) shown[i] = shown[i] && inNamespace[i];
  return shown;
}

void selectAll(const Graph& graph, const Shown& shown, size_t limit, DumpSelection& result) {
  for (Vertex vertex = 0; vertex < vertexCount(graph); ++vertex) {
    if (shown[vertex] && isLive(graph, vertex) && (isObject(graph, vertex) || isRequired(graph, vertex)))
      result.vertices.push_back(vertex);
  }
  result.leftOut = keepFirst(result.vertices, limit, [&](Vertex a, Vertex b) {
    const bool aOrders = ordersSomething(graph, a);
    return aOrders != ordersSomething(graph, b) ? aOrders : namedBefore(graph, a, b);
  });
}

// Edges in both directions, and those between an Object condition and its object even where that is no
// holder.
template <class Visit>
void forEachNeighbour(const Graph& graph, Vertex vertex, const Visit& visit) {
  for (OutEdges edges(graph, vertex); !edges.atEnd(); edges.next()) visit(edges.target());
  forEachInEdge(graph, vertex, [&](Vertex source, EdgeKind) { visit(source); });
  if (isObject(graph, vertex)) {
    for (const ConditionId condition : graph.conditionsOn(objectOf(vertex)))
      visit(vertexOf(graph, condition));
  } else if (const std::optional<ObjectId> target = graph.target(conditionOf(graph, vertex))) {
    visit(vertexOf(*target));
  }
}

void selectAround(const Graph& graph, const Shown& shown, ObjectId focus, uint32_t depth, size_t limit,
                  DumpSelection& result) {
  std::vector<bool> seen(vertexCount(graph), false);
  std::vector<Vertex> level = {vertexOf(focus)};
  seen[vertexOf(focus)] = true;
  for (;; --depth) {
    result.leftOut += keepFirst(level, limit - result.vertices.size(),
                                [&](Vertex a, Vertex b) { return namedBefore(graph, a, b); });
    result.vertices.insert(result.vertices.end(), level.begin(), level.end());
    if (level.empty() || depth == 0) return;
    std::vector<Vertex> next;
    for (const Vertex vertex : level) {
      forEachNeighbour(graph, vertex, [&](Vertex neighbour) {
        if (seen[neighbour] || !shown[neighbour]) return;
        seen[neighbour] = true;
        next.push_back(neighbour);
      });
    }
    level = std::move(next);
  }
}

void findEdges(const Graph& graph, DumpSelection& selection) {
  std::unordered_map<Vertex, uint32_t> places;
  for (const Vertex vertex : selection.vertices) places.emplace(vertex, static_cast<uint32_t>(places.size()));
  for (uint32_t source = 0; source < selection.vertices.size(); ++source) {
    for (OutEdges edges(graph, selection.vertices[source]); !edges.atEnd(); edges.next()) {
      const auto target = places.find(edges.target());
      if (target != places.end()) selection.edges.push_back({source, target->second, edges.kind()});
    }
  }
  const auto key = [](const DrawnEdge& edge) { return std::tie(edge.source, edge.target, edge.kind); };
  std::sort(selection.edges.begin(), selection.edges.end(),
            [&](const DrawnEdge& a, const DrawnEdge& b) { return key(a) < key(b); });
  const auto end = std::unique(selection.edges.begin(), selection.edges.end(),
                               [&](const DrawnEdge& a, const DrawnEdge& b) { return key(a) == key(b); });
  selection.edges.erase(end, selection.edges.end());
}

}  // namespace

DumpSelection select(const Graph& graph, const DumpOptions& options) {
  DumpSelection result;
  const Shown shown = shownOf(graph, options);
  if (!options.focus.has_value()) {
    selectAll(graph, shown, options.limit, result);
  } else if (const std::optional<ObjectId> focus = graph.findNamed(*options.focus)) {
    selectAround(graph, shown, *focus, options.depth, options.limit, result);
  }
  std::sort(result.vertices.begin(), result.vertices.end(),
            [&](Vertex a, Vertex b) { return namedBefore(graph, a, b); });
  findEdges(graph, result);
  return result;
}

std::string_view toString(Condition::Kind kind) {
  switch (kind) {
    case Condition::Kind::Finalizer:
      return "Finalizer";
    case Condition::Kind::Object:
      return "Object";
    case Condition::Kind::NamespaceContent:
      return "NamespaceContent";
    case Condition::Kind::Instances:
      return "Instances";
  }
  return {};
}

}  // namespace lastout::graph

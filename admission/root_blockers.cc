#include "admission/root_blockers.h"

#include <algorithm>
#include <utility>

namespace lastout::admission {
namespace {

constexpr size_t kMostSearches = 3;
constexpr uint32_t kMostVertices = 64;  // of one search
constexpr size_t kMostInChain = 4;      // objects between a blocker and its root that are named

KeyView viewOf(const graph::ObjectView& object) {
  return {object.group, object.resource, object.namespaceName, object.name};
}

void writeObject(TextWriter& text, const graph::Graph& graph, graph::ObjectId object) {
  const graph::ObjectView view = graph.object(object);
  text.key(viewOf(view));
  if (!view.terminating) return;
  const std::vector<std::string_view> finalizers = graph.finalizers(object);
  text << " (being deleted";
  for (size_t i = 0; i < finalizers.size() && i < Holders::kShown; ++i) {
    (text << (i == 0 ? ", keeps finalizer " : " and ")).name(finalizers[i]);
  }
  text << ")";
}

void writeCycle(TextWriter& text, const graph::Graph& graph, const graph::RootBlocker& root) {
  std::vector<graph::ObjectId> objects;
  for (const graph::Edge& edge : root.cycle) {
    if (graph::isObject(graph, edge.target)) objects.push_back(graph::objectOf(edge.target));
  }
  for (size_t i = 0; i < std::min(objects.size(), kMostInChain); ++i) {
    text.separator(i, objects.size()).key(viewOf(graph.object(objects[i])));
  }
  if (objects.size() > kMostInChain) text << " and others";
  text << (objects.size() == 1 ? " (which waits for itself)" : " (which wait for each other)");
}

}  // namespace

void writeDoubt(TextWriter& text, const graph::Graph& graph, graph::ConditionId condition) {
  (text << "it is not understood what ").name(graph.condition(condition).name) << " asks for";
}

void writeRoot(TextWriter& text, const graph::Graph& graph, const graph::RootBlocker& root) {
  switch (root.kind) {
    case graph::RootBlocker::Kind::Object:
      return writeObject(text, graph, graph::objectOf(root.vertex));
    case graph::RootBlocker::Kind::Cycle:
      return writeCycle(text, graph, root);
    case graph::RootBlocker::Kind::Unknown: {
      const graph::ConditionId condition = graph::conditionOf(graph, root.vertex);
      if (graph.knowledge(condition) == graph::Knowledge::NotUnderstood) {
        writeDoubt(text, graph, condition);
        return;
      }
      (text << "what is not known (")
              .unknownBecause(graph, graph.condition(condition).type, graph.knowledge(condition))
          << ")";
    }
  }
}

bool RootBlockers::goesOn(graph::ObjectId object) const {
  if (graph_.hasRequirements(object)) return true;
  return graph_.isTerminating(object) && !graph::OutEdges(graph_, graph::vertexOf(object)).atEnd();
}

// A blocker may be part of a cycle: that it blocks says nothing of the cycle.
bool RootBlockers::isTold(const graph::RootBlocker& root) const {
  if (root.kind != graph::RootBlocker::Kind::Cycle)
    return std::ranges::find(told_, root.vertex) != told_.end();
  return std::ranges::any_of(found_, [&](const Found& found) {
    return std::ranges::any_of(found.root.cycle,
                               [&](const graph::Edge& edge) { return edge.target == root.vertex; });
  });
}

bool RootBlockers::follow(graph::ObjectId blocker) {
  if (!goesOn(blocker)) return false;
  if (found_.size() == kMostRoots || searches_ == kMostSearches) return true;
  ++searches_;
  graph::BlockerLimits limits;
  limits.reasons = 1;
  limits.examples = 0;
  limits.roots = kMostRoots;
  limits.vertices = kMostVertices;
  graph::Blockers search = graph::blockers(graph_, graph::vertexOf(blocker), limits);
  more_ = more_ || search.rootsLeftOut > 0 || !search.complete;
  for (graph::RootBlocker& root : search.roots) {
    if (isTold(root)) continue;
    if (found_.size() == kMostRoots) {
      more_ = true;
      break;
    }
    told_.push_back(root.vertex);
    found_.push_back({graph::vertexOf(blocker), std::move(root)});
  }
  return !search.roots.empty() || search.rootsLeftOut > 0 || !search.complete;
}

std::string_view RootBlockers::advice() const {
  if (found_.empty()) return {};
  const graph::RootBlocker& first = found_[0].root;
  switch (first.kind) {
    case graph::RootBlocker::Kind::Object:
      if (graph_.object(graph::objectOf(first.vertex)).terminating) return {};
      return found_.size() > 1 || more_ ? "delete the root blockers first" : "delete the root blocker first";
    case graph::RootBlocker::Kind::Cycle:
      return kBreakRing;
    case graph::RootBlocker::Kind::Unknown:
      if (graph_.knowledge(graph::conditionOf(graph_, first.vertex)) == graph::Knowledge::NotUnderstood)
        return "correct that criterion first";
      return "try again when lastout can tell";
  }
  return {};
}

bool RootBlockers::hasRing() const {
  return std::ranges::any_of(found_, [&](const Found& found) {
    return found.root.kind == graph::RootBlocker::Kind::Cycle &&
           std::ranges::none_of(found.root.cycle, [&](const graph::Edge& edge) {
             return graph::isObject(graph_, edge.target) &&
                    graph_.object(graph::objectOf(edge.target)).terminating;
           });
  });
}

void RootBlockers::writeAll(TextWriter& text) const {
  text << (found_.size() > 1 || more_ ? "root blockers: " : "root blocker: ");
  for (size_t i = 0; i < found_.size(); ++i) {
    text.separator(i, found_.size() + (more_ ? 1 : 0));
    writeRoot(text, graph_, found_[i].root);
  }
  if (more_) text << " and more";
}

void RootBlockers::writeChain(TextWriter& text, size_t root) const {
  const Found& found = found_[root];
  text.key(viewOf(graph_.object(graph::objectOf(found.blocker)))) << " waits for ";
  size_t between = 0;
  for (const graph::Edge& edge : found.root.path) {
    if (!graph::isObject(graph_, edge.target) || edge.target == found.root.vertex) continue;
    if (++between > kMostInChain) continue;
    text.key(viewOf(graph_.object(graph::objectOf(edge.target)))) << ", which waits for ";
  }
  if (between > kMostInChain) text << "others, and in the end for ";
  writeRoot(text, graph_, found.root);
}

}  // namespace lastout::admission

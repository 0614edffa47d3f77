// Roots: where the chains behind blockers end. Insides of admission/explain.h and admission/why.h.
#pragma once

#include <vector>

#include "admission/explain.h"
#include "admission/words.h"
#include "graph/blockers.h"

namespace lastout::admission {

// "coolresources.my.crd.group/some-instance (being deleted, keeps finalizer ...)"; "a and b, which wait for
// each other"; "what is not known (...)"; "it is not understood what ... asks for".
void writeRoot(TextWriter& text, const graph::Graph& graph, const graph::RootBlocker& root);

// "it is not understood what any widgts asks for": of a condition of graph::notUnderstoodType(), in the words
// of its criterion.
void writeDoubt(TextWriter& text, const graph::Graph& graph, graph::ConditionId condition);

// What a person must act on when a blocker is itself waiting for something. A blocker that nobody has deleted
// yet, and that could be deleted, is not followed: deleting it is what there is to do.
class Roots {
 public:
  explicit Roots(const graph::Graph& graph) : graph_(graph) {}

  // The object is told as a blocker itself: it is not named as a root again.
  void leaveOut(graph::ObjectId object) { told_.push_back(graph::vertexOf(object)); }
  // Looks for roots behind the blocker, in bounded time; no more once there are enough. True when the blocker
  // waits for something that somebody has to act on.
  bool follow(graph::ObjectId blocker);

  size_t size() const { return found_.size(); }
  // What the first root asks a person to do; empty when it is being deleted already.
  std::string_view advice() const;

  // "root blocker: coolresources.my.crd.group/some-instance (being deleted, keeps finalizer ...)"
  void writeAll(TextWriter& text) const;
  // "customresourcedefinitions.apiextensions.k8s.io/x waits for coolresources.my.crd.group/some-instance
  // (...)"
  void writeChain(TextWriter& text, size_t root) const;

 private:
  struct Found {
    graph::Vertex blocker = graph::kNone;  // whose chain it ends
    graph::RootBlocker root;
  };

  bool goesOn(graph::ObjectId object) const;
  bool isTold(const graph::RootBlocker& root) const;

  const graph::Graph& graph_;
  std::vector<graph::Vertex> told_;
  std::vector<Found> found_;
  size_t searches_ = 0;
  bool more_ = false;  // there are others than those found
};

}  // namespace lastout::admission

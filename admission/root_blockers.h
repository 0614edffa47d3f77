// RootBlockers: the ends of the chains behind blockers. Internal to admission/explain.h and admission/why.h.
#pragma once

#include <string_view>
#include <vector>

#include "admission/explain.h"
#include "admission/text_writer.h"
#include "graph/blockers.h"

namespace lastout::admission {

// What ends a ring of CriticalServices whose providers wait for each other.
inline constexpr std::string_view kBreakRing =
    "set spec.deletionIntent of one of their CriticalServices to OrphanResources";

// "coolresources.my.crd.group/some-instance (being deleted, keeps finalizer ...)"; "a and b (which wait for
// each other)"; "what is not known (...)"; "it is not understood what ... asks for".
void writeRoot(TextWriter& text, const graph::Graph& graph, const graph::RootBlocker& root);

// "it is not understood what any widgts asks for": of a condition of graph::notUnderstoodType(), in the words
// of its criterion.
void writeDoubt(TextWriter& text, const graph::Graph& graph, graph::ConditionId condition);

// Finds what a person must act on if a blocker itself waits for something. Does not follow a blocker that can
// be deleted and is not being deleted yet: the person can delete that one.
class RootBlockers {
 public:
  explicit RootBlockers(const graph::Graph& graph) : graph_(graph) {}

  // Excludes an object that the text names as a blocker already.
  void leaveOut(graph::ObjectId object) { told_.push_back(graph::vertexOf(object)); }
  // Looks for root blockers behind the blocker in bounded time, until there are enough. Returns true if the
  // blocker waits for something that a person has to act on.
  bool follow(graph::ObjectId blocker);

  size_t size() const { return found_.size(); }
  // Returns what a person can do about the first root blocker; empty: it is being deleted already.
  std::string_view advice() const;
  // True if objects wait for each other of which none is being deleted: no deletion can resolve that.
  bool hasRing() const;

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

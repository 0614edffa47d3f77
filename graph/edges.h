// The edges of *goes after*, one vertex at a time, without allocation: from a vertex to what it goes after
// (OutEdges), and back to what goes after it (forEachInEdge).
#pragma once

#include <cstdint>
#include <functional>

#include "graph/graph.h"

namespace lastout::graph {

// A vertex of a graph that is not changed meanwhile: objects first, by their ids, then conditions. Ids that
// are not live are vertices without edges.
using Vertex = uint32_t;

enum class EdgeKind : uint8_t {
  Requires,   // object -> condition: somebody asked for it
  Holder,     // condition -> object
  Content,    // Namespace -> an object in it
  Instance,   // CRD -> an object of the type it defines
  Dependent,  // owner that terminates in the foreground -> a dependent with blockOwnerDeletion; owner that
              // terminates with kube::kAppliedObjectsFinalizer -> any dependent
};

std::string_view toString(EdgeKind kind);  // "Requires"

inline uint32_t vertexCount(const Graph& graph) { return graph.objectSlots() + graph.conditionSlots(); }
inline Vertex vertexOf(ObjectId object) { return static_cast<uint32_t>(object); }
inline Vertex vertexOf(const Graph& graph, ConditionId condition) {
  return graph.objectSlots() + static_cast<uint32_t>(condition);
}
inline bool isObject(const Graph& graph, Vertex vertex) { return vertex < graph.objectSlots(); }
inline ObjectId objectOf(Vertex vertex) { return ObjectId{vertex}; }
inline ConditionId conditionOf(const Graph& graph, Vertex vertex) {
  return ConditionId{vertex - graph.objectSlots()};
}
inline bool isLive(const Graph& graph, Vertex vertex) {
  return isObject(graph, vertex) ? graph.isLive(objectOf(vertex)) : graph.isLive(conditionOf(graph, vertex));
}

struct Edge {
  Vertex source = kNone;
  Vertex target = kNone;
  EdgeKind kind = EdgeKind::Holder;
  friend bool operator==(const Edge&, const Edge&) = default;
};

// Walks the edges out of one vertex. Absent objects have the edges that were required of them, and no others;
// only present objects are holders. Two requirements of one object on one condition are two edges.
class OutEdges {
 public:
  OutEdges() = default;  // at the end of any vertex
  OutEdges(const Graph& graph, Vertex source);

  bool atEnd() const { return step_ == Step::End; }
  Vertex target() const { return target_; }
  EdgeKind kind() const { return kind_; }
  Edge edge() const { return {source_, target_, kind_}; }
  void next();

  friend bool operator==(const OutEdges& a, const OutEdges& b) {
    return a.step_ == b.step_ && a.inner_ == b.inner_ && a.outer_ == b.outer_;
  }

 private:
  // Where it is. An object goes through Requirements, Content or Instances, and Dependents; a condition is in
  // one of Content, Instances, Carriers and One.
  enum class Step : uint8_t { Requirements, Content, Instances, Dependents, Carriers, One, End };

  void startObject();
  void startImplied();
  void startDependents();
  void startCondition(const ConditionRecord& condition);
  void skipToHolding();
  void enterClasses(Step step, uint32_t first, EdgeKind kind);
  void nextClass();
  void skipLeftOut();  // in Carriers
  void finishStep();

  const Tables* tables_ = nullptr;
  Vertex source_ = kNone;
  Vertex target_ = kNone;
  uint32_t outer_ = kNone;  // Content, Instances: ObjectClass; Carriers: Membership
  uint32_t inner_ = kNone;  // Requirements: Requirement; Dependents: Reference; otherwise Node
  Step step_ = Step::End;
  EdgeKind kind_ = EdgeKind::Holder;
};

// Calls visit(source, kind) for every edge into the vertex, in O(their number) and a few lookups.
void forEachInEdge(const Graph& graph, Vertex target, const std::function<void(Vertex, EdgeKind)>& visit);

}  // namespace lastout::graph

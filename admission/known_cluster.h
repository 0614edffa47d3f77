// KnownCluster: a cluster as it was known at one moment, and the questions that people ask about it:
// `lastout graph` and `lastout why`, /graph and /why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "admission/delete_when_free.h"
#include "admission/explain.h"
#include "admission/guard_index.h"
#include "admission/why.h"
#include "graph/graph.h"
#include "kube/resource_map.h"
#include "kube/result.h"
#include "protection/protected_objects.h"

namespace lastout::admission {

// Immutable, so that any thread may read it for any time.
struct KnownCluster {
  KnownCluster() : guards(graph) {}
  KnownCluster(graph::Graph aGraph, GuardIndex someGuards, kube::ResourceMap someTypes)
      : graph(std::move(aGraph)), guards(std::move(someGuards)), types(std::move(someTypes)) {}

  graph::Graph graph;
  GuardIndex guards;  // of that graph
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  ExplanationReader reader = ExplanationReader::OfLastout;  // of what is said about it
  AnnotatedObjects annotated;                               // as of ClusterView
  protection::Denials protections;   // what DeletionPolicies say, as far as it was found out
  bool knowsAllProtections = false;  // of every object, as of manifests
  SpecFindings specs;                // as far as they were found out; the graph requires the blockers
  // When that was; nullopt: at no time that anybody knows, as of manifests.
  std::optional<std::chrono::sys_seconds> now;
};

struct GraphQuestion {
  enum class Format : uint8_t { Json, Dot, Mermaid };
  Format format = Format::Mermaid;
  std::string focus;  // a reference (kube/reference.h); empty: everything
  // As of graph::DumpOptions.
  uint32_t depth = 3;
  size_t limit = 1000;
  bool blocked = false;
  std::string namespaceName;
};

// A question that has no answer.
struct Unanswered {
  bool isMissing = false;  // it is a good question, but about nothing that there is
  std::string message;
};
template <class T>
using AnswerOf = tl::expected<T, Unanswered>;

// Draws the graph with the verdict on each guarded object. Fails if the focus is no reference, or matches no
// object.
AnswerOf<std::string> drawn(const KnownCluster& cluster, const GraphQuestion& question);

// Returns the object that the reference names: one that is there, one that something names, or (where lastout
// does not follow its type) any.
AnswerOf<kube::ObjectKey> keyOf(const KnownCluster& cluster, std::string_view reference);
// Explains the object that keyOf() returns; fails as keyOf().
AnswerOf<Why> whyOf(const KnownCluster& cluster, std::string_view reference);

}  // namespace lastout::admission

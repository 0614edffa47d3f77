// Blockers: what keeps an object or a condition waiting, directly, and at the end of each chain.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/edges.h"

namespace lastout::graph {

// What blocks directly, for one reason.
struct DirectBlocker {
  EdgeKind kind = EdgeKind::Requires;    // Requires: through a condition; otherwise implied
  std::optional<ConditionId> condition;  // the unmet one, for Requires and when asked of a condition
  uint32_t count = 0;  // objects; 0: none is known, but the condition's type is not known well enough
  std::vector<ObjectId> examples;  // some of them, by name
};

// The end of a chain of blockers: what a person must act on.
struct RootBlocker {
  enum class Kind : uint8_t {
    // `vertex` is an object that waits for nothing more, and does not merely go along with its Namespace or
    // CRD
    Object,
    Cycle,    // `cycle` waits for itself; `vertex` is where the path meets it
    Unknown,  // `vertex` is a condition without known holders, of a type that is not known well enough
  };
  Kind kind = Kind::Object;
  Vertex vertex = kNone;
  std::vector<Edge> path;   // a shortest one from what was asked about to `vertex`
  std::vector<Edge> cycle;  // Cycle only: a shortest one from `vertex` back to it
};

struct BlockerLimits {
  size_t reasons = 10;          // direct blockers
  size_t examples = 10;         // for each of them
  size_t roots = 10;            // root blockers
  uint32_t vertices = 100'000;  // looked at in all; bounds the time, too
};

struct Blockers {
  std::vector<DirectBlocker> direct;
  uint32_t directLeftOut = 0;      // reasons beyond the limit
  std::vector<RootBlocker> roots;  // nearest first
  uint32_t rootsLeftOut = 0;       // found beyond the limit
  bool complete =
      true;  // false: the search stopped at `vertices`, and there may be more roots than were counted
};

// True when nothing holds the condition, and that can be believed.
bool isMet(const Graph& graph, ConditionId condition);
// Returns true of an object, and of a condition that is not met: what goes after it has to wait.
bool blocks(const Graph& graph, Vertex target);

// What blocks an object or a condition. Met conditions block nothing; so without blockers both lists are
// empty. A Namespace or CRD that is not being deleted may be blocked by what it would take along alone: then
// there are no roots.
Blockers blockers(const Graph& graph, Vertex vertex, const BlockerLimits& limits = {});

}  // namespace lastout::graph

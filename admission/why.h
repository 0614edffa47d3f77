// why: all that there is to say about one object that somebody wants to be gone: the verdict on its DELETE,
// what blocks it, and where the chains behind that end. Explanations of denials (explain.h) say less of it in
// less time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "admission/guard_index.h"
#include "admission/reader.h"
#include "graph/graph.h"
#include "kube/result.h"
#include "protection/evaluate.h"

namespace lastout::admission {

// What blocks directly.
struct WhyBlocker {
  std::string reason;   // as of Cause; of what Kubernetes itself orders, as of graph::EdgeKind
  std::string message;  // "coolresources.my.crd.group/some-instance has finalizer ..."
  std::string field;    // who asks for it; empty: Kubernetes itself
};

// What a person must act on.
struct WhyRoot {
  std::string kind;               // "Object", "Cycle" or "Unknown"
  std::string message;            // in the words of a denial
  std::vector<std::string> path;  // from the object to the root: objects and conditions
};

struct Why {
  std::string object;
  bool present = false;      // false: it is not there, or its type is not followed
  bool terminating = false;  // it is being deleted
  std::vector<std::string> finalizers;
  std::string
      deferredDeletion;  // a deletion that lastout is to carry out, in a sentence; empty: there is none

  // The verdict on a DELETE now, before a confirming read.
  bool allowed = true;
  bool guarded = false;
  std::string reason;
  std::string message;
  uint64_t revision = 0;  // of the graph that was looked at

  // What keeps it from being deleted, or, once it is being deleted, from being gone; of a provider that is
  // held, what would.
  std::vector<WhyBlocker> blockers;
  std::vector<WhyRoot> roots;  // nearest first
  uint32_t rootsLeftOut = 0;   // found beyond the bound
  bool complete = true;        // false: the search met its bound, and there may be other roots

  // Takes in what DeletionPolicies say to a DELETE. One that holds the object counts also when it is being
  // deleted, one that denies does not.
  void join(const std::vector<protection::Denial>& denials);
  bool isBlocked() const { return !allowed || terminating || !blockers.empty(); }
};

// In bounded time and length: at most ten blockers, ten roots, and 10,000 vertices looked at.
Why why(const graph::Graph& graph, const GuardIndex& index, const kube::ObjectKey& object,
        Reader reader = Reader::OfLastout, const std::vector<protection::Denial>& protections = {});

// For people: a few lines for each part.
std::string toText(const Why& why);
// For programs: an object with the fields of Why (docs/why.md).
std::string toJson(const Why& why);
// What toJson() wrote. Fails on everything else, and on texts with control characters: they come from
// elsewhere, and go to somebody's terminal.
kube::Result<Why> parseWhy(std::string_view json);

}  // namespace lastout::admission

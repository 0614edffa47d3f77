// why: the whole explanation of one object's DELETE: the verdict, the blockers, and the root blockers behind
// them. A denial (explain.h) says less, in less time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "admission/explain.h"
#include "admission/guard_index.h"
#include "admission/spec_blockers.h"
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

// A finalizer that a CriticalService's provider would take off, of a provider that is gone.
struct UnservedFinalizer {
  std::string finalizer;
  std::string message;  // who served it, and what to do
  std::string command;  // that takes it off by hand; empty: its name cannot stand in one
  std::string field;    // who says so: "criticalservices.lastout.dev/op#spec.criteria[0]"
};

// What a person must act on.
struct WhyRoot {
  std::string kind;               // "Object", "Cycle" or "Unknown"
  std::string message;            // in the words of a denial
  std::vector<std::string> path;  // from the object to the root: objects and conditions
  bool isNotWorking = false;      // the last of the path keeps the one before it because it does not work
};

struct Why {
  std::string object;
  bool present = false;      // false: it is not there, or its type is not followed
  bool terminating = false;  // it is being deleted
  std::vector<std::string> finalizers;
  std::vector<UnservedFinalizer> unservedFinalizers;  // of those: who is to take them off is gone
  std::string deferredDeletion;  // a sentence about the deferred deletion of the object; empty: there is none

  // The verdict on a DELETE now, before a confirming read. Of a guarded name that is known not to be there:
  // it is allowed, with the reason NotFound, as API servers answer.
  bool allowed = true;
  bool guarded = false;
  std::string reason;
  std::string message;
  uint64_t revision = 0;  // of the graph that was looked at

  // What blocks its deletion or, once it is being deleted, its end; for a held provider: what would block its
  // deletion.
  std::vector<WhyBlocker> blockers;
  std::vector<WhyRoot> roots;  // nearest first
  uint32_t rootsLeftOut = 0;   // found beyond the bound
  bool complete = true;        // false: the search met its bound, and there may be other roots

  // Adds the denials of DeletionPolicies. While the object is being deleted, only policies that hold it
  // count.
  void join(const std::vector<protection::Denial>& denials);
  // Adds what keeps the object, or its deletion, by what other objects say.
  void join(const std::vector<SpecBlocker>& specBlockers);
  bool isBlocked() const { return !allowed || terminating || !blockers.empty(); }
};

inline constexpr std::string_view kNotFound = "NotFound";
inline constexpr std::string_view kNeverDeleted = "NeverDeleted";  // kube::isImmortal()
// Returns "no API server deletes the Namespaces ...", with all that are immortal of the type.
std::string neverDeletedText(const kube::GroupResource& type);

// Explains the object in bounded time and length: at most ten blockers of each kind, ten roots and 10,000
// visited vertices. `specs`: of all objects; the graph requires its blockers without a cause
// (requireSpecBlockers()).
Why why(const graph::Graph& graph, const GuardIndex& index, const kube::ObjectKey& object,
        ExplanationReader reader = ExplanationReader::OfLastout,
        const std::vector<protection::Denial>& protections = {}, const SpecFindings& specs = {});

// For people: a few lines for each part.
std::string toText(const Why& why);
// For programs: an object with the fields of Why (docs/why.md).
std::string toJson(const Why& why);
// Reads what toJson() wrote. Fails on everything else, and on texts with control characters, because callers
// print the text of a remote server on a terminal.
kube::Result<Why> parseWhy(std::string_view json);

}  // namespace lastout::admission

// explain: writes everything that people read about a verdict, so that kubectl's error, `lastout why`, Events
// and the graph page say the same.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "admission/decide.h"
#include "admission/guard_index.h"
#include "graph/graph.h"

namespace lastout::admission {

inline constexpr size_t kLongestMessage = 1000;  // bytes of Explanation::message
inline constexpr size_t kMostCauses = 10;        // blockers that are told one by one
inline constexpr size_t kMostRoots = 3;          // root blockers that are named

// One of `details.causes` in the API server's Status; its texts are parts of Explanation::words.
struct DenialCause {
  // A word for programs: toString(Reason), or one of those below; docs/verdicts.md.
  std::string_view reason;
  // What blocks: "coolresources.my.crd.group/some-instance has finalizer ...".
  std::string_view message;
  // Who asks for it: "criticalservices.lastout.dev/for-finalizer-deployment#spec.criteria[0]".
  std::string_view field;
};

inline constexpr std::string_view kRootBlocker = "RootBlocker";
inline constexpr std::string_view kProviderReplaced = "ProviderReplaced";
inline constexpr std::string_view kMoreBlockers = "MoreBlockers";

struct Explanation {
  std::string message;  // one sentence: the object, what blocks it, how many more, and what to do
  std::vector<DenialCause>
      causes;  // of a denial: what blocks, at most kMostCauses; then roots; then how many more
  std::shared_ptr<const char[]> words;  // all texts of the causes
  uint64_t revision = 0;                // of the graph that was looked at
};

std::string_view toString(Reason reason);  // "CriterionUnmet", as in a cause

// Explains the verdict on a DELETE of `object`. `verdict` is what decide() made of its guard entries, of the
// same graph and index; for Reason::Unconfirmed `detail` says what went wrong with the confirming read
// ("listing coolresources.my.crd.group took longer than 2s"). The same graph gives the same words, in bounded
// time and length.
Explanation explain(const graph::Graph& graph, const GuardIndex& index, const KeyView& object,
                    const Verdict& verdict, std::string_view detail = {});
Explanation explain(const graph::Graph& graph, const GuardIndex& index, const kube::ObjectKey& object,
                    const Verdict& verdict, std::string_view detail = {});

// Returns why no deletion ever meets a criterion, in the words of a denial: its own service's provider, or
// what holds that, holds it: "; no deletion resolves this: criticalservices.lastout.dev/op#spec.criteria[0]
// waits for namespaces/op, the namespace of its own provider: ...". Empty: deletions can meet it.
std::string whyUnresolvable(const graph::Graph& graph, const criticalservice::CriticalService& service,
                            size_t criterion);

// Returns why a criterion does not hold, in the words of a denial; empty: it holds.
std::string whyUnmet(const graph::Graph& graph, const criticalservice::Criterion& criterion);
// Why too little is known of a type: "lastout is not allowed to list coolresources.my.crd.group".
std::string whyUnknown(const graph::Graph& graph, const kube::GroupResource& type);

// The reader of an explanation decides how it names missing rights: those of lastout, or those of the user
// who runs `lastout why` or `lastout graph` with their own kubeconfig.
enum class ExplanationReader : uint8_t {
  OfLastout,  // "lastout is not allowed to list ..."
  WhoAsked,   // "you are not allowed to list ..."
};

// Returns what explain() returns, worded for this reader.
Explanation explainTo(ExplanationReader reader, const graph::Graph& graph, const GuardIndex& index,
                      const KeyView& object, const Verdict& verdict, std::string_view detail = {});

}  // namespace lastout::admission

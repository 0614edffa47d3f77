// proof_change: what a change of a scenario, or of manifests, made worse. docs/prove.md, "What a change made
// worse", says what counts.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prove/proof_report.h"
#include "replay/batch.h"

namespace lastout::prove {

enum class WorseningKind : uint8_t {
  Unsafe,      // an unsafe commit, and there was none of that object
  Stuck,       // it gets stuck, and did not
  StuckEnd,    // it got stuck before, but never with all this left or missing
  Broken,      // an event comes too early that did not
  Guard,       // lost, of a CriticalService or a DeletionPolicy
  Assumption,  // what is proven rests on one more
};

// "new-unsafe", "new-stuck", "new-stuck-end", "new-broken", "lost-guard", "new-assumption": in JSON, and the
// ruleId in SARIF.
std::string_view word(WorseningKind kind);

struct Worsening {
  WorseningKind kind = WorseningKind::Stuck;
  std::string text;    // a sentence without its full stop
  std::string object;  // Guard, Assumption, Unsafe where there was one of another: what it is about
  std::vector<NarratedStep> steps;   // Unsafe, Broken: an order that shows it
  std::optional<StuckReport> stuck;  // Stuck, StuckEnd
};

// In the order in which results are told.
enum class ChangeResult : uint8_t { Worse, Undecided, Better, NotWorse, New, Gone };
inline constexpr std::array kChangeResults{ChangeResult::Worse,  ChangeResult::Undecided,
                                           ChangeResult::Better, ChangeResult::NotWorse,
                                           ChangeResult::New,    ChangeResult::Gone};

std::string_view word(ChangeResult result);  // "WORSE", "NOT DECIDED", "BETTER", "NOT WORSE", "NEW", "GONE"

struct ProofChange {
  std::string file;  // as it is named now; of one that is gone, before
  std::string name;
  ChangeResult result = ChangeResult::NotWorse;
  std::optional<ProofReport> before;  // nullopt: it was not there, or could not be read
  std::optional<ProofReport> now;     // nullopt: it is gone, or no scenario any more
  std::vector<Worsening> worse;       // in the order of their kinds
  std::vector<std::string> notes;     // what else is to be told: sentences without their full stops
};

// A scenario with what its proof found, made with ProofScope::findsAll. Both proofs of a comparison answer
// the question that is asked now: where the end that is expected is another one, the former scenario is
// proven with that of now.
struct ProvenScenario {
  const replay::Ready& ready;
  const ProofReport& report;
};

// Compares one scenario as it was before with what it is now. What was wrong before in the same way is not
// worse. Where a bound was met, only what is certain counts; the result is Undecided where that leaves it
// open.
ProofChange compareProofs(const ProvenScenario& before, const ProvenScenario& now);

// Returns the result of a scenario whose files have not changed, so that one proof is enough:
// nothing is worse, whether or not a bound was met.
ProofChange unchangedScenario(ProofReport now, const std::string& formerFile);

// Of a scenario that was not there before, or could not be read (`why`, empty otherwise).
ProofChange addedScenario(ProofReport now, const std::string& why);
ProofChange removedScenario(const std::string& file, const std::string& name);

// Returns what is worse, what else is to be told, and of what goes wrong in a new way a shortest order that
// shows it.
std::string toText(const ProofChange& change, const replay::TextStyle& style);
// The last line: how many of each result.
std::string summary(std::span<const ProofChange> changes, const std::string& folder,
                    const replay::TextStyle& style);
std::string toJson(std::span<const ProofChange> changes, const std::string& folder);

}  // namespace lastout::prove

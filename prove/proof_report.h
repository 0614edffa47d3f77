// proof_report: what a proof found, as words and numbers for every kind of output.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kube/kubernetes_version.h"
#include "prove/prove.h"
#include "prove/tell.h"
#include "replay/assumptions.h"
#include "replay/batch.h"
#include "replay/output.h"
#include "replay/report.h"

namespace lastout::prove {

// An order of events that shows something wrong.
struct Counterexample {
  std::string text;                 // what it shows
  std::vector<NarratedStep> steps;  // from the beginning
};

struct StuckReport {
  std::vector<NarratedStep> steps;          // after the last of them nothing leads to the goal any more
  std::vector<std::string> lost;            // of the goal, what stays whatever follows
  std::vector<replay::Leftover> missing;    // what should exist at the end and does not, and why
  std::vector<NarratedStep> onward;         // one way on, to the end
  uint64_t states = 1;                      // that the end consists of
  std::vector<std::string> churn;           // what goes on and on in it
  std::vector<replay::Leftover> leftovers;  // what is there at the end, and why
  std::vector<std::string> ring;            // objects that wait for each other, in a ring
};

struct ProofReport {
  std::string file;
  std::string name;
  std::string description;
  Proof proof;
  kube::KubernetesVersion kubernetes = kube::kNewestKubernetes;  // whose rules it is about
  Bounds bounds;
  std::chrono::duration<double> time{0};        // that it took; the caller knows
  bool isStrict = false;                        // an assumption is a failure; the caller knows
  bool expected = false;                        // the verdict is what the scenario expects
  std::string expectation;                      // one sentence on that
  std::vector<replay::Assumption> assumptions;  // that the verdict rests on
  std::vector<std::string> proven;  // sentences; what holds in every order (of an undecided one: so far)
  std::optional<Counterexample> unsafe;
  std::optional<StuckReport> stuck;
  std::vector<Counterexample> broken;
};

ProofReport reportOf(const replay::Ready& ready, const ProofScope& question, Proof proof);

// Tells one way to get stuck, such as one of Proof::ends.
StuckReport stuckReportOf(const replay::Ready& ready, const StuckEnd& end);
// Tells one of Proof::unsafeCommits.
Counterexample unsafeReportOf(const replay::Ready& ready, const UnsafeCommit& commit);

std::string_view word(ProofResult verdict);  // "PROVEN", "STUCK", "UNSAFE", "BROKEN", "NOT DECIDED"

// With style.timeline also the way on from where it is lost.
std::string toText(const ProofReport& report, const replay::TextStyle& style);
// The last line: how many of each verdict.
std::string summary(std::span<const ProofReport> reports, const replay::TextStyle& style);
std::string toJson(std::span<const ProofReport> reports);

}  // namespace lastout::prove

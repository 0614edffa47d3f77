// ci_report: proofs in the formats that CI systems show beside a change: JUnit's XML, and SARIF 2.1.0.
#pragma once

#include <span>
#include <string>

#include "prove/proof_change.h"
#include "prove/proof_report.h"

namespace lastout::prove {

// A proof, and whether whoever asked for it is content with its verdict.
struct JudgedProof {
  const ProofReport* report = nullptr;
  bool passes = false;
};

// Returns a test suite for each proof, with one test case; the output of one that does not pass is what
// people read on a terminal.
std::string toJUnit(std::span<const JudgedProof> proofs);

// Returns one run with a result for each proof that does not pass, at the beginning of its file; ruleId is
// the verdict. Files are URIs relative to where lastout was started, as they were named.
std::string toSarif(std::span<const JudgedProof> proofs);

// The same of what a change made worse. JUnit: a suite for each scenario that is there now, with a test case
// for each kind of worsening, and one that fails where a bound left it open.
std::string toJUnit(std::span<const ProofChange> changes);

// A result for each worsening: `error`, or `warning` of an assumption; ruleId is its kind. NOT DECIDED is a
// `warning`; a verdict that is wrong, and no worse than before or new, a `note`.
std::string toSarif(std::span<const ProofChange> changes);

}  // namespace lastout::prove

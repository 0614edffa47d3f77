#include "prove/ci_report.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/encoding.h"
#include "kube/messages.h"
#include "kube/value.h"
#include "replay/junit.h"

namespace lastout::prove {
namespace {

using kube::OrderedJson;

std::string textOf(const ProofReport& report) {
  return toText(report, {.color = false, .timeline = false, .width = 120});
}

// The first thing that is wrong, in one line.
std::string summaryOf(const ProofReport& report) {
  std::string message(word(report.proof.verdict));
  if (report.unsafe) return message + ": " + report.unsafe->text;
  if (report.stuck && !report.stuck->lost.empty())
    return message +
           ": from some state on, whatever follows, this stays: " + kube::listed(report.stuck->lost, 3);
  if (!report.broken.empty()) return message + ": " + report.broken.front().text;
  const bool isProven = report.proof.verdict == ProofResult::Proven;
  if (isProven && report.expectation.empty() && !report.assumptions.empty())
    return message + ", but it assumes: " + report.assumptions.front().text;
  return report.expectation.empty() ? message : message + ": " + report.expectation;
}

bool isUndecided(const JudgedProof& proof) { return proof.report->proof.verdict == ProofResult::Undecided; }

// What each ruleId means (docs/prove.md).
constexpr std::array<std::pair<ProofResult, const char*>, 5> kRules{{
    {ProofResult::Proven,
     "No order gets stuck, although the scenario expects it; or, with --strict, none does while what is "
     "assumed holds."},
    {ProofResult::Stuck, "An order exists after which the goal is out of reach, whatever follows."},
    {ProofResult::Unsafe,
     "An order exists in which a deletion is committed although its criteria did not hold at its confirming "
     "read."},
    {ProofResult::Broken, "An order exists that violates `before` or `never` of the scenario."},
    {ProofResult::Undecided, "A bound was met before every order was looked at."},
}};

}  // namespace

std::string toJUnit(std::span<const JudgedProof> proofs) {
  std::vector<replay::JUnitSuite> suites;
  for (const JudgedProof& proof : proofs) {
    replay::JUnitSuite suite{
        .name = proof.report->name, .file = proof.report->file, .cases = {}, .output = {}};
    suite.cases.push_back({.name = "every order", .failure = std::nullopt});
    if (!proof.passes) {
      suite.cases.back().failure = summaryOf(*proof.report);
      suite.output = textOf(*proof.report);
    }
    suites.push_back(std::move(suite));
  }
  return replay::toJUnit("lastout prove", suites);
}

std::string toSarif(std::span<const JudgedProof> proofs) {
  OrderedJson rules = OrderedJson::array();
  for (const auto& [verdict, meaning] : kRules)
    rules.push_back({{"id", word(verdict)}, {"shortDescription", {{"text", meaning}}}});
  OrderedJson results = OrderedJson::array();
  for (const JudgedProof& proof : proofs) {
    if (proof.passes) continue;
    const OrderedJson place = {
        {"artifactLocation", {{"uri", kube::percentEncoded(proof.report->file, "-._~/")}}},
        {"region", {{"startLine", 1}}}};
    results.push_back({{"ruleId", word(proof.report->proof.verdict)},
                       {"level", isUndecided(proof) ? "warning" : "error"},
                       {"message", {{"text", summaryOf(*proof.report) + "\n\n" + textOf(*proof.report)}}},
                       {"locations", OrderedJson::array({{{"physicalLocation", place}}})}});
  }
  const OrderedJson driver = {{"name", "lastout prove"}, {"rules", std::move(rules)}};
  const OrderedJson run = {{"tool", {{"driver", driver}}}, {"results", std::move(results)}};
  return OrderedJson{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                     {"version", "2.1.0"},
                     {"runs", OrderedJson::array({run})}}
             .dump(2) +
         "\n";
}

}  // namespace lastout::prove

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

// What each kind of worsening means, as a rule and as a test case.
struct WorseningRule {
  WorseningKind kind;
  const char* meaning;
  const char* testCase;
};
constexpr std::array<WorseningRule, 6> kWorseningRules{{
    {WorseningKind::Unsafe, "A change made an unsafe commit possible.", "no new unsafe commit"},
    {WorseningKind::Stuck, "A change made it possible to get stuck.",
     "it does not get stuck where it did not"},
    {WorseningKind::StuckEnd, "A change made another way to get stuck.", "no other way to get stuck"},
    {WorseningKind::Broken, "A change lets an event come too early.", "no new event that comes too early"},
    {WorseningKind::Guard, "A change took away what guards or protects an object.", "no lost guard"},
    {WorseningKind::Assumption, "A change makes the verdict rest on one more assumption.",
     "no new assumption"},
}};

std::string textOf(const ProofChange& change) {
  return toText(change, {.color = false, .timeline = false, .width = 120});
}

std::string joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += (text.empty() ? "" : "; ") + sentence;
  return text;
}

OrderedJson ruleOf(std::string_view id, const char* meaning) {
  return {{"id", id}, {"shortDescription", {{"text", meaning}}}};
}

OrderedJson rulesOfVerdicts() {
  OrderedJson rules = OrderedJson::array();
  for (const auto& [verdict, meaning] : kRules) rules.push_back(ruleOf(word(verdict), meaning));
  return rules;
}

// Returns a result that is shown at the beginning of the file.
OrderedJson resultOf(std::string_view rule, const char* level, const std::string& text,
                     const std::string& file) {
  const OrderedJson place = {{"artifactLocation", {{"uri", kube::percentEncoded(file, "-._~/")}}},
                             {"region", {{"startLine", 1}}}};
  return {{"ruleId", rule},
          {"level", level},
          {"message", {{"text", text}}},
          {"locations", OrderedJson::array({{{"physicalLocation", place}}})}};
}

std::string documentOf(OrderedJson rules, OrderedJson results) {
  const OrderedJson driver = {{"name", "lastout prove"}, {"rules", std::move(rules)}};
  const OrderedJson run = {{"tool", {{"driver", driver}}}, {"results", std::move(results)}};
  return OrderedJson{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                     {"version", "2.1.0"},
                     {"runs", OrderedJson::array({run})}}
             .dump(2) +
         "\n";
}

// Why the test case of that kind fails; nullopt: it passes.
std::optional<std::string> failureOf(const ProofChange& change, WorseningKind kind) {
  std::vector<std::string> texts;
  for (const Worsening& each : change.worse) {
    if (each.kind == kind) texts.push_back(each.text);
  }
  return texts.empty() ? std::nullopt : std::optional(joined(texts));
}

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

std::string toJUnit(std::span<const ProofChange> changes) {
  std::vector<replay::JUnitSuite> suites;
  for (const ProofChange& change : changes) {
    if (!change.now) continue;
    replay::JUnitSuite suite{.name = change.name, .file = change.file, .cases = {}, .output = {}};
    for (const WorseningRule& rule : kWorseningRules)
      suite.cases.push_back({.name = rule.testCase, .failure = failureOf(change, rule.kind)});
    suite.cases.push_back({.name = "it is decided", .failure = std::nullopt});
    if (change.result == ChangeResult::Undecided) suite.cases.back().failure = joined(change.notes);
    if (replay::failuresIn(suite) != 0) suite.output = textOf(change);
    suites.push_back(std::move(suite));
  }
  return replay::toJUnit("lastout prove", suites);
}

std::string toSarif(std::span<const JudgedProof> proofs) {
  OrderedJson results = OrderedJson::array();
  for (const JudgedProof& proof : proofs) {
    if (proof.passes) continue;
    results.push_back(resultOf(word(proof.report->proof.verdict), isUndecided(proof) ? "warning" : "error",
                               summaryOf(*proof.report) + "\n\n" + textOf(*proof.report),
                               proof.report->file));
  }
  return documentOf(rulesOfVerdicts(), std::move(results));
}

std::string toSarif(std::span<const ProofChange> changes) {
  OrderedJson rules = rulesOfVerdicts();
  for (const WorseningRule& rule : kWorseningRules) rules.push_back(ruleOf(word(rule.kind), rule.meaning));
  OrderedJson results = OrderedJson::array();
  for (const ProofChange& change : changes) {
    for (const Worsening& each : change.worse) {
      const bool isAssumption = each.kind == WorseningKind::Assumption;
      results.push_back(resultOf(word(each.kind), isAssumption ? "warning" : "error",
                                 each.text + "\n\n" + textOf(change), change.file));
    }
    if (!change.worse.empty() || !change.now) continue;
    const ProofResult verdict = change.now->proof.verdict;
    if (change.result == ChangeResult::Undecided)
      results.push_back(resultOf(word(ProofResult::Undecided), "warning", textOf(change), change.file));
    else if (verdict != ProofResult::Proven)
      results.push_back(resultOf(word(verdict), "note", textOf(change), change.file));
  }
  return documentOf(std::move(rules), std::move(results));
}

}  // namespace lastout::prove

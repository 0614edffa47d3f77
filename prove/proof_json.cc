// Proofs as JSON.
#include <nlohmann/json.hpp>

#include "kube/value.h"
#include "prove/proof_change.h"
#include "prove/proof_report.h"

namespace lastout::prove {

namespace {

using kube::OrderedJson;

OrderedJson stepsOf(const std::vector<NarratedStep>& steps) {
  OrderedJson result = OrderedJson::array();
  for (const NarratedStep& step : steps) result.push_back(step.text);
  return result;
}

OrderedJson exampleOf(const Counterexample& example) {
  return {{"text", example.text}, {"steps", stepsOf(example.steps)}};
}

OrderedJson stuckOf(const StuckReport& stuck) {
  OrderedJson result = {{"steps", stepsOf(stuck.steps)},   {"lost", stuck.lost},
                        {"onward", stepsOf(stuck.onward)}, {"endStates", stuck.states},
                        {"goesOn", stuck.churn},           {"stillThere", OrderedJson::array()},
                        {"missing", OrderedJson::array()}, {"ring", stuck.ring}};
  for (const replay::Leftover& leftover : stuck.leftovers)
    result["stillThere"].push_back({{"object", leftover.object}, {"reasons", leftover.reasons}});
  for (const replay::Leftover& missing : stuck.missing)
    result["missing"].push_back({{"object", missing.object}, {"reasons", missing.reasons}});
  return result;
}

const char* endWord(Exploration::End end) {
  switch (end) {
    case Exploration::End::Complete:
      return "everything";
    case Exploration::End::StateBound:
      return "max-states";
    case Exploration::End::MemoryBound:
      return "max-memory";
    case Exploration::End::Stopped:
      return "stopped";
  }
  return "";
}

OrderedJson assumptionsOf(const ProofReport& report) {
  OrderedJson result = OrderedJson::array();
  for (const replay::Assumption& each : report.assumptions)
    result.push_back({{"object", each.object}, {"text", each.text}});
  return result;
}

OrderedJson proofOf(const ProofReport& report) {
  const Proof& proof = report.proof;
  OrderedJson result = {{"file", report.file},
                        {"name", report.name},
                        {"description", report.description},
                        {"kubernetes", toString(report.kubernetes)},
                        {"verdict", word(proof.verdict)},
                        {"asExpected", report.expected},
                        {"lookedAt", endWord(proof.end)},
                        {"states", proof.states},
                        {"transitions", proof.transitions},
                        {"bytes", proof.bytes},
                        {"seconds", report.time.count()},
                        {"proven", report.proven},
                        {"assumptions", assumptionsOf(report)}};
  result["unsafe"] = report.unsafe ? exampleOf(*report.unsafe) : OrderedJson();
  result["stuck"] = report.stuck ? stuckOf(*report.stuck) : OrderedJson();
  result["broken"] = OrderedJson::array();
  for (const Counterexample& each : report.broken) result["broken"].push_back(exampleOf(each));
  return result;
}

// Without what differs from run to run.
OrderedJson sideOf(const std::optional<ProofReport>& report) {
  if (!report) return {};
  return {{"file", report->file},
          {"verdict", word(report->proof.verdict)},
          {"lookedAt", endWord(report->proof.end)},
          {"states", report->proof.states},
          {"transitions", report->proof.transitions},
          {"assumptions", assumptionsOf(*report)}};
}

OrderedJson worseningOf(const Worsening& each) {
  OrderedJson result = {{"kind", word(each.kind)}, {"text", each.text}, {"object", each.object}};
  result["steps"] = stepsOf(each.steps);
  result["stuck"] = each.stuck ? stuckOf(*each.stuck) : OrderedJson();
  return result;
}

OrderedJson changeOf(const ProofChange& change) {
  OrderedJson result = {{"file", change.file},           {"name", change.name},
                        {"result", word(change.result)}, {"before", sideOf(change.before)},
                        {"now", sideOf(change.now)},     {"worse", OrderedJson::array()},
                        {"notes", change.notes}};
  for (const Worsening& each : change.worse) result["worse"].push_back(worseningOf(each));
  return result;
}

// Names come from files; bytes that are no UTF-8 are replaced.
std::string printed(const OrderedJson& json) {
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace

std::string toJson(std::span<const ProofReport> reports) {
  OrderedJson result = {{"scenarios", OrderedJson::array()}};
  for (const ProofReport& report : reports) result["scenarios"].push_back(proofOf(report));
  return printed(result);
}

std::string toJson(std::span<const ProofChange> changes, const std::string& folder) {
  OrderedJson result = {{"changedFrom", folder}, {"scenarios", OrderedJson::array()}};
  for (const ProofChange& change : changes) result["scenarios"].push_back(changeOf(change));
  return printed(result);
}

}  // namespace lastout::prove

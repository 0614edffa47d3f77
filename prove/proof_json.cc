// Proofs as JSON.
#include <nlohmann/json.hpp>

#include "prove/proof_report.h"

namespace lastout::prove {

namespace {

using Json = nlohmann::ordered_json;

Json stepsOf(const std::vector<NarratedStep>& steps) {
  Json result = Json::array();
  for (const NarratedStep& step : steps) result.push_back(step.text);
  return result;
}

Json exampleOf(const Counterexample& example) {
  return {{"text", example.text}, {"steps", stepsOf(example.steps)}};
}

Json stuckOf(const StuckReport& stuck) {
  Json result = {{"steps", stepsOf(stuck.steps)},
                 {"lost", stuck.lost},
                 {"onward", stepsOf(stuck.onward)},
                 {"endStates", stuck.states},
                 {"goesOn", stuck.churn},
                 {"stillThere", Json::array()},
                 {"ring", stuck.ring}};
  for (const replay::Leftover& leftover : stuck.leftovers)
    result["stillThere"].push_back({{"object", leftover.object}, {"reasons", leftover.reasons}});
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

Json proofOf(const ProofReport& report) {
  const Proof& proof = report.proof;
  Json result = {{"file", report.file},
                 {"name", report.name},
                 {"description", report.description},
                 {"verdict", word(proof.verdict)},
                 {"asExpected", report.expected},
                 {"lookedAt", endWord(proof.end)},
                 {"states", proof.states},
                 {"transitions", proof.transitions},
                 {"bytes", proof.bytes},
                 {"seconds", report.time.count()},
                 {"proven", report.proven},
                 {"assumptions", Json::array()}};
  for (const replay::Assumption& each : report.assumptions)
    result["assumptions"].push_back({{"object", each.object}, {"text", each.text}});
  result["unsafe"] = report.unsafe ? exampleOf(*report.unsafe) : Json();
  result["stuck"] = report.stuck ? stuckOf(*report.stuck) : Json();
  result["broken"] = Json::array();
  for (const Counterexample& each : report.broken) result["broken"].push_back(exampleOf(each));
  return result;
}

}  // namespace

std::string toJson(std::span<const ProofReport> reports) {
  Json result = {{"scenarios", Json::array()}};
  for (const ProofReport& report : reports) result["scenarios"].push_back(proofOf(report));
  // Names come from files; bytes that are no UTF-8 are replaced.
  return result.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lastout::prove

// Two sides of a comparison of proofs: small scenarios, of which one thing was changed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "prove/proof_change.h"
#include "tests/prove/small_scenario.h"

namespace lastout::prove {

// One side of a comparison: the scenario stays where it is.
struct Side {
  explicit Side(std::unique_ptr<const replay::Ready> made, Bounds bounds = {}) : ready(std::move(made)) {
    const ProofScope scope{
        .bounds = bounds, .orders = ready->scenario.expect.ends != replay::Ending::Stuck, .findsAll = true};
    report = reportOf(*ready, scope, proveScenario(ready->compiled, scope));
  }
  std::unique_ptr<const replay::Ready> ready;
  ProofReport report;
};

inline ProofChange compared(const Side& before, const Side& now) {
  return compareProofs({*before.ready, before.report}, {*now.ready, now.report});
}

inline std::vector<std::string> kindsOf(const ProofChange& change) {
  std::vector<std::string> kinds;
  kinds.reserve(change.worse.size());
  for (const Worsening& each : change.worse) kinds.emplace_back(word(each.kind));
  return kinds;
}

inline const std::string kDeleteOperatorAndWidget =
    "  steps:\n    - delete: [deployments.apps/operator/operator, widgets/one]\n";
inline const std::string kDeleteOperatorAndWidgets =
    "  steps:\n    - delete: [deployments.apps/operator/operator, widgets/*]\n";
inline const std::string kSecondWidget =
    "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: two, finalizers: "
    "[example.com/cleanup]}\n";

inline Side operatorWith(const std::string& documents, const std::string& steps = kDeleteOperatorAndWidget) {
  return Side(smallScenario(steps, kOperator + documents));
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace lastout::prove

// One random run with everything that is checked about it.
#pragma once

#include <cstdint>
#include <string>

#include "tests/properties/cluster_spec.h"
#include "tests/properties/coverage.h"

namespace lastout::testing {

struct RunResult {
  std::string failure = {};    // the property that broke, and where; empty when all held
  bool built = true;           // false: `failure` says why there was no run
  bool unsafe = false;         // the machine's own account of an unsafe commit
  bool othersRefused = false;  // a webhook of somebody else refused an agent's request
  bool givenUp = false;        // a deferred deletion, with a CriticalService that is not Ordered
  std::string goneEarly = {};  // an AppliedManifestWork, before what it applied and is guarded
  std::vector<std::string> leftBeforeLast = {};  // what is there before the steps that come last
  std::vector<std::string> left = {};            // and what in the end
};

// Builds the cluster and runs it in the order that the seed gives. In every state: the rules of Kubernetes
// (machine_rules.h), safety, and the three verdicts (verdicts.h) of the object under review and of a few
// others; of all guarded objects now and then, and at the end.
RunResult checkRun(const ClusterSpec& spec, uint64_t seed, Coverage& coverage);

// The trace of a run, for comparing runs: every action, every event, every state.
std::string traceOf(const ClusterSpec& spec, uint64_t seed);

}  // namespace lastout::testing

// assumptionsOf: what a verdict on a scenario takes for granted about objects of the input, because the
// machine does not follow it, although it could stop a deletion.
#pragma once

#include <string>
#include <vector>

#include "replay/compile.h"
#include "replay/scenario.h"

namespace lastout::replay {

struct Assumption {
  std::string object;  // what it is about: "validatingwebhookconfigurations/checks"
  std::string text;    // "the webhook checks/checks.example.io answers and allows: it is reached by URL"
  std::string
      claim;  // the same without what it was inferred from; where that is not told, the same as `text`
  auto operator<=>(const Assumption&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

// Returns them by object, each once. Each concerns an object of the goal: its deletion, or the removal of its
// finalizers. What stops a deletion in the machine, such as a finalizer that nobody removes, is none.
std::vector<Assumption> assumptionsOf(const Scenario& scenario, const Compiled& compiled);

}  // namespace lastout::replay

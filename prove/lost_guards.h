// lost_guards: what lastout guarded in one model and no longer guards in another of the same cluster.
#pragma once

#include <string>
#include <vector>

#include "cluster/model.h"

namespace lastout::prove {

struct LostGuard {
  std::string object;  // that is guarded less; empty: all of them
  std::string text;    // a sentence without its full stop
};

struct GuardComparison {
  std::vector<LostGuard> lost;
  std::vector<std::string> notes;  // guards that are gone together with what they were for
};

// Compares what the models are guarded by, whatever it is called there: each provider by all its
// CriticalServices, with their criteria; what providers need; and each object that DeletionPolicies protect.
// An object that is not in `now` has lost no guard, nor has one lost a criterion about a type or an object
// that is not in `now`.
GuardComparison compareGuards(const cluster::Model& before, const cluster::Model& now);

}  // namespace lastout::prove

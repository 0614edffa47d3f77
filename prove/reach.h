// reach: questions about explored states: which can still reach the goal, and where those end that cannot.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "prove/explore.h"

namespace lastout::prove {

// Returns for each state whether the goal can still be reached. If the exploration met a bound, a state that
// was not expanded counts as one that can reach it: `false` is certain, `true` only after a complete
// exploration.
std::vector<bool> canReachGoal(const Exploration& found);

// Returns for each state how many steps it takes at least from there to the goal. The exploration is
// complete, and every state can reach the goal.
std::vector<uint32_t> distancesToGoal(const Exploration& found);

// The states on a shortest way from the initial one to `state`, both included.
std::vector<uint32_t> wayTo(const Exploration& found, uint32_t state);

// How it gets stuck. Every way on from `doomed` misses the goal; `end` is a set of states that lead only to
// each other.
struct Trap {
  uint32_t doomed = 0;  // no state from which the goal is out of reach is nearer to the initial one
  std::vector<uint32_t>
      onward;                 // a shortest way from doomed to such a set: first doomed, last a state of `end`
  std::vector<uint32_t> end;  // ascending
};

// Returns how the system gets stuck from `doomed`, a state for which canReachGoal() says false, so that every
// state after it is explored.
Trap trapFrom(const Exploration& found, uint32_t doomed);

using OnEnd = std::function<void(const std::vector<uint32_t>& states)>;

// Calls `onEnd` with each set of states that lead only to each other and from which the goal is out of reach,
// each set ascending; keeps none of them. The order of the sets is the same for the same exploration.
// `canReach` is what canReachGoal() returns.
void eachEndWithoutGoal(const Exploration& found, const std::vector<bool>& canReach, const OnEnd& onEnd);

// Returns every state that `state` can reach, itself included, nearest first. All of them must have been
// expanded.
std::vector<uint32_t> reachableFrom(const Exploration& found, uint32_t state);

// The first state that cannot reach the goal, if there is one.
std::optional<uint32_t> firstDoomed(const std::vector<bool>& canReach);

}  // namespace lastout::prove

// The goal of a scenario: what must be gone in the end for everything to count as deleted.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/model.h"
#include "cluster/state.h"
#include "replay/compile.h"
#include "replay/scenario.h"

namespace lastout::replay {

// In ascending order, without repetition: every object that a delete step names (a dry run does not count,
// nor does what a later step applies again), and all that has to go with one of these:
//   - of a ManifestWork: its AppliedManifestWork, and the objects it applied that no other, remaining work
//   applies too;
//   - of a Namespace its content, of a CustomResourceDefinition its instances;
//   - dependents all of whose owners go, unless a client's delete of an owner orphans them.
std::vector<cluster::Slot> goalSlots(const cluster::Model& model, const Scenario& scenario);

// Those of the goal that are Pods of a workload which is not: it replaces them.
std::vector<cluster::Slot> replacedPods(const cluster::Model& model, const std::vector<cluster::Slot>& goal);

// Returns true if the object of the goal has still to go: it is present, and is no Pod's replacement.
bool isLeft(const Compiled& compiled, cluster::StateRef state, cluster::Slot slot);
// Returns those of the goal; `state`: as words.
std::vector<cluster::Slot> leftOfGoal(const Compiled& compiled, std::vector<uint64_t> state);
// Returns true if every step was sent, and no object of the goal is left.
bool goalHolds(const Compiled& compiled, cluster::StateRef state);

// Returns true if what the scenario expects to exist at the end is there, and not being deleted: of each
// reference something; `index`: of this one.
bool exists(const Compiled& compiled, cluster::StateRef state, size_t index);
bool allExist(const Compiled& compiled, cluster::StateRef state);

// Returns the model's steps that were not sent, in order.
std::vector<uint32_t> unsentSteps(const Compiled& compiled, cluster::StateRef state);
// Returns the objects that are still there, and for whose end steps wait that were not sent; `state`: as
// words.
std::vector<cluster::Slot> awaitedBySteps(const Compiled& compiled, std::vector<uint64_t> state);

}  // namespace lastout::replay

// resolve: what the references of a scenario mean in its model. Internal to replay/.
#pragma once

#include <optional>
#include <vector>

#include "cluster/model.h"
#include "replay/scenario.h"

namespace lastout::replay {

// Returns every slot that the reference means, in ascending order; may be empty.
std::vector<cluster::Slot> matches(const cluster::Model& model, const ScenarioReference& reference);

// The same, where nothing is an error that names the nearest object of that type.
std::vector<cluster::Slot> resolveSome(const cluster::Model& model, const ScenarioReference& reference,
                                       const std::string& file, kube::Errors& errors);
// Exactly one; several are an error that lists them.
std::optional<cluster::Slot> resolveOne(const cluster::Model& model, const ScenarioReference& reference,
                                        const std::string& file, kube::Errors& errors);

}  // namespace lastout::replay

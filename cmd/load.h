// Load: the scenarios that a command line means.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "replay/batch.h"

namespace lastout::cmd {

using Scenarios = std::vector<std::unique_ptr<const replay::Ready>>;

// Of files and folders, with their warnings on the standard error; other files in a folder are passed over
// (replay::ScenarioFile).
tl::expected<Scenarios, kube::Errors> loadScenarios(const std::vector<std::string>& paths);

}  // namespace lastout::cmd

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

// The one scenario in which the objects that `references` name are deleted, in any order, in a cluster that
// holds the manifests in `paths` (replay::scenarioOfDeletions()), with its warnings on the standard error.
tl::expected<Scenarios, kube::Errors> loadDeletions(const std::vector<std::string>& paths,
                                                    const std::vector<std::string>& references);

// Returns an error for each path that cannot name a scenario: it looks like the input of another command, or
// like an option.
kube::Errors refusedScenarioPaths(const std::vector<std::string>& paths);

// Prints the warnings about scenarios on the standard error. Fails where they cannot be found.
tl::expected<void, kube::Errors> warnAbout(const std::vector<const replay::Ready*>& all);

// All files that they were read from.
std::vector<std::string> filesOf(const Scenarios& all);

}  // namespace lastout::cmd

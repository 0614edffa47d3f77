// batch: many scenario files at once, as a command line means them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "replay/compile.h"
#include "replay/scenario.h"

namespace lastout::replay {

// A scenario that is ready to run. Stays where it is: a Machine keeps a reference to its model.
struct Ready {
  Scenario scenario;
  Compiled compiled;
};

// Compiles the scenario. Fails as compile() does.
tl::expected<std::unique_ptr<const Ready>, kube::Errors> readyOf(Scenario scenario);

struct ScenarioFile {
  std::string path;
  bool named = true;  // by a person; else found in a folder, and passed over when it is no scenario
};

// All of them, in the order given, or everything that is wrong with any of them. Fails when there is none.
tl::expected<std::vector<std::unique_ptr<const Ready>>, kube::Errors> loadAll(
    const std::vector<ScenarioFile>& files, const kube::ParseLimits& limits = {});

}  // namespace lastout::replay

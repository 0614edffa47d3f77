#include "cmd/load.h"

#include <algorithm>

#include "cmd/paths.h"

namespace lastout::cmd {

tl::expected<Scenarios, kube::Errors> loadScenarios(const std::vector<std::string>& paths) {
  const auto files = expandPaths(paths);
  if (!files) return tl::unexpected(kube::Errors{files.error()});
  std::vector<scenarios::File> inputs;
  for (const std::string& file : *files) {
    const bool named = std::find(paths.begin(), paths.end(), file) != paths.end();
    inputs.push_back({file, named});
  }
  return scenarios::loadAll(inputs);
}

}  // namespace lastout::cmd

#include "cmd/load.h"

#include <algorithm>
#include <utility>

#include "cmd/commands.h"
#include "cmd/paths.h"
#include "replay/manifest_graph.h"

namespace lastout::cmd {
namespace {

// With their warnings on the standard error.
tl::expected<Scenarios, kube::Errors> warned(tl::expected<Scenarios, kube::Errors> all) {
  if (!all) return all;
  std::vector<const replay::Ready*> scenarios;
  scenarios.reserve(all->size());
  for (const auto& ready : *all) scenarios.push_back(ready.get());
  if (auto done = warnAbout(scenarios); !done) return tl::unexpected(std::move(done.error()));
  return all;
}

}  // namespace

kube::Errors refusedScenarioPaths(const std::vector<std::string>& paths) {
  kube::Errors errors;
  for (const std::string& path : paths) {
    if (path == kStandardInput)
      errors.push_back({"scenarios are not read from the standard input: name files or folders", path, {}});
    if (path.ends_with(".jsonl"))
      errors.push_back(
          {"this is a recording by its name: lastout replay --from-recording reads it", path, {}});
  }
  return errors;
}

tl::expected<void, kube::Errors> warnAbout(const std::vector<const replay::Ready*>& all) {
  kube::Errors warnings;
  for (const replay::Ready* ready : all) {
    auto found = replay::warningsOf(ready->scenario);
    if (!found) return tl::unexpected(std::move(found.error()));
    warnings.insert(warnings.end(), found->begin(), found->end());
    const kube::Errors& more = ready->compiled.warnings;
    warnings.insert(warnings.end(), more.begin(), more.end());
  }
  printWarnings(warnings);
  return {};
}

tl::expected<Scenarios, kube::Errors> loadScenarios(const std::vector<std::string>& paths) {
  if (kube::Errors errors = refusedScenarioPaths(paths); !errors.empty())
    return tl::unexpected(std::move(errors));
  const auto files = expandPaths(paths);
  if (!files) return tl::unexpected(kube::Errors{files.error()});
  std::vector<replay::ScenarioFile> inputs;
  for (const std::string& file : *files) {
    const bool named = std::find(paths.begin(), paths.end(), file) != paths.end();
    inputs.push_back({file, named});
  }
  return warned(replay::loadAll(inputs));
}

tl::expected<Scenarios, kube::Errors> loadDeletions(const std::vector<std::string>& paths,
                                                    const std::vector<std::string>& references) {
  const auto files = readInputs(paths);
  if (!files) return tl::unexpected(files.error());
  auto scenario = replay::scenarioOfDeletions(*files, references);
  if (!scenario) return tl::unexpected(std::move(scenario.error()));
  auto ready = replay::readyOf(std::move(*scenario));
  if (!ready) return tl::unexpected(std::move(ready.error()));
  Scenarios all;
  all.push_back(std::move(*ready));
  return warned(std::move(all));
}

std::vector<std::string> filesOf(const Scenarios& all) {
  std::vector<std::string> files;
  for (const auto& ready : all) {
    files.push_back(ready->scenario.file);
    files.insert(files.end(), ready->scenario.moreFiles.begin(), ready->scenario.moreFiles.end());
  }
  return files;
}

}  // namespace lastout::cmd

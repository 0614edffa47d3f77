#include "replay/batch.h"

namespace lastout::replay {

namespace {

// Nothing: no scenario, and nobody said that it is one.
tl::expected<std::optional<Scenario>, kube::Errors> loadOne(const ScenarioFile& file,
                                                            const kube::ParseLimits& limits) {
  if (!file.named) return loadIfScenario(file.path, limits);
  auto scenario = load(file.path, limits);
  if (!scenario) return tl::unexpected(std::move(scenario.error()));
  return std::optional<Scenario>(std::move(*scenario));
}

}  // namespace

tl::expected<std::unique_ptr<const Ready>, kube::Errors> readyOf(Scenario scenario) {
  auto compiled = compile(scenario);
  if (!compiled) return tl::unexpected(std::move(compiled.error()));
  return std::make_unique<const Ready>(Ready{std::move(scenario), std::move(*compiled)});
}

tl::expected<std::vector<std::unique_ptr<const Ready>>, kube::Errors> loadAll(
    const std::vector<ScenarioFile>& files, const kube::ParseLimits& limits) {
  std::vector<std::unique_ptr<const Ready>> result;
  kube::Errors errors;
  const auto note = [&](const kube::Errors& more) { errors.insert(errors.end(), more.begin(), more.end()); };
  for (const ScenarioFile& file : files) {
    auto scenario = loadOne(file, limits);
    if (!scenario) {
      note(scenario.error());
      continue;
    }
    if (!*scenario) continue;
    auto ready = readyOf(std::move(**scenario));
    if (ready)
      result.push_back(std::move(*ready));
    else
      note(ready.error());
  }
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  if (result.empty())
    return tl::unexpected(kube::Errors{
        {"none of these files is a scenario: it has a document of kind Scenario; of plain manifests, "
         "lastout prove --delete REFERENCE says what is to be deleted",
         files.empty() ? "" : files.front().path,
         {}}});
  return result;
}

}  // namespace lastout::replay

#include "prove/scenario_pairs.h"

#include <algorithm>
#include <utility>

#include "kube/parse.h"

namespace lastout::prove {

namespace {

using ReadyScenario = std::unique_ptr<const replay::Ready>;
using Side = tl::expected<ReadyScenario, kube::Errors>;

Side readyOf(tl::expected<std::optional<replay::Scenario>, kube::Errors> scenario) {
  if (!scenario) return tl::unexpected(std::move(scenario.error()));
  return *scenario ? replay::readyOf(std::move(**scenario)) : Side();
}

Side named(const std::string& file) {
  auto scenario = replay::load(file);
  if (!scenario) return tl::unexpected(std::move(scenario.error()));
  return replay::readyOf(std::move(*scenario));
}

Side deletionsIn(const tl::expected<std::vector<replay::InputFile>, kube::Errors>& files,
                 const std::vector<std::string>& references) {
  if (!files) return tl::unexpected(files.error());
  if (files->empty()) return Side();
  auto scenario = replay::scenarioOfDeletions(*files, references);
  if (!scenario) return tl::unexpected(std::move(scenario.error()));
  return replay::readyOf(std::move(*scenario));
}

// Sets the former scenario, or why it cannot be read.
void setBefore(ScenarioPair& pair, Side before) {
  if (before)
    pair.before = std::move(*before);
  else
    pair.whyNoBefore = kube::toString(before.error().front());
}

}  // namespace

tl::expected<std::optional<ScenarioPair>, kube::Errors> loadPair(const FilePair& files) {
  ScenarioPair pair;
  if (!files.now.empty()) {
    Side now = files.isNamed ? named(files.now) : readyOf(replay::loadIfScenario(files.now));
    if (!now) return tl::unexpected(std::move(now.error()));
    pair.now = std::move(*now);
  }
  if (!files.before.empty()) setBefore(pair, readyOf(replay::loadIfScenario(files.before)));
  if (pair.now == nullptr && pair.before == nullptr) return std::optional<ScenarioPair>();
  return std::optional<ScenarioPair>(std::move(pair));
}

tl::expected<ScenarioPair, kube::Errors> pairOfDeletions(
    const tl::expected<std::vector<replay::InputFile>, kube::Errors>& now,
    const tl::expected<std::vector<replay::InputFile>, kube::Errors>& before,
    const std::vector<std::string>& references) {
  ScenarioPair pair;
  Side current = deletionsIn(now, references);
  if (!current) return tl::unexpected(std::move(current.error()));
  pair.now = std::move(*current);
  setBefore(pair, deletionsIn(before, references));
  return pair;
}

std::vector<std::string> filesOf(const replay::Ready& ready) {
  std::vector<std::string> files{ready.scenario.file};
  files.insert(files.end(), ready.scenario.moreFiles.begin(), ready.scenario.moreFiles.end());
  return files;
}

bool isUnchanged(const ScenarioPair& pair) {
  if (pair.before == nullptr || pair.now == nullptr) return false;
  return std::ranges::equal(filesOf(*pair.before), filesOf(*pair.now),
                            [](const std::string& one, const std::string& other) {
                              if (one == replay::kStandardInputName || other == replay::kStandardInputName)
                                return false;
                              const kube::Result<std::string> text = kube::readFile(one);
                              const kube::Result<std::string> otherText = kube::readFile(other);
                              return text && otherText && *text == *otherText;
                            });
}

std::unique_ptr<const replay::Ready> askedAsNow(const ScenarioPair& pair) {
  if (pair.before->scenario.expect.ends == pair.now->scenario.expect.ends) return nullptr;
  replay::Scenario scenario = pair.before->scenario;
  scenario.expect.ends = pair.now->scenario.expect.ends;
  auto asked = replay::readyOf(std::move(scenario));
  return asked ? std::move(*asked) : nullptr;
}

}  // namespace lastout::prove

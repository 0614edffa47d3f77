// lastout replay: scenario files, run and judged.
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <optional>

#include "cmd/commands.h"
#include "cmd/load.h"
#include "cmd/terminal.h"
#include "scenarios/all_orders.h"
#include "scenarios/output.h"

namespace lastout::cmd {

namespace {

using scenarios::ScenarioReport;

constexpr uint32_t kRandomRuns = 100;

constexpr const char* kReplayExamples = R"(Examples:
  lastout replay scenarios/story-three-works.yaml        one scenario, told from beginning to end
  lastout replay scenarios/                              every scenario in the folder, one line each and a summary
  lastout replay --order random --runs 1000 scenarios/   the same in 1,000 random orders each
  lastout replay --order all scenarios/                  what is expected, in every order that could happen
  lastout replay --order random --seed 17 --runs 1 --timeline scenarios/story-one-work.yaml
  lastout replay --junit report.xml scenarios/           for CI

Exit codes: 0 all expectations held; 1 one failed; 2 bad input.)";

struct ReplayFlags {
  std::vector<std::string> paths;
  std::string order = "written";
  std::optional<uint64_t> seed;
  std::optional<uint32_t> runs;
  bool timeline = false;
  std::string output = "text";
  std::string trace;
  std::string junit;
};

// In written or random order, with the runs of all scenarios as the whole.
std::vector<ScenarioReport> replayRuns(const Scenarios& all, const scenarios::ReplayOptions& options,
                                       Progress& progress) {
  std::vector<ScenarioReport> reports;
  const uint64_t total = uint64_t{options.runs} * all.size();
  for (const auto& ready : all) {
    const uint64_t before = uint64_t{options.runs} * reports.size();
    reports.push_back(scenarios::replay(*ready, options, [&](uint32_t done) {
      progress.update(before + done, total, "runs", ready->scenario.name);
      return true;
    }));
  }
  return reports;
}

std::vector<ScenarioReport> replayAll(const Scenarios& all, const ReplayFlags& options) {
  Progress progress(std::cerr, terminalOf(STDERR_FILENO));
  if (options.order != "all") {
    const bool random = options.order == "random";
    return replayRuns(all,
                      {.order = random ? scenarios::Order::Random : scenarios::Order::Written,
                       .seed = options.seed.value_or(1),
                       .runs = random ? options.runs.value_or(kRandomRuns) : 1},
                      progress);
  }
  std::vector<ScenarioReport> reports;
  for (const auto& ready : all) {
    reports.push_back(scenarios::replayAllOrders(*ready, {}, [&](const scenarios::Explored& explored) {
      progress.update(explored.states, 0, "states", ready->scenario.name);
      return true;
    }));
  }
  return reports;
}

// Nothing of it stays when it cannot be written as a whole.
kube::Result<void> writeFile(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (out) return {};
  return tl::unexpected(
      kube::Error{"cannot be written: choose a file in a folder that you may write to", path, {}});
}

kube::Result<void> writeFiles(const Scenarios& all, const std::vector<ScenarioReport>& reports,
                              const ReplayFlags& options) {
  if (!options.trace.empty()) {
    std::string text;
    for (size_t i = 0; i < all.size(); ++i) text += scenarios::toTrace(*all[i], reports[i]);
    if (auto written = writeFile(options.trace, text); !written) return written;
  }
  if (!options.junit.empty()) return writeFile(options.junit, scenarios::toJUnit(reports));
  return {};
}

void print(const std::vector<ScenarioReport>& reports, const ReplayFlags& options) {
  if (options.output == "json") {
    std::cout << scenarios::toJson(reports, options.timeline);
    return;
  }
  const Terminal terminal = terminalOf(STDOUT_FILENO);
  const scenarios::TextStyle style{.color = terminal.color,
                                   .timeline = options.timeline || reports.size() == 1,
                                   .width = std::min<size_t>(terminal.width, 120)};
  for (const ScenarioReport& report : reports) std::cout << scenarios::toText(report, style);
  std::cout << scenarios::summary(reports, style);
}

int runReplay(const ReplayFlags& options) {
  if (options.order != "random" && (options.seed || options.runs))
    return badInput(
        kube::Error{"--seed and --runs are for --order random: other orders need only one run", {}, {}});
  const auto all = loadScenarios(options.paths);
  if (!all) return badInput(all.error());
  const std::vector<ScenarioReport> reports = replayAll(*all, options);
  if (auto written = writeFiles(*all, reports, options); !written) return badInput(written.error());
  print(reports, options);
  const bool held =
      std::all_of(reports.begin(), reports.end(), [](const ScenarioReport& r) { return r.held; });
  return held ? kOk : kFailed;
}

}  // namespace

void addReplay(CLI::App& app, int& exitCode) {
  auto options = std::make_shared<ReplayFlags>();
  CLI::App* command =
      app.add_subcommand("replay", "Run scenarios in virtual time, and check what they expect");
  command->footer(kReplayExamples);
  command->add_option("PATH", options->paths, "Scenario files, or folders of them")->required();
  command
      ->add_option("--order", options->order,
                   "written: as the files say, with recorded delays; random: any; all: every one")
      ->check(CLI::IsMember({"written", "random", "all"}))
      ->capture_default_str();
  command->add_option("--seed", options->seed,
                      "Of the first run in random order; the next one has the next [1]");
  command->add_option("--runs", options->runs, "How many runs in random order [100]")
      ->check(CLI::Range(1u, 100'000'000u));
  command->add_flag("--timeline", options->timeline,
                    "Tell everything that happened; the default for a single scenario");
  command->add_option("-o,--output", options->output, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_option("--trace", options->trace, "Write what happened to this file, as JSON lines");
  command->add_option("--junit", options->junit, "Write the results to this file, as JUnit XML");
  command->callback([options, &exitCode] { exitCode = runReplay(*options); });
}

}  // namespace lastout::cmd

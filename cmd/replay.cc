// lastout replay: scenario files, run and judged.
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>
#include <optional>
#include <utility>

#include "client/environment.h"
#include "cmd/commands.h"
#include "cmd/load.h"
#include "cmd/output_file.h"
#include "cmd/terminal.h"
#include "cmd/usage.h"
#include "prove/all_orders.h"
#include "replay/output.h"
#include "replay/recorded_verdicts.h"

namespace lastout::cmd {

namespace {

using replay::ScenarioReport;

constexpr uint32_t kRandomRuns = 100;

constexpr const char* kReplayExamples = R"(Examples:
  lastout replay scenarios/story-three-works.yaml        one scenario, told from beginning to end
  lastout replay scenarios/                              every scenario in the folder, one line each and a summary
  lastout replay --order random --runs 1000 scenarios/   the same in 1,000 random orders each
  lastout replay --order all scenarios/                  what is expected, in every order that could happen
  lastout replay --order random --seed 17 --runs 1 --timeline scenarios/story-one-work.yaml
  lastout replay --junit report.xml scenarios/           for CI
  lastout replay --from-recording tests/recordings/kubernetes-1.26/story-guarded.jsonl
                                                         the verdicts of a recorded cluster, given again

Exit codes: 0 all expectations held, all verdicts are as recorded; 1 one failed; 2 bad input; 3 --order all met a
bound, or a recording has no verdict.)";

struct ReplayFlags {
  std::vector<std::string> paths;
  std::vector<std::string> recordings;
  std::string order = "written";
  std::optional<uint64_t> seed;
  std::optional<uint32_t> runs;
  bool timeline = false;
  std::string output = "text";
  std::string trace;
  std::string junit;
};

// In written or random order, with the runs of all scenarios as the whole.
std::vector<ScenarioReport> replayRuns(const Scenarios& all, const replay::ReplayOptions& options,
                                       Progress& progress) {
  std::vector<ScenarioReport> reports;
  const uint64_t total = uint64_t{options.runs} * all.size();
  for (const auto& ready : all) {
    const uint64_t before = uint64_t{options.runs} * reports.size();
    reports.push_back(replay::replay(*ready, options, [&](uint32_t done) {
      progress.update(before + done, total, "runs", ready->scenario.name);
      return true;
    }));
  }
  return reports;
}

std::vector<ScenarioReport> replayAll(const Scenarios& all, const ReplayFlags& options) {
  Progress progress(std::cerr, terminalOf(STDERR_FILENO, client::processEnvironment()));
  if (options.order != "all") {
    const bool random = options.order == "random";
    return replayRuns(all,
                      {.order = random ? replay::Order::Random : replay::Order::Written,
                       .seed = options.seed.value_or(1),
                       .runs = random ? options.runs.value_or(kRandomRuns) : 1},
                      progress);
  }
  std::vector<ScenarioReport> reports;
  for (const auto& ready : all) {
    reports.push_back(prove::replayAllOrders(*ready, {}, [&](const prove::Explored& explored) {
      progress.update(explored.states, 0, "states", ready->scenario.name);
      return true;
    }));
  }
  return reports;
}

tl::expected<std::vector<ScenarioReport>, kube::Errors> replayRecordings(
    const std::vector<std::string>& paths) {
  std::vector<ScenarioReport> reports;
  for (const std::string& path : paths) {
    kube::Errors warnings;
    auto report = replay::replayRecording(path, warnings);
    if (!report) return tl::unexpected(std::move(report.error()));
    printWarnings(warnings);
    reports.push_back(std::move(*report));
  }
  return reports;
}

// What --trace and --junit ask for, in this order.
tl::expected<OutputFiles, kube::Errors> outputsOf(const ReplayFlags& options,
                                                  const std::vector<std::string>& inputs) {
  return openOutputs(inputs, {{"--trace", options.trace}, {"--junit", options.junit}});
}

kube::Result<void> finish(OutputFiles& outputs, const Scenarios& all,
                          const std::vector<ScenarioReport>& reports) {
  if (outputs[0]) {
    std::string text;
    for (size_t i = 0; i < all.size(); ++i) text += replay::toTrace(*all[i], reports[i]);
    if (auto written = outputs[0]->finish(text); !written) return written;
  }
  return outputs[1] ? outputs[1]->finish(replay::toJUnit(reports)) : kube::Result<void>{};
}

void print(const std::vector<ScenarioReport>& reports, const ReplayFlags& options) {
  if (options.output == "json") {
    std::cout << replay::toJson(reports, options.timeline);
    return;
  }
  const Terminal terminal = terminalOf(STDOUT_FILENO, client::processEnvironment());
  const replay::TextStyle style{.color = terminal.color,
                                .timeline = options.timeline || reports.size() == 1,
                                .width = std::min<size_t>(terminal.width, 120)};
  for (const ScenarioReport& report : reports) std::cout << replay::toText(report, style);
  std::cout << replay::summary(reports, style);
}

// The worst of them.
int exitCodeOf(const std::vector<ScenarioReport>& reports) {
  const auto failed = [](const ScenarioReport& report) { return !report.held && report.decided; };
  if (std::any_of(reports.begin(), reports.end(), failed)) return kFailed;
  const auto open = [](const ScenarioReport& report) { return !report.decided; };
  return std::any_of(reports.begin(), reports.end(), open) ? kUndecided : kOk;
}

int runRecordings(const ReplayFlags& options) {
  auto outputs = outputsOf(options, options.recordings);
  if (!outputs) return badInput(outputs.error());
  const auto reports = replayRecordings(options.recordings);
  if (!reports) return badInput(reports.error());
  if (auto written = finish(*outputs, {}, *reports); !written) return badInput(written.error());
  print(*reports, options);
  return exitCodeOf(*reports);
}

int runReplay(const ReplayFlags& options) {
  if (!options.recordings.empty()) return runRecordings(options);
  if (options.paths.empty())
    return badInput(
        kube::Error{"name scenario files or folders of them, or a recording with --from-recording", {}, {}});
  if (options.order != "random" && (options.seed || options.runs))
    return badInput(
        kube::Error{"--seed and --runs are for --order random: other orders need only one run", {}, {}});
  const auto all = loadScenarios(options.paths);
  if (!all) return badInput(all.error());
  auto outputs = outputsOf(options, filesOf(*all));
  if (!outputs) return badInput(outputs.error());
  const std::vector<ScenarioReport> reports = replayAll(*all, options);
  if (auto written = finish(*outputs, *all, reports); !written) return badInput(written.error());
  print(reports, options);
  return exitCodeOf(reports);
}

}  // namespace

void addReplay(CLI::App& app, int& exitCode) {
  auto options = std::make_shared<ReplayFlags>();
  CLI::App* command = app.add_subcommand(
      "replay", "Run scenarios in virtual time, or a recording again, and check what comes of it");
  command->footer(kReplayExamples);
  std::vector<CLI::Option*> ofScenarios;
  ofScenarios.push_back(command->add_option("PATH", options->paths, "Scenario files, or folders of them"));
  ofScenarios.push_back(
      command
          ->add_option("--order", options->order,
                       "written: as the files say, with recorded delays; random: any; all: every one")
          ->check(CLI::IsMember({"written", "random", "all"}))
          ->capture_default_str());
  ofScenarios.push_back(command
                            ->add_option("--seed", options->seed,
                                         "Of the first run in random order; the next one has the next [1]")
                            ->check(CLI::Validator(wholeNumber, "UINT64")));
  ofScenarios.push_back(command->add_option("--runs", options->runs, "How many runs in random order [100]")
                            ->check(CLI::Range(1u, 100'000'000u)));
  ofScenarios.push_back(
      command->add_option("--trace", options->trace, "Write what happened to this file, as JSON lines"));
  CLI::Option* recordings = command->add_option(
      "--from-recording", options->recordings,
      "Files that up --record or replay --trace wrote: is each verdict on a DELETE still the recorded one?");
  recordings->type_name("FILE ...");
  for (CLI::Option* option : ofScenarios) recordings->excludes(option);
  command->add_flag("--timeline", options->timeline,
                    "Tell everything that happened; the default for a single scenario");
  addOutput(*command, options->output);
  command->add_option("--junit", options->junit, "Write the results to this file, as JUnit XML");
  command->callback([options, &exitCode] { exitCode = runReplay(*options); });
}

}  // namespace lastout::cmd

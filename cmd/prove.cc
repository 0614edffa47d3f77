// lastout prove: scenarios, in every order.
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>

#include "client/environment.h"
#include "cmd/changed_from.h"
#include "cmd/commands.h"
#include "cmd/load.h"
#include "cmd/output_file.h"
#include "cmd/second_opinion.h"
#include "cmd/terminal.h"
#include "cmd/usage.h"
#include "prove/ci_report.h"
#include "prove/proof_change.h"
#include "prove/proof_report.h"

namespace lastout::cmd {

namespace {

using Clock = std::chrono::steady_clock;
using prove::ProofReport;
using prove::ProofResult;

constexpr const char* kProveExamples = R"(Examples:
  lastout prove scenarios/story-three-works.yaml     is there an order in which it gets stuck?
  lastout prove --as-expected scenarios/             for CI: getting stuck is fine where the file says so
  lastout prove --onward scenarios/story-only-denied.yaml
  lastout prove --max-memory 8GiB --max-states 100000000 scenarios/story-one-work.yaml
  lastout prove --strict scenarios/provider-webhook.yaml   what is PROVEN under an assumption fails, too
  lastout prove -o json scenarios/story-unguarded.yaml
  lastout prove --as-expected --junit prove.xml --sarif prove.sarif scenarios/
  lastout prove --murphi model.m scenarios/own-namespace.yaml   and then: rumur -o model.c model.m
  lastout prove --certificate proof.txt scenarios/crd-of-provider.yaml   for: lastout prove --check proof.txt ...
  lastout prove --delete namespace/team-a --delete namespace/operator scenarios/manifests/
  lastout prove scenarios/ --changed-from base/      what did the change since the checkout in base/ make worse?

Exit codes: 0 all PROVEN; 1 one is STUCK, UNSAFE or BROKEN, or PROVEN where the file expects it to get
stuck, or with --strict rests on an assumption; 2 bad input; 3 one is NOT DECIDED within --max-states and
--max-memory, and none is worse. With --changed-from: 0 nothing is worse, also where something is
still as wrong as before; 1 something is worse; 2 bad input; 3 a bound leaves it open.)";

struct ProveOptions {
  std::vector<std::string> paths;
  std::vector<std::string> deletes;  // references; with them the paths are manifests
  prove::Bounds bounds;
  bool asExpected = false;
  bool strict = false;
  bool onward = false;
  std::string output = "text";
  std::string junit;
  std::string sarif;
  std::string murphi;
  std::string certificate;
  std::string check;        // a certificate; nothing is proven then
  std::string changedFrom;  // empty: nothing is compared
};

std::string note(const std::string& name, const prove::Explored& explored, Clock::duration time) {
  const double seconds = std::chrono::duration<double>(time).count();
  const auto rate = static_cast<uint64_t>(static_cast<double>(explored.states) / std::max(seconds, 1e-3));
  return name + ": " + withSeparators(explored.states - explored.expanded) + " to look at, " +
         withSeparators(rate) + " a second";
}

prove::ProofScope scopeOf(const replay::Ready& ready, const ProveOptions& options) {
  prove::Bounds bounds = options.bounds;
  if (!options.certificate.empty()) bounds.states = std::min(bounds.states, prove::kMostCertifiedStates);
  return {.bounds = bounds,
          .orders = ready.scenario.expect.ends != replay::Ending::Stuck,
          .certifies = !options.certificate.empty()};
}

replay::TextStyle styleOf(const ProveOptions& options) {
  const Terminal terminal = terminalOf(STDOUT_FILENO, client::processEnvironment());
  return {
      .color = terminal.color, .timeline = options.onward, .width = std::min<size_t>(terminal.width, 120)};
}

ProofReport prove(const replay::Ready& ready, const prove::ProofScope& question, bool isStrict,
                  Progress& progress) {
  const Clock::time_point start = Clock::now();
  prove::Proof proof = prove::proveScenario(ready.compiled, question, [&](const prove::Explored& explored) {
    progress.update(explored.states, 0, "states", note(ready.scenario.name, explored, Clock::now() - start));
    return true;
  });
  const Clock::duration time = Clock::now() - start;
  ProofReport report = prove::reportOf(ready, question, std::move(proof));
  report.time = time;
  report.isStrict = isStrict;
  return report;
}

// The worst of what one scenario says.
int exitCodeOf(const ProofReport& report, const ProveOptions& options) {
  if (report.proof.verdict == ProofResult::Undecided) return kUndecided;
  if (options.strict && !report.assumptions.empty()) return kFailed;
  if (options.asExpected) return report.expected ? kOk : kFailed;
  return report.proof.verdict == ProofResult::Proven && report.expected ? kOk : kFailed;
}

// The output files that options name, in the order in which openOutputs() opens them.
enum Output : size_t { JUnit, Sarif, Murphi, CertificateFile };

// Writes both reports, in the forms that CI systems show.
template <class Judged>  // JudgedProof, ProofChange
kube::Result<void> write(OutputFiles& outputs, const std::vector<Judged>& judged) {
  if (outputs[JUnit]) {
    if (auto written = outputs[JUnit]->finish(prove::toJUnit(judged)); !written) return written;
  }
  return outputs[Sarif] ? outputs[Sarif]->finish(prove::toSarif(judged)) : kube::Result<void>{};
}

kube::Result<void> finish(OutputFiles& outputs, const std::vector<ProofReport>& reports,
                          const ProveOptions& options) {
  std::vector<prove::JudgedProof> judged;
  judged.reserve(reports.size());
  for (const ProofReport& report : reports)
    judged.push_back({.report = &report, .passes = exitCodeOf(report, options) == kOk});
  return write(outputs, judged);
}

prove::ProofChange compared(const prove::ScenarioPair& pair, const ProveOptions& options,
                            Progress& progress) {
  if (pair.now == nullptr)
    return prove::removedScenario(pair.before->scenario.file, pair.before->scenario.name);
  prove::ProofScope question = scopeOf(*pair.now, options);
  const bool isUnchanged = prove::isUnchanged(pair);
  question.findsAll = pair.before != nullptr && !isUnchanged;
  ProofReport now = prove(*pair.now, question, false, progress);
  if (isUnchanged) return prove::unchangedScenario(std::move(now), pair.before->scenario.file);
  if (pair.before == nullptr) return prove::addedScenario(std::move(now), pair.whyNoBefore);
  const auto asked = prove::askedAsNow(pair);
  const ProofReport before = prove(asked != nullptr ? *asked : *pair.before, question, false, progress);
  return prove::compareProofs({*pair.before, before}, {*pair.now, now});
}

int exitCodeOf(const std::vector<prove::ProofChange>& changes) {
  const auto is = [&](prove::ChangeResult result) {
    return std::ranges::any_of(changes, [&](const prove::ProofChange& one) { return one.result == result; });
  };
  if (is(prove::ChangeResult::Worse)) return kFailed;
  return is(prove::ChangeResult::Undecided) ? kUndecided : kOk;
}

// Tells what a change made worse, and that before the rest.
int runCompare(const ProveOptions& options) {
  auto pairs = loadPairs(options.paths, {options.changedFrom, options.deletes});
  if (!pairs) return badInput(pairs.error());
  auto outputs = openOutputs(filesOf(*pairs), {{"--junit", options.junit}, {"--sarif", options.sarif}});
  if (!outputs) return badInput(outputs.error());
  Progress progress(std::cerr, terminalOf(STDERR_FILENO, client::processEnvironment()));
  std::vector<prove::ProofChange> changes;
  changes.reserve(pairs->size());
  for (const prove::ScenarioPair& pair : *pairs) changes.push_back(compared(pair, options, progress));
  progress.clear();
  std::ranges::stable_sort(changes, {}, &prove::ProofChange::result);
  if (auto written = write(*outputs, changes); !written) return badInput(written.error());
  if (options.output == "json") {
    std::cout << prove::toJson(changes, options.changedFrom);
    return exitCodeOf(changes);
  }
  const replay::TextStyle style = styleOf(options);
  for (const prove::ProofChange& change : changes) std::cout << prove::toText(change, style);
  std::cout << prove::summary(changes, options.changedFrom, style);
  return exitCodeOf(changes);
}

int runProve(const ProveOptions& options) {
  const auto all =
      options.deletes.empty() ? loadScenarios(options.paths) : loadDeletions(options.paths, options.deletes);
  if (!all) return badInput(all.error());
  if (!options.check.empty()) return checkCertificate(*all, options.check, options.output == "json");
  auto outputs = openOutputs(filesOf(*all), {{"--junit", options.junit},
                                             {"--sarif", options.sarif},
                                             {"--murphi", options.murphi},
                                             {"--certificate", options.certificate}});
  if (!outputs) return badInput(outputs.error());
  if (!options.certificate.empty()) {
    if (const auto ready = onlyScenario(*all, "--certificate"); !ready) return badInput(ready.error());
  }
  if (auto written = writeMurphi((*outputs)[Murphi], *all, scopeOf(*all->front(), options)); !written)
    return badInput(written.error());
  const replay::TextStyle style = styleOf(options);
  Progress progress(std::cerr, terminalOf(STDERR_FILENO, client::processEnvironment()));
  std::vector<ProofReport> reports;
  int exitCode = kOk;
  for (const auto& ready : *all) {
    reports.push_back(prove(*ready, scopeOf(*ready, options), options.strict, progress));
    const int code = exitCodeOf(reports.back(), options);
    if (code == kFailed || exitCode == kOk) exitCode = code;
    progress.clear();
    if (options.output == "text") std::cout << prove::toText(reports.back(), style) << std::flush;
  }
  if (auto written = finish(*outputs, reports, options); !written) return badInput(written.error());
  if (auto written = writeCertificate((*outputs)[CertificateFile], reports.front().proof); !written)
    return badInput(written.error());
  std::cout << (options.output == "json" ? prove::toJson(reports) : prove::summary(reports, style));
  return exitCode;
}

}  // namespace

void addProve(CLI::App& app, int& exitCode) {
  auto options = std::make_shared<ProveOptions>();
  CLI::App* command = app.add_subcommand("prove", "Try scenarios in every order that could happen");
  command->footer(kProveExamples);
  command->add_option("PATH", options->paths, "Scenario files, or folders of them; with --delete, manifests")
      ->required();
  command
      ->add_option("--delete", options->deletes,
                   "Without a scenario: delete this in a cluster that holds the manifests; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--max-states", options->bounds.states, "Give up beyond so many states")
      ->check(CLI::Range(uint64_t{1}, prove::Bounds{}.states))
      ->capture_default_str();
  command
      ->add_option("--max-memory", options->bounds.bytes,
                   "Give up beyond so much memory: 512MiB, 8GiB, ... [2GiB]")
      ->transform(CLI::AsSizeValue(false));
  CLI::Option* asExpected = command->add_flag(
      "--as-expected", options->asExpected,
      "Exit with 0 where the verdict is what the scenario expects: STUCK, with `ends: stuck`");
  CLI::Option* strict =
      command->add_flag("--strict", options->strict, "Exit with 1 where a verdict rests on an assumption");
  CLI::Option* changedFrom =
      command
          ->add_option(
              "--changed-from", options->changedFrom,
              "Tell what is worse than in this folder, which holds the same files as they were before")
          ->type_name("DIR")
          ->check([](const std::string& folder) {
            return folder.empty() ? std::string("the folder's name is empty") : std::string();
          })
          ->excludes(asExpected)
          ->excludes(strict);
  command->add_flag("--onward", options->onward, "Where it gets stuck, tell the way on to the end too");
  addOutput(*command, options->output);
  command->add_option("--junit", options->junit, "Write the verdicts to this file, as JUnit XML");
  command->add_option(
      "--sarif", options->sarif,
      "Write what does not pass to this file, as SARIF, which code scanning shows beside a change");
  command
      ->add_option("--murphi", options->murphi,
                   "Write the scenario to this file in the language of Murphi, for the model checker Rumur")
      ->excludes(changedFrom);
  CLI::Option* certificate =
      command
          ->add_option(
              "--certificate", options->certificate,
              "Write to this file why the scenario is PROVEN, for --check; of at most 1,000,000 states")
          ->excludes(changedFrom);
  command
      ->add_option("--check", options->check,
                   "Check such a certificate of the scenario instead of proving it: exit code 0, or 1 if it "
                   "does not hold")
      ->excludes(changedFrom)
      ->excludes(certificate);
  command->callback([options, &exitCode] {
    exitCode = options->changedFrom.empty() ? runProve(*options) : runCompare(*options);
  });
}

}  // namespace lastout::cmd

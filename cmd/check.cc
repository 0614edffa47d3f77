// lastout check: whether the installation of lastout in a cluster is whole.
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "cmd/commands.h"
#include "cmd/lease_options.h"
#include "cmd/source.h"
#include "cmd/terminal.h"
#include "cmd/usage.h"
#include "server/check/check_installation.h"
#include "server/check/shipped_objects.h"

namespace lastout::cmd {
namespace {

using server::Finding;
using server::FindingState;

constexpr const char* kCheckExamples = R"(Examples:
  lastout check                                     in the cluster of KUBECONFIG, after kubectl apply -k deploy/
  lastout check --kubeconfig lastout.kubeconfig
  lastout check -o json                             for programs

It compares what this version ships with what is in the cluster, asks what lastout's accounts may do, and reads
the webhook configuration, the certificate, the Lease, the last probe of each API server, and the conditions of
CriticalServices and DeletionPolicies. It changes nothing.

Exit codes: 0 it is whole; 1 something is missing, is wrong, or could not be checked; 2 bad input, or the cluster
does not answer.)";

struct CheckChoice {
  std::string kubeconfig;
  std::string context;
  LeaseChoice lease;
  std::string output = "text";
};

size_t countOf(const std::vector<Finding>& findings, FindingState state) {
  return static_cast<size_t>(std::ranges::count(findings, state, &Finding::state));
}

void printText(const std::vector<Finding>& findings) {
  constexpr size_t kStateWidth = 15;
  const std::map<FindingState, const char*> colors{{FindingState::Ok, "\x1b[32m"},
                                                   {FindingState::Problem, "\x1b[31m"},
                                                   {FindingState::NotChecked, "\x1b[33m"},
                                                   {FindingState::NotInstalled, "\x1b[2m"}};
  const bool hasColor = terminalOf(STDOUT_FILENO, client::processEnvironment()).color;
  for (const Finding& finding : findings) {
    const std::string state(toString(finding.state));
    std::cout << (hasColor ? colors.at(finding.state) + state + "\x1b[0m" : state)
              << std::string(kStateWidth - state.size(), ' ') << finding.subject << ": " << finding.message
              << "\n";
  }
  std::cout << "problems: " << countOf(findings, FindingState::Problem)
            << ", not checked: " << countOf(findings, FindingState::NotChecked) << "\n";
}

void printJson(const std::vector<Finding>& findings, bool isWhole) {
  kube::OrderedJson items = kube::OrderedJson::array();
  for (const Finding& finding : findings)
    items.push_back(
        {{"state", toString(finding.state)}, {"subject", finding.subject}, {"message", finding.message}});
  std::cout << kube::OrderedJson{{"whole", isWhole}, {"findings", std::move(items)}}.dump(2) << "\n";
}

int runCheck(const CheckChoice& choice) {
  server::CheckOptions options;
  options.now = std::time(nullptr);
  options.patience = {[] { return std::chrono::steady_clock::now(); },
                      [](std::chrono::milliseconds pause) { std::this_thread::sleep_for(pause); }};
  LeaseChoice lease = choice.lease;
  lease.ownNamespace = server::kInstalledNamespace;
  auto leases = leasesOf(lease);
  if (!leases) return badInput(leases.error());
  options.leases = std::move(*leases);
  const auto access = openCluster(choice.kubeconfig, choice.context);
  if (!access) return badInput(access.error());
  const auto server = (*access)->newServer();
  const auto findings = server::checkInstallation(*server, options);
  if (!findings) return badInput(findings.error());
  const bool isWhole =
      countOf(*findings, FindingState::Problem) == 0 && countOf(*findings, FindingState::NotChecked) == 0;
  if (choice.output == "json")
    printJson(*findings, isWhole);
  else
    printText(*findings);
  return isWhole ? kOk : kFailed;
}

}  // namespace

void addCheck(CLI::App& app, int& exitCode) {
  auto choice = std::make_shared<CheckChoice>();
  CLI::App* command = app.add_subcommand("check", "Tell whether the installation of lastout is whole");
  command->footer(kCheckExamples);
  addKubeconfig(*command, choice->kubeconfig, choice->context);
  addLeases(*command, choice->lease);
  addOutput(*command, choice->output);
  command->callback([choice, &exitCode] { exitCode = runCheck(*choice); });
}

}  // namespace lastout::cmd
